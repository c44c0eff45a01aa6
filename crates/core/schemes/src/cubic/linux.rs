//! CUBIC by looks at the curve, as Linux 6.12 has it: whole segments, whole ticks, and not with every ACK.
//!
//! Between two looks the window grows by one segment for a number of segments acknowledged. Three things of
//! that show on short paths. While the window is unchanged nobody looks for `cubic.update_interval`, so a
//! window stays and then leaps, because the Reno flow that is compared with has grown all the time. Within a
//! tick the curve is not asked again, so a growth found after a loss goes on for many round trips. And the
//! target of the curve is a whole segment, rounded up, so that right after a loss it lies above the window.

use base::cast::{real, whole};
use base::{Span, Time};

use super::Law;
use crate::registry::linux::Linux;

/// CUBIC's row for Linux, and the differences between Linux and the RFC.
pub(super) const LINUX: Linux = Linux {
    control: Some("cubic"),
    settings: &[("cubic.hystart", "true"), ("cubic.update_interval", "31ms")],
    ..Linux::NOTHING
};

/// The state of `tcp_cubic.c`, without the part that [`Law`] has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// How long an unchanged window is not looked at.
    interval: Span,
    /// Length of a tick; zero: time is exact.
    tick: Span,
    /// When the last look was, and at how many segments.
    last: Option<(Time, u64)>,
    /// The stage: when it began, where its curve is flat and after how many seconds.
    stage: Option<(Time, f64, f64)>,
    /// Segments acknowledged for which a window grows by one.
    count: u64,
    /// Segments acknowledged that have not made it grow yet.
    pending: u64,
    /// Bytes acknowledged beyond whole segments.
    rest: u64,
    /// The window of the Reno flow, and segments acknowledged that have not made that one grow.
    reno: u64,
    reno_pending: u64,
}

impl Looks {
    pub(super) const fn new(interval: Span, tick: Span) -> Self {
        Self {
            interval,
            tick,
            last: None,
            stage: None,
            count: u64::MAX,
            pending: 0,
            rest: 0,
            reno: 0,
            reno_pending: 0,
        }
    }

    /// A congestion event, or its undoing: the next ACK begins a stage.
    pub(super) const fn on_event(&mut self) {
        (self.stage, self.pending) = (None, 0);
    }

    /// A timer has expired: it begins anew.
    pub(super) const fn on_timeout(&mut self) {
        *self = Self::new(self.interval, self.tick);
    }

    /// Data leaves after a pause since `last`, which does not count (`cubictcp_cwnd_event`; RFC 9438 §5.8).
    pub(super) fn on_start(&mut self, last: Time, now: Time) {
        let (last, now) = (self.whole(last), self.whole(now));
        if let Some((began, ..)) = &mut self.stage {
            *began = (*began + now.since(last)).min(now);
        }
    }

    /// When the stage began, if there is one.
    pub(super) fn began(&self) -> Option<Time> {
        self.stage.map(|(began, ..)| began)
    }

    /// Whole segments of what has been acknowledged.
    pub(super) const fn segments(&mut self, bytes: u64, mss: u64) -> u64 {
        let all = self.rest + bytes;
        self.rest = all % mss;
        all / mss
    }

    /// `acked` segments are acknowledged at a window of `cwnd`. Returns by how many it grows.
    pub(super) fn grow(&mut self, law: &Law, cwnd: u64, acked: u64, rtt: Span, now: Time) -> u64 {
        self.look(law, cwnd, acked, rtt, now);
        // Segments acknowledged beyond those needed count for one segment.
        let gathered = u64::from(self.pending >= self.count);
        self.pending = self.pending * (1 - gathered) + acked;
        let grown = self.pending / self.count;
        self.pending %= self.count;
        gathered + grown
    }

    fn look(&mut self, law: &Law, cwnd: u64, acked: u64, rtt: Span, now: Time) {
        let now = self.whole(now);
        self.reno_pending += acked;
        let last = self.last;
        let unchanged = |(at, seen): (Time, u64)| seen == cwnd && now.since(at) <= self.interval;
        if last.is_some_and(unchanged) {
            return;
        }
        let same_tick = self.tick > Span::ZERO && last.is_some_and(|(at, _)| at == now);
        if self.stage.is_none() || !same_tick {
            self.last = Some((now, cwnd));
            let (began, flat, k) = *self.stage.get_or_insert_with(|| {
                (self.reno, self.reno_pending) = (cwnd, acked);
                let flat = law.w_max.max(real(cwnd));
                (now, flat, libm::cbrt((flat - real(cwnd)) / law.c))
            });
            let ahead = self.ticks_of(rtt);
            let from_k = (now.since(began) + ahead).as_secs() - k;
            // The distance from where it is flat, cut to whole segments.
            let target = flat + libm::trunc(law.c * from_k * from_k * from_k);
            let more = target - real(cwnd);
            self.count = if more >= 1.0 {
                cwnd / whole(more)
            } else {
                100 * cwnd
            };
            if law.w_max <= 0.0 {
                // Before the first loss: 5 % a round trip.
                self.count = self.count.min(20);
            }
        }
        self.compare(law, cwnd);
    }

    /// RFC 9438 §4.3: not slower than Reno with the same average.
    fn compare(&mut self, law: &Law, cwnd: u64) {
        // Eighths, as in Linux: 15 for beta = 717/1024. For beta = 1 there are no bounds, and Reno does not grow.
        let scale = whole(8.0 * (1.0 + law.beta) / 3.0 / (1.0 - law.beta));
        let step = (cwnd.saturating_mul(scale) / 8).max(1);
        let steps = self.reno_pending.saturating_sub(1) / step;
        self.reno += steps;
        self.reno_pending -= steps * step;
        if self.reno > cwnd {
            self.count = self.count.min(cwnd / (self.reno - cwnd));
        }
        // RFC 9438 §4.4 and §4.5: half a segment for each at most.
        self.count = self.count.max(2);
    }

    /// The beginning of the tick.
    fn whole(&self, now: Time) -> Time {
        match self.tick {
            Span::ZERO => now,
            tick => now.before(Span::from_ps(now.as_ps() % tick.as_ps())),
        }
    }

    /// A time in whole ticks, rounded up.
    fn ticks_of(&self, span: Span) -> Span {
        match self.tick {
            Span::ZERO => span,
            tick => tick * span.as_ps().div_ceil(tick.as_ps()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Law = Law {
        c: 0.4,
        beta: 0.7,
        w_max: 10.0,
        cwnd_prior: 10.0,
    };

    const RTT: Span = Span::from_micros(100);

    fn looks(tick: Span) -> Looks {
        Looks::new(Span::from_millis(31), tick)
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    // alpha_cubic of RFC 9438 §4.3 is 3 (1 - beta) / (1 + beta), zero for a sender that never reduces.
    #[test]
    fn a_sender_that_keeps_its_window_is_compared_with_a_reno_that_does_not_grow() {
        let mut looks = looks(Span::ZERO);
        let law = Law { beta: 1.0, ..LAW };
        for us in 0..1000 {
            looks.grow(&law, 10, 10, RTT, at(100_000 + us));
        }
        assert_eq!(looks.reno, 10);
    }

    // 10 to 7 segments: K = cbrt(3 / 0.4) = 1.957 s, and 0.4 * (1.956 s)^3 = 2.995 is cut to 2.
    #[test]
    fn after_a_loss_the_target_lies_a_segment_above_until_the_next_tick() {
        let mut looks = looks(Span::from_millis(1));
        let grown = |looks: &mut Looks, cwnd, us| looks.grow(&LAW, cwnd, 7, RTT, at(us));
        assert_eq!(grown(&mut looks, 7, 5_100), 1);
        assert_eq!(looks.count, 7);
        // The same tick: seven more make another segment.
        assert_eq!(grown(&mut looks, 8, 5_500), 1);
        assert_eq!(grown(&mut looks, 9, 6_000), 0);
        assert_eq!(looks.count, 900);
    }

    #[test]
    fn an_unchanged_window_is_looked_at_after_the_interval_and_then_leaps() {
        let mut looks = looks(Span::from_millis(1));
        looks.grow(&LAW, 10, 10, RTT, at(0));
        assert_eq!(looks.count, 1000);
        for us in 1..=310 {
            assert_eq!(
                looks.grow(&LAW, 10, 1, RTT, at(us * 100)),
                u64::from(us == 990)
            );
        }
        // 15/8 of 10 segments, cut to 18, for each of Reno: 330 acknowledged make 18. The 320 that had not
        // made the window grow count for one, the 10 for five.
        assert_eq!(looks.grow(&LAW, 10, 10, RTT, at(32_000)), 6);
        assert_eq!((looks.reno, looks.count), (28, 2));
        assert_eq!(looks.grow(&LAW, 10, 2, RTT, at(32_000)), 1);
    }

    // Linux 6.12, cubictcp_cwnd_event; RFC 9438 §5.8.
    #[test]
    fn a_pause_is_no_time_of_a_stage_and_a_timeout_ends_it() {
        let mut looks = looks(Span::from_millis(1));
        looks.grow(&LAW, 10, 1, RTT, at(5_100));
        assert_eq!(looks.began(), Some(at(5_000)));
        looks.on_start(at(6_900), at(9_100));
        assert_eq!(looks.began(), Some(at(8_000)));
        // Never after now.
        looks.on_start(at(0), at(9_900));
        assert_eq!(looks.began(), Some(at(9_000)));
        looks.on_timeout();
        assert_eq!((looks.began(), looks.count), (None, u64::MAX));
    }

    #[test]
    fn before_the_first_loss_a_window_grows_by_a_twentieth() {
        let law = Law { w_max: 0.0, ..LAW };
        let mut looks = looks(Span::ZERO);
        looks.grow(&law, 40, 1, RTT, at(0));
        assert_eq!(looks.count, 20);
    }

    #[test]
    fn parts_of_segments_wait_for_the_rest() {
        let mut looks = looks(Span::ZERO);
        assert_eq!(
            [700, 700, 700].map(|bytes| looks.segments(bytes, 1000)),
            [0, 1, 1]
        );
    }
}
