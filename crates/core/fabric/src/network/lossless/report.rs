//! The pauses of a run.

use base::{FlowId, Span};

use crate::port_id::PortId;

/// The pauses of a run with priority-based flow control.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PauseReport {
    /// Pauses of any port, and the sum of their times.
    pub pauses: u64,
    /// The sum of their times.
    pub paused: Span,
    /// Connections that waited for a pause although nothing waited at the port to which their packet went on, in ascending
    /// order.
    pub victims: Vec<FlowId>,
    /// How near the bytes that any port brought in came to the threshold, at the least.
    pub margin: u64,
    /// Ports that wait for each other, each paused by what waits at the next; empty without a deadlock.
    pub deadlock: Vec<PortId>,
}

impl PauseReport {
    /// Whether this connection waited for a pause although the port that it went on to was idle.
    pub fn has_victim(&self, connection: FlowId) -> bool {
        self.victims.binary_search(&connection).is_ok()
    }
}

/// How often and how long a port was paused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Paused {
    /// How often a class was paused.
    pub pauses: u64,
    /// For how long, the times of all classes together.
    pub time: Span,
}
