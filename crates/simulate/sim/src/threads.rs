//! The threads that one simulation may take, and what they were taken for.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// How many threads each simulation may take. What has been made of it is told to all who ask.
#[derive(Debug)]
pub struct Threads {
    most: NonZeroUsize,
    taken: Mutex<Taken>,
}

/// What simulations have made of their threads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Taken {
    /// Simulations on several threads.
    pub runs: u64,
    /// Most threads of one of them.
    pub threads: usize,
    /// Windows of all of them, after each of which threads wait for each other.
    pub windows: u64,
    /// Why another one took a single thread, if one did.
    pub obstacle: Option<&'static str>,
}

impl Threads {
    /// At most this many for each simulation.
    pub fn new(most: NonZeroUsize) -> Self {
        Self {
            most,
            taken: Mutex::default(),
        }
    }

    /// How many a simulation may take.
    pub const fn most(&self) -> NonZeroUsize {
        self.most
    }

    /// What has been made of them.
    pub fn taken(&self) -> Taken {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A simulation took this many, for this many windows.
    pub(crate) fn note(&self, threads: usize, windows: u64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.runs += 1;
        taken.threads = taken.threads.max(threads);
        taken.windows += windows;
    }

    /// A simulation took one, because of this.
    pub(crate) fn note_obstacle(&self, obstacle: &'static str) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.obstacle.get_or_insert(obstacle);
    }
}
