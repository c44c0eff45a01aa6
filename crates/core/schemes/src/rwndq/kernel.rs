//! RWNDQ at a port of a Linux machine.

use std::time::Duration;

use base::setting::Settings;
use laws::Rwndq;

use super::Params;
use crate::registry::linux::{self, KernelLaw, Reading, Runs};

pub(super) const AT_PORT: KernelLaw = KernelLaw {
    name: "rwndq",
    summary: "ACKs leave with one window for all flows, which keeps the queue at a target",
    keys: &[
        "rwndq.target",
        "rwndq.interval",
        "rwndq.samples",
        "rwndq.ecmp_split",
        "rwndq.idle_after",
        "rwndq.count_both",
    ],
    // Connections that stay open for requests now and then are common where real programs run.
    usual: &[("rwndq.idle_after", "100ms")],
    // So are clients that open connections and receive the data.
    usual_on_machines: &[("rwndq.count_both", "true")],
    cure: Some("rwndq"),
    runs: Runs::Kernel(|text, port| {
        let params = Params::read(text)?;
        let interval = Duration::from_nanos(params.interval.as_ps() / 1_000);
        let law = params.law(port.buffer_bytes, port.mss, LARGEST_SCALE);
        Ok(law.loadable(interval, &params.idle(), params.count_both))
    }),
    readings: &[
        Reading {
            key: "window_bytes",
            metric: Some(linux::WINDOW_BYTES),
            words: None,
            read: |memory| Some(Rwndq::of_map(memory)?.0.window_q16_bytes() >> 16),
        },
        Reading {
            key: "flows",
            metric: Some(("tailwater_flows", "Connections that RWNDQ counts.")),
            words: None,
            read: |memory| Some(Rwndq::of_map(memory)?.0.flows().into()),
        },
    ],
    lines: &["windows of {window_bytes} bytes for {flows} flows"],
    ..KernelLaw::PLAIN
};

/// Programs learn the scale of each connection from its SYNs; RFC 7323 §2.3 allows this one at most.
const LARGEST_SCALE: u8 = 14;
