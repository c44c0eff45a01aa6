//! RCC at a receiver: attached, watched, detached.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::bed::{Bed, RECEIVER, line, names, program, run};

/// The device of the receiver.
const DEVICE: &str = "out0";

struct Receiver<'a> {
    bed: &'a Bed,
    netns: String,
}

impl<'a> Receiver<'a> {
    fn of(bed: &'a Bed) -> Self {
        let netns = bed.namespace(RECEIVER);
        Self { bed, netns }
    }

    fn words<'b>(&'b self, first: &[&'b str], more: &[&'b str]) -> Vec<&'b str> {
        let place = ["--dev", DEVICE, "--netns", &self.netns];
        [first, &place, more].concat()
    }

    fn attach(&self, more: &[&str]) -> Value {
        let budget = ["--lease-s", "600", "--set", "rcc.max_queue=40KB"];
        run(&self.words(&["attach", "rcc"], &[&budget, more].concat())).remove(0)
    }

    fn status(&self) -> Value {
        let all = run(&self.words(&["status"], &[]));
        all.into_iter().next().unwrap_or_default()
    }

    fn detach(&self) {
        run(&self.words(&["detach"], &[]));
        assert_eq!(self.status(), Value::Null);
        // The watchdog checks every 10 ms; a busy machine may take longer.
        let mut looks = (0..100).map(|_| {
            thread::sleep(Duration::from_millis(20));
            self.watchdogs().is_empty()
        });
        assert!(looks.any(|gone| gone), "{:?}", self.watchdogs());
        let number = self.bed.number_of(RECEIVER);
        for folder in ["/run/tailwater/attached", "/run/tailwater/bpf"] {
            let mut left = names(folder).into_iter();
            assert!(left.all(|name| !name.starts_with(&number)), "{folder}");
        }
    }

    /// The processes that watch its device.
    fn watchdogs(&self) -> Vec<String> {
        let is_its = |pid: &String| {
            let words = fs::read(Path::new("/proc").join(pid).join("cmdline"));
            let words = words.unwrap_or_default();
            let mut words = words.split(|byte| *byte == 0);
            words.nth(1) == Some(b"watch") && words.any(|word| word == self.netns.as_bytes())
        };
        names("/proc").into_iter().filter(is_its).collect()
    }
}

#[test]
fn grants_are_attached_watched_changed_and_detached() {
    let Some(bed) = Bed::new() else { return };
    let receiver = Receiver::of(&bed);
    let would = receiver.attach(&["--dry-run"]);
    assert_eq!(would["action"], "would attach");
    assert_eq!(receiver.status(), Value::Null, "nothing is changed");
    let told = receiver.attach(&[]);
    assert_eq!(told["action"], "attached");
    assert_eq!(told["settings"]["rcc.grant_least"], "2");
    assert_eq!(told["warnings"].to_string(), "[]");
    bed.transfer(20, 256 << 10);
    let status = receiver.status();
    assert_eq!(status["drift"].to_string(), "[]", "{status}");
    assert_eq!(status["budget_bytes"], 26 * 1_460);
    assert_eq!(status["watched"], true);
    for key in ["rewritten", "told"] {
        assert!(status[key].as_u64().unwrap() > 100, "{key}: {status}");
    }
    let watchdogs = receiver.watchdogs();
    assert_eq!(watchdogs.len(), 1);
    let privileges = fs::read_to_string(format!("/proc/{}/status", watchdogs[0]));
    let privileges = privileges.expect("it runs");
    assert!(
        privileges.contains("CapEff:\t0000000000000000"),
        "{privileges}"
    );

    assert_eq!(receiver.attach(&[])["action"], "renewed");
    let told = receiver.attach(&["--set", "rcc.grant_idle=20ms"]);
    assert_eq!(told["action"], "updated");
    assert_eq!(receiver.watchdogs(), watchdogs, "it goes on");
    bed.transfer(20, 64 << 10);
    // Connections close a moment after their data has arrived.
    let mut looks = (0..40).map(|_| {
        thread::sleep(Duration::from_millis(50));
        receiver.status()["waiting"] == 0
    });
    assert!(looks.any(|none| none), "{}", receiver.status());
    receiver.detach();
}

#[test]
fn a_watchdog_that_died_is_told_and_the_next_attach_revives_it() {
    let Some(bed) = Bed::new() else { return };
    let receiver = Receiver::of(&bed);
    receiver.attach(&[]);
    for pid in receiver.watchdogs() {
        let killed = Command::new("kill").args(["-9", &pid]).status();
        assert!(killed.expect("kill starts").success());
    }
    // Connections continue, at worst by the probes of their senders.
    bed.transfer(20, 64 << 10);
    let drift = receiver.status()["drift"].to_string();
    assert!(drift.contains("the watchdog does not run"), "{drift}");
    assert_eq!(receiver.attach(&[])["action"], "renewed");
    assert_eq!(receiver.status()["drift"].to_string(), "[]");
    assert_eq!(receiver.watchdogs().len(), 1);
    receiver.detach();
}

#[test]
fn grants_that_die_after_any_step_are_repeated_or_taken_away() {
    let Some(bed) = Bed::new() else { return };
    let receiver = Receiver::of(&bed);
    for step in [
        "made a folder",
        "pinned ingress",
        "pinned release",
        "recorded",
    ] {
        for repeats in [true, false] {
            let mut command = Command::new(program());
            command.args(receiver.words(&["attach", "rcc"], &[]));
            let died = command.env("TAILWATER_DIE_AFTER", step).output();
            assert!(!died.expect("the program starts").status.success());
            if repeats {
                receiver.attach(&[]);
                assert_eq!(receiver.status()["drift"].to_string(), "[]", "{step}");
            }
            receiver.detach();
        }
    }
}

#[test]
fn a_watchdog_ends_with_its_lease_or_its_device() {
    let Some(bed) = Bed::new() else { return };
    let receiver = Receiver::of(&bed);
    let ends = || {
        let mut looks = (0..200).map(|_| {
            thread::sleep(Duration::from_millis(50));
            receiver.watchdogs().is_empty()
        });
        looks.any(|gone| gone)
    };
    receiver.attach(&[]);
    assert_eq!(receiver.watchdogs().len(), 1);
    // A renewed lease may be shorter.
    run(&receiver.words(&["attach", "rcc"], &["--lease-s", "1"]));
    assert!(ends(), "the lease is over");
    assert_eq!(receiver.status()["drift"].to_string(), "[]");
    receiver.attach(&[]);
    assert_eq!(receiver.watchdogs().len(), 1);
    crate::bed::ip(&format!("-n {} link del {DEVICE}", receiver.netns));
    let drift = receiver.status()["drift"].to_string();
    assert!(drift.contains("is gone"), "{drift}");
    receiver.detach();
}

#[test]
fn grants_look_at_no_queue() {
    let Some(bed) = Bed::new() else { return };
    let receiver = Receiver::of(&bed);
    for (option, message) in [
        (["--buffer", "64000"], "looks at no queue"),
        (["--queue-of", DEVICE], "looks at no queue"),
        (["--set", "rcc.max_queue=auto"], "follows marks"),
        (["--set", "rcc.skip_max=3"], "no setting rcc.skip_max"),
    ] {
        let mut command = Command::new(program());
        let output = command
            .args(receiver.words(&["attach", "rcc"], &option))
            .output();
        let output = output.expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{option:?}");
        let line = line(&String::from_utf8_lossy(&output.stdout));
        assert!(
            line["message"].as_str().unwrap().contains(message),
            "{line}"
        );
    }
    assert_eq!(receiver.status(), Value::Null);
}
