//! What was attached, what stands, and what works, for people.

use schemes::linux::{KernelLaw, Reading, attachable};
use serde_json::Value;

/// What an attach did.
pub fn attach(told: &Value) -> String {
    let mut out = format!(
        "{} {} at {}\n",
        word(told, "action"),
        word(told, "scheme"),
        place(told)
    );
    let settings = told["settings"].as_object().into_iter().flatten();
    for (key, value) in settings {
        line(
            &mut out,
            &format!("{key} = {}", value.as_str().unwrap_or_default()),
        );
    }
    if let Some(kind) = told["queue"].as_str() {
        let queue = told["queue_of"].as_str();
        let queue = queue.unwrap_or_else(|| word(told, "device"));
        let room = grouped(&told["buffer_bytes"]);
        line(&mut out, &format!("queue: {kind} of {queue}, {room} bytes"));
    }
    line(
        &mut out,
        &match told["lease_s"].as_f64() {
            Some(left) => format!("acts for {}, then everything passes", duration(left)),
            None => "acts until it is detached".to_owned(),
        },
    );
    for (what, all) in [("warning", "warnings"), ("would help", "hints")] {
        for one in told[all].as_array().into_iter().flatten() {
            line(
                &mut out,
                &format!("{what}: {}", one.as_str().unwrap_or_default()),
            );
        }
    }
    out
}

/// What stands where.
pub fn status(all: &[Value]) -> String {
    if all.is_empty() {
        return "nothing is attached\n".to_owned();
    }
    all.iter().map(one_status).collect()
}

/// What was detached.
pub fn detach(all: &[Value]) -> String {
    if all.is_empty() {
        return "nothing is attached there\n".to_owned();
    }
    let one = |one: &Value| {
        format!(
            "{} {} at {}\n",
            word(one, "action"),
            word(one, "scheme"),
            place(one)
        )
    };
    all.iter().map(one).collect()
}

/// What works; `command` asked for it, as a shell reads it.
pub fn doctor(told: &Value, command: &str) -> String {
    let mut out = format!("Linux {}\n", word(told, "kernel"));
    let checks = || told["checks"].as_array().into_iter().flatten();
    let width = checks().map(|check| word(check, "name").len()).max();
    let width = width.unwrap_or(0);
    for check in checks() {
        let state = word(check, "state");
        let end = match word(check, "cure") {
            "" => String::new(),
            cure => format!(" | {cure}"),
        };
        let text = format!(
            "{:width$}  {state}: {}{end}",
            word(check, "name"),
            word(check, "detail")
        );
        line(&mut out, &text);
    }
    out.push('\n');
    let schemes = || told["schemes"].as_array().into_iter().flatten();
    let column = |key: &'static str| {
        let widths = schemes().map(|scheme| word(scheme, key).len());
        widths.max().unwrap_or(0).max(key.len())
    };
    let (names, emulate) = (column("name").max("scheme".len()), column("emulate"));
    line(
        &mut out,
        &format!("{:names$}  {:emulate$}  attach", "scheme", "emulate"),
    );
    for scheme in schemes() {
        let [name, world, attach] = ["name", "emulate", "attach"].map(|key| word(scheme, key));
        line(
            &mut out,
            &format!("{name:names$}  {world:emulate$}  {attach}"),
        );
    }
    if checks().any(|check| word(check, "name") == "privileges" && word(check, "state") != "ok") {
        out.push_str("\nsudo ");
        out.push_str(command);
        out.push('\n');
    }
    out
}

fn one_status(one: &Value) -> String {
    let mut out = format!("{}: {}", place(one), word(one, "scheme"));
    let acts = match (one["acts"].as_bool(), one["lease_left_s"].as_f64()) {
        (Some(true), Some(left)) => format!(", {} left", duration(left)),
        (Some(true), None) => ", permanent".to_owned(),
        (Some(false), _) => ", its lease is over: everything passes".to_owned(),
        (None, _) => String::new(),
    };
    out.push_str(&acts);
    out.push('\n');
    let law = attachable(word(one, "scheme")).map(|(_, law)| law);
    for text in law.into_iter().flat_map(|law| state(law, one)) {
        line(&mut out, &text);
    }
    if one["queue_bytes"].is_u64() {
        let (waits, room) = (grouped(&one["queue_bytes"]), grouped(&one["buffer_bytes"]));
        line(&mut out, &format!("queue: {waits} of {room} bytes"));
    }
    for (key, what) in [
        ("known_connections", "connections known"),
        ("rewritten", "windows lowered"),
        ("marked", "packets marked"),
        ("told", "grants sent with others' ACKs"),
    ] {
        if one[key].as_u64().is_some_and(|count| count > 0) {
            line(&mut out, &format!("{what}: {}", grouped(&one[key])));
        }
    }
    for pass in one["passed"].as_array().into_iter().flatten() {
        let (packets, why) = (grouped(&pass["packets"]), word(pass, "why"));
        line(&mut out, &format!("passed: {packets}, {why}"));
    }
    for drift in one["drift"].as_array().into_iter().flatten() {
        line(
            &mut out,
            &format!("DRIFT: {}", drift.as_str().unwrap_or_default()),
        );
    }
    out
}

/// The lines of a law whose readings were all reported.
fn state(law: &KernelLaw, one: &Value) -> Vec<String> {
    let shown = |reading: &Reading| {
        let value = &one[reading.key];
        match reading.words {
            Some([yes, no]) => value
                .as_bool()
                .map(|is| if is { yes } else { no }.to_owned()),
            None => value.is_u64().then(|| grouped(value)),
        }
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

fn place(told: &Value) -> String {
    match word(told, "netns") {
        "" => word(told, "device").to_owned(),
        netns => format!("{} in {netns}", word(told, "device")),
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str("  ");
    out.push_str(text.trim_end());
    out.push('\n');
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn grouped(value: &Value) -> String {
    crate::grouped(value.as_u64().unwrap_or(0))
}

/// To the second.
fn duration(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a lease is neither negative nor longer than a few days"
    )]
    let all = seconds.ceil() as u64;
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
    use serde_json::json;

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
        let one = json!({
            "device": "p1", "netns": "s0", "scheme": "hscc", "acts": true, "lease_left_s": 540.0,
            "is_on": false, "window_bytes": 2_920, "queue_bytes": 0, "buffer_bytes": 64_000,
            "known_connections": 20, "rewritten": 1_234, "marked": 0,
            "passed": [{ "why": "not TCP", "packets": 3 }], "drift": ["the link of egress is missing"],
        });
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
            let mut one = json!({ "scheme": law.name, "device": "p1", "netns": "" });
            let lines = status(std::slice::from_ref(&one)).lines().count();
            assert_eq!(lines, 1, "{law:?} without readings");
            for reading in law.readings {
                one[reading.key] = match reading.words {
                    Some(_) => json!(true),
                    None => json!(1_234),
                };
            }
            let shown = status(&[one]);
            assert_eq!(shown.lines().count(), 1 + law.lines.len(), "{shown}");
            assert!(!shown.contains('{'), "{shown}");
        }
    }

    #[test]
    fn without_privileges_doctor_ends_with_the_command_to_run() {
        let told = json!({
            "kernel": "6.18",
            "checks": [
                { "name": "BTF", "state": "ok", "detail": "5,000 KB", "cure": "" },
                { "name": "privileges", "state": "missing", "detail": "no BPF", "cure": "run it with sudo" },
            ],
            "schemes": [{ "name": "hscc", "emulate": "no: privileges", "attach": "no: privileges" }],
        });
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
