//! Many trials on this machine's kernel: how often chance is taken for an effect, and what killed trials leave behind.

use std::io::Write;
use std::thread;
use std::time::Duration;

use observed::trial::{TrialPlan, TrialVerdict, schedule};
use protocol::Line;
use serde_json::Value;

use crate::bed::{Bed, PORT, SWITCH, run};
use crate::trial::{PlanFile, plan, state, told, with_traffic};

/// A law that marks nothing, as no flow may carry a mark, so every measured effect is chance. `TAILWATER_TRIALS` is the
/// number of trials.
#[test]
#[ignore = "takes half an hour: cargo xtask trust trials"]
fn of_200_trials_of_a_law_without_effect_at_most_ten_are_called() {
    const PERIODS: u32 = 12;
    let Some(bed) = Bed::new() else { return };
    let trials = number("TAILWATER_TRIALS", 200);
    let begin = machine::clock::now();
    let (mut called, mut settled) = (0, 0);
    for seed in 1..=trials {
        let plan = TrialPlan {
            law: "mark".to_owned(),
            sets: vec!["switch.ecn_threshold=20KB".to_owned()],
            seed,
            ..plan(&bed, &schedule(PERIODS, seed), 0.6)
        };
        let file = PlanFile::of(&bed, &plan);
        let lines = with_traffic(&bed, || told(file.begun()));
        let (mut periods, mut flows, mut end) = (Vec::new(), Vec::new(), None);
        for line in lines.iter().map(read) {
            match line {
                Line::TrialPeriod(period) => periods.push(period),
                Line::TrialFlow(flow) => flows.push(flow),
                Line::TrialEnd(told) => end = Some(told),
                _ => {}
            }
        }
        let end = end.expect("a trial ends");
        assert_eq!((end.rewritten, end.marked, &end.stopped), (0, 0, &None));
        let found = plan.settle(&periods, &flows, &end);
        settled += u64::from(found.p.is_some());
        called += u64::from(matches!(
            found.verdict,
            TrialVerdict::Better | TrialVerdict::Worse
        ));
    }
    say(&format!(
        "{called} of {settled} settled trials called, {trials} in all, in {:.0} s",
        begin.elapsed().as_secs_f64()
    ));
    assert!(10 * settled >= 9 * trials, "{settled} of {trials} settled");
    // The level is 1/32. With 200 trials, more than ten are called in 5 of 100 such series; with fewer trials, more
    // than three rarely.
    let most = (trials / 20).max(3);
    assert!(called <= most, "{called} of {trials} called");
    bed.holds_nothing();
}

/// A trial is killed at moments that are spread evenly over its duration. `TAILWATER_KILLS` is the number of kills.
#[test]
#[ignore = "takes ten minutes: cargo xtask trust trials"]
fn a_hundred_trials_that_are_killed_end_in_everything_passes() {
    let Some(bed) = Bed::new() else { return };
    let kills = number("TAILWATER_KILLS", 100);
    let file = PlanFile::of(&bed, &plan(&bed, &[true, false, false, true], 0.6));
    let begin = machine::clock::now();
    told(file.begun());
    let whole = begin.elapsed();
    let (mut left, mut at) = (0, 0.0);
    for _ in 0..kills {
        // Fractional parts of multiples of the golden ratio are spread evenly.
        at = (at + 0.618_034_f64).fract();
        let mut child = file.begun();
        thread::sleep(whole.mul_f64(at));
        child.kill().expect("it was not waited for");
        child.wait().expect("it ends");
        thread::sleep(Duration::from_millis(2_100));
        if let Some(state) = state(&bed) {
            left += 1;
            assert_ne!(
                state["acts"], true,
                "killed behind {at} of {whole:?}: {state}"
            );
        }
        run(&["detach", "--dev", PORT, "--netns", &bed.namespace(SWITCH)]);
        bed.holds_nothing();
        bed.transfer(2, 5_000);
    }
    say(&format!(
        "{kills} kills, {left} with a law whose lease was over, in {:.0} s",
        begin.elapsed().as_secs_f64()
    ));
    assert!(left > 0, "none was killed while its law stood");
}

fn read(line: &Value) -> Line {
    Line::read(&line.to_string()).expect("it was read before")
}

fn number(variable: &str, usual: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(usual, |text| text.parse().expect("a number"))
}

/// Says what was measured.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("somebody reads");
}
