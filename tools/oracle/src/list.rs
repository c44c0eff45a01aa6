//! The scenarios that kernel and simulator run.

mod behaviour;
mod catalogue;

use base::cast::real;
use std::collections::BTreeMap;

use serde::Serialize;
use twox_hash::XxHash64;

/// Every scenario, in the order of the page.
pub fn all() -> Vec<OracleScenario> {
    let parts = [catalogue::incasts(), behaviour::all(), catalogue::streams()];
    let mut all: Vec<OracleScenario> = parts.into_iter().flatten().collect();
    for scenario in &mut all {
        if let Some((_, answers)) = RARE.iter().find(|(name, _)| *name == scenario.name) {
            scenario.answers = *answers;
        }
    }
    all
}

/// The largest number of answers to a scenario.
pub const MOST_ANSWERS: u32 = 380;

/// Seeds for each answer of the kernel. The error of a ratio, or of a median, comes from both sides. Seeds cost less
/// than answers, and with ten of them only the kernel's part of the error is left. If nothing else is random, the seeds
/// cover many phases of the kernel's ticks.
pub const SEEDS: u64 = 10;

/// Scenarios in which twenty answers have too few events to distinguish the sides or to call them equal, with the
/// sufficient number. More rounds on the same connections would add few events to most of them: timers expire in the
/// first rounds, until the windows have become small. In forty answers to `incast-48x8s-cubic` one expires in 23 of the
/// first two rounds, and in none of the 28 later ones.
const RARE: [(&str, u32); 25] = [
    ("incast-16x64k-cubic", 80),
    ("incast-32x64k-dctcp", 50),
    ("incast-16x16k-cubic", 80),
    ("incast-64x16k-reno", 60),
    ("incast-16x256k-reno", 40),
    ("incast-16x256k-cubic", 50),
    ("incast-16x64k-reno-10g", 40),
    ("incast-64x8s-reno", 40),
    ("incast-48x8s-cubic", 80),
    ("incast-32x12s-reno", 40),
    ("incast-32x12s-cubic", 120),
    ("incast-32x12s-dctcp", 380),
    ("incast-64x12s-reno", 50),
    ("incast-64x12s-cubic", 40),
    ("incast-48x16s-reno", 50),
    ("incast-32x16s-cubic", 40),
    ("incast-48x20s-dctcp", 40),
    ("incast-16x24s-reno", 80),
    ("incast-32x24s-dctcp", 50),
    ("incast-16x64k-cubic-nosack", 40),
    ("incast-16x64k-dctcp-nosack", 40),
    ("incast-32x24s-reno-rto10ms-200ms", 40),
    ("incast-32x24s-reno-rto200ms-10ms", 40),
    ("incast-16x64k-reno-b32-pause-3rto", 40),
    ("loss-3%-reno", 40),
];

/// One scenario: the switch, its links, and its traffic.
#[derive(Clone, Debug, Serialize)]
pub struct OracleScenario {
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
    pub kind: OracleTraffic,
    /// Features of only some scenarios.
    #[serde(flatten)]
    pub extras: Extras,
    /// How often the kernel answers it, each time on new connections.
    #[serde(skip)]
    pub answers: u32,
    /// Whether nothing is random, so that answers only differ by the phase of the kernel's ticks.
    #[serde(skip)]
    pub exact: bool,
    /// The table of the page that it stands in.
    #[serde(skip)]
    pub section: PageTable,
}

/// Tables of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageTable {
    /// Incasts of 16 KiB and more.
    Incasts,
    /// Answers of few segments.
    Few,
    /// Pauses between rounds.
    Pauses,
    /// Segments of the handshake that are lost.
    Openings,
    /// Single segments that are lost.
    Losses,
    /// Settings and applications.
    Settings,
    /// Flows without end.
    Streams,
}

/// Features of only some scenarios. An unused field is not written, so that the definition of a scenario, by which its
/// answers are stored, does not change when another scenario needs a new feature.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Extras {
    /// Pause between an answer to all requests and the next requests, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<u64>,
    /// Bytes of a request, if not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// The number of writes that make a request, each with an equal part of its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<u64>,
    /// Whether those who ask set `TCP_NODELAY`, if that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelay: Option<bool>,
    /// How long after its request the receiver begins to read, in ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_late: Option<u64>,
    /// Lower bound of the retransmission timeout at the receiver, if it has another, in us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_min_rto_us: Option<u64>,
    /// Lower bound of the retransmission timeout in the route of senders, in us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_min_rto_us: Option<u64>,
    /// Sysctls below `net.ipv4`, which hold for all hosts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, String>,
    /// Whether packets of hosts wait in a queue that is visible to TCP small queues; netem hides its queue from them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_queue: bool,
    /// A chosen segment of each round is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lose: Option<Lose>,
}

/// A segment that is lost in every round, or on every connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Lose {
    /// Which.
    pub what: Lost,
    /// Its number in the answer, from 1 on; 0 of a segment of the handshake.
    pub segment: u8,
    /// How many copies are lost.
    pub copies: u8,
}

/// The segment that is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The SYN.
    Syn,
    /// The SYN-ACK.
    SynAck,
    /// The first segments behind the SYN: the ACK of the handshake, then the request.
    Ack,
    /// A segment of the answer.
    Segment,
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

/// The traffic of a scenario.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OracleTraffic {
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
    /// A receiver asks one sender again and again, each time on a new connection.
    Opening {
        /// Bytes of each answer.
        size: u64,
        /// How often.
        rounds: u32,
    },
    /// Senders send without end.
    Stream(StreamTraffic),
}

/// Flows without end.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamTraffic {
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

impl Lose {
    /// The loss in the notation of `bottleneck.lose`. Segments of each answer are numbered from 1.
    pub fn setting(self, kind: &OracleTraffic) -> String {
        let name = match self.what {
            Lost::Syn => "syn".to_owned(),
            Lost::SynAck => "syn-ack".to_owned(),
            Lost::Ack => "ack".to_owned(),
            Lost::Segment => {
                let (OracleTraffic::Incast { size, .. } | OracleTraffic::Opening { size, .. }) =
                    kind
                else {
                    return format!("segment {}", self.segment);
                };
                format!("segment {} of {}", self.segment, size.div_ceil(MSS))
            }
        };
        format!("{name} x{}", self.copies)
    }
}

impl OracleScenario {
    /// A hash of this scenario's definition. Answers are stored by it, so a changed scenario needs new ones.
    #[expect(
        clippy::missing_panics_doc,
        reason = "a scenario is plain data, which is always written"
    )]
    pub fn definition(&self) -> u64 {
        let text = serde_json::to_string(&(LAB, self, self.rig)).expect("it is plain data");
        XxHash64::oneshot(0, text.as_bytes())
    }

    /// Whether it has rounds.
    pub fn has_rounds(&self) -> bool {
        !matches!(self.kind, OracleTraffic::Stream(_))
    }

    /// Bytes of all answers of a round.
    pub fn round_bytes(&self) -> u64 {
        match &self.kind {
            OracleTraffic::Incast { senders, size, .. } => u64::from(*senders) * size,
            OracleTraffic::Opening { size, .. } => *size,
            OracleTraffic::Stream(_) => 0,
        }
    }

    /// How many flows it has that never end.
    pub fn starts(&self) -> usize {
        match &self.kind {
            OracleTraffic::Stream(stream) => stream.starts.len(),
            _ => 0,
        }
    }
}

/// A full packet of the kernel's, with the header of its Ethernet frame.
pub const PACKET: u64 = 1514;
/// Payload of a full packet with timestamps.
pub const MSS: u64 = 1448;
/// The version of the guest's programs. It is raised when they measure a scenario in another way, so that the committed
/// answers no longer apply.
const LAB: u32 = 1;

/// A count as a number.
pub(crate) fn number(count: u64) -> f64 {
    real(count)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scenarios_have_names_of_their_own() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|scenario| &*scenario.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 53 + 40);
    }

    #[test]
    fn no_scenario_asks_more_hosts_than_its_links_have() {
        for scenario in all() {
            let senders = match &scenario.kind {
                OracleTraffic::Incast { senders, .. } => *senders as usize,
                OracleTraffic::Opening { .. } => 1,
                OracleTraffic::Stream(stream) => stream.starts.len(),
            };
            assert!(senders <= scenario.rig.hosts as usize, "{}", scenario.name);
        }
    }
}
