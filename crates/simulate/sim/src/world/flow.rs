//! Flows of a world, and the acts of applications on them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use base::Ordered as _;
use base::cast::id;
use base::{FlowId, Time};
use plan::workload::{Barrier, Dependencies, PlannedConnection, PlannedFlow};

use crate::failure::FlowFailure;

/// Counters of a connection's events, without its progress.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    /// Data segments sent, retransmissions included.
    pub(crate) packets: u32,
    /// Segments sent again.
    pub(crate) retransmissions: u32,
    /// Segments sent again after a timeout rather than in a fast recovery.
    pub(crate) after_timeout: u32,
    /// Retransmission timers that expired.
    pub(crate) timeouts: u32,
    /// Of these, those with only the last segments outstanding.
    pub(crate) tail_timeouts: u32,
    /// Timers of SYNs and SYN-ACKs that expired.
    pub(crate) syn_timeouts: u32,
    /// Probes of a tail that nothing acknowledged.
    pub(crate) tail_probes: u32,
    /// Probes of a closed window.
    pub(crate) window_probes: u32,
    /// Packets dropped.
    pub(crate) drops: u32,
}

impl Counts {
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            packets: self.packets - earlier.packets,
            retransmissions: self.retransmissions - earlier.retransmissions,
            after_timeout: self.after_timeout - earlier.after_timeout,
            timeouts: self.timeouts - earlier.timeouts,
            tail_timeouts: self.tail_timeouts - earlier.tail_timeouts,
            syn_timeouts: self.syn_timeouts - earlier.syn_timeouts,
            tail_probes: self.tail_probes - earlier.tail_probes,
            window_probes: self.window_probes - earlier.window_probes,
            drops: self.drops - earlier.drops,
        }
    }

    pub(super) fn add(&mut self, more: Self) {
        self.packets += more.packets;
        self.retransmissions += more.retransmissions;
        self.after_timeout += more.after_timeout;
        self.timeouts += more.timeouts;
        self.tail_timeouts += more.tail_timeouts;
        self.syn_timeouts += more.syn_timeouts;
        self.tail_probes += more.tail_probes;
        self.window_probes += more.window_probes;
        self.drops += more.drops;
    }
}

/// One flow from one application to another: one message on a connection, and mostly the only one.
pub(crate) struct Flow {
    /// Place of its group in the point.
    pub(crate) group: u32,
    /// The connection that carries it.
    pub(crate) connection: u32,
    /// Payload, or `u64::MAX` without end.
    size: u64,
    /// The start at the application. For a flow that has not started: its planned start, or the delay after the end of
    /// the previous round or of the flows that it waits for.
    pub(crate) start: Time,
    /// First payload at the receiver, in order or not; [`Time::NEVER`] before.
    pub(crate) first_byte: Time,
    /// Last byte in order at the receiver; [`Time::NEVER`] before.
    pub(crate) completion: Time,
    /// The time of the ACK, at the sender, of its last byte and of the following FIN. Only for the last flow of its
    /// connection; [`Time::NEVER`] before.
    pub(crate) acknowledged: Time,
    /// How its application writes it, if not all at once.
    pub(super) writes: Option<Box<Writes>>,
    /// The barrier that waits for it.
    pub(super) awaited_by: Link,
    /// The round that it belongs to.
    round: Link,
    /// The message that started next on the same connection.
    pub(super) next: Link,
    /// What happened to it.
    pub(crate) counts: Counts,
    /// Whether it has started.
    pub(crate) started: bool,
    /// Whether its start opened its connection.
    pub(crate) opens: bool,
    /// Why it failed, if it did.
    pub(crate) failure: Option<FlowFailure>,
}

/// A flow that is written piece by piece.
pub(super) struct Writes {
    /// Bytes that are written first.
    pub(super) first: u64,
    /// Bytes that are still to be written.
    pub(super) left: u64,
    /// When the bytes written first were in order at the receiver; [`Time::NEVER`] before.
    pub(super) buffered: Time,
}

/// The number of a flow, a connection or a barrier, or none. In four bytes, because a run may have millions of flows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Link(u32);

impl Link {
    pub(super) const NONE: Self = Self(u32::MAX);

    /// The number, if there is one.
    #[inline(always)]
    pub(super) const fn get(self) -> Option<u32> {
        if self.0 == u32::MAX {
            None
        } else {
            Some(self.0)
        }
    }
}

impl From<Option<u32>> for Link {
    fn from(number: Option<u32>) -> Self {
        number.map_or(Self::NONE, Self)
    }
}

impl Flow {
    /// Payload; `None` without end.
    #[inline(always)]
    pub(crate) const fn size(&self) -> Option<u64> {
        if self.size == u64::MAX {
            None
        } else {
            Some(self.size)
        }
    }

    /// The round that it belongs to.
    pub(crate) const fn round(&self) -> Option<u32> {
        self.round.get()
    }

    /// Whether it has completed or failed.
    pub(super) const fn is_over(&self) -> bool {
        self.failure.is_some() || self.completion.as_ps() != Time::NEVER.as_ps()
    }

    /// Whether it has an end, and its last byte is in order at the receiver.
    pub(super) fn is_complete(&self) -> bool {
        self.size().is_some() && self.completion != Time::NEVER
    }

    /// The number of bytes in order at which the next event of this flow is noted.
    pub(super) fn next_mark(&self) -> Option<u64> {
        let size = self.size()?;
        let writes = self.writes.as_ref();
        let first = writes.filter(|writes| writes.buffered == Time::NEVER);
        Some(first.map_or(size, |writes| writes.first.min(size)))
    }

    /// When the bytes written first were in order at the receiver, if it is not written all at once.
    pub(crate) fn buffered(&self) -> Option<Time> {
        let writes = self.writes.as_ref()?;
        (writes.buffered != Time::NEVER).then_some(writes.buffered)
    }
}

/// An act of an application on a flow or a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    /// Opens a connection before anything is sent on it.
    Open(FlowId),
    /// Starts a flow.
    Start(u32),
    /// Ends a flow that has no end of its own.
    Stop(u32),
    /// Writes more of a flow.
    Write(u32),
    /// A fault begins or ends. It is no act of an application, but on the same agenda.
    Fault(u32),
}

/// The acts that applications perform on their own: open connections in advance, start the flows of `starts`, and stop
/// flows without end.
pub(super) fn agenda(
    starts: impl Iterator<Item = usize>,
    flows: &[PlannedFlow],
    connections: &[PlannedConnection],
) -> BinaryHeap<Reverse<(Time, Act)>> {
    let opened = (0..).zip(connections);
    let opened = opened.map(|(number, connection)| (connection.open, Act::Open(FlowId(number))));
    let started = starts.map(|index| (flows[index].start, Act::Start(id(index))));
    let stopped = (0..).zip(flows);
    let stopped = stopped.map(|(number, flow)| (flow.stop, Act::Stop(number)));
    let acts = opened.chain(started).chain(stopped);
    acts.filter(|(at, _)| *at != Time::NEVER)
        .map(Reverse)
        .collect()
}

/// A flow that has not started.
pub(crate) fn flow(plan: &PlannedFlow) -> Flow {
    Flow {
        group: plan.group,
        connection: plan.connection,
        size: plan.size.unwrap_or(u64::MAX),
        start: plan.start,
        first_byte: Time::NEVER,
        completion: Time::NEVER,
        acknowledged: Time::NEVER,
        writes: plan.first_write.map(|first| {
            Box::new(Writes {
                first,
                left: 0,
                buffered: Time::NEVER,
            })
        }),
        awaited_by: plan.awaited_by.into(),
        round: plan.round.into(),
        next: Link::NONE,
        counts: Counts::default(),
        started: false,
        opens: false,
        failure: None,
    }
}

/// Flows that start after a barrier or after other flows.
pub(super) fn waiting(barriers: &[Barrier], dependencies: &Dependencies) -> BTreeSet<usize> {
    let next = barriers.iter().flat_map(|barrier| barrier.next.clone());
    next.chain(dependencies.flows())
        .map(|flow| flow as usize)
        .into_set()
}
