//! The rate of a sender: cuts at notices, recovery by timer and byte counter.

use base::cast::{real, whole};
use base::{Span, Time};

use super::params::Variant;

/// The constants of a sender. Rates are in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    pub(super) variant: Variant,
    pub(super) g: f64,
    pub(super) alpha_timer: Span,
    pub(super) timer: Span,
    pub(super) byte_counter: u64,
    pub(super) fast_recovery: u32,
    pub(super) additive: f64,
    pub(super) hyper: f64,
    pub(super) line: f64,
    pub(super) least: f64,
    pub(super) cut_interval: Span,
}

/// The state of a sender up to the latest event. Before the first notice no timer runs, and the sender has the rate of its link.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateLaw {
    constants: Constants,
    /// `R_C`.
    current: f64,
    /// `R_T`.
    target: f64,
    alpha: f64,
    /// When alpha moves next.
    alpha_at: Time,
    /// When the timer expires next.
    timer_at: Time,
    /// How often timer and byte counter have expired since the last cut.
    timer_stage: u32,
    byte_stage: u32,
    /// Bytes since the byte counter expired.
    bytes: u64,
    /// HPCC's simulator: when the first notice came, from which the times of possible cuts count.
    first_notice: Option<Time>,
    /// HPCC's simulator: when the rate is cut, if a notice has come since the last look.
    cut_at: Time,
    /// HPCC's simulator: whether a notice has come since alpha moved.
    noticed: bool,
}

impl RateLaw {
    pub(super) fn new(constants: Constants) -> Self {
        Self {
            current: constants.line,
            target: constants.line,
            alpha: 1.0,
            alpha_at: Time::NEVER,
            timer_at: Time::NEVER,
            timer_stage: 0,
            byte_stage: 0,
            bytes: 0,
            first_notice: None,
            cut_at: Time::NEVER,
            noticed: false,
            constants,
        }
    }

    pub(super) fn current(&self) -> f64 {
        self.current
    }

    pub(super) fn target(&self) -> f64 {
        self.target
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// A notice has come.
    pub(super) fn on_notice(&mut self, now: Time) {
        self.advance(now);
        match self.constants.variant {
            Variant::Paper => {
                // §3.1 eq. 1: the cut is by the alpha of before.
                let g = self.constants.g;
                self.target = self.current;
                self.cut(now);
                self.alpha = (1.0 - g) * self.alpha + g;
                self.alpha_at = now + self.constants.alpha_timer;
            }
            Variant::Hpcc => self.note_notice(now),
        }
    }

    /// rdma-hw.cc, `cnp_received_mlx`: the first notice starts the timers, and a later one is found by them.
    fn note_notice(&mut self, now: Time) {
        let every = self.constants.cut_interval;
        let Some(first) = self.first_notice else {
            self.first_notice = Some(now);
            self.alpha = 1.0;
            self.alpha_at = now + self.constants.alpha_timer;
            self.target = self.current;
            self.cut_at = now + every;
            return;
        };
        self.noticed = true;
        let looks = now.since(first).as_ps() / every.as_ps() + 1;
        self.cut_at = first + every * looks;
    }

    /// A segment of this many bytes on the wire leaves.
    pub(super) fn on_sent(&mut self, bytes: u64, now: Time) {
        self.advance(now);
        // Without a cut there is nothing to recover from.
        if self.timer_at == Time::NEVER {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        while self.bytes >= self.constants.byte_counter {
            self.bytes -= self.constants.byte_counter;
            self.raise();
            self.byte_stage = self.byte_stage.saturating_add(1);
        }
    }

    /// When a segment has been sent that began to leave at `at`, if no notice comes meanwhile: the first time at which what
    /// has passed is enough for its bytes at the rate of that time (rdma-hw.cc, `ChangeRate`).
    pub(super) fn departure(&self, at: Time, bytes: u64) -> Time {
        let mut ahead = *self;
        let mut from = at;
        loop {
            let due = (at + interval(bytes, ahead.current)).max(from);
            let next = ahead.next_expiry();
            if due <= next {
                return due;
            }
            ahead.expire(next);
            from = next;
        }
    }

    /// Makes up for the timers that have expired by `now`.
    fn advance(&mut self, now: Time) {
        loop {
            let next = self.next_expiry();
            if next > now {
                return;
            }
            self.expire(next);
        }
    }

    fn next_expiry(&self) -> Time {
        self.alpha_at.min(self.timer_at).min(self.cut_at)
    }

    /// The timer that is due at `at` expires. Of several the timer of alpha is first, and the timer of cuts second.
    fn expire(&mut self, at: Time) {
        let Constants { g, .. } = self.constants;
        if self.alpha_at <= at {
            self.alpha_at = at + self.constants.alpha_timer;
            // §3.1 eq. 2, and rdma-hw.cc, UpdateAlphaMlx.
            let noticed = std::mem::take(&mut self.noticed);
            self.alpha = (1.0 - g) * self.alpha + if noticed { g } else { 0.0 };
        } else if self.cut_at <= at {
            self.cut_at = Time::NEVER;
            // rdma-hw.cc, CheckRateDecreaseMlx: a target that nothing has approached yet stays.
            if self.timer_stage > 0 {
                self.target = self.current;
            }
            self.cut(at);
        } else {
            self.timer_at = at + self.constants.timer;
            self.raise();
            self.timer_stage = self.timer_stage.saturating_add(1);
        }
    }

    /// §3.1 eq. 1: the rate falls, and recovery begins anew.
    fn cut(&mut self, now: Time) {
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.constants.least);
        (self.timer_stage, self.byte_stage, self.bytes) = (0, 0, 0);
        self.timer_at = now + self.constants.timer;
    }

    /// §3.1, Fig. 7: fast recovery, then additive and hyper increase. The stages count what had expired before.
    fn raise(&mut self) {
        let Constants {
            fast_recovery,
            additive,
            hyper,
            line,
            ..
        } = self.constants;
        let (grows, fast) = match self.constants.variant {
            Variant::Paper => (
                self.timer_stage.max(self.byte_stage) >= fast_recovery,
                self.timer_stage.min(self.byte_stage) > fast_recovery,
            ),
            Variant::Hpcc => (
                self.timer_stage >= fast_recovery,
                self.timer_stage > fast_recovery,
            ),
        };
        if grows {
            let step = if fast { hyper } else { additive };
            self.target = (self.target + step).min(line);
        }
        self.current = f64::midpoint(self.current, self.target);
    }
}

/// How long this many bytes take at a rate in bytes per second.
fn interval(bytes: u64, rate: f64) -> Span {
    Span::from_ps(whole((real(bytes) / rate * 1e12).round()))
}
