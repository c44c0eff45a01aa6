//! Switches that pause the nodes before them rather than drop (priority-based flow control, IEEE 802.1Qbb).

mod deadlock;
mod ingress;
mod report;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use base::{FlowId, Packet, Span, Time};
use engine::{Scheduler, Token};

use crate::pfc::{PfcConfig, headroom};
use crate::pool::{Pool, PoolConfig};
use crate::port::{Offer, Port};
use crate::port_id::PortId;
use crate::topology::{Node, Topology};
use crate::watch::{DropReason, Watch};

use super::buffers::BufferDrops;
use ingress::Ingress;
pub use report::{PauseReport, Paused};

/// The buffers of all switches, and which classes are paused where.
///
/// Every pause changes the next packet of a port, so its ports decide late, as those with priorities do, and each has an event
/// when its transmitter is free while packets wait: what leaves makes room for which a class may be resumed at once.
pub(super) struct Lossless {
    config: PfcConfig,
    token: Token,
    switches: Vec<Switch>,
    ports: Vec<Side>,
    agenda: BinaryHeap<Reverse<(Time, u64, Act)>>,
    /// How many acts have been planned.
    count: u64,
    /// By connection: whether it waited for a pause although nothing waited at the next port.
    victims: Vec<bool>,
    /// Whether the packet that last came out of a wire had waited for a pause.
    waited: bool,
    /// The least distance of what any port brought in from its threshold so far.
    margin: Option<u64>,
}

/// A planned change; changes are ordered by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Act {
    /// The transmitter of a port is free while packets wait.
    Free(PortId),
    /// A frame that pauses or resumes a class arrives at this port.
    Frame(PortId, u8, bool),
}

/// The buffer of a switch.
struct Switch {
    pool: Option<Pool>,
    /// Its ports at which packets wait.
    active: Vec<PortId>,
    /// The ports that it has paused, which lead to it, and their classes.
    paused: Vec<(PortId, usize)>,
}

/// Both sides of a port: the queues in front of its wire, and its packets in the switch behind the wire.
struct Side {
    /// The switch whose port it is, and the one at the end of the wire.
    of: Option<usize>,
    into: Option<usize>,
    /// Bytes that wait, by class.
    queues: Vec<Queue>,
    is_active: bool,
    /// Of each packet on the wire: whether it waited for a pause.
    on_wire: VecDeque<bool>,
    /// Whether an event of its oldest packet is scheduled.
    armed: bool,
    /// When its transmitter is free, if that is planned.
    free: Time,
    /// Since when each class is paused, and until when it was last; [`Time::NEVER`] and zero if it is not and was not.
    since: Vec<Time>,
    until: Vec<Time>,
    pauses: u64,
    paused: Span,
    refusals: BufferDrops,
    /// Packets that came in over the wire and wait in the switch, by class.
    ingress: Vec<Ingress>,
    headroom: u64,
}

/// Packets of a class that wait at a port.
#[derive(Default)]
struct Queue {
    entries: VecDeque<Entry>,
    bytes: u64,
}

/// A packet that waits.
#[derive(Clone, Copy)]
struct Entry {
    /// The port it came from; `None` where its host has sent it.
    from: Option<PortId>,
    bytes: u64,
    since: Time,
}

impl Lossless {
    /// Empty buffers of all switches. Events have this token; no other event may.
    pub(super) fn new(
        topology: &Topology,
        ports: &mut [Port],
        (pool, config): (Option<&PoolConfig>, PfcConfig),
        token: Token,
    ) -> Self {
        let mut places = vec![None; topology.nodes().len()];
        let mut switches = Vec::new();
        for (node, place) in topology.nodes().iter().zip(&mut places) {
            if *node == Node::Switch {
                *place = Some(switches.len());
                switches.push(Switch {
                    pool: pool.cloned().map(Pool::new),
                    active: Vec::new(),
                    paused: Vec::new(),
                });
            }
        }
        let classes = ports.iter().map(Port::classes).max().unwrap_or(1);
        let side = |(id, port): (PortId, &mut Port)| {
            port.decide_late();
            let ends = topology.ends(id);
            let place = |node: crate::NodeId| places[node.0 as usize];
            let needed = headroom(port.link().rate, port.round_trip(), config.packet_bytes);
            Side {
                of: place(ends.0),
                into: place(ends.1),
                queues: (0..port.classes()).map(|_| Queue::default()).collect(),
                is_active: false,
                on_wire: VecDeque::new(),
                armed: false,
                free: Time::NEVER,
                since: vec![Time::NEVER; classes],
                until: vec![Time::ZERO; classes],
                pauses: 0,
                paused: Span::ZERO,
                refusals: BufferDrops::default(),
                ingress: vec![Ingress::default(); classes],
                // The packet with which a port crosses its threshold is in the headroom, too.
                headroom: config.headroom.unwrap_or(needed + config.packet_bytes),
            }
        };
        let sides = (0..).map(PortId).zip(ports).map(side).collect();
        Self {
            config,
            token,
            switches,
            ports: sides,
            agenda: BinaryHeap::new(),
            count: 0,
            victims: Vec::new(),
            waited: false,
            margin: None,
        }
    }

    /// A packet has come out of `port`, whose next one is scheduled if it has one.
    pub(super) fn on_arrival(&mut self, port: PortId, state: &Port) {
        let side = &mut self.ports[port.0 as usize];
        side.armed = state.next_arrival().is_some();
        self.waited = side.on_wire.pop_front().unwrap_or(false);
    }

    /// `packet` arrives at `port`, sent by the host or out of the port `from`. Returns whether it is lost.
    pub(super) fn offer<W: Watch>(
        &mut self,
        ports: &mut [Port],
        from: Option<PortId>,
        port: PortId,
        packet: &mut Packet,
        (sched, watch): (&mut Scheduler, &mut W),
    ) -> bool {
        let (index, now) = (port.0 as usize, sched.now());
        self.bring_up(ports, port, (sched, watch));
        if from.is_some() && self.waited && ports[index].waiting() == 0 {
            self.note_victim(packet.flow);
        }
        let class = ports[index].class(packet);
        let size = ports[index].size_of(packet);
        let waits = ports[index].is_busy(now) || self.ports[index].since[class] != Time::NEVER;
        let admitted = if waits {
            self.admits(from, port, class, size)
        } else {
            Ok(false)
        };
        let before = ports[index].packets_of(class);
        let offer = match admitted {
            Ok(_) => ports[index].offer_watched(packet, now, port, watch),
            Err(reason) => {
                let (offer, refused) =
                    ports[index].offer_refused(packet, reason, (now, port), watch);
                self.ports[index].refusals.count(reason, refused);
                offer
            }
        };
        if offer == Offer::Dropped {
            return true;
        }
        if ports[index].packets_of(class) > before {
            let entry = Entry {
                from,
                bytes: size,
                since: now,
            };
            self.store(port, class, entry, admitted == Ok(true));
        } else {
            self.ports[index].on_wire.push_back(false);
        }
        self.drive(ports, port, (sched, watch));
        if let Some(from) = from {
            self.review(ports, from, class, (sched, watch));
        }
        false
    }

    /// Does everything that is planned for now.
    pub(super) fn act<W: Watch>(
        &mut self,
        ports: &mut [Port],
        sched: &mut Scheduler,
        watch: &mut W,
    ) {
        let now = sched.now();
        while let Some(Reverse((at, _, act))) = self.agenda.peek().copied() {
            if at > now {
                return;
            }
            self.agenda.pop();
            let port = match act {
                Act::Free(port) => {
                    let side = &mut self.ports[port.0 as usize];
                    if side.free != at {
                        continue;
                    }
                    side.free = Time::NEVER;
                    port
                }
                Act::Frame(port, class, paused) => {
                    self.drive(ports, port, (sched, watch));
                    self.change(ports, port, (class, paused), now);
                    watch.on_pause(port, class, paused, now);
                    port
                }
            };
            self.bring_up(ports, port, (sched, watch));
        }
    }

    /// How often and how long classes were paused at `port`, until `now`.
    pub(super) fn paused(&self, port: PortId, now: Time) -> Paused {
        let side = &self.ports[port.0 as usize];
        let open = side.since.iter().filter(|since| **since != Time::NEVER);
        let open = open.fold(Span::ZERO, |sum, since| sum + now.since(*since));
        Paused {
            pauses: side.pauses,
            time: side.paused + open,
        }
    }

    /// The pauses of the run until `now`.
    pub(super) fn report(&self, now: Time) -> PauseReport {
        let ports = (0..).map(PortId).zip(&self.ports);
        let paused: Vec<Paused> = ports.map(|(port, _)| self.paused(port, now)).collect();
        PauseReport {
            pauses: paused.iter().map(|paused| paused.pauses).sum(),
            paused: paused.iter().fold(Span::ZERO, |sum, one| sum + one.time),
            victims: self.all_victims(),
            margin: self.margin.unwrap_or(0),
            deadlock: self.deadlock(),
        }
    }

    fn all_victims(&self) -> Vec<FlowId> {
        let all = (0..).map(FlowId).zip(&self.victims);
        all.filter_map(|(flow, is_victim)| is_victim.then_some(flow))
            .collect()
    }

    /// Packets that `port` dropped.
    pub(super) fn refusals(&self, port: PortId) -> BufferDrops {
        self.ports[port.0 as usize].refusals
    }

    /// The most bytes of its pool that any switch had in use, if they have one.
    pub(super) fn most(&self) -> Option<u64> {
        let pools = self
            .switches
            .iter()
            .filter_map(|switch| switch.pool.as_ref());
        pools.map(Pool::most).max()
    }

    /// Lets the transmitter of `port` send what it may by now, and accounts for all packets that left its switch
    /// until now.
    fn bring_up<W: Watch>(
        &mut self,
        ports: &mut [Port],
        port: PortId,
        (sched, watch): (&mut Scheduler, &mut W),
    ) {
        self.drive(ports, port, (sched, watch));
        let Some(switch) = self.ports[port.0 as usize].of else {
            return;
        };
        let mut place = 0;
        while let Some(other) = self.switches[switch].active.get(place).copied() {
            self.drive(ports, other, (sched, watch));
            if ports[other.0 as usize].waiting() == 0 {
                self.switches[switch].active.swap_remove(place);
                self.ports[other.0 as usize].is_active = false;
            } else {
                place += 1;
            }
        }
        for (from, class) in self.switches[switch].paused.clone() {
            self.review(ports, from, class, (sched, watch));
        }
    }

    /// Lets the transmitter of `port` send what it may by now, and schedules its next packet.
    fn drive<W: Watch>(
        &mut self,
        ports: &mut [Port],
        port: PortId,
        (sched, watch): (&mut Scheduler, &mut W),
    ) {
        let (state, now) = (&mut ports[port.0 as usize], sched.now());
        state.settle_watched(now, port, watch, &mut |_| false);
        for class in 0..self.ports[port.0 as usize].queues.len() {
            let left = usize::try_from(state.packets_of(class)).unwrap_or(usize::MAX);
            while self.ports[port.0 as usize].queues[class].entries.len() > left {
                self.release(port, class);
            }
        }
        let side = &mut self.ports[port.0 as usize];
        if let Some(arrival) = state.next_arrival().filter(|_| !side.armed) {
            side.armed = true;
            sched.at(arrival, Token(port.0));
        }
        let next = state.next_start();
        if next != Time::NEVER && (side.free == Time::NEVER || side.free > next) {
            side.free = next;
            self.plan(next, Act::Free(port), sched);
        }
    }

    fn plan(&mut self, at: Time, act: Act, sched: &mut Scheduler) {
        self.count += 1;
        self.agenda.push(Reverse((at, self.count, act)));
        sched.at(at, self.token);
    }

    /// A class is paused at `port`, or resumed.
    fn change(&mut self, ports: &mut [Port], port: PortId, (class, paused): (u8, bool), now: Time) {
        let side = &mut self.ports[port.0 as usize];
        let class = usize::from(class);
        if paused {
            side.since[class] = now;
            side.pauses += 1;
        } else {
            side.paused += now.since(side.since[class]);
            (side.since[class], side.until[class]) = (Time::NEVER, now);
        }
        ports[port.0 as usize].pause(class, paused, now);
    }

    /// The oldest packet of a class has left the queue of `port`.
    fn release(&mut self, port: PortId, class: usize) {
        let side = &mut self.ports[port.0 as usize];
        let Some(entry) = side.queues[class].entries.pop_front() else {
            return;
        };
        side.on_wire.push_back(side.until[class] > entry.since);
        let (before, of) = (side.queues[class].bytes, side.of);
        side.queues[class].bytes -= entry.bytes;
        let pool = of.and_then(|switch| self.switches[switch].pool.as_mut());
        if self.config.lossless >> class & 1 == 0 {
            if let Some(pool) = pool {
                pool.change(before, before - entry.bytes);
            }
        } else if let Some(from) = entry.from {
            self.ports[from.0 as usize].ingress[class].release(entry.bytes, pool);
        }
    }

    /// A packet waits at `port`, in the headroom or not.
    fn store(&mut self, port: PortId, class: usize, entry: Entry, in_headroom: bool) {
        let side = &mut self.ports[port.0 as usize];
        side.queues[class].entries.push_back(entry);
        let before = side.queues[class].bytes;
        side.queues[class].bytes += entry.bytes;
        let Some(switch) = side.of else {
            return;
        };
        let buffer = &mut self.switches[switch];
        if !side.is_active {
            side.is_active = true;
            buffer.active.push(port);
        }
        if self.config.lossless >> class & 1 == 0 {
            if let Some(pool) = &mut buffer.pool {
                pool.change(before, before + entry.bytes);
            }
        } else if let Some(from) = entry.from {
            let ingress = &mut self.ports[from.0 as usize].ingress[class];
            ingress.store(entry.bytes, in_headroom, buffer.pool.as_mut());
            let left = ingress.distance(self.config.xoff, buffer.pool.as_ref());
            self.margin = Some(self.margin.map_or(left, |least| least.min(left)));
        }
    }

    /// Whether a packet that came from `from` may wait at `port`; and whether in the headroom.
    fn admits(
        &self,
        from: Option<PortId>,
        port: PortId,
        class: usize,
        size: u64,
    ) -> Result<bool, DropReason> {
        let side = &self.ports[port.0 as usize];
        let (Some(from), Some(switch)) = (from, side.of) else {
            return Ok(false);
        };
        let pool = self.switches[switch].pool.as_ref();
        if self.config.lossless >> class & 1 == 0 {
            let bytes = side.queues[class].bytes;
            return pool.map_or(Ok(false), |pool| {
                pool.admits(class, bytes, size).map(|()| false)
            });
        }
        let into = &self.ports[from.0 as usize];
        into.ingress[class].admits(size, (self.config.xoff, into.headroom), pool)
    }

    /// The switch behind `from` pauses a class there if it has to, or resumes it if it can.
    fn review<W: Watch>(
        &mut self,
        ports: &mut [Port],
        from: PortId,
        class: usize,
        (sched, watch): (&mut Scheduler, &mut W),
    ) {
        let Some(switch) = self.ports[from.0 as usize].into else {
            return;
        };
        let pool = self.switches[switch].pool.as_ref();
        let ingress = &mut self.ports[from.0 as usize].ingress[class];
        if self.config.lossless >> class & 1 == 0
            || !ingress.review((self.config.xoff, self.config.resume), pool)
        {
            return;
        }
        let is_paused = ingress.is_paused;
        let paused = &mut self.switches[switch].paused;
        if is_paused {
            paused.push((from, class));
        } else {
            paused.retain(|one| *one != (from, class));
        }
        // The frame goes back the other way of the link.
        let back = from.reverse();
        self.drive(ports, back, (sched, watch));
        let arrives = ports[back.0 as usize].send_control(FRAME, sched.now());
        self.drive(ports, back, (sched, watch));
        let class = u8::try_from(class).unwrap_or(u8::MAX);
        self.plan(arrives, Act::Frame(from, class, is_paused), sched);
    }

    fn note_victim(&mut self, flow: FlowId) {
        let flow = flow.0 as usize;
        if flow >= self.victims.len() {
            self.victims.resize(flow + 1, false);
        }
        self.victims[flow] = true;
    }
}

/// Bytes of a frame that pauses or resumes (IEEE 802.3, 31B): the least of Ethernet.
const FRAME: u64 = 64;
