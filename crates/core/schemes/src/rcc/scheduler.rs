//! The scheduler of one receiving host: windows, data in flight, and which ACKs leave.

mod flow;

use base::cast::real;
use base::{Packet, Time};
use tcp::{AckKind, AckSent, AckVerdict, Arrival, Gauge, ReceiverCc, Release, Released, Slot};

use super::ack_queue::{AckQueue, Submission};
use super::assign::{self, Claim};
use super::control::{Control, Notice};
use super::params::{FlowPriority, FullAck, MergeDupacks, Params, ReleaseTest};
use super::timing::Timing;
use crate::registry::HostInfo;
use crate::roster::Roster;
use flow::Flow;

/// See the module documentation of [`super`].
#[derive(Debug)]
pub struct GrantScheduler {
    params: Box<Params>,
    /// Budget of data in flight, packets (`queue_maxsize`); `None` as long as it is to be found out.
    budget: Option<u64>,
    /// ACKs leave while less than this is in flight, bytes.
    limit: u64,
    mss: u64,
    /// By slot; `None` for connections that were not opened from outside or have ended.
    flows: Vec<Option<Flow>>,
    /// Registered connections in order of registration.
    active: Roster,
    /// Those of them that still expect data, which alone take part in assignments.
    needy: Roster,
    /// True if these share the budget as one packet each, whatever [`Flow::assigned`] says; changes when windows are
    /// assigned.
    crowded: bool,
    /// Data that senders may have in the network: the sum over flows, bytes.
    flight: u64,
    acks: AckQueue,
    /// No timer of any flow is due before; may be earlier than the first one.
    deadline: Time,
    /// Firings of the timers, each of which sends an ACK again.
    timeouts: u64,
}

impl GrantScheduler {
    pub(crate) fn new(params: &Params, host: &HostInfo) -> Self {
        // C * RTO_r in packets: what the link carries in a timeout (RCC §4.2).
        let per_rto = params.min_rto.as_ps() / host.rate.serialisation(host.packet_bytes).as_ps();
        let auto = |divisor| u32::try_from(per_rto / divisor).unwrap_or(u32::MAX);
        let mss = u64::from(host.mss);
        // Like the buffer of the switch that it is to spare, the budget counts packets on the wire.
        let budget = params.max_queue.0;
        let budget = budget.map(|size| size.in_bytes(host.packet_bytes) / host.packet_bytes);
        let mut scheduler = Self {
            budget: None,
            limit: u64::MAX,
            mss,
            flows: Vec::new(),
            active: Roster::default(),
            needy: Roster::default(),
            crowded: false,
            flight: 0,
            acks: AckQueue::new(
                params.skip_max.0.unwrap_or(auto(2)),
                params.push_bonus.0.unwrap_or(auto(4)),
            ),
            deadline: Time::NEVER,
            timeouts: 0,
            params: Box::new(params.clone()),
        };
        if let Some(packets) = budget {
            scheduler.set_budget(packets);
        }
        scheduler
    }

    /// Budget of data in flight, bytes; `None` before it is known.
    pub fn budget(&self) -> Option<u64> {
        self.budget.map(|packets| packets.saturating_mul(self.mss))
    }

    /// Data that senders may have in the network, bytes.
    pub fn flight(&self) -> u64 {
        self.flight
    }

    /// ACKs that were sent again because nothing had come for a timeout.
    pub fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// ACKs that wait in the buffer queue.
    pub fn waiting(&self) -> usize {
        self.acks.len()
    }

    /// Windows of the connections that still expect data, packets, in order of registration.
    pub fn windows(&self) -> impl Iterator<Item = u64> {
        let needy = self.needy.iter();
        let flows = needy.filter_map(|slot| self.flows[slot.0 as usize].as_ref());
        flows.map(|flow| self.assigned(flow))
    }

    fn flow(&mut self, slot: Slot) -> Option<&mut Flow> {
        self.flows.get_mut(slot.0 as usize)?.as_mut()
    }

    /// A flow's window, packets.
    #[inline]
    fn assigned(&self, flow: &Flow) -> u64 {
        if self.crowded && flow.is_needy() {
            1
        } else {
            flow.assigned
        }
    }

    fn set_budget(&mut self, packets: u64) {
        let packets = packets.max(1);
        self.budget = Some(packets);
        let bytes = packets.saturating_mul(self.mss);
        self.limit = match self.params.release {
            ReleaseTest::Below => bytes,
            ReleaseTest::At => bytes.saturating_add(1),
        };
    }

    /// RDTCP: the first mark tells that what is in flight fills the path and the queue up to its
    /// threshold.
    // UNSPECIFIED(RDTCP): whether the windows follow before the next SYN or end; they do, or their
    // sum could exceed the budget.
    fn find_budget(&mut self) {
        self.set_budget(self.flight.div_ceil(self.mss));
        self.assign();
    }

    /// RCC Alg. 1, at every opening and end of a connection, for those that still expect data. O(1) when
    /// crowded, and else bounded by the budget, so that n connections cost O(n), not O(n^2).
    fn assign(&mut self) {
        let Some(budget) = self.budget else { return };
        self.crowded = assign::is_crowded(self.needy.len(), budget);
        if self.crowded || self.needy.len() == 0 {
            return;
        }
        let needy = std::mem::take(&mut self.needy);
        let claims: Vec<Claim> = needy.iter().map(|slot| self.claim(slot)).collect();
        let windows = assign::assign(&claims, budget, self.params.surplus);
        for (slot, window) in needy.iter().zip(windows) {
            self.flow(slot).expect("needy flows are there").assigned = window;
        }
        self.needy = needy;
    }

    fn claim(&self, slot: Slot) -> Claim {
        let flow = self.flows[slot.0 as usize].as_ref();
        let flow = flow.expect("needy flows are there");
        let segments = |bytes: u64| bytes.div_ceil(flow.mss);
        Claim {
            priority: self.priority(flow),
            need: flow.remaining().map_or(u64::MAX, segments),
        }
    }

    /// The bytes that decide a flow's place; `None` if it has none.
    fn priority(&self, flow: &Flow) -> Option<u64> {
        match self.params.priority {
            FlowPriority::Remaining => flow.remaining(),
            FlowPriority::Fixed => flow.size,
            FlowPriority::Off => None,
        }
    }

    /// Brings the total up to date after a change of `slot`.
    fn recount(&mut self, slot: Slot) {
        if let Some(flow) = self.flow(slot) {
            let before = std::mem::replace(&mut flow.flight, 0);
            flow.flight = flow.data_in_flight();
            let after = flow.flight;
            self.flight = self.flight - before + after;
        }
    }

    fn submit(&mut self, slot: Slot, again: bool, now: Time) {
        let Params {
            timer,
            min_rto,
            sender_retransmits,
            ..
        } = *self.params;
        let Some(flow) = self.flow(slot) else { return };
        let push = std::mem::take(&mut flow.push);
        // RCC §4.5: the timer does not run while the ACK waits.
        // UNSPECIFIED(RCC footnote 7): unless nobody else would notice that what was granted before is
        // lost. It may be the very budget that the ACK waits for.
        flow.timing.deadline = if sender_retransmits || flow.flight == 0 {
            Time::NEVER
        } else {
            now + flow.timing.rto(timer, min_rto)
        };
        let deadline = flow.timing.deadline;
        self.deadline = self.deadline.min(deadline);
        let flow = self.flows[slot.0 as usize]
            .as_ref()
            .expect("it was there before");
        let priority = self.priority(flow);
        self.acks.submit(Submission {
            slot,
            push,
            again,
            priority,
        });
    }

    /// RCC Alg. 3: what the ACK released has not come.
    fn on_timeout(&mut self, slot: Slot, now: Time) {
        let max_backoff = u64::from(self.params.max_backoff.0);
        let waits = self.acks.contains(slot);
        let Some(flow) = self.flow(slot) else { return };
        if waits {
            flow.timing.deadline = Time::NEVER;
            flow.expire_grant();
            self.recount(slot);
            return;
        }
        flow.control.on_timeout();
        flow.timing.back_off(max_backoff);
        flow.push = true;
        flow.expire_grant();
        self.timeouts += 1;
        self.recount(slot);
        self.submit(slot, true, now);
    }

    /// The receiver has found a loss or the end of one: whether the next ACK orders a retransmission, or which window it has.
    fn on_notice(&mut self, slot: Slot, notice: Notice) {
        let alone = !self.params.sender_retransmits;
        let Params {
            full_ack,
            merge_dupacks,
            ..
        } = *self.params;
        let flow = self.flow(slot).expect("its data has come");
        flow.push |= match notice {
            Notice::None => false,
            Notice::Repaired => {
                if full_ack == FullAck::Flight {
                    flow.control.resume(flow.data_in_flight());
                }
                false
            }
            // UNSPECIFIED(RCC §4.3): duplicates merged in the buffer queue; without this the sender may
            // never see three of them, and recovery under a busy queue waits for RTO_r.
            Notice::Loss => alone || merge_dupacks == MergeDupacks::Push,
            // UNSPECIFIED(RCC footnote 7): a sender that retransmits only on order has to be told of
            // every gap, as RFC 6582 §3.2 step 5 would have sent it by itself.
            Notice::NextGap => alone,
        };
    }
}

impl ReceiverCc for GrantScheduler {
    fn on_open(&mut self, slot: Slot, syn: &Packet, mss: u16, now: Time) {
        let index = slot.0 as usize;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, || None);
        }
        let size = syn.extension.as_u64();
        let mss = u64::from(mss);
        self.flows[index] = Some(Flow {
            size: (size > 0).then_some(size),
            received: 0,
            assigned: UNASSIGNED,
            upper: 1,
            expected: 1,
            held: 0,
            flight: 0,
            control: Control::new(mss, self.params.alpha, now),
            timing: Timing::new(self.params.history),
            push: false,
            mss,
        });
        self.active.add(slot);
        self.needy.add(slot);
        self.assign();
    }

    /// O(log n) for the buffer queue, amortised, and an assignment.
    fn on_close(&mut self, slot: Slot, _now: Time) {
        let Some(flow) = self.flows.get_mut(slot.0 as usize).and_then(Option::take) else {
            return;
        };
        self.flight -= flow.flight;
        self.active.remove(slot);
        self.needy.remove(slot);
        self.acks.forget(slot);
        self.assign();
    }

    fn on_data(&mut self, slot: Slot, arrival: &Arrival, now: Time) {
        if arrival.payload == 0 {
            return;
        }
        if arrival.marked && self.budget.is_none() {
            self.find_budget();
        }
        let Some(Some(flow)) = self.flows.get(slot.0 as usize) else {
            return;
        };
        let (assigned, was_needy) = (self.assigned(flow), flow.is_needy());
        let Some(flow) = self.flow(slot) else { return };
        flow.timing.deadline = Time::NEVER;
        if !flow.control.is_recovering() {
            flow.timing.on_data(arrival.offset, now);
        }
        flow.received += arrival.new_bytes;
        flow.expected = arrival.expected + arrival.in_order;
        flow.held = arrival.held;
        let srtt = flow.timing.srtt();
        let notice = flow.control.on_data(arrival, srtt, assigned, now);
        let complete = was_needy && !flow.is_needy();
        if complete {
            // It keeps its window, and takes no part in assignments from now on.
            flow.assigned = assigned;
            self.needy.remove(slot);
        }
        if notice != Notice::None {
            self.on_notice(slot, notice);
        }
        // The sender repeats itself because our ACK waits: it has nothing else on its way.
        let repeated = arrival.new_bytes == 0 && arrival.offset < arrival.expected;
        if repeated && self.acks.contains(slot) {
            self.flow(slot).expect("it was there").expire_grant();
        }
        self.recount(slot);
    }

    #[inline]
    fn window(&self, slot: Slot, buffer: u64) -> u64 {
        match self.flows.get(slot.0 as usize) {
            Some(Some(flow)) => flow
                .control
                .rwnd()
                .min(self.assigned(flow) * flow.mss)
                .max(flow.mss)
                .min(buffer),
            _ => buffer,
        }
    }

    fn on_ack_ready(&mut self, slot: Slot, kind: AckKind, now: Time) -> AckVerdict {
        let prioritised = self.params.priority != FlowPriority::Off;
        match self.flow(slot) {
            None => return AckVerdict::Send,
            // DEVIATION(RCC Alg. 2): as printed every ACK waits its turn; one that releases nothing would only hold up others.
            Some(flow) if prioritised && kind == AckKind::Data && flow.remaining() == Some(0) => {
                return AckVerdict::Send;
            }
            // A second SYN-ACK: the first one, and its grant, did not arrive.
            Some(flow) if kind == AckKind::Syn => flow.expire_grant(),
            Some(_) => {}
        }
        self.recount(slot);
        self.submit(slot, false, now);
        AckVerdict::Hold
    }

    fn on_ack_sent(&mut self, slot: Slot, sent: &AckSent, now: Time) {
        let Params { timer, min_rto, .. } = *self.params;
        // A sender that does not retransmit by itself is to be asked until its FIN has come.
        let insists = !self.params.sender_retransmits;
        let Some(flow) = self.flow(slot) else { return };
        flow.upper = flow.upper.max(sent.ack + sent.window);
        let rto = flow.timing.rto(timer, min_rto);
        if !flow.control.is_recovering() {
            flow.timing
                .on_ack_sent(sent.ack, sent.window, flow.mss, rto, now);
        }
        let awaited = insists || flow.size.is_none() || flow.data_in_flight() > 0;
        let deadline = if awaited { now + rto } else { Time::NEVER };
        flow.timing.deadline = deadline;
        self.deadline = self.deadline.min(deadline);
        self.recount(slot);
    }

    /// RCC Alg. 2 l. 3-6. DEVIATION(RCC Alg. 2 l. 3): strictly below the budget, so that grants of one
    /// packet add up to exactly the budget.
    #[inline]
    fn next_release(&mut self, _now: Time) -> Option<Release> {
        if self.flight >= self.limit {
            return None;
        }
        let (slot, push) = self.acks.pop()?;
        let what = if push { Released::Order } else { Released::Ack };
        Some(Release { slot, what })
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.deadline
    }

    /// O(flows), but not before the earliest timer that was running: data moves timers back without
    /// touching the common deadline.
    fn on_deadline(&mut self, now: Time) {
        self.deadline = Time::NEVER;
        let active = std::mem::take(&mut self.active);
        for slot in active.iter() {
            let Some(flow) = self.flow(slot) else {
                continue;
            };
            if flow.timing.deadline <= now {
                self.on_timeout(slot, now);
            } else {
                let later = flow.timing.deadline;
                self.deadline = self.deadline.min(later);
            }
        }
        self.active = active;
    }

    /// O(connections).
    fn gauges(&self, sink: &mut dyn FnMut(Option<Slot>, &'static str, f64)) {
        sink(None, WAITING.name, real(self.acks.len() as u64));
        sink(None, FLIGHT.name, real(self.flight));
        sink(None, TIMEOUTS.name, real(self.timeouts));
        for slot in self.active.iter() {
            if let Some(flow) = &self.flows[slot.0 as usize] {
                if self.budget.is_some() {
                    let window = self.assigned(flow) * flow.mss;
                    sink(Some(slot), ASSIGNED.name, real(window));
                }
                sink(Some(slot), ALPHA.name, flow.control.alpha());
            }
        }
    }
}

/// Everything that [`GrantScheduler`] reports to traces.
pub(super) const GAUGES: &[Gauge] = &[WAITING, FLIGHT, TIMEOUTS, ASSIGNED, ALPHA];
pub(super) const WAITING: Gauge = Gauge {
    name: "waiting_acks",
    unit: "ACKs",
    help: "ACKs that wait in the buffer queue of the receiving host.",
};
pub(super) const FLIGHT: Gauge = Gauge {
    name: "flight_bytes",
    unit: "bytes",
    help: "Data that the senders to a host may have in the network by what it granted them.",
};
const TIMEOUTS: Gauge = Gauge {
    name: "receiver_timeouts",
    unit: "ACKs",
    help: "ACKs that the receiving host has sent again because nothing had come for a timeout.",
};
const ASSIGNED: Gauge = Gauge {
    name: "assigned_bytes",
    unit: "bytes",
    help: "Window that the receiving host has assigned to a flow.",
};
const ALPHA: Gauge = Gauge {
    name: "alpha",
    unit: "share",
    help: "Estimated share of marked packets, 0 to 1.",
};

/// A window before the budget is known, packets: no bound, and its bytes can be counted.
const UNASSIGNED: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use base::setting::Settings;
    use base::{Extension, FlowId, HostId, Rate, Span};

    use super::*;

    /// The paper's: 1446 bytes of payload in 1500 on the wire.
    fn scheduler_with(set: &str, value: &str) -> GrantScheduler {
        let host = HostInfo {
            rate: Rate::from_bps(1_000_000_000),
            mss: 1446,
            packet_bytes: 1500,
        };
        let params = Params::read(&|key: &str| match key {
            key if key == set => value.to_owned(),
            other => Params::default_text(other).to_owned(),
        });
        GrantScheduler::new(&params.expect("correct texts"), &host)
    }

    fn scheduler() -> GrantScheduler {
        scheduler_with("rcc.max_queue", "40pkt")
    }

    // Clauses: RCC-alg2-flight
    #[test]
    fn the_budget_counts_packets_on_the_wire_as_buffers_do() {
        for (text, segments) in [("40pkt", 40), ("60000B", 40), ("59999B", 39), ("1B", 1)] {
            let budget = scheduler_with("rcc.max_queue", text).budget();
            assert_eq!(budget, Some(segments * 1446), "{text}");
        }
    }

    /// A connection of 32 KiB opens, and ACKs leave while there is room.
    fn open(scheduler: &mut GrantScheduler, slot: Slot) {
        let now = Time::ZERO;
        let mut syn = Packet::new(FlowId(slot.0), HostId(0));
        syn.extension = Extension::from_u64(32_768);
        scheduler.on_open(slot, &syn, 1446, now);
        assert_eq!(
            scheduler.on_ack_ready(slot, AckKind::Syn, now),
            AckVerdict::Hold
        );
        release(scheduler, now);
    }

    /// SYN-ACKs leave while there is room. Returns how many.
    fn release(scheduler: &mut GrantScheduler, now: Time) -> usize {
        let sent = AckSent {
            ack: 1,
            window: 1446,
            syn: true,
        };
        let mut count = 0;
        while let Some(release) = scheduler.next_release(now) {
            scheduler.on_ack_sent(release.slot, &sent, now);
            count += 1;
        }
        count
    }

    // RCC Alg. 3 l. 6, rcc §8: up to 64 times.
    // Clauses: RCC-alg3-6
    #[test]
    fn an_ack_is_sent_again_after_ever_longer_times() {
        let (mut scheduler, mut now) = (scheduler(), Time::ZERO);
        open(&mut scheduler, Slot(0));
        for ms in [10, 20, 40, 80, 160, 320, 640, 640] {
            let due = scheduler.deadline();
            assert_eq!(due.since(now), Span::from_millis(ms));
            now = due;
            scheduler.on_deadline(now);
            assert_eq!(release(&mut scheduler, now), 1);
        }
        assert_eq!(scheduler.timeouts(), 8);
    }

    /// The next `segments` in order from `expected` on: one is new, the others were held before.
    fn fill(expected: u64, segments: u64) -> Arrival {
        Arrival {
            offset: expected,
            payload: 1446,
            expected,
            new_bytes: 1446,
            in_order: segments * 1446,
            ..Arrival::default()
        }
    }

    #[test]
    fn the_window_after_recovery_counts_what_is_in_flight_if_asked_for() {
        // 19 segments are allowed and 9 have come when the tenth is missing: ssthresh is 5. When it fills the gap before
        // three others, six are in flight: 5 of NewReno's 7, and 2 as the published code has it.
        for (full_ack, segments) in [("flight", 5), ("segment", 2)] {
            let (mut scheduler, now) = (scheduler_with("rcc.full_ack", full_ack), Time::ZERO);
            let (slot, mss) = (Slot(0), 1446);
            open(&mut scheduler, slot);
            for segment in 0..9 {
                scheduler.on_data(slot, &fill(1 + segment * mss, 1), now);
            }
            let gap = 1 + 9 * mss;
            let sent = AckSent {
                ack: gap,
                window: 10 * mss,
                syn: false,
            };
            scheduler.on_ack_sent(slot, &sent, now);
            for beyond in 1..=3 {
                let arrival = Arrival {
                    offset: gap + beyond * mss,
                    in_order: 0,
                    held: beyond * mss,
                    ..fill(gap, 1)
                };
                scheduler.on_data(slot, &arrival, now);
            }
            scheduler.on_data(slot, &fill(gap, 4), now);
            assert_eq!(
                scheduler.window(slot, 1 << 20),
                segments * mss,
                "{full_ack}"
            );
        }
    }

    #[test]
    fn an_ack_that_releases_nothing_does_not_wait() {
        let (mut scheduler, now) = (scheduler(), Time::ZERO);
        (0..2).for_each(|slot| open(&mut scheduler, Slot(slot)));
        for (slot, bytes, verdict) in [
            (Slot(0), 32_768, AckVerdict::Send),
            (Slot(1), 32_767, AckVerdict::Hold),
        ] {
            let all = Arrival {
                new_bytes: bytes,
                in_order: bytes,
                ..fill(1, 1)
            };
            scheduler.on_data(slot, &all, now);
            assert_eq!(scheduler.on_ack_ready(slot, AckKind::Data, now), verdict);
        }
    }

    #[test]
    fn a_connection_that_ends_takes_its_waiting_ack_along() {
        let (mut scheduler, now) = (scheduler(), Time::ZERO);
        // SYN-ACKs of 41 flows, each a grant of one segment, for a budget of 40.
        (0..41).for_each(|slot| open(&mut scheduler, Slot(slot)));
        assert_eq!(scheduler.waiting(), 1);
        scheduler.on_close(Slot(40), now);
        assert_eq!(scheduler.waiting(), 0);
        // Room for a grant finds nobody to give it to.
        scheduler.on_close(Slot(0), now);
        assert_eq!(scheduler.next_release(now), None);
    }

    #[test]
    fn the_ends_of_a_crowd_cost_the_same_each_whatever_their_order() {
        let flows = 10_000;
        let orders: [fn(u32) -> u32; 3] = [
            |slot| slot,
            |slot| 9_999 - slot,
            |slot| slot * 7_919 % 10_000,
        ];
        for order in orders {
            let mut scheduler = scheduler();
            (0..flows).for_each(|slot| open(&mut scheduler, Slot(slot)));
            for slot in (0..flows).map(order) {
                scheduler.on_close(Slot(slot), Time::ZERO);
            }
            assert_eq!((scheduler.windows().count(), scheduler.flight()), (0, 0));
            // Two rosters, each of which halves until it is empty: n + n/2 + n/4 + ... places.
            let moves = scheduler.active.moves + scheduler.needy.moves;
            assert!(moves <= 4 * flows as usize, "{moves} for {flows} ends");
        }
    }
}
