//! An end host: its endpoints and the receiver role that sees them all.

use base::cast::id;
use base::{Packet, Time};

use crate::cc::SenderCc;
use crate::endpoint::{Endpoint, Progress, State};
use crate::plays::Plays;
use crate::receiver_cc::{AckVerdict, ReceiverCc, Release, Released, Slot};

/// Endpoints of one host under one receiver role.
///
/// Every method handles one event to its end: segments leave through the [`Wire`], and deadlines that
/// changed are announced there. O(1) per event beside what the role does.
#[derive(Debug)]
pub struct Host<C, R> {
    /// By slot. An endpoint is there from [`Host::put`] to [`Host::take`]: memory is in proportion to the
    /// connections that are open.
    endpoints: Vec<Option<Box<Endpoint<C>>>>,
    role: R,
    /// When reports of connections leave that wait, once any has waited.
    reports: Option<Box<Reports>>,
}

/// See [`Host::reports`].
#[derive(Debug, Default)]
struct Reports {
    leave: Vec<Time>,
}

/// Where a host's segments and deadlines go.
pub trait Wire {
    /// A segment of connection `slot` leaves the host.
    fn send(&mut self, slot: Slot, packet: &mut Packet);

    /// As [`Wire::send`], for data of a connection with [`Config::small_queues`](crate::Config::small_queues). Returns when
    /// the host begins to transmit it if it waits for others, and a time that has passed if it does not or if nobody can
    /// tell, which is so unless this method is written.
    fn send_timed(&mut self, slot: Slot, packet: &mut Packet) -> Time {
        self.send(slot, packet);
        Time::ZERO
    }

    /// [`Host::on_deadline`] of `slot` is wanted at `deadline`, instead of whatever was announced
    /// before; [`Time::NEVER`] withdraws.
    fn arm(&mut self, slot: Slot, deadline: Time);

    /// Whether [`Host::on_deadline`] of `slot` will be called at `time` or before, whatever is announced. Then a deadline
    /// that is no earlier need not be announced: whoever is called too early looks again.
    fn wakes_by(&self, _slot: Slot, _time: Time) -> bool {
        false
    }

    /// The receiver role has released more ACKs in one event than it can have held, so it may never cease. The host asks
    /// it no further in this event.
    fn on_endless_release(&mut self) {}
}

impl<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>> Host<C, R> {
    /// A host without connections.
    pub fn new(role: R) -> Self {
        Self {
            endpoints: Vec::new(),
            role,
            reports: None,
        }
    }

    /// Makes this many slots, all of them empty.
    pub fn reserve(&mut self, slots: u32) {
        self.endpoints = (0..slots).map(|_| None).collect();
    }

    /// Adds a slot with an endpoint.
    pub fn add(&mut self, endpoint: Endpoint<C>) -> Slot {
        self.endpoints.push(Some(Box::new(endpoint)));
        Slot(id(self.endpoints.len()) - 1)
    }

    /// Puts an endpoint into a slot that is empty or whose endpoint has ended.
    ///
    /// # Panics
    /// If the host has no such slot.
    pub fn put(&mut self, slot: Slot, endpoint: Endpoint<C>) {
        let place = &mut self.endpoints[slot.0 as usize];
        debug_assert!(
            place.as_ref().is_none_or(|former| former.is_ended()),
            "a connection in use keeps its slot"
        );
        *place = Some(Box::new(endpoint));
    }

    /// Empties a slot: nothing arrives for its endpoint any more, and what is due there is nothing.
    ///
    /// # Panics
    /// If the host has no such slot.
    pub fn take(&mut self, slot: Slot) {
        self.endpoints[slot.0 as usize] = None;
    }

    /// The application acts on a connection: writes, reads, connects, closes.
    pub fn act(
        &mut self,
        slot: Slot,
        action: impl FnOnce(&mut Endpoint<C>),
        now: Time,
        wire: &mut impl Wire,
    ) {
        let endpoint = Self::of(&mut self.endpoints, slot);
        let was_ended = endpoint.is_ended();
        action(endpoint);
        if endpoint.is_ended() && !was_ended && !endpoint.peer_has_finished() {
            self.role.as_role_mut().on_close(slot, now);
        }
        self.flush(slot, now, wire);
    }

    /// A segment has arrived for a connection. What is sent in answer is built in its place.
    #[inline(always)]
    pub fn on_packet(
        &mut self,
        slot: Slot,
        packet: &mut Packet,
        now: Time,
        wire: &mut impl Wire,
    ) -> Progress {
        let Self {
            endpoints,
            role,
            reports,
        } = self;
        let endpoint = Self::of(endpoints, slot);
        let progress = endpoint.on_segment(packet, now);
        if progress.report_waits {
            endpoint.wait_with(&mut reports.get_or_insert_default().leave, now);
        }
        if progress.opened && endpoint.is_receiver_controlled() {
            let mss = u16::try_from(endpoint.mss()).unwrap_or(u16::MAX);
            role.as_role_mut().on_open(slot, packet, mss, now);
        }
        if progress.stored {
            role.as_role_mut().on_data(slot, endpoint.arrival(), now);
        }
        if progress.peer_finished || (progress.aborted.is_some() && !endpoint.peer_has_finished()) {
            role.as_role_mut().on_close(slot, now);
        }
        flush(role, (slot, endpoint), packet, now, wire);
        self.release(now, wire);
        progress
    }

    /// The deadline announced for a connection has come. Calls before it are harmless, and so are calls for
    /// one that is not there any more.
    pub fn on_deadline(&mut self, slot: Slot, now: Time, wire: &mut impl Wire) -> Progress {
        let Some(endpoint) = &mut self.endpoints[slot.0 as usize] else {
            self.release(now, wire);
            return Progress::default();
        };
        let mut progress = Progress::default();
        if endpoint.deadline() <= now {
            progress = endpoint.on_deadline(now);
            if progress.aborted.is_some() && !endpoint.peer_has_finished() {
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

    /// All connections that are there, by slot.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint<C>> {
        self.endpoints.iter().flatten().map(|endpoint| &**endpoint)
    }

    /// Slots, with and without endpoints.
    pub fn slots(&self) -> usize {
        self.endpoints.len()
    }

    /// One connection.
    ///
    /// # Panics
    /// If the host has no such slot, or nothing is in it.
    #[inline(always)]
    pub fn endpoint(&self, slot: Slot) -> &Endpoint<C> {
        self.find(slot).expect(THERE)
    }

    /// One connection, if it is there.
    ///
    /// # Panics
    /// If the host has no such slot.
    #[inline(always)]
    pub fn find(&self, slot: Slot) -> Option<&Endpoint<C>> {
        self.endpoints[slot.0 as usize].as_deref()
    }

    /// The receiver role.
    pub fn role(&self) -> &R {
        &self.role
    }

    /// The receiver role, to change its settings. ACKs that it then releases leave with the next event.
    pub fn role_mut(&mut self) -> &mut R {
        &mut self.role
    }

    /// After what is not a segment: [`flush`] with a place of its own, then [`Host::release`].
    fn flush(&mut self, slot: Slot, now: Time, wire: &mut impl Wire) {
        let Self {
            endpoints, role, ..
        } = self;
        let endpoint = Self::of(endpoints, slot);
        let mut place = endpoint.place();
        flush(role, (slot, endpoint), &mut place, now, wire);
        self.release(now, wire);
    }

    /// ACKs that the role lets go, of any connection.
    #[inline(always)]
    fn release(&mut self, now: Time, wire: &mut impl Wire) {
        let mut releases = 0;
        while let Some(release) = self.role.as_role_mut().next_release(now) {
            releases += 1;
            if releases > MOST_RELEASES && releases > 2 * self.endpoints.len() {
                wire.on_endless_release();
                return;
            }
            let endpoint = self.endpoints[release.slot.0 as usize].as_mut();
            let Some(endpoint) = endpoint.filter(|endpoint| endpoint.state() != State::Closed)
            else {
                continue;
            };
            let place = &mut endpoint.place();
            emit(&mut self.role, release, endpoint, place, now, wire);
            arm(release.slot, endpoint, wire);
        }
    }

    #[inline(always)]
    fn of(endpoints: &mut [Option<Box<Endpoint<C>>>], slot: Slot) -> &mut Endpoint<C> {
        endpoints[slot.0 as usize].as_mut().expect(THERE)
    }
}

/// ACKs that a role may release in one event however few connections there are. A connection has at most one that is
/// held, so that twice as many as connections are too many.
const MOST_RELEASES: usize = 1 << 12;

/// What concerns a connection reaches its host only while it is open.
const THERE: &str = "the endpoint is there";

/// Sends what a connection has to send, and offers its ACK to the role. Segments are built in `place`, whatever is
/// there. What the role releases then is to be sent next.
#[inline(always)]
fn flush<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>>(
    role: &mut R,
    (slot, endpoint): (Slot, &mut Endpoint<C>),
    place: &mut Packet,
    now: Time,
    wire: &mut impl Wire,
) {
    endpoint.limit_window(role.as_role().window(slot, u64::MAX));
    // In the order of `Endpoint::poll`.
    if endpoint.has_urgent() {
        send_urgent(role, slot, endpoint, now, wire);
    }
    if endpoint.has_data() {
        while endpoint.data_into(place, now) {
            note_sent(role, slot, endpoint, place, now);
            if endpoint.keeps_host_queue_short() {
                let begins = wire.send_timed(slot, place);
                if begins > now {
                    endpoint.note_waiting(place, begins);
                }
            } else {
                wire.send(slot, place);
            }
        }
    }
    if let Some(kind) = endpoint.ack_due() {
        match role.as_role_mut().on_ack_ready(slot, kind, now) {
            AckVerdict::Send => {
                let what = Released::Ack;
                let release = Release { slot, what };
                emit(role, release, endpoint, place, now, wire);
            }
            AckVerdict::Hold => endpoint.hold_ack(),
        }
    }
    arm(slot, endpoint, wire);
}

/// Announces when a connection is to be called again. Most deadlines only move back, and most of these are not computed.
#[inline(always)]
fn arm<C: Plays<dyn SenderCc>>(slot: Slot, endpoint: &Endpoint<C>, wire: &mut impl Wire) {
    if !wire.wakes_by(slot, endpoint.earliest_deadline()) {
        wire.arm(slot, endpoint.wakes_at());
    }
}

/// Segments that are seldom sent leave first.
#[inline(never)]
fn send_urgent<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>>(
    role: &mut R,
    slot: Slot,
    endpoint: &mut Endpoint<C>,
    now: Time,
    wire: &mut impl Wire,
) {
    while let Some(mut packet) = endpoint.poll_urgent(now) {
        note_sent(role, slot, endpoint, &mut packet, now);
        wire.send(slot, &mut packet);
    }
}

/// A segment that the role lets go leaves, built in `place`.
#[inline(always)]
fn emit<C: Plays<dyn SenderCc>, R: Plays<dyn ReceiverCc>>(
    role: &mut R,
    Release { slot, what }: Release,
    endpoint: &mut Endpoint<C>,
    place: &mut Packet,
    now: Time,
    wire: &mut impl Wire,
) {
    if what == Released::Notice {
        *place = endpoint.notice();
        role.as_role_mut().stamp(slot, place);
        return wire.send(slot, place);
    }
    endpoint.limit_window(role.as_role().window(slot, u64::MAX));
    endpoint.ack_into(place, what == Released::Order, now);
    note_sent(role, slot, endpoint, place, now);
    wire.send(slot, place);
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
