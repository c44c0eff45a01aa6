//! The buffer queue: ACKs that wait, short flows first, none passed for ever.

use tcp::Slot;

/// ACKs in the order in which they will leave, at most one per connection (RCC §4.2).
///
/// The order is that of RCC §4.2, where a new ACK walks from the tail past those with lower
/// priority that can still be passed, and each of them counts it. Here nothing walks: the order is a
/// splay tree in which every node knows the least priority and the most passes below it, so the ACK
/// that stops the walk is found from the root down, and a pass of all behind it is noted once, at the
/// top of their subtree. Every operation is O(log n) amortised, and O(1) where ACKs leave in the order
/// in which they came.
#[derive(Debug)]
pub(super) struct AckQueue {
    /// By slot.
    nodes: Vec<Node>,
    /// [`NONE`] if no ACK waits.
    root: u32,
    len: usize,
    /// The path from the root to the node that is being moved up; empty between operations.
    path: Vec<u32>,
    /// Number of times that an entry can be passed.
    skip_max: u32,
    /// Passes that a retransmitted ACK is given in advance.
    push_bonus: u32,
}

/// An ACK and its place in the tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    /// Whether the ACK is in the queue; if not, nothing else here means anything.
    waits: bool,
    parent: u32,
    /// Subtrees of the ACKs ahead of it and behind it.
    children: [u32; 2],
    /// Passes of all ACKs below that their entries do not count yet.
    owed: u32,
    /// The least priority in the subtree: `None`, which nothing passes, is less than any.
    least: Option<u64>,
    /// The most passes in the subtree.
    most: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
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
            nodes: Vec::new(),
            root: NONE,
            len: 0,
            path: Vec::new(),
            skip_max,
            push_bonus,
        }
    }

    /// Queues an ACK in place of the connection's earlier one, whose passes and PSH it keeps.
    pub(super) fn submit(&mut self, ack: Submission) {
        let Submission { slot, priority, .. } = ack;
        let (mut skip, mut push) = (0, ack.push);
        if let Some(earlier) = self.remove(slot.0) {
            skip = earlier.skip;
            push |= earlier.push;
        }
        if ack.push && ack.again {
            skip = skip.saturating_add(self.push_bonus);
        }
        let (ahead, passed) = self.split(priority);
        if passed != NONE {
            self.pass(passed, 1);
        }
        let index = slot.0 as usize;
        if self.nodes.len() <= index {
            self.nodes.resize(index + 1, Node::ABSENT);
        }
        self.nodes[index] = Node {
            entry: Entry {
                push,
                skip,
                priority,
            },
            waits: true,
            ..Node::ABSENT
        };
        self.attach(slot.0, Side::Ahead, ahead);
        self.attach(slot.0, Side::Behind, passed);
        self.refresh(slot.0);
        self.root = slot.0;
        self.len += 1;
    }

    /// The ACK at the head leaves.
    pub(super) fn pop(&mut self) -> Option<(Slot, bool)> {
        let head = self.last(self.root, Side::Ahead)?;
        let entry = self.remove(head)?;
        Some((Slot(head), entry.push))
    }

    /// The connection is gone: its ACK does not leave.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.remove(slot.0);
    }

    /// Waiting ACKs.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Whether an ACK of the connection waits.
    pub(super) fn contains(&self, slot: Slot) -> bool {
        let node = self.nodes.get(slot.0 as usize);
        node.is_some_and(|node| node.waits)
    }

    fn remove(&mut self, node: u32) -> Option<Entry> {
        if !self.contains(Slot(node)) {
            return None;
        }
        self.splay(node);
        self.len -= 1;
        self.at_mut(node).waits = false;
        let Node {
            entry,
            children: [ahead, behind],
            ..
        } = *self.at(node);
        for child in [ahead, behind] {
            if child != NONE {
                self.at_mut(child).parent = NONE;
            }
        }
        self.root = behind;
        if let Some(before) = self.last(ahead, Side::Behind) {
            self.splay(before);
            self.attach(before, Side::Behind, behind);
            self.refresh(before);
        }
        Some(entry)
    }

    /// Cuts the tree behind the last ACK that one of `priority` cannot pass, into the ACKs ahead of
    /// the new one and those that it passes.
    fn split(&mut self, priority: Option<u64>) -> (u32, u32) {
        let Some(stop) = self.last_impassable(priority) else {
            return (NONE, self.root);
        };
        self.splay(stop);
        let passed = self.at(stop).children[Side::Behind as usize];
        if passed != NONE {
            self.at_mut(passed).parent = NONE;
            self.at_mut(stop).children[Side::Behind as usize] = NONE;
            self.refresh(stop);
        }
        (stop, passed)
    }

    /// RCC §4.2: where the walk from the tail ends.
    fn last_impassable(&mut self, priority: Option<u64>) -> Option<u32> {
        let skip_max = self.skip_max;
        // Without a size an ACK passes nothing, and a shorter flow passes only longer ones.
        let stops = |least: Option<u64>, most: u32| {
            priority.is_none() || least <= priority || most >= skip_max
        };
        let mut at = self.root;
        if at == NONE || !stops(self.at(at).least, self.at(at).most) {
            return None;
        }
        loop {
            self.hand_down(at);
            let Node {
                entry,
                children: [ahead, behind],
                ..
            } = *self.at(at);
            if behind != NONE && stops(self.at(behind).least, self.at(behind).most) {
                at = behind;
            } else if stops(entry.priority, entry.skip) {
                return Some(at);
            } else {
                at = ahead;
            }
        }
    }

    /// The outermost node of a subtree.
    fn last(&mut self, mut node: u32, side: Side) -> Option<u32> {
        if node == NONE {
            return None;
        }
        loop {
            self.hand_down(node);
            match self.at(node).children[side as usize] {
                NONE => return Some(node),
                further => node = further,
            }
        }
    }

    /// Makes a node the root of its tree (Sleator and Tarjan 1985, §1).
    fn splay(&mut self, node: u32) {
        let mut above = self.at(node).parent;
        while above != NONE {
            self.path.push(above);
            above = self.at(above).parent;
        }
        while let Some(above) = self.path.pop() {
            self.hand_down(above);
        }
        self.hand_down(node);
        loop {
            let parent = self.at(node).parent;
            if parent == NONE {
                break;
            }
            let grandparent = self.at(parent).parent;
            if grandparent != NONE {
                let in_line = self.side(parent) == self.side(node);
                self.rotate(if in_line { parent } else { node });
            }
            self.rotate(node);
        }
        self.refresh(node);
        self.root = node;
    }

    /// Puts a node in its parent's place, which becomes its child. Leaves the node to be refreshed.
    fn rotate(&mut self, node: u32) {
        let parent = self.at(node).parent;
        let grandparent = self.at(parent).parent;
        let side = self.side(node);
        let inner = self.at(node).children[side.other() as usize];
        if grandparent == NONE {
            self.at_mut(node).parent = NONE;
        } else {
            let place = self.side(parent);
            self.attach(grandparent, place, node);
        }
        self.attach(parent, side, inner);
        self.attach(node, side.other(), parent);
        self.refresh(parent);
    }

    fn attach(&mut self, parent: u32, side: Side, child: u32) {
        self.at_mut(parent).children[side as usize] = child;
        if child != NONE {
            self.at_mut(child).parent = parent;
        }
    }

    /// Updates the values that a node keeps of its subtree.
    fn refresh(&mut self, node: u32) {
        let Node {
            entry, children, ..
        } = *self.at(node);
        let (mut least, mut most) = (entry.priority, entry.skip);
        for child in children {
            if child != NONE {
                let child = self.at(child);
                (least, most) = (least.min(child.least), most.max(child.most));
            }
        }
        let node = self.at_mut(node);
        (node.least, node.most) = (least, most);
    }

    /// All ACKs of a subtree are passed.
    fn pass(&mut self, node: u32, times: u32) {
        let node = self.at_mut(node);
        node.entry.skip += times;
        node.most += times;
        node.owed += times;
    }

    /// Tells the children of passes that only their parent has noted.
    fn hand_down(&mut self, node: u32) {
        let times = std::mem::take(&mut self.at_mut(node).owed);
        if times > 0 {
            for child in self.at(node).children {
                if child != NONE {
                    self.pass(child, times);
                }
            }
        }
    }

    /// Which child of its parent a node is.
    fn side(&self, node: u32) -> Side {
        let parent = self.at(self.at(node).parent);
        if parent.children[Side::Ahead as usize] == node {
            Side::Ahead
        } else {
            Side::Behind
        }
    }

    fn at(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    fn at_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }
}

impl Node {
    const ABSENT: Self = Self {
        entry: Entry {
            push: false,
            skip: 0,
            priority: None,
        },
        waits: false,
        parent: NONE,
        children: [NONE; 2],
        owed: 0,
        least: None,
        most: 0,
    };
}

/// Towards the head of the queue or its tail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Ahead,
    Behind,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::Ahead => Self::Behind,
            Self::Behind => Self::Ahead,
        }
    }
}

/// No node.
const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    // Clauses: RCC-4.2-walk
    #[test]
    fn short_flows_pass_long_ones_and_equals_stay_in_order() {
        let mut queue = AckQueue::new(416, 208);
        for (slot, priority) in [(0, 30), (1, 20), (2, 30), (3, 20), (4, 10)] {
            queue.submit(data(slot, priority));
        }
        assert_eq!(order(&mut queue), [4, 1, 3, 0, 2]);
    }

    // Clauses: RCC-4.2-skip
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

    // Clauses: RCC-alg2-1
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

    // Clauses: RCC-4.5-bonus
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

    // Clauses: RCC-4.5-bonus
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

    /// RCC §4.2 as written: the walk from the tail, entry by entry.
    struct Walk {
        entries: Vec<(u32, Entry)>,
        skip_max: u32,
        push_bonus: u32,
    }

    impl Walk {
        fn submit(&mut self, ack: Submission) {
            let (mut skip, mut push) = (0, ack.push);
            if let Some(earlier) = self.remove(ack.slot.0) {
                skip = earlier.skip;
                push |= earlier.push;
            }
            if ack.push && ack.again {
                skip = skip.saturating_add(self.push_bonus);
            }
            let mut place = self.entries.len();
            while place > 0 {
                let (_, ahead) = &mut self.entries[place - 1];
                let shorter = match (ack.priority, ahead.priority) {
                    (Some(own), Some(its)) => own < its,
                    _ => false,
                };
                if !shorter || ahead.skip >= self.skip_max {
                    break;
                }
                ahead.skip += 1;
                place -= 1;
            }
            let entry = Entry {
                push,
                skip,
                priority: ack.priority,
            };
            self.entries.insert(place, (ack.slot.0, entry));
        }

        fn remove(&mut self, slot: u32) -> Option<Entry> {
            let place = self.entries.iter().position(|entry| entry.0 == slot)?;
            Some(self.entries.remove(place).1)
        }

        fn pop(&mut self) -> Option<(Slot, bool)> {
            let (slot, entry) = *self.entries.first()?;
            self.remove(slot);
            Some((Slot(slot), entry.push))
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Operation {
        Submit(Submission),
        Pop,
        Forget(Slot),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        let slot = || (0..60_u32).prop_map(Slot);
        let priority = prop::option::weighted(0.95, 1..12_u64);
        let submission = (slot(), any::<bool>(), any::<bool>(), priority).prop_map(
            |(slot, push, again, priority)| Submission {
                slot,
                push,
                again,
                priority,
            },
        );
        prop_oneof![
            8 => submission.prop_map(Operation::Submit),
            2 => Just(Operation::Pop),
            1 => slot().prop_map(Operation::Forget),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn acks_leave_in_the_order_of_the_printed_walk(
            (skip_max, push_bonus) in (0..12_u32, 0..6_u32),
            operations in prop::collection::vec(operation(), 0..300),
        ) {
            let mut queue = AckQueue::new(skip_max, push_bonus);
            let mut walk = Walk { entries: Vec::new(), skip_max, push_bonus };
            for operation in operations {
                match operation {
                    Operation::Submit(ack) => {
                        queue.submit(ack);
                        walk.submit(ack);
                    }
                    Operation::Pop => assert_eq!(queue.pop(), walk.pop()),
                    Operation::Forget(slot) => {
                        queue.forget(slot);
                        walk.remove(slot.0);
                    }
                }
                assert_eq!(queue.len(), walk.entries.len());
            }
            while let Some(head) = walk.pop() {
                assert!(queue.contains(head.0));
                assert_eq!(queue.pop(), Some(head));
            }
            assert_eq!(queue.pop(), None);
        }
    }
}
