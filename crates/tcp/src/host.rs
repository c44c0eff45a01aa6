//! An end host: its endpoints and the receiver role that sees them all.

use base::{Packet, Time};

use crate::cc::SenderCc;
use crate::endpoint::{Endpoint, Progress, State};
use crate::plays::Plays;
use crate::receiver_cc::{AckVerdict, ReceiverCc, Slot};

/// Endpoints of one host under one receiver role.
///
/// Every method handles one event to its end: segments leave through the [`Wire`], and deadlines that
/// changed are announced there. O(1) per event beside what the role does.
#[derive(Debug)]
pub struct Host<C, R> {
    endpoints: Vec<Endpoint<C>>,
    role: R,
}

/// Where a host's segments and deadlines go.
pub trait Wire {
    /// A segment of connection `slot` leaves the host.
    fn send(&mut self, slot: Slot, packet: &mut Packet);

    /// [`Host::on_deadline`] of `slot` is wanted at `deadline`, instead of whatever was announced
    /// before; [`Time::NEVER`] withdraws.
    fn arm(&mut self, slot: Slot, deadline: Time);
}

impl<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>> Host<C, R> {
    /// A host without connections.
    pub fn new(role: R) -> Self {
        Self {
            endpoints: Vec::new(),
            role,
        }
    }

    /// Makes room for so many endpoints more, and not for twice as many.
    pub fn reserve(&mut self, endpoints: usize) {
        self.endpoints.reserve_exact(endpoints);
    }

    /// Adds an endpoint.
    #[expect(clippy::cast_possible_truncation, reason = "slots have 32-bit numbers")]
    pub fn add(&mut self, endpoint: Endpoint<C>) -> Slot {
        self.endpoints.push(endpoint);
        Slot(self.endpoints.len() as u32 - 1)
    }

    /// Puts a new endpoint in the place of one that has ended.
    ///
    /// # Panics
    /// If the host has no such slot.
    pub fn replace(&mut self, slot: Slot, endpoint: Endpoint<C>) {
        let place = &mut self.endpoints[slot.0 as usize];
        debug_assert!(place.is_ended(), "a connection in use keeps its slot");
        *place = endpoint;
    }

    /// The application acts on a connection: writes, reads, connects, closes.
    pub fn act(
        &mut self,
        slot: Slot,
        action: impl FnOnce(&mut Endpoint<C>),
        now: Time,
        wire: &mut impl Wire,
    ) {
        let endpoint = &mut self.endpoints[slot.0 as usize];
        let was_ended = endpoint.is_ended();
        action(endpoint);
        if endpoint.is_ended() && !was_ended && !endpoint.peer_has_finished() {
            self.role.as_role_mut().on_close(slot, now);
        }
        self.flush(slot, now, wire);
    }

    /// A segment has arrived for a connection.
    #[inline(always)]
    pub fn on_packet(
        &mut self,
        slot: Slot,
        packet: &Packet,
        now: Time,
        wire: &mut impl Wire,
    ) -> Progress {
        let endpoint = &mut self.endpoints[slot.0 as usize];
        let progress = endpoint.on_segment(packet, now);
        if progress.opened && endpoint.is_receiver_controlled() {
            let mss = u16::try_from(endpoint.mss()).unwrap_or(u16::MAX);
            self.role.as_role_mut().on_open(slot, packet, mss, now);
        }
        if progress.stored {
            self.role
                .as_role_mut()
                .on_data(slot, endpoint.arrival(), now);
        }
        if progress.peer_finished || (progress.aborted && !endpoint.peer_has_finished()) {
            self.role.as_role_mut().on_close(slot, now);
        }
        self.flush(slot, now, wire);
        progress
    }

    /// The deadline announced for a connection has come. Calls before it are harmless.
    pub fn on_deadline(&mut self, slot: Slot, now: Time, wire: &mut impl Wire) -> Progress {
        let endpoint = &mut self.endpoints[slot.0 as usize];
        let mut progress = Progress::default();
        if endpoint.deadline() <= now {
            progress = endpoint.on_deadline(now);
            if progress.aborted && !endpoint.peer_has_finished() {
                self.role.as_role_mut().on_close(slot, now);
            }
        }
        self.flush(slot, now, wire);
        progress
    }

    /// When [`Host::on_role_deadline`] is to be called.
    #[inline(always)]
    pub fn role_deadline(&self) -> Time {
        self.role.as_role().deadline()
    }

    /// The role's deadline has come.
    pub fn on_role_deadline(&mut self, now: Time, wire: &mut impl Wire) {
        if self.role.as_role().deadline() <= now {
            self.role.as_role_mut().on_deadline(now);
        }
        self.release(now, wire);
    }

    /// All connections, by slot.
    pub fn endpoints(&self) -> &[Endpoint<C>] {
        &self.endpoints
    }

    /// One connection.
    ///
    /// # Panics
    /// If the host has no such slot.
    pub fn endpoint(&self, slot: Slot) -> &Endpoint<C> {
        &self.endpoints[slot.0 as usize]
    }

    /// The receiver role.
    pub fn role(&self) -> &R {
        &self.role
    }

    /// The receiver role, to change its settings. What it may then release leaves with the next event.
    pub fn role_mut(&mut self) -> &mut R {
        &mut self.role
    }

    /// Sends what the connection has to send, offers its ACK to the role, then lets the role release.
    #[inline(always)]
    fn flush(&mut self, slot: Slot, now: Time, wire: &mut impl Wire) {
        let Self { endpoints, role } = self;
        let endpoint = &mut endpoints[slot.0 as usize];
        endpoint.limit_window(role.as_role().window(slot, u64::MAX));
        while let Some(mut packet) = endpoint.poll(now) {
            note_sent(role, slot, endpoint, &mut packet, now);
            wire.send(slot, &mut packet);
        }
        if let Some(kind) = endpoint.ack_due() {
            match role.as_role_mut().on_ack_ready(slot, kind, now) {
                AckVerdict::Send => emit(role, slot, endpoint, false, now, wire),
                AckVerdict::Hold => endpoint.hold_ack(),
            }
        }
        wire.arm(slot, endpoint.deadline());
        self.release(now, wire);
    }

    /// ACKs that the role lets go, of any connection.
    #[inline(always)]
    fn release(&mut self, now: Time, wire: &mut impl Wire) {
        while let Some(release) = self.role.as_role_mut().next_release(now) {
            let endpoint = &mut self.endpoints[release.slot.0 as usize];
            if endpoint.state() == State::Closed {
                continue;
            }
            emit(
                &mut self.role,
                release.slot,
                endpoint,
                release.push,
                now,
                wire,
            );
            wire.arm(release.slot, endpoint.deadline());
        }
    }
}

fn emit<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>>(
    role: &mut R,
    slot: Slot,
    endpoint: &mut Endpoint<C>,
    push: bool,
    now: Time,
    wire: &mut impl Wire,
) {
    endpoint.limit_window(role.as_role().window(slot, u64::MAX));
    let mut packet = endpoint.emit_ack(push, now);
    note_sent(role, slot, endpoint, &mut packet, now);
    wire.send(slot, &mut packet);
}

#[inline(always)]
fn note_sent<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>>(
    role: &mut R,
    slot: Slot,
    endpoint: &Endpoint<C>,
    packet: &mut Packet,
    now: Time,
) {
    if let Some(sent) = endpoint.acknowledgement_in(packet) {
        role.as_role_mut().stamp(slot, packet);
        role.as_role_mut().on_ack_sent(slot, &sent, now);
    }
}
