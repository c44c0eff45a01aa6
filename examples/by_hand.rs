//! Simulations from code: points without a scenario file, and their outcomes.
//!
//! `cargo run --release --example by_hand`

#![expect(clippy::print_stdout, reason = "the answer")]

use tailwater::scenario::{self, Problems};
use tailwater::sim::run;

fn main() -> Result<(), Problems> {
    for senders in ["10", "20", "40"] {
        let settings = [("workload.senders", senders), ("workload.size", "64KiB")];
        let point = scenario::point("dctcp", 1, &settings)?;
        let outcome = run::run(&point).expect("a simulation that balances its books");
        let metrics = &outcome.metrics;
        println!(
            "{senders} senders: {:.0} Mbit/s, {} timeouts, slowest {:.1} ms",
            metrics.goodput_bps / 1e6,
            metrics.timeouts,
            metrics.fct_max_us / 1e3
        );
    }
    Ok(())
}
