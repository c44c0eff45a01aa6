//! Collective operations: who sends which bytes to whom, which messages each message waits for, and the ideal time of
//! the whole.
//!
//! N ranks have S bytes each. A message is a flow. With `a` as the latency of a message and C as the rate of a link, an empty
//! network takes
//!
//! | collective | step and dependency | ideal time |
//! |---|---|---|
//! | all-reduce, ring | 2(N-1) steps: rank i sends a chunk of S/N to rank i+1 after its receive of the step before | 2(N-1)(a + S/(NC)) |
//! | all-gather, reduce-scatter, ring | N-1 such steps | (N-1)(a + S/(NC)) |
//! | all-reduce, halving-doubling, N = 2^k | partners i xor N/2, N/4, ..1 with S/2, S/4, ..S/N, then backwards, after the exchange before | 2ka + 2S(1-1/N)/C |
//! | reduce-scatter, all-gather, halving-doubling | the first half of that, or the second | ka + S(1-1/N)/C |
//! | all-reduce, binary tree of depth d, m segments | up after both children, down after the parent | 2(d+m-1)(a + 2S/(mC)) |
//! | broadcast, binary tree | the way down | (d+m-1)(a + 2S/(mC)) |
//! | all-to-all, shifted | step t: rank i sends S/N to rank i+t after its own step before | (N-1)(a + S/(NC)) |
//! | all-to-all, all-gather, at once | no dependency: N incasts of N-1 | a + S(N-1)/(NC) |
//!
//! Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005, §4; Patarasuk, Yuan,
//! "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009.

use base::Ordered as _;
use base::Sort as _;
use base::{Rate, Span};

base::choices! {
    /// The bytes that the ranks of a collective have together afterwards.
    pub enum Collective {
        /// Every rank has the sum of what all ranks had.
        AllReduce = "all-reduce",
        /// Every rank has the parts of all ranks.
        AllGather = "all-gather",
        /// Every rank has its part of the sum of what all ranks had.
        ReduceScatter = "reduce-scatter",
        /// Every rank has what rank 0 had.
        Broadcast = "broadcast",
        /// Every rank has a part of its own from every other rank.
        AllToAll = "all-to-all",
    }
}

base::choices! {
    /// In which messages a collective is done.
    pub enum Algorithm {
        /// Each rank passes chunks on to the next one.
        Ring = "ring",
        /// Pairs exchange halves, then quarters and so on, and the same backwards; the ranks are a power of two.
        HalvingDoubling = "halving-doubling",
        /// Up a binary tree and down again, or only down.
        Tree = "tree",
        /// In step t every rank sends to the t-th rank behind it.
        Shifted = "shifted",
        /// Every rank sends to all others at once.
        AtOnce = "at-once",
    }
}

/// A collective of some ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveRun {
    /// The bytes that the ranks have together afterwards.
    pub collective: Collective,
    /// How they go about it.
    pub algorithm: Algorithm,
    /// At least two.
    pub ranks: u32,
    /// S: bytes of each rank.
    pub bytes: u64,
    /// Parts in which trees send; 1 elsewhere.
    pub segments: u32,
}

/// One message of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// Payload.
    pub bytes: u64,
    /// The step of the collective, from 0.
    pub step: u32,
    /// Earlier messages, by their indices, that must have arrived before this one is sent.
    pub after: Vec<u32>,
}

impl CollectiveRun {
    /// All messages. Those that wait for none come first; each message follows those that it waits for. O(messages).
    pub fn messages(&self) -> Vec<Message> {
        match (self.algorithm, self.collective) {
            (Algorithm::Ring, Collective::AllReduce) => self.ring(2 * (self.ranks - 1)),
            (Algorithm::Ring, _) => self.ring(self.ranks - 1),
            (Algorithm::HalvingDoubling, _) => self.halving_doubling(),
            (Algorithm::Tree, _) => self.tree(),
            (Algorithm::Shifted, _) => self.shifted(true),
            (Algorithm::AtOnce, _) => self.shifted(false),
        }
    }

    /// The number of messages and the sum of their bytes, without making the messages.
    pub fn extent(&self) -> (f64, f64) {
        let (n, s) = (f64::from(self.ranks), base::cast::real(self.bytes));
        let twice = if self.collective == Collective::AllReduce {
            2.0
        } else {
            1.0
        };
        match self.algorithm {
            Algorithm::Ring => (twice * n * (n - 1.0), twice * (n - 1.0) * s),
            Algorithm::HalvingDoubling => {
                let k = f64::from(self.ranks.ilog2());
                (twice * k * n, twice * (n - 1.0) * s)
            }
            Algorithm::Tree => {
                let messages = twice * (n - 1.0) * f64::from(self.segments);
                (messages, twice * (n - 1.0) * s)
            }
            Algorithm::Shifted | Algorithm::AtOnce => (n * (n - 1.0), (n - 1.0) * s),
        }
    }

    /// The least time in an empty network with links of this rate and this latency of a message.
    pub fn ideal(&self, latency: Span, rate: Rate) -> Span {
        let (a, n) = (latency.as_secs(), f64::from(self.ranks));
        let whole = base::cast::real(self.bytes) * 8.0 / base::cast::real(rate.as_bps());
        let steps = |steps: f64, share: f64| steps * (a + whole * share);
        let m = f64::from(self.segments);
        let seconds = match (self.algorithm, self.collective) {
            (Algorithm::Ring, Collective::AllReduce) => steps(2.0 * (n - 1.0), 1.0 / n),
            (Algorithm::Ring | Algorithm::Shifted, _) => steps(n - 1.0, 1.0 / n),
            (Algorithm::HalvingDoubling, collective) => {
                let k = f64::from(self.ranks.ilog2());
                let once = k * a + whole * (1.0 - 1.0 / n);
                once * if collective == Collective::AllReduce {
                    2.0
                } else {
                    1.0
                }
            }
            (Algorithm::Tree, collective) => {
                let once = steps(f64::from(self.depth()) + m - 1.0, 2.0 / m);
                once * if collective == Collective::AllReduce {
                    2.0
                } else {
                    1.0
                }
            }
            (Algorithm::AtOnce, _) => a + whole * (n - 1.0) / n,
        };
        Span::from_secs_f64(seconds)
    }

    /// The cause and the remedy, if such a collective does not exist.
    pub fn refusal(&self) -> Option<(String, String)> {
        let known = |algorithm| ALL.contains(&(self.collective, algorithm));
        if !known(self.algorithm) {
            let own = ALL
                .iter()
                .filter(|(collective, _)| *collective == self.collective);
            let names: Vec<&str> = own.map(|(_, algorithm)| algorithm.word()).collect();
            return Some((
                format!(
                    "there is no {} with the algorithm {}",
                    self.collective.word(),
                    self.algorithm.word()
                ),
                format!("set workload.algorithm to {}", names.join(", ")),
            ));
        }
        if self.ranks < 2 {
            return Some((
                "a single rank has no other rank to send to".to_owned(),
                "set workload.ranks to at least 2".to_owned(),
            ));
        }
        if self.algorithm == Algorithm::HalvingDoubling && !self.ranks.is_power_of_two() {
            return Some((
                format!(
                    "halving-doubling needs a power of two as the number of ranks, but there are {}",
                    self.ranks
                ),
                format!(
                    "set workload.ranks to {} or {}, or workload.algorithm = \"ring\"",
                    self.ranks.next_power_of_two() / 2,
                    self.ranks.next_power_of_two()
                ),
            ));
        }
        if self.segments > 1 && self.algorithm != Algorithm::Tree {
            return Some((
                "only trees send in segments".to_owned(),
                "leave workload.segments out, or set workload.algorithm = \"tree\"".to_owned(),
            ));
        }
        let parts = match self.algorithm {
            Algorithm::Tree => self.segments,
            _ => self.ranks,
        };
        (self.bytes < parts.into()).then(|| {
            (
                format!("{} bytes cannot be cut into {parts} parts", self.bytes),
                format!("set workload.size to at least {parts}B"),
            )
        })
    }

    /// Bytes from part `first` up to part `end` of `of` parts of nearly equal size.
    fn part(&self, (first, end): (u32, u32), of: u32) -> u64 {
        let edge = |part: u32| u128::from(self.bytes) * u128::from(part) / u128::from(of);
        u64::try_from(edge(end) - edge(first)).expect("a part of 64 bits")
    }

    /// Step t: rank i sends chunk i - t to its neighbour as soon as it has the chunk.
    fn ring(&self, steps: u32) -> Vec<Message> {
        let n = self.ranks;
        let mut messages = Vec::new();
        for step in 0..steps {
            for from in 0..n {
                let chunk = (from + n - step % n) % n;
                let before = step
                    .checked_sub(1)
                    .map(|step| step * n + (from + n - 1) % n);
                messages.push(Message {
                    from,
                    to: (from + 1) % n,
                    bytes: self.part((chunk, chunk + 1), n),
                    step,
                    after: before.into_iter().collect(),
                });
            }
        }
        messages
    }

    /// Partners differ in one bit. From the highest bit to the lowest they send the half that the partner keeps; then
    /// from the lowest to the highest they send all that they have.
    fn halving_doubling(&self) -> Vec<Message> {
        let (n, k) = (self.ranks, self.ranks.ilog2());
        let halving = (0..k).rev().map(|bit| (bit, true));
        let doubling = (0..k).map(|bit| (bit, false));
        let steps: Vec<(u32, bool)> = match self.collective {
            Collective::ReduceScatter => halving.collect(),
            Collective::AllGather => doubling.collect(),
            _ => halving.chain(doubling).collect(),
        };
        let mut messages = Vec::new();
        for (step, (bit, halves)) in (0_u32..).zip(&steps) {
            for from in 0..n {
                let to = from ^ (1 << bit);
                let kept = if *halves { to } else { from };
                let first = kept >> bit << bit;
                let before = step.checked_sub(1).map(|before| {
                    let (bit, _) = steps[before as usize];
                    [before * n + from, before * n + (from ^ (1 << bit))]
                });
                messages.push(Message {
                    from,
                    to,
                    bytes: self.part((first, first + (1 << bit)), n),
                    step,
                    after: before.into_iter().flatten().collect(),
                });
            }
        }
        messages
    }

    /// Node i has the children 2i+1 and 2i+2. Each segment goes up after the segments of both children, and down after
    /// the parent's segment.
    fn tree(&self) -> Vec<Message> {
        let (n, depth) = (self.ranks, self.depth());
        let level = |node: u32| (node + 1).ilog2();
        let children = |node: u32| (2 * node + 1..=2 * node + 2).filter(|child| *child < n);
        // A message up is found by its sender and a message down by its receiver, each with its segment.
        let both = self.collective == Collective::AllReduce;
        let mut order: Vec<(bool, u32, u32, u32)> = Vec::new();
        for segment in 0..self.segments {
            for node in 1..n {
                if both {
                    order.push((true, depth - level(node) + segment, node, segment));
                }
                let down = level(node) - 1 + if both { depth } else { 0 };
                order.push((false, down + segment, node, segment));
            }
        }
        let waits = |up: bool, node: u32| {
            if up {
                children(node).next().is_some()
            } else {
                both || node > 2
            }
        };
        order.order_by_key(|(up, step, node, segment)| {
            (waits(*up, *node), *step, !*up, *node, *segment)
        });
        let places = (0_u32..)
            .zip(&order)
            .map(|(place, (up, _, node, segment))| ((*up, *node, *segment), place))
            .into_map();
        let message = |(up, step, node, segment): &(bool, u32, u32, u32)| {
            let parent = (node - 1) / 2;
            let own = |up: bool, node: u32| places[&(up, node, *segment)];
            let after: Vec<u32> = match (*up, parent) {
                (true, _) => children(*node).map(|child| own(true, child)).collect(),
                (false, 0) if both => children(0).map(|child| own(true, child)).collect(),
                (false, 0) => Vec::new(),
                (false, parent) => vec![own(false, parent)],
            };
            let (from, to) = if *up {
                (*node, parent)
            } else {
                (parent, *node)
            };
            Message {
                from,
                to,
                bytes: self.part((*segment, segment + 1), self.segments),
                step: *step,
                after,
            }
        };
        order.iter().map(message).collect()
    }

    /// Step t: rank i sends to rank i+t. If `in_order`, each message waits for the rank's previous message; otherwise
    /// all leave at once.
    fn shifted(&self, in_order: bool) -> Vec<Message> {
        let n = self.ranks;
        let mut messages = Vec::new();
        for step in 0..n - 1 {
            for from in 0..n {
                let to = (from + step + 1) % n;
                let chunk = match self.collective {
                    Collective::AllToAll => to,
                    _ => from,
                };
                let before = step.checked_sub(1).filter(|_| in_order);
                messages.push(Message {
                    from,
                    to,
                    bytes: self.part((chunk, chunk + 1), n),
                    step: if in_order { step } else { 0 },
                    after: before.map(|step| step * n + from).into_iter().collect(),
                });
            }
        }
        messages
    }

    /// Levels of the tree below its root.
    fn depth(&self) -> u32 {
        self.ranks.ilog2()
    }
}

/// Every collective with its algorithms, the usual one first.
pub const ALL: [(Collective, Algorithm); 11] = [
    (Collective::AllReduce, Algorithm::Ring),
    (Collective::AllReduce, Algorithm::HalvingDoubling),
    (Collective::AllReduce, Algorithm::Tree),
    (Collective::AllGather, Algorithm::Ring),
    (Collective::AllGather, Algorithm::HalvingDoubling),
    (Collective::AllGather, Algorithm::AtOnce),
    (Collective::ReduceScatter, Algorithm::Ring),
    (Collective::ReduceScatter, Algorithm::HalvingDoubling),
    (Collective::Broadcast, Algorithm::Tree),
    (Collective::AllToAll, Algorithm::Shifted),
    (Collective::AllToAll, Algorithm::AtOnce),
];

#[cfg(test)]
mod tests;
