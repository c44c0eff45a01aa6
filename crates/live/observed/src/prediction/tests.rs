use super::*;

pub(crate) fn flow(fct_s: f64, timeouts: u32) -> Flow {
    Flow {
        fct_s,
        timeouts,
        ..Flow::lossless("10.0.0.1:5", "10.0.0.9:80", 1_000)
    }
}

fn times(p50_ms: f64, p99_ms: f64, timeouts: u64) -> FlowTimes {
    FlowTimes {
        fct_p50_s: p50_ms / 1e3,
        fct_p99_s: p99_ms / 1e3,
        timeouts,
        ..FlowTimes::default()
    }
}

/// A port with a token bucket, whose senders are containers of this machine.
fn seen() -> Observation {
    Observation {
        device: "p1".to_owned(),
        rate_bps: 200_000_000,
        min_rtt_us: Some(20.0),
        min_rto_ms: Some(200.0),
        queue: Some(crate::Queue {
            kind: "tbf".to_owned(),
            room_bytes: Some(96_000),
            burst_bytes: Some(5_000),
            ..crate::Queue::default()
        }),
        ..Observation::default()
    }
}

/// 24 servers whose answers of 64 KiB take this long in the median, and 233 ms in the slowest of a hundred.
fn answers(p50_ms: f64) -> Vec<Flow> {
    let answer = |number: u32| Flow {
        sender: format!("10.0.0.{}:5", 10 + number % 24),
        start_s: f64::from(number),
        ..if number.is_multiple_of(50) {
            flow(0.233, 1)
        } else {
            flow(p50_ms / 1e3, 0)
        }
    };
    (0..1_200).map(answer).collect()
}

/// The prediction for flows with this model of `today`. Each cure has this 99th percentile in ms and the other values
/// of today.
fn said(flows: &[Flow], today: FlowTimes, cures: &[(&str, f64)]) -> Prediction {
    let seen = seen();
    let with = |cure: Cure| {
        let found = cures.iter().find(|(name, _)| *name == cure.name);
        let p99 = found.map_or(today.fct_p99_s * 1e3, |(_, p99)| *p99);
        (cure, Some(times(today.fct_p50_s * 1e3, p99, 0)))
    };
    let cures: Vec<_> = seen.cures().into_iter().map(with).collect();
    Prediction::new((&seen, flows), today, cures)
}

/// The predictions for that bed.
const OF_THE_BED: [(&str, f64); 3] = [
    ("rwndq", 227.0),
    ("min_rto 10ms", 64.0),
    ("rcc (grant)", 81.0),
];

#[test]
fn a_model_with_another_median_advises_nothing() {
    let said = said(&answers(26.3), times(3.85, 236.0, 24), &OF_THE_BED);
    assert!(!said.fits && said.fit.tail.fits && !said.fit.median.fits);
    assert!(said.advice.is_empty() && said.knees.is_empty(), "{said:?}");
}

#[test]
fn a_cure_that_gains_less_than_the_model_errs_is_not_advised_and_a_setting_that_gains_more_is() {
    let said = said(&answers(26.3), times(24.0, 236.0, 24), &OF_THE_BED);
    assert!(
        said.fits && (said.errs - 26.3 / 24.0).abs() < 1e-9,
        "{said:?}"
    );
    assert_eq!(said.advice, ["min_rto 10ms", "rcc (grant)"]);
    let gain = |name: &str| {
        let found = said.cures.iter().find(|cure| cure.name == name);
        found.and_then(|cure| cure.gain).expect("it was simulated")
    };
    assert!((gain("min_rto 10ms") - 236.0 / 64.0).abs() < 1e-9);
    assert!((gain("rwndq") - 236.0 / 227.0).abs() < 1e-9);
}

#[test]
fn of_cures_that_differ_by_less_than_the_model_errs_the_simplest_comes_first() {
    // It errs 1.1 times.
    let today = times(23.9, 236.0, 24);
    let equal = [
        ("dctcp", 80.0),
        ("rcc (grant)", 81.0),
        ("receive buffer 8 KiB", 82.0),
        ("min_rto 10ms", 83.0),
        ("min_rto 40ms", 84.0),
        ("hscc", 85.0),
        ("buffer x4", 86.0),
    ];
    let simplest = [
        "buffer x4",
        "hscc",
        "receive buffer 8 KiB",
        "rcc (grant)",
        "min_rto 40ms",
        "dctcp",
    ];
    assert_eq!(said(&answers(26.3), today, &equal).advice, simplest);
    // The same holds for the values of a setting that is not among the best.
    let slower = [
        ("hscc", 80.0),
        ("min_rto 10ms", 100.0),
        ("min_rto 40ms", 105.0),
    ];
    assert_eq!(
        said(&answers(26.3), today, &slower).advice,
        ["hscc", "min_rto 40ms"]
    );
    // Half as good is not as good.
    let mut worse = equal;
    worse[6].1 = 160.0;
    let advice = said(&answers(26.3), today, &worse).advice;
    assert_eq!(advice.first().map(String::as_str), Some("hscc"));
    assert_eq!(advice.last().map(String::as_str), Some("buffer x4"));
}

/// The prediction for rounds of 24 answers, of which the slowest takes 230 ms, with two cures.
fn said_of_rounds(rounds: u32) -> Prediction {
    let answer = |number: u32| Flow {
        start_s: f64::from(number / 24),
        ..flow(
            if number.is_multiple_of(24) {
                0.23
            } else {
                0.02
            },
            0,
        )
    };
    let flows: Vec<_> = (0..24 * rounds).map(answer).collect();
    let with_rounds = |p99_ms: f64, median_ms: f64, slowest_ms: f64| FlowTimes {
        round_p50_s: Some(median_ms / 1e3),
        round_p99_s: Some(slowest_ms / 1e3),
        ..times(20.0, p99_ms, 0)
    };
    let seen = seen();
    let with = |cure: Cure| {
        let times = match cure.name.as_str() {
            // Flows are faster, but rounds wait for the slowest of them.
            "rwndq" => with_rounds(40.0, 229.0, 229.0),
            // One round in many has a timeout.
            "hscc" => with_rounds(60.0, 66.0, 240.0),
            "rcc (grant)" => with_rounds(61.0, 67.0, 68.0),
            // Most rounds are faster, and the slowest are not.
            "buffer x4" => with_rounds(229.0, 66.0, 240.0),
            _ => with_rounds(230.0, 231.0, 231.0),
        };
        (cure, Some(times))
    };
    let cures: Vec<_> = seen.cures().into_iter().map(with).collect();
    Prediction::new((&seen, &flows), with_rounds(231.0, 220.0, 220.0), cures)
}

#[test]
fn what_is_waited_for_decides_where_flows_are_awaited_together() {
    let said = said_of_rounds(150);
    assert_eq!((said.rounds, said.waited), (150, RankedBy::RoundP99S));
    let seen = said.observed.round_p99_s.expect("rounds");
    assert!((seen - 0.23).abs() < 1e-9, "{seen}");
    assert_eq!(said.advice, ["rcc (grant)"]);
    assert_eq!(said.cures[0].name, "rcc (grant)");
    assert!((said.errs - 230.0 / 220.0).abs() < 1e-9, "{}", said.errs);
}

#[test]
fn of_few_rounds_the_slowest_decides_nothing() {
    let said = said_of_rounds(40);
    assert_eq!((said.rounds, said.waited), (40, RankedBy::RoundP50S));
    assert_eq!(said.advice, ["hscc", "rcc (grant)"]);
}

#[test]
fn a_knee_is_the_value_beyond_which_nothing_is_gained() {
    let today = times(24.0, 230.0, 24);
    let knees = |cures: &[(&str, f64)]| {
        let knees = said(&answers(26.3), today, cures).knees;
        let named = knees
            .into_iter()
            .map(|knee| format!("{} {}", knee.setting, knee.value));
        named.collect::<Vec<_>>()
    };
    let none: [String; 0] = [];
    assert_eq!(knees(&[]), none);
    // The smallest that is as good as what is there, as 64 KB are as good as 6 MiB.
    let starved = [
        ("receive buffer 8 KiB", 900.0),
        ("receive buffer 16 KiB", 500.0),
        ("receive buffer 32 KiB", 240.0),
    ];
    assert_eq!(knees(&starved), ["receive buffer 32 KiB"]);
    // The longest timer, and the smallest queue.
    let settings = [
        ("min_rto 40ms", 82.0),
        ("min_rto 10ms", 80.0),
        ("buffer x2", 81.0),
        ("buffer x4", 80.0),
    ];
    assert_eq!(knees(&settings), ["buffer x2", "min_rto 40ms"]);
    // More of it gains more.
    assert_eq!(
        knees(&[("min_rto 40ms", 120.0), ("min_rto 10ms", 80.0)]),
        none
    );
}

#[test]
fn what_is_not_simulated_comes_last_and_what_comes_in_is_cured_where_acks_leave() {
    let receiver = Observation {
        packet_bytes: [64, 1_500],
        ..seen()
    };
    let flows = answers(26.3);
    let with = |cure: Cure| {
        let times = match cure.name.as_str() {
            "hscc" => None,
            "buffer x4" => Some(times(20.0, 60.0, 0)),
            "rcc (grant)" => Some(times(20.0, 70.0, 0)),
            _ => Some(times(20.0, 230.0, 0)),
        };
        (cure, times)
    };
    let cures: Vec<_> = receiver.cures().into_iter().map(with).collect();
    let said = Prediction::new((&receiver, &flows), times(26.0, 230.0, 24), cures);
    let last = said.cures.last().expect("some cures");
    assert_eq!((last.name.as_str(), last.gain), ("hscc", None));
    assert_eq!(said.advice, ["rcc (grant)"]);
    assert!(said.advised().all(Predicted::is_attached_here));
    // The queue of incoming data is on another machine.
    let elsewhere = said.elsewhere().map(|cure| cure.name.as_str());
    assert_eq!(elsewhere, Some("buffer x4"));
}

#[test]
fn a_prediction_is_read_as_it_was_written_and_carries_each_part_of_the_fit() {
    let said = said(&answers(26.3), times(3.85, 236.0, 24), &OF_THE_BED);
    let json = serde_json::to_value(&said).expect("JSON");
    for part in ["median", "tail", "timeouts"] {
        let part = &json["fit"][part];
        assert!(part["times"].is_f64() && part["most"].is_f64() && part["fits"].is_boolean());
    }
    let cure = &json["cures"][0];
    assert_eq!(cure["commands"][0]["site"], "senders");
    assert_eq!(json["waited"], "fct_p99_s");
    assert!(cure["gain"].is_f64() && json["errs"].is_f64());
    assert_eq!(
        serde_json::from_value::<Prediction>(json).expect("a prediction"),
        said
    );
}

#[test]
fn guesses_that_decide_what_does_not_fit_are_suspected() {
    let guess = |key: &str| format!("{key} = 1: why");
    let said = Prediction {
        guessed: ["delay", "buffer", "min_rto"].map(guess).into(),
        ..said(&answers(26.3), times(3.85, 236.0, 24), &[])
    };
    assert_eq!(said.suspects(), ["delay"]);
    let said = Prediction {
        fit: Fit::new(&times(20.0, 230.0, 0), &times(20.0, 90.0, 0)),
        ..said
    };
    assert_eq!(said.suspects(), ["buffer", "min_rto"]);
}
