//! Why a simulation fails although its scenario is valid.

use base::Span;
use fabric::TopologyError;
use schemes::Cause;

pub use plan::tokens::TooLarge;

/// Why a simulation failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The network cannot carry the traffic.
    #[error("{0}")]
    Topology(#[from] TopologyError),
    /// The books do not balance: a mistake of the simulator, never of the user.
    #[error("conservation violated: {0}; please report this with the command that shows it")]
    Conservation(String),
    /// A result cannot be kept.
    #[error("{0}")]
    Storage(String),
    /// It took more steps than it may.
    #[error(
        "ended after {steps} steps and {} s of simulated time, mostly {what}: change {key}, or {}",
        .simulated.as_secs(),
        MORE_STEPS
    )]
    Work {
        /// Steps that were allowed.
        steps: u64,
        /// How far it came.
        simulated: Span,
        /// The most frequent kind of step, as expected before the run.
        what: &'static str,
        /// The setting that makes the number of steps large.
        key: String,
    },
    /// Packets on the way took more memory than they may.
    #[error(
        "ended at {} s of simulated time: {packets} packets in the network exceed the allowed memory; lower link rates \
         need longer timers and smaller windows, or {}",
        .simulated.as_secs(),
        MORE_MEMORY
    )]
    Memory {
        /// How far it came.
        simulated: Span,
        /// Packets in the network.
        packets: u64,
    },
    /// Simulated time stood still.
    #[error(
        "ended because simulated time stands still at {} s: {events} events at this instant, mostly {what}. If a role of \
         your own was called at its deadline, it must set a later one; if you use no role of your own, please report this \
         with the command that shows it",
        .simulated.as_secs()
    )]
    Standstill {
        /// How far it came.
        simulated: Span,
        /// Events at that instant.
        events: u64,
        /// The most common subject of these events.
        what: String,
    },
    /// A file failed, in this or another simulation. This ends the sweep.
    #[error("ended because the sweep ends")]
    Stopped,
    /// Random arrivals started no flow, or none before the simulation ends.
    #[error(
        "no flow starts before the simulation ends, so there is no result; raise workload.load, \
         workload.duration or run.duration, or run another seed"
    )]
    NoFlow,
    /// A role has given up.
    #[error("{cause}, at {} s of simulated time", .simulated.as_secs())]
    Role {
        /// Why.
        cause: Cause,
        /// How far it came.
        simulated: Span,
    },
    /// Random arrivals made more flows than the scenario led to expect.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
}

impl RunError {
    /// The simulated time at which this error ended the run; `None` if the error does not say.
    pub(crate) const fn simulated(&self) -> Option<Span> {
        match self {
            Self::Work { simulated, .. }
            | Self::Memory { simulated, .. }
            | Self::Standstill { simulated, .. }
            | Self::Role { simulated, .. } => Some(*simulated),
            _ => None,
        }
    }
}

/// Ends the message of [`RunError::Work`]; a caller that can allow more steps appends how.
pub const MORE_STEPS: &str = "allow more steps";
/// Ends the message of [`RunError::Memory`].
pub const MORE_MEMORY: &str = "allow more memory";
