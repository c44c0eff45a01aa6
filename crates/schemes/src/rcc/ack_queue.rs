//! The buffer queue: ACKs that wait, short flows first, none passed for ever.

use tcp::Slot;

/// ACKs in the order in which they will leave, at most one per connection (RCC §4.3).
///
/// All operations are O(waiting ACKs), which is the number of connections beyond the budget.
#[derive(Debug)]
pub(super) struct AckQueue {
    entries: Vec<Entry>,
    /// How often an entry can be passed.
    skip_max: u32,
    /// Passes that a retransmitted ACK is given in advance.
    push_bonus: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    slot: Slot,
    push: bool,
    /// How often it has been passed.
    skip: u32,
    /// Bytes that decide its place; `None` without priority.
    priority: Option<u64>,
}

/// An ACK to be queued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Submission {
    pub(super) slot: Slot,
    pub(super) push: bool,
    /// Whether the receiver's timer repeats it (RCC Alg. 3).
    pub(super) again: bool,
    pub(super) priority: Option<u64>,
}

impl AckQueue {
    pub(super) const fn new(skip_max: u32, push_bonus: u32) -> Self {
        Self {
            entries: Vec::new(),
            skip_max,
            push_bonus,
        }
    }

    /// Queues an ACK in place of the connection's earlier one, whose passes and PSH it keeps.
    pub(super) fn submit(&mut self, ack: Submission) {
        let (mut skip, mut push) = (0, ack.push);
        if let Some(earlier) = self.remove(ack.slot) {
            skip = earlier.skip;
            push |= earlier.push;
        }
        if ack.push && ack.again {
            skip = skip.saturating_add(self.push_bonus);
        }
        // RCC Alg. 2 l. 4-10: from the tail, past those with lower priority that can be passed.
        let mut place = self.entries.len();
        while let Some(ahead) = place.checked_sub(1).map(|index| &mut self.entries[index]) {
            let shorter = ack
                .priority
                .zip(ahead.priority)
                .is_some_and(|(own, its)| own < its);
            if !shorter || ahead.skip >= self.skip_max {
                break;
            }
            ahead.skip += 1;
            place -= 1;
        }
        let Submission { slot, priority, .. } = ack;
        self.entries.insert(
            place,
            Entry {
                slot,
                push,
                skip,
                priority,
            },
        );
    }

    /// The ACK at the head leaves.
    pub(super) fn pop(&mut self) -> Option<(Slot, bool)> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = self.entries.remove(0);
        Some((entry.slot, entry.push))
    }

    /// The connection is gone: its ACK does not leave.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.remove(slot);
    }

    /// Waiting ACKs.
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether an ACK of the connection waits.
    pub(super) fn contains(&self, slot: Slot) -> bool {
        self.entries.iter().any(|entry| entry.slot == slot)
    }

    fn remove(&mut self, slot: Slot) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.slot == slot)?;
        Some(self.entries.remove(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(slot: u32, priority: u64) -> Submission {
        Submission {
            slot: Slot(slot),
            push: false,
            again: false,
            priority: Some(priority),
        }
    }

    fn order(queue: &mut AckQueue) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop())
            .map(|(slot, _)| slot.0)
            .collect()
    }

    #[test]
    fn short_flows_pass_long_ones_and_equals_stay_in_order() {
        let mut queue = AckQueue::new(416, 208);
        for (slot, priority) in [(0, 30), (1, 20), (2, 30), (3, 20), (4, 10)] {
            queue.submit(data(slot, priority));
        }
        assert_eq!(order(&mut queue), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn an_ack_is_passed_at_most_skip_max_times() {
        let mut queue = AckQueue::new(2, 0);
        queue.submit(data(0, 30));
        for slot in 1..=4 {
            queue.submit(data(slot, 10 + u64::from(slot)));
        }
        // 1 and 2 pass; 3 and 4 cannot.
        assert_eq!(order(&mut queue), [1, 2, 0, 3, 4]);
    }

    #[test]
    fn a_newer_ack_replaces_the_older_and_keeps_its_passes() {
        let mut queue = AckQueue::new(2, 0);
        queue.submit(data(0, 30));
        queue.submit(data(1, 10));
        queue.submit(data(2, 11));
        queue.submit(data(0, 29));
        assert_eq!(queue.len(), 3);
        queue.submit(data(3, 5));
        assert_eq!(
            order(&mut queue),
            [1, 2, 0, 3],
            "0 was passed twice before it was replaced"
        );
    }

    #[test]
    fn a_retransmitted_ack_starts_with_the_bonus() {
        let mut queue = AckQueue::new(2, 1);
        queue.submit(Submission {
            push: true,
            again: true,
            ..data(0, 30)
        });
        queue.submit(data(1, 10));
        queue.submit(data(2, 10));
        assert_eq!(order(&mut queue), [1, 0, 2]);
    }

    #[test]
    fn bonuses_beyond_every_bound_add_up_to_the_bound() {
        let mut queue = AckQueue::new(2, u32::MAX);
        for _ in 0..2 {
            queue.submit(Submission {
                push: true,
                again: true,
                ..data(0, 30)
            });
        }
        queue.submit(data(1, 10));
        assert_eq!(order(&mut queue), [0, 1]);
    }
}
