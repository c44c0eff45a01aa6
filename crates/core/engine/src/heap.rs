//! A four-ary min-heap of 128-bit keys, laid out by cache line.
//!
//! The four children of a node lie in one aligned 64-byte group, and unused places hold the largest
//! key, so that a level costs one cache line and no unpredictable branch. The root is virtual: its
//! children are group 0.
//!
//! `push` and `pop`: O(log4 n); `min`: O(1).

/// See the module documentation.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Element `e` is `groups[e / 4].0[e % 4]`; its children are `groups[e + 1]`.
    groups: Vec<Group>,
    /// Elements in use.
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([u128; ARITY]);

impl Heap {
    pub(crate) fn new() -> Self {
        Self {
            groups: vec![Group([EMPTY; ARITY])],
            len: 0,
        }
    }

    /// Inserts `key`, which must be less than `u128::MAX`.
    pub(crate) fn push(&mut self, key: u128) {
        debug_assert!(key < EMPTY, "the largest key marks an empty place");
        let mut element = self.len;
        self.len += 1;
        if element / ARITY == self.groups.len() {
            self.groups.push(Group([EMPTY; ARITY]));
        }
        while element >= ARITY {
            let parent = element / ARITY - 1;
            let above = self.groups[parent / ARITY].0[parent % ARITY];
            if above <= key {
                break;
            }
            self.groups[element / ARITY].0[element % ARITY] = above;
            element = parent;
        }
        self.groups[element / ARITY].0[element % ARITY] = key;
    }

    /// The smallest key; the largest there is if the heap is empty.
    pub(crate) fn min(&self) -> u128 {
        self.groups[0].0[smallest(&self.groups[0])]
    }

    /// Removes the smallest key, if there is one. The last element takes its place and sinks.
    pub(crate) fn pop(&mut self) {
        let Some(last) = self.len.checked_sub(1) else {
            return;
        };
        self.len = last;
        let first = smallest(&self.groups[0]);
        let key = std::mem::replace(&mut self.groups[last / ARITY].0[last % ARITY], EMPTY);
        if last != first {
            self.sift_down(first, key);
        }
    }

    /// Removes the keys that `keep` does not want, and gives back their memory: O(n log n).
    pub(crate) fn retain(&mut self, keep: impl FnMut(&u128) -> bool) {
        let groups = std::mem::take(&mut self.groups);
        let mut keys: Vec<u128> = groups.into_iter().flat_map(|group| group.0).collect();
        keys.truncate(self.len);
        keys.retain(keep);
        // Ascending keys are a heap.
        keys.sort_unstable();
        *self = Self::new();
        self.groups.reserve(keys.len() / ARITY);
        for key in keys {
            self.push(key);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn sift_down(&mut self, mut element: usize, key: u128) {
        while let Some(children) = self.groups.get(element + 1) {
            let child = smallest(children);
            let below = children.0[child];
            if key <= below {
                break;
            }
            self.groups[element / ARITY].0[element % ARITY] = below;
            element = (element + 1) * ARITY + child;
        }
        self.groups[element / ARITY].0[element % ARITY] = key;
    }
}

/// The place of the smallest key, found by a tournament of two rounds.
fn smallest(group: &Group) -> usize {
    let [a, b, c, d] = group.0;
    let (low, low_at) = if b < a { (b, 1) } else { (a, 0) };
    let (high, high_at) = if d < c { (d, 3) } else { (c, 2) };
    if high < low { high_at } else { low_at }
}

const ARITY: usize = 4;
const EMPTY: u128 = u128::MAX;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::Stream;

    #[test]
    fn only_the_keys_that_are_kept_stay() {
        for count in 0..40_u128 {
            let mut heap = Heap::new();
            for key in (0..count).rev() {
                heap.push(key);
            }
            heap.retain(|key| key % 3 == 1);
            heap.push(0);
            let left = std::iter::from_fn(|| {
                let key = Some(heap.min()).filter(|key| *key < EMPTY);
                heap.pop();
                key
            });
            let kept = (0..count).filter(|key| key % 3 == 1);
            assert!(left.eq(std::iter::once(0).chain(kept)), "{count}");
        }
    }

    #[test]
    fn keys_leave_in_order_whatever_the_operations() {
        let mut random = Stream::new(1, "heap", 0);
        let mut heap = Heap::new();
        let mut model = BTreeSet::new();
        for round in 0..20_000_u64 {
            // Phases that grow and phases that shrink the heap, through empty.
            let grows = (round / 500) % 2 == 0;
            if random.below(3) < if grows { 2 } else { 1 } {
                let key = u128::from(random.below(1_000)) << 64 | u128::from(round);
                heap.push(key);
                model.insert(key);
            } else {
                assert_eq!(heap.min(), model.pop_first().unwrap_or(EMPTY));
                heap.pop();
            }
            assert_eq!(heap.len(), model.len());
        }
    }
}
