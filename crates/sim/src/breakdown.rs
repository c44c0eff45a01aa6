//! What the completion time of a flow consists of.
//!
//! The time from the start of a flow to its completion is cut into eight [`Part`]s, which sum to it
//! exactly. The cut follows what completes the flow: the *critical packet*, whose arrival puts the last byte
//! in order.
//!
//! - From the start until the critical packet is sent, time is booked by the state of the sender. Time is
//!   booked when the sender sends, and then up to this moment, so that no moment is booked twice or never.
//!   While the bytes that it has sent would still occupy the slowest link of the path, if no others used
//!   it, the time is *serialisation*. The rest of the time since the last segment went to what let the
//!   sender send: the handshake ended, the application wrote, a timer expired, a loss was repaired, or an
//!   ACK opened the window.
//! - Of the time that an ACK ended, as much is *queueing* as the ACK, and the segment that it answers, were late because
//!   of others' packets; as much of the rest is *timers* as a delayed ACK waited for its timer; and what is
//!   left is *window*: the sender would have waited in an empty network, too.
//! - From then on the time is that of the critical packet's way: the *propagation* of its links, the
//!   *serialisation* of itself and of what the flow has before it in queues, and *queueing*.
//!
//! How late a packet is because of others follows from a second network that carries this connection
//! alone: [`way`] sends every packet over it. In a first-in-first-out network a packet is never earlier than there, and
//! a flow that is really alone is never later: its queueing is zero to the picosecond.

mod line;
mod way;

use base::{FlowId, HostId, Packet, Time};
use fabric::Network;
use serde::{Deserialize, Serialize};

use line::Line;
use way::Hop;

use crate::metrics::FlowRecord;

/// What a flow's time goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The connection opens.
    Handshake,
    /// The flow's own bytes leave, one after the other, through the slowest link of its path.
    Serialisation,
    /// The critical packet is in wires.
    Propagation,
    /// The sender may not send before an ACK comes, or at the rate that a scheme allows.
    Window,
    /// The sender has nothing to send: the application has not written it, or its request is on its way.
    Application,
    /// Packets of other flows are before this flow's.
    Queueing,
    /// The sender repairs a loss that ACKs told of.
    Recovery,
    /// The sender waits for its retransmission timer, or the receiver for its timer of delayed ACKs.
    Timers,
}

impl Part {
    /// Every part, in the order of [`Breakdown`].
    pub const ALL: [Self; 8] = [
        Self::Handshake,
        Self::Serialisation,
        Self::Propagation,
        Self::Window,
        Self::Application,
        Self::Queueing,
        Self::Recovery,
        Self::Timers,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Serialisation => "serialisation",
            Self::Propagation => "propagation",
            Self::Window => "window",
            Self::Application => "application",
            Self::Queueing => "queueing",
            Self::Recovery => "recovery",
            Self::Timers => "timers",
        }
    }
}

/// The parts of a completion time, in picoseconds and in the order of [`Part::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Breakdown([u64; 8]);

impl Breakdown {
    /// One part, in picoseconds.
    pub const fn get(&self, part: Part) -> u64 {
        self.0[part as usize]
    }

    /// All parts together, in picoseconds: the completion time.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The parts as they stand in results.
    pub const fn parts(&self) -> &[u64; 8] {
        &self.0
    }

    /// What results say.
    pub const fn of(parts: [u64; 8]) -> Self {
        Self(parts)
    }

    const fn add(&mut self, part: Part, ps: u64) {
        self.0[part as usize] += ps;
    }

    /// What has been added since `earlier`.
    fn since(&self, earlier: &Self) -> Self {
        let parts = self.0.iter().zip(earlier.0);
        let mut since = Self::default();
        for (since, (part, earlier)) in since.0.iter_mut().zip(parts) {
            *since = part - earlier;
        }
        since
    }
}

/// The parts of completion times on average, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are those of `Part`")]
pub struct Parts {
    pub handshake_us: f64,
    pub serialisation_us: f64,
    pub propagation_us: f64,
    pub window_us: f64,
    pub application_us: f64,
    pub queueing_us: f64,
    pub recovery_us: f64,
    pub timers_us: f64,
}

/// What the completion times of some flows consist of.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Split {
    /// The mean over all complete flows: it sums to their mean completion time.
    pub mean: Parts,
    /// The mean over the slowest: flows that took at least the 99th percentile.
    pub tail: Parts,
}

impl Parts {
    /// In the order of [`Part::ALL`].
    pub const fn all(&self) -> [f64; 8] {
        [
            self.handshake_us,
            self.serialisation_us,
            self.propagation_us,
            self.window_us,
            self.application_us,
            self.queueing_us,
            self.recovery_us,
            self.timers_us,
        ]
    }

    /// The mean over `breakdowns`; none without any.
    #[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
    fn mean<'a>(breakdowns: impl Iterator<Item = &'a Breakdown>) -> Option<Self> {
        let (mut count, mut sums) = (0_u64, [0_u128; 8]);
        for breakdown in breakdowns {
            count += 1;
            for (sum, part) in sums.iter_mut().zip(breakdown.0) {
                *sum += u128::from(part);
            }
        }
        let [
            handshake_us,
            serialisation_us,
            propagation_us,
            window_us,
            application_us,
            queueing_us,
            recovery_us,
            timers_us,
        ] = sums.map(|sum| sum as f64 / count as f64 / 1e6);
        (count > 0).then_some(Self {
            handshake_us,
            serialisation_us,
            propagation_us,
            window_us,
            application_us,
            queueing_us,
            recovery_us,
            timers_us,
        })
    }
}

impl Split {
    /// What is known of `flows`, of which one in a hundred takes at least `p99_us`.
    pub(crate) fn of<'a>(
        flows: impl Iterator<Item = &'a FlowRecord> + Clone,
        p99_us: f64,
    ) -> Option<Self> {
        let known = |flow: &'a FlowRecord| flow.breakdown.as_deref();
        let slow = |flow: &&FlowRecord| flow.fct_us.is_some_and(|fct| fct >= p99_us);
        Some(Self {
            mean: Parts::mean(flows.clone().filter_map(known))?,
            tail: Parts::mean(flows.filter(slow).filter_map(known))?,
        })
    }
}

/// Follows every connection of a simulation.
#[derive(Default)]
pub(crate) struct Follower {
    ports: Vec<Hop>,
    header_bytes: u32,
    /// The receiver of each connection.
    receivers: Vec<HostId>,
    /// Connections that have begun and are not over.
    lines: Vec<Option<Box<Line>>>,
    /// Of each flow that is complete.
    done: Vec<Option<Box<Breakdown>>>,
}

impl Follower {
    pub(crate) fn begin(
        &mut self,
        network: &Network,
        header_bytes: u32,
        receivers: Vec<HostId>,
        flows: usize,
    ) {
        self.ports = network.ports().iter().map(Hop::of).collect();
        self.header_bytes = header_bytes;
        self.lines = receivers.iter().map(|_| None).collect();
        self.receivers = receivers;
        self.done = (0..flows).map(|_| None).collect();
    }

    /// What became of every flow, by number.
    pub(crate) fn take(&mut self) -> Vec<Option<Box<Breakdown>>> {
        std::mem::take(&mut self.done)
    }

    /// Flow `id` starts now on the connection `of`; it was to start at `planned`.
    pub(crate) fn on_message(&mut self, of: FlowId, id: u32, (planned, now): (Time, Time)) {
        let line = self.lines[of.0 as usize].get_or_insert_with(|| Box::new(Line::new(now)));
        line.begin(id, now, now.since(planned).as_ps());
    }

    /// A host hands `packet` to its port.
    pub(crate) fn on_send(&mut self, packet: &Packet, now: Time) {
        let back = packet.to != self.receivers[packet.flow.0 as usize];
        let bytes = u64::from(self.header_bytes) + u64::from(packet.payload);
        let line = &mut self.lines[packet.flow.0 as usize];
        let line = line.get_or_insert_with(|| Box::new(Line::new(now)));
        line.on_send(packet, back, (bytes, now));
    }

    /// `packet` has come out of the wire behind `port`.
    #[inline(always)]
    pub(crate) fn on_hop(&mut self, port: fabric::PortId, packet: &Packet) {
        if let Some(line) = &mut self.lines[packet.flow.0 as usize] {
            let back = packet.to != self.receivers[packet.flow.0 as usize];
            line.learn(&self.ports[port.0 as usize], back);
        }
    }

    /// `packet` is lost.
    pub(crate) fn on_drop(&mut self, packet: &Packet) {
        if let Some(line) = &mut self.lines[packet.flow.0 as usize] {
            let back = packet.to != self.receivers[packet.flow.0 as usize];
            line.on_drop(packet, back);
        }
    }

    /// `packet` has reached its host, which handles it next.
    pub(crate) fn on_delivery(&mut self, packet: &Packet, now: Time) {
        if let Some(line) = &mut self.lines[packet.flow.0 as usize] {
            let back = packet.to != self.receivers[packet.flow.0 as usize];
            line.on_delivery(packet, back, now);
        }
    }

    /// The last byte of flow `id` is in order at its receiver.
    pub(crate) fn on_completion(&mut self, of: FlowId, id: u32, now: Time) {
        if let Some(line) = &mut self.lines[of.0 as usize] {
            self.done[id as usize] = line.complete(id, now).map(Box::new);
        }
    }

    /// The line of a connection with an event.
    pub(crate) fn line(&mut self, of: FlowId) -> Option<&mut Line> {
        self.lines[of.0 as usize].as_deref_mut()
    }

    /// The endpoints of a connection go.
    pub(crate) fn on_gone(&mut self, of: FlowId) {
        self.lines[of.0 as usize] = None;
    }
}
