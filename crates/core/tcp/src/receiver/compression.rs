//! Reports that wait for more of them, as in Linux.
//!
//! While a hole stays, every segment beyond it brings an ACK with a SACK block (RFC 2018 §4, RFC 5681 §4.2). Three
//! are enough to tell the sender of a loss. Linux sends three for a hole, and then one for all segments that come
//! within a twentieth of a round trip.
// DEVIATION(RFC 5681 §4.2): a segment beyond a hole is not always acknowledged at once; only `tcp.sack_delay` asks
// for that.

use base::{Span, Time};

use crate::scoreboard::DUP_THRESH;

/// Which reports wait, and until when.
#[derive(Debug)]
pub(super) struct Compression {
    /// Longest wait, and what is added to every wait.
    longest: Span,
    slack: Span,
    /// Offset of the hole that `reports` is about.
    hole: u64,
    /// Reports of the hole that were not to wait.
    reports: u64,
    /// Segments whose report waits.
    waiting: u32,
    /// From when on the first of these may go.
    early: Time,
    /// What the last ACK acknowledged.
    acknowledged: u64,
}

impl Compression {
    pub(super) const fn new(longest: Span, slack: Span) -> Self {
        Self {
            longest,
            slack,
            hole: 0,
            reports: 0,
            waiting: 0,
            early: Time::NEVER,
            acknowledged: 0,
        }
    }

    /// A segment has come beyond a hole at `next`, on a path with this round trip. Returns until when its report
    /// waits at the latest, if it does.
    pub(super) fn wait(&mut self, next: u64, mss: u64, rtt: Span, now: Time) -> Option<Time> {
        // More than a segment is to be acknowledged, too.
        if next - self.acknowledged > mss || self.waiting >= MOST {
            return None;
        }
        if self.hole != next {
            (self.hole, self.reports) = (next, 0);
        }
        if self.reports < DUP_THRESH {
            self.reports += 1;
            return None;
        }
        self.waiting += 1;
        let early = now + (rtt / SHARE).min(self.longest);
        if self.waiting == 1 {
            self.early = early;
        }
        Some(early + self.slack)
    }

    /// When the reports that wait are sent, which began to now: together with those of another connection of the
    /// host, as one of `times`, if these go while the slack lasts. So Linux's timers share an interrupt.
    pub(super) fn join(&self, times: &mut Vec<Time>, now: Time) -> Time {
        times.retain(|time| *time > now);
        let latest = self.early + self.slack;
        let shared = times.iter().copied().filter(|time| *time >= self.early);
        if let Some(shared) = shared.min().filter(|time| *time <= latest) {
            return shared;
        }
        times.push(latest);
        latest
    }

    /// Whether the first report has begun to wait.
    pub(super) const fn begins(&self) -> bool {
        self.waiting == 1
    }

    /// Whether a report waits.
    pub(super) const fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// An ACK up to `next` leaves, with all that was to be reported.
    pub(super) const fn on_acknowledged(&mut self, next: u64) {
        (self.waiting, self.acknowledged) = (0, next);
    }
}

/// Linux 6.12: most reports that one ACK stands for (`tcp_comp_sack_nr`), and the part of a round trip they wait.
const MOST: u32 = 44;
const SHARE: u64 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(count: u64) -> Span {
        Span::from_micros(count)
    }

    fn at(count: u64) -> Time {
        Time::ZERO + us(count)
    }

    #[test]
    fn the_fourth_report_of_a_hole_waits_a_twentieth_of_a_round_trip() {
        let mut compression = Compression::new(us(1000), us(100));
        compression.on_acknowledged(1);
        let mut wait = |next, rtt| compression.wait(next, 1000, us(rtt), at(0));
        let told = [1, 1, 1, 1].map(|next| wait(next, 200));
        assert_eq!(told, [None, None, None, Some(at(110))]);
        // At most a millisecond; and another hole begins anew.
        assert_eq!(wait(1, 80_000), Some(at(1100)));
        assert_eq!(wait(501, 200), None);
        // More than a segment to be acknowledged.
        assert_eq!(wait(1002, 200), None);
    }

    #[test]
    fn reports_of_connections_leave_together() {
        let waiting = |ms| {
            let mut compression = Compression::new(us(1000), us(100));
            for _ in 0..4 {
                compression.wait(0, 1000, us(1000), at(ms));
            }
            compression
        };
        let mut times = Vec::new();
        let mut join = |since| waiting(since).join(&mut times, at(since));
        // 50 us, and up to 100 more.
        assert_eq!(join(0), at(150));
        assert_eq!(join(100), at(150));
        assert_eq!(join(101), at(251));
        assert_eq!(join(120), at(251));
        // None is left.
        assert_eq!(join(300), at(450));
        assert_eq!(times, [at(450)]);
    }

    #[test]
    fn an_ack_stands_for_44_reports() {
        let mut compression = Compression::new(us(1000), us(0));
        let told: Vec<bool> = (0..49)
            .map(|_| compression.wait(0, 1000, us(200), at(0)).is_some())
            .collect();
        assert_eq!(told[..3], [false; 3]);
        assert_eq!(told[3..47], [true; 44]);
        assert!(!told[47] && compression.is_waiting());
        compression.on_acknowledged(0);
        assert!(compression.wait(0, 1000, us(200), at(0)).is_some());
    }
}
