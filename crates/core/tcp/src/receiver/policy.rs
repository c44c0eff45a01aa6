//! What decides about ACKs and windows besides RFC 5681, where settings ask for it.
//!
//! It has a place of its own beside the connection: a receiver without it asks one question for each segment.

use base::{Ecn, Options, SackBlocks, Span, Time};

use super::Receiver;
use super::compression::Compression;
use super::quick_acks::{AckConditions, QuickAcks};
use super::tuning::Tuning;
use crate::config::{Agreement, Config, ReceiveWindow};
use crate::rtt::RttEstimator;
use crate::timestamps;

/// The parts that settings ask for.
#[derive(Debug, Default)]
pub(super) struct Policy {
    /// Which ACKs are not delayed, if the first are not.
    quick: Option<QuickAcks>,
    /// Which reports of SACK wait for more, if any do.
    compression: Option<Compression>,
    /// How the window grows, if it does.
    tuning: Option<Tuning>,
    /// Whether the report of the segment stored last waits, as the first one.
    report_begins: bool,
    /// Segment size that both sides have agreed on, bytes.
    mss: u64,
    /// What the last ACK acknowledged.
    acknowledged: u64,
    /// When the timer of delayed ACKs expires that was set last. An ACK that leaves does not stop it.
    timer: Time,
    /// SACK blocks of the ACK that leaves before others, until it does.
    early_blocks: Option<SackBlocks>,
}

impl Policy {
    /// The parts of these settings, if they ask for any.
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        let quick = config.quick_acks > 0;
        let grows = config.receive_window == ReceiveWindow::Grows;
        (quick || grows || config.sack_delay > Span::ZERO).then(|| {
            Box::new(Self {
                quick: quick.then(|| QuickAcks::new(config)),
                tuning: grows.then(|| Tuning::new(config)),
                ..Self::default()
            })
        })
    }

    /// What both SYNs have agreed on.
    pub(super) fn agree(&mut self, agreed: Agreement, config: &Config) {
        self.mss = agreed.mss.into();
        let waits = agreed.sack && config.sack_delay > Span::ZERO;
        self.compression =
            waits.then(|| Compression::new(config.sack_delay, config.sack_delay_slack));
        if let Some(tuning) = &mut self.tuning {
            tuning.agree(agreed);
        }
        if let Some(quick) = &mut self.quick {
            quick.agree(agreed, config);
        }
    }

    /// The handshake is over.
    pub(super) fn begin(&mut self, now: Time) {
        if let Some(tuning) = &mut self.tuning {
            tuning.begin(now);
        }
        if let Some(quick) = &mut self.quick {
            quick.begin(now);
        }
    }

    /// The window in force, if it grows.
    pub(super) fn window(&self) -> Option<u64> {
        self.tuning.as_ref().map(Tuning::window)
    }

    /// To what the window may grow at all, if it grows.
    pub(super) fn most(&self) -> Option<u64> {
        self.tuning.as_ref().map(Tuning::most)
    }

    /// A segment has come with this mark, and answers one or not, where marks are echoed until they are answered.
    pub(super) fn note_classic_mark(&mut self, ecn: Ecn, cwr: bool, echo: bool) {
        let Some(quick) = &mut self.quick else {
            return;
        };
        // Linux: the sender's window may be small now.
        if cwr {
            quick.acknowledge_next();
        }
        // What is not capable among others has been sent again.
        let again = quick.note_capable(ecn != Ecn::NotCapable);
        if again || ecn == Ecn::Marked && (cwr || !echo) {
            quick.acknowledge_soon(2);
        }
    }

    /// Marks begin or end, or are answered.
    pub(super) const fn note_change_of_marks(&mut self) {
        if let Some(quick) = &mut self.quick {
            quick.acknowledge_next();
        }
    }

    /// What the last ACK acknowledged.
    pub(super) const fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether a report waits for more.
    pub(super) fn is_waiting(&self) -> bool {
        self.compression
            .as_ref()
            .is_some_and(Compression::is_waiting)
    }

    /// An ACK waits until then.
    #[inline(always)]
    pub(super) const fn note_timer(&mut self, expiry: Time) {
        self.timer = expiry;
    }

    /// An ACK up to `next` leaves, of data or of nothing new.
    pub(super) const fn on_acknowledged(&mut self, data: bool, next: u64) {
        self.acknowledged = next;
        if let Some(quick) = &mut self.quick {
            quick.on_acknowledged(data);
        }
        if let Some(compression) = &mut self.compression {
            compression.on_acknowledged(next);
        }
    }

    /// An ACK has waited as long as it may.
    pub(super) fn on_delayed(&mut self) {
        let waiting = self.is_waiting();
        if let Some(quick) = &mut self.quick
            && !waiting
        {
            quick.on_delayed();
        }
    }

    /// Data leaves.
    pub(super) fn on_data_sent(&mut self, now: Time) {
        if let Some(quick) = &mut self.quick {
            quick.on_data_sent(now);
        }
    }
}

/// What becomes of the ACK of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckDecision {
    /// As RFC 5681 has it.
    Usual,
    /// It leaves now.
    Now,
    /// It waits for more segments, as SACK reports do.
    Waits,
}

impl Receiver {
    /// Whether the report of the segment stored last waits, as the first one.
    #[inline(always)]
    pub(crate) fn begins_to_wait(&self) -> bool {
        let policy = self.policy.as_ref();
        policy.is_some_and(|policy| policy.report_begins)
    }

    /// What waits goes with what waits of other connections, if it can.
    pub(crate) fn wait_with(&mut self, times: &mut Vec<Time>, now: Time) {
        let policy = self.policy.as_ref();
        if let Some(compression) = policy.and_then(|policy| policy.compression.as_ref()) {
            self.ack_deadline = self.ack_deadline.min(compression.join(times, now));
        }
    }

    /// Whether reports wait for more.
    #[inline(always)]
    pub(super) fn has_waiting_reports(&self) -> bool {
        let policy = self.policy.as_ref();
        policy.is_some_and(|policy| policy.is_waiting())
    }

    /// The ACK that leaves before others reports what is held now, and what of `arriving` extends it.
    // DEVIATION(RFC 2018 §4): without a policy it reports nothing. Something is held then only if a role holds an ACK.
    #[cold]
    #[inline(never)]
    pub(super) fn report_early(&mut self, arriving: (u64, u64)) {
        if self.policy.is_some() {
            let blocks = self.blocks(arriving);
            if let Some(policy) = &mut self.policy {
                policy.early_blocks = Some(blocks);
            }
        }
    }

    /// SACK blocks of the ACK that leaves before others, on which both sides have agreed.
    pub(crate) fn early_blocks(&mut self) -> Options {
        let policy = self.policy.as_mut();
        let blocks = policy.and_then(|policy| policy.early_blocks.take());
        blocks.map_or(Options::None, Options::Sack)
    }

    /// Reports have left because of the segment stored last, which has no ACK of its own: in Linux an ACK that leaves while
    /// a segment is stored leaves nothing to be acknowledged behind (`tcp_event_ack_sent`, `tcp_ack_snd_check`).
    #[cold]
    #[inline(never)]
    pub(super) fn note_unreported(&mut self, rtt: &RttEstimator, now: Time) {
        let conditions = self.conditions(rtt, now);
        if let Some(policy) = &mut self.policy {
            policy.report_begins = false;
            if let Some(quick) = &mut policy.quick {
                quick.on_data(&self.arrival, &conditions);
            }
        }
    }

    /// Conditions for the ACK of the segment stored last, with which the window may grow.
    #[inline(always)]
    fn conditions(&mut self, rtt: &RttEstimator, now: Time) -> AckConditions {
        AckConditions {
            grows: self.grow(now),
            read: self.reading && self.arrival.held == 0,
            rto: rtt.rto(),
            now,
        }
    }

    /// A segment with data echoes a timestamp: a receiver whose window grows sees the sender's round trip in it.
    #[inline(always)]
    pub(crate) fn on_echo(&mut self, echo: u32, payload: u16, now: Time) {
        let policy = self.policy.as_mut();
        if let Some(tuning) = policy.and_then(|policy| policy.tuning.as_mut()) {
            tuning.on_echo(echo, timestamps::age(echo, now), payload.into());
        }
    }

    /// Whether some ACKs are not delayed although others are.
    #[inline(always)]
    pub(super) fn is_quick(&self) -> bool {
        let policy = self.policy.as_ref();
        policy.is_some_and(|policy| policy.quick.is_some())
    }

    /// What the policy says about the segment stored last, which was the next one with nothing beyond it (`plain`) or
    /// not.
    #[inline(never)]
    pub(super) fn judge(&mut self, plain: bool, rtt: &RttEstimator, now: Time) -> AckDecision {
        self.judge_here(plain, rtt, now)
    }

    /// [`Receiver::judge`] without a call.
    #[inline(always)]
    pub(super) fn judge_here(&mut self, plain: bool, rtt: &RttEstimator, now: Time) -> AckDecision {
        let place = self.conditions(rtt, now);
        let Some(policy) = &mut self.policy else {
            return AckDecision::Usual;
        };
        policy.report_begins = false;
        if policy.compression.is_some() {
            // As Linux (tcp_data_queue): only the ACK of the segment itself tells.
            self.duplicate = None;
        }
        let quick = policy.quick.as_mut();
        if quick.is_some_and(|quick| quick.on_data(&self.arrival, &place)) {
            return AckDecision::Now;
        }
        if !plain && self.report_waits(rtt.srtt(), now) {
            return AckDecision::Waits;
        }
        AckDecision::Usual
    }

    /// The window may grow with the segment stored last, and with what the application reads of it. Returns whether
    /// it does.
    #[inline(always)]
    fn grow(&mut self, now: Time) -> bool {
        let policy = self.policy.as_mut();
        let Some(tuning) = policy.and_then(|policy| policy.tuning.as_mut()) else {
            return false;
        };
        let grows = tuning.on_data(&self.arrival, now);
        self.buffer = tuning.window();
        if self.reading && self.arrival.in_order > 0 {
            let end = self.arrival.expected + self.arrival.payload;
            tuning.on_read(end.min(self.next), self.next, now);
        }
        grows
    }

    /// Whether the report of the segment stored last waits for more, with a hole before it or left by it.
    fn report_waits(&mut self, rtt: Span, now: Time) -> bool {
        let Some(policy) = self.policy.as_mut().filter(|_| !self.ack_due) else {
            return false;
        };
        let Some(compression) = &mut policy.compression else {
            return false;
        };
        // What has come in order before is acknowledged at once; what is there beyond a hole is reported as news is.
        if self.arrival.held == 0 || self.arrival.is_old() {
            return false;
        }
        let rtt = match policy.tuning.as_ref().map(Tuning::rtt) {
            // Linux: the smaller of what both halves of the connection have seen.
            Some(seen) if rtt == Span::ZERO => seen.unwrap_or(rtt),
            Some(seen) => seen.map_or(Span::ZERO, |seen| seen.min(rtt)),
            None => rtt,
        };
        let until = compression.wait(self.next, policy.mss, rtt, now);
        // The first that waits decides how long, and the timer of a delayed ACK, even of one that has left since then (Linux
        // 6.12, `tcp_delack_timer_handler`).
        let until = until.map(|until| {
            if policy.timer > now {
                until.min(policy.timer)
            } else {
                until
            }
        });
        self.ack_deadline = self.ack_deadline.min(until.unwrap_or(Time::NEVER));
        policy.report_begins = until.is_some() && compression.begins();
        until.is_some()
    }
}
