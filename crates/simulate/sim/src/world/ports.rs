//! The ports of a network, from settings and schemes.

use std::collections::BTreeSet;

use base::Ordered as _;
use base::cast::whole;
use base::{OrOff, Span, WireSize};
use engine::Token;
use engine::random::Stream;
use fabric::{
    Bucket, ChosenLoss, ChosenSegment, Discipline, Disorder, EcnRamp, Jitter, Limit, LinkSpec,
    LossLaw, Network, Node, NodeId, PfcConfig, PoolConfig, PortId, PortParts, Strict, SwitchHook,
    Topology, Xoff,
};
use plan::PointSpec;
use plan::keys::{
    EcnAt, Exception, HostQueue, Keys, LossPattern, LostSegments, PauseThreshold, QueueUnit,
};
use plan::workload::Plan;
use schemes::{PortInfo, Roles};

use super::facts::mss;

/// Makes ports.
pub(super) struct Ports<'a> {
    pub(super) point: &'a PointSpec,
    pub(super) topology: &'a Topology,
    roles: &'a [Roles],
    /// A port with losses that do not depend on its queue.
    lossy: (PortId, Option<LossLaw>),
    /// The chosen losses of this port and its reverse.
    chosen: Vec<ChosenLoss>,
    /// The exceptions of links and hosts, by their ports, in order.
    exceptions: Vec<(PortId, &'a Exception)>,
    /// The connections of flows, if segments of single flows are lost.
    connections: Vec<u32>,
    /// Switches that lack the priorities of a scheme.
    plain: BTreeSet<NodeId>,
}

/// The discipline and the hook of a port whose switch has just started.
pub(super) struct Fresh {
    pub(super) port: PortId,
    pub(super) discipline: Discipline,
    pub(super) hook: Option<Box<dyn SwitchHook>>,
}

impl<'a> Ports<'a> {
    pub(super) fn new(
        point: &'a PointSpec,
        topology: &'a Topology,
        roles: &'a [Roles],
        bottleneck: PortId,
    ) -> Self {
        let share = in_switches(roles).map_or(0.0, |roles| roles.plain_switches.share);
        let connections = connections_of_flows(point);
        Self {
            point,
            topology,
            roles,
            lossy: (bottleneck, loss_law(&point.keys, point.seed, bottleneck)),
            chosen: by_connection(&point.keys.bottleneck.lose, &connections),
            exceptions: point.keys.topology.exceptions.ports(topology),
            connections,
            plain: some_switches(point.seed, topology, share),
        }
    }

    /// The port whose queue results describe.
    pub(super) const fn bottleneck(&self) -> PortId {
        self.lossy.0
    }

    /// Packets that count as present at every port, in bytes (the RCC paper's emulation of load).
    pub(super) fn taken(&self) -> u64 {
        self.point.keys.emulated_packets() * self.point.keys.packet_bytes()
    }

    /// The buffer that a switch's queues share, if they share one.
    pub(super) fn pool(&self) -> Option<PoolConfig> {
        let keys = &*self.point.keys;
        let (switch, packet) = (&keys.switch, keys.packet_bytes());
        Some(PoolConfig {
            bytes: switch.pool.bytes(packet)?,
            alphas: switch.pool_alpha.of(switch.pool),
            reserve: switch.pool_reserve.in_bytes(packet),
        })
    }

    /// How switches pause the preceding nodes, if they do.
    fn pfc(&self) -> Option<PfcConfig> {
        let keys = &*self.point.keys;
        let (switch, packet) = (&keys.switch, keys.packet_bytes());
        Some(PfcConfig {
            lossless: switch.pfc.classes()?,
            xoff: match switch.pfc_xoff {
                PauseThreshold::Auto => Xoff::Dynamic(switch.pool_alpha.of(switch.pool)[0]),
                PauseThreshold::Dynamic(factor) => Xoff::Dynamic(factor),
                PauseThreshold::Static(size) => Xoff::Static(size.in_bytes(packet)),
            },
            resume: switch.pfc_resume.in_bytes(packet),
            headroom: switch.pfc_headroom.0.map(|size| size.in_bytes(packet)),
            packet_bytes: packet,
        })
    }

    /// Makes the bottleneck of `network` deliver late or twice, and its switches pause, if settings say so. These
    /// tokens are for the two kinds of events.
    pub(super) fn disturb(&self, network: &mut Network, [late, paused]: [Token; 2]) {
        let (settings, link) = (&self.point.keys.bottleneck, self.lossy.0);
        let disorder = Disorder {
            link,
            late: (settings.reordering.0, settings.reordering_delay),
            twice: settings.duplication.0,
            stream: Stream::new(self.point.seed, "disorder", u64::from(link.0)),
        };
        if disorder.late.0 > 0.0 || disorder.twice > 0.0 {
            network.disturb(disorder, late);
        }
        if let Some(pfc) = self.pfc() {
            network.pause_by(self.topology, pfc, self.pool().as_ref(), paused);
        }
    }

    /// The limit of a switch port's queue.
    pub(super) fn switch_limit(&self) -> Limit {
        let buffer = self.point.keys.switch.buffer.0;
        buffer.map_or(Limit::Unlimited, |size| self.limit(size))
    }

    /// The room of a queue as a scheme is told. For a shared buffer it is the share of a lone queue.
    fn told_limit(&self, port: PortId) -> Limit {
        let keys = &*self.point.keys;
        let (pool, alphas) = (keys.switch.pool, &keys.switch.pool_alpha);
        let share = pool.lone_share(alphas, keys.switch.pool_reserve, keys.packet_bytes());
        match (self.own_limit(port), share) {
            (Limit::Unlimited, Some(share)) => Limit::Bytes(share),
            (own, _) => own,
        }
    }

    /// The limit of this port's queue.
    fn own_limit(&self, port: PortId) -> Limit {
        let own = self.exceptions.iter().rev().filter(|(own, _)| *own == port);
        let mut buffers = own.filter_map(|(_, exception)| exception.own.buffer.0);
        let buffer = buffers.next();
        buffer.map_or_else(
            || self.switch_limit(),
            |buffer| buffer.0.map_or(Limit::Unlimited, |size| self.limit(size)),
        )
    }

    /// The limit of a host port's queue.
    pub(super) fn host_limit(&self) -> Limit {
        let keys = &*self.point.keys;
        let packet = keys.packet_bytes();
        let bytes = |size: WireSize| size.in_bytes(packet).saturating_sub(self.taken());
        match keys.host.queue {
            HostQueue::Own => keys
                .host
                .buffer
                .0
                .map_or(Limit::Unlimited, |size| Limit::Bytes(bytes(size))),
            HostQueue::Switch => self.switch_limit(),
        }
    }

    /// A port of a switch, without the losses on the way to it.
    fn without_losses(&self, port: PortId, link: &LinkSpec) -> PortParts {
        let keys = &*self.point.keys;
        let threshold = keys.switch.ecn_threshold.0.map(|size| self.limit(size));
        let mut made = PortParts {
            discipline: threshold.map_or(Discipline::DropTail, Discipline::EcnThreshold),
            bucket: self.bucket(port, keys.switch.burst, keys.switch.burst_lateness, link),
            ..PortParts::plain()
        };
        let roles = in_switches(self.roles);
        if let (None, Some(ramp)) = (roles, self.ramp(port)) {
            made.discipline = ramp.into_discipline();
        }
        if let Some(roles) = roles {
            let info = PortInfo {
                port,
                rate: link.rate,
                delay: link.delay,
                limit: self.told_limit(port),
                packet_bytes: keys.packet_bytes(),
                header_bytes: keys.net.header_bytes,
                mss: mss(keys),
                seed: self.point.seed,
            };
            if let Some(make) = &roles.queue {
                made.discipline = make(&info, made.discipline);
            } else if let Some(ramp) = self.ramp(port) {
                made.discipline = ramp.into_discipline();
            }
            made.hook = roles.hook.as_ref().map(|make| make(&info));
            made.priorities = roles.priorities.unwrap_or(Strict::FIFO);
            if self.plain.contains(&self.topology.ends(port).0) {
                made.priorities = Strict::FIFO;
                if roles.plain_switches.drop_low {
                    // A queue without priorities that drops packets of low priority.
                    made.discipline = made.discipline.losing(|packet| packet.dscp > 0);
                }
            }
        }
        if threshold.is_some() && roles.is_none_or(|roles| roles.queue.is_none()) {
            self.place_marks(&mut made);
        }
        made
    }

    /// The discipline and the hook of a port of a switch that has just started.
    pub(super) fn fresh(&self, port: PortId, link: &LinkSpec) -> Fresh {
        let PortParts {
            discipline, hook, ..
        } = self.without_losses(port, link);
        Fresh {
            port,
            discipline,
            hook,
        }
    }

    /// A port of a switch.
    pub(super) fn of_switch(&self, port: PortId, link: &LinkSpec) -> PortParts {
        let keys = &*self.point.keys;
        let mut made = self.without_losses(port, link);
        let (lossy, law) = &self.lossy;
        if let Some(law) = law.as_ref().filter(|_| port == *lossy) {
            made.discipline = if keys.bottleneck.loss_of_control {
                law.clone().before_all(made.discipline)
            } else {
                law.clone().before(made.discipline)
            };
        }
        made.discipline = self.losing_acks(port, made.discipline);
        made.discipline = self.losing_chosen(port, made.discipline);
        if keys.switch.loss.0 > 0.0 {
            let law = LossLaw::Random {
                probability: keys.switch.loss.0,
                stream: Stream::new(self.point.seed, "switch loss", u64::from(port.0)),
            };
            made.discipline = law.before_all(made.discipline);
        }
        self.make_exceptions(port, &mut made);
        made
    }

    /// Makes packets be marked at departure, if the scenario says so.
    fn place_marks(&self, made: &mut PortParts) {
        if self.point.keys.switch.ecn_at == EcnAt::Departure {
            let marks = std::mem::replace(&mut made.discipline, Discipline::DropTail);
            made.departure_marks = Some(marks);
        }
    }

    /// The marks of a queue whose marking probability grows with its length; `None` if it does not.
    fn ramp(&self, port: PortId) -> Option<EcnRamp> {
        let switch = &self.point.keys.switch;
        Some(EcnRamp {
            min: self.limit(switch.ecn_threshold.0?),
            max: self.limit(switch.ecn_max.0?),
            most: switch.ecn_probability.0,
            stream: Stream::new(self.point.seed, "ecn", u64::from(port.0)),
        })
    }

    /// Applies the exceptions of a port.
    fn make_exceptions(&self, port: PortId, made: &mut PortParts) {
        for (_, Exception { own, .. }) in self.exceptions.iter().filter(|(own, _)| *own == port) {
            if let Some(buffer) = own.buffer.0 {
                made.limit = Some(buffer.0.map_or(Limit::Unlimited, |size| self.limit(size)));
            }
            let discipline = std::mem::replace(&mut made.discipline, Discipline::DropTail);
            let chosen = by_connection(&own.lose, &self.connections);
            made.discipline = if chosen.is_empty() {
                discipline
            } else {
                ChosenLoss::before(&chosen, discipline)
            };
            if own.loss.0 > 0.0 {
                let law = LossLaw::Random {
                    probability: own.loss.0,
                    stream: Stream::new(self.point.seed, "loss of a link", u64::from(port.0)),
                };
                let discipline = std::mem::replace(&mut made.discipline, Discipline::DropTail);
                made.discipline = law.before_all(discipline);
            }
        }
    }

    /// A port of a host.
    pub(super) fn of_host(&self, port: PortId, link: &LinkSpec) -> PortParts {
        let mut made = self.of_lossless_host(port, link);
        let keys = &self.point.keys;
        let jitter = keys.link.jitter(keys.packet_bytes());
        made.jitter = self.jitter(port, "link jitter", jitter);
        made.bucket = self.bucket(port, keys.host.burst, keys.host.burst_lateness, link);
        if self.point.keys.host.queue == HostQueue::Own {
            made.discipline = self.losing_acks(port, made.discipline);
            made.discipline = self.losing_chosen(port, made.discipline);
            self.make_exceptions(port, &mut made);
        }
        made
    }

    /// The token bucket in front of `link`, if it has one, whose timer is late by up to `late`.
    fn bucket(
        &self,
        port: PortId,
        burst: OrOff<WireSize>,
        late: Span,
        link: &LinkSpec,
    ) -> Option<Bucket> {
        let depth = burst.0?.in_bytes(self.point.keys.packet_bytes());
        let late = self.jitter(port, "late timer", late);
        Some(Bucket::new(link.rate, depth).with_late_timer(late))
    }

    /// A jitter of up to `most` at a port, for this `purpose`.
    fn jitter(&self, port: PortId, purpose: &str, most: Span) -> Option<Jitter> {
        let stream = || Stream::new(self.point.seed, purpose, u64::from(port.0));
        (most > Span::ZERO).then(|| Jitter::new(most, stream()))
    }

    /// Adds the loss of chosen segments: of the handshake in both directions, and of data on the way to the first
    /// receiver.
    fn losing_chosen(&self, port: PortId, discipline: Discipline) -> Discipline {
        let mut chosen = self.chosen.clone();
        if port == self.lossy.0.reverse() {
            chosen.retain(|one| !matches!(one.segment, ChosenSegment::Data { .. }));
        } else if port != self.lossy.0 {
            return discipline;
        }
        if chosen.is_empty() {
            return discipline;
        }
        ChosenLoss::before(&chosen, discipline)
    }

    /// Adds the loss of ACKs, in the other direction of the bottleneck.
    fn losing_acks(&self, port: PortId, discipline: Discipline) -> Discipline {
        let probability = self.point.keys.bottleneck.ack_loss.0;
        if probability <= 0.0 || port != self.lossy.0.reverse() {
            return discipline;
        }
        let law = LossLaw::Random {
            probability,
            stream: Stream::new(self.point.seed, "loss of ACKs", u64::from(port.0)),
        };
        law.before_control(discipline)
    }

    fn of_lossless_host(&self, port: PortId, link: &LinkSpec) -> PortParts {
        if self.point.keys.host.queue == HostQueue::Switch {
            return self.of_switch(port, link);
        }
        let plain = self.plain.contains(&self.topology.ends(port).1);
        // A host queues by the priorities that a switch pauses.
        let pauses = self.point.keys.switch.pfc.classes().is_some();
        let at_hosts = self.roles.iter().find(|roles| {
            (roles.priorities_at_hosts || pauses && roles.in_switches())
                && !(plain && roles.plain_switches.hosts)
        });
        PortParts {
            priorities: at_hosts
                .and_then(|roles| roles.priorities)
                .unwrap_or(Strict::FIFO),
            ..PortParts::plain()
        }
    }

    /// The limit of a switch's queue with a buffer of this size, less the room that emulated packets take.
    fn limit(&self, size: WireSize) -> Limit {
        let keys = &*self.point.keys;
        let bytes = size.in_bytes(keys.packet_bytes());
        match keys.switch.unit {
            QueueUnit::Bytes => Limit::Bytes(bytes.saturating_sub(self.taken())),
            QueueUnit::Packets => {
                Limit::Packets(size.amount.saturating_sub(keys.emulated_packets()))
            }
        }
    }
}

/// The connection of each flow, if segments of single flows are lost.
fn connections_of_flows(point: &PointSpec) -> Vec<u32> {
    let keys = &point.keys;
    let own = keys.topology.exceptions.0.iter().map(|one| &one.own.lose);
    let mut all = own.chain([&keys.bottleneck.lose]).flat_map(|lose| &lose.0);
    if all.all(|one| one.only.is_none()) {
        return Vec::new();
    }
    let flows = Plan::of(point).flows;
    flows.iter().map(|flow| flow.connection).collect()
}

fn by_connection(lose: &LostSegments, connections: &[u32]) -> Vec<ChosenLoss> {
    lose.on_connections(|flow| connections[flow as usize])
}

/// All groups share the switches, and at most one group's scheme adds something to them.
fn in_switches(roles: &[Roles]) -> Option<&Roles> {
    roles.iter().find(|roles| roles.in_switches())
}

/// The loss of data packets at the bottleneck, if any.
fn loss_law(keys: &Keys, seed: u64, bottleneck: PortId) -> Option<LossLaw> {
    let probability = keys.bottleneck.loss.0;
    if probability <= 0.0 {
        return None;
    }
    Some(match keys.bottleneck.loss_pattern {
        LossPattern::Random => LossLaw::Random {
            probability,
            stream: Stream::new(seed, "loss", u64::from(bottleneck.0)),
        },
        LossPattern::Bursts => LossLaw::Bursts {
            share: probability,
            mean: f64::from(keys.bottleneck.loss_burst.0),
            stream: Stream::new(seed, "loss", u64::from(bottleneck.0)),
        },
        // A period beyond 2^64 loses nothing.
        LossPattern::Periodic => LossLaw::Periodic {
            period: whole((1.0 / probability).round()),
        },
    })
}

/// A share of all switches, chosen at random from the seed.
fn some_switches(seed: u64, topology: &Topology, share: f64) -> BTreeSet<NodeId> {
    let mut switches: Vec<NodeId> = (0..)
        .map(NodeId)
        .zip(topology.nodes())
        .filter(|(_, node)| **node == Node::Switch)
        .map(|(id, _)| id)
        .collect();
    let count = whole((share * base::cast::count(switches.len())).round());
    let count = usize::try_from(count).expect("a share of the switches");
    // The first places of a shuffle (Fisher and Yates).
    let mut stream = Stream::new(seed, "switches without priorities", 0);
    for place in 0..count {
        let left = switches.len() - place;
        let drawn = usize::try_from(stream.below(left as u64)).expect("below a length");
        switches.swap(place, place + drawn);
    }
    switches.into_iter().take(count).into_set()
}
