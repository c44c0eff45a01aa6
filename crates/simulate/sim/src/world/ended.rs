//! The state of a world when its run is over.

use base::cast::id;
use base::{HostId, Time};
use fabric::{Network, PortId, Topology};
use plan::workload::{Dependencies, PlannedCollective};

use super::Flow;
use super::connection::EndedConnection;
use crate::parts::Breakdown;

/// The state of a simulation from which results are made, without the parts that only its events needed.
pub(crate) struct Ended {
    pub(crate) topology: Topology,
    pub(crate) network: Network,
    /// The port whose queue is reported.
    pub(crate) bottleneck: PortId,
    /// When the first flow started.
    pub(crate) first_start: Time,
    /// Flows that waited for others, if any did.
    pub(super) dependencies: Option<Box<Dependencies>>,
    /// Collectives, and the flows that belong to each.
    pub(crate) collectives: Vec<PlannedCollective>,
    pub(super) connections: Vec<EndedConnection>,
    pub(super) flows: Vec<Flow>,
    /// The breakdown of each completion time, by flow; empty if none was asked for.
    pub(super) breakdowns: Vec<Option<Box<Breakdown>>>,
}

/// The events of a flow, and its ends.
pub(crate) struct EndedFlow {
    pub(crate) number: u32,
    pub(crate) flow: Flow,
    pub(crate) sender: HostId,
    pub(crate) receiver: HostId,
    /// Payload of the receiver's request for it; `None` if the sender sent without one.
    pub(crate) request: Option<u64>,
    /// Payload that arrived in order.
    pub(crate) received: u64,
    /// The flow whose end let this one start, if it waited for others.
    pub(crate) held_by: Option<u32>,
    /// The breakdown of its completion time, if it is known.
    pub(crate) breakdown: Option<Box<Breakdown>>,
}

impl Ended {
    /// The last completion, if any flow was complete; [`Time::NEVER`] if one was not complete.
    pub(crate) fn last_completion(&self) -> Option<Time> {
        self.flows.iter().map(|flow| flow.completion).max()
    }

    /// Every flow, including flows that did not start.
    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Sender and receiver of a flow, and the number of its connection.
    pub(crate) fn ends_of(&self, flow: u32) -> (HostId, HostId, u32) {
        let number = self.flows[flow as usize].connection;
        let connection = &self.connections[number as usize];
        (connection.sender, connection.receiver, number)
    }

    /// The flow whose end let this one start, if it waited for others.
    pub(crate) fn held_by(&self, flow: u32) -> Option<u32> {
        self.dependencies.as_ref()?.held_by(flow)
    }

    /// The results of `make` for each flow that started, in their order, and the network of the run.
    ///
    /// Flows are dropped while their results are made. To keep both for a million flows would be the peak of a run's
    /// memory.
    pub(crate) fn consume_flows<T>(
        &mut self,
        mut make: impl FnMut(EndedFlow, &mut Network) -> T,
    ) -> Vec<T> {
        let mut flows = std::mem::take(&mut self.flows);
        let started = flows.iter().filter(|flow| flow.started).count();
        let mut made = Vec::with_capacity(started);
        while let Some(flow) = flows.pop() {
            let number = id(flows.len());
            let breakdown = self.breakdowns.pop().flatten();
            if flow.started {
                let connection = &self.connections[flow.connection as usize];
                let ended = EndedFlow {
                    number,
                    sender: connection.sender,
                    receiver: connection.receiver,
                    request: connection.request(),
                    received: connection.received(number, &flow),
                    held_by: self.held_by(number),
                    breakdown,
                    flow,
                };
                made.push(make(ended, &mut self.network));
            }
            if number.is_multiple_of(CHUNK) {
                flows.shrink_to_fit();
            }
        }
        self.connections = Vec::new();
        made.reverse();
        made
    }
}

/// Number of flows whose memory is given back at a time.
const CHUNK: u32 = 1 << 16;
