//! When something is due at a host, and the host's way out.

use base::{HostId, Packet, Time};
use engine::{Scheduler, Token};
use fabric::Network;
use schemes::Sender;
use tcp::{Host, HostHelper, Plays, ReceiverCc, Slot, Wire};

use crate::probe::{AtQueues, Probe};

/// Which deadlines have an event: one per endpoint and one per host's role.
///
/// An event is scheduled only if none is pending that comes earlier; one that comes too early is
/// scheduled again, one that another overtook is ignored. So a deadline that moves back with every
/// ACK costs an event per timeout and not one per ACK.
pub(super) struct Deadlines {
    /// Time of the earliest pending event, endpoints first, then roles.
    pub(super) armed: Vec<Time>,
    /// Place of the first endpoint of each host.
    pub(super) first: Vec<u32>,
    /// Host of each endpoint.
    pub(super) host: Vec<HostId>,
    /// Token of place 0.
    pub(super) token: u32,
}

impl Deadlines {
    pub(super) fn new<R: Plays<dyn ReceiverCc>>(hosts: &[Host<Sender, R>], tokens: usize) -> Self {
        let (mut first, mut host) = (Vec::new(), Vec::new());
        for (index, owner) in hosts.iter().enumerate() {
            first.push(number(host.len()));
            host.resize(host.len() + owner.slots(), HostId(number(index)));
        }
        Self {
            armed: vec![Time::NEVER; host.len() + hosts.len()],
            first,
            host,
            token: number(tokens),
        }
    }

    #[inline]
    pub(super) fn arm(&mut self, place: usize, deadline: Time, sched: &mut Scheduler) {
        if deadline < self.armed[place] {
            // A deadline that has passed is due now.
            let at = deadline.max(sched.now());
            self.armed[place] = at;
            sched.at(at, Token(self.token + number(place)));
        }
    }

    /// Whether the event that fires now is the one that counts.
    pub(super) fn fire(&mut self, place: usize, now: Time) -> bool {
        let counts = self.armed[place] == now;
        if counts {
            self.armed[place] = Time::NEVER;
        }
        counts
    }
}

/// What a host adds below TCP, if anything.
pub(super) type Helper = Option<Box<dyn HostHelper>>;

/// The way out of a host.
pub(super) struct Out<'a, 'p, P> {
    pub(super) helper: Option<&'a mut Helper>,
    pub(super) network: &'a mut Network,
    pub(super) watch: &'a mut AtQueues<'p, P>,
    pub(super) deadlines: &'a mut Deadlines,
    pub(super) sched: &'a mut Scheduler,
    pub(super) host: HostId,
}

impl<P: Probe> Wire for Out<'_, '_, P> {
    #[inline]
    fn send(&mut self, slot: Slot, packet: &mut Packet) {
        if let Some(Some(helper)) = &mut self.helper {
            helper.on_outgoing(slot, packet, self.sched.now());
        }
        self.watch.packets[packet.flow.0 as usize].inside += 1;
        self.network.send(self.host, packet, self.sched, self.watch);
    }

    #[inline]
    fn arm(&mut self, slot: Slot, deadline: Time) {
        let place = self.deadlines.first[self.host.0 as usize] + slot.0;
        self.deadlines.arm(place as usize, deadline, self.sched);
    }
}

/// A count of what has tokens, which were counted.
#[expect(clippy::cast_possible_truncation, reason = "fewer than the tokens")]
pub(super) const fn number(count: usize) -> u32 {
    count as u32
}
