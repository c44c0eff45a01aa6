//! The throughput formula of HSCC's section II-A against simulations without loss.

use theory::hscc::{Burst, waiting_rounds};

use crate::support::outcome;

/// The worked example: answers of 500 KB over 1 Gbit/s, in a queue that never overflows.
const EXAMPLE: &str = r#"
[switch]
buffer = "unlimited"
ecn_threshold = "off"
[workload]
size = "500KB"
start = "0s"
"#;

/// The throughput of the formula, in bytes/s of payload, and the mean throughput of the simulated answers.
fn compare(flows: u32, rtt_us: u32) -> (f64, f64) {
    let delay = format!("link.delay={}ns", rtt_us * 1000 / 4);
    let senders = format!("workload.senders={flows}");
    let run = outcome(EXAMPLE, "newreno", &[&delay, &senders]);
    assert_eq!(run.metrics.drops, 0, "without loss");
    let throughputs = run.flows.iter().map(|flow| {
        let us = flow.fct_us.get().expect("every answer completes");
        500e3 / (us * 1e-6)
    });
    let mean = throughputs.sum::<f64>() / f64::from(flows);
    let rtt = f64::from(rtt_us) * 1e-6;
    // Payload passes at 1460 of 1500 bytes; the path holds this many packets of 1500.
    let burst = Burst {
        bytes: 500e3,
        flows: f64::from(flows),
        rate: 125e6 * 1460.0 / 1500.0,
        rounds: waiting_rounds(f64::from(flows), 10.0, 125e6 * rtt / 1500.0),
        rtt,
        timeouts: 0.0,
        rto: 200e-3,
    };
    (burst.throughput(), mean)
}

#[test]
fn without_loss_the_formula_is_within_a_tenth_of_the_simulation() {
    for (flows, rtt_us) in [
        (36, 100),
        (36, 1000),
        (12, 100),
        (12, 1000),
        (4, 100),
        (100, 400),
    ] {
        let (formula, simulated) = compare(flows, rtt_us);
        let ratio = formula / simulated;
        assert!(
            (0.9..1.1).contains(&ratio),
            "{flows} flows, {rtt_us} us: {ratio}"
        );
    }
}

#[test]
fn a_lone_flow_over_a_long_path_is_faster_than_the_formula() {
    // The formula adds the rounds of slow start to the time of all bytes, although some of them travel in
    // these rounds: 150 of 343 packets in four of them.
    let (formula, simulated) = compare(1, 1000);
    let ratio = formula / simulated;
    assert!((0.75..0.9).contains(&ratio), "{ratio}");
}
