//! What an endpoint tells of its connection.

use base::{Span, Time};

use super::{Endpoint, Identity, State};
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::receiver::Arrival;
use crate::sender::SenderCounters;
use crate::sender::info::SenderInfo;

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// Whether the receiver role of its host controls the connection.
    pub(crate) fn is_receiver_controlled(&self) -> bool {
        self.sender.config.receiver_control
    }

    /// Who this endpoint is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Segment size in force, bytes.
    pub fn mss(&self) -> u64 {
        self.sender.mss()
    }

    /// The state of the connection.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether nothing more will happen but, perhaps, answers to stray segments.
    pub fn is_ended(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }

    /// Whether the peer has acknowledged all that was to be sent, and the FIN behind it.
    pub fn is_acknowledged(&self) -> bool {
        self.sender.is_finished()
    }

    /// Whether it has ended and, unless a segment arrives, will neither send nor do anything: its counters
    /// are final, and no receiver role may hold an ACK of it.
    pub fn is_settled(&self) -> bool {
        let timers = self.sender.deadline().min(self.receiver.deadline());
        self.is_ended()
            && timers == Time::NEVER
            && self.ready.is_none()
            && !self.is_receiver_controlled()
    }

    /// Whether the peer's FIN is in order: it will send nothing more.
    pub fn peer_has_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    /// The segment stored last.
    #[inline(always)]
    pub fn arrival(&self) -> &Arrival {
        self.receiver.arrival()
    }

    /// Payload bytes received in order.
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }

    /// Payload bytes received beyond a gap.
    pub fn held(&self) -> u64 {
        self.receiver.held()
    }

    /// Payload bytes the peer has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        (self.sender.una() - u64::from(self.sender.is_finished())).saturating_sub(1)
    }

    /// Bytes that the application has written and that have not been sent.
    #[inline(always)]
    pub fn unsent(&self) -> u64 {
        self.sender.unsent()
    }

    /// Whether segments leave at a pace, so that a deadline may let new data go.
    pub fn paces(&self) -> bool {
        self.sender.paces()
    }

    /// Bytes sent and not acknowledged.
    pub fn in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    /// What the peer's advertised window still allows beyond what it has acknowledged, bytes.
    #[inline(always)]
    pub fn peer_window(&self) -> u64 {
        self.sender.peer_window()
    }

    /// Whether the sender is in fast recovery.
    #[inline(always)]
    pub fn is_recovering(&self) -> bool {
        self.sender.is_recovering()
    }

    /// Highest stream offset sent, exclusive.
    pub fn highest_sent(&self) -> u64 {
        self.sender.highest()
    }

    /// What the sender did about losses.
    pub fn counters(&self) -> SenderCounters {
        self.sender.counters()
    }

    /// What the sender thinks of the connection.
    pub fn info(&self) -> SenderInfo {
        self.sender.info()
    }

    /// Smoothed round trip of the sender; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.sender.rtt().srtt()
    }

    /// The congestion control.
    pub fn cc(&self) -> &C {
        &self.sender.cc
    }
}
