//! The decision of a queue about an arriving packet.

use base::{Ecn, Packet, Time};

/// How much may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Everything.
    Unlimited,
    /// At most this many bytes, the arriving packet included.
    Bytes(u64),
    /// At most this many packets, the arriving packet included.
    Packets(u64),
}

/// The packets that wait at an instant; the packet in transmission does not wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Bytes waiting.
    pub bytes: u64,
    /// Packets waiting.
    pub packets: u64,
}

/// The fate of an arriving packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It joins the queue.
    Accept,
    /// It is lost.
    Drop,
}

/// A discipline that keeps arrival order and decides at arrival: it may drop or mark the packet.
pub trait QueueDisc {
    /// `packet` arrives and has not been counted in `backlog`. Drop-tail at the port's limit is
    /// decided afterwards, by the port. The packet may be marked.
    fn on_arrival(&mut self, backlog: Backlog, packet: &mut Packet, now: Time) -> Verdict;

    /// Whether `backlog` is at or above the point where congestion begins for this discipline:
    /// arrivals then count as threshold crossings, ECN-capable or not.
    fn is_congested(&self, backlog: Backlog) -> bool;

    /// The last waiting packet has begun to leave at `at`: nothing waits until the next one queues.
    fn on_empty(&mut self, at: Time) {
        let _ = at;
    }

    /// The switch has restarted, and its discipline begins anew as `fresh`. Returns `fresh` if it replaces this discipline.
    /// Parts outside the switch, such as a loss on the way to it, stay in front of the new one.
    fn on_restart(&mut self, fresh: Discipline) -> Option<Discipline> {
        Some(fresh)
    }
}

/// The discipline of a port.
pub enum Discipline {
    /// Only the limit drops.
    DropTail,
    /// Marks ECN-capable packets that find at least this much waiting: the instantaneous queue
    /// without the arriving packet (DCTCP §3.1, RFC 8257 §3.1). Packets that are not ECN-capable
    /// pass; RFC 3168's drop in their place does not apply to a step threshold.
    EcnThreshold(Limit),
    /// One from outside this crate.
    Custom(Box<dyn QueueDisc + Send>),
}

impl QueueDisc for Discipline {
    #[inline(always)]
    fn on_arrival(&mut self, backlog: Backlog, packet: &mut Packet, now: Time) -> Verdict {
        if let Self::Custom(discipline) = self {
            return discipline.on_arrival(backlog, packet, now);
        }
        if packet.ecn == Ecn::Capable && self.is_congested(backlog) {
            packet.ecn = Ecn::Marked;
        }
        Verdict::Accept
    }

    #[inline(always)]
    fn is_congested(&self, backlog: Backlog) -> bool {
        match self {
            Self::DropTail | Self::EcnThreshold(Limit::Unlimited) => false,
            Self::EcnThreshold(Limit::Bytes(bytes)) => backlog.bytes >= *bytes,
            Self::EcnThreshold(Limit::Packets(packets)) => backlog.packets >= *packets,
            Self::Custom(discipline) => discipline.is_congested(backlog),
        }
    }

    #[inline(always)]
    fn on_empty(&mut self, at: Time) {
        if let Self::Custom(discipline) = self {
            discipline.on_empty(at);
        }
    }
}

impl Discipline {
    /// The switch has restarted: the discipline begins anew as `fresh`.
    pub(crate) fn renew(&mut self, fresh: Self) {
        let placed = match self {
            Self::Custom(discipline) => discipline.on_restart(fresh),
            Self::DropTail | Self::EcnThreshold(_) => Some(fresh),
        };
        if let Some(fresh) = placed {
            *self = fresh;
        }
    }
}

impl std::fmt::Debug for Discipline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DropTail => f.write_str("DropTail"),
            Self::EcnThreshold(limit) => write!(f, "EcnThreshold({limit:?})"),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}
