//! `HyStart`, as Linux 6.12 has it: slow start ends before it fills the buffer.
//!
//! Two signs end it, each by a threshold at the window of this moment (S. Ha and I. Rhee, "Taming the elephants: New TCP
//! slow start", 2011). ACKs that follow each other closely for longer than half the least round trip show that the
//! flight fills the path, once an allowance for bursts of segmentation offload is made. And a round trip that exceeds
//! the least one by an eighth, of 4 to 16 ms, shows a queue.
// DEVIATION(RFC 9438 §4.10): not HyStart++ (RFC 9406), which has the second sign alone and a way back.

use base::{Span, Time};
use tcp::Ack;

/// The state of the current round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Whether slow start has been ended, until a timeout.
    found: bool,
    /// When the round trip began, and the last ACK of its train came.
    began: Time,
    last: Time,
    /// The round trip ends when more than this is acknowledged.
    end: u64,
    /// The least of its samples, and how many have been seen.
    least: Span,
    samples: u32,
}

/// The path of a sender in slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Congestion window in segments, and bytes of one.
    pub(super) window: u64,
    pub(super) mss: u64,
    /// Smoothed round trip, and the least one.
    pub(super) srtt: Span,
    pub(super) least: Span,
    /// Whether the window is below half of the threshold.
    pub(super) early: bool,
}

impl HyStart {
    pub(super) const fn new() -> Self {
        Self {
            found: false,
            began: Time::ZERO,
            last: Time::ZERO,
            end: 0,
            least: Span::from_ps(u64::MAX),
            samples: 0,
        }
    }

    /// An ACK of a sender in slow start, with this round trip. Returns whether slow start is over.
    pub(super) fn ends(&mut self, ack: &Ack, rtt: Span, path: &Path) -> bool {
        if self.found {
            return false;
        }
        if ack.acknowledged > self.end {
            *self = Self {
                began: ack.now,
                last: ack.now,
                end: ack.next,
                ..Self::new()
            };
        }
        if path.window < LOW_WINDOW {
            return false;
        }
        self.found = self.is_long_train(ack.now, path) | self.is_delayed(rtt, path.least);
        self.found
    }

    fn is_long_train(&mut self, now: Time, path: &Path) -> bool {
        if now.since(self.last) > GAP {
            return false;
        }
        self.last = now;
        now.since(self.began) > (path.least + path.burst()) / 2
    }

    fn is_delayed(&mut self, rtt: Span, least: Span) -> bool {
        self.least = self.least.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.least > least + (least / 8).clamp(DELAY.0, DELAY.1)
    }
}

impl Path {
    /// How long four bursts of 64 KiB take at the rate of pacing: two windows in a round trip, or 1.2 from half of a known
    /// threshold on (`tcp_update_pacing_rate`).
    fn burst(&self) -> Span {
        let tenths = if self.early { 20 } else { 12 };
        let rate = self.window * self.mss * tenths / 10;
        if self.srtt == Span::ZERO {
            return Span::ZERO;
        }
        let share = u128::from(self.srtt.as_ps()) * u128::from(4 * BURST_BYTES);
        let span = share / u128::from(rate.max(1));
        u64::try_from(span).map_or(BURST, |ps| Span::from_ps(ps).min(BURST))
    }
}

/// The values of `tcp_cubic.c`: the window from which on slow start may end, the longest gap in a train, and the samples
/// of a round trip that are waited for.
const LOW_WINDOW: u64 = 16;
const GAP: Span = Span::from_millis(2);
const SAMPLES: u32 = 8;
/// An eighth of the least round trip, at least and at most.
const DELAY: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));
/// Bytes of a burst, and the longest time that is allowed for four of them.
const BURST_BYTES: u64 = 65_536;
const BURST: Span = Span::from_millis(1);

#[cfg(test)]
mod tests {
    use base::Extension;
    use tcp::Echo;

    use super::*;

    fn ack(acknowledged: u64, next: u64, us: u64) -> Ack {
        Ack {
            bytes: 1000,
            acknowledged,
            next,
            echo: Echo::None,
            recovering: false,
            limited_by_window: true,
            rtt: None,
            extension: Extension::NONE,
            now: Time::ZERO + Span::from_micros(us),
        }
    }

    const fn us(count: u64) -> Span {
        Span::from_micros(count)
    }

    /// 32 segments of 1000 bytes in 100 us: four bursts take 4 * 65536 / 64000 of it, 409.6 us.
    const PATH: Path = Path {
        window: 32,
        mss: 1000,
        srtt: us(100),
        least: us(100),
        early: true,
    };

    #[test]
    fn acks_in_a_row_for_half_of_round_trip_and_bursts_end_slow_start() {
        let mut hystart = HyStart::new();
        // (100 + 409.6) / 2 = 254.8 us after the ACK that begins the round trip.
        let told =
            [0, 100, 254, 255].map(|at| hystart.ends(&ack(1001, 40_001, at), us(100), &PATH));
        assert_eq!(told, [false, false, false, true]);
        // Once is enough.
        assert!(!hystart.ends(&ack(1001, 40_001, 300), us(100), &PATH));
    }

    #[test]
    fn near_a_threshold_bursts_are_allowed_more_time() {
        let late = Path {
            early: false,
            ..PATH
        };
        // 4 * 65536 / 38400 of 100 us: (100 + 682.7) / 2 = 391.3 us.
        let mut hystart = HyStart::new();
        let told =
            [0, 255, 391, 392].map(|at| hystart.ends(&ack(1001, 40_001, at), us(100), &late));
        assert_eq!(told, [false, false, false, true]);
    }

    #[test]
    fn a_gap_or_a_small_window_is_no_train() {
        let mut hystart = HyStart::new();
        assert!(!hystart.ends(&ack(1001, 40_001, 0), us(100), &PATH));
        assert!(!hystart.ends(&ack(2001, 40_001, 2001), us(100), &PATH));
        let small = Path { window: 15, ..PATH };
        let mut hystart = HyStart::new();
        let mut told = [0, 1000].map(|at| hystart.ends(&ack(1001, 40_001, at), us(100), &small));
        assert_eq!(told, [false; 2]);
        // A new round trip begins a new train.
        told = [1000, 1200].map(|at| hystart.ends(&ack(40_002, 90_001, at), us(100), &PATH));
        assert_eq!(told, [false; 2]);
    }

    #[test]
    fn eight_round_trips_that_are_all_longer_end_slow_start() {
        let path = Path {
            srtt: Span::from_millis(40),
            least: Span::from_millis(40),
            ..PATH
        };
        // An eighth of 40 ms is 5 ms; each ACK comes too late for a train.
        for (ms, expected) in [(45, false), (46, true)] {
            let mut hystart = HyStart::new();
            let told: Vec<bool> = (0..9)
                .map(|at| hystart.ends(&ack(1001, 40_001, at * 3000), Span::from_millis(ms), &path))
                .collect();
            assert_eq!(told[..8], [false; 8]);
            assert_eq!(told[8], expected, "{ms}");
        }
    }
}
