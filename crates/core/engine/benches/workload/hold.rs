//! The "hold" workload of event lists: the first event leaves, another comes at a random time after it.
//!
//! Shared by the benchmark of the event list and by that of packet-hops, whose yardstick is the heap
//! of the standard library under this load.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use base::{Span, Time};
use engine::random::Stream;
use engine::{Scheduler, Token};

/// New events come at most this long after the one that left: some hops of a data centre.
const HORIZON: Span = Span::from_micros(100);

/// The standard library's heap of 24-byte entries. With [`Entry`] it is the yardstick; with [`Tuple`],
/// whose own comparison compiles to fewer branches that cannot be predicted, it shows how far the
/// yardstick depends on the way a comparison is written.
pub(crate) struct HeapHold<E> {
    heap: BinaryHeap<E>,
    increments: Increments,
    sequence: u64,
}

/// What the heap holds; the earliest is the greatest.
pub(crate) trait HeapEntry: Ord {
    fn new(time: u64, sequence: u64, payload: u64) -> Self;
    fn time(&self) -> u64;
    fn payload(&self) -> u64;
}

/// The event list of the engine.
pub(crate) struct SchedulerHold {
    sched: Scheduler,
    increments: Increments,
}

/// A time, the order among equal times, and what is to happen.
pub(crate) struct Entry {
    time: u64,
    sequence: u64,
    payload: u64,
}

/// The same as a tuple with its own order.
pub(crate) type Tuple = Reverse<(u64, u64, u64)>;

const _: () = assert!(
    size_of::<Entry>() == 24,
    "the yardstick has 24-byte entries"
);

impl<E: HeapEntry> HeapHold<E> {
    pub(crate) fn new(pending: u32) -> Self {
        let mut hold = Self {
            heap: BinaryHeap::new(),
            increments: Increments::new(pending),
            sequence: 0,
        };
        for payload in 0..pending {
            hold.push(0, u64::from(payload));
        }
        hold
    }

    /// One pop and one push.
    #[inline]
    pub(crate) fn step(&mut self) -> u64 {
        let first = self.heap.pop().expect("a step leaves as many as it found");
        self.push(first.time(), first.payload());
        first.payload()
    }

    #[inline]
    fn push(&mut self, after: u64, payload: u64) {
        self.sequence += 1;
        let time = after + self.increments.next();
        self.heap.push(E::new(time, self.sequence, payload));
    }
}

impl HeapEntry for Entry {
    fn new(time: u64, sequence: u64, payload: u64) -> Self {
        Self {
            time,
            sequence,
            payload,
        }
    }

    fn time(&self) -> u64 {
        self.time
    }

    fn payload(&self) -> u64 {
        self.payload
    }
}

impl HeapEntry for Tuple {
    fn new(time: u64, sequence: u64, payload: u64) -> Self {
        Self((time, sequence, payload))
    }

    fn time(&self) -> u64 {
        self.0.0
    }

    fn payload(&self) -> u64 {
        self.0.2
    }
}

impl SchedulerHold {
    pub(crate) fn new(pending: u32) -> Self {
        let mut hold = Self {
            sched: Scheduler::sized(HORIZON, HORIZON / (2 * u64::from(pending)), 1),
            increments: Increments::new(pending),
        };
        for token in 0..pending {
            hold.push(Token(token));
        }
        hold
    }

    /// One pop and one push.
    #[inline]
    pub(crate) fn step(&mut self) -> u64 {
        let token = self.sched.next_before(Time::NEVER);
        let token = token.expect("a step leaves as many as it found");
        self.push(token);
        u64::from(token.0)
    }

    #[inline]
    fn push(&mut self, token: Token) {
        let time = self.sched.now() + Span::from_ps(self.increments.next());
        self.sched.at(time, token);
    }
}

/// Random distances, drawn beforehand so that drawing them is not measured.
struct Increments {
    values: Vec<u64>,
    next: usize,
}

impl Increments {
    fn new(pending: u32) -> Self {
        let mut random = Stream::new(1, "hold", u64::from(pending));
        Self {
            values: (0..INCREMENTS)
                .map(|_| random.below(HORIZON.as_ps()))
                .collect(),
            next: 0,
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        self.next = (self.next + 1) % INCREMENTS;
        self.values[self.next]
    }
}

/// 32 KiB; not a multiple of the numbers of pending events, so that their order changes every round.
const INCREMENTS: usize = 4096;

impl Ord for Entry {
    /// The standard heap gives its largest entry first: earliest time, then lowest sequence, is largest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
