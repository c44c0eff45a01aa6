//! Compositions with a receiver that has nothing to limit: what is forgotten between it and the sender shows.

use base::{Ecn, Extension, Packet, TcpFlags, Time};
use fabric::PortId;
use scenario::PointSpec;
use sim::probe::Probe;
use sim::run;

use crate::point;

/// Runs `scheme` alone and within `composition`, which adds a scheme of receivers that `settings` give nothing to limit.
/// Every packet must be the same at every hop, but for what SYNs say and for marks of congestion, of which there are none:
/// under the TCP of papers and that of Linux, with pauses, random losses and queues that overflow.
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
    // Those at equal times have no order.
    hops.0.sort_by_key(|(time, port, _)| (*time, *port));
    hops.0
}

/// What came out of the wire behind a port, and when.
type Hop = (Time, PortId, Packet);

struct Hops(Vec<Hop>);

impl Probe for Hops {
    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        let mut packet = *packet;
        // Receivers that read marks have data ECN-capable.
        packet.ecn = Ecn::NotCapable;
        let flags = UNMARKED.iter().filter(|flag| packet.flags.has(**flag));
        packet.flags = flags.fold(TcpFlags::NONE, |flags, flag| flags.with(*flag));
        if packet.flags.has(TcpFlags::SYN) {
            // They are told the size of a flow, and offer what a first window may have.
            (packet.extension, packet.window) = (Extension::NONE, 0);
        }
        self.0.push((now, port, packet));
    }
}

/// One connection for each receiver: a budget that several share is used up by what the first is granted. The delay of
/// ACKs is set, because schemes of receivers have their own.
const SAME: &[&str] = &[
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
