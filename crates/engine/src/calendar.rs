//! The event list: a calendar of short buckets for what comes soon, a heap for the rest.
//!
//! Packets on wires are due within a hop's delay, timers long after. So events within the horizon go
//! into a bucket of the calendar, unsorted, and are sorted when their bucket's turn comes; it rarely
//! holds more than a few. Later events go into a heap, which the calendar's events pass by. A bitmap
//! with a summary finds the next bucket that is not empty.
//!
//! `push` and `pop` within the horizon: O(1) for a bucket of bounded size, O(k log k) for k events in
//! one bucket; beyond the horizon O(log n).

use crate::heap::Heap;

/// Keys in ascending order; the upper 64 bits of a key are its time. See the module documentation.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Keys of the current bucket, latest first.
    current: Vec<u128>,
    /// The bucket `current` came from, counted from time zero.
    now: u64,
    /// First node of each bucket of the next turn of the wheel.
    buckets: Vec<u32>,
    /// A bit per bucket that is not empty, and a bit per word of these.
    occupied: [u64; WORDS],
    summary: u64,
    /// Events in lists, and the first free node.
    nodes: Vec<Node>,
    free: u32,
    /// Events beyond the horizon when they were scheduled.
    far: Heap,
    /// The smallest key of `far`; `u128::MAX` if it is empty.
    far_min: u128,
    /// log2 of the width of a bucket in picoseconds.
    shift: u32,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u128,
    next: u32,
}

impl Calendar {
    /// An empty calendar whose buckets cover at least `horizon` picoseconds.
    pub(crate) fn new(horizon: u64) -> Self {
        let width = (horizon / BUCKETS as u64).max(1).next_power_of_two();
        Self {
            current: Vec::new(),
            now: 0,
            buckets: vec![NONE; BUCKETS],
            occupied: [0; WORDS],
            summary: 0,
            nodes: Vec::new(),
            free: NONE,
            far: Heap::new(),
            far_min: u128::MAX,
            shift: width.ilog2().min(63),
            len: 0,
        }
    }

    /// Inserts `key`, whose time is not before that of the key popped last.
    #[inline]
    pub(crate) fn push(&mut self, key: u128) {
        self.len += 1;
        let ahead = (time_of(key) >> self.shift).wrapping_sub(self.now);
        if ahead.wrapping_sub(1) < BUCKETS as u64 - 1 {
            self.push_bucket(key);
        } else if ahead == 0 {
            self.push_current(key);
        } else {
            self.far.push(key);
            self.far_min = self.far_min.min(key);
        }
    }

    /// Removes the smallest key if its time is at most `limit`.
    #[inline]
    pub(crate) fn pop(&mut self, limit: u64) -> Option<u128> {
        if self.current.is_empty() {
            self.turn();
        }
        let near = self.current.last().copied().unwrap_or(u128::MAX);
        let key = near.min(self.far_min);
        if key == u128::MAX || time_of(key) > limit {
            return None;
        }
        self.len -= 1;
        if near <= self.far_min {
            self.current.pop();
        } else {
            self.pop_far();
        }
        Some(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the place in the wheel and in the slab"
    )]
    fn push_bucket(&mut self, key: u128) {
        let place = (time_of(key) >> self.shift) as usize % BUCKETS;
        let next = self.buckets[place];
        let node = Node { key, next };
        let index = self.free;
        if let Some(free) = self.nodes.get_mut(index as usize) {
            self.free = free.next;
            *free = node;
            self.buckets[place] = index;
        } else {
            self.buckets[place] = self.nodes.len() as u32;
            self.nodes.push(node);
        }
        self.occupied[place / 64] |= 1 << (place % 64);
        self.summary |= 1 << (place / 64);
    }

    /// An event of the bucket being worked off: into its sorted place.
    #[cold]
    fn push_current(&mut self, key: u128) {
        let place = self.current.partition_point(|other| *other > key);
        self.current.insert(place, key);
    }

    /// Makes the next bucket that is not empty the current one, unless a far event comes first.
    fn turn(&mut self) {
        let Some(place) = self.next_occupied() else {
            return;
        };
        self.occupied[place / 64] &= !(1 << (place % 64));
        if self.occupied[place / 64] == 0 {
            self.summary &= !(1 << (place / 64));
        }
        let mut index = std::mem::replace(&mut self.buckets[place], NONE);
        while let Some(node) = self.nodes.get_mut(index as usize) {
            self.current.push(node.key);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = index;
            index = next;
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.now = time_of(self.current[0]) >> self.shift;
    }

    /// The first bucket after the current one, around the wheel, that is not empty.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the place in the wheel")]
    fn next_occupied(&self) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let start = (self.now as usize + 1) % BUCKETS;
        let word = start / 64;
        let rest = self.occupied[word] & (u64::MAX << (start % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        // Words after this one first, then around to the beginning, this one included.
        let after = self.summary & (u64::MAX << word) & !(1 << word);
        let found = if after != 0 { after } else { self.summary };
        let word = found.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }

    fn pop_far(&mut self) {
        if self.summary == 0 && self.current.is_empty() {
            // Nothing is near: the wheel starts again from here, or all would count as far.
            self.now = time_of(self.far_min) >> self.shift;
        }
        self.far.peek();
        self.far.take();
        self.far_min = self.far.peek().unwrap_or(u128::MAX);
    }
}

/// The time in the upper half of a key.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half has 64 bits"
)]
const fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

/// 64 words of 64 bits, so that one word summarises them.
const BUCKETS: usize = WORDS * 64;
const WORDS: usize = 64;
/// No node.
const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Stream;

    /// Keys pushed at random times ahead of the last popped one leave in order.
    fn agrees_with_a_sorted_set(horizon: u64, ahead: u64, seed: u64) {
        let mut random = Stream::new(seed, "calendar", 0);
        let mut calendar = Calendar::new(horizon);
        let mut model = BTreeSet::new();
        let mut now = 0;
        for round in 0..30_000_u64 {
            let grows = (round / 700) % 2 == 0;
            if random.below(5) < if grows { 3 } else { 2 } {
                let delay = random.below(ahead) * random.below(2);
                let key = u128::from(now + delay) << 64 | u128::from(round);
                calendar.push(key);
                model.insert(key);
            } else {
                // A limit that now and then lies before the next key.
                let limit = now + random.below(ahead * 2);
                let expected = model.first().copied().filter(|key| time_of(*key) <= limit);
                assert_eq!(calendar.pop(limit), expected);
                if let Some(key) = expected {
                    model.remove(&key);
                    now = time_of(key);
                }
            }
            assert_eq!(calendar.len(), model.len());
        }
    }

    #[test]
    fn keys_leave_in_order_whatever_the_horizon() {
        for (seed, (horizon, ahead)) in [
            (1, 10),
            (1_000, 10),
            (4096, 4096),
            (4096, 40_960),
            (1 << 20, 1 << 21),
            (1 << 30, 50),
        ]
        .into_iter()
        .enumerate()
        {
            agrees_with_a_sorted_set(horizon, ahead, seed as u64);
        }
    }
}
