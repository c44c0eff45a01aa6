//! Our TCP and the kernel's.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::Span;
use tun::{Done, Failure, Impairment, LowRule, Session, Setup, Side, Transfer};

/// One network at a time. `None` without privileges, which is said aloud.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    if let Some(lacks) = machine::privilege::lacks() {
        testing::skipped(&format!("this process has not {lacks}"));
        return None;
    }
    Some(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A session; `None` where the machine has no TUN device, which is said aloud.
fn session(setup: Setup) -> Option<Session> {
    match Session::open(setup) {
        Ok(session) => Some(session),
        Err(Failure::Io(error)) if error.kind() == ErrorKind::Unsupported => {
            testing::skipped(&format!("this needs {error}"));
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Transfers of every kind: two schemes, both senders, both openers, sizes from nothing to some hundred segments.
fn transfers(count: u64, first: u64) -> Vec<Transfer> {
    let sides = [Side::Ours, Side::Kernel];
    let side = |bit: u64| sides[usize::from(bit & 1 == 1)];
    let transfer = |number: u64| {
        // Small ones are as likely as large ones.
        let scale = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        Transfer {
            scheme: if number & 4 == 0 { "rc3" } else { "newreno" }.to_owned(),
            size: ((scale * scale) >> 32) % (1 << (4 + number % 15)),
            sender: side(number),
            opener: side(number >> 1),
        }
    };
    (first..first + count).map(transfer).collect()
}

fn check(transfers: &[Transfer], done: &[Done], about: &str) {
    assert_eq!(transfers.len(), done.len());
    for (transfer, done) in transfers.iter().zip(done) {
        assert!(
            done.right && done.orderly,
            "{about}: {transfer:?}\n{done:?}"
        );
    }
}

/// The impairment of a batch: up to 5 % lost, up to 5 % late.
fn impairment(number: u32) -> Impairment {
    Impairment {
        loss: f64::from(number % 6) / 100.0,
        reorder: f64::from(number / 2 % 6) / 100.0,
        delay: Span::from_micros(u64::from(number % 3) * 500),
        ..Impairment::NONE
    }
}

#[test]
fn transfers_with_loss_and_reordering_are_right_and_close_in_order() {
    let Some(_machine) = alone() else {
        return;
    };
    for batch in [0, 5] {
        let setup = Setup {
            impairment: impairment(batch),
            seed: u64::from(batch),
            ..Setup::default()
        };
        let Some(mut session) = session(setup) else {
            return;
        };
        let transfers = transfers(24, u64::from(batch) * 24);
        let done = session.run(&transfers).expect("a session");
        check(&transfers, &done, &format!("batch {batch}"));
        assert_eq!(session.refused(), "");
        let (lost, _) = session.impaired();
        assert_eq!(lost > 0, batch > 0, "{lost} packets were lost");
    }
}

/// Transfers of RC3 one after the other, of this many segments: sums over all of them.
fn rc3(setup: Setup, segments: u64, count: u32) -> Option<Vec<Done>> {
    let mut session = session(setup)?;
    let transfer = Transfer {
        scheme: "rc3".to_owned(),
        size: segments * 1460,
        sender: Side::Ours,
        opener: Side::Kernel,
    };
    let mut all = Vec::new();
    for _ in 0..count {
        let transfers = [transfer.clone()];
        let done = session.run(&transfers).expect("a session");
        check(&transfers, &done, "RC3");
        all.extend(done);
    }
    session.finish().expect("the capture ends");
    Some(all)
}

/// The kernel acknowledges the initial window of w segments by n ACKs, and two more ACKs advance later. Each of the n
/// lets the ordinary loop send one more segment, so it has sent w + n copies when the ACKs of low priority come. All
/// but one of them, which completes the stream, look like losses.
#[test]
fn copies_that_the_ordinary_loop_overtakes_look_like_losses_by_one_rule_alone() {
    let Some(_machine) = alone() else {
        return;
    };
    let of = |window: u64, rule| {
        let setup = Setup {
            sets: vec![format!("tcp.initial_window={window}")],
            rule,
            ..Setup::default()
        };
        rc3(setup, 66, 5)
    };
    let recovers = |done: &Done| done.fast_recoveries > 0;
    for window in [1, 10] {
        // The kernel may answer two of them by one ACK, so the best of three sessions counts; none may show more.
        let mut others = Vec::new();
        loop {
            let Some(found) = of(window, LowRule::Ahead) else {
                return;
            };
            let mut as_expected = found.iter().any(recovers);
            for done in &found {
                let acks = done.low_acks.expect("RC3");
                assert!(acks.low() > 0, "{found:?}");
                let expected = window + (acks.advancing - 2) - 1;
                let lost = acks.unexplained();
                assert!(lost <= expected, "{lost} of {expected}: {found:?}");
                as_expected &= lost > 0 && lost + 1 >= expected;
            }
            if as_expected {
                break;
            }
            others.push(found);
            assert!(others.len() < 3, "{others:?}");
        }
    }
    let found = of(10, LowRule::Copied).expect("a session as before");
    assert!(!found.iter().any(recovers), "{found:?}");
}

#[test]
#[ignore = "some minutes: `cargo xtask trust tun` runs it and prints what it finds"]
fn a_thousand_transfers_are_right_and_close_in_order() {
    let Some(_machine) = alone() else {
        return;
    };
    let (mut count, mut bytes, mut recovered, mut timeouts) = (0, 0, 0, 0);
    let (mut lost, mut late) = (0, 0);
    for batch in 0..20 {
        let setup = Setup {
            impairment: impairment(batch),
            seed: u64::from(batch),
            ..Setup::default()
        };
        let Some(mut session) = session(setup) else {
            return;
        };
        let transfers = transfers(50, u64::from(batch) * 50);
        let done = session.run(&transfers).expect("a session");
        check(&transfers, &done, &format!("batch {batch}"));
        assert_eq!(session.refused(), "");
        count += done.len();
        bytes += transfers.iter().map(|transfer| transfer.size).sum::<u64>();
        recovered += done.iter().map(|done| done.fast_recoveries).sum::<u64>();
        timeouts += done.iter().map(|done| done.timeouts).sum::<u64>();
        let impaired = session.impaired();
        (lost, late) = (lost + impaired.0, late + impaired.1);
    }
    say(&format!(
        "{count} transfers of {bytes} bytes in all: every byte right, every close in order; {lost} packets lost, \
         {late} late, {recovered} fast recoveries and {timeouts} timeouts of ours"
    ));
    assert_eq!(count, 1000);
}

#[test]
#[ignore = "a minute: `cargo xtask trust tun` runs it and prints what it finds"]
fn low_acks_are_counted() {
    let Some(_machine) = alone() else {
        return;
    };
    let cases = [
        (66, 10, LowRule::Ahead, true),
        (66, 10, LowRule::Ahead, false),
        (66, 10, LowRule::Copied, true),
        (66, 4, LowRule::Ahead, true),
        (66, 2, LowRule::Ahead, true),
        (66, 1, LowRule::Ahead, true),
        (1000, 10, LowRule::Ahead, true),
        (1000, 10, LowRule::Ahead, false),
        (1000, 10, LowRule::Copied, true),
        (1000, 1, LowRule::Ahead, true),
    ];
    for (segments, window, rule, compresses) in cases {
        let sysctl = format!(
            "net.ipv4.tcp_comp_sack_nr={}",
            if compresses { 44 } else { 0 }
        );
        let setup = Setup {
            sysctls: vec![sysctl.parse().expect("a setting")],
            sets: vec![format!("tcp.initial_window={window}")],
            rule,
            ..Setup::default()
        };
        let Some(found) = rc3(setup, segments, 50) else {
            return;
        };
        let acks = found.iter().map(|done| done.low_acks.expect("RC3"));
        let sum =
            |of: fn(&protocol::LowAcks) -> u64| acks.clone().map(|acks| of(&acks)).sum::<u64>();
        let (all, low) = (sum(|acks| acks.acks), sum(protocol::LowAcks::low));
        let unexplained = sum(protocol::LowAcks::unexplained);
        let false_ones = found.iter().filter(|done| done.fast_recoveries > 0).count();
        let mut times: Vec<f64> = found.iter().filter_map(|done| done.took_ms).collect();
        times.sort_by(f64::total_cmp);
        say(&format!(
            "{segments} segments, window {window}, rule {rule:?}, compressed {compresses}: {all} ACKs, {low} low, \
             {unexplained} look like losses; {false_ones} of {} transfers with a false recovery; median {:.1} ms",
            found.len(),
            times[times.len() / 2]
        ));
    }
}

/// Both rules with lost packets: the cost of a false recovery, and of a missed one.
#[test]
#[ignore = "a minute: `cargo xtask trust tun` runs it and prints what it finds"]
fn rules_are_compared_where_packets_are_lost() {
    let Some(_machine) = alone() else {
        return;
    };
    for segments in [66, 1000] {
        for rule in [LowRule::Ahead, LowRule::Copied] {
            let setup = Setup {
                impairment: Impairment {
                    delay: Span::from_millis(1),
                    loss: 0.02,
                    ..Impairment::NONE
                },
                rule,
                ..Setup::default()
            };
            let Some(found) = rc3(setup, segments, 60) else {
                return;
            };
            let sum = |of: fn(&Done) -> u64| found.iter().map(of).sum::<u64>();
            let mut times: Vec<f64> = found.iter().filter_map(|done| done.took_ms).collect();
            times.sort_by(f64::total_cmp);
            say(&format!(
                "{segments} segments, 2 % lost, rule {rule:?}: {} fast recoveries, {} timeouts, {} segments again in {} \
                 transfers; median {:.1} ms, mean {:.1} ms",
                sum(|done| done.fast_recoveries),
                sum(|done| done.timeouts),
                sum(|done| done.retransmissions),
                found.len(),
                times[times.len() / 2],
                times.iter().sum::<f64>() / 60.0
            ));
        }
    }
}

/// One script and two stacks: an endpoint in virtual time, and the kernel of this machine.
#[test]
fn scripts_say_what_the_kernel_does_and_what_an_endpoint_does() {
    let Some(_machine) = alone() else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let linux = packetdrill::LinuxHost { read: &|_| None };
    let mut failed = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a script");
        let name = file.file_name().unwrap_or_default().display().to_string();
        if let Err(failure) = packetdrill::run(&text, &linux) {
            failed.push(format!("{name}, endpoint: {failure}"));
        }
        // A busy machine may be late once.
        let mut runs = (0..3).map(|_| tun::script::run(&text));
        if let Err(failure) = runs
            .find(Result::is_ok)
            .unwrap_or_else(|| tun::script::run(&text))
        {
            failed.push(format!("{name}, kernel: {failure}"));
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
    assert!(files.len() >= 8, "{} scripts", files.len());
    // What is not so is noticed.
    let file = files.iter().find(|file| file.ends_with("out-of-order.pkt"));
    let text = fs::read_to_string(file.expect("a script")).expect("a script");
    let wrong = text.replace("ack 3001", "ack 2001");
    let expected = packetdrill::run(&wrong, &linux).expect_err("an endpoint acknowledges more");
    // A run that is late fails at an earlier line, and none at a later one.
    let mut lines = (0..4).map(|_| {
        let run = tun::script::run(&wrong);
        let line = run.expect_err("the kernel acknowledges more").line;
        assert!(line <= expected.line, "line {line}");
        line
    });
    assert!(
        lines.any(|line| line == expected.line),
        "line {}",
        expected.line
    );
}

fn say(text: &str) {
    writeln!(io::stdout(), "{text}").expect("somebody reads it");
}
