//! The deadlines of hosts, and the way of packets out of a host.

use std::sync::Arc;

use base::cast::id;
use base::{HostId, Packet, Time};
use engine::{Scheduler, Token};
use fabric::Network;
use schemes::Sender;
use tcp::{Host, HostHelper, Plays, ReceiverCc, Slot, Wire};

use crate::probe::{AtQueues, Divide, Follow, Probe};

/// The deadlines that have an event: one per endpoint and one per receiver role.
///
/// An event is scheduled only if no earlier one is pending. An event that comes too early is scheduled again; an event
/// that another one has overtaken is ignored. So a deadline that moves back with every ACK costs one event per timeout,
/// not one per ACK.
pub(super) struct Deadlines {
    /// Time of the earliest pending event, endpoints first, then roles.
    pub(super) armed: Vec<Time>,
    /// Place of the first endpoint of each host.
    pub(super) first: Vec<u32>,
    /// The number of places of endpoints; the places of roles follow them.
    pub(super) ends: usize,
    /// Token of place 0.
    pub(super) token: u32,
    /// With more pending events than this, overtaken ones are removed.
    most: usize,
}

impl Deadlines {
    pub(super) fn new<R: Plays<dyn ReceiverCc>>(hosts: &[Host<Sender, R>], tokens: usize) -> Self {
        let (mut first, mut ends) = (Vec::with_capacity(hosts.len()), 0);
        for host in hosts {
            first.push(id(ends));
            ends += host.slots();
        }
        Self {
            armed: vec![Time::NEVER; ends + hosts.len()],
            first,
            ends,
            token: id(tokens),
            most: FORGOTTEN,
        }
    }

    /// The endpoint at a place. O(log hosts).
    pub(super) fn owner(&self, place: usize) -> (HostId, Slot) {
        owner(&self.first, place)
    }

    #[inline(always)]
    pub(super) fn arm(&mut self, place: usize, deadline: Time, sched: &mut Scheduler) {
        if deadline < self.armed[place] {
            self.arm_earlier(place, deadline, sched);
        }
    }

    #[inline(never)]
    fn arm_earlier(&mut self, place: usize, deadline: Time, sched: &mut Scheduler) {
        // A deadline that has passed is due now.
        let at = deadline.max(sched.now());
        self.armed[place] = at;
        sched.at(at, Token(self.token + id(place)));
    }

    /// The endpoints of a connection are removed; `is_there` says which connections have endpoints. Each time the
    /// number of pending events has doubled, the events without an endpoint are removed: O(log n) amortised for n
    /// events.
    ///
    /// An overtaken event of an existing connection stays. If a deadline later falls on its time again, this event
    /// counts, and its position among all events of that time must not depend on the number of pending events.
    pub(super) fn forget(
        &mut self,
        is_there: impl Fn(HostId, Slot) -> bool,
        sched: &mut Scheduler,
    ) {
        if sched.pending() < self.most {
            return;
        }
        sched.retain_later(|_, token| {
            let Some(place) = token.0.checked_sub(self.token) else {
                return true;
            };
            let place = place as usize;
            if place >= self.ends {
                return true;
            }
            let (host, slot) = owner(&self.first, place);
            let kept = is_there(host, slot);
            if !kept {
                self.armed[place] = Time::NEVER;
            }
            kept
        });
        self.most = 2 * sched.pending() + FORGOTTEN;
    }

    /// The token at this offset after the tokens of deadlines.
    pub(super) fn beyond(&self, more: u32) -> Token {
        Token(self.token + id(self.armed.len()) + more)
    }

    /// Whether the event that fires now is the valid one of its place.
    pub(super) fn fire(&mut self, place: usize, now: Time) -> bool {
        let counts = self.armed[place] == now;
        if counts {
            self.armed[place] = Time::NEVER;
        }
        counts
    }
}

/// The host of the endpoint at `place`, and its slot there; `first` has the first place of each host.
fn owner(first: &[u32], place: usize) -> (HostId, Slot) {
    let place = id(place);
    // A host without endpoints has the same first place as the next host.
    let host = first.partition_point(|first| *first <= place) - 1;
    (HostId(id(host)), Slot(place - first[host]))
}

/// Pending events below this number are not removed: they take some hundred kilobytes.
const FORGOTTEN: usize = if cfg!(test) { 1 << 4 } else { 1 << 14 };

/// What a host adds below TCP, if anything.
pub(super) type Helper = Option<Box<dyn HostHelper>>;

/// The things that a packet passes when it leaves a host. They are in one struct so that one pointer leads to all.
pub(super) struct Outside<P> {
    pub(super) network: Network,
    pub(super) watch: AtQueues<P>,
    pub(super) deadlines: Deadlines,
    /// What each host adds below TCP; empty if none does.
    pub(super) helpers: Vec<Helper>,
}

/// The way out of a host.
pub(super) struct Out<'a, P> {
    pub(super) outside: &'a mut Outside<P>,
    pub(super) sched: &'a mut Scheduler,
    pub(super) host: HostId,
}

impl<P: Probe + Follow + Divide> Out<'_, P> {
    /// The handling of every packet between TCP and the host's port.
    #[inline(always)]
    fn prepare(&mut self, slot: Slot, packet: &mut Packet) {
        let Outside { watch, helpers, .. } = &mut *self.outside;
        if let Some(Some(helper)) = helpers.get_mut(self.host.0 as usize) {
            helper.on_outgoing(slot, packet, self.sched.now());
        }
        watch.packets[packet.flow.0 as usize].enter();
        watch.probe.on_send(packet, self.sched.now());
    }
}

impl<P: Probe + Follow + Divide> Wire for Out<'_, P> {
    #[inline]
    fn send(&mut self, slot: Slot, packet: &mut Packet) {
        self.prepare(slot, packet);
        let Outside { network, watch, .. } = &mut *self.outside;
        network.send(self.host, packet, self.sched, watch);
    }

    #[inline]
    fn send_timed(&mut self, slot: Slot, packet: &mut Packet) -> Time {
        self.prepare(slot, packet);
        let Outside { network, watch, .. } = &mut *self.outside;
        network.send_timed(self.host, packet, self.sched, watch)
    }

    #[inline]
    fn arm(&mut self, slot: Slot, deadline: Time) {
        let deadlines = &mut self.outside.deadlines;
        let place = deadlines.first[self.host.0 as usize] + slot.0;
        deadlines.arm(place as usize, deadline, self.sched);
    }

    #[inline]
    fn wakes_by(&self, slot: Slot, time: Time) -> bool {
        let deadlines = &self.outside.deadlines;
        let place = deadlines.first[self.host.0 as usize] + slot.0;
        deadlines.armed[place as usize] <= time
    }

    fn on_endless_release(&mut self) {
        schemes::give_up(Arc::new(EndlessRelease(self.host)))
    }
}

/// The receiver role of this host releases ACKs again and again within one event.
#[derive(Debug, thiserror::Error)]
#[error(
    "the receiver role of host {} releases ACKs without end: its next_release must return no ACK when the role holds none",
    .0.0
)]
struct EndlessRelease(HostId);

/// The offset of the token of pauses after the tokens of deadlines; the tokens of applications and of delayed packets
/// come before it.
pub(super) const PAUSES: u32 = 2;
