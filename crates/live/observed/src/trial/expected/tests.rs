//! Predictions of networks with a known truth.

use super::*;

fn shape(periods: u32) -> TrialShape {
    TrialShape::new(periods, 10.0, Some(200.0)).expect("a trial")
}

/// Rounds of ten flows, half a second apart, with these times in milliseconds: observed, in the model of today, and with
/// the law.
fn rounds(times_ms: &mut dyn FnMut(u32) -> [f64; 3]) -> (Vec<Flow>, [Vec<FlowTiming>; 2]) {
    let (mut flows, mut today, mut law) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..20 {
        for place in 0..10_u32 {
            let start_s = 0.5 * f64::from(round) + 1e-5 * f64::from(place);
            let [observed, model, with_law] = times_ms(round).map(|ms| ms / 1e3);
            flows.push(Flow {
                receiver: format!("10.0.0.9:{}", 1_000 + 10 * round + place),
                ..Flow::example(start_s, observed)
            });
            for (all, fct_s) in [(&mut today, model), (&mut law, with_law)] {
                all.push(FlowTiming {
                    start_s,
                    fct_s,
                    timeouts: 0,
                });
            }
        }
    }
    (flows, [today, law])
}

fn expected(
    (flows, [today, law]): &(Vec<Flow>, [Vec<FlowTiming>; 2]),
    measure: TrialMeasure,
) -> Option<ExpectedEffect> {
    let modelled = ModelledFlows {
        flows,
        today,
        law,
        seconds: 10.0,
    };
    ExpectedEffect::of(&modelled, &shape(12), measure, 1)
}

fn near(value: f64, to: f64) {
    assert!((value - to).abs() < 1e-9, "{value} is not {to}");
}

#[test]
fn without_noise_and_error_the_interval_is_the_effect() {
    for measure in [TrialMeasure::P50, TrialMeasure::P99, TrialMeasure::Mean] {
        let found = expected(&rounds(&mut |_| [40.0, 40.0, 10.0]), measure).expect("a prediction");
        near(found.ratio, 0.25);
        near(found.interval.0, 0.25);
        near(found.interval.1, 0.25);
    }
}

#[test]
fn an_error_of_the_model_widens_the_interval_on_both_sides_and_leaves_the_ratio() {
    let found = expected(&rounds(&mut |_| [44.0, 40.0, 10.0]), TrialMeasure::P99);
    let found = found.expect("a prediction");
    near(found.ratio, 0.25);
    // Student's t with two degrees of freedom is below 1.886 in nine of ten cases, and both errors are a factor of 1.1.
    let (low, high) = found.interval;
    let (below, above) = (libm::log(0.25 / low), libm::log(high / 0.25));
    for width in [below, above] {
        let standard = width / libm::log(1.1);
        assert!((1.6..2.2).contains(&standard), "{standard} in {found:?}");
    }
}

#[test]
fn noise_of_the_traffic_makes_an_interval_that_more_periods_narrow() {
    let mut noise = Stream::new(1, "noise", 0);
    let mut level = 0.0;
    let mut place = 0;
    let all = rounds(&mut |_| {
        if place % 10 == 0 {
            level = 0.4 * noise.unit();
        }
        place += 1;
        let ms = 40.0 * libm::exp(level);
        [ms, ms, 0.5 * ms]
    });
    let width = |periods| {
        let (flows, [today, law]) = &all;
        let modelled = ModelledFlows {
            flows,
            today,
            law,
            seconds: 10.0,
        };
        let found = ExpectedEffect::of(&modelled, &shape(periods), TrialMeasure::P50, 1);
        let (low, high) = found.expect("a prediction").interval;
        assert!(low < 0.5 && 0.5 < high, "{low} to {high}");
        libm::log(high / low)
    };
    let (few, many) = (width(12), width(48));
    // Of periods the standard deviation is halved.
    assert!((0.4..0.65).contains(&(many / few)), "{few} and {many}");
}

#[test]
fn a_timeout_in_one_round_of_twenty_makes_a_wide_interval() {
    let timeout = |round| if round == 3 { 240.0 } else { 40.0 };
    let found = expected(
        &rounds(&mut |round| [timeout(round), timeout(round), 40.0]),
        TrialMeasure::P99,
    );
    let (low, high) = found.expect("a prediction").interval;
    // Another observation may have no such round, and periods may all have one.
    assert!(low < 0.4 && high > 0.99, "{low} to {high}");
}

#[test]
fn flows_that_a_trial_would_not_count_do_not_count() {
    let mut all = rounds(&mut |_| [40.0, 40.0, 10.0]);
    let before = expected(&all, TrialMeasure::P99).expect("a prediction");
    for round in 0..20 {
        // One of each round belongs to a connection that was open before.
        all.0[10 * round].opened_s = None;
        for state in &mut all.1 {
            state[10 * round].fct_s = 3.0;
        }
    }
    assert_eq!(expected(&all, TrialMeasure::P99), Some(before));
    for flow in &mut all.0[..196] {
        flow.opened_s = None;
    }
    assert_eq!(expected(&all, TrialMeasure::P99), None, "too few");
}

#[test]
fn flows_without_an_end_have_no_mean() {
    let all = rounds(&mut |round| [40.0, 40.0, if round == 5 { f64::INFINITY } else { 10.0 }]);
    assert_eq!(expected(&all, TrialMeasure::Mean), None);
    assert!(expected(&all, TrialMeasure::P50).is_some());
}

#[test]
fn traffic_without_gaps_is_drawn_in_parts() {
    let mut all = rounds(&mut |_| [40.0, 40.0, 10.0]);
    for flow in &mut all.0 {
        flow.fct_s = 0.7;
    }
    let episodes = Episodes::of(&all.0, 9.4).expect("flows");
    assert_eq!(episodes.sizes.len(), LEAST_EPISODES);
    assert_eq!(episodes.sizes.iter().sum::<usize>(), 190);
    let rounds = rounds(&mut |_| [40.0, 40.0, 10.0]);
    let episodes = Episodes::of(&rounds.0, 9.4).expect("flows");
    assert_eq!(episodes.sizes, [10; 19]);
}

#[test]
fn a_measure_of_repeated_episodes_is_that_of_all_their_flows() {
    let mut noise = Stream::new(2, "noise", 0);
    let (flows, _) = rounds(&mut |_| [noise.unit(); 3]);
    let episodes = Episodes::of(&flows, 10.0).expect("flows");
    let times: Vec<_> = flows.iter().map(|flow| flow.fct_s).collect();
    let sorted = episodes.sorted(&times);
    let often: Vec<usize> = (0..20).map(|episode| episode % 4).collect();
    for measure in TrialMeasure::ALL {
        let repeated = times.iter().zip(&episodes.places);
        let repeated = repeated.flat_map(|(time_s, place)| {
            std::iter::repeat_n(*time_s, often[place.expect("all count")])
        });
        let mut repeated: Vec<_> = repeated.collect();
        let expected = measure.of(&mut repeated).expect("flows");
        near(libm::exp(sorted.log(measure, &often)), expected);
    }
}
