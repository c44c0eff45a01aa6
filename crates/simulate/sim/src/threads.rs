//! The threads that one simulation may take, and a ledger of how they were used.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many threads a simulation may take, and the ledger for what it took.
#[derive(Clone, Copy, Debug)]
pub struct Threads<'a> {
    /// At most this many.
    pub most: NonZeroUsize,
    /// True: the simulation takes threads only if it is large enough to end sooner. False: whenever it can be divided.
    pub only_where_it_gains: bool,
    /// The ledger to which it adds.
    pub taken: &'a Ledger,
}

/// Counts how simulations that may run at the same time shared threads.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Taken>);

/// How simulations shared threads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Taken {
    /// Simulations on several threads.
    pub runs: u64,
    /// The most threads of any of them.
    pub threads: usize,
    /// Windows of all of them; after each window threads wait for each other.
    pub windows: u64,
    /// How long all threads waited for each other, added up.
    pub waited: Duration,
    /// Wall-clock time of every simulation, times its threads.
    pub ran: Duration,
    /// Why some simulation that was to be divided took a single thread, if one did.
    pub obstacle: Option<&'static str>,
}

impl Ledger {
    /// The notes so far.
    pub fn taken(&self) -> Taken {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a simulation's threads.
    pub(crate) fn note(&self, more: Taken) {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.runs += more.runs;
        taken.threads = taken.threads.max(more.threads);
        taken.windows += more.windows;
        taken.waited += more.waited;
        taken.ran += more.ran;
        taken.obstacle = taken.obstacle.or(more.obstacle);
    }
}
