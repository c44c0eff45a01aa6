//! One side of a connection: the state machine of RFC 9293 around a sender and a receiver.

mod abort;
mod discard;
mod facts;
mod header;
mod helper;
mod notice;
mod opening;
mod predicted;
mod segment;

use std::sync::Arc;

use base::{Extension, FlowId, HostId, Packet, Seq, TcpFlags, Time};

use crate::cc::SenderCc;
use crate::config::Config;
use crate::gap::Gap;
use crate::plays::Plays;
use crate::receiver::Receiver;
use crate::receiver_cc::{AckKind, AckSent};
use crate::sender::{Expiry, Outgoing, Sender};
use crate::timestamps::Stamps;
use opening::Opening;

pub use abort::Abort;
pub use helper::SenderHelper;

/// Who an endpoint is.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// The connection.
    pub flow: FlowId,
    /// The host it lives on.
    pub local: HostId,
    /// The host of its peer.
    pub remote: HostId,
    /// The sequence number of its SYN.
    pub initial_seq: Seq,
}

/// One side of a connection, driven from outside; see the crate documentation for the loop.
///
/// Fields are in the order of use: every segment touches the first ones, few the last. Most endpoints are in no near
/// cache when a segment comes, and each costs as many misses as it has lines that are touched: lines begin at fields
/// that are used together.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Endpoint<C> {
    state: State,
    /// SYN or SYN-ACK still to be sent.
    syn_due: bool,
    /// Shift of the windows it advertises, and of those it receives.
    scales: (u8, u8),
    /// Whether both SYNs carried the window-scale option; a shift of zero is an agreement too.
    scaling: bool,
    /// Which segments may be as expected: the handshake decides.
    prediction: Prediction,
    /// A reset or probe to be sent, with everything decided.
    ready: Option<Box<Packet>>,
    identity: Identity,
    /// Most bytes that a role lets this endpoint advertise.
    window_limit: u64,
    /// Timer of the handshake or of TIME-WAIT.
    state_deadline: Time,
    receiver: Receiver,
    sender: Sender<C>,
    opening: Opening,
    /// Timestamps, if both SYNs carried them.
    stamps: Option<Stamps>,
    /// The announcement that a helper puts into the SYN.
    announcement: Option<Box<Extension>>,
    /// The last gap that a receiver that goes back has found ([`Config::go_back_n`]); `None` until there is one.
    gap: Option<Box<Gap>>,
}

/// Which segments of a connection are processed by a short way if they are as expected ([`predicted`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Prediction {
    /// None, before the handshake and where a loop at low priorities runs.
    Off,
    /// Those without timestamps, of a connection without a record of segments.
    Plain,
    /// Those of a connection with timestamps or a record.
    Full,
}

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are the RFC's")]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    Closing,
    TimeWait,
    CloseWait,
    LastAck,
}

/// What an event changed, for whoever drives the endpoint.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of its own that an event may bring"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// A SYN was accepted: the SYN-ACK is due. Not set again for a repeated SYN.
    pub opened: bool,
    /// A segment with payload or FIN was stored; [`Endpoint::arrival`] tells of it.
    pub stored: bool,
    /// A report of it waits for more, and nothing did before.
    pub report_waits: bool,
    /// The peer's FIN is in order: it will send nothing more.
    pub peer_finished: bool,
    /// Why the connection ended, if it did by a reset or for lack of an answer.
    pub aborted: Option<Abort>,
    /// The connection is in another state than before.
    pub state_changed: bool,
}

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// A closed endpoint; settings may be shared with others.
    pub fn new(identity: Identity, config: impl Into<Arc<Config>>, cc: C) -> Self {
        let config = config.into();
        Self {
            state: State::Closed,
            receiver: Receiver::new(&config),
            sender: Sender::new(config, cc),
            identity,
            window_limit: u64::MAX,
            scales: (0, 0),
            scaling: false,
            prediction: Prediction::Off,
            syn_due: false,
            opening: Opening::default(),
            state_deadline: Time::NEVER,
            ready: None,
            stamps: None,
            announcement: None,
            gap: None,
        }
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        debug_assert_eq!(self.state, State::Closed, "only a closed endpoint listens");
        self.state = State::Listen;
    }

    /// Opens the connection: the SYN is the next segment that [`Endpoint::poll`] returns.
    pub fn connect(&mut self) {
        debug_assert_eq!(self.state, State::Closed, "only a closed endpoint connects");
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// The application has `bytes` more to send; 2^62 and more mean "without end".
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
    }

    /// The application has written everything: a FIN follows the data. Receiving goes on.
    pub fn close(&mut self) {
        self.sender.close();
        if self.state == State::Listen {
            self.state = State::Closed;
        }
    }

    /// The application stops in the middle: what it has written and TCP has not sent is taken back, and
    /// a FIN follows what was sent. Receiving goes on.
    pub fn close_early(&mut self) {
        self.sender.close_early();
    }

    /// Ends the connection at once with a reset (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        if !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::TimeWait
        ) {
            // Behind our SYN at least: before the handshake ends nothing else was counted as sent.
            self.ready = Some(Box::new(self.reset_at(self.sender.next().max(1))));
        }
        self.enter_closed();
    }

    /// Ends the connection at once, and tells nobody: its host has disappeared.
    pub fn vanish(&mut self) {
        self.ready = None;
        self.enter_closed();
    }

    /// Whether the application reads arriving data at once (the default) or lets it fill the buffer.
    pub fn set_reading(&mut self, reading: bool) {
        self.receiver.set_reading(reading);
    }

    /// The application reads up to `bytes` from the buffer.
    pub fn read(&mut self, bytes: u64) {
        self.receiver.read(bytes, self.sender.mss());
    }

    /// Bounds the window of the segments that follow: the verdict of a role.
    pub fn limit_window(&mut self, bytes: u64) {
        self.window_limit = bytes;
    }

    /// The next segment to send other than a pure ACK: call until `None` after every event.
    pub fn poll(&mut self, now: Time) -> Option<Packet> {
        if let Some(urgent) = self.poll_urgent(now) {
            return Some(urgent);
        }
        let mut packet = self.place();
        (self.has_data() && self.data_into(&mut packet, now)).then_some(packet)
    }

    /// Whether something may have to leave before data.
    #[inline(always)]
    pub(crate) const fn has_urgent(&self) -> bool {
        self.ready.is_some() || self.receiver.has_early() || self.syn_due
    }

    /// The next segment that leaves before data. Data that leaves is never the reason for another one.
    #[inline(never)]
    pub(crate) fn poll_urgent(&mut self, now: Time) -> Option<Packet> {
        let mut packet = if let Some(ready) = self.ready.take() {
            *ready
        } else if let Some(early) = self.receiver.take_early() {
            self.early_ack(early)
        } else if let Some(priority) = self.receiver.take_low_ack() {
            self.low_ack(priority)
        } else if self.syn_due && self.state == State::SynSent {
            self.syn(now)
        } else {
            return None;
        };
        self.stamp_urgent(&mut packet, now);
        Some(packet)
    }

    /// Whether there is data or a FIN to send, or to send again. One side of most connections only receives.
    #[inline(always)]
    pub(crate) fn has_data(&self) -> bool {
        self.sender.has_work() && self.may_send_data()
    }

    /// Builds the next segment with data or FIN, at any priority, where [`Endpoint::has_data`]. Returns whether there
    /// is one; after it there still may be another.
    #[inline(always)]
    pub(crate) fn data_into(&mut self, packet: &mut Packet, now: Time) -> bool {
        let Some(segment) = self.sender.next_segment(now) else {
            return self.low_into(packet, now);
        };
        self.note_fin_sent(&segment);
        self.put_data(packet, &segment, now);
        self.stamp(packet, now);
        true
    }

    /// Whether the endpoint wants to be told what waits in the queue of its host ([`Endpoint::note_waiting`]).
    #[inline(always)]
    pub fn keeps_host_queue_short(&self) -> bool {
        self.sender.config.small_queues
    }

    /// `packet`, which this endpoint has just handed over, waits in the queue of its host, and `begins` to leave then:
    /// with [`Config::small_queues`] the endpoint hands over no more than its share.
    pub fn note_waiting(&mut self, packet: &Packet, begins: Time) {
        self.sender.note_waiting(packet.payload, begins);
    }

    /// Whether `packet`, which this endpoint handed over at a low priority and which has not left its host,
    /// is to be withdrawn.
    pub fn withdraws(&self, packet: &Packet) -> bool {
        let end = self
            .identity
            .initial_seq
            .near(packet.seq, self.sender.next())
            + u64::from(packet.payload);
        packet.payload > 0 && self.sender.withdraws(end)
    }

    /// Whether a segment belongs to the loop at low priorities.
    #[inline(always)]
    fn is_low(&self, packet: &Packet) -> bool {
        packet.dscp > 0 && self.sender.config.low_priority.is_some()
    }

    /// What a pure ACK or SYN-ACK would acknowledge, if one is due.
    #[inline(always)]
    pub fn ack_due(&self) -> Option<AckKind> {
        if !self.receiver.is_ack_due() {
            return None;
        }
        Some(match self.state {
            State::SynReceived => AckKind::Syn,
            _ if self.receiver.is_finished() => AckKind::Fin,
            _ => AckKind::Data,
        })
    }

    /// The due ACK, if any.
    pub fn due_ack(&mut self, now: Time) -> Option<Packet> {
        self.ack_due().map(|_| self.emit_ack(false, now))
    }

    /// A role holds the due ACK; [`Endpoint::emit_ack`] will be called when it may leave.
    pub fn hold_ack(&mut self) {
        self.receiver.on_held();
    }

    /// An ACK, or the SYN-ACK during the handshake, with the numbers of this moment.
    pub fn emit_ack(&mut self, push: bool, now: Time) -> Packet {
        let mut packet = self.place();
        self.ack_into(&mut packet, push, now);
        packet
    }

    /// As [`Endpoint::emit_ack`], built where it is to be.
    #[inline(always)]
    pub(crate) fn ack_into(&mut self, packet: &mut Packet, push: bool, now: Time) {
        if self.state == State::SynReceived {
            *packet = self.syn_ack(push, now);
        } else {
            self.put_ack(packet, push);
        }
        self.stamp(packet, now);
    }

    /// A place for a segment to be built in.
    #[inline(always)]
    pub(crate) const fn place(&self) -> Packet {
        Packet::new(self.identity.flow, self.identity.remote)
    }

    /// A segment of this connection has arrived.
    #[inline(always)]
    pub fn on_segment(&mut self, packet: &Packet, now: Time) -> Progress {
        match self.on_predicted(packet, now) {
            Some(progress) => progress,
            None if self.prediction == Prediction::Full => self.on_fuller_segment(packet, now),
            None => self.on_any_segment(packet, now),
        }
    }

    /// [`Endpoint::on_segment`] with [`Prediction::Full`].
    #[inline(never)]
    fn on_fuller_segment(&mut self, packet: &Packet, now: Time) -> Progress {
        match self.on_expected(packet, now) {
            Some(progress) => progress,
            None => self.on_any_segment(packet, now),
        }
    }

    /// [`Endpoint::on_segment`] of one that is not as expected.
    #[inline(never)]
    fn on_any_segment(&mut self, packet: &Packet, now: Time) -> Progress {
        let before = self.state;
        if before == State::TimeWait && self.state_deadline <= now {
            // Nobody woke it for that: see `Endpoint::wakes_at`.
            self.enter_closed();
        }
        let mut progress = match self.state {
            State::Closed => self.on_segment_closed(packet),
            State::Listen => self.on_segment_listening(packet),
            State::SynSent => self.on_segment_connecting(packet, now),
            _ => self.on_segment_synchronised(packet, now),
        };
        progress.state_changed = self.state != before;
        progress
    }

    /// When [`Endpoint::on_deadline`] is to be called; [`Time::NEVER`] if not at all.
    pub fn deadline(&self) -> Time {
        let deadline = self
            .sender
            .deadline()
            .min(self.sender.held_until())
            .min(self.receiver.deadline())
            .min(self.state_deadline);
        debug_assert!(self.earliest_deadline() <= deadline, "none fires early");
        deadline
    }

    /// When somebody has to call [`Endpoint::on_deadline`]. The end of TIME-WAIT changes nothing until a segment comes, so a
    /// settled connection need not be woken for it; a simulation would last a minute longer, or not, by what else it keeps.
    pub fn wakes_at(&self) -> Time {
        if self.state == State::TimeWait && self.is_settled() {
            Time::NEVER
        } else {
            self.deadline()
        }
    }

    /// A time that [`Endpoint::deadline`] does not come before, which is found faster.
    #[inline(always)]
    pub fn earliest_deadline(&self) -> Time {
        self.sender
            .earliest_deadline()
            .min(self.sender.held_until())
            .min(self.receiver.deadline())
            .min(self.state_deadline)
    }

    /// Reports that wait go with those of other connections of the host, at one of these times, if they can.
    pub fn wait_with(&mut self, times: &mut Vec<Time>, now: Time) {
        self.receiver.wait_with(times, now);
    }

    /// Time has reached the deadline.
    pub fn on_deadline(&mut self, now: Time) -> Progress {
        let before = self.state;
        let mut progress = self.on_any_deadline(now);
        progress.state_changed = self.state != before;
        progress
    }

    fn on_any_deadline(&mut self, now: Time) -> Progress {
        if self.state_deadline <= now {
            return self.on_state_deadline(now);
        }
        self.receiver.on_deadline(now);
        self.sender.release(now);
        match self.sender.on_deadline(now) {
            Expiry::Early | Expiry::Retransmit => Progress::default(),
            Expiry::Probe(probe) => {
                let mut packet = Box::new(self.place());
                self.put_data(&mut packet, &probe, now);
                self.ready = Some(packet);
                Progress::default()
            }
            Expiry::GaveUp => self.give_up(),
        }
    }

    /// What a segment of this endpoint, just built, allows the peer; `None` for a SYN or reset.
    #[inline(always)]
    pub fn acknowledgement_in(&self, packet: &Packet) -> Option<AckSent> {
        let syn = packet.flags.has(TcpFlags::SYN);
        if !packet.flags.has(TcpFlags::ACK) || packet.flags.has(TcpFlags::RST) {
            return None;
        }
        let window = u64::from(packet.window) << self.scale_in(packet, self.scales.0);
        Some(AckSent {
            ack: self.receiver.irs.near(packet.ack, self.receiver.next()),
            window,
            syn,
        })
    }

    #[inline(always)]
    fn may_send_data(&self) -> bool {
        matches!(
            self.state,
            State::Established
                | State::CloseWait
                | State::FinWait1
                | State::Closing
                | State::LastAck
        )
    }

    #[inline(always)]
    fn note_fin_sent(&mut self, segment: &Outgoing) {
        if segment.fin {
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                other => other,
            };
        }
    }

    fn enter_closed(&mut self) {
        self.state = State::Closed;
        self.state_deadline = Time::NEVER;
        self.syn_due = false;
        self.sender.stop();
        self.receiver.on_held();
        self.receiver.stop();
    }

    fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.state_deadline = now + self.sender.config.time_wait;
    }
}
