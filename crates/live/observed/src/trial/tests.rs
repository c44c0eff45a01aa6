//! Trials with known truth.

use engine::random::Stream;

use super::*;

fn plan(periods: u32, seed: u64) -> TrialPlan {
    TrialPlan {
        version: "1".to_owned(),
        law: "hscc".to_owned(),
        sets: Vec::new(),
        buffer: None,
        device: "p1".to_owned(),
        netns: String::new(),
        shape: TrialShape::new(periods, 10.0, None).expect("a trial"),
        seed,
        schedule: schedule(periods, seed),
        measure: TrialMeasure::P50,
        goal: None,
        guard: TrialGuard { worse: 0.5 },
        leaves: true,
        flows_before: 100,
        before_s: 0.1,
        expected: None,
        unexpected: None,
        analysis: String::new(),
    }
}

/// The periods of a plan, and flows in them. `fct_s` gives the completion time, from whether the law acts in the period
/// and whether the flow is in its second half.
fn made(
    plan: &TrialPlan,
    fct_s: &mut dyn FnMut(bool, bool) -> f64,
) -> (Vec<TrialPeriod>, Vec<TrialFlow>) {
    let (mut periods, mut flows) = (Vec::new(), Vec::new());
    for (number, on) in (0..).zip(&plan.schedule) {
        let begin_s = f64::from(number) * plan.shape.period_s;
        let end_s = begin_s + plan.shape.period_s;
        periods.push(TrialPeriod {
            number,
            on: *on,
            begin_s,
            end_s,
        });
        for place in 0..20 {
            let start_s = begin_s + 0.8 + 0.4 * f64::from(place);
            flows.push(TrialFlow {
                start_s,
                fct_s: fct_s(*on, start_s > begin_s + 5.0),
                bytes: 10_000,
                opened_s: Some(start_s),
            });
        }
    }
    (periods, flows)
}

fn acted() -> TrialEnd {
    TrialEnd {
        rewritten: 1,
        detached: true,
        ..TrialEnd::default()
    }
}

/// Trials of a law with this effect, in a network whose load wanders.
fn wandering(effect: f64, periods: u32) -> impl Iterator<Item = TrialResult> {
    trials(effect, periods, 200)
}

/// This many of them.
fn trials(effect: f64, periods: u32, count: u64) -> impl Iterator<Item = TrialResult> {
    (0..count).map(move |seed| {
        let plan = plan(periods, seed);
        let mut noise = Stream::new(seed, "load", 0);
        let (mut level, mut flow) = (0.0, 0);
        let (periods, flows) = made(&plan, &mut |on, _| {
            if flow % 20 == 0 {
                level = 0.8 * level + noise.unit() - 0.5;
            }
            flow += 1;
            0.1 * libm::exp(level + 0.3 * noise.unit()) * if on { effect } else { 1.0 }
        });
        plan.settle(&periods, &flows, &acted())
    })
}

#[test]
fn of_200_trials_of_a_law_without_effect_at_most_ten_are_called() {
    for periods in [12, 20] {
        let called = called(periods, 200);
        // Six are expected, and more than ten in one series of twenty.
        assert!(called <= 10, "{called} of 200 trials of {periods} periods");
    }
}

#[test]
#[ignore = "cargo test -p observed --lib -- --ignored --nocapture trial"]
#[expect(clippy::print_stdout, reason = "the counts are its result")]
fn of_thousands_of_trials_of_a_law_without_effect_one_of_32_is_called() {
    // Two of 64 ways and 32 of 1,024 make the level exact.
    for (periods, count, three_deviations) in [(12, 20_000, 74), (20, 2_000, 23)] {
        let called = called(periods, count);
        println!("{called} of {count} trials of {periods} periods are called");
        let expected = usize::try_from(count).expect("it is small") / 32;
        assert!(
            called.abs_diff(expected) <= three_deviations,
            "{called} of {count}"
        );
    }
}

/// Trials of a law without effect that are called one.
fn called(periods: u32, count: u64) -> usize {
    let all = trials(1.0, periods, count);
    all.filter(|result| result.verdict != TrialVerdict::NoDifference)
        .count()
}

#[test]
fn many_pairs_are_judged_by_draws_as_all_ways_would() {
    // Fifteen pairs are too many to count all outcomes. A difference that all share comes by chance two times in
    // 32,768.
    let plan = plan(30, 5);
    let (periods, flows) = made(&plan, &mut |on, _| if on { 0.09 } else { 0.1 });
    let found = plan.settle(&periods, &flows, &acted());
    assert!(found.p.is_some_and(|p| p < 0.001), "{found:?}");
    // A difference that vanishes on average is very likely chance.
    let mut turn = 0;
    let (periods, flows) = made(&plan, &mut |on, _| {
        turn += 1;
        match (on, turn / 40 % 2 == 0) {
            (false, _) => 0.1,
            (true, true) => 0.11,
            (true, false) => 0.1 * 0.1 / 0.11,
        }
    });
    let none = plan.settle(&periods, &flows, &acted());
    assert!(none.p.is_some_and(|p| p > 0.5), "{none:?}");
    let (low, high) = none.interval.expect("an interval");
    assert!(
        low < 1.0 && 1.0 < high && low > 0.9 && high < 1.11,
        "{none:?}"
    );
}

#[test]
fn intervals_hold_the_effect_in_31_of_32_trials_and_large_effects_are_found() {
    let all: Vec<_> = wandering(0.5, 20).collect();
    let holds = |settled: &&TrialResult| {
        settled
            .interval
            .is_some_and(|(low, high)| (low..=high).contains(&0.5))
    };
    let held = all.iter().filter(holds).count();
    assert!((187..=200).contains(&held), "{held} of 200");
    let found = all
        .iter()
        .filter(|settled| settled.verdict == TrialVerdict::Better);
    assert!(found.count() >= 190);
    let worse = wandering(2.0, 20).filter(|settled| settled.verdict == TrialVerdict::Worse);
    assert!(worse.count() >= 190);
}

#[test]
fn an_effect_without_noise_is_found_exactly() {
    let expected = Some(ExpectedEffect {
        ratio: 0.3,
        interval: (0.27, 0.33),
    });
    let goal = Some(TrialGoal { below_s: 0.05 });
    let plan = TrialPlan {
        goal,
        expected,
        ..plan(12, 1)
    };
    let (mut periods, mut flows) = made(&plan, &mut |on, _| if on { 0.032 } else { 0.1 });
    // The time after the trial is no period of it.
    periods.push(TrialPeriod {
        number: 12,
        on: false,
        begin_s: 120.0,
        end_s: 130.0,
    });
    flows.extend((0..9).map(|place| TrialFlow {
        start_s: 121.0 + f64::from(place),
        opened_s: Some(120.5),
        fct_s: 0.09,
        bytes: 1,
    }));
    let settled = plan.settle(&periods, &flows, &acted());
    assert_eq!((settled.verdict, settled.pairs), (TrialVerdict::Better, 6));
    let near = |value: Option<f64>, to: f64| value.is_some_and(|value| (value - to).abs() < 1e-9);
    assert!(near(settled.ratio, 0.32));
    // All six coins have to fall this way, or all the opposite way.
    assert!(near(settled.p, 2.0 / 64.0));
    assert!(near(settled.after_s, 0.09));
    assert!(near(settled.interval.map(|(low, _)| low), 0.32));
    assert_eq!(
        (settled.goal, settled.holds, settled.agreement),
        (Some((true, false)), Some(true), Some(Agreement::Reproduced))
    );
    assert_eq!((settled.on.flows, settled.off.flows), (120, 120));
    assert!(settled.acted);
}

#[test]
fn flows_near_a_switch_or_of_older_connections_do_not_count() {
    let plan = plan(12, 1);
    let (periods, mut flows) = made(&plan, &mut |_, _| 0.1);
    let before = plan.settle(&periods, &flows, &acted());
    let of = |start_s: f64, fct_s, opened_s| TrialFlow {
        start_s,
        fct_s,
        bytes: 1,
        opened_s,
    };
    flows.extend([
        of(0.5, 9.0, Some(0.5)),
        of(9.5, 0.1, Some(9.5)),
        of(5.0, 5.1, Some(5.0)),
        of(5.0, 9.0, None),
        of(15.0, 9.0, Some(9.0)),
    ]);
    let settled = plan.settle(&periods, &flows, &acted());
    assert_eq!((settled.ratio, settled.p), (before.ratio, before.p));
    let sum = |of: fn(&TrialArm) -> u64| of(&settled.on) + of(&settled.off);
    assert_eq!((sum(|arm| arm.near_switch), sum(|arm| arm.old)), (3, 2));
}

#[test]
fn what_is_left_of_the_period_before_is_told() {
    let plan = plan(20, 3);
    let slow = &mut |on: bool, is_late: bool| if on && is_late { 0.03 } else { 0.1 };
    let (periods, flows) = made(&plan, slow);
    let carried = plan
        .settle(&periods, &flows, &acted())
        .carry_over
        .expect("a test");
    assert!(carried.p < 0.01 && carried.ratio < 0.4, "{carried:?}");
    let (periods, flows) = made(&plan, &mut |on, _| if on { 0.03 } else { 0.1 });
    let none = plan
        .settle(&periods, &flows, &acted())
        .carry_over
        .expect("a test");
    assert!(none.p > 0.5, "{none:?}");
}

#[test]
fn two_periods_that_are_worse_than_the_guard_allows_end_a_trial_and_one_does_not() {
    let plan = plan(12, 1);
    let (periods, flows) = made(&plan, &mut |on, _| if on { 0.16 } else { 0.1 });
    let until = |count: usize| {
        let places = (0..periods.len()).filter(|place| periods[*place].on);
        places.take(count).last().map_or(0, |last| last + 1)
    };
    assert_eq!(plan.guarded(&periods[..until(1)], &flows), None);
    let why = plan
        .guarded(&periods[..until(2)], &flows)
        .expect("it is worse");
    assert!(
        why.starts_with("p50 was 160.0 and 160.0 ms in the last two periods with hscc"),
        "{why}"
    );
    let mild = TrialPlan {
        guard: TrialGuard { worse: 0.7 },
        ..plan.clone()
    };
    assert_eq!(mild.guarded(&periods[..until(2)], &flows), None);
    let end = TrialEnd {
        by_guard: true,
        ..acted()
    };
    let settled = plan.settle(&periods[..until(2)], &flows, &end);
    assert_eq!(settled.verdict, TrialVerdict::Guarded);
}

#[test]
fn a_trial_that_ended_soon_is_undecided() {
    let plan = plan(12, 1);
    let (periods, flows) = made(&plan, &mut |on, _| if on { 0.03 } else { 0.1 });
    let settled = plan.settle(&periods[..10], &flows, &acted());
    assert_eq!(
        (settled.verdict, settled.ratio, settled.pairs),
        (TrialVerdict::Undecided, None, 5)
    );
}

#[test]
fn a_prediction_is_judged_as_numbers_of_papers_are() {
    let expected = |ratio| {
        let interval = (ratio / 1.2, ratio * 1.2);
        Some(ExpectedEffect { ratio, interval })
    };
    let agreement = |ratio| {
        let plan = TrialPlan {
            expected: expected(ratio),
            ..plan(12, 1)
        };
        let (periods, flows) = made(&plan, &mut |on, _| if on { 0.06 } else { 0.1 });
        plan.settle(&periods, &flows, &acted()).agreement
    };
    let all = [0.55, 0.4, 0.2, 1.1].map(agreement);
    let [reproduced, partly, not] = [
        Agreement::Reproduced,
        Agreement::Partly,
        Agreement::NotReproduced,
    ]
    .map(Some);
    assert_eq!(all, [reproduced, partly, not, not]);
}
