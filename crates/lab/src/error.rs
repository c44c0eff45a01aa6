//! Why a simulation fails that a scenario allowed.

use fabric::TopologyError;

/// Why a simulation failed.
#[derive(Clone, Debug, thiserror::Error)]
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
    /// More ports, endpoints or flows than event tokens can name.
    #[error("the network has {0} ports, connections and hosts; 16,777,215 are possible")]
    TooLarge(usize),
}
