//! Simulations in other processes, on this machine or on others.

use std::sync::atomic::AtomicBool;

/// Simulates points in other processes.
pub trait Executor: Sync {
    /// Has every job of an order done, in any order. Passes the answers of each job to `keep` before it forgets them.
    ///
    /// # Errors
    /// Why the remaining jobs cannot be done. Kept answers stay kept.
    fn execute(&self, order: &JobOrder<'_>, keep: KeepAnswers<'_>) -> Result<(), String>;
}

/// Keeps the answers of the job with this number, one for each of its points; or returns why it cannot.
pub type KeepAnswers<'a> = &'a mut (dyn FnMut(usize, &[Vec<u8>]) -> Result<(), String> + Send);

/// Points that an executor is to simulate.
pub struct JobOrder<'a> {
    /// The scenario, as [`Worker::new`](crate::Worker::new) takes it.
    pub toml: String,
    /// Jobs to do.
    pub jobs: Vec<Job>,
    /// Steps that one simulation may take.
    pub steps: u64,
    /// Becomes true when the answers are no longer wanted.
    pub stop: &'a AtomicBool,
}

/// One simulation.
pub struct Job {
    /// Indices of the points this job answers; the others are duplicates of the first.
    pub points: Vec<usize>,
    /// Steps that it is expected to take.
    pub steps: f64,
}
