//! What a sender knows of data received out of order (RFC 6675).

/// SACKed ranges above the cumulative acknowledgement.
///
/// A sorted list of disjoint ranges: every query is O(ranges), which is the number of holes and not
/// the number of segments in the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    /// Sorted, disjoint, not adjacent.
    ranges: Vec<(u64, u64)>,
    /// Bytes in `ranges`.
    sacked: u64,
}

impl Scoreboard {
    /// Marks `start..end` as received. Returns whether any byte of it is news.
    pub(crate) fn add(&mut self, start: u64, end: u64) -> bool {
        let first = self.ranges.partition_point(|range| range.1 < start);
        let last = self.ranges.partition_point(|range| range.0 <= end);
        if first == last {
            self.ranges.insert(first, (start, end));
            self.sacked += end - start;
            return true;
        }
        let merged = (
            self.ranges[first].0.min(start),
            self.ranges[last - 1].1.max(end),
        );
        let before: u64 = self.ranges[first..last]
            .iter()
            .map(|range| range.1 - range.0)
            .sum();
        let news = merged.1 - merged.0 - before;
        if news > 0 {
            self.ranges.splice(first..last, [merged]);
            self.sacked += news;
        }
        news > 0
    }

    /// Forgets everything below the cumulative acknowledgement `una`.
    pub(crate) fn advance(&mut self, una: u64) {
        let passed = self.ranges.partition_point(|range| range.1 <= una);
        let removed: u64 = self
            .ranges
            .drain(..passed)
            .map(|range| range.1 - range.0)
            .sum();
        self.sacked -= removed;
        if let Some(first) = self.ranges.first_mut()
            && first.0 < una
        {
            self.sacked -= una - first.0;
            first.0 = una;
        }
    }

    /// After a timeout: the receiver may have dropped what it reported (RFC 2018 §8).
    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
        self.sacked = 0;
    }

    /// Ranges that do not touch each other.
    pub(crate) fn runs(&self) -> usize {
        self.ranges.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether all of `start..end` is SACKed.
    pub(crate) fn covers(&self, start: u64, end: u64) -> bool {
        let place = self.ranges.partition_point(|range| range.1 < end);
        let range = self.ranges.get(place);
        range.is_some_and(|range| range.0 <= start)
    }

    /// Bytes SACKed below `offset`.
    pub(crate) fn sacked_below(&self, offset: u64) -> u64 {
        self.ranges
            .iter()
            .take_while(|range| range.0 < offset)
            .map(|range| range.1.min(offset) - range.0)
            .sum()
    }

    /// Everything below this offset that is not SACKed is lost: `IsLost` of RFC 6675 §4, three
    /// discontiguous ranges or more than two segments above it, of what is below `limit`. `None`:
    /// nothing is lost.
    pub(crate) fn lost_below(&self, limit: u64, mss: u64) -> Option<u64> {
        let (mut ranges, mut bytes) = (0, 0);
        let known = self.ranges.iter().filter(|range| range.0 < limit);
        known.rev().find_map(|range| {
            ranges += 1;
            bytes += range.1.min(limit) - range.0;
            (ranges >= DUP_THRESH || bytes > (DUP_THRESH - 1) * mss).then_some(range.0)
        })
    }

    /// The first hole at or above `from` and below the highest SACKed byte.
    pub(crate) fn hole_from(&self, from: u64) -> Option<(u64, u64)> {
        let mut start = from;
        for range in &self.ranges {
            if start < range.0 {
                return Some((start, range.0));
            }
            start = start.max(range.1);
        }
        None
    }

    /// `from`, or the end of the SACKed range that contains it; and where the next one begins.
    pub(crate) fn skip_sacked(&self, from: u64) -> (u64, Option<u64>) {
        let mut start = from;
        for range in &self.ranges {
            if start < range.0 {
                return (start, Some(range.0));
            }
            start = start.max(range.1);
        }
        (start, None)
    }

    /// Bytes SACKed.
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }
}

/// RFC 6675 §2.
pub(crate) const DUP_THRESH: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn board(ranges: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for (start, end) in ranges {
            board.add(*start, *end);
        }
        board
    }

    #[test]
    fn overlapping_and_adjacent_ranges_merge() {
        let mut board = board(&[(10, 20), (30, 40), (20, 25)]);
        assert_eq!(board.ranges, [(10, 25), (30, 40)]);
        assert!(!board.add(12, 24));
        assert!(board.add(5, 50));
        assert_eq!(
            (board.ranges.as_slice(), board.sacked()),
            ([(5, 50)].as_slice(), 45)
        );
    }

    #[test]
    fn advancing_cuts_a_range_in_two() {
        let mut board = board(&[(10, 20), (30, 40)]);
        board.advance(35);
        assert_eq!(
            (board.ranges.as_slice(), board.sacked()),
            ([(35, 40)].as_slice(), 5)
        );
    }

    // Clauses: RFC6675-4-lost-bytes, RFC6675-4-lost-ranges
    #[test]
    fn a_hole_is_lost_with_three_ranges_or_more_than_two_segments_above() {
        // RFC 6675 §4 IsLost: "more than (DupThresh - 1) * SMSS bytes".
        let lost_below = |ranges: &[(u64, u64)]| board(ranges).lost_below(u64::MAX, 10);
        assert_eq!(lost_below(&[(10, 30)]), None);
        assert_eq!(lost_below(&[(10, 31)]), Some(10));
        assert_eq!(lost_below(&[(10, 15), (20, 25), (30, 35)]), Some(10));
        assert_eq!(lost_below(&[(5, 6), (10, 30), (40, 45)]), Some(10));
        // What lies beyond the limit is no evidence.
        let board = board(&[(10, 31), (40, 90)]);
        assert_eq!(board.lost_below(31, 10), Some(10));
        assert_eq!(board.lost_below(30, 10), None);
    }

    #[test]
    fn holes_are_found_in_order() {
        let board = board(&[(10, 20), (30, 40)]);
        assert_eq!(board.hole_from(0), Some((0, 10)));
        assert_eq!(board.hole_from(15), Some((20, 30)));
        assert_eq!(board.hole_from(30), None);
        assert_eq!(board.skip_sacked(15), (20, Some(30)));
        assert_eq!(board.skip_sacked(45), (45, None));
    }
}
