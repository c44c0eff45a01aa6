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
