//! Connections in the order of their registration, any of which may leave.

use tcp::Slot;

/// Slots in the order in which they were added.
///
/// A slot that is removed leaves a hole. As soon as most places are holes, the slots behind them move
/// up, which the removals since the last time have paid for: adding and removing is O(1), amortised,
/// and iterating O(slots).
#[derive(Debug, Default)]
pub(crate) struct Roster {
    slots: Vec<Option<Slot>>,
    /// By slot: its index in `slots`; of a slot that is not there it means nothing.
    places: Vec<usize>,
    len: usize,
    /// Places looked at to close holes, for a test of the cost.
    #[cfg(test)]
    pub(crate) moves: usize,
}

impl Roster {
    /// Appends a slot that is not there.
    pub(crate) fn add(&mut self, slot: Slot) {
        debug_assert!(!self.contains(slot), "a connection registers once");
        let index = slot.0 as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, 0);
        }
        self.places[index] = self.slots.len();
        self.slots.push(Some(slot));
        self.len += 1;
    }

    /// Takes out a slot, if it is there.
    pub(crate) fn remove(&mut self, slot: Slot) {
        if !self.contains(slot) {
            return;
        }
        self.slots[self.places[slot.0 as usize]] = None;
        self.len -= 1;
        if self.slots.len() > 2 * self.len {
            self.close_holes();
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        self.slots.iter().copied().flatten()
    }

    fn contains(&self, slot: Slot) -> bool {
        let place = self.places.get(slot.0 as usize);
        place.is_some_and(|place| self.slots.get(*place) == Some(&Some(slot)))
    }

    fn close_holes(&mut self) {
        #[cfg(test)]
        {
            self.moves += self.slots.len();
        }
        self.slots.retain(Option::is_some);
        for (place, slot) in self.slots.iter().flatten().enumerate() {
            self.places[slot.0 as usize] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whoever_leaves_the_others_keep_their_order(
            changes in prop::collection::vec(0..20_u32, 0..200),
        ) {
            let (mut roster, mut model) = (Roster::default(), Vec::new());
            for slot in changes.into_iter().map(Slot) {
                if let Some(place) = model.iter().position(|other| *other == slot) {
                    model.remove(place);
                    roster.remove(slot);
                } else {
                    model.push(slot);
                    roster.add(slot);
                }
                prop_assert_eq!(roster.len(), model.len());
                prop_assert_eq!(roster.iter().collect::<Vec<_>>(), model.clone());
            }
        }
    }

    #[test]
    fn a_slot_that_has_left_is_not_removed_twice() {
        let mut roster = Roster::default();
        (0..3).map(Slot).for_each(|slot| roster.add(slot));
        roster.remove(Slot(1));
        roster.remove(Slot(1));
        roster.remove(Slot(7));
        assert_eq!(roster.iter().collect::<Vec<_>>(), [Slot(0), Slot(2)]);
    }
}
