//! RC3's second loop: what TCP cannot send yet, sent at low priorities from the end (RC3 §2).

use crate::scoreboard::Scoreboard;

/// What a sender sends at low priorities besides its ordinary loop: each write once, from its last
/// segment backwards, until it meets what was sent ordinarily.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowPriority {
    /// Segments at priority 1, counted from the end of the write.
    pub first: u32,
    /// How many times more segments each further priority has.
    pub growth: u32,
    /// Low priorities; what is beyond the last one's segments has the last one.
    pub levels: u8,
    /// Whether the segments of all higher priorities come before those of one: with 40 and 10 the
    /// priorities end at 40, 440, 4440 segments (RC3 §2.2); if not, at 40, 400, 4000 (§4.2.1).
    pub added_up: bool,
    /// Whether copies that have not left the host are withdrawn once the ordinary loop has passed them.
    pub withdraw: bool,
    /// Segments handed over at a time, in the order of the stream and with the priority of the lowest
    /// among them, and acknowledged together (RC3 §4.2.3); 1: one by one.
    pub burst: u16,
}

impl LowPriority {
    /// The priority of the `n`-th segment from the end, the last one being the first.
    ///
    /// ```
    /// let low = tcp::LowPriority { first: 40, growth: 10, levels: 3, added_up: true, withdraw: false, burst: 1 };
    /// let priorities = [1, 40, 41, 440, 441, 4440, 1_000_000].map(|n| low.priority(n));
    /// assert_eq!(priorities, [1, 1, 2, 2, 3, 3, 3]);
    /// ```
    pub fn priority(&self, n: u64) -> u8 {
        let (mut priority, mut width) = (1, u64::from(self.first));
        let mut limit = width;
        while n > limit && priority < self.levels {
            width = width.saturating_mul(u64::from(self.growth));
            limit = if self.added_up {
                limit.saturating_add(width)
            } else {
                width
            };
            priority += 1;
        }
        priority
    }
}

/// The state of the loop, and what it changes for the ordinary one.
#[derive(Clone, Debug)]
pub(crate) struct LowLoop {
    settings: LowPriority,
    /// Where the write begins that is being sent: everything before it has been handed over.
    begin: u64,
    /// Where what is left of it ends.
    end: u64,
    /// Where the write ends; `begin` between writes.
    tail: u64,
    /// What is left of a burst, in the order of the stream, and its priority.
    burst: (u64, u64, u8),
    /// One past the highest offset handed over.
    highest: u64,
    /// The acknowledgement that went beyond everything sent ordinarily, while nothing newer has come.
    pub(crate) bumped: Option<u64>,
    /// What the ordinary loop has passed without sending it, because it had arrived.
    pub(crate) skipped: Scoreboard,
}

/// A segment at low priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LowSegment {
    pub(crate) offset: u64,
    pub(crate) payload: u64,
    pub(crate) priority: u8,
    /// Whether it is the last of a burst.
    pub(crate) push: bool,
}

impl LowLoop {
    pub(crate) fn new(settings: LowPriority) -> Self {
        Self {
            settings,
            // The first byte of the stream is at 1.
            begin: 1,
            end: 1,
            tail: 1,
            burst: (0, 0, 0),
            highest: 1,
            bumped: None,
            skipped: Scoreboard::default(),
        }
    }

    /// One past the highest offset handed over.
    pub(crate) const fn highest(&self) -> u64 {
        self.highest
    }

    /// Whether copies that wait are withdrawn.
    pub(crate) const fn withdraws(&self) -> bool {
        self.settings.withdraw
    }

    /// The next segment: of the stream up to `written`, whose segments are `mss` long and sent
    /// ordinarily up to `next`. O(levels) for each, and nothing is left to do between writes.
    pub(crate) fn next(&mut self, written: u64, next: u64, mss: u64) -> Option<LowSegment> {
        if self.burst.0 == self.burst.1 {
            self.begin_burst(written, next, mss)?;
        }
        let (offset, end, priority) = self.burst;
        let segment_end = (offset + mss).min(end);
        self.burst.0 = segment_end;
        self.highest = self.highest.max(segment_end);
        Some(LowSegment {
            offset,
            payload: segment_end - offset,
            priority,
            push: self.settings.burst > 1 && segment_end == end,
        })
    }

    fn begin_burst(&mut self, written: u64, next: u64, mss: u64) -> Option<()> {
        if self.end == self.begin {
            // This write is done with: what has been written since is the next one. An application
            // that closes early may have taken back what was handed over.
            let written = written.max(self.tail);
            (self.begin, self.end, self.tail) = (self.tail, written, written);
        }
        // Segments count from the beginning of the write; the last one may be short.
        let segments = (self.end - self.begin).div_ceil(mss);
        let passed = next.saturating_sub(self.begin) / mss;
        if self.end <= next || segments <= passed {
            self.end = self.begin;
            return None;
        }
        let burst = u64::from(self.settings.burst.max(1));
        let first = segments.saturating_sub(burst).max(passed);
        let offset = self.begin + first * mss;
        let from_end = (self.tail - offset).div_ceil(mss);
        self.burst = (offset, self.end, self.settings.priority(from_end));
        self.end = offset;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: LowPriority = LowPriority {
        first: 2,
        growth: 2,
        levels: 2,
        added_up: true,
        withdraw: false,
        burst: 1,
    };
    const MSS: u64 = 100;

    /// Offset, payload and priority of everything handed over now.
    fn drain(low: &mut LowLoop, written: u64, next: u64) -> Vec<(u64, u64, u8)> {
        let segments = std::iter::from_fn(|| low.next(written, next, MSS));
        segments
            .map(|segment| (segment.offset, segment.payload, segment.priority))
            .collect()
    }

    // RC3 §2.2: 40, 400 and 4000 segments from the end, and the last priority for all before.
    // Clauses: RC3-2.2-levels
    #[test]
    fn priorities_have_ten_times_as_many_segments_each() {
        let low = LowPriority {
            first: 40,
            growth: 10,
            levels: 3,
            ..SETTINGS
        };
        let of = |low: &LowPriority| [40, 41, 440, 441, 4440, 4441].map(|n| low.priority(n));
        assert_eq!(of(&low), [1, 2, 2, 3, 3, 3]);
        let alone = LowPriority {
            added_up: false,
            ..low
        };
        assert_eq!(of(&alone), [1, 2, 3, 3, 3, 3]);
    }

    // Clauses: RC3-2.2-backwards
    #[test]
    fn segments_go_from_the_last_to_the_first_that_is_not_sent() {
        let mut low = LowLoop::new(SETTINGS);
        // 7.5 segments, of which two are sent: six are left, the last one short.
        let expected = [
            (701, 50, 1),
            (601, 100, 1),
            (501, 100, 2),
            (401, 100, 2),
            (301, 100, 2),
            (201, 100, 2),
        ];
        assert_eq!(drain(&mut low, 751, 201), expected);
        assert_eq!(low.highest(), 751);
        assert_eq!(drain(&mut low, 751, 301), []);
    }

    // Clauses: RC3-2.2-backwards
    #[test]
    fn each_write_counts_from_its_own_end_and_is_handed_over_once() {
        let mut low = LowLoop::new(SETTINGS);
        assert_eq!(drain(&mut low, 151, 1), [(101, 50, 1), (1, 100, 1)]);
        assert_eq!(drain(&mut low, 151, 1), []);
        // The next write begins where the last one ended, wherever segments were.
        assert_eq!(
            drain(&mut low, 361, 101),
            [(351, 10, 1), (251, 100, 1), (151, 100, 2)]
        );
        // All of the third had been sent ordinarily.
        assert_eq!(drain(&mut low, 400, 400), []);
        assert_eq!(drain(&mut low, 450, 400), [(400, 50, 1)]);
    }

    #[test]
    fn a_burst_has_its_lowest_priority_and_goes_in_order() {
        let mut low = LowLoop::new(LowPriority {
            burst: 3,
            ..SETTINGS
        });
        let segments: Vec<LowSegment> = std::iter::from_fn(|| low.next(751, 101, MSS)).collect();
        let told = segments
            .iter()
            .map(|segment| (segment.offset, segment.priority, segment.push));
        let expected = [
            (501, 2, false),
            (601, 2, false),
            (701, 2, true),
            (201, 2, false),
            (301, 2, false),
            (401, 2, true),
            (101, 2, true),
        ];
        assert!(told.eq(expected), "{segments:?}");
    }
}
