//! The window of one connection under ICTCP.

use base::cast::{real, whole};
use base::{Span, Time};

use super::rtt::Rtt;
use super::{AvoidanceGrowth, Params, SlowStartGrowth};

/// The window of a connection, and the measurements that it is decided by.
#[derive(Debug)]
pub(super) struct Connection {
    mss: u64,
    /// Window to advertise, bytes.
    pub(super) rwnd: u64,
    phase: Phase,
    /// Measured throughput `b_m`, bit/s of payload.
    measured: f64,
    /// Share by which it misses the expected throughput: `d = (b_e - b_m) / b_e`.
    pub(super) difference: f64,
    /// Round trips in a row with a difference above gamma2.
    low: u32,
    /// Whether the window grew, or was cut for fairness, since the last round trip ended: what arrives
    /// until this one ends was still sent under the old window. Cleared when it ends.
    settling: bool,
    /// The round trip in which throughput is sampled: when it began, and payload bytes since.
    interval: (Time, u64),
    /// Bytes on the wire in this slot.
    pub(super) slot_bytes: u64,
    pub(super) rtt: Rtt,
}

/// How a window grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// New, or idle for long.
    SlowStart,
    Avoidance,
}

/// Bandwidth that increases may still take, bit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    pub(super) available: f64,
    /// Whether this is the second part of a slot: in the first, the link is measured.
    pub(super) open: bool,
    /// Bytes on the wire for each byte of payload.
    pub(super) overhead: f64,
}

impl Quota {
    /// None, while the link is measured.
    pub(super) const fn closed(overhead: f64) -> Self {
        Self {
            available: 0.0,
            open: false,
            overhead,
        }
    }

    /// Whole bytes of window that the quota covers for a connection with this round trip.
    fn covers(&self, rtt: Span) -> u64 {
        if self.open {
            whole(self.available * rtt.as_secs() / (8.0 * self.overhead))
        } else {
            0
        }
    }

    /// A window that is larger by `bytes` takes `bytes * 8 / RTT`, with the headers that the
    /// measured load has too.
    fn take(&mut self, bytes: u64, rtt: Span) {
        self.available -= real(bytes) * 8.0 * self.overhead / rtt.as_secs();
    }
}

/// The times of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The round trip, by which a window is a throughput.
    pub(super) rtt: Span,
    /// For how long throughput is sampled: a round trip, or longer.
    pub(super) interval: Span,
    /// Half the time of a packet: an interval ends with the arrival that is nearest to its end.
    pub(super) slack: Span,
}

impl Connection {
    pub(super) fn new(mss: u64, params: &Params, now: Time) -> Self {
        Self {
            mss,
            rwnd: u64::from(params.initial_window.0) * mss,
            phase: Phase::SlowStart,
            measured: 0.0,
            difference: 0.0,
            low: 0,
            settling: false,
            interval: (now, 0),
            slot_bytes: 0,
            rtt: Rtt::new(),
        }
    }

    /// `payload` bytes have arrived.
    pub(super) fn on_data(
        &mut self,
        payload: u64,
        pace: Pace,
        quota: &mut Quota,
        params: &Params,
        now: Time,
    ) {
        let (start, bytes) = self.interval;
        let Pace { rtt, interval, .. } = pace;
        let elapsed = now.since(start) + pace.slack;
        if bytes > 0 && elapsed >= interval {
            // Nothing came in all intervals of this time but the first.
            let silent = elapsed.as_ps() / interval.as_ps() - 1;
            let first = now.since(start).as_secs() - interval.as_secs() * real(silent);
            let sampled = real(bytes) * 8.0 / first;
            if silent == 0 {
                self.adjust(sampled, rtt, quota, params);
            } else {
                // The quota of now says nothing about then.
                let closed = &mut Quota::closed(quota.overhead);
                self.adjust(sampled, rtt, closed, params);
                self.sit_out(silent, rtt, closed, params);
            }
            self.interval = (now, 0);
        } else if bytes == 0 {
            self.interval.0 = now;
        }
        self.interval.1 += payload;
    }

    /// A round trip with `sampled` bit/s of payload (`b_s`) is over.
    // UNSPECIFIED(ICTCP): the control interval has two round trips, one for a change to show and one
    // to measure it, yet a decrease needs three single ones. So throughput is compared in every round
    // trip but the one after an increase or a cut for fairness.
    pub(super) fn adjust(&mut self, sampled: f64, rtt: Span, quota: &mut Quota, params: &Params) {
        let beta = params.beta.0;
        self.measured = sampled.max(beta * self.measured + (1.0 - beta) * sampled);
        let expected = self.measured.max(real(self.rwnd) * 8.0 / rtt.as_secs());
        self.difference = (expected - self.measured) / expected;
        if std::mem::take(&mut self.settling) {
            return;
        }
        let segment_share = real(self.mss) / real(self.rwnd);
        if self.difference <= params.gamma1.0 || self.difference <= segment_share {
            self.low = 0;
            self.grow(rtt, quota, params);
        } else if self.difference > params.gamma2.0 {
            self.phase = Phase::Avoidance;
            self.low += 1;
            if self.low >= params.patience.0 {
                self.low = 0;
                self.shrink(params);
            }
        } else {
            self.low = 0;
            self.phase = Phase::Avoidance;
        }
    }

    /// Fairness: the window is above the mean.
    pub(super) fn yield_segment(&mut self, params: &Params) {
        self.shrink(params);
        self.settling = true;
    }

    /// A segment less, but not less than the least window.
    fn shrink(&mut self, params: &Params) {
        let least = u64::from(params.min_window.0) * self.mss;
        self.rwnd = self.rwnd.min(self.rwnd.saturating_sub(self.mss).max(least));
    }

    /// Throughput is what the window promises: it grows within the quota.
    fn grow(&mut self, rtt: Span, quota: &mut Quota, params: &Params) {
        if !quota.open {
            return;
        }
        let covered = quota.covers(rtt);
        if params.slow_start == SlowStartGrowth::Add {
            self.phase = if covered >= self.mss {
                Phase::SlowStart
            } else {
                Phase::Avoidance
            };
        }
        let wanted = match (self.phase, params.slow_start, params.growth) {
            (Phase::SlowStart, SlowStartGrowth::Double, _) => self.rwnd,
            (Phase::SlowStart, SlowStartGrowth::Add, _)
            | (Phase::Avoidance, _, AvoidanceGrowth::Mss) => self.mss,
            (Phase::Avoidance, _, AvoidanceGrowth::Reno) => {
                (self.mss * self.mss / self.rwnd).max(1)
            }
        };
        let granted = if covered >= wanted {
            wanted
        } else {
            // Slow start ends when the quota does. Whole segments of a doubling are granted still.
            self.phase = Phase::Avoidance;
            covered / self.mss * self.mss
        };
        if granted > 0 {
            self.rwnd += granted;
            self.settling = true;
            quota.take(granted, rtt);
        }
    }

    /// Nothing came in `silent` round trips, one after the other.
    fn sit_out(&mut self, silent: u64, rtt: Span, closed: &mut Quota, params: &Params) {
        let least = u64::from(params.min_window.0) * self.mss;
        for _ in 0..silent.min(MOST_SILENT) {
            self.adjust(0.0, rtt, closed, params);
            if self.rwnd <= least && self.difference > params.gamma2.0 {
                // UNSPECIFIED(ICTCP): when a connection has been idle for long.
                (self.phase, self.measured, self.low) = (Phase::SlowStart, 0.0, 0);
                return;
            }
        }
    }
}

/// This many silent round trips bring the largest window down at the usual settings; the bound is for
/// others, with which it never comes down.
const MOST_SILENT: u64 = 100_000;

#[cfg(test)]
mod tests {
    use base::setting::Settings;

    use super::*;

    const MSS: u64 = 1000;
    const RTT: Span = Span::from_micros(100);

    /// A connection with a window of this many segments, in avoidance.
    fn with_window(segments: u64) -> Connection {
        let mut connection = Connection::new(MSS, &Params::defaults(), Time::ZERO);
        connection.rwnd = segments * MSS;
        connection.phase = Phase::Avoidance;
        connection
    }

    /// The rate of this many segments per round trip: 80 Mbit/s each.
    fn segments(count: f64) -> f64 {
        count * 80e6
    }

    fn params(changed: &[(&str, &str)]) -> Params {
        let text = |key: &str| {
            let changed = changed.iter().find(|(name, _)| *name == key);
            changed.map_or(Params::default_text(key), |(_, text)| text)
        };
        Params::read(&|key| text(key).to_owned()).unwrap()
    }

    /// Applies samples of one round trip each and returns the windows after each, in bytes.
    fn windows(
        connection: &mut Connection,
        params: &Params,
        available: f64,
        samples: &[f64],
    ) -> Vec<u64> {
        let mut quota = Quota {
            available,
            open: true,
            overhead: 1.0,
        };
        let mut after = |sample: &f64| {
            connection.adjust(*sample, RTT, &mut quota, params);
            connection.rwnd
        };
        samples.iter().map(&mut after).collect()
    }

    #[test]
    fn slow_start_doubles_every_second_round_trip_and_ends_with_the_quota() {
        // The quota covers 2 + 4 segments and three of the next eight; after that nothing.
        let mut connection = Connection::new(MSS, &Params::defaults(), Time::ZERO);
        let samples = [2.0, 2.0, 4.0, 4.0, 8.0, 8.0, 11.0, 11.0].map(segments);
        let seen = windows(
            &mut connection,
            &Params::defaults(),
            segments(9.5),
            &samples,
        );
        let expected = [4, 4, 8, 8, 11, 11, 11, 11].map(|count| count * MSS);
        assert_eq!(seen, expected);
        assert_eq!(connection.phase, Phase::Avoidance);
    }

    #[test]
    fn avoidance_adds_a_segment_every_second_round_trip() {
        let seen = windows(
            &mut with_window(10),
            &Params::defaults(),
            segments(20.0),
            &[10.0, 10.0, 11.0, 11.0].map(segments),
        );
        assert_eq!(seen, [11_000, 11_000, 12_000, 12_000]);
    }

    #[test]
    fn the_rcc_simulation_adds_a_segment_while_the_quota_covers_one_and_then_a_fraction() {
        let params = params(&[("ictcp.slow_start", "add"), ("ictcp.growth", "reno")]);
        // 1.5 segments of quota: one whole, then 1000 * 1000 / 11000 = 90 bytes.
        let seen = windows(
            &mut with_window(10),
            &params,
            segments(1.5),
            &[10.0, 10.0, 11.0, 11.0].map(segments),
        );
        assert_eq!(seen, [11_000, 11_000, 11_090, 11_090]);
    }

    #[test]
    fn three_round_trips_with_less_than_half_the_throughput_cost_a_segment() {
        // The window is ten segments and nothing arrives; beta makes b_m 7.5, 5.6, 4.2, 3.2, 2.4: the last three are
        // less than half.
        let mut connection = with_window(10);
        connection.measured = segments(10.0);
        let seen = windows(
            &mut connection,
            &Params::defaults(),
            segments(20.0),
            &[0.0; 5],
        );
        assert_eq!(seen, [10_000, 10_000, 10_000, 10_000, 9000]);
    }

    #[test]
    fn throughput_between_the_bounds_keeps_the_window() {
        // 70 % of what ten segments promise: d = 0.3.
        let mut connection = with_window(10);
        let seen = windows(
            &mut connection,
            &Params::defaults(),
            segments(20.0),
            &[segments(7.0); 10],
        );
        assert_eq!(seen, [10_000; 10]);
        assert!((connection.difference - 0.3).abs() < 1e-9);
    }

    #[test]
    fn a_window_does_not_fall_below_two_segments() {
        let mut connection = with_window(3);
        let seen = windows(
            &mut connection,
            &Params::defaults(),
            segments(20.0),
            &[0.0; 20],
        );
        assert_eq!(seen.last(), Some(&2000));
    }

    #[test]
    fn silence_brings_a_window_down_and_back_to_slow_start() {
        let mut connection = with_window(10);
        let params = Params::defaults();
        let mut quota = Quota {
            available: segments(20.0),
            open: true,
            overhead: 1.0,
        };
        let pace = Pace {
            rtt: RTT,
            interval: RTT,
            slack: Span::ZERO,
        };
        connection.on_data(MSS, pace, &mut quota, &params, Time::ZERO);
        // Eight segments less, three round trips each.
        let later = Time::ZERO + RTT * 40;
        connection.on_data(MSS, pace, &mut quota, &params, later);
        assert_eq!(connection.rwnd, 2 * MSS);
        assert_eq!(connection.phase, Phase::SlowStart);
    }
}
