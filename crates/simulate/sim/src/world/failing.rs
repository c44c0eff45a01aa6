//! A world in which links, switches and hosts fail.

use base::cast::id;
use base::{FlowId, HostId, Time};
use engine::Scheduler;
use tcp::{Endpoint, Plays, Progress, ReceiverCc, Slot};

use super::connection::Connection;
use super::deadlines::Outside;
use super::faults::Change;
use super::ports::Fresh;
use super::{ConnectionEnd, World};
use crate::failure::FlowFailure;
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// A fault begins or ends.
    pub(super) fn change(&mut self, place: u32, sched: &mut Scheduler) {
        let now = sched.now();
        self.settle(now);
        let Some(faults) = &mut self.faults else {
            return;
        };
        let change = &mut faults.changes[place as usize].1;
        let change = std::mem::replace(change, Change::Past);
        let Outside { network, watch, .. } = &mut self.outside;
        match change {
            Change::Cut(ports, reason) => {
                for port in ports {
                    network.cut(port, reason, now, watch);
                }
            }
            Change::Mend(ports, reason) => {
                for port in ports {
                    network.mend(port, reason);
                }
            }
            Change::Rate(port, _) | Change::Delay(port, _) => {
                let link = faults.changed(&self.topology, port, &change);
                network.change_link(port, (link.rate, link.delay), now);
            }
            Change::Renew(ports) => {
                for Fresh {
                    port,
                    discipline,
                    hook,
                } in ports
                {
                    network.renew(port, discipline, hook, now);
                }
            }
            Change::Gone(host) => {
                faults.gone.insert(host);
                self.lose(host, sched);
            }
            Change::Reading(host, reading) => {
                let times = faults.deaf.entry(host).or_default();
                *times = if reading { *times - 1 } else { *times + 1 };
                self.set_reading(host, sched);
            }
            Change::Past => {}
        }
    }

    /// Ports whose links have changed get their original links again.
    pub(super) fn restore_links(&mut self, now: Time) {
        for (port, [_, made]) in self.faults.iter().flat_map(|faults| &faults.links) {
            let network = &mut self.outside.network;
            network.change_link(*port, (made.rate, made.delay), now);
        }
    }

    /// Whether a host has disappeared.
    pub(super) fn is_gone(&self, host: HostId) -> bool {
        self.faults
            .as_ref()
            .is_some_and(|faults| faults.is_gone(host))
    }

    /// A host has disappeared, and its connections with it. A peer that waits for it without data to send would wait
    /// for ever, so it is closed.
    fn lose(&mut self, host: HostId, sched: &mut Scheduler) {
        for number in 0..self.connections.len() {
            let (of, connection) = (FlowId(id(number)), &self.connections[number]);
            let ends = [connection.sender, connection.receiver];
            let Some(own) = ends.iter().position(|(at, _)| *at == host) else {
                continue;
            };
            // The other end of a flow notices by itself, if it sends.
            let fails = own == 0 || connection.opener().0 == host;
            let Some(messages) = &connection.messages else {
                if !connection.opened && connection.opener().0 == host {
                    self.never_open(number);
                }
                continue;
            };
            // Future messages fail when they are to start, and keep the run going until then.
            let more = messages.has_more();
            self.open += usize::from(more && fails);
            self.close_silently(of, ends[own], sched);
            let (at, slot) = ends[1 - own];
            let other = self.hosts[at.0 as usize].endpoint(slot);
            let idle = other.in_flight() == 0 && other.unsent() == 0;
            if idle && (fails || !more) {
                self.close_silently(of, (at, slot), sched);
            }
            if fails {
                self.fail(of, FlowFailure::HostGone, sched);
            }
        }
    }

    /// A connection that has not been opened will never be opened.
    fn never_open(&mut self, number: usize) {
        let connection = &mut self.connections[number];
        connection.failure = Some(FlowFailure::HostGone);
        self.open -= 2;
        // The slots of another connection are in use until that connection is over.
        if connection.heir_of.get().is_none() {
            for (host, slot) in [connection.sender, connection.receiver] {
                let place = self.outside.deadlines.first[host.0 as usize] + slot.0;
                self.ended[place as usize] = true;
            }
        }
    }

    /// Closes an end of a connection without telling the peer.
    fn close_silently(
        &mut self,
        flow: FlowId,
        (host, slot): (HostId, Slot),
        sched: &mut Scheduler,
    ) {
        if self.hosts[host.0 as usize].endpoint(slot).is_ended() {
            return;
        }
        self.apply(flow, (host, slot), Endpoint::vanish, sched);
        let end = ConnectionEnd { host, slot, flow };
        self.after_change(end, Progress::default(), sched);
        self.arm_role(host, sched);
    }

    /// The applications of a host stop reading, or read the waiting data.
    fn set_reading(&mut self, host: HostId, sched: &mut Scheduler) {
        for number in 0..self.connections.len() {
            let (of, connection) = (FlowId(id(number)), &self.connections[number]);
            let ends = [connection.sender, connection.receiver];
            for end in ends.into_iter().filter(|(at, _)| *at == host) {
                if self.connections[number].messages.is_some() {
                    self.tell_reader(of, end, sched);
                }
            }
        }
    }

    /// If its host has stopped reading, the application of this newly opened connection does not read either.
    pub(super) fn stop_readers(&mut self, flow: FlowId, sched: &mut Scheduler) {
        let Some(faults) = &self.faults else { return };
        let Connection {
            sender, receiver, ..
        } = self.connections[flow.0 as usize];
        let deaf = [sender, receiver].map(|end| faults.is_deaf(end.0).then_some(end));
        for end in deaf.into_iter().flatten() {
            self.tell_reader(flow, end, sched);
        }
    }

    /// Sets whether the application at an end of a connection reads, as its host does.
    fn tell_reader(&mut self, flow: FlowId, end: (HostId, Slot), sched: &mut Scheduler) {
        let Some(faults) = &self.faults else { return };
        let reads = !faults.is_deaf(end.0);
        let tell = |endpoint: &mut Endpoint<_>| {
            endpoint.set_reading(reads);
            if reads {
                endpoint.read(u64::MAX);
            }
        };
        self.apply(flow, end, tell, sched);
    }
}
