//! The threads that one simulation may take, and what they were taken for.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many threads a simulation may take, and where it notes what it has made of them.
#[derive(Clone, Copy, Debug)]
pub struct Threads<'a> {
    /// At most this many.
    pub most: NonZeroUsize,
    /// Whether it takes them only if it is large enough to end sooner; else whenever it can be divided.
    pub only_where_it_gains: bool,
    /// Where it notes what it took.
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
    /// Most threads of one of them.
    pub threads: usize,
    /// Windows of all of them; after each window threads wait for each other.
    pub windows: u64,
    /// How long all threads waited for each other, added up.
    pub waited: Duration,
    /// Time on the wall of every simulation, times its threads.
    pub ran: Duration,
    /// Why another one took a single thread, if one did that was to be divided.
    pub obstacle: Option<&'static str>,
}

impl Ledger {
    /// The notes so far.
    pub fn taken(&self) -> Taken {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Simulations took this, too.
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
