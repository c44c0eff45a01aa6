//! Acknowledgements, loss detection and fast recovery (RFC 5681, 6582, 6675).

use base::{Extension, Time};

use super::{Feedback, Outgoing, Phase, Sender};
use crate::cc::{Ack, Echo, Loss, SenderCc};
use crate::config::SsthreshOf;
use crate::plays::Plays;
use crate::scoreboard::DUP_THRESH;
use crate::timestamps;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Processes an acknowledgement. Returns whether it acknowledged something never sent.
    #[inline(always)]
    pub(crate) fn on_feedback(&mut self, feedback: &Feedback<'_>) -> bool {
        if feedback.ack > self.highest() + u64::from(self.probed) {
            return true;
        }
        if feedback.ack < self.una {
            self.on_overtaken(feedback);
            return false;
        }
        if self.recorded {
            self.on_feedback_with_record(feedback);
            return false;
        }
        self.note_edge(feedback);
        let news = !feedback.sacked.is_empty() && self.note_sacked(feedback);
        let echo = self.classify_echo(feedback);
        if feedback.ack > self.una {
            self.on_new_ack(feedback, echo);
        } else {
            if echo != Echo::None || feedback.extension != Extension::NONE {
                self.tell_congestion_control(feedback, 0, echo);
            }
            // RFC 5681 §2 also wants the window unchanged; schemes that set the window in every ACK
            // would hide losses, so the window is ignored (as ns-2 and ns-3 do).
            if feedback.bare && self.next > self.una {
                self.on_unmoved(news, feedback, echo);
            }
        }
        self.review_timer_on_ack(feedback.now);
        false
    }

    /// [`Sender::on_feedback`] of a segment without SACK blocks and echo, to a sender without a loop at low priorities.
    /// It brings data or acknowledges something, no more than is outstanding, and has no extension unless it
    /// acknowledges something.
    pub(crate) fn on_expected_feedback(&mut self, feedback: &Feedback<'_>) {
        if !self.recorded {
            return self.on_plain_feedback(feedback);
        }
        let before = (self.edge, self.edge_set_by);
        self.note_edge_as_linux(feedback.offset, feedback.ack, feedback.edge);
        let feedback = self.stamped(feedback);
        if let Some(mut repair) = self.repair.take() {
            if repair.may_take_fast_path(self.una, feedback.ack) {
                self.on_fast_path(&feedback, self.edge != before.0, &mut repair);
            } else {
                self.on_recorded(&feedback, before, &mut repair);
            }
            self.repair = Some(repair);
        }
    }

    /// [`Sender::on_feedback`] of a segment without SACK blocks and echo, to a sender without a record or a loop at low
    /// priorities. It acknowledges no more than is outstanding, and has no extension unless it acknowledges something.
    #[inline(always)]
    pub(crate) fn on_plain_feedback(&mut self, feedback: &Feedback<'_>) {
        self.note_edge(feedback);
        if feedback.ack > self.una {
            self.on_new_ack(feedback, Echo::None);
        } else if feedback.bare && self.next > self.una {
            self.on_unmoved(false, feedback, Echo::None);
        }
        self.review_timer_on_ack(feedback.now);
    }

    /// RFC 9293 §3.10.7.4, fifth check: a segment that was overtaken says nothing about the window.
    #[inline(always)]
    const fn note_edge(&mut self, feedback: &Feedback<'_>) {
        if feedback.offset >= self.edge_set_by {
            (self.edge, self.edge_set_by) = (feedback.edge, feedback.offset);
        }
    }

    /// As Linux 6.12 does (`tcp_may_update_window`): of two segments with the same numbers the larger window counts, or none
    /// at all.
    #[inline(always)]
    pub(super) const fn note_edge_as_linux(&mut self, offset: u64, ack: u64, edge: u64) {
        let moves_on = ack > self.una || offset > self.edge_set_by;
        let same = offset == self.edge_set_by;
        if moves_on || same && (edge > self.edge || edge == ack) {
            (self.edge, self.edge_set_by) = (edge, offset);
        }
    }

    /// A later acknowledgement came first. What this one reports is still true, and a sender with a record reads it.
    #[cold]
    fn on_overtaken(&mut self, feedback: &Feedback<'_>) {
        if !feedback.sacked.is_empty()
            && let Some(mut repair) = self.repair.take()
        {
            self.read_reports(&self.stamped(feedback), &mut repair);
            self.repair = Some(repair);
        }
    }

    #[inline(never)]
    fn on_feedback_with_record(&mut self, feedback: &Feedback<'_>) {
        if self.tells_window_alone(feedback) {
            return self.on_window_alone((feedback.offset, feedback.edge), feedback.echo);
        }
        let before = (self.edge, self.edge_set_by);
        self.note_edge_as_linux(feedback.offset, feedback.ack, feedback.edge);
        if let Some(mut repair) = self.repair.take() {
            self.on_recorded(&self.stamped(feedback), before, &mut repair);
            self.repair = Some(repair);
        }
    }

    /// The feedback with its times in the unit that a sender with a record counts in.
    #[inline(always)]
    fn stamped<'a>(&self, feedback: &Feedback<'a>) -> Feedback<'a> {
        Feedback {
            now: self.config.stamp(feedback.now),
            ..*feedback
        }
    }

    /// Processes an acknowledgement at low priority: what it tells has arrived is not sent again, and it
    /// moves nothing else (RC3 §4.2.2). O(SACKed ranges).
    pub(crate) fn on_low_feedback(&mut self, feedback: &Feedback<'_>) {
        let outstanding = self.una..=self.highest();
        if !self.sack || !outstanding.contains(&feedback.ack) {
            return;
        }
        self.note_sacked(feedback);
        if feedback.ack > self.una {
            self.scoreboard.add(self.una, feedback.ack);
        }
    }

    /// One past the highest offset sent, at any priority.
    #[inline(always)]
    pub(crate) fn highest(&self) -> u64 {
        self.low
            .as_ref()
            .map_or(self.max, |low| self.max.max(low.highest()))
    }

    /// A bare acknowledgement of what was acknowledged before, while something is outstanding.
    #[inline(always)]
    fn on_unmoved(&mut self, news: bool, feedback: &Feedback<'_>, echo: Echo) {
        let bumped = self.low.as_ref().and_then(|low| low.bumped);
        if bumped == Some(self.una) {
            // What was sent before the acknowledgement jumped ahead is still being acknowledged: no
            // segment is missing (RC3's published simulation).
            if echo == Echo::None {
                self.tell_congestion_control(feedback, self.mss, echo);
            }
        } else if news || !self.sack {
            self.on_duplicate(feedback.now);
        }
    }

    /// The receiver orders the segment at `una` again, or everything from there on ([`Config::go_back_n`]).
    ///
    /// [`Config::go_back_n`]: crate::Config::go_back_n
    pub(crate) fn on_order(&mut self, now: Time) {
        if !self.config.go_back_n {
            self.retransmit_first = self.una < self.max;
        } else if self.una < self.max {
            self.go_back(now);
        }
    }

    /// Everything from `una` on is sent again, as after a timeout; congestion control answers as to a fast retransmit.
    #[inline(never)]
    fn go_back(&mut self, now: Time) {
        self.counters.fast_recoveries += 1;
        let in_flight = self.share_of_flight(self.in_flight());
        self.next = self.una;
        self.used_until = self.una;
        self.timed = None;
        self.note_reduction();
        self.control(|cc| cc.on_loss(Loss::FastRetransmit, in_flight, now));
    }

    fn note_sacked(&mut self, feedback: &Feedback<'_>) -> bool {
        let mut news = false;
        let highest = self.highest();
        for (start, end) in feedback.sacked {
            // RFC 2018 §5; a block outside what is outstanding is damaged or old.
            let outstanding =
                *start >= feedback.ack.max(self.una) && start < end && *end <= highest;
            news |= self.sack && outstanding && self.scoreboard.add(*start, *end);
        }
        news
    }

    /// RFC 3168 §6.1.2: one reduction per window of data, none while recovering from a loss.
    #[inline(always)]
    fn classify_echo(&mut self, feedback: &Feedback<'_>) -> Echo {
        if !feedback.echo || !self.ecn {
            return Echo::None;
        }
        if feedback.ack <= self.cwr_end || self.phase != Phase::Open {
            return Echo::Repeated;
        }
        self.note_reduction();
        Echo::Reduce
    }

    /// The window is being reduced: echoes of data sent before say nothing new.
    pub(super) fn note_reduction(&mut self) {
        self.cwr_end = self.max;
        self.cwr_due = self.ecn;
    }

    #[inline(always)]
    fn on_new_ack(&mut self, feedback: &Feedback<'_>, echo: Echo) {
        let mut bytes = feedback.ack - self.una;
        self.note_use();
        if self.low.is_some() {
            bytes = self.pass_what_arrived(feedback.ack, bytes);
        }
        self.una = feedback.ack;
        self.next = self.next.max(self.una);
        self.max = self.max.max(self.una);
        self.probed = false;
        if !self.scoreboard.is_empty() {
            self.scoreboard.advance(self.una);
        }
        (self.attempts, self.timed_out_at) = (0, None);
        self.tell_congestion_control(feedback, bytes, echo);
        match self.phase {
            Phase::Open => {
                (self.dupacks, self.limited) = (0, 0);
                self.restart_retransmission_timer(feedback.now);
            }
            Phase::Recovery { .. } if feedback.ack >= self.recover => {
                self.leave_recovery();
                self.restart_retransmission_timer(feedback.now);
            }
            Phase::Recovery { partial } => {
                self.phase = Phase::Recovery { partial: true };
                if !self.sack {
                    self.on_partial_ack(bytes);
                }
                // RFC 6582 §3.2 step 5 for NewReno; RFC 6298 §5.3 with SACK.
                if self.sack || !partial {
                    self.restart_retransmission_timer(feedback.now);
                }
            }
        }
    }

    /// The acknowledgement moves to `ack`, perhaps beyond all that was sent at priority 0. Returns for how
    /// many of its `bytes` windows grow: of what came at low priority, for no more than an ordinary
    /// acknowledgement.
    fn pass_what_arrived(&mut self, ack: u64, bytes: u64) -> u64 {
        let Some(low) = &mut self.low else {
            return bytes;
        };
        let skipped = low.skipped.sacked();
        low.skipped.advance(ack);
        let jumps = ack > self.max;
        low.bumped = jumps.then_some(ack);
        if jumps || low.skipped.sacked() < skipped {
            let most = u64::from(self.config.byte_counting_limit) * self.mss;
            return bytes.min(most.max(self.mss));
        }
        bytes
    }

    /// RFC 6582 §3.2 step 5: send the next hole, deflate by what was acknowledged, inflate by the
    /// segment that has left.
    fn on_partial_ack(&mut self, bytes: u64) {
        self.retransmit_first = true;
        self.inflation -= bytes.cast_signed();
        if bytes >= self.mss {
            self.inflation += self.mss.cast_signed();
        }
    }

    fn leave_recovery(&mut self) {
        self.phase = Phase::Open;
        (self.dupacks, self.inflation, self.limited) = (0, 0, 0);
        // RFC 6582 §3.2 step 3 option 1: no burst of what the inflated window had held back.
        let limit = (!self.sack).then(|| self.in_flight().max(self.mss) + self.mss);
        self.control(|cc| cc.on_recovered(limit));
    }

    /// Notes how much is in flight when something new is acknowledged: between two such ACKs it only grows.
    #[inline(always)]
    pub(super) fn note_use(&mut self) {
        let flight = self.in_flight();
        if self.una >= self.used_until {
            (self.used, self.used_until) = (flight, self.next);
        } else {
            self.used = self.used.max(flight);
        }
    }

    #[inline(always)]
    fn tell_congestion_control(&mut self, feedback: &Feedback<'_>, bytes: u64, echo: Echo) {
        let rtt = match self.timed {
            Some((end, sent)) if bytes > 0 && feedback.ack >= end => {
                self.timed = None;
                let rtt = feedback.now.since(sent);
                self.rtt.sample(rtt, (self.una, self.next), &self.config);
                Some(rtt)
            }
            None if bytes > 0 && feedback.stamp.is_some() => {
                self.sample_by_timestamp(feedback.stamp, feedback.now);
                None
            }
            _ => None,
        };
        let ack = Ack {
            bytes,
            acknowledged: self.una,
            next: self.next,
            echo,
            recovering: self.phase != Phase::Open,
            limited_by_window: !self.config.window_validation
                || self.used.saturating_mul(2) >= self.window,
            rtt,
            extension: feedback.extension,
            now: feedback.now,
        };
        self.control(|cc| cc.on_ack(&ack));
    }

    /// RFC 7323 §4: an echo tells which copy of a segment was acknowledged, so that the back-off of the
    /// timer ends with the first new ACK. It is coarse, so it counts where no segment is timed.
    #[inline(never)]
    fn sample_by_timestamp(&mut self, stamp: Option<u32>, now: Time) {
        if let Some(echo) = stamp {
            let rtt = timestamps::round_trip(echo, now);
            self.rtt.sample(rtt, (self.una, self.next), &self.config);
        }
    }

    /// The flight that a loss makes ssthresh a share of, with `outstanding` bytes sent and not acknowledged.
    pub(super) fn share_of_flight(&self, outstanding: u64) -> u64 {
        match self.config.ssthresh_of {
            SsthreshOf::Flight => outstanding,
            SsthreshOf::Window => self.window,
            SsthreshOf::Pipe if self.sack => {
                let lost = self.scoreboard.lost_below(self.max, self.mss);
                // A timeout has taken `next` back; what lies beyond is not in the network.
                self.pipe(lost.unwrap_or(self.una).max(self.una).min(self.next))
            }
            // Without SACK each duplicate stands for a segment that has left, as in ns-3.
            SsthreshOf::Pipe => outstanding.saturating_sub(u64::from(self.dupacks) * self.mss),
        }
    }

    fn on_duplicate(&mut self, now: Time) {
        // The receiver orders missing segments by itself.
        if self.config.go_back_n {
            return;
        }
        if self.phase != Phase::Open {
            // RFC 6582 §3.2 step 4: a segment has left the network. With SACK, pipe says so.
            if !self.sack {
                self.inflation += self.mss.cast_signed();
            }
            return;
        }
        self.dupacks += 1;
        // RFC 6675 §5 step 4 (and 4.1: only beyond the last recovery point); RFC 6582 §3.2 step 2.
        let lost = || {
            self.scoreboard
                .lost_below(self.max, self.mss)
                .is_some_and(|below| below > self.una)
        };
        let detected = if self.sack {
            (u64::from(self.dupacks) >= DUP_THRESH || lost()) && self.una >= self.recover
        } else {
            u64::from(self.dupacks) == DUP_THRESH && self.una > self.recover
        };
        if detected && self.repairs() && self.config.fast_retransmit {
            self.enter_recovery(now);
        }
    }

    fn enter_recovery(&mut self, now: Time) {
        self.counters.fast_recoveries += 1;
        self.recover = self.max;
        self.phase = Phase::Recovery { partial: false };
        self.retransmit_first = true;
        (self.high_rxt, self.rescued) = (self.una, false);
        // RFC 6582 §3.2 step 3: the three segments that caused the duplicates have left.
        self.inflation = if self.sack {
            0
        } else {
            (DUP_THRESH * self.mss).cast_signed()
        };
        let in_flight = self.share_of_flight(self.in_flight().saturating_sub(self.limited));
        self.note_reduction();
        self.control(|cc| cc.on_loss(Loss::FastRetransmit, in_flight, now));
    }

    /// `NextSeg` of RFC 6675 §4, while the window exceeds the pipe by a segment (§5 step C).
    pub(super) fn next_in_sack_recovery(&mut self, now: Time) -> Option<Outgoing> {
        let lost = self
            .scoreboard
            .lost_below(self.max, self.mss)
            .unwrap_or(self.una)
            .max(self.una);
        if self.window < self.pipe(lost) + self.mss {
            return None;
        }
        let hole = self
            .scoreboard
            .hole_from(self.high_rxt.max(self.una))
            .filter(|(start, _)| *start < self.max);
        // Rule 1: the first lost hole. Rule 2: new data. Rule 3: any hole.
        if let Some((start, end)) = hole
            && start < lost
        {
            return Some(self.commit(start, self.mss, end, now));
        }
        let bound = self.skip_arrived();
        let wanted = (bound - self.next.min(bound)).min(self.mss);
        if wanted > 0 && self.next + wanted <= self.edge {
            return Some(self.commit(self.next, wanted, u64::MAX, now));
        }
        if self.closed && self.next == self.written {
            return Some(self.commit(self.next, 0, u64::MAX, now));
        }
        if let Some((start, end)) = hole {
            return Some(self.commit(start, self.mss, end, now));
        }
        self.rescue(now)
    }

    /// Rule 4 of `NextSeg`: once per recovery, the last segment, whose loss nothing above reveals.
    // DEVIATION(RFC 6675 §4): not before every reported hole is filled; the rule as written sends the
    // last segment again while it is still on its way.
    fn rescue(&mut self, now: Time) -> Option<Outgoing> {
        if self.rescued || !self.scoreboard.is_empty() || self.una == self.max {
            return None;
        }
        self.rescued = true;
        let last = self.una.max(self.max.saturating_sub(self.mss));
        // HighRxt is not updated by a rescue.
        let high_rxt = self.high_rxt;
        let segment = self.commit(last, self.mss, self.max, now);
        self.high_rxt = high_rxt;
        Some(segment)
    }

    /// Bytes thought to be in the network: `SetPipe` of RFC 6675 §4. O(SACKed ranges).
    fn pipe(&self, lost: u64) -> u64 {
        let unsacked = |below: u64| (below - self.una) - self.scoreboard.sacked_below(below);
        let all = unsacked(self.next);
        all - unsacked(lost) + unsacked(self.high_rxt.max(self.una))
    }
}
