//! A four-ary min-heap of 128-bit keys, laid out by cache line.
//!
//! The four children of a node lie in one aligned 64-byte group, and unused places hold the largest
//! key, so that a level costs one cache line and no unpredictable branch. The root is virtual: its
//! children are group 0. Taking the smallest key leaves a hole that the next insertion fills from
//! above, because an event that is handled almost always schedules another one.
//!
//! `push` and `pop`: O(log4 n).

/// See the module documentation.
#[derive(Debug)]
pub(crate) struct Heap {
    /// Element `e` is `groups[e / 4].0[e % 4]`; its children are `groups[e + 1]`.
    groups: Vec<Group>,
    /// Elements in use, the hole included.
    len: usize,
    /// The element whose key was taken and not yet replaced; always in group 0.
    hole: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Group([u128; ARITY]);

impl Heap {
    pub(crate) fn new() -> Self {
        Self {
            groups: vec![Group([EMPTY; ARITY])],
            len: 0,
            hole: None,
        }
    }

    /// Inserts `key`, which must be less than `u128::MAX`.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u128) {
        debug_assert!(key < EMPTY, "the largest key marks an empty place");
        if let Some(hole) = self.hole.take() {
            self.sift_down(hole, key);
        } else {
            self.append(key);
        }
    }

    /// The smallest key, which stays.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> Option<u128> {
        self.close_hole();
        let key = self.groups[0].0[smallest(&self.groups[0])];
        (key < EMPTY).then_some(key)
    }

    /// Removes the key that [`Heap::peek`] just returned.
    #[inline(always)]
    pub(crate) fn take(&mut self) {
        debug_assert!(self.hole.is_none(), "take follows peek");
        self.hole = Some(smallest(&self.groups[0]));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len - usize::from(self.hole.is_some())
    }

    /// Fills the hole with the last element, as in a textbook heap.
    fn close_hole(&mut self) {
        let Some(hole) = self.hole.take() else { return };
        self.len -= 1;
        let last = self.len;
        let key = std::mem::replace(&mut self.groups[last / ARITY].0[last % ARITY], EMPTY);
        if last != hole {
            self.sift_down(hole, key);
        }
    }

    fn append(&mut self, key: u128) {
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

    #[inline(always)]
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
#[inline(always)]
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
                let expected = model.pop_first();
                assert_eq!(heap.peek(), expected);
                if expected.is_some() {
                    heap.take();
                }
            }
            assert_eq!(heap.len(), model.len());
        }
    }
}
