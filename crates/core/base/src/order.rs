//! Sorting, small where programs are small.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts and keeps the order of equal elements, as `sort_by` and its kin of the standard library do.
///
/// The library's sorts take about six kilobytes of a program for every type and order. The program inside a page, which
/// every page carries, has one small merge sort for all of them. Where every event sorts, the library's are used in a
/// page, too.
///
/// ```
/// use base::Sort as _;
///
/// let mut words = ["queue", "ack", "cwnd"];
/// words.order_by_key(|word| word.len());
/// assert_eq!(words, ["ack", "cwnd", "queue"]);
/// ```
pub trait Sort<T> {
    /// Sorts by a comparison. O(n log n), with a list of n numbers in a page.
    fn order_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key of each element.
    fn order_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts by the order of the elements.
    fn order(&mut self)
    where
        T: Ord,
    {
        self.order_by(T::cmp);
    }

    /// Sorts elements among which equal ones are the same, or whose order does not matter. It needs no second list outside a
    /// page.
    fn order_unstable_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by the order of elements among which equal ones are the same.
    fn order_unstable(&mut self)
    where
        T: Ord,
    {
        self.order_unstable_by(T::cmp);
    }

    /// Sorts by a key that is different for any two elements.
    fn order_unstable_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.order_unstable_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Moves to `place` the element that a sort would move there, smaller ones before it and greater ones behind it. O(n)
    /// outside a page.
    ///
    /// # Panics
    /// If there is no such place.
    fn select_by(&mut self, place: usize, compare: impl FnMut(&T, &T) -> Ordering);
}

/// Collects into ordered sets and maps.
///
/// `collect` sorts first, by a sort of its own for every type. In a page elements are inserted one after the other.
///
/// ```
/// use base::Ordered as _;
///
/// let lengths = ["queue", "ack"].into_iter().map(|word| (word, word.len()));
/// assert_eq!(lengths.into_map().first_key_value(), Some((&"ack", &3)));
/// ```
pub trait Ordered: Iterator + Sized {
    /// The set of the elements.
    fn into_set(self) -> BTreeSet<Self::Item>
    where
        Self::Item: Ord,
    {
        if !cfg!(page) {
            return self.collect();
        }
        let mut set = BTreeSet::new();
        set.extend(self);
        set
    }

    /// The map of the pairs; of equal keys the last one counts.
    fn into_map<K: Ord, V>(self) -> BTreeMap<K, V>
    where
        Self: Iterator<Item = (K, V)>,
    {
        if !cfg!(page) {
            return self.collect();
        }
        let mut map = BTreeMap::new();
        map.extend(self);
        map
    }
}

impl<I: Iterator> Ordered for I {}

impl<T> Sort<T> for [T] {
    fn order_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if !cfg!(page) {
            return self.sort_by(compare);
        }
        let is_after = &mut |a: usize, b: usize| compare(&self[a], &self[b]).is_gt();
        let mut places = places(self.len(), is_after);
        for first in 0..self.len() {
            while places[first] != first {
                let place = places[first];
                self.swap(first, place);
                places.swap(first, place);
            }
        }
    }

    fn order_unstable_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        if !cfg!(page) {
            return self.sort_unstable_by(compare);
        }
        self.order_by(compare);
    }

    fn select_by(&mut self, place: usize, compare: impl FnMut(&T, &T) -> Ordering) {
        if !cfg!(page) {
            self.select_nth_unstable_by(place, compare);
            return;
        }
        self.order_by(compare);
    }
}

/// The place of each of `count` elements once they are sorted.
#[inline(never)]
fn places(count: usize, is_after: &mut dyn FnMut(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut merged = Vec::with_capacity(count);
    let mut width = 1;
    while width < count {
        for part in order.chunks(2 * width) {
            let (mut left, mut right) = part.split_at(width.min(part.len()));
            while let ([first, behind @ ..], [other, others @ ..]) = (left, right) {
                if is_after(*first, *other) {
                    merged.push(*other);
                    right = others;
                } else {
                    merged.push(*first);
                    left = behind;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        merged.clear();
        width *= 2;
    }
    merged.resize(count, 0);
    for (place, element) in order.iter().enumerate() {
        merged[*element] = place;
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_a_page_are_those_of_the_standard_library() {
        let mut state = 1_u64;
        for count in [0, 1, 2, 3, 7, 64, 1000] {
            let next = |_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) % 50
            };
            let keys: Vec<u64> = (0..count).map(next).collect();
            let mut sorted: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
            sorted.sort_by_key(|(key, _)| *key);
            let places = places(keys.len(), &mut |a, b| keys[a] > keys[b]);
            for (place, (_, element)) in sorted.iter().enumerate() {
                assert_eq!(places[*element], place, "{keys:?}");
            }
        }
    }
}
