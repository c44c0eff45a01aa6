//! The retransmission timer (RFC 6298 §5) and the persist timer (RFC 9293 §3.8.6.1).

use base::{Span, Time};

use super::{Outgoing, Phase, Sender};
use crate::cc::{Loss, SenderCc};
use crate::config::RtoEstimator;
use crate::plays::Plays;
use crate::scoreboard::DUP_THRESH;

/// The one timer of a sender: outstanding data is retransmitted, a closed window is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    Off,
    Retransmit(Time),
    Persist(Time),
    /// A sender with a record: segments that may only be reordered count as lost then.
    Reorder(Time),
    /// A sender with a record: the tail is probed then, as an exact clock has it. Every segment and every ACK moves this
    /// timer, so its place on the wheel is found only when somebody asks for it.
    Probe(Time),
}

/// What came of an expired timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expiry {
    /// The timer was not due.
    Early,
    /// Segments may be sent again.
    Retransmit,
    /// The peer's closed window is to be probed with this.
    Probe(Outgoing),
    /// The peer has not answered for too long.
    GaveUp,
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// When [`Sender::on_deadline`] is to be called.
    #[inline(always)]
    pub(crate) fn deadline(&self) -> Time {
        match self.timer {
            Timer::Probe(at) => {
                let timeout = at.since(self.probe_since);
                self.config.expiry(self.probe_since, timeout)
            }
            _ => self.earliest_deadline(),
        }
    }

    /// A time that [`Sender::deadline`] does not come before: a timer on a wheel fires late, and never early.
    #[inline(always)]
    pub(crate) const fn earliest_deadline(&self) -> Time {
        match self.timer {
            Timer::Off => Time::NEVER,
            Timer::Retransmit(at) | Timer::Persist(at) | Timer::Reorder(at) | Timer::Probe(at) => {
                at
            }
        }
    }

    /// Time has reached the deadline.
    pub(crate) fn on_deadline(&mut self, now: Time) -> Expiry {
        if self.deadline() > now {
            return Expiry::Early;
        }
        if matches!(self.timer, Timer::Reorder(_) | Timer::Probe(_)) {
            self.on_recorded_deadline(now);
            return Expiry::Retransmit;
        }
        self.attempts += 1;
        if !matches!(self.timer, Timer::Persist(_)) && self.gives_up(now) {
            self.timer = Timer::Off;
            return Expiry::GaveUp;
        }
        if let Timer::Persist(_) = self.timer {
            return self.probe(now);
        }
        self.on_timeout(now);
        Expiry::Retransmit
    }

    /// A timer that only a sender with a record has.
    fn on_recorded_deadline(&mut self, now: Time) {
        let Some(mut repair) = self.repair.take() else {
            return;
        };
        let now = self.config.stamp(now);
        if let Timer::Reorder(_) = self.timer {
            self.on_reorder_timeout(now, &mut repair);
        } else {
            self.on_probe_timeout(now, &mut repair);
        }
        self.repair = Some(repair);
    }

    /// Whether data was sent again for long enough (RFC 9293 §3.8.3).
    fn gives_up(&mut self, now: Time) -> bool {
        let Some(patience) = self.config.patience else {
            return self.attempts > self.config.retries;
        };
        if self.attempts == 1 {
            self.first_timeout = now;
        }
        now.since(self.first_timeout) >= patience
    }

    /// The timeout of a handshake segment: doubled this often.
    pub(crate) fn handshake_timeout(&self, doubled: u32) -> Span {
        (self.config.syn_rto * (1 << doubled.min(16))).min(self.config.max_rto)
    }

    /// A SYN or SYN-ACK has timed out.
    pub(crate) fn count_handshake_timeout(&mut self) {
        self.counters.syn_timeouts += 1;
    }

    /// RFC 6298 §5.1: running whenever something is outstanding.
    #[inline(always)]
    pub(super) fn start_retransmission_timer(&mut self, now: Time) {
        if !matches!(self.timer, Timer::Retransmit(_)) && self.repairs_outstanding() {
            self.timer = Timer::Retransmit(self.config.expiry(now, self.rtt.rto()));
        }
    }

    /// RFC 6298 §5.2 and §5.3.
    #[inline(always)]
    pub(super) fn restart_retransmission_timer(&mut self, now: Time) {
        self.timer = if self.una == self.max || !self.repairs_outstanding() {
            Timer::Off
        } else {
            Timer::Retransmit(self.config.expiry(now, self.rtt.rto()))
        };
    }

    /// Whether this sender has to repair the outstanding data: a FIN alone always.
    #[inline(always)]
    const fn repairs_outstanding(&self) -> bool {
        self.repairs() || self.una >= self.written
    }

    /// Starts probing when the peer's window has closed on waiting data, and stops when it opens.
    #[inline(always)]
    pub(super) fn review_timer(&mut self, now: Time) {
        self.review(false, now);
    }

    /// [`Sender::review_timer`] after an ACK, which answers probes, too.
    #[inline(always)]
    pub(super) fn review_timer_on_ack(&mut self, now: Time) {
        self.review(true, now);
    }

    #[inline(always)]
    fn review(&mut self, answered: bool, now: Time) {
        let is_closed = || self.edge <= self.next;
        match self.timer {
            Timer::Off => {
                let waiting = self.next < self.written && self.una == self.max;
                if waiting && is_closed() {
                    self.begin_probing(now);
                }
            }
            Timer::Persist(_) if !is_closed() => (self.timer, self.attempts) = (Timer::Off, 0),
            Timer::Persist(_) if answered => self.unanswered = 0,
            _ => {}
        }
    }

    /// RFC 6298 §5.4 to §5.7; RFC 5681 §3.1; RFC 6582 §4 step 4.
    fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        let outstanding = self.max.min(self.written).saturating_sub(self.una);
        let tail = self.unsent() == 0 && outstanding <= DUP_THRESH * self.mss;
        self.counters.tail_timeouts += u64::from(tail);
        if let Some(mut repair) = self.repair.take() {
            self.on_recorded_timeout(self.config.stamp(now), &mut repair);
            self.repair = Some(repair);
            return self.after_timeout(now);
        }
        let repeated = self.timed_out_at == Some(self.una);
        let loss = if repeated {
            Loss::RepeatedTimeout
        } else {
            Loss::Timeout
        };
        let in_flight = self.share_of_flight(self.in_flight());
        self.control(|cc| cc.on_loss(loss, in_flight, now));
        self.note_reduction();
        self.timed_out_at = Some(self.una);
        self.timed = None;
        // RFC 2018 §8: the receiver may have discarded what it reported.
        self.scoreboard.clear();
        if let Some(low) = &mut self.low {
            low.skipped.clear();
            low.bumped = None;
        }
        self.recover = self.max;
        self.next = self.una;
        self.used_until = self.una;
        self.phase = Phase::Open;
        (self.dupacks, self.inflation, self.limited) = (0, 0, 0);
        self.after_timeout(now);
    }

    /// RFC 6298 §5.4 to §5.6.
    fn after_timeout(&mut self, now: Time) {
        self.rtt.back_off(&self.config);
        self.retransmit_first = true;
        self.timer = Timer::Retransmit(self.config.expiry(now, self.rtt.rto()));
    }

    /// One byte of new data beyond the window; the interval doubles (RFC 9293 §3.8.6.1). A peer that answers may keep its
    /// window closed for ever; one that is silent for `retries` probes is gone (Linux 6.12, `tcp_probe_timer`).
    fn probe(&mut self, now: Time) -> Expiry {
        if self.unanswered >= self.config.retries {
            self.timer = Timer::Off;
            return Expiry::GaveUp;
        }
        self.unanswered += 1;
        self.counters.probes += 1;
        self.probed = true;
        self.await_probe(now);
        let (offset, payload) = (self.next, 1);
        Expiry::Probe(Outgoing {
            offset,
            payload,
            fin: false,
            again: true,
            cwr: false,
            push: false,
        })
    }

    /// The next probe of a closed window is due after twice the time of the one before.
    pub(super) fn await_probe(&mut self, now: Time) {
        let interval = self.probe_base() * (1 << self.attempts.min(16));
        let interval = interval.min(self.config.max_rto);
        self.timer = Timer::Persist(self.config.expiry(now, interval));
    }

    #[cold]
    fn begin_probing(&mut self, now: Time) {
        self.unanswered = 0;
        self.timer = Timer::Persist(self.config.expiry(now, self.probe_base()));
    }

    /// When the first probe of a closed window is due: after the timeout, which Linux takes for 200 ms at least
    /// (`tcp_probe0_base`).
    fn probe_base(&self) -> Span {
        match self.config.rto_estimator {
            RtoEstimator::Linux => self.rtt.rto().max(Span::from_millis(200)),
            RtoEstimator::Rfc6298 => self.rtt.rto(),
        }
    }
}
