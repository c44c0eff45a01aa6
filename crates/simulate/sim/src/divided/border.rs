//! The border of a part of a network, over which it sends packets to others.

use std::sync::Arc;

use base::{FlowId, HostId, Packet, Time};
use fabric::{LevelHistogram, PortId, QueueStatistics};
use schemes::{Receiver, Sender};
use tcp::Host;

use super::partition::Partition;
use crate::breakdown::{Followed, Follower};
use crate::probe::{Branch, Divide, Follow, Probe, Sees};
use crate::watched::Watched;

/// The part that a world simulates, and the events at its borders that it has not reported yet.
pub(super) struct Border {
    partition: Arc<Partition>,
    part: u16,
    /// Ports to other parts with packets on their wires.
    busy: Vec<PortId>,
    /// For each port: when it last sent a packet while its wire was empty, and when the packet handed over last
    /// arrives.
    first: Vec<Time>,
    last: Vec<Time>,
    /// Flows that are complete or have failed, and when.
    pub(super) over: Vec<(u32, Time)>,
    queues: Queues,
    /// The probe that watches this part, if there is one.
    watched: Option<Watched<Box<dyn Branch>>>,
}

/// Queue lengths over time, up to the moment when all flows are over. After the last flow has started, a part does not
/// know within a window whether that moment has passed, so it keeps the changes of the window until this is known.
struct Queues {
    histograms: Vec<LevelHistogram>,
    /// Waiting bytes, and since when.
    levels: Vec<(u64, Time)>,
    /// Changes since the last window.
    changes: Vec<(PortId, u64, Time)>,
    /// Whether a flow has not started by the end of this window, so that every change counts at once.
    all_count: bool,
    /// Whether later changes are ignored.
    closed: bool,
}

impl Border {
    pub(super) fn new(
        partition: &Arc<Partition>,
        part: usize,
        watched: Option<Watched<Box<dyn Branch>>>,
    ) -> Self {
        let part = u16::try_from(part).expect("a partition has fewer parts");
        let ports = partition.ports();
        Self {
            partition: Arc::clone(partition),
            part,
            busy: Vec::new(),
            first: vec![Time::ZERO; ports],
            last: vec![Time::ZERO; ports],
            over: Vec::new(),
            queues: Queues {
                histograms: vec![LevelHistogram::new(); ports],
                levels: vec![(0, Time::ZERO); ports],
                changes: Vec::new(),
                all_count: false,
                closed: false,
            },
            watched,
        }
    }

    /// Facts about a packet that is handed over, if packets are followed.
    pub(super) fn export(&mut self, port: PortId, packet: &Packet) -> Option<Followed> {
        self.follower()?.export(port, packet)
    }

    /// Takes over the facts about a packet that has been handed over.
    pub(super) fn import(&mut self, packet: Followed) {
        if let Some(follower) = self.follower() {
            follower.import(packet);
        }
    }

    /// The probe that has watched this part.
    pub(super) fn into_branch(self) -> Option<Box<dyn Branch>> {
        self.watched?.probe
    }

    fn follower(&mut self) -> Option<&mut Follower> {
        self.watched.as_mut()?.follower.as_mut()
    }

    /// Queues are measured from `first_start` on.
    pub(super) fn measure_from(&mut self, first_start: Time) {
        self.queues.levels.fill((0, first_start));
    }

    /// Ports to other parts with packets on their wires.
    pub(super) fn busy(&self) -> &[PortId] {
        &self.busy
    }

    /// The wire of the port at this place of [`Border::busy`] is empty.
    pub(super) fn idle(&mut self, place: usize) {
        self.busy.swap_remove(place);
    }

    /// The part in which packets from `port` arrive.
    pub(super) fn behind(&self, port: PortId) -> usize {
        self.partition.behind(port).into()
    }

    /// A packet from `port` that arrives at `arrival` is handed over. Returns when its arrival would have been
    /// scheduled: when it was sent if the wire was empty, else when the packet before it arrives.
    pub(super) fn hand_over(&mut self, port: PortId, arrival: Time) -> Time {
        let last = &mut self.last[port.0 as usize];
        std::mem::replace(last, arrival).max(self.first[port.0 as usize])
    }

    /// All changes so far count. Those of the next window count at once if `all_count`.
    pub(super) fn count_levels(&mut self, all_count: bool) {
        self.queues.count_until(Time::NEVER);
        self.queues.all_count = all_count;
    }

    /// Whether [`Border::close_levels`] has been called.
    pub(super) const fn is_closed(&self) -> bool {
        self.queues.closed
    }

    /// Later changes than `end` are ignored.
    pub(super) fn close_levels(&mut self, end: Time) {
        self.queues.close(end);
    }

    /// Statistics of the queues of this part, by port.
    pub(super) fn statistics(&self) -> impl Iterator<Item = (usize, QueueStatistics)> {
        let own = (0..).map(PortId).zip(&self.queues.histograms);
        let own = own.filter(|(port, _)| self.partition.before(*port) == self.part);
        own.map(|(port, levels)| (port.0 as usize, levels.statistics()))
    }
}

impl Queues {
    fn count_until(&mut self, until: Time) {
        let mut changes = std::mem::take(&mut self.changes);
        for (port, waiting, at) in changes.drain(..) {
            if at <= until {
                self.count(port, waiting, at);
            }
        }
        self.changes = changes;
    }

    #[inline(always)]
    fn count(&mut self, port: PortId, waiting: u64, at: Time) {
        let (level, since) = &mut self.levels[port.0 as usize];
        self.histograms[port.0 as usize].add(*level, at.since(*since));
        *level = waiting;
        *since = (*since).max(at);
    }

    fn close(&mut self, end: Time) {
        if self.closed {
            return;
        }
        self.count_until(end);
        for ((level, since), histogram) in self.levels.iter().zip(&mut self.histograms) {
            histogram.add(*level, end.since(*since));
        }
        self.closed = true;
    }
}

impl Probe for Queues {
    #[inline(always)]
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if self.all_count {
            self.count(port, waiting, at);
        } else if !self.closed {
            self.changes.push((port, waiting, at));
        }
    }

    /// The ends of a connection may be in two parts, and neither knows when the other end has ended.
    fn keeps_ends(&self) -> bool {
        true
    }
}

forward! { both [] Border, queues, watched }

impl Follow for Border {
    follow! { watched }

    fn on_message(&mut self, place: (FlowId, u32), times: (Time, Time), sender: HostId) {
        let here = self.has_host(sender);
        if let Some(follower) = self.follower() {
            follower.begin_message(place, times, here);
        }
    }

    fn revoke(&mut self, place: (FlowId, u32), at: Time) {
        if let Some(watched) = &mut self.watched {
            watched.revoke(place, at);
        }
    }
}

impl Divide for Border {
    fn has_host(&self, host: HostId) -> bool {
        self.partition.of_host(host) == self.part
    }

    fn has_port(&self, port: PortId) -> bool {
        self.partition.before(port) == self.part
    }

    fn ports_measure_from(&self, _: Time) -> Time {
        // The border measures.
        Time::NEVER
    }

    #[inline(always)]
    fn schedules_first(&mut self, port: PortId, now: Time) -> bool {
        if self.partition.behind(port) == self.part {
            return true;
        }
        self.first[port.0 as usize] = now;
        self.busy.push(port);
        false
    }

    fn on_over(&mut self, id: u32, now: Time) {
        self.over.push((id, now));
    }

    fn take_over(&mut self, other: Self) {
        if let (Some(own), Some(others)) = (&mut self.watched, other.watched) {
            own.take_over(others);
        }
    }
}

impl Sees<Receiver> for Border {
    #[inline(always)]
    fn sees_ends(&self) -> bool {
        self.watched.is_some()
    }

    #[inline(always)]
    fn see_host(&mut self, host: HostId, state: &Host<Sender, Receiver>, now: Time) {
        self.watched.on_host(host, state, now);
    }
}
