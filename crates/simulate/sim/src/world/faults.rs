//! Faults of links, switches and hosts: the changes and their times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use base::cast::id;
use base::{HostId, Rate, Span, Time};
use distributions::TimeLaw;
use engine::random::Stream;
use fabric::{DropReason, Link, LinkSpec, Network, NodeId, Noise, NoiseKind, PortId, Topology};
use plan::keys::{FaultKind, Times};
use plan::workload::FaultTarget;

use super::flow::Act;
use super::ports::{Fresh, Ports};

/// The faults of a world.
pub(super) struct Faults {
    /// Every change and its time; [`Act::Fault`] holds its index.
    pub(super) changes: Vec<(Time, Change)>,
    /// The links of the ports whose rate or delay changes: the current one and the original one.
    pub(super) links: BTreeMap<PortId, [LinkSpec; 2]>,
    pub(super) gone: BTreeSet<HostId>,
    /// For each host, how many times it has stopped reading and not begun again.
    pub(super) deaf: BTreeMap<HostId, u32>,
}

/// A change at one time.
pub(super) enum Change {
    /// Links are down.
    Cut(Vec<PortId>, DropReason),
    /// They are up again.
    Mend(Vec<PortId>, DropReason),
    /// The link of a port has another rate; `None`: its original rate.
    Rate(PortId, Option<Rate>),
    /// The same of its delay.
    Delay(PortId, Option<Span>),
    /// The ports of a switch restart.
    Renew(Vec<Fresh>),
    /// A host disappears.
    Gone(HostId),
    /// Applications of a host stop reading, or begin again.
    Reading(HostId, bool),
    /// It has happened.
    Past,
}

impl Faults {
    /// The faults of the network with these ports, if it has any. Its changes are on the agenda of applications; noise
    /// on wires needs no change.
    pub(super) fn of(
        ports: &Ports<'_>,
        network: &mut Network,
        agenda: &mut BinaryHeap<Reverse<(Time, Act)>>,
    ) -> Option<Box<Self>> {
        let (point, topology) = (ports.point, ports.topology);
        let all = &point.keys.topology.faults;
        let targets = all.targets(topology, ports.bottleneck());
        if targets.is_empty() {
            return None;
        }
        let mut faults = Self {
            changes: Vec::new(),
            links: BTreeMap::new(),
            gone: BTreeSet::new(),
            deaf: BTreeMap::new(),
        };
        // Each random fault of a link has a random stream of its own.
        let mut drawing: BTreeMap<PortId, u64> = BTreeMap::new();
        for (target, kind) in targets {
            let mut stream = |purpose, port: PortId| {
                let count = drawing.entry(port).or_default();
                *count += 1;
                Stream::new(point.seed, purpose, (*count - 1) << 32 | u64::from(port.0))
            };
            match (target, kind) {
                (FaultTarget::Link(port), FaultKind::Noise(kind, times)) => {
                    let purpose = match kind {
                        NoiseKind::Corruption(_) => "damage on a wire",
                        NoiseKind::GilbertElliott(_) => "losses on a wire",
                    };
                    for port in [port, port.reverse()] {
                        let times = (times.from, times.until);
                        network.add_noise(port, Noise::new(kind, times, stream(purpose, port)));
                    }
                }
                (
                    FaultTarget::Link(port),
                    FaultKind::Flap {
                        lengths,
                        random,
                        times,
                    },
                ) => {
                    let drawn = random.then(|| stream("flapping", port));
                    faults.flap(port, (lengths, drawn), times);
                }
                (FaultTarget::Link(port), kind) => faults.change_link(network, port, kind),
                (FaultTarget::Switch(node), FaultKind::Restart(at, takes)) => {
                    faults.restart(node, ports, (at, takes));
                }
                (FaultTarget::Host(host), FaultKind::Gone(at)) => {
                    let port = topology.host_port(host);
                    let link = vec![port, port.reverse()];
                    faults.add(at, Change::Cut(link, DropReason::HostGone));
                    faults.add(at, Change::Gone(host));
                }
                (FaultTarget::Host(host), FaultKind::StopsReading(times)) => {
                    faults.add(times.from, Change::Reading(host, false));
                    faults.add(times.until, Change::Reading(host, true));
                }
                (FaultTarget::Switch(_) | FaultTarget::Host(_), _) => {
                    unreachable!("the scenario checked what faults are about")
                }
            }
        }
        let times = faults.changes.iter().map(|(at, _)| *at);
        let acts = times.zip((0..).map(Act::Fault));
        agenda.extend(acts.filter(|(at, _)| *at != Time::NEVER).map(Reverse));
        Some(Box::new(faults))
    }

    /// Whether a host has disappeared.
    pub(super) fn is_gone(&self, host: HostId) -> bool {
        self.gone.contains(&host)
    }

    /// Whether the applications of a host do not read.
    pub(super) fn is_deaf(&self, host: HostId) -> bool {
        self.deaf.get(&host).is_some_and(|times| *times > 0)
    }

    fn add(&mut self, at: Time, change: Change) {
        self.changes.push((at, change));
    }

    /// A switch loses its packets and its links, and restarts.
    fn restart(&mut self, node: NodeId, ports: &Ports<'_>, (at, takes): (Time, Span)) {
        let topology = ports.topology;
        let all = || (0..2 * id(topology.links().len())).map(PortId);
        let own = || all().filter(|port| topology.ends(*port).0 == node);
        let both = || own().flat_map(|port| [port, port.reverse()]).collect();
        let fresh = own().map(|port| ports.fresh(port, &spec(topology, port)));
        let fresh = fresh.collect();
        self.add(at, Change::Cut(both(), DropReason::Restart));
        self.add(at + takes, Change::Renew(fresh));
        self.add(at + takes, Change::Mend(both(), DropReason::Restart));
    }

    /// A link goes down from time to time.
    fn flap(
        &mut self,
        port: PortId,
        (lengths, mut drawn): ([Span; 2], Option<Stream>),
        times: Times,
    ) {
        let link = || vec![port, port.reverse()];
        let mut at = times.from;
        let mut length = |mean: Span| match &mut drawn {
            None => mean,
            Some(stream) => TimeLaw::exponential(mean).draw(stream),
        };
        while at < times.until {
            self.add(at, Change::Cut(link(), DropReason::LinkDown));
            at = times.until.min(at + length(lengths[0]));
            self.add(at, Change::Mend(link(), DropReason::LinkDown));
            at += length(lengths[1]);
        }
    }

    /// A link is down, or gets another rate or delay.
    fn change_link(&mut self, network: &Network, port: PortId, kind: FaultKind) {
        let link = [port, port.reverse()];
        if let FaultKind::Down(times) = kind {
            self.add(times.from, Change::Cut(link.to_vec(), DropReason::LinkDown));
            self.add(
                times.until,
                Change::Mend(link.to_vec(), DropReason::LinkDown),
            );
            return;
        }
        for port in link {
            let made = network.ports()[port.0 as usize].link();
            self.links.insert(port, [made; 2]);
            match kind {
                FaultKind::Rate(rate, times) => {
                    self.add(times.from, Change::Rate(port, Some(rate)));
                    self.add(times.until, Change::Rate(port, None));
                }
                FaultKind::Delay(delay, times) => {
                    self.add(times.from, Change::Delay(port, Some(delay)));
                    self.add(times.until, Change::Delay(port, None));
                }
                _ => unreachable!("the scenario checked what faults are about"),
            }
        }
    }

    /// The new rate and delay of a changing link. A time for which switches hold packets stays part of its delay.
    pub(super) fn changed(
        &mut self,
        topology: &Topology,
        port: PortId,
        change: &Change,
    ) -> LinkSpec {
        let [now, made] = self.links.get_mut(&port).expect("its link changes");
        match change {
            Change::Rate(_, rate) => now.rate = rate.unwrap_or(made.rate),
            Change::Delay(_, Some(delay)) => {
                let held = made.delay.as_ps() - spec(topology, port).delay.as_ps();
                now.delay = *delay + Span::from_ps(held);
            }
            _ => now.delay = made.delay,
        }
        *now
    }
}

/// The link of a port, in its direction, as in the topology.
fn spec(topology: &Topology, port: PortId) -> LinkSpec {
    let Link { spec, back, .. } = topology.links()[port.0 as usize / 2];
    if port.0.is_multiple_of(2) { spec } else { back }
}
