//! When a segment is acknowledged.

use base::{Ecn, Packet, Time};

use super::policy::AckDecision;
use super::{EarlyAck, Receiver, Segment};
use crate::assembler::NOTHING;
use crate::config::{Config, EcnMode};
use crate::rtt::RttEstimator;

impl Receiver {
    /// [`Receiver::on_segment`] of the next segment in order, which it [takes](Receiver::takes_next).
    #[inline(always)]
    pub(crate) fn on_next(
        &mut self,
        packet: &Packet,
        config: &Config,
        rtt: &RttEstimator,
        now: Time,
    ) {
        self.store_next(packet);
        self.schedule_ack(true, config, rtt, now);
    }

    /// [`Receiver::on_next`] without a call for the policy, which most receivers have here.
    #[inline(always)]
    pub(crate) fn on_next_judged(
        &mut self,
        packet: &Packet,
        config: &Config,
        rtt: &RttEstimator,
        now: Time,
    ) {
        self.store_next(packet);
        let decision = self.judge_here(true, rtt, now);
        self.decide(true, decision, config, now);
    }

    /// A segment has come with this mark, and answers one or not.
    #[inline(always)]
    pub(super) fn note_mark(&mut self, ecn: Ecn, cwr: bool) {
        let marked = ecn == Ecn::Marked;
        match self.mode {
            EcnMode::Off | EcnMode::Unechoed => {}
            // RFC 3168 §6.1.3: from a mark until CWR; a mark on the segment with CWR counts.
            EcnMode::Classic => {
                if let Some(policy) = &mut self.policy {
                    policy.note_classic_mark(ecn, cwr, self.echo);
                }
                self.echo = marked || (self.echo && !cwr);
            }
            EcnMode::Accurate | EcnMode::Everywhere => {
                if marked != self.echo || cwr {
                    self.on_change_of_marks(marked);
                }
            }
        }
    }

    /// Whether the mark of this segment is ignored because the segment is not in the window (RFC 3168 §6.1.5; Linux 6.12,
    /// `tcp_data_queue`).
    // DEVIATION(RFC 3168 §6.1.5): a receiver that delays all ACKs, or none, reads these marks, too, as ns-2's does.
    #[inline(always)]
    pub(super) fn passes_over(&self, segment: &Segment) -> bool {
        self.policy.is_some() && segment.is_old(self.next) && self.is_quick()
    }

    /// A segment whose mark is passed over answers one or not. It does so no more if an ACK has told of all of it: then a
    /// newer mark may wait for its own answer (Linux 6.12, `tcp_sequence`, `tcp_ecn_accept_cwr`).
    #[cold]
    pub(super) fn note_answer(&mut self, segment: &Segment) {
        let end = segment.offset + segment.payload;
        let acknowledged = self
            .policy
            .as_ref()
            .map_or(0, |policy| policy.acknowledged());
        if segment.cwr && end >= acknowledged && self.mode == EcnMode::Classic {
            self.echo = false;
        }
    }

    /// RFC 8257 §3.2: the pending ACK belongs to segments with the old mark.
    #[inline(always)]
    fn on_change_of_marks(&mut self, marked: bool) {
        let mut waits = false;
        if let Some(policy) = &mut self.policy {
            policy.note_change_of_marks();
            // Reports that wait are no delayed ACK.
            waits = policy.is_waiting();
        }
        if marked != self.echo && self.unacknowledged > 0 && !waits {
            self.acknowledge_before(NOTHING);
            self.unacknowledged = 0;
            self.ack_deadline = Time::NEVER;
        }
        self.echo = marked;
    }

    /// An ACK of what has come so far leaves before the ACK of the segment that has just come. It reports what is held
    /// (RFC 2018 §4), and what of `arriving` extends it.
    #[inline(always)]
    fn acknowledge_before(&mut self, arriving: (u64, u64)) {
        self.early = Some(EarlyAck {
            ack: self.next,
            echo: self.echo,
        });
        if !self.assembler.is_empty() {
            self.report_early(arriving);
        }
    }

    /// Reports that wait leave if this segment, which is not stored yet, extends a range other than the two that have changed
    /// last, or begins a third one: the next ACK might have no room for the oldest (Linux 6.12, `tcp_sack_new_ofo_skb`). The
    /// ACK tells of the extension, and not of a range that begins. Returns whether it leaves.
    #[cold]
    #[inline(never)]
    pub(super) fn reports_before(&mut self, segment: &Segment) -> bool {
        let arriving = (segment.offset, segment.offset + segment.payload);
        let is_beyond = segment.offset > self.next && segment.payload > 0;
        if !is_beyond || !self.assembler.is_another(arriving) {
            return false;
        }
        let came_before = self.dsack && self.assembler.holds(arriving);
        self.duplicate = came_before.then_some(arriving);
        self.acknowledge_before(arriving);
        if let Some(policy) = &mut self.policy {
            policy.on_acknowledged(true, self.next);
        }
        self.unacknowledged = 0;
        self.ack_deadline = Time::NEVER;
        true
    }

    #[inline(always)]
    pub(super) fn schedule_ack(
        &mut self,
        plain: bool,
        config: &Config,
        rtt: &RttEstimator,
        now: Time,
    ) {
        let decision = if self.policy.is_some() {
            self.judge(plain, rtt, now)
        } else {
            AckDecision::Usual
        };
        self.decide(plain, decision, config, now);
    }

    /// The ACK of the segment stored last is due now, later, or with others.
    #[inline(always)]
    pub(super) fn decide(
        &mut self,
        plain: bool,
        decision: AckDecision,
        config: &Config,
        now: Time,
    ) {
        self.unacknowledged += 1;
        let at_once = match decision {
            AckDecision::Usual => !plain,
            AckDecision::Now => true,
            AckDecision::Waits => return,
        };
        if at_once || self.unacknowledged >= self.delayed_ack {
            self.ack_due = true;
        } else if self.ack_deadline == Time::NEVER {
            let delay = config.delayed_ack_timeout.min(config.delayed_ack_bound);
            self.ack_deadline = config.expiry(now, delay);
            if let Some(policy) = &mut self.policy {
                policy.note_timer(self.ack_deadline);
            }
        }
    }
}
