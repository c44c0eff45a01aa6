//! RCC at a receiver of a Linux machine: by grants, as no program of the kernel can hold an ACK back.

use base::setting::Settings;

use super::Params;
use crate::registry::ParamTexts;
use crate::registry::linux::{Instead, KernelLaw, Needs, Reading, Runs, Site};

pub(super) const AT_RECEIVER: KernelLaw = KernelLaw {
    name: "rcc",
    summary: "At a receiver: all its ACKs together grant at most a budget",
    site: Site::Receiver,
    keys: &[MAX_QUEUE, "rcc.grant_idle", LEAST],
    fixed: &[(HOLD, "grant")],
    // A receiver that delays its ACKs answers a window of one segment after 40 ms.
    usual: &[(LEAST, "2")],
    least_window: Some(LEAST),
    budget: Some(MAX_QUEUE),
    cure: Some("rcc (grant)"),
    needs: Needs::Loading {
        check: "grants",
        remedy: "a kernel from 6.6 on; without it attach has no rcc",
    },
    runs: Runs::Kernel(|text, port| {
        let params = Params::read(text)?;
        Ok(params.grants(port.packet_bytes, port.mss).loadable())
    }),
    instead,
    readings: &[
        Reading {
            key: "budget_bytes",
            metric: Some((
                "tailwater_budget_bytes",
                "Most that the senders to a receiver may have under way.",
            )),
            words: None,
            read: |memory| Some(laws::Grants::from_memory(memory)?.budget()),
        },
        Reading {
            key: "flight_bytes",
            metric: Some((
                "tailwater_flight_bytes",
                "What they may send and has not come.",
            )),
            words: None,
            read: |memory| Some(laws::Grants::from_memory(memory)?.in_flight()),
        },
        Reading {
            key: "active",
            metric: None,
            words: None,
            read: |memory| Some(laws::Grants::from_memory(memory)?.connections().0.into()),
        },
        Reading {
            key: "waiting",
            metric: Some(("tailwater_waiting", "Connections that wait for a grant.")),
            words: None,
            read: |memory| Some(laws::Grants::from_memory(memory)?.connections().1.into()),
        },
    ],
    lines: &[
        "in flight: {flight_bytes} of {budget_bytes} bytes",
        "connections: {active} active, {waiting} wait",
    ],
    ..KernelLaw::PLAIN
};

/// Grants in place of ACKs, and windows that Linux can use.
fn instead(text: &ParamTexts<'_>) -> Result<Vec<Instead>, String> {
    let params = Params::read(text).map_err(|error| error.error.to_string())?;
    if params.max_queue.0.is_none() {
        let why = "rcc.max_queue = auto follows marks, but receivers in Linux ignore marks: set it to a size";
        return Err(why.to_owned());
    }
    // Linux takes segments of half of the largest window that its peer has offered (`tcp_bound_to_half_wnd` in
    // `include/net/tcp.h`).
    let least = params.grant_least.0.max(2);
    Ok(vec![
        Instead {
            key: HOLD,
            text: "grant".to_owned(),
            why:
                "grant: every ACK leaves at once, but with a limited window; the twin does the same"
                    .to_owned(),
        },
        Instead {
            key: LEAST,
            text: least.to_string(),
            why: format!(
                "{least}: of a peer that offers one segment Linux takes segments of half that size; the twin has it, too"
            ),
        },
    ])
}

const MAX_QUEUE: &str = "rcc.max_queue";
const LEAST: &str = "rcc.grant_least";
const HOLD: &str = "rcc.hold";
