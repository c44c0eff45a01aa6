//! PIAS: flows start at the highest priority and sink as they send.
//!
//! The sending host tags every packet with a priority by the bytes its flow has sent before, so short
//! flows finish at the top whatever the long ones do, and nobody has to know a flow's size (`tagging`).
//! Switches serve priorities strictly and mark by the length of the whole port; the transport is DCTCP,
//! whose parameters are `dctcp.*`.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | K, queues | `pias.queues` | one more than thresholds: 8 | ns-2 code; the prototype has 2 |
//! | `alpha_i`, thresholds | `pias.thresholds` | web search at load 0.5 | ns-2 code; the prototype: `"100KiB"` |
//! | marking threshold | `pias.ecn_threshold` | 65 packets | ns-2 code, for 10 Gbit/s |
//!
//! The ns-2 runs have 240 packets of buffer per port, a first window of 70 segments and a fixed
//! retransmission timeout of 2 ms: `switch.buffer`, `tcp.initial_window`, `tcp.min_rto`.
//!
//! Deviations: none. The prototype's ageing (back to the top after three timeouts in a row, or after an
//! idle time) is not in the ns-2 code and not here: what strict priorities starve waits.
//!
//! Open in the paper: whether a flow that has sent exactly a threshold is above it (it is, as in the
//! code), what a retransmission counts (nothing; its priority is that of its place in the flow), what
//! a flow is on a connection that carries many messages (a message), and whose packets are dropped when the port
//! is full (the arriving one, whatever its priority).
//!
//! Cost: O(log flows of the host) per packet sent.

mod tagging;
mod thresholds;

use base::setting::{Key, Settings};
use base::{Count, Ecn, OrAuto, Packet, Time, WireSize};
use fabric::{Backlog, Discipline, QueueDisc, Strict, Verdict};

use crate::dctcp;
use crate::registry::linux::{self, Linux};
use crate::registry::{MakeQueue, Misfit, Role, Roles, Scheme};

pub use tagging::Tagger;
pub use thresholds::Thresholds;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "pias",
    summary: "Flows sink through switch priorities as they send, over DCTCP: short ones go first",
    how: "The sending host gives every packet a priority by the bytes that its flow has sent before. A \
          flow starts at the highest priority and sinks each time it passes a threshold. Switches serve \
          priorities strictly, so short flows finish ahead of long ones, and nobody has to know the size \
          of a flow. Ports mark by the length of their whole queue. The transport is DCTCP.",
    reference: "Bai et al., NSDI 2015; HotNets 2014",
    roles: &[Role::Sender, Role::Marks, Role::Host, Role::Queue],
    keys: KEYS,
    gauges: dctcp::SENDER_GAUGES,
    linux: Linux {
        lacks: linux::ONE_PRIORITY,
        ..Linux::NOTHING
    },
    build: &|text| {
        let params = Params::read(text)?;
        let (misfits, priorities) = (params.misfits(), params.thresholds.priorities());
        let sender = dctcp::Params::read(text)?;
        let thresholds = params.thresholds;
        Ok(Roles {
            ecn: Some(sender.ecn_mode()),
            host: Some(Box::new(move |host| {
                Box::new(Tagger::new(thresholds.in_bytes(host.mss)))
            })),
            queue: Some(queue(params.ecn_threshold)),
            priorities: Some(Strict::of(priorities)),
            misfits,
            ..Roles::of_sender(sender, dctcp::Sender::new)
        })
    },
    ..Scheme::PLAIN
};

base::settings! {
    /// Parameters of PIAS.
    pub struct Params in "pias" {
        /// Priorities of every switch port; auto: one more than there are thresholds.
        pub queues: OrAuto<Count> = "auto",
        /// Bytes of payload after which a flow sinks by one priority each: a row of the published table, as in "websearch 0.5", or sizes, as in "100KiB 1MB".
        pub thresholds: Thresholds = "websearch 0.5",
        /// Switches mark packets that make a port, all priorities together, longer than this (K).
        pub ecn_threshold: WireSize = "65pkt",
    }
}

/// Its own parameters, then those of its transport.
const KEYS: &[Key] = &{
    let (own, below) = (Params::KEYS, dctcp::SCHEME.keys);
    let mut all = [own[0]; Params::KEYS.len() + dctcp::SCHEME.keys.len()];
    let mut place = 1;
    while place < all.len() {
        all[place] = if place < own.len() {
            own[place]
        } else {
            below[place - own.len()]
        };
        place += 1;
    }
    all
};

impl Params {
    fn misfits(&self) -> Vec<Misfit> {
        let priorities = u32::from(self.thresholds.priorities());
        let wrong = self.queues.0.filter(|queues| queues.0 != priorities);
        let misfit = wrong.map(|Count(queues)| Misfit {
            keys: &["pias.queues", "pias.thresholds"],
            message: format!(
                "{queues} queues need {} thresholds, and there are {}",
                queues - 1,
                priorities - 1
            ),
            remedy: format!("set pias.queues = {priorities}, or leave it out"),
        });
        misfit.into_iter().collect()
    }
}

fn queue(threshold: WireSize) -> MakeQueue {
    Box::new(move |port, given| {
        // The scenario's threshold yields; packets lost by a given law stay lost.
        let before = match given {
            Discipline::EcnThreshold(_) => Discipline::DropTail,
            other => other,
        };
        Discipline::Custom(Box::new(PortMark {
            before,
            threshold: threshold.in_bytes(port.packet_bytes),
            header_bytes: u64::from(port.header_bytes),
        }))
    })
}

/// Marks a packet that makes the port longer than the threshold.
struct PortMark {
    /// What packets meet first.
    before: Discipline,
    /// Bytes.
    threshold: u64,
    header_bytes: u64,
}

impl QueueDisc for PortMark {
    fn on_arrival(&mut self, backlog: Backlog, packet: &mut Packet, now: Time) -> Verdict {
        if self.before.on_arrival(backlog, packet, now) == Verdict::Drop {
            return Verdict::Drop;
        }
        let size = self.header_bytes + u64::from(packet.payload);
        if packet.ecn == Ecn::Capable && backlog.bytes + size > self.threshold {
            packet.ecn = Ecn::Marked;
        }
        Verdict::Accept
    }

    fn is_congested(&self, backlog: Backlog) -> bool {
        backlog.bytes >= self.threshold
    }

    fn on_empty(&mut self, at: Time) {
        self.before.on_empty(at);
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Rate, Span};
    use fabric::{Limit, PortId};

    use super::*;
    use crate::registry::PortInfo;

    fn build(changed: &[(&'static str, &'static str)]) -> Roles {
        let roles = (SCHEME.build)(&|key: &str| {
            let changed = changed.iter().find(|(name, _)| *name == key);
            let keys = crate::all().iter().flat_map(|scheme| scheme.keys);
            let default = || keys.clone().find(|candidate| candidate.name == key);
            changed
                .map_or_else(|| default().expect("a key").default, |(_, text)| text)
                .to_owned()
        });
        roles.expect("correct texts")
    }

    #[test]
    fn there_is_a_queue_more_than_thresholds() {
        for (changed, queues) in [
            (&[][..], 8),
            (&[("pias.thresholds", "100KiB")], 2),
            (
                &[("pias.thresholds", "datamining 0.8"), ("pias.queues", "8")],
                8,
            ),
        ] {
            let roles = build(changed);
            let strict = Some(Strict::of(queues));
            assert_eq!((roles.priorities, roles.misfits), (strict, vec![]));
        }
        let misfits = build(&[("pias.queues", "2")]).misfits;
        assert_eq!(misfits[0].keys[0], "pias.queues");
    }

    #[test]
    fn marks_depend_on_the_total_of_the_port_with_the_arriving_packet() {
        let port = PortInfo {
            port: PortId(0),
            rate: Rate::from_bps(10_000_000_000),
            delay: Span::ZERO,
            limit: Limit::Packets(240),
            packet_bytes: 1500,
            header_bytes: 40,
            mss: 1460,
            seed: 1,
        };
        let make = build(&[]).queue.expect("a queue");
        let mut queue = make(&port, Discipline::EcnThreshold(Limit::Packets(0)));
        let mut is_marked = |bytes, dscp| {
            let mut packet = Packet::new(FlowId(0), HostId(0));
            (packet.payload, packet.ecn, packet.dscp) = (1460, Ecn::Capable, dscp);
            let backlog = Backlog {
                bytes,
                packets: bytes / 1500,
            };
            queue.on_arrival(backlog, &mut packet, Time::ZERO);
            packet.ecn == Ecn::Marked
        };
        // Packets 1 to 65 are not more than 65; the 66th is.
        for dscp in [0, 7] {
            let first = (0..100).find(|waiting| is_marked(waiting * 1500, dscp));
            assert_eq!(first, Some(65));
        }
        // A lone ACK among them makes the port longer.
        assert!(is_marked(64 * 1500 + 40, 0));
    }
}
