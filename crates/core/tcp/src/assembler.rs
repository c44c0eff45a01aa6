//! Data received out of order (RFC 2018).

/// Ranges beyond the next expected byte, and which of them was touched last.
///
/// `insert` and `sack_order` are O(ranges); in order, with nothing held, both are O(1).
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    /// Sorted, disjoint, not adjacent.
    ranges: Vec<Held>,
    /// Bytes in `ranges`.
    held: u64,
    /// Counts insertions, to order SACK blocks.
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    start: u64,
    end: u64,
    /// The insertion that touched it last.
    touched: u64,
}

impl Assembler {
    /// Stores `start..end`, where `next` is the next byte expected in order and `start <= end`.
    /// Returns how many bytes are new, and how far the stream is now in order.
    pub fn insert(&mut self, start: u64, end: u64, next: u64) -> (u64, u64) {
        let start = start.max(next);
        if end <= start {
            return (0, next);
        }
        if start == next && self.ranges.is_empty() {
            return (end - start, end);
        }
        let new = self.store(start, end);
        let in_order = match self.ranges.first() {
            Some(first) if first.start <= next => {
                let end = first.end;
                self.held -= end - first.start;
                self.ranges.remove(0);
                end
            }
            _ => next,
        };
        (new, in_order)
    }

    /// Whether nothing is held.
    pub(crate) const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes held out of order.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// The ranges to report, most recently touched first (RFC 2018 §4).
    pub(crate) fn sack_order(&self, mut report: impl FnMut(u64, u64)) {
        let mut below = u64::MAX;
        for _ in 0..base::SackBlocks::MAX {
            let newest = self
                .ranges
                .iter()
                .filter(|r| r.touched < below)
                .max_by_key(|r| r.touched);
            let Some(range) = newest else { return };
            report(range.start, range.end);
            below = range.touched;
        }
    }

    /// Whether two ranges or more are held, and `start..end` touches neither of the two that were touched last.
    pub(crate) fn is_another(&self, (start, end): (u64, u64)) -> bool {
        let mut newest = 0;
        let mut touches = false;
        self.sack_order(|from, to| {
            newest += 1;
            touches |= newest <= 2 && start <= to && from <= end;
        });
        newest >= 2 && !touches
    }

    /// Whether all of `start..end` is held.
    pub(crate) fn holds(&self, (start, end): (u64, u64)) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|range| range.start <= start && end <= range.end)
    }

    fn store(&mut self, start: u64, end: u64) -> u64 {
        self.clock += 1;
        let first = self.ranges.partition_point(|range| range.end < start);
        let last = self.ranges.partition_point(|range| range.start <= end);
        let mut merged = Held {
            start,
            end,
            touched: self.clock,
        };
        let mut before = 0;
        for range in &self.ranges[first..last] {
            merged.start = merged.start.min(range.start);
            merged.end = merged.end.max(range.end);
            before += range.end - range.start;
        }
        self.ranges.splice(first..last, [merged]);
        let new = merged.end - merged.start - before;
        self.held += new;
        new
    }
}

/// Offsets that touch no range.
pub(crate) const NOTHING: (u64, u64) = (u64::MAX, 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_gap_releases_everything_behind_it() {
        let mut assembler = Assembler::default();
        assert_eq!(assembler.insert(10, 20, 0), (10, 0));
        assert_eq!(assembler.insert(30, 40, 0), (10, 0));
        assert_eq!(assembler.held(), 20);
        assert_eq!(assembler.insert(0, 10, 0), (10, 20));
        assert_eq!(assembler.insert(20, 30, 20), (10, 40));
        assert_eq!(assembler.held(), 0);
    }

    #[test]
    fn data_received_twice_counts_once() {
        let mut assembler = Assembler::default();
        assert_eq!(assembler.insert(10, 20, 5), (10, 5));
        assert_eq!(assembler.insert(8, 15, 5), (2, 5));
        assert_eq!(assembler.insert(0, 8, 5), (3, 20));
        assert_eq!(assembler.insert(5, 20, 20), (0, 20));
    }

    #[test]
    fn a_range_is_another_unless_it_touches_the_two_touched_last() {
        let mut assembler = Assembler::default();
        assembler.insert(10, 20, 0);
        assert!(!assembler.is_another((30, 40)), "one is held");
        for start in [30, 50] {
            assembler.insert(start, start + 10, 0);
        }
        let another = [
            (20, 22),
            (12, 14),
            (22, 24),
            (40, 42),
            (28, 30),
            (60, 62),
            (70, 72),
        ];
        let told = another.map(|range| assembler.is_another(range));
        assert_eq!(told, [true, true, true, false, false, false, true]);
        let held = another.map(|range| assembler.holds(range));
        assert_eq!(held, [false, true, false, false, false, false, false]);
    }

    #[test]
    fn the_first_block_holds_the_newest_segment() {
        let mut assembler = Assembler::default();
        for start in [10, 30, 50, 70, 12] {
            assembler.insert(start, start + 10, 0);
        }
        let mut blocks = Vec::new();
        assembler.sack_order(|start, end| blocks.push((start, end)));
        assert_eq!(blocks, [(10, 22), (70, 80), (50, 60)]);
    }
}
