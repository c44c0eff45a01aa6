//! The beginning of a transmission: marks by the queue behind the packet, and the hook.

use base::{Ecn, Packet, Time};

use super::Port;
use crate::hook::Calls;
use crate::port_id::PortId;
use crate::queue::{Backlog, Discipline, QueueDisc};
use crate::watch::Watch;

impl Port {
    /// The port marks packets when their transmission begins, as this discipline would mark a packet that arrived at the
    /// queue of that moment.
    ///
    /// A FIFO knows the time of a departure at the arrival, but not what will wait then. So the decision is made when
    /// departures are accounted for, which every event at the port does, and which comes before the packet arrives
    /// elsewhere. A port without such marks pays nothing for that.
    #[must_use]
    pub fn with_departure_marks(mut self, marks: Option<Discipline>) -> Self {
        if let Some(marks) = marks {
            let looks = marks.is_congested(Backlog::default());
            self.watches_idle |= looks;
            self.plain &= !looks;
            self.calls = self.calls.with(Calls::MARKS);
            self.departure_marks = Some(Box::new(marks));
        }
        self
    }

    /// The transmission of the newest packet on the wire of a FIFO began at `start`.
    #[inline(never)]
    pub(super) fn tell_departure<W: Watch>(&mut self, start: Time, port: PortId, watch: &mut W) {
        let queue = self.backlog();
        if let Some(marks) = &mut self.departure_marks {
            let counts = &mut (&mut self.marks, &mut self.threshold_crossings);
            self.ring.change_newest_started(|packet| {
                mark(marks, packet, queue, (start, port), counts, watch);
            });
        }
        if let Some(hook) = &mut self.hook
            && self.calls.has(Calls::DEPARTURE)
        {
            self.ring
                .change_newest_started(|packet| hook.on_departure(queue, packet, start));
            if self.calls.has(Calls::TIMER) {
                self.hook_due = hook.deadline();
            }
            watch.on_hook(port, hook.as_ref(), start);
        }
    }

    /// Does the same for a packet that is not on the wire yet.
    #[inline(always)]
    pub(super) fn depart<W: Watch>(
        &mut self,
        packet: &mut Packet,
        start: Time,
        port: PortId,
        watch: &mut W,
    ) {
        if self.calls.has(Calls::MARKS) {
            self.mark_departure(packet, start, port, watch);
        }
        self.call_hook(Calls::DEPARTURE, start, port, watch, |hook, queue| {
            hook.on_departure(queue, packet, start);
        });
    }

    #[inline(never)]
    fn mark_departure<W: Watch>(
        &mut self,
        packet: &mut Packet,
        start: Time,
        port: PortId,
        watch: &mut W,
    ) {
        let queue = self.backlog();
        if let Some(marks) = &mut self.departure_marks {
            let counts = &mut (&mut self.marks, &mut self.threshold_crossings);
            mark(marks, packet, queue, (start, port), counts, watch);
        }
    }
}

/// Lets the discipline mark a packet. Counts the mark, and every packet that finds the queue congested.
fn mark<W: Watch>(
    marks: &mut Discipline,
    packet: &mut Packet,
    queue: Backlog,
    (start, port): (Time, PortId),
    (marked, crossings): &mut (&mut u64, &mut u64),
    watch: &mut W,
) {
    **crossings += u64::from(marks.is_congested(queue));
    let was_marked = packet.ecn == Ecn::Marked;
    marks.on_arrival(queue, packet, start);
    if packet.ecn == Ecn::Marked && !was_marked {
        **marked += 1;
        watch.on_mark(port, packet, start);
    }
}
