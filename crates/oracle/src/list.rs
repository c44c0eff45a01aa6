//! The scenarios that kernel and simulator run.

use serde::Serialize;

/// One scenario: the switch, its links, and what happens there.
#[derive(Clone, Debug, Serialize)]
pub struct Scenario {
    /// Its name in data and on the page.
    pub name: String,
    /// Its links.
    #[serde(skip)]
    pub rig: Rig,
    /// The congestion control, as Linux calls it.
    pub cc: &'static str,
    /// Bytes that the switch port holds, the packet in service included.
    pub buffer: u64,
    /// Bytes from which on it marks; 0: never.
    pub threshold: u64,
    /// Lower bound of the retransmission timeout in us.
    pub min_rto_us: u64,
    /// Time of five packets at the port in ns, after which the queue is looked at.
    pub look: u64,
    /// What happens.
    #[serde(flatten)]
    pub kind: Kind,
    /// How often the kernel boots for it.
    #[serde(skip)]
    pub boots: u32,
}

/// Links, which are the same during a boot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Rig {
    /// Rate of the port towards the receiver in bit/s.
    pub rate: u64,
    /// Rate of the link of every host towards the switch in bit/s.
    pub access: u64,
    /// Delay from host to host, one way, in ns.
    pub delay: u64,
    /// Longest time that a packet of a host waits at the end of its link, in ns.
    pub jitter: u64,
    /// Senders.
    pub hosts: u32,
}

/// What happens in a scenario.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// A receiver asks all senders at once on persistent connections, and again when all have answered.
    Incast {
        /// How many are asked.
        senders: u32,
        /// Bytes of each answer.
        size: u64,
        /// How often.
        rounds: u32,
        /// Each request leaves later by a random time below this, in ns.
        jitter: u64,
    },
    /// Senders send without end.
    Stream(Stream),
}

/// Flows without end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stream {
    /// When each begins, in ns.
    pub starts: Vec<u64>,
    /// When all end, in ns.
    pub duration: u64,
    /// From when on the late goodput counts, in ns.
    pub late_from: u64,
    /// Share of packets that the link of the first sender loses.
    pub loss: f64,
    /// Share of packets that it delays.
    pub reordering: f64,
    /// By how much, in ns.
    pub late: u64,
    /// Bytes of each write of the application, if it does not write all at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<u64>,
    /// Time from one write to the next in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_interval: Option<u64>,
}

/// A full packet of the kernel's, with the header of its Ethernet frame.
pub const PACKET: u64 = 1514;

/// The three congestion controls.
const CCS: [&str; 3] = ["reno", "cubic", "dctcp"];
/// About what four packets take at the port: senders answer in another order each time, and nearly at once.
const JITTER: u64 = 50_000;
/// Boots where a timer can expire, or chance decides.
const MANY: u32 = 20;
/// Boots where neither does.
const FEW: u32 = 2;

/// A packet takes 12.1 us at the port: nobody keeps step with it.
const SLOW: Rig = Rig {
    rate: 1_000_000_000,
    access: 1_000_000_000,
    delay: 40_000,
    jitter: 12_000,
    hosts: 64,
};
const LONG: Rig = Rig {
    delay: 490_000,
    hosts: 16,
    ..SLOW
};
const FAST: Rig = Rig {
    rate: 10_000_000_000,
    access: 10_000_000_000,
    // The least that tc can make.
    jitter: 2_000,
    hosts: 16,
    ..SLOW
};
/// Hosts that are faster than the port, so that a flow queues there.
const STEEP: Rig = Rig {
    access: 10_000_000_000,
    jitter: 0,
    hosts: 2,
    ..SLOW
};

/// Every scenario, in the order of the page.
pub fn all() -> Vec<Scenario> {
    let mut list = Vec::new();
    for cc in CCS {
        for senders in [2, 4, 8, 16, 32, 64] {
            list.push(incast(SLOW, cc, senders, 64));
        }
    }
    for (cc, senders, kib) in [("cubic", 16, 16), ("reno", 64, 16)] {
        list.push(incast(SLOW, cc, senders, kib));
    }
    for cc in CCS {
        list.push(incast(SLOW, cc, 16, 256));
    }
    list.push(incast(SLOW, "reno", 16, 64).with_buffer("b32", 32, 0));
    list.push(incast(SLOW, "cubic", 32, 64).with_buffer("b200", 200, 0));
    list.push(incast(SLOW, "dctcp", 32, 64).with_buffer("b200-k30", 200, 30));
    for cc in CCS {
        list.push(incast(SLOW, cc, 64, 64).with_min_rto_10ms());
    }
    for (rig, suffix) in [(LONG, "1ms"), (FAST, "10g")] {
        for cc in CCS {
            list.push(incast(rig, cc, 16, 64).called(suffix));
        }
    }
    for cc in CCS {
        list.push(stream("bulk", cc, lone()));
    }
    for cc in CCS {
        let two = Stream {
            starts: vec![0, SECOND],
            duration: 2 * SECOND,
            late_from: 3 * SECOND / 2,
            ..Stream::default()
        };
        list.push(stream("two", cc, two));
    }
    for (loss, name) in [(0.001, "loss-0.1%"), (0.01, "loss-1%"), (0.03, "loss-3%")] {
        for cc in CCS {
            let lossy = Stream { loss, ..lone() };
            list.push(stream(name, cc, lossy));
        }
    }
    for cc in ["reno", "cubic"] {
        let late = Stream {
            reordering: 0.01,
            late: 100_000,
            ..lone()
        };
        list.push(stream("reordering-1%", cc, late));
    }
    let writes = Stream {
        write: Some(60_000),
        write_interval: Some(1_000_000),
        ..lone()
    };
    list.push(stream("writes", "cubic", writes));
    list
}

/// One flow for half a second, whose second half is late.
fn lone() -> Stream {
    Stream {
        starts: vec![0],
        duration: SECOND / 2,
        late_from: SECOND / 4,
        ..Stream::default()
    }
}

fn incast(rig: Rig, cc: &'static str, senders: u32, kib: u64) -> Scenario {
    let kind = Kind::Incast {
        senders,
        size: kib * 1024,
        rounds: 20,
        jitter: JITTER,
    };
    Scenario {
        boots: MANY,
        ..scenario(format!("incast-{senders}x{kib}k-{cc}"), rig, cc, kind)
    }
}

fn stream(name: &str, cc: &'static str, stream: Stream) -> Scenario {
    let boots = if stream.loss + stream.reordering > 0.0 {
        MANY
    } else {
        FEW
    };
    Scenario {
        boots,
        ..scenario(format!("{name}-{cc}"), STEEP, cc, Kind::Stream(stream))
    }
}

/// A port with room for 79 packets, of which one is in service; DCTCP's K is 20.
fn scenario(name: String, rig: Rig, cc: &'static str, kind: Kind) -> Scenario {
    Scenario {
        name,
        rig,
        cc,
        buffer: 121_000,
        threshold: if cc == "dctcp" { 30_000 } else { 0 },
        min_rto_us: 200_000,
        // Five packets at the port.
        look: 5 * PACKET * 8 * SECOND / rig.rate,
        kind,
        boots: FEW,
    }
}

impl Scenario {
    fn called(mut self, suffix: &str) -> Self {
        self.name = format!("{}-{suffix}", self.name);
        self
    }

    /// With this many packets in the buffer and below the threshold.
    fn with_buffer(self, suffix: &str, buffer: u64, threshold: u64) -> Self {
        Self {
            buffer: buffer * PACKET,
            threshold: threshold * PACKET,
            ..self.called(suffix)
        }
    }

    fn with_min_rto_10ms(self) -> Self {
        Self {
            min_rto_us: 10_000,
            ..self.called("rto10ms")
        }
    }

    /// Whether it has rounds.
    pub fn is_incast(&self) -> bool {
        matches!(self.kind, Kind::Incast { .. })
    }

    /// How many flows it has that never end.
    pub fn starts(&self) -> usize {
        match &self.kind {
            Kind::Incast { .. } => 0,
            Kind::Stream(stream) => stream.starts.len(),
        }
    }
}

/// A count as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times have at most 53 bits"
)]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// In ns.
const SECOND: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scenarios_have_names_of_their_own() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|scenario| &*scenario.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 30);
    }

    #[test]
    fn no_scenario_asks_more_hosts_than_its_links_have() {
        for scenario in all() {
            let senders = match &scenario.kind {
                Kind::Incast { senders, .. } => *senders as usize,
                Kind::Stream(stream) => stream.starts.len(),
            };
            assert!(senders <= scenario.rig.hosts as usize, "{}", scenario.name);
        }
    }
}
