//! The same incasts in ns-3.48, whose means are in `oracle/ns3-incast.csv`.

#[path = "support/points.rs"]
#[expect(dead_code, reason = "shared by tests that need different parts of it")]
mod support;

use lab::run;
use support::points;

#[test]
fn means_agree_with_ns3() {
    for row in rows() {
        let ours = simulate(&row);
        println!(
            "{} x {} k {} iw {} sack {}: fct mean {:.3}/{:.3} p50 {:.3}/{:.3} max {:.3}/{:.3} drops {:.2}/{:.2}",
            row.senders,
            row.size,
            row.k,
            row.window,
            row.sack,
            ours[0],
            row.expected[0],
            ours[1],
            row.expected[1],
            ours[2],
            row.expected[2],
            ours[3],
            row.expected[3]
        );
    }
}

struct Row {
    senders: u32,
    size: u64,
    k: u32,
    buffer: u32,
    window: u32,
    sack: bool,
    rate: String,
    delay: String,
    rto_ms: u32,
    /// Mean, median and largest completion time in ms, and drops.
    expected: [f64; 4],
}

fn rows() -> Vec<Row> {
    let lines = include_str!("oracle/ns3-incast.csv").lines();
    let lines = lines.filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |at: usize| cells[at].parse().unwrap();
            Row {
                senders: number(0),
                size: cells[1].parse().unwrap(),
                k: number(2),
                buffer: number(3),
                window: number(4),
                sack: cells[5] == "1",
                rate: cells[6].to_owned(),
                delay: cells[7].to_owned(),
                rto_ms: number(8),
                expected: [10, 12, 14, 16].map(|at| cells[at].parse().unwrap()),
            }
        })
        .collect()
}

/// Means over 20 seeds of our own.
fn simulate(row: &Row) -> [f64; 4] {
    let jitter = if row.senders == 1 { "1us" } else { "100us" };
    let threshold = match row.k {
        0 => "off".to_owned(),
        k => format!("{}pkt", k + 1),
    };
    // ns-3's own oddity: the port of a DCTCP run holds one more packet in its device.
    let buffer = row.buffer + u32::from(row.k > 0);
    let sets = [
        format!("workload.senders={}", row.senders),
        format!("workload.size={}B", row.size),
        format!("workload.jitter={jitter}"),
        format!("switch.buffer={buffer}pkt"),
        format!("switch.ecn_threshold={threshold}"),
        format!("tcp.initial_window={}", row.window),
        format!("tcp.sack={}", row.sack),
        format!("link.rate={}", row.rate),
        format!("link.delay={}", row.delay),
        format!("tcp.min_rto={}ms", row.rto_ms),
    ];
    let scheme = if row.k > 0 { "dctcp" } else { "newreno" };
    let mut point = points(STAR, scheme, &sets.each_ref().map(String::as_str)).remove(0);
    let mut sums = [0.0; 4];
    for seed in 1..=SEEDS {
        point.seed = seed;
        let m = run::run(&point).unwrap().metrics;
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let found = [
            m.fct_mean_us / 1e3,
            m.fct_p50_us / 1e3,
            m.fct_max_us / 1e3,
            m.drops as f64,
        ];
        for (sum, value) in sums.iter_mut().zip(found) {
            *sum += value;
        }
    }
    sums.map(|sum| sum / f64::from(u32::try_from(SEEDS).unwrap()))
}

const SEEDS: u64 = 20;

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
