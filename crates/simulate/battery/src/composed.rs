//! Checks that a composition with a receiver that limits nothing acts as the other scheme alone.

use base::{Ecn, Extension, Packet, TcpFlags, Time};
use fabric::PortId;
use plan::PointSpec;
use sim::probe::Probe;
use sim::run;

use crate::point;

/// Runs `scheme` alone and within `composition`. The composition adds a scheme of receivers, whose limits `settings` put
/// out of reach. Both runs must have the same packets at every hop, under the TCP of papers and that of Linux, with pauses,
/// random losses and queues that overflow. The comparison leaves out the ECN field, the ECN flags, and the window and
/// extension of SYNs: receivers that read marks ask for ECN, and they announce the flow's size in the SYN.
///
/// # Panics
/// If a packet differs, if a flow does not complete, or if nothing is lost.
pub fn adds_nothing(composition: &str, settings: &[&str], scheme: &str) {
    for profile in ["tcp.profile=paper", "tcp.profile=linux"] {
        for (network, own) in NETWORKS {
            let place = format!("{composition} on {network}, {profile}");
            let sets = [&[profile], SAME, own].concat();
            let alone = hops(&point(scheme, &sets));
            let composed = hops(&point(composition, &[&sets, settings].concat()));
            let differs = alone.iter().zip(&composed).position(|(a, b)| a != b);
            if let Some(hop) = differs {
                let (alone, composed) = (&alone[hop], &composed[hop]);
                panic!("{place}: hop {hop} is {composed:?}, and alone {alone:?}");
            }
            assert_eq!(alone.len(), composed.len(), "{place}: hops");
        }
    }
}

/// Every packet-hop, in order.
fn hops(point: &PointSpec) -> Vec<Hop> {
    let mut hops = Hops(Vec::new());
    let outcome = run::observe(point, &mut hops);
    let m = outcome.expect("books that balance").metrics;
    assert_eq!(m.flows_failed + m.flows_unfinished, 0);
    assert!(m.drops > 0, "a network that loses something");
    // The order of hops at the same instant is random.
    hops.0.sort_by_key(|(time, port, _)| (*time, *port));
    hops.0
}

/// The time at which a packet came out of the wire of a port.
type Hop = (Time, PortId, Packet);

struct Hops(Vec<Hop>);

impl Probe for Hops {
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        let mut packet = *packet;
        // Receivers that read marks make data ECN-capable.
        packet.ecn = Ecn::NotCapable;
        let flags = UNMARKED.iter().filter(|flag| packet.flags.has(**flag));
        packet.flags = flags.fold(TcpFlags::NONE, |flags, flag| flags.with(*flag));
        if packet.flags.has(TcpFlags::SYN) {
            // Receivers announce the size of a flow and bound its first window in SYNs.
            (packet.extension, packet.window) = (Extension::NONE, 0);
        }
        self.0.push((now, port, packet));
    }
}

/// One connection for each receiver, because the first of several would use up the shared budget. The delay of ACKs is
/// fixed, because schemes of receivers have their own. No application waits for room in a send buffer, because its PSH
/// flags would depend on the window of SYNs.
const SAME: &[&str] = &[
    "tcp.send_buffer=unlimited",
    "switch.ecn_threshold=off",
    "tcp.delayed_ack=2",
    "workload.connection=persistent",
    "topology.kind=dumbbell",
    "workload.kind=pairs",
    "workload.epochs=6",
    "workload.size=uniform(1KB, 300KB)",
];

#[rustfmt::skip]
const NETWORKS: &[(&str, &[&str])] = &[
    ("random loss after pauses", &["workload.epoch_interval=700ms", "bottleneck.loss=0.02"]),
    ("a queue that overflows after short pauses", &["workload.epoch_interval=40ms", "switch.buffer=20pkt"]),
];

/// All flags but those of congestion marks.
const UNMARKED: &[TcpFlags] = &[
    TcpFlags::FIN,
    TcpFlags::SYN,
    TcpFlags::RST,
    TcpFlags::PSH,
    TcpFlags::ACK,
];
