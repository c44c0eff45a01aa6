//! Quality of service: some flows are more important than others, and queues serve them first.
//!
//! Hosts give every packet of their flows the same priority, that of their group, and the ports of hosts and
//! switches serve priorities strictly; a full port pushes out what has a lower priority than the arriving
//! packet. This is what a network does about important flows without RC3, which the RC3
//! paper compares with: a group of critical flows at priority 0 and the others below. The transport is
//! that of whatever scheme it is combined with, NewReno's if none.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | priority of the flows | `qos.priority` | 1 | RC3 Fig. 14(b): critical flows first, others one below |
//! | priorities of a port | `qos.levels` | 2 | as many as there are kinds of flows |
//!
//! Deviations: none.
//!
//! Open in the paper: the priority of ACKs, which have that of their flow here.
//!
//! Cost: O(1) per packet.

use base::Time;
use base::setting::Settings;
use base::{Count, Packet};
use fabric::Strict;
use tcp::{HostHelper, Slot};

use crate::registry::linux::{Bands, Linux};
use crate::registry::{Misfit, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "qos",
    summary: "Hosts give their flows a fixed priority, and queues serve priorities strictly",
    how: "Hosts give all packets of a flow the priority of its group. The ports of hosts and switches \
          serve priorities strictly. A full port pushes out a packet of a lower priority for one of a \
          higher. The transport is that of the scheme in combination, or NewReno. The scheme shows what a \
          network can do about important flows without any change of TCP.",
    reference: "Mittal et al., NSDI 2014, Fig. 14(b)",
    roles: &[Role::Host, Role::Queue],
    keys: Params::KEYS,
    gauges: &[tcp::SSTHRESH],
    linux: Linux {
        bands: Some(Bands {
            priority: "qos.priority",
            levels: "qos.levels",
        }),
        ..Linux::NOTHING
    },
    build: &|text| {
        let params = Params::read(text)?;
        let misfits = params.misfits();
        let dscp = code_point(params.priority);
        Ok(Roles {
            host: Some(Box::new(move |_| Box::new(Marker { dscp }))),
            priorities: Some(Strict {
                classes: code_point(params.levels.0),
                push_out: true,
            }),
            priorities_at_hosts: true,
            of_hosts: vec!["qos.priority"],
            misfits,
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

base::settings! {
    /// Parameters of traditional quality of service.
    pub struct Params in "qos" {
        /// Priority of every packet of the flows; 0 is the highest, and that of flows without this scheme.
        pub priority: u32 = "1",
        /// Priorities of every port.
        pub levels: Count = "2",
    }
}

impl Params {
    fn misfits(&self) -> Vec<Misfit> {
        let (priority, levels) = (self.priority, self.levels.0);
        let mut found = Vec::new();
        if levels > MAX_LEVELS {
            found.push(Misfit {
                keys: &["qos.levels"],
                message: format!("{levels} priorities do not fit into a code point of six bits"),
                remedy: format!("set qos.levels to at most {MAX_LEVELS}"),
            });
        }
        if priority >= levels {
            found.push(Misfit {
                keys: &["qos.priority", "qos.levels"],
                message: format!(
                    "there is no priority {priority}: the {levels} priorities are numbered from 0"
                ),
                remedy: "lower qos.priority or raise qos.levels".into(),
            });
        }
        found
    }
}

/// Gives what leaves a host its priority.
struct Marker {
    dscp: u8,
}

impl HostHelper for Marker {
    fn on_outgoing(&mut self, _slot: Slot, packet: &mut Packet, _now: Time) {
        packet.dscp = self.dscp;
    }
}

/// A number of the six bits of a code point; larger ones are refused as misfits.
fn code_point(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// RFC 2474 §3: a code point has six bits.
const MAX_LEVELS: u32 = 64;

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Rate};

    use super::*;
    use crate::registry::HostInfo;

    fn build(changed: &[(&'static str, &'static str)]) -> Roles {
        let roles = (SCHEME.build)(&|key: &str| {
            let changed = changed.iter().find(|(name, _)| *name == key);
            changed
                .map_or_else(|| Params::default_text(key), |(_, text)| text)
                .to_owned()
        });
        roles.expect("correct texts")
    }

    #[test]
    fn every_packet_of_a_host_has_its_priority() {
        for (changed, expected) in [
            (&[][..], 1),
            (&[("qos.priority", "0")], 0),
            (&[("qos.priority", "3"), ("qos.levels", "4")], 3),
        ] {
            let roles = build(changed);
            assert_eq!(roles.misfits, []);
            let make = roles.host.expect("a helper");
            let mut helper = make(&HostInfo {
                rate: Rate::from_bps(1_000_000_000),
                mss: 1460,
                packet_bytes: 1500,
            });
            for payload in [0, 1460] {
                let mut packet = Packet::new(FlowId(0), HostId(0));
                packet.payload = payload;
                helper.on_outgoing(Slot(0), &mut packet, Time::ZERO);
                assert_eq!(packet.dscp, expected);
            }
        }
    }

    #[test]
    fn a_priority_that_no_port_has_is_refused() {
        let misfits = |changed| build(changed).misfits;
        assert_eq!(
            misfits(&[("qos.priority", "2")])[0].keys,
            ["qos.priority", "qos.levels"]
        );
        assert_eq!(misfits(&[("qos.levels", "65")])[0].keys, ["qos.levels"]);
        assert_eq!(misfits(&[("qos.priority", "7"), ("qos.levels", "8")]), []);
    }
}
