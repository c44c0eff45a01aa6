//! The event list: a calendar of short buckets for what comes soon, a heap for the rest.
//!
//! Packets on wires are due within a hop's delay, timers long after. So events within the horizon go
//! into a bucket of the calendar, unsorted, and are sorted when their bucket's turn comes; it rarely
//! holds more than a few. Later events go into a heap, which the calendar's events pass by. A bitmap of
//! two levels finds the next bucket that is not empty.
//!
//! `push` and `pop` within the horizon: O(1) for a bucket of bounded size, O(k log k) for k events in
//! one bucket; beyond the horizon O(log n).

use std::cmp::Ordering;

use crate::heap::Heap;
use crate::key::{EMPTY, compare, drawn, time_of};

/// Keys in their order. See the module documentation.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// The smallest key of the current bucket; `EMPTY` if none was found at the last pop.
    near: u128,
    /// The smallest key of `far`, as it is there; `EMPTY` if it has none.
    far_min: u128,
    /// The bucket of the key popped last, counted from time zero: the wheel turns from here.
    base: u64,
    /// The bucket of `near`; `base` if it is empty.
    now: u64,
    /// log2 of the width of a bucket in picoseconds.
    shift: u32,
    /// First free node.
    free: u32,
    /// Other keys of the current bucket, latest first.
    rest: Vec<u128>,
    /// Events in lists.
    nodes: Vec<Node>,
    /// First node of each bucket of the next turn of the wheel, as far as there are buckets.
    buckets: Box<[u32; MOST]>,
    /// How many buckets there are: a power of two, few enough to stay in the cache.
    count: usize,
    /// A bit per bucket that is not empty.
    occupied: Box<[u64; WORDS]>,
    /// A bit per word of these that has one, or has had one and was not found empty since.
    words: u64,
    /// Events beyond the horizon when they were scheduled, as drawn numbers.
    far: Heap,
    len: usize,
    /// By which the order of equal times is drawn.
    salt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u128,
    next: u32,
}

impl Calendar {
    /// An empty calendar for events that are mostly less than `horizon` picoseconds ahead and `gap`
    /// picoseconds apart: a bucket then holds about one event. If that takes more buckets than there
    /// are, buckets are wider and hold more: the heap, where the rest goes, costs more than to sort a few.
    #[expect(clippy::cast_possible_truncation, reason = "few buckets")]
    pub(crate) fn new(horizon: u64, gap: u64, salt: u64) -> Self {
        let most = MOST as u64;
        let width = (gap / 4).max(horizon / most).max(1).next_power_of_two();
        let buckets = (horizon / width + 1).clamp(64, most) as usize;
        let buckets = buckets.next_power_of_two();
        Self {
            near: EMPTY,
            far_min: EMPTY,
            base: 0,
            now: 0,
            shift: width.ilog2(),
            free: NONE,
            rest: Vec::new(),
            nodes: Vec::new(),
            buckets: Box::new([NONE; MOST]),
            count: buckets,
            occupied: Box::new([0; WORDS]),
            words: 0,
            far: Heap::new(),
            len: 0,
            salt,
        }
    }

    /// Inserts `key`, whose time is not before that of the key popped last.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u128) {
        self.len += 1;
        let bucket = time_of(key) >> self.shift;
        if bucket > self.now && bucket - self.base < self.count as u64 {
            self.push_bucket(bucket, key);
        } else {
            self.push_elsewhere(bucket, key);
        }
    }

    /// Removes the smallest key if its time is at most `limit`.
    ///
    /// The next one is looked for at once and not when it is asked for: the search then overlaps with
    /// the handling of this event instead of waiting for what it schedules.
    #[inline(always)]
    pub(crate) fn pop(&mut self, limit: u64) -> Option<u128> {
        // Also if both are empty; what has the same time is compared there.
        if time_of(self.near) >= time_of(self.far_min) {
            let key = self.pop_elsewhere(limit);
            return (key != EMPTY).then_some(key);
        }
        self.pop_near(limit)
    }

    #[inline(always)]
    fn pop_near(&mut self, limit: u64) -> Option<u128> {
        let key = self.near;
        if time_of(key) > limit {
            return None;
        }
        self.len -= 1;
        self.base = self.now;
        if let Some(next) = self.rest.pop() {
            self.near = next;
        } else {
            self.turn();
        }
        Some(key)
    }

    /// The key that leaves next, if it is known and nothing comes in between.
    #[inline(always)]
    pub(crate) const fn soon(&self) -> u128 {
        self.near
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Removes the keys beyond the horizon that `keep` does not want: O(n log n) for n of them.
    pub(crate) fn retain_far(&mut self, mut keep: impl FnMut(u128) -> bool) {
        let (mut removed, salt) = (0, self.salt);
        self.far.retain(|key| {
            let kept = keep(drawn(*key, salt));
            removed += usize::from(!kept);
            kept
        });
        self.len -= removed;
        self.far_min = self.far.min();
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the place in the wheel and in the slab"
    )]
    fn push_bucket(&mut self, bucket: u64, key: u128) {
        let place = self.place(bucket);
        let node = Node {
            key,
            next: self.buckets[place],
        };
        let index = self.free;
        if let Some(free) = self.nodes.get_mut(index as usize) {
            self.free = free.next;
            *free = node;
            self.buckets[place] = index;
        } else {
            self.buckets[place] = self.nodes.len() as u32;
            self.nodes.push(node);
        }
        let word = place / 64 % WORDS;
        self.occupied[word] |= 1 << (place % 64);
        self.words |= 1 << word;
    }

    /// An event of the current bucket or an earlier one, or of one beyond the horizon.
    #[inline(never)]
    fn push_elsewhere(&mut self, bucket: u64, key: u128) {
        if bucket > self.now {
            let key = drawn(key, self.salt);
            self.far.push(key);
            self.far_min = self.far_min.min(key);
            return;
        }
        if bucket < self.now {
            // The current bucket was looked up ahead of time; it has to wait.
            let later = std::mem::replace(&mut self.now, bucket);
            for key in std::mem::take(&mut self.rest) {
                self.push_bucket(later, key);
            }
            if self.near != EMPTY {
                let near = std::mem::replace(&mut self.near, EMPTY);
                self.push_bucket(later, near);
            }
        }
        let (near, later) = self.in_order(self.near, key);
        self.near = near;
        if later != EMPTY {
            let salt = self.salt;
            let is_later = |other: &u128| compare(*other, later, salt) == Ordering::Greater;
            let place = self.rest.partition_point(is_later);
            self.rest.insert(place, later);
        }
    }

    /// [`Calendar::pop`] when the current bucket is empty or the smallest key may be beyond the horizon; `EMPTY` for
    /// none, which takes no memory to return.
    #[inline(never)]
    fn pop_elsewhere(&mut self, limit: u64) -> u128 {
        if self.near == EMPTY {
            self.turn();
        }
        if self.near != EMPTY && drawn(self.near, self.salt) < self.far_min {
            return self.pop_near(limit).unwrap_or(EMPTY);
        }
        if time_of(self.far_min) > limit || self.far_min == EMPTY {
            return EMPTY;
        }
        let key = drawn(self.far_min, self.salt);
        self.len -= 1;
        self.base = time_of(key) >> self.shift;
        self.pop_far();
        if self.near == EMPTY {
            self.now = self.base;
            self.turn();
        }
        key
    }

    /// Makes the next bucket that is not empty the current one, if there is one. As buckets hold about one event, it
    /// is mostly within the same word of the bitmap.
    #[inline(always)]
    fn turn(&mut self) {
        let start = self.place(self.now + 1);
        let word = start / 64 % WORDS;
        let bits = &mut self.occupied[word];
        let ahead = *bits & (u64::MAX << (start % 64));
        if ahead == 0 {
            return self.turn_further(word);
        }
        *bits ^= ahead & ahead.wrapping_neg();
        self.open(word * 64 + ahead.trailing_zeros() as usize);
    }

    /// [`Calendar::turn`] to a bucket of a word after this one; at last of the beginning of this one, a whole turn
    /// ahead.
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "the number of a bit")]
    fn turn_further(&mut self, word: usize) {
        let mut ahead = self.words.rotate_right(word as u32 + 1);
        while ahead != 0 {
            let found = (word + 1 + ahead.trailing_zeros() as usize) % WORDS;
            let bits = &mut self.occupied[found];
            let place = found * 64 + bits.trailing_zeros() as usize;
            let was_empty = *bits == 0;
            *bits &= bits.wrapping_sub(1);
            if *bits == 0 {
                self.words &= !(1 << found);
            }
            if !was_empty {
                return self.open(place);
            }
            ahead &= ahead - 1;
        }
        self.near = EMPTY;
    }

    /// Makes the bucket at `place`, which is not empty, the current one.
    #[inline(always)]
    fn open(&mut self, place: usize) {
        let first = std::mem::replace(&mut self.buckets[place % MOST], NONE);
        let node = &mut self.nodes[first as usize];
        self.near = node.key;
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = first;
        self.now = time_of(self.near) >> self.shift;
        if next != NONE {
            self.sort_bucket(next);
        }
    }

    /// A bucket with several events: `near` has the first of its list, `index` begins the others.
    #[inline(never)]
    fn sort_bucket(&mut self, mut index: u32) {
        let second = &mut self.nodes[index as usize];
        if second.next == NONE {
            // Most often there are two.
            let other = second.key;
            (second.next, self.free) = (self.free, index);
            let (near, later) = self.in_order(self.near, other);
            self.near = near;
            self.rest.push(later);
            return;
        }
        self.rest.push(self.near);
        while let Some(node) = self.nodes.get_mut(index as usize) {
            self.rest.push(node.key);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = index;
            index = next;
        }
        let salt = self.salt;
        self.rest.sort_unstable_by(|a, b| compare(*b, *a, salt));
        self.near = self.rest.pop().expect("the first of the list is there");
    }

    /// Where a bucket is in the wheel.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
    const fn place(&self, bucket: u64) -> usize {
        bucket as usize & ((self.count - 1) % MOST)
    }

    /// The earlier one of two keys first.
    #[inline(always)]
    fn in_order(&self, a: u128, b: u128) -> (u128, u128) {
        if compare(a, b, self.salt) == Ordering::Less {
            (a, b)
        } else {
            (b, a)
        }
    }

    fn pop_far(&mut self) {
        self.far.pop();
        self.far_min = self.far.min();
    }
}

/// At most 64 words of 64 buckets, for each of which another word has a bit.
const WORDS: usize = u64::BITS as usize;
/// Most buckets.
const MOST: usize = 64 * WORDS;
/// No node.
const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Stream;

    /// Keys pushed at random times ahead of the last popped one leave in order.
    fn agrees_with_a_sorted_set(horizon: u64, gap: u64, ahead: u64) {
        let mut random = Stream::new(ahead, "calendar", 0);
        let mut calendar = Calendar::new(horizon, gap, ahead);
        let mut model = BTreeSet::new();
        let mut now = 0;
        for round in 0..30_000_u64 {
            let grows = (round / 700) % 2 == 0;
            if random.below(5) < if grows { 3 } else { 2 } {
                let delay = random.below(ahead) * random.below(2);
                let key = u128::from(now + delay) << 64 | u128::from(round);
                calendar.push(key);
                model.insert(drawn(key, ahead));
            } else {
                // A limit that now and then lies before the next key.
                let limit = now + random.below(ahead * 2);
                let expected = model.first().copied().filter(|key| time_of(*key) <= limit);
                let popped = calendar.pop(limit);
                assert_eq!(popped.map(|key| drawn(key, ahead)), expected);
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
        agrees_with_a_sorted_set(1, 0, 10);
        agrees_with_a_sorted_set(1_000, 1_000, 10);
        agrees_with_a_sorted_set(4_096, 1, 4_096);
        agrees_with_a_sorted_set(4_096, 1, 40_960);
        agrees_with_a_sorted_set(1 << 20, 10_000, 1 << 21);
        agrees_with_a_sorted_set(1 << 30, 1 << 24, 50);
    }

    #[test]
    fn what_comes_within_the_horizon_passes_the_heap_by_however_small_the_gap() {
        // A hop of 10 Gbit/s and 5 us; the gap of 1,024 hosts is 469 ps.
        let horizon = 6_200_000;
        for gap in [0, 469, 3_300, 1_000_000] {
            let mut calendar = Calendar::new(horizon, gap, 1);
            for time in (0..horizon).step_by(997) {
                calendar.push(u128::from(time) << 64);
            }
            assert_eq!(calendar.far.len(), 0, "{gap}");
        }
    }

    #[test]
    fn keys_leave_in_order_for_random_sizes_and_delays() {
        let mut random = Stream::new(1, "sizes", 0);
        for _ in 0..60 {
            let (horizon_bits, ahead_bits) = (random.below(34), random.below(40));
            let gap_bits = random.below(34);
            let gap = random.below(1 << gap_bits);
            let ahead = 1 + random.below(1 << ahead_bits);
            agrees_with_a_sorted_set(1 << horizon_bits, gap, ahead);
        }
    }
}
