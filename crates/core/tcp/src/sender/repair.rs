//! Repair of losses by a record of every segment: how current stacks do it.
//!
//! RFC 5681 and its companions repair with a few numbers per connection, in [`recovery`](super::recovery).
//! Later rules need to know when each segment left and what became of it, [`retransmission_queue`]. On it stand
//! mechanisms that do not know each other, one RFC in each file: [`rack`] finds losses, [`probe`] brings
//! those of the last segments to light, [`reduction`] moves the window, [`undo`] and [`frto`] find out that
//! nothing was lost. What joins them are the states of a sender in [`state`], as Linux has them. Without SACK,
//! [`reno`] counts duplicates instead of reports. A connection without any of these mechanisms keeps no record.
// DEVIATION(RFC 6675 §4): with a record, rules 3 and 4 of NextSeg are left out, as in Linux: what is not
// judged lost is not sent again by recovery.

mod booking;
mod cwnd_limited;
mod fast_path;
mod frto;
mod growth;
mod held;
mod probe;
mod rack;
mod reduction;
mod reno;
pub(super) mod retransmission_queue;
mod send_buffer;
mod state;
mod timers;
mod undo;
mod writing;

use base::{Span, Time};

use super::{Feedback, Outgoing, Sender, info::SenderInfo, timer::Timer};
use crate::cc::{Delivery, Echo, SenderCc};
use crate::config::{Config, Growth, IdleWindow, SsthreshOf};
use crate::plays::Plays;
use crate::restart::Restart;
use crate::scoreboard::DUP_THRESH;
use crate::timestamps;
use cwnd_limited::CwndLimited;
use frto::Frto;
use probe::{Answer, TailProbe};
use rack::{Path, Rack};
use reduction::Reduction;
use reno::Reno;
use retransmission_queue::{Delivered, RetransmissionQueue};
use send_buffer::SendBuffer;
use state::RepairState;
use undo::Undo;

/// The record of a connection, and the mechanisms that its settings name.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about what comes next"
)]
#[derive(Debug)]
pub(super) struct Repair {
    queue: RetransmissionQueue,
    state: RepairState,
    /// Everything sent when `state` was entered ends here.
    high: u64,
    /// Least round trip seen; [`Span::MAX`] before the first.
    min_rtt: Span,
    /// Segments that the receiver has reported to have come twice.
    duplicates: u64,
    /// Duplicate ACKs since the last that moved on.
    dupacks: u32,
    rack: Option<Rack>,
    /// Counts of duplicates, in place of reports where SACK is not in use.
    reno: Option<Reno>,
    probe: Option<TailProbe>,
    /// Whether a probe is to leave, whatever the window.
    probe_due: bool,
    reduction: Option<Reduction>,
    undo: Option<Undo>,
    frto: Frto,
    /// Whether recovery has begun and not sent anything: the first lost segment then leaves whatever the
    /// window (RFC 6675 §5 step 4.3).
    begins: bool,
    /// Whether new data goes before what is lost, until the next ACK (RFC 5682 §3.1 step 2b).
    new_first: bool,
    cwnd_limited: CwndLimited,
    /// Whether the next segment completes the handshake, and so says nothing of data.
    opens: bool,
    /// The send buffer, if it has an end.
    buffer: Option<SendBuffer>,
}

/// An acknowledgement, and what it has changed.
#[derive(Clone, Copy, Debug)]
struct AckInfo {
    delivered: Delivered,
    /// Bytes that became acknowledged in order.
    bytes: u64,
    /// Whether it carries nothing but an acknowledgement that does not move.
    idle: bool,
    /// Whether it counts as a duplicate where SACK is not in use: it is not the first one behind data of the peer either,
    /// which Linux takes for news of the window (`tcp_may_update_window`).
    counts: bool,
    echo: Echo,
    /// The timestamp it echoes.
    stamp: Option<u32>,
    /// The congestion window before it.
    window: u64,
    /// Judgements of loss before it.
    losses: (u64, u64),
    now: Time,
}

impl AckInfo {
    const fn advances(&self) -> bool {
        self.bytes > 0
    }
}

impl Repair {
    /// The mechanisms that these settings name, with or without SACK.
    pub(super) fn new(config: &Config, sack: bool) -> Self {
        Self {
            queue: RetransmissionQueue::default(),
            state: RepairState::Open,
            high: 0,
            min_rtt: Span::from_ps(u64::MAX),
            duplicates: 0,
            dupacks: 0,
            rack: Rack::of(config).filter(|_| sack),
            reno: (!sack).then(Reno::new),
            probe: TailProbe::of(config).filter(|_| sack),
            probe_due: false,
            reduction: None,
            undo: config.undo.then(Undo::default),
            frto: Frto::Off,
            begins: false,
            new_first: false,
            cwnd_limited: CwndLimited::default(),
            opens: false,
            buffer: config.send_buffer.map(SendBuffer::new),
        }
    }

    /// What a sender without a record says of itself, with what the record knows better.
    pub(super) fn info(&self, plain: SenderInfo) -> SenderInfo {
        let cwnd = self.reduction.as_ref().map(Reduction::window);
        SenderInfo {
            state: self.state.congestion_state(),
            cwnd: cwnd.unwrap_or(plain.cwnd),
            unacked: self.queue.len() as u64,
            sacked: self.queue.sacked().into(),
            lost: Some(self.queue.lost().into()),
            retransmitted: Some(self.queue.retransmitted().into()),
            overtaken: Some(self.queue.overtaken()),
            ..plain
        }
    }

    /// The round trips that a delivery shows, if it does (RFC 6298 §3): of the segment that waited longest among those sent
    /// once, and of the last one, reported before acknowledged (Linux 6.12, `tcp_clean_rtx_queue`).
    fn round_trips(delivered: &Delivered, now: Time) -> Option<(Span, Span)> {
        let acknowledged = delivered.acknowledged.filter(|_| !delivered.repeated);
        let (first, _) = acknowledged.or(delivered.reported)?;
        let (_, last) = delivered.reported.or(acknowledged)?;
        Some((now.since(first), now.since(last)))
    }

    /// Whether this acknowledgement completes the handshake. Only the first one does.
    pub(super) const fn opened(&mut self) -> bool {
        std::mem::replace(&mut self.opens, false)
    }

    /// Looks for losses. Returns how long the reordering timer is to run, if it is.
    fn detect(&mut self, srtt: Span, mss: u64, now: Time) -> Option<Span> {
        if let Some(rack) = &mut self.rack {
            let path = Path {
                min_rtt: self.min_rtt,
                srtt,
                recovering: self.state.repairs(),
            };
            return rack.detect(&mut self.queue, &path, now);
        }
        // RFC 6675 §4 IsLost, and RFC 5681 §3.2 for the first segment.
        if let Some(below) = self.queue.reported().lost_below(u64::MAX, mss) {
            self.queue.lose_below(below);
        }
        if u64::from(self.dupacks) >= DUP_THRESH && !self.state.repairs() && self.queue.len() > 0 {
            self.queue.lose(0);
        }
        None
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// The handshake gives the first sample of the least round trip, without which a copy that is delivered
    /// would tell nothing (RFC 8985 §6.2 step 2).
    pub(super) fn note_handshake(&mut self, rtt: Span) {
        if let Some(repair) = &mut self.repair {
            repair.min_rtt = rtt;
        }
    }

    /// The acknowledgement that follows is that of the SYN-ACK.
    pub(crate) fn note_opening(&mut self) {
        if let Some(repair) = &mut self.repair {
            repair.opens = true;
        }
    }

    /// Processes an acknowledgement that is not below `una`. The edge of the peer's window was the first of `before`, set by
    /// a segment at the second.
    pub(super) fn on_recorded(
        &mut self,
        feedback: &Feedback<'_>,
        before: (u64, u64),
        repair: &mut Repair,
    ) {
        let moves_edge = self.edge != before.0;
        let losses = repair.queue.losses();
        let echo = self.echo_of(feedback, repair);
        let mut delivered = repair.book(feedback, &self.sent_so_far());
        let told;
        (delivered.segments, told) = repair.count_without_sack(delivered.segments);
        let bytes = self.move_to(feedback.ack, repair);
        let rtt = self.sample_recorded(&delivered, bytes, feedback, repair);
        let delivery = Delivery {
            segments: told.into(),
            echo: feedback.echo && self.ecn,
            acknowledged: self.una,
            next: self.next,
        };
        let says_nothing = bytes == 0 && feedback.sacked.is_empty() && !feedback.echo;
        if !repair.opened() && !self.skips(feedback, says_nothing, moves_edge) {
            self.tell_delivery(&delivery);
        }
        let idle = feedback.bare && bytes == 0 && !delivered.sacked && !moves_edge;
        let mut ack_info = AckInfo {
            delivered,
            bytes,
            idle,
            counts: idle && feedback.offset <= before.1 && repair.queue.len() > 0,
            echo,
            stamp: feedback.stamp,
            window: self.window,
            losses,
            now: feedback.now,
        };
        repair.dupacks += u32::from(feedback.bare && bytes == 0 && repair.queue.len() > 0);
        self.answer_probe(feedback.ack, &ack_info, repair);
        let timer = if repair.reno.is_some() {
            self.change_state_without_sack(&mut ack_info, repair);
            None
        } else {
            self.change_state(&ack_info, repair)
        };
        if ack_info.echo == Echo::Reduce && repair.state.repairs() {
            // The loss it came with has reduced the window.
            ack_info.echo = Echo::Repeated;
        }
        self.tell(feedback, &ack_info, rtt, repair);
        repair.reduce_in_proportion(&ack_info);
        self.set_timer(timer, &ack_info, repair);
        self.review_timer_on_ack(feedback.now);
        self.note_room(repair);
    }

    /// Processes what an acknowledgement below `una` reports by SACK, and nothing else of it (Linux 6.12, `tcp_ack`).
    pub(super) fn read_reports(&mut self, feedback: &Feedback<'_>, repair: &mut Repair) {
        let losses = repair.queue.losses();
        let delivered = repair.book(feedback, &self.sent_so_far());
        if let Some(buffer) = &mut repair.buffer {
            buffer.eased = true;
        }
        let ack_info = AckInfo {
            delivered,
            bytes: 0,
            idle: false,
            counts: false,
            echo: Echo::None,
            stamp: feedback.stamp,
            window: self.window,
            losses,
            now: feedback.now,
        };
        if let Some(rest) = self.change_state(&ack_info, repair) {
            self.timer = Timer::Reorder(self.config.expiry(feedback.now, rest));
        }
    }

    /// The next segment of a connection with a record.
    pub(super) fn next_recorded(&mut self, repair: &mut Repair, now: Time) -> Option<Outgoing> {
        if std::mem::take(&mut self.retransmit_first) && repair.queue.len() > 0 {
            return self.send_again(0, repair, now);
        }
        if std::mem::take(&mut repair.probe_due) {
            return self.send_probe(repair, now);
        }
        let has_room = self.allows_segment(repair);
        let may_repair = std::mem::take(&mut repair.begins) || has_room;
        if may_repair
            && !repair.new_first
            && let Some(place) = repair.queue.next_lost()
            && !self.is_copy_held(place, repair, now)
            && let Some(outgoing) = self.send_again(place, repair, now)
        {
            return Some(outgoing);
        }
        let segment = if has_room && !self.is_new_held(now) {
            self.send_new(repair, now)
        } else {
            self.review_timer(now);
            None
        };
        if segment.is_none() {
            let sent_none = self.next == repair.high;
            if sent_none && repair.new_first && repair.frto.without_new_data() {
                repair.new_first = false;
                return self.next_recorded(repair, now);
            }
            let in_flight = repair.queue.len() as u64;
            let unsent = self.next < self.written + u64::from(self.closed);
            repair
                .cwnd_limited
                .validate((!has_room, unsent), in_flight, (self.una, self.next));
            if self.lets_write(repair) {
                return self.next_recorded(repair, now);
            }
        }
        segment
    }

    /// A segment of new data, or the FIN, within the peer's window.
    #[inline(always)]
    fn send_new(&mut self, repair: &mut Repair, now: Time) -> Option<Outgoing> {
        let payload = self.new_payload(repair, now)?;
        Some(self.send_first(payload, repair, now))
    }

    /// The payload of the next segment of new data, or none for the FIN, if the peer's window allows one.
    #[inline(always)]
    fn new_payload(&mut self, repair: &mut Repair, now: Time) -> Option<u64> {
        let start = self.next;
        if start >= self.written {
            return (self.closed && start == self.written).then_some(0);
        }
        if let Some(restart) = self.restart_due(now) {
            self.begin_again(restart, repair);
        }
        let wanted = (self.written - start).min(self.mss);
        let room = self.edge.saturating_sub(start);
        if room >= wanted {
            return Some(wanted);
        }
        // As in `next_in_order`.
        if room > 0 && self.una == self.next {
            return Some(room);
        }
        self.review_timer(now);
        None
    }

    /// The pause before this segment makes the window smaller. A reduction that had no acknowledgement to end with goes on,
    /// from a smaller window to the same threshold (Linux, `tcp_cwnd_restart`).
    #[cold]
    fn begin_again(&mut self, restart: Restart, repair: &mut Repair) {
        match &mut repair.reduction {
            Some(reduction) if self.config.idle_window == IdleWindow::Halves => {
                reduction.restart(restart, self.mss);
            }
            _ => self.control(|cc| cc.on_idle(restart)),
        }
    }

    #[inline(always)]
    fn send_first(&mut self, payload: u64, repair: &mut Repair, now: Time) -> Outgoing {
        let start = self.next;
        self.note_start(repair, now);
        let mut outgoing = self.commit_new(payload, now);
        let now = self.config.stamp(now);
        repair.queue.push(start, self.next, now);
        repair.cwnd_limited.on_sent();
        if let Some(reduction) = &mut repair.reduction {
            reduction.on_sent();
        }
        self.on_new_data_sent(repair, now);
        if repair.buffer.is_some() {
            self.note_first(&mut outgoing, repair);
        }
        outgoing
    }

    #[inline(always)]
    fn note_start(&mut self, repair: &Repair, now: Time) {
        if repair.queue.pipe() == 0
            && let Some(last) = self.last_sent
        {
            self.cc.tell(|cc| {
                if let Some(cc) = cc.as_delivery_cc() {
                    cc.on_start(last, now);
                }
            });
        }
    }

    /// A segment once more to repair its loss.
    fn send_again(&mut self, place: usize, repair: &mut Repair, now: Time) -> Option<Outgoing> {
        let outgoing = self.send_copy(place, repair, now)?;
        let now = self.config.stamp(now);
        repair.queue.repeat(place, now);
        if let Some(undo) = &mut repair.undo {
            undo.on_copy(timestamps::clock(now));
        }
        if let Some(reduction) = &mut repair.reduction {
            reduction.on_sent();
        }
        if place == 0 && !matches!(self.timer, Timer::Reorder(_)) {
            self.timer = Timer::Retransmit(self.config.expiry(now, self.rtt.rto()));
        }
        Some(outgoing)
    }

    /// A segment once more, as far as it lies within the peer's window, which may have shrunk: what lies behind it may
    /// be sent again (RFC 9293 §3.8.6 MAY-7), which Linux does not. The first one is, whatever the window.
    fn send_copy(&mut self, place: usize, repair: &mut Repair, now: Time) -> Option<Outgoing> {
        let segment = *repair.queue.segment(place);
        let payload = segment.end.min(self.written) - segment.start;
        let room = self.edge.saturating_sub(segment.start);
        let (mut payload, mut end) = (payload, segment.end);
        if room < payload.max(1) {
            if room > 0 {
                (payload, end) = (room, segment.start + room);
                repair.queue.split(place, end);
            } else if place > 0 {
                return None;
            }
        }
        self.note_start(repair, now);
        let mut outgoing = self.commit(segment.start, payload, end, now);
        if let Some(buffer) = &repair.buffer {
            outgoing.push = payload > 0 && buffer.is_pushed(segment.start + payload);
        }
        Some(outgoing)
    }

    /// Whether the window has room for a segment beside those thought to be in the network; for one it always has.
    #[inline(always)]
    fn allows_segment(&self, repair: &Repair) -> bool {
        let pipe = repair.queue.pipe();
        match &repair.reduction {
            Some(reduction) => pipe < reduction.window(),
            // In whole segments, as `segments` has it, without a division.
            None => pipe == 0 || (pipe + 1) * self.mss <= self.window,
        }
    }

    /// This many bytes in whole segments; at least one.
    fn segments(&self, bytes: u64) -> u64 {
        (bytes / self.mss).max(1)
    }

    /// The flight that a loss makes ssthresh a share of.
    fn share_of(&self, repair: &Repair) -> u64 {
        match self.config.ssthresh_of {
            SsthreshOf::Flight => self.next - self.una,
            SsthreshOf::Window => self.window,
            SsthreshOf::Pipe => repair.queue.pipe() * self.mss,
        }
    }

    /// RFC 6298 §3 and, where what was acknowledged had been sent again, RFC 7323 §4. Returns the round trip that the
    /// congestion control hears: the latest, without the wait of a delayed ACK (`tcp_ack_update_rtt`).
    fn sample_recorded(
        &mut self,
        delivered: &Delivered,
        bytes: u64,
        feedback: &Feedback<'_>,
        repair: &mut Repair,
    ) -> Option<Span> {
        let exact = Repair::round_trips(delivered, feedback.now);
        let echoed = feedback.stamp.filter(|_| bytes > 0);
        let coarse = || {
            let rtt = timestamps::round_trip(echoed?, feedback.now);
            Some((rtt, rtt))
        };
        let (first, last) = exact.or_else(coarse)?;
        repair.min_rtt = repair.min_rtt.min(last);
        self.rtt.sample(first, (self.una, self.next), &self.config);
        Some(last)
    }

    /// Everything below `ack` is acknowledged. Returns how many bytes become so.
    fn move_to(&mut self, ack: u64, repair: &mut Repair) -> u64 {
        let bytes = ack.saturating_sub(self.una);
        if bytes > 0 {
            self.note_use();
            self.una = ack;
            self.next = self.next.max(self.una);
            self.max = self.max.max(self.una);
            self.probed = false;
            (self.attempts, self.timed_out_at, repair.dupacks) = (0, None, 0);
        }
        bytes
    }
}
