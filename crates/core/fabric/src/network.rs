//! A topology in motion.

mod buffers;
mod digest;
mod failing;
mod faults;
mod lossless;
mod parts;
mod path;
mod told;

use base::cast::id;
use base::{FlowId, HostId, Packet, Time};
use engine::{Scheduler, Token};

use crate::disorder::{Detained, Disorder};
use crate::parts::PortParts;
use crate::pfc::PfcConfig;
use crate::pool::PoolConfig;
use crate::port::{End, Offer, Port, PortConfig};
use crate::port_id::PortId;
use crate::queue::Limit;
use crate::routes::{Routes, Spread};
use crate::topology::{LinkSpec, Node, NodeId, Topology, TopologyError};
use crate::watch::Watch;

pub use buffers::BufferDrops;
use buffers::Buffers;
pub use faults::FaultDrops;
use faults::Faults;
use lossless::Lossless;
pub use lossless::{PauseReport, Paused};

/// The settings that all ports of a network share, and those in which switch and host ports differ.
pub struct NetworkConfig<'a> {
    /// Bytes a packet has on the wire beside its payload.
    pub header_bytes: u32,
    /// Whether SACK blocks make a packet longer than that.
    pub sack_bytes: bool,
    /// How much may wait at a switch port.
    pub switch_limit: Limit,
    /// How much may wait at a host port.
    pub host_limit: Limit,
    /// Makes the parts that are a switch port's own.
    pub switch_port: &'a dyn Fn(PortId, &LinkSpec) -> PortParts,
    /// Makes the parts that are a host port's own.
    pub host_port: &'a dyn Fn(PortId, &LinkSpec) -> PortParts,
    /// Bytes for whose transmission switches hold every packet before it reaches the queue of the
    /// next link. All packets of a port are held alike, so the port behaves as if its wire were longer.
    pub switch_hold_bytes: u64,
    /// The buffer that the queues of each switch share, if they do.
    pub pool: Option<PoolConfig>,
    /// When queue statistics begin.
    pub measure_from: Time,
    /// How packets spread over paths of equal length.
    pub spread: Spread,
    /// Makes the hashes of runs with different seeds unrelated.
    pub salt: u64,
    /// Whether hosts may withdraw packets that wait at their ports for their turn by priority.
    pub withdraws: bool,
}

/// Ports, switches and the packets between them.
///
/// A packet-hop is one event whose token is the number of the port the packet came out of. Tokens from
/// the number of ports on belong to others.
///
/// A host may withdraw packets that wait at its own port for their turn by priority. Whether they are
/// `stale` is asked when it is their turn, or later: then nothing that decides it may have changed, so
/// [`Network::settle_host`] comes before whatever happens at such a host.
pub struct Network {
    ports: Vec<Port>,
    /// Whether any port has a hook.
    hooked: bool,
    /// Whether packets are offered apart: ports share a buffer, or links have faults.
    apart: bool,
    /// Whether packets that come out of a port may be other than those that went in: withdrawn by priority,
    /// kept behind a link, or lost on it.
    disturbed: bool,
    /// The ports below this one are fetched ahead of time: all, if they are more than the nearer caches hold.
    fetched: u32,
    /// The packets kept behind links, if any link delivers late or twice.
    detained: Option<Box<Detained>>,
    /// The buffers that queues share, if they do.
    buffers: Option<Box<Buffers>>,
    /// Buffers of switches that pause the nodes before them, in place of `buffers`.
    lossless: Option<Box<Lossless>>,
    /// The faults of links, if there are or will be any.
    faults: Option<Box<Faults>>,
    /// The only port of each host.
    host_ports: Vec<PortId>,
    routes: Routes,
    /// Packets that hosts have sent.
    sent: u64,
    /// Packets handed to hosts.
    delivered: u64,
    /// Packets dropped or pushed out at ports.
    lost: u64,
    digest: u64,
}

impl Network {
    /// Builds the ports and routes of `topology`.
    ///
    /// # Panics
    /// If switches times hosts exceed 2^32.
    pub fn new(topology: &Topology, config: &NetworkConfig<'_>) -> Result<Self, TopologyError> {
        let hosts = topology.hosts().len();
        let (routes, rows) = Routes::new(topology, config.spread, config.salt)?;
        let end = |node: NodeId| match topology.nodes()[node.0 as usize] {
            Node::Host(host) => End::Host(host),
            Node::Switch => End::Switch(rows[node.0 as usize].expect("a switch has routes")),
        };
        let mut network = Self {
            ports: Vec::with_capacity(topology.links().len() * 2),
            hooked: false,
            apart: false,
            disturbed: config.withdraws,
            fetched: 0,
            detained: None,
            buffers: None,
            lossless: None,
            faults: None,
            host_ports: (0..hosts)
                .map(|h| topology.host_port(HostId(id(h))))
                .collect(),
            routes,
            sent: 0,
            delivered: 0,
            lost: 0,
            digest: 0,
        };
        for link in topology.links() {
            let directions = [(link.a, link.b, &link.spec), (link.b, link.a, &link.back)];
            for (from, to, spec) in directions {
                let id = PortId(id(network.ports.len()));
                let of_host = matches!(topology.nodes()[from.0 as usize], Node::Host(_));
                let (limit, held, make) = if of_host {
                    (config.host_limit, 0, config.host_port)
                } else {
                    let held = config.switch_hold_bytes;
                    (config.switch_limit, held, config.switch_port)
                };
                let made = make(id, spec);
                network.hooked |= made.hook.is_some();
                let port = PortConfig {
                    rate: spec.rate,
                    delay: spec.delay + spec.rate.serialisation(held),
                    jitter: made.jitter,
                    bucket: made.bucket,
                    limit: made.limit.unwrap_or(limit),
                    discipline: made.discipline,
                    hook: made.hook,
                    priorities: made.priorities,
                    header_bytes: config.header_bytes,
                };
                let mut port =
                    Port::new(port, config.measure_from).with_departure_marks(made.departure_marks);
                port.end = end(to);
                port.of_host = of_host;
                port.counts_sack = config.sack_bytes;
                network.ports.push(port);
            }
        }
        if let Some(pool) = &config.pool {
            let buffers = Buffers::new(topology, &network.ports, pool);
            network.buffers = Some(Box::new(buffers));
            network.apart = true;
        }
        if size_of_val(&*network.ports) > NEAR_CACHE {
            network.fetched = id(network.ports.len());
        }
        Ok(network)
    }

    /// Whether a link delivers packets late or twice.
    pub const fn is_disordered(&self) -> bool {
        self.detained.is_some()
    }

    /// Makes a link deliver late or twice. Events of packets that it keeps have this token, and no others may.
    pub fn disturb(&mut self, disorder: Disorder, token: Token) {
        self.detained = Some(Box::new(Detained::new(disorder, token)));
        self.disturbed = true;
    }

    /// Makes switches pause the nodes before them rather than drop, with the shared buffer of `pool`, if they have one. Events of
    /// these pauses have this token; no other event may.
    pub fn pause_by(
        &mut self,
        topology: &Topology,
        config: PfcConfig,
        pool: Option<&PoolConfig>,
        token: Token,
    ) {
        let lossless = Lossless::new(topology, &mut self.ports, (pool, config), token);
        (self.lossless, self.buffers) = (Some(Box::new(lossless)), None);
        (self.apart, self.disturbed) = (true, true);
    }

    /// An event of pauses has come.
    pub fn on_pause_event<W: Watch>(&mut self, sched: &mut Scheduler, watch: &mut W) {
        if let Some(lossless) = &mut self.lossless {
            lossless.act(&mut self.ports, sched, watch);
        }
    }

    /// Announces a flow before its first packet: its two hosts, and a number by which its path is
    /// chosen, independently of other flows. Flows are numbered densely from 0.
    pub fn introduce(&mut self, flow: FlowId, key: u64, ends: [HostId; 2]) {
        self.routes.introduce(flow, key, ends);
    }

    /// A host sends a packet out of its port.
    #[inline(always)]
    pub fn send<W: Watch>(
        &mut self,
        from: HostId,
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) {
        self.sent += 1;
        self.offer(self.host_ports[from.0 as usize], None, packet, sched, watch);
    }

    /// As [`Network::send`]. Returns when the transmission of the packet begins, if it waits for others. The time has
    /// passed if the packet does not wait or is dropped, and at a port with priorities, which decides late.
    #[inline(always)]
    pub fn send_timed<W: Watch>(
        &mut self,
        from: HostId,
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) -> Time {
        self.sent += 1;
        let port = self.host_ports[from.0 as usize];
        let begins = self.ports[port.0 as usize].next_begins();
        self.offer(port, None, packet, sched, watch);
        // A packet that is dropped leaves it as it was.
        if self.ports[port.0 as usize].next_begins() > begins {
            begins
        } else {
            Time::ZERO
        }
    }

    /// The oldest packet of `port` comes out of its wire, and the arrival of the next one is scheduled.
    /// [`Network::on_arrival`] comes next.
    #[inline(always)]
    pub fn arrive<W: Watch>(
        &mut self,
        port: PortId,
        sched: &mut Scheduler,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) -> Packet {
        let from = &mut self.ports[port.0 as usize];
        let packet = from.arrive(sched.now(), port, watch, stale);
        if let Some(next) = from.next_arrival() {
            sched.at(next, Token(port.0));
        }
        packet
    }

    /// `packet`, which has come out of `port`, arrives at the next node. A switch forwards it at once; if it has
    /// reached an end host, that is returned.
    #[inline(always)]
    pub fn on_arrival<W: Watch>(
        &mut self,
        port: PortId,
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) -> Option<HostId> {
        if self.disturbed {
            self.count_withdrawn(port);
            if let Some(lossless) = &mut self.lossless {
                lossless.on_arrival(port, &self.ports[port.0 as usize]);
            }
            if self.loses(port, packet, sched.now(), watch) {
                return None;
            }
            if self.detains(port, packet, sched, watch) {
                return None;
            }
        }
        self.record(port, packet, sched.now());
        self.go_on(port, packet, sched, watch)
    }

    /// `port` will probably be the next out of which a packet comes.
    #[inline(always)]
    pub fn expect(&self, port: PortId) {
        if port.0 < self.fetched
            && let Some(port) = self.ports.get(port.0 as usize)
        {
            port.expect_arrival();
        }
    }

    /// An event of what is kept behind links has come: the next packet goes on, into `packet`. As
    /// [`Network::on_arrival`].
    pub fn on_release<W: Watch>(
        &mut self,
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) -> Option<HostId> {
        let port = self.detained.as_mut()?.release(packet)?;
        self.record(port, packet, sched.now());
        self.go_on(port, packet, sched, watch)
    }

    /// Whether a packet that has come out of `port` is kept for later.
    #[inline(never)]
    fn detains<W: Watch>(
        &mut self,
        port: PortId,
        packet: &Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) -> bool {
        let Some(detained) = &mut self.detained else {
            return false;
        };
        let token = detained.token();
        let fate = detained.on_arrival(port, packet, sched.now());
        if let Some(at) = fate.later {
            sched.at(at, token);
        }
        if let Some(at) = fate.copy {
            // The books count the copy as sent.
            self.sent += 1;
            watch.on_copy(packet);
            sched.at(at, token);
        }
        fate.later.is_some()
    }

    /// A packet that has come out of `port` is forwarded or delivered.
    #[inline(always)]
    fn go_on<W: Watch>(
        &mut self,
        port: PortId,
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) -> Option<HostId> {
        if self.hooked {
            let back = port.reverse();
            self.ports[back.0 as usize].reverse(packet, sched.now(), back, watch);
        }
        match self.ports[port.0 as usize].end {
            End::Host(host) => {
                self.delivered += 1;
                Some(host)
            }
            End::Switch(row) => {
                let out = self.routes.next(row, packet);
                self.offer(out, Some(port), packet, sched, watch);
                None
            }
        }
    }

    /// Accounts for what happened at the port of `host` until `now`.
    #[inline(always)]
    pub fn settle_host<W: Watch>(
        &mut self,
        host: HostId,
        now: Time,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) {
        let port = self.host_ports[host.0 as usize];
        self.ports[port.0 as usize].settle_watched(now, port, watch, stale);
        self.count_withdrawn(port);
    }

    /// Accounts for what happened at `port` until `now`.
    pub fn settle_port<W: Watch>(
        &mut self,
        port: PortId,
        now: Time,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) -> &Port {
        self.ports[port.0 as usize].settle_watched(now, port, watch, stale);
        self.count_withdrawn(port);
        &self.ports[port.0 as usize]
    }

    #[inline(always)]
    fn count_withdrawn(&mut self, port: PortId) {
        let withdrawn = self.ports[port.0 as usize].take_gone();
        self.sent -= withdrawn;
    }

    /// Every port, by [`PortId`].
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Reports all packets that left a queue until `now` and that no event has reported yet.
    pub fn settle<W: Watch>(
        &mut self,
        now: Time,
        watch: &mut W,
        stale: &mut impl FnMut(&Packet) -> bool,
    ) {
        for port in (0..id(self.ports.len())).map(PortId) {
            self.ports[port.0 as usize].settle_watched(now, port, watch, stale);
            self.count_withdrawn(port);
        }
    }

    /// Whether no packet is on a wire or waiting.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.inside() == 0
    }

    /// Packets at ports or kept behind links, by the counters: O(1). Some that hosts withdraw may be gone
    /// already. A part of a network may have delivered packets that another part sent: then only the sum over
    /// all parts is this number.
    pub fn inside(&self) -> u64 {
        self.sent
            .wrapping_sub(self.delivered)
            .wrapping_sub(self.lost)
    }

    #[inline(always)]
    fn offer<W: Watch>(
        &mut self,
        port: PortId,
        from: Option<PortId>,
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) {
        if self.apart {
            return self.offer_apart((port, from), packet, sched, watch);
        }
        let out = &mut self.ports[port.0 as usize];
        match out.offer_watched(packet, sched.now(), port, watch) {
            Offer::Dropped => self.lost += 1,
            Offer::Queued => {}
            Offer::Displacing => self.lost += out.take_gone(),
            Offer::First(arrival) => {
                if watch.schedules_first(port, sched.now()) {
                    sched.at(arrival, Token(port.0));
                }
            }
        }
    }

    /// [`Network::offer`] where ports share a buffer, or links have faults.
    #[inline(never)]
    fn offer_apart<W: Watch>(
        &mut self,
        (port, from): (PortId, Option<PortId>),
        packet: &mut Packet,
        sched: &mut Scheduler,
        watch: &mut W,
    ) {
        if self.is_down(port, packet, sched.now(), watch) {
            return;
        }
        if let Some(lossless) = &mut self.lossless {
            let lost = lossless.offer(&mut self.ports, from, port, packet, (sched, watch));
            self.lost += u64::from(lost);
            return;
        }
        let now = sched.now();
        let offer = match &mut self.buffers {
            Some(buffers) => buffers.offer(&mut self.ports, port, packet, now, watch),
            None => self.ports[port.0 as usize].offer_watched(packet, now, port, watch),
        };
        match offer {
            Offer::Dropped => self.lost += 1,
            Offer::Queued | Offer::Displacing => {}
            Offer::First(arrival) => {
                if watch.schedules_first(port, now) {
                    sched.at(arrival, Token(port.0));
                }
            }
        }
        self.lost += self.ports[port.0 as usize].take_gone();
    }
}

/// Bytes. If the ports take more, a first-level cache holds few of them, and waiting for the second-level cache
/// costs more than the instructions that prefetch one: measured with 138 KiB. With 77 KiB it did not.
const NEAR_CACHE: usize = 128 << 10;
