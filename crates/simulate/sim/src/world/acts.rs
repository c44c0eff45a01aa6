//! The next acts of applications, and the packets that links have delayed.

use std::cmp::Reverse;

use base::{FlowId, HostId, Packet, Time};
use engine::{Scheduler, Token};
use tcp::{Plays, ReceiverCc};

use super::World;
use super::deadlines::Outside;
use super::flow::Act;
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    pub(super) fn act_token(&self) -> Token {
        self.outside.deadlines.beyond(0)
    }

    /// Schedules an event for the next act of applications, unless an early enough one is pending.
    pub(super) fn arm_agenda(&mut self, sched: &mut Scheduler) {
        if let Some(Reverse((at, _))) = self.agenda.peek()
            && *at < self.next_act
        {
            self.next_act = *at;
            sched.at(*at, self.act_token());
        }
    }

    /// A delayed packet, or a copy, goes on.
    pub(super) fn release(&mut self, sched: &mut Scheduler) {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        let Outside { network, watch, .. } = &mut self.outside;
        watch.probe.on_release();
        let reached = network.on_release(&mut packet, sched, watch);
        if let Some(host) = reached {
            self.deliver(host, &mut packet, sched);
        }
    }

    /// Performs the acts of applications that are due, and schedules an event for the next.
    pub(super) fn act(&mut self, sched: &mut Scheduler) {
        if self.next_act == sched.now() {
            self.next_act = Time::NEVER;
        }
        while let Some(Reverse((at, act))) = self.agenda.peek().copied() {
            if at > sched.now() {
                break;
            }
            self.agenda.pop();
            match act {
                Act::Open(connection) => self.open(connection, sched),
                Act::Start(flow) => self.start(flow, sched),
                Act::Stop(flow) => self.stop(flow, sched),
                Act::Write(flow) => self.write_more(flow, sched),
                Act::Fault(place) => self.change(place, sched),
            }
        }
        self.arm_agenda(sched);
    }
}
