//! Attached laws, and the features of a machine, for people.

use protocol::{AttachLine, CheckState, DetachLine, DoctorLine, SchemeSupport, StatusLine};
use schemes::linux::{KernelLaw, Reading, attachable};

use crate::words::grouped;
use base::cast::whole;

/// The result of an attach.
pub fn attach(done: &AttachLine) -> String {
    let (action, place) = (done.action.name(), place(&done.device, &done.netns));
    let mut out = format!("{action} {} at {place}\n", done.scheme);
    for (key, value) in &done.settings {
        line(&mut out, &format!("{key} = {value}"));
    }
    if let (Some(kind), Some(room)) = (&done.queue, done.buffer_bytes) {
        let queue = done.queue_of.as_ref().unwrap_or(&done.device);
        let room = grouped(room);
        line(&mut out, &format!("queue: {kind} of {queue}, {room} bytes"));
    }
    line(
        &mut out,
        &match done.lease_s {
            Some(left) if done.shadow => format!("looks on for {}", duration(left)),
            None if done.shadow => "looks on until it is detached".to_owned(),
            Some(left) => format!("acts for {}, then everything passes", duration(left)),
            None => "acts until it is detached".to_owned(),
        },
    );
    if done.shadow {
        line(
            &mut out,
            "changes no packet, but counts the packets that it would change",
        );
    }
    for warning in &done.warnings {
        line(&mut out, &format!("warning: {warning}"));
    }
    for hint in &done.hints {
        line(&mut out, &format!("would help: {hint}"));
    }
    out
}

/// The attached laws and their places.
pub fn status(all: &[StatusLine]) -> String {
    if all.is_empty() {
        return "nothing is attached\n".to_owned();
    }
    all.iter().map(one_status).collect()
}

/// The detached laws.
pub fn detach(all: &[DetachLine]) -> String {
    if all.is_empty() {
        return "nothing is attached there\n".to_owned();
    }
    let one = |one: &DetachLine| {
        let place = place(&one.device, &one.netns);
        format!("{} {} at {place}\n", one.action.name(), one.scheme)
    };
    all.iter().map(one).collect()
}

/// The features that work; `command` is the user's command, as a shell reads it.
pub fn doctor(found: &DoctorLine, command: &str) -> String {
    let mut out = format!("Linux {}\n", found.kernel);
    let width = found.checks.iter().map(|check| check.name.len()).max();
    let width = width.unwrap_or(0);
    for check in &found.checks {
        let end = match check.cure.as_str() {
            "" => String::new(),
            cure => format!(" | {cure}"),
        };
        let (name, state, detail) = (&check.name, check.state.name(), &check.detail);
        line(&mut out, &format!("{name:width$}  {state}: {detail}{end}"));
    }
    out.push('\n');
    let column = |head: &str, text: fn(&SchemeSupport) -> &String| {
        let widths = found.schemes.iter().map(|scheme| text(scheme).len());
        widths.max().unwrap_or(0).max(head.len())
    };
    let names = column("scheme", |scheme| &scheme.name);
    let emulate = column("emulate", |scheme| &scheme.emulate);
    line(
        &mut out,
        &format!("{:names$}  {:emulate$}  attach", "scheme", "emulate"),
    );
    for scheme in &found.schemes {
        let SchemeSupport {
            name,
            emulate: bed,
            attach,
        } = scheme;
        line(
            &mut out,
            &format!("{name:names$}  {bed:emulate$}  {attach}"),
        );
    }
    let mut checks = found.checks.iter();
    if checks.any(|check| check.name == "privileges" && check.state != CheckState::Ok) {
        out.push_str("\nsudo ");
        out.push_str(command);
        out.push('\n');
    }
    out
}

fn one_status(one: &StatusLine) -> String {
    let acts = match (one.acts, one.lease_left_s) {
        (Some(true), Some(left)) => format!(", {} left", duration(left)),
        (Some(true), None) => ", permanent".to_owned(),
        (Some(false), _) => ", its lease is over: everything passes".to_owned(),
        (None, _) => String::new(),
    };
    let shadow = if one.shadow { " in the shadow" } else { "" };
    let place = place(&one.device, &one.netns);
    let mut out = format!("{place}: {}{shadow}{acts}\n", one.scheme);
    let law = attachable(&one.scheme).map(|(_, law)| law);
    for text in law.into_iter().flat_map(|law| state(law, one)) {
        line(&mut out, &text);
    }
    if let (Some(waits), Some(room)) = (one.queue_bytes, one.buffer_bytes) {
        let (waits, room) = (grouped(waits.into()), grouped(room));
        line(&mut out, &format!("queue: {waits} of {room} bytes"));
    }
    for (count, what) in [
        (one.known_connections, "connections known"),
        (one.rewritten, "windows lowered"),
        (one.marked, "packets marked"),
        (one.told, "grants sent with others' ACKs"),
    ] {
        if let Some(count @ 1..) = count {
            line(&mut out, &format!("{what}: {}", grouped(count)));
        }
    }
    if let Some(count) = one.would_change {
        line(&mut out, &format!("would have changed: {}", grouped(count)));
    }
    for pass in one.passed.iter().flatten() {
        let (packets, why) = (grouped(pass.packets), &pass.why);
        line(&mut out, &format!("passed: {packets}, {why}"));
    }
    for drift in &one.drift {
        line(&mut out, &format!("DRIFT: {drift}"));
    }
    out
}

/// The lines of a law whose readings were all reported.
fn state(law: &KernelLaw, one: &StatusLine) -> Vec<String> {
    let shown = |reading: &Reading| {
        let value = *one.readings.get(reading.key)?;
        Some(match (value, reading.words) {
            (protocol::Reading::Flag(is), Some([yes, no])) => if is { yes } else { no }.to_owned(),
            (value, _) => grouped(value.number()),
        })
    };
    let fill = |line: &&str| {
        let mut text = (*line).to_owned();
        for reading in law.readings {
            let place = format!("{{{}}}", reading.key);
            if text.contains(&place) {
                text = text.replace(&place, &shown(reading)?);
            }
        }
        Some(text)
    };
    law.lines.iter().filter_map(fill).collect()
}

fn place(device: &str, netns: &str) -> String {
    match netns {
        "" => device.to_owned(),
        netns => format!("{device} in {netns}"),
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str("  ");
    out.push_str(text.trim_end());
    out.push('\n');
}

/// To the second.
fn duration(seconds: f64) -> String {
    let all = whole(seconds.ceil());
    match (all / 3_600, all / 60 % 60, all % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Checked, Passed};

    use super::*;

    #[test]
    fn a_lease_is_told_to_the_second() {
        let cases = [
            (0.2, "1 s"),
            (600.0, "10 min"),
            (599.5, "10 min"),
            (61.0, "1 min 1 s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(duration(7_260.0), "2 h 1 min");
    }

    #[test]
    fn what_stands_is_told_in_a_few_lines() {
        let one = StatusLine {
            device: "p1".to_owned(),
            netns: "s0".to_owned(),
            scheme: "hscc".to_owned(),
            acts: Some(true),
            lease_left_s: Some(540.0),
            readings: [
                ("is_on".to_owned(), protocol::Reading::Flag(false)),
                ("window_bytes".to_owned(), protocol::Reading::Number(2_920)),
            ]
            .into(),
            queue_bytes: Some(0),
            buffer_bytes: Some(64_000),
            known_connections: Some(20),
            rewritten: Some(1_234),
            marked: Some(0),
            passed: Some(vec![Passed {
                why: "not TCP".to_owned(),
                packets: 3,
            }]),
            drift: vec!["the link of egress is missing".to_owned()],
            ..StatusLine::default()
        };
        insta::assert_snapshot!(status(&[one]), @"
        p1 in s0: hscc, 9 min left
          off; on, windows of 2,920 bytes
          queue: 0 of 64,000 bytes
          connections known: 20
          windows lowered: 1,234
          passed: 3, not TCP
          DRIFT: the link of egress is missing
        ");
        assert_eq!(status(&[]), "nothing is attached\n");
    }

    #[test]
    fn every_law_shows_all_of_its_lines_once_its_readings_are_there() {
        for (_, law) in schemes::linux::kernel_laws() {
            let mut one = StatusLine {
                device: "p1".to_owned(),
                scheme: law.name.to_owned(),
                ..StatusLine::default()
            };
            let lines = status(std::slice::from_ref(&one)).lines().count();
            assert_eq!(lines, 1, "{law:?} without readings");
            for reading in law.readings {
                let value = match reading.words {
                    Some(_) => protocol::Reading::Flag(true),
                    None => protocol::Reading::Number(1_234),
                };
                one.readings.insert(reading.key.to_owned(), value);
            }
            let shown = status(&[one]);
            assert_eq!(shown.lines().count(), 1 + law.lines.len(), "{shown}");
            assert!(!shown.contains('{'), "{shown}");
        }
    }

    #[test]
    fn without_privileges_doctor_ends_with_the_command_to_run() {
        let check = |name: &str, state, detail: &str, cure: &str| Checked {
            name: name.to_owned(),
            state,
            detail: detail.to_owned(),
            cure: cure.to_owned(),
        };
        let told = DoctorLine {
            kernel: "6.18".to_owned(),
            checks: vec![
                check("BTF", CheckState::Ok, "5,000 KB", ""),
                check(
                    "privileges",
                    CheckState::Missing,
                    "no BPF",
                    "run it with sudo",
                ),
            ],
            schemes: vec![SchemeSupport {
                name: "hscc".to_owned(),
                emulate: "no: privileges".to_owned(),
                attach: "no: privileges".to_owned(),
            }],
        };
        insta::assert_snapshot!(doctor(&told, "tailwater doctor"), @"
        Linux 6.18
          BTF         ok: 5,000 KB
          privileges  missing: no BPF | run it with sudo

          scheme  emulate         attach
          hscc    no: privileges  no: privileges

        sudo tailwater doctor
        ");
    }
}
