//! The state of a simulation that has not ended.

use base::{HostId, Time};
use fabric::{PortCounters, PortId};

/// The state of a simulation at a moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The moment: all events up to it have happened, and no later ones.
    pub now: Time,
    /// Every flow, in the order of the plan.
    pub flows: Vec<FlowState>,
    /// Every connection, by [`FlowId`](base::FlowId).
    pub connections: Vec<ConnectionState>,
    /// The port in front of every receiving host, in the order of these; then the bottleneck, if it is another.
    pub ports: Vec<PortState>,
    /// The port whose queue the metrics describe.
    pub bottleneck: PortId,
}

/// How far a flow has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowState {
    /// The connection that carries it.
    pub connection: u32,
    /// Payload, bytes; `None` without end.
    pub size: Option<u64>,
    /// When its application started it; `None` before.
    pub start: Option<Time>,
    /// When its last byte was in order at the receiver; `None` before.
    pub completion: Option<Time>,
    /// Whether its connection gave up or was reset.
    pub failed: bool,
}

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionState {
    /// Place of its group in the point.
    pub group: u32,
    /// The host that sends its flows.
    pub sender: HostId,
    /// The host that receives them.
    pub receiver: HostId,
    /// Whether it has endpoints. Without them the numbers below are 0.
    pub is_open: bool,
    /// Bytes that its sender may have outstanding.
    pub window: u64,
    /// Bytes sent and not acknowledged.
    pub in_flight: u64,
    /// Bytes written by the application and not sent.
    pub unsent: u64,
}

/// The state of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortState {
    /// The port.
    pub port: PortId,
    /// Bytes that wait to be sent, headers included.
    pub waiting: u64,
    /// Its counters since the beginning.
    pub counters: PortCounters,
}

impl FlowState {
    /// Whether it has completed or failed.
    pub const fn is_over(&self) -> bool {
        self.completion.is_some() || self.failed
    }
}
