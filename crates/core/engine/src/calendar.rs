//! The event list: a calendar of short buckets for what comes soon, a heap for the rest.
//!
//! Packets on wires are due within a hop's delay, timers long after. An event within the horizon goes
//! unsorted into a bucket of the calendar. A bucket rarely holds more than a few events, and sorts them
//! when its turn comes. Later events go into a heap, which the calendar's events pass by. A bitmap
//! finds the next bucket that is not empty.
//!
//! The width of buckets follows the events: with few of them buckets are wide, so that the next one that is not
//! empty is mostly in the same word of the bitmap; with many they are narrow, so that few share one. Where even the most
//! buckets are too wide, they reach less far than the horizon, unless too much of what is scheduled lies between.
//!
//! `push` and `pop` within the horizon: O(1) for a bucket of bounded size, O(k log k) for k events in
//! one bucket; beyond the horizon O(log n).

use std::cmp::Ordering;

use crate::heap::Heap;
use crate::key::{EMPTY, compare, drawn, time_of};
use base::cast::{id, index};

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
    /// How often since the width was reviewed the next bucket was in another word of the bitmap, and how often it had
    /// several keys.
    crossings: u32,
    sorts: u32,
    /// How often since then an event within the horizon was beyond the last bucket.
    missed: u32,
    /// Buckets of less than 2^`least_shift` picoseconds once reached too short a time ahead.
    least_shift: u32,
    /// First free node.
    free: u32,
    /// Other keys of the current bucket, latest first.
    rest: Vec<u128>,
    /// Events in lists.
    nodes: Vec<Node>,
    /// First node of each bucket of the next turn of the wheel, as far as there are buckets.
    buckets: Box<[u32; MOST]>,
    /// The number of the last bucket. There are a power of two, few enough to stay in the cache.
    last: usize,
    /// A bit per bucket that is not empty.
    occupied: Box<[u64; WORDS]>,
    /// Events beyond the horizon when they were scheduled, as drawn numbers.
    far: Heap,
    /// Keys pushed so far, less those removed other than by a pop.
    pushed: u64,
    /// Keys popped so far.
    popped: u64,
    /// How far buckets should reach, in picoseconds; at most a bucket less.
    horizon: u64,
    /// The salt from which the order of equal times is drawn.
    salt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u128,
    next: u32,
}

impl Calendar {
    /// An empty calendar for events that are mostly less than `horizon` picoseconds ahead and at first `gap`
    /// picoseconds apart: a bucket then holds about one event. Where that would take too many buckets, they
    /// are wider and hold several: sorting a few events costs less than the heap, which takes the events beyond the last
    /// bucket.
    pub(crate) fn new(horizon: u64, gap: u64, salt: u64) -> Self {
        let width = (gap / 4).clamp(horizon / MOST as u64, horizon / LEAST as u64);
        let shift = width.max(1).next_power_of_two().ilog2();
        Self {
            near: EMPTY,
            far_min: EMPTY,
            base: 0,
            now: 0,
            shift,
            crossings: 0,
            sorts: 0,
            missed: 0,
            least_shift: 0,
            free: NONE,
            rest: Vec::new(),
            nodes: Vec::new(),
            buckets: vec![NONE; MOST].try_into().expect("as many"),
            last: last(horizon, shift),
            occupied: Box::new([0; WORDS]),
            far: Heap::new(),
            pushed: 0,
            popped: 0,
            horizon,
            salt,
        }
    }

    /// Inserts `key`, whose time is not before that of the key popped last.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u128) {
        self.pushed += 1;
        let bucket = time_of(key) >> self.shift;
        if bucket > self.now && bucket - self.base <= self.last as u64 {
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
        // This also holds if both are empty. Keys of equal times are compared there.
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
        self.popped += 1;
        self.base = self.now;
        if let Some(next) = self.rest.pop() {
            self.near = next;
        } else {
            self.turn();
        }
        Some(key)
    }

    /// The time of the smallest key; `u64::MAX` if there is none.
    pub(crate) fn next_time(&mut self) -> u64 {
        if self.near == EMPTY {
            self.turn();
        }
        time_of(self.near).min(time_of(self.far_min))
    }

    /// The key that leaves next, if it is known and nothing comes in between.
    #[inline(always)]
    pub(crate) const fn soon(&self) -> u128 {
        self.near
    }

    pub(crate) const fn len(&self) -> usize {
        index(self.pushed - self.popped)
    }

    /// Keys popped so far.
    pub(crate) const fn popped(&self) -> u64 {
        self.popped
    }

    /// Removes the keys beyond the horizon that `keep` does not want: O(n log n) for n of them.
    pub(crate) fn retain_far(&mut self, mut keep: impl FnMut(u128) -> bool) {
        let (mut removed, salt) = (0, self.salt);
        self.far.retain(|key| {
            let kept = keep(drawn(*key, salt));
            removed += u64::from(!kept);
            kept
        });
        self.pushed -= removed;
        self.far_min = self.far.min();
    }

    #[inline(always)]
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
            self.buckets[place] = id(self.nodes.len());
            self.nodes.push(node);
        }
        let word = place / 64 % WORDS;
        self.occupied[word] |= 1 << (place % 64);
    }

    /// An event of the current bucket or an earlier one, or of one beyond the horizon.
    #[inline(never)]
    fn push_elsewhere(&mut self, bucket: u64, key: u128) {
        if bucket > self.now {
            self.missed += u32::from(bucket - self.base <= self.horizon >> self.shift);
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
        self.popped += 1;
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
    fn turn_further(&mut self, word: usize) {
        let words = self.last / 64 + 1;
        for ahead in 1..=words {
            let found = (word + ahead) & (words - 1) & (WORDS - 1);
            let bits = &mut self.occupied[found];
            if *bits != 0 {
                self.crossings += 1;
                if self.crossings + self.sorts >= REVIEWED {
                    // What it was has been popped.
                    self.near = EMPTY;
                    return self.review_width();
                }
                let place = found * 64 + bits.trailing_zeros() as usize;
                *bits &= *bits - 1;
                return self.open(place);
            }
        }
        self.near = EMPTY;
    }

    /// Doubles the width of buckets if many more crossings than sorts were needed, halves it if it is the other way
    /// round, and looks for the current bucket if there is none then. Twice the width makes half as many crossings and
    /// twice as many sorts. Buckets that are the most already reach half as far then. If that misses more events than are
    /// sorted, they are widened for good.
    #[inline(never)]
    fn review_width(&mut self) {
        let (crossings, sorts, missed) = (self.crossings, self.sorts, self.missed);
        (self.crossings, self.sorts, self.missed) = (0, 0, 0);
        if missed > sorts {
            self.least_shift = self.shift + 1;
            self.change_width(self.least_shift);
        } else if crossings > MANY * sorts && self.last >= LEAST {
            self.change_width(self.shift + 1);
        } else if sorts > MANY * (crossings + missed) && self.shift > self.least_shift {
            self.change_width(self.shift - 1);
        }
        if self.near == EMPTY {
            self.turn();
        }
    }

    /// Makes buckets 2^`shift` picoseconds wide: their keys are pushed anew. O(buckets + keys in them).
    fn change_width(&mut self, shift: u32) {
        let mut keys = std::mem::take(&mut self.rest);
        if self.near != EMPTY {
            keys.push(std::mem::replace(&mut self.near, EMPTY));
        }
        for first in &mut self.buckets[..=self.last] {
            let mut index = std::mem::replace(first, NONE);
            while let Some(node) = self.nodes.get(index as usize) {
                keys.push(node.key);
                index = node.next;
            }
        }
        self.nodes.clear();
        self.free = NONE;
        self.occupied.fill(0);
        self.base = self.base << self.shift >> shift;
        self.now = self.base;
        self.shift = shift;
        self.last = last(self.horizon, shift);
        self.pushed -= keys.len() as u64;
        for key in keys {
            self.push(key);
        }
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
            self.open_several(next);
        }
    }

    /// A bucket with several events: `near` has the first of its list, `index` begins the others.
    #[inline(never)]
    fn open_several(&mut self, index: u32) {
        self.sort_bucket(index);
        self.sorts += 1;
        if self.crossings + self.sorts >= REVIEWED {
            self.review_width();
        }
    }

    #[inline(always)]
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
    const fn place(&self, bucket: u64) -> usize {
        index(bucket) & self.last & (MOST - 1)
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

/// The number of the last bucket, where buckets are 2^`shift` picoseconds wide.
fn last(horizon: u64, shift: u32) -> usize {
    let buckets = (horizon >> shift) + 1;
    index(buckets.clamp(LEAST as u64, MOST as u64).next_power_of_two()) - 1
}

/// Least and most buckets: a word of the bitmap, and 32 KiB of first nodes.
const LEAST: usize = 64;
const MOST: usize = 8192;
/// Words of the bitmap.
const WORDS: usize = MOST / 64;
/// After how many crossings and sorts the width is reviewed.
const REVIEWED: u32 = 256;
/// How many times as many are many more. A crossing costs some 50 instructions and a sort 70, mostly of two keys.
const MANY: u32 = 4;
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

    // A turn that finds nothing has crossed nothing: wider buckets would not spare it.
    #[test]
    fn keys_beyond_the_horizon_alone_do_not_change_the_width_of_buckets() {
        let mut calendar = Calendar::new(1 << 20, 1_000, 1);
        let width = calendar.shift;
        for time in 1..=2 * u64::from(REVIEWED) {
            let key = u128::from(time << 30) << 64;
            calendar.push(key);
            assert_eq!(calendar.pop(u64::MAX), Some(key));
        }
        assert_eq!(calendar.shift, width);
    }

    /// One key is popped and one pushed less than `ahead` later, over and over. Returns the number of buckets then.
    fn buckets_after(pending: u64, ahead: u64, calendar: &mut Calendar) -> usize {
        let mut random = Stream::new(pending, "calendar", 0);
        let mut later = |now: u64| u128::from(now + random.below(ahead)) << 64;
        // Time goes on where it was.
        let mut now = calendar.base << calendar.shift;
        while calendar.len() < usize::try_from(pending).unwrap_or(0) {
            calendar.push(later(now));
        }
        for _ in 0..400_000 {
            let key = calendar.pop(u64::MAX).expect("as many as before");
            assert!(time_of(key) >= now, "keys leave in order");
            now = time_of(key);
            calendar.push(later(now));
        }
        calendar.last + 1
    }

    #[test]
    fn buckets_are_as_many_as_the_events_ask_for() {
        // Keys are half a horizon ahead on average, so that in a horizon twice as many come as are pending: 40 and
        // 1,000. With n in a bucket on average n/2 of the buckets have several, and 1/64 n is the share of keys that
        // are the first in a word. That is the same for a sixth of a key in a bucket. Half or twice that is as good:
        // 120 to 480 buckets for a horizon, or 3,000 and more; there may be twice as many.
        for gap in [1, 1 << 20] {
            let few = buckets_after(20, 1 << 20, &mut Calendar::new(1 << 20, gap, 1));
            assert!((128..=512).contains(&few), "{few}");
            let many = buckets_after(500, 1 << 20, &mut Calendar::new(1 << 20, gap, 1));
            assert!((2048..=8192).contains(&many), "{many}");
        }
    }

    #[test]
    fn buckets_reach_no_further_than_most_events_are_ahead() {
        let horizon = 1 << 30;
        let mut calendar = Calendar::new(horizon, 1, 1);
        let widest = calendar.shift;
        // Of 2,000 keys in a thousandth of the horizon, 250 would share a bucket that is as wide as at first. Buckets that
        // reach half as far as the keys miss half of them, and sort fewer.
        assert_eq!(buckets_after(1_000, 1 << 20, &mut calendar), MOST);
        assert_eq!((MOST as u64) << calendar.shift, 1 << 20);
        // Keys of the whole horizon bring the first width back.
        buckets_after(1_000, horizon, &mut calendar);
        assert_eq!(calendar.shift, widest);
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
