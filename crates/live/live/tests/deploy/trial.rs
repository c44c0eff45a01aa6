//! Trials of laws at a port: when the law acts, and what is left for every kind of end.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use observed::trial::{TrialGuard, TrialMeasure, TrialPlan, TrialShape};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Ends;
use crate::bed::{Bed, PORT, SWITCH, line, program, run};

/// A plan of short periods, in a file that is removed on drop.
pub(crate) struct PlanFile(PathBuf);

impl PlanFile {
    fn new(bed: &Bed, schedule: &[bool], period_s: f64) -> Self {
        Self::of(bed, &plan(bed, schedule, period_s))
    }

    pub(crate) fn of(bed: &Bed, plan: &TrialPlan) -> Self {
        let file = std::env::temp_dir().join(format!("{}.json", bed.namespace("plan")));
        fs::write(&file, serde_json::to_vec(plan).expect("JSON")).expect("a file");
        Self(file)
    }

    fn words(&self) -> [&str; 5] {
        let file = self.0.to_str().expect("a path");
        ["trial", "--plan", file, "--hash", "0123abcd"]
    }

    /// A trial that goes on.
    pub(crate) fn begun(&self) -> Child {
        let mut command = Command::new(program());
        let child = command.args(self.words()).stdout(Stdio::piped()).spawn();
        child.expect("the program starts")
    }
}

/// A plan for HSCC at the port, without a prediction.
pub(crate) fn plan(bed: &Bed, schedule: &[bool], period_s: f64) -> TrialPlan {
    TrialPlan {
        version: "1".to_owned(),
        law: "hscc".to_owned(),
        sets: Vec::new(),
        buffer: None,
        device: PORT.to_owned(),
        netns: bed.namespace(SWITCH),
        shape: TrialShape {
            periods: u32::try_from(schedule.len()).expect("few"),
            period_s,
            settle_s: 0.05,
        },
        seed: 1,
        schedule: schedule.to_vec(),
        measure: TrialMeasure::P50,
        goal: None,
        guard: TrialGuard { worse: 9.0 },
        leaves: true,
        flows_before: 10,
        before_s: 1.0,
        expected: None,
        unexpected: None,
        analysis: String::new(),
    }
}

impl Drop for PlanFile {
    fn drop(&mut self) {
        fs::remove_file(&self.0).expect("the file was there");
    }
}

/// The lines of a trial.
pub(crate) fn told(child: Child) -> Vec<Value> {
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{} {text}", output.status);
    text.lines().map(line).collect()
}

pub(crate) fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

/// The state of the port, if a law is attached to it.
pub(crate) fn state(bed: &Bed) -> Option<Value> {
    let switch = bed.namespace(SWITCH);
    run(&["status", "--dev", PORT, "--netns", &switch]).pop()
}

/// Waits until the law acts, or until it does not act.
pub(crate) fn waits_for(bed: &Bed, acts: bool, at_most: Duration) {
    let begin = machine::clock::now();
    while state(bed).is_none_or(|state| state["acts"] != acts) {
        assert!(
            begin.elapsed() < at_most,
            "acts is not {acts}: {:?}",
            state(bed)
        );
        thread::sleep(Duration::from_millis(20));
    }
}

/// While flows pass the port.
pub(crate) fn with_traffic<T>(bed: &Bed, act: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                bed.send();
            }
        });
        let _until = Ends(&over);
        act()
    })
}

#[test]
fn a_law_acts_in_the_periods_of_a_trial_without_privileges_and_nothing_of_it_stays() {
    let Some(bed) = Bed::new() else { return };
    let plan = PlanFile::new(&bed, &[false, true, true, false], 0.6);
    let (lines, acted, privileges) = with_traffic(&bed, || {
        let child = plan.begun();
        waits_for(&bed, true, Duration::from_secs(20));
        let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
        let privileges = status.expect("it runs");
        let acted = state(&bed).expect("it stands there");
        (told(child), acted, privileges)
    });
    assert!(
        privileges.contains("CapEff:\t0000000000000000"),
        "{privileges}"
    );
    assert!(acted["lease_left_s"].as_f64() <= Some(2.0), "{acted}");
    let begun = of_type(&lines, "trialbegin");
    assert_eq!(begun[0]["plan"], "0123abcd");
    // The time after the trial is a period, too.
    let periods = of_type(&lines, "trialperiod");
    let on: Vec<_> = periods.iter().map(|period| &period["on"]).collect();
    assert_eq!(on, [false, true, true, false, false]);
    let end = of_type(&lines, "trialend")[0];
    assert_eq!(
        (&end["stopped"], &end["detached"]),
        (&Value::Null, &true.into()),
        "{end}"
    );
    assert!(end["rewritten"].as_u64() > Some(0), "{end}");
    let flows = of_type(&lines, "trialflow");
    let opened = flows.iter().filter(|flow| flow["opened_s"].is_f64());
    assert!(
        flows.len() >= 16 && 10 * opened.count() >= 9 * flows.len(),
        "{}",
        flows.len()
    );
    assert!(
        lines.iter().all(|line| !line.to_string().contains("10.9.")),
        "an address is told"
    );
    bed.holds_nothing();
}

#[test]
fn two_seconds_after_a_trial_was_killed_everything_passes() {
    let Some(bed) = Bed::new() else { return };
    let plan = PlanFile::new(&bed, &[true, false], 60.0);
    let mut child = plan.begun();
    waits_for(&bed, true, Duration::from_secs(20));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    waits_for(&bed, false, Duration::from_millis(2_500));
    // A second trial does not begin, and its message names the law that is still attached.
    let output = Command::new(program()).args(plan.words()).output();
    let output = output.expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("hscc stands at eth1"), "{text}");
    bed.detach();
    bed.holds_nothing();
}

#[test]
fn a_trial_ends_with_the_command_that_began_it_and_by_a_signal() {
    let Some(bed) = Bed::new() else { return };
    let plan = PlanFile::new(&bed, &[true, false], 60.0);
    let child = plan.begun();
    waits_for(&bed, true, Duration::from_secs(20));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let lines = told(child);
    assert_eq!(
        of_type(&lines, "trialend")[0]["stopped"],
        "it was interrupted"
    );
    bed.holds_nothing();
    // The shell ends and leaves its child behind, whose output nobody reads.
    let words = plan.words().join(" ");
    let shell = format!("{} {words} > /dev/null & exec sleep 60", program());
    let mut shell = Command::new("sh")
        .args(["-c", &shell])
        .spawn()
        .expect("sh starts");
    waits_for(&bed, true, Duration::from_secs(20));
    shell.kill().expect("it runs");
    shell.wait().expect("it ends");
    let begin = machine::clock::now();
    while state(&bed).is_some() && begin.elapsed() < Duration::from_secs(3) {
        thread::sleep(Duration::from_millis(20));
    }
    bed.holds_nothing();
}

#[test]
fn a_trial_ends_when_somebody_else_attaches_and_leaves_that_alone() {
    let Some(bed) = Bed::new() else { return };
    let plan = PlanFile::new(&bed, &[false, true], 60.0);
    for (scheme, why) in [
        ("hscc", "somebody renewed the lease of the law"),
        ("rwndq", "somebody changed what is attached"),
    ] {
        let child = plan.begun();
        waits_for(&bed, false, Duration::from_secs(20));
        bed.attach(scheme, &[]);
        let lines = told(child);
        let end = of_type(&lines, "trialend")[0];
        assert_eq!(end["stopped"], why, "{end}");
        assert_eq!(end["detached"], false, "{end}");
        assert_eq!(state(&bed).expect("it stays")["acts"], true);
        bed.detach();
        bed.holds_nothing();
    }
}
