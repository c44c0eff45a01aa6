//! Contradictions between priority-based flow control and other settings.

use base::WireSize;

use super::pool::Finding;
use crate::keys::{HostQueue, Keys, PauseThreshold, SharedPool};

/// All conflicts of priority-based flow control.
pub(super) fn conflicts(keys: &Keys) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let switch = &keys.switch;
    if switch.pfc.classes().is_none() {
        return found;
    }
    let contradictions: [(&'static [&'static str], bool, &str, &str); 6] = [
        (
            &["switch.pfc_xoff", "switch.pool"],
            switch.pool == SharedPool::Off && !matches!(switch.pfc_xoff, PauseThreshold::Static(_)),
            "switch.pfc_xoff is a share of the free bytes of switch.pool, but switch.pool is off",
            "give a size, as in \"24KB\", or set switch.pool, as in \"12MB\"",
        ),
        (
            &["switch.buffer", "switch.pfc"],
            switch.buffer.0.is_some(),
            "with switch.buffer a queue drops packets that switch.pfc must not lose",
            "leave switch.buffer out, or set it to \"unlimited\"",
        ),
        (
            &["switch.burst", "switch.pfc"],
            switch.burst.0.is_some(),
            "a token bucket sends packets that it has released even if their priority is paused",
            "set switch.burst = \"off\"",
        ),
        (
            &["host.burst", "switch.pfc"],
            keys.host.burst.0.is_some(),
            "a token bucket sends packets that it has released even if their priority is paused",
            "set host.burst = \"off\"",
        ),
        (
            &["switch.emulated_load", "switch.pfc"],
            switch.emulated_load.0 > 0.0,
            "emulated load cannot be paused",
            "leave switch.emulated_load out",
        ),
        (
            &["host.queue", "switch.pfc"],
            keys.host.queue == HostQueue::Switch,
            "hosts that queue as switches would have to pause their own applications",
            "set host.queue = \"own\"",
        ),
    ];
    for (keys, wrong, message, remedy) in contradictions {
        if wrong {
            found.push((keys, message.to_owned(), remedy.to_owned()));
        }
    }
    let packet = keys.packet_bytes();
    if let PauseThreshold::Static(size) = switch.pfc_xoff
        && !holds(size, packet)
    {
        found.push((
            &["switch.pfc_xoff"],
            "no full packet fits below switch.pfc_xoff, the threshold for a pause".to_owned(),
            format!("a full packet has {packet} bytes: give at least \"1pkt\""),
        ));
    }
    found
}

fn holds(size: WireSize, packet: u64) -> bool {
    size.in_bytes(packet) >= packet
}
