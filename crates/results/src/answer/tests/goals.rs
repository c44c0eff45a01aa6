//! Sentences about goals.

use super::*;

#[test]
fn along_a_load_the_greatest_that_meets_the_goal_is_told_and_not_the_least() {
    let text = format!("goals = [\"fct_p99 < 50ms\"]\n{SWEEP}");
    let tails = swept(&[
        (10, &[("newreno", 6.0), ("dctcp", 4.0), ("rcc", 3.0)]),
        (40, &[("newreno", 60.0), ("dctcp", 30.0), ("rcc", 20.0)]),
        (100, &[("newreno", 90.0), ("dctcp", 80.0), ("rcc", 45.0)]),
    ]);
    let answer = answered(&text, tails);
    assert_eq!(
        answer[0],
        "6 of 9 rows meet fct_p99 < 50ms; the greatest load that meets it is rcc at 100 senders (fct_p99 is \
         45.0 ms)."
    );
}

#[test]
fn along_another_axis_the_best_is_told() {
    let text = "schemes = [\"rcc\"]\ngoals = [\"fct_p99 < 50ms\"]\nswitch.buffer = [\"64KB\", \"128KB\"]\n";
    let answer = answered(text, |point, metrics| {
        metrics.fct_p99_us = if point.set[0].1 == "64KB" { 4e4 } else { 3e4 };
    });
    assert_eq!(
        answer[0],
        "Both rows meet fct_p99 < 50ms; the best is rcc at switch.buffer = 128KB (fct_p99 is 30.0 ms)."
    );
}
