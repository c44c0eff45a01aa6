//! Simulations in other processes, on this machine or on others.

use std::sync::atomic::AtomicBool;

/// Simulates points in other processes.
pub trait Elsewhere: Sync {
    /// Has every job of an order done, in any order, and gives the answers of each to `keep` before it lets go
    /// of them.
    ///
    /// # Errors
    /// Why the others cannot be done. What was kept stays kept.
    fn simulate(&self, order: &Order<'_>, keep: KeepAnswers<'_>) -> Result<(), String>;
}

/// Keeps the answers of the job with a number, one for each of its points, or says why it cannot.
pub type KeepAnswers<'a> = &'a mut (dyn FnMut(usize, &[Vec<u8>]) -> Result<(), String> + Send);

/// Points that somebody else is to simulate.
pub struct Order<'a> {
    /// The scenario, as [`Worker::new`](crate::api::Worker::new) takes it.
    pub toml: String,
    /// What is to be done.
    pub jobs: Vec<Job>,
    /// Steps that one simulation may take.
    pub steps: u64,
    /// Becomes true when the answers are not wanted any more.
    pub stop: &'a AtomicBool,
}

/// A simulation.
pub struct Job {
    /// The numbers of the points that it answers: all but the first are the first again.
    pub points: Vec<usize>,
    /// How many steps it is expected to take.
    pub steps: f64,
}
