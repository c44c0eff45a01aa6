//! The same incasts in ns-3.48, whose means are in `oracle/ns3-incast.csv`.
//!
//! Where both sides follow the same RFCs, means of 20 seeds agree within 10 %, and a lone flow within
//! 0.01 %. Where they do not, the ratio of ours to ns-3's is stated with its cause and held to 8 %, so
//! that a change of behaviour on our side shows. What ns-3 does differently, each shown by changing
//! that alone:
//!
//! - **Pipe**: when recovery begins, ns-3 sets ssthresh to half of its estimate of the data in flight,
//!   from which lost segments are already taken. RFC 5681 §3.1 eq. 4 and RFC 6675 §5 say half of what is
//!   sent and not acknowledged (`FlightSize`). With `FlightSize` and classic recovery, ns-3 itself has
//!   our mean to 0.1 %: 10.22 ms for 16 senders with SACK.
//! - **Back-off**: in ns-3 every new ACK ends the back-off of the retransmission timer, with timestamps
//!   or without. Here it stays until a round trip is measured again, as RFC 6298 §5 allows and Karn's rule
//!   makes rare after losses.
//! - **CWR**: after an ECN echo, ns-3 reduces the window over a round trip and ignores duplicate ACKs
//!   until it has passed, so that a loss in a marked window waits for the timer. RFC 8257 §3.5 and
//!   RFC 5681 §3.2 want the fast retransmit.
//!
//! Proportional rate reduction (RFC 6937) and timestamps (RFC 7323), which ns-3 has too, are not among
//! the causes: ns-3 without either is as fast in the rows with SACK.

use base::cast::real;
use sim::run;

use crate::support::points;

/// The rows of the file in their order: ours over ns-3's mean completion time and drops.
const RATIOS: &[Ratio] = &[
    Ratio {
        fct: 1.0,
        drops: 1.0,
        tolerance: 0.1,
    },
    // Pipe: with ssthresh from it the ratios are 0.98 and 1.00.
    Ratio {
        fct: 1.31,
        drops: 1.12,
        tolerance: 0.08,
    },
    // CWR: if duplicates of a marked window are ignored, the ratio is 1.26 instead; ns-3 lies between.
    Ratio {
        fct: 0.83,
        drops: 0.84,
        tolerance: 0.08,
    },
    // Back-off: if every new ACK ends it, the ratios are 0.96 and 1.01; with pipe as well, 0.96 and 0.99.
    Ratio {
        fct: 1.25,
        drops: 1.02,
        tolerance: 0.08,
    },
    // Back-off and pipe: the former alone makes the ratios 1.06 and 1.12, both make them 0.98 and 1.03.
    Ratio {
        fct: 1.38,
        drops: 1.14,
        tolerance: 0.08,
    },
    Ratio {
        fct: 1.0,
        drops: 1.0,
        tolerance: 0.1,
    },
    Ratio {
        fct: 1.0,
        drops: 1.0,
        tolerance: 0.000_1,
    },
];

struct Ratio {
    fct: f64,
    drops: f64,
    tolerance: f64,
}

#[test]
fn means_of_incasts_agree_with_ns3_where_both_follow_the_same_rfc() {
    let rows = rows();
    assert_eq!(rows.len(), RATIOS.len());
    for (row, ratio) in rows.iter().zip(RATIOS) {
        let (fct, drops) = simulate(row, &[]);
        let place = format!(
            "{} x {} bytes, K = {}, SACK = {}: {fct} of {} ms, {drops} of {} drops",
            row.senders, row.size, row.threshold, row.sack, row.fct_ms, row.drops
        );
        let near = |ours: f64, theirs: f64, expected: f64| {
            (ours / theirs / expected - 1.0).abs() <= ratio.tolerance
        };
        assert!(near(fct, row.fct_ms, ratio.fct), "{place}");
        if row.drops > 0.0 {
            assert!(near(drops, row.drops, ratio.drops), "{place}");
        } else {
            assert!(drops < 1e-9, "{place}");
        }
    }
}

/// The first two causes are settings: with ssthresh from the pipe and the back-off ended by timestamps, five
/// rows agree within 10 %. Row 0 is 11 % shorter than in ns-3, with the same drops; row 2 is about the third
/// cause.
#[test]
fn five_incasts_agree_with_ns3_in_its_own_ways() {
    let ways = ["tcp.ssthresh_of=pipe", "tcp.timestamps=true"];
    let mut agree = Vec::new();
    for (place, row) in rows().iter().enumerate() {
        let (fct, drops) = simulate(row, &ways);
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= 0.1 * theirs;
        if near(fct, row.fct_ms) && near(drops, row.drops) {
            agree.push(place);
        }
    }
    assert_eq!(agree, [1, 3, 4, 5, 6]);
}

struct Row {
    senders: u32,
    size: u64,
    /// Packets; 0 is NewReno without marking.
    threshold: u32,
    buffer: u32,
    window: u32,
    sack: bool,
    rate: String,
    delay: String,
    rto_ms: u32,
    /// Means over runs.
    fct_ms: f64,
    drops: f64,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("oracle/ns3-incast.csv").lines();
    let lines = lines.filter(|line| !line.starts_with('#')).skip(1);
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split(',').collect();
    let count = |at: usize| cells[at].parse().expect("a count");
    let mean = |at: usize| cells[at].parse().expect("a mean");
    Row {
        senders: count(0),
        size: u64::from(count(1)),
        threshold: count(2),
        buffer: count(3),
        window: count(4),
        sack: cells[5] == "1",
        rate: cells[6].to_owned(),
        delay: cells[7].to_owned(),
        rto_ms: count(8),
        fct_ms: mean(10),
        drops: mean(16),
    }
}

/// Means over 20 seeds of our own: completion time in ms, and drops.
fn simulate(row: &Row, ways: &[&str]) -> (f64, f64) {
    let marks = row.threshold > 0;
    // In DCTCP runs ns-3 has a queue discipline, which marks and drops, above a device that holds one
    // packet more.
    let device = u32::from(marks);
    let threshold = if marks {
        format!("{}pkt", row.threshold + device)
    } else {
        "off".to_owned()
    };
    let sets = [
        format!("workload.senders={}", row.senders),
        format!("workload.size={}B", row.size),
        format!(
            "workload.jitter={}",
            if row.senders == 1 { "1us" } else { "100us" }
        ),
        format!("switch.buffer={}pkt", row.buffer + device),
        format!("switch.ecn_threshold={threshold}"),
        format!("tcp.initial_window={}", row.window),
        format!("tcp.sack={}", row.sack),
        format!("link.rate={}", row.rate),
        format!("link.delay={}", row.delay),
        format!("tcp.min_rto={}ms", row.rto_ms),
    ];
    let scheme = if marks { "dctcp" } else { "newreno" };
    let sets: Vec<&str> = sets
        .iter()
        .map(String::as_str)
        .chain(ways.iter().copied())
        .collect();
    let mut point = points(STAR, scheme, &sets).remove(0);
    let (mut fct, mut drops) = (0.0, 0.0);
    for seed in 1..=SEEDS {
        point.seed = u64::from(seed);
        let m = run::run(&point).expect("a conserving run").metrics;
        fct += m.fct_mean_us / 1e3 / f64::from(SEEDS);
        drops += real(m.drops) / f64::from(SEEDS);
    }
    (fct, drops)
}

const SEEDS: u32 = 20;

const STAR: &str = r#"
[switch]
unit = "packets"
[net]
header_bytes = 54
[tcp]
mss = 1448
initial_rto = "1s"
syn_rto = "3s"
clock_granularity = "10us"
"#;
