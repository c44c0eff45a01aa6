//! The place of faulty links, switches and hosts in a network, and checks that they exist.

use std::collections::BTreeMap;

use base::HostId;
use base::Ordered as _;
use fabric::{Node, NodeId, PortId, Topology};

use super::exceptions::ports_by_name;
use super::layout::Layout;
use crate::keys::{Conflict, FaultKind, FaultPlace, Faults, Keys};
use crate::suggest;

/// The part of a network that a fault hits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultTarget {
    /// Both directions of a link, by one of its ports.
    Link(PortId),
    /// A switch.
    Switch(NodeId),
    /// A host.
    Host(HostId),
}

impl Faults {
    /// The part that each fault hits, in order. A fault of several hosts occurs once for each host. O(links) if there
    /// are faults.
    pub fn targets(
        &self,
        topology: &Topology,
        bottleneck: PortId,
    ) -> Vec<(FaultTarget, FaultKind)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let names = Names::of(topology);
        let mut found = Vec::new();
        for fault in &self.0 {
            let of_host = matches!(fault.kind, FaultKind::Gone(_) | FaultKind::StopsReading(_));
            let targets = match &fault.place {
                FaultPlace::Bottleneck => vec![FaultTarget::Link(bottleneck)],
                FaultPlace::Named(name) => names.find(name).into_iter().collect(),
                FaultPlace::Hosts(first, last) => (*first..=*last)
                    .map(HostId)
                    .map(|host| {
                        if of_host {
                            FaultTarget::Host(host)
                        } else {
                            FaultTarget::Link(topology.host_port(host))
                        }
                    })
                    .collect(),
            };
            found.extend(targets.into_iter().map(|target| (target, fault.kind)));
        }
        found
    }
}

/// The links and switches of a network by their names.
struct Names {
    ports: BTreeMap<String, PortId>,
    switches: BTreeMap<String, NodeId>,
}

impl Names {
    fn of(topology: &Topology) -> Self {
        let names = topology.names().into_iter().zip((0..).map(NodeId));
        let is_switch = |node: NodeId| topology.nodes()[node.0 as usize] == Node::Switch;
        Self {
            ports: ports_by_name(topology),
            switches: names.filter(|(_, node)| is_switch(*node)).into_map(),
        }
    }

    fn find(&self, name: &str) -> Option<FaultTarget> {
        let port = self.ports.get(name).copied().map(FaultTarget::Link);
        port.or_else(|| self.switches.get(name).copied().map(FaultTarget::Switch))
    }
}

/// All conflicts between faults and their network.
pub(super) fn conflicts(keys: &Keys, layout: &Layout) -> Vec<Conflict> {
    let faults = &keys.topology.faults;
    if faults.0.is_empty() {
        return Vec::new();
    }
    let (topology, _) = layout.topology(keys, HostId(0));
    let names = Names::of(&topology);
    let hosts = topology.hosts().len();
    let mut found = Vec::new();
    for fault in &faults.0 {
        let target = match &fault.place {
            FaultPlace::Bottleneck => Some("link"),
            FaultPlace::Hosts(_, last) if *last as usize >= hosts => {
                found.push(conflict(
                    format!(
                        "there is no host {last} for a fault: the network has {hosts}, numbered from 0"
                    ),
                    "name hosts by their numbers, or raise topology.hosts",
                ));
                continue;
            }
            FaultPlace::Hosts(..) => Some("host"),
            FaultPlace::Named(name) => match names.find(name) {
                Some(FaultTarget::Switch(_)) => Some("switch"),
                Some(_) => Some("link"),
                None => None,
            },
        };
        let wrong = match target {
            None => Some(unknown(&fault.place.words(), &names)),
            Some(target) => misplaced(&fault.place, &fault.kind, target),
        };
        found.extend(wrong);
    }
    found.extend(unchangeable(keys));
    found
}

/// A conflict if the kind of fault does not fit its target: links go down, switches restart, and hosts disappear.
fn misplaced(place: &FaultPlace, kind: &FaultKind, target: &str) -> Option<Conflict> {
    let (fits, message, remedy) = match kind {
        FaultKind::Restart(..) => (
            target == "switch",
            "not a switch, and only switches can restart",
            "name one as results do, as in \"switch 0: restart at 20ms for 5ms\"; a link may be down, a host gone",
        ),
        FaultKind::Gone(_) | FaultKind::StopsReading(_) => (
            target == "host",
            "not a host, and only hosts can disappear or stop reading",
            "name one by its number, as in \"host 3: gone at 50ms\"; a link may be down, a switch restart",
        ),
        _ => (
            target != "switch",
            "a switch, but this is a fault of a link",
            "name a link as results name its port, as in \"host 3 to switch 0: down from 10ms to 20ms\"; a switch may restart",
        ),
    };
    (!fits).then(|| conflict(format!("{} is {message}", place.words()), remedy))
}

fn unknown(name: &str, names: &Names) -> Conflict {
    let all = || names.switches.keys().chain(names.ports.keys());
    let nearest = suggest::did_you_mean(name, all().map(String::as_str));
    let switch = names.switches.keys().take(1);
    let some: Vec<String> = (switch.chain(names.ports.keys().take(2)))
        .map(|name| format!("{name:?}"))
        .collect();
    conflict(
        format!("there is no link or switch {name:?} in this network"),
        format!(
            "{nearest}they have the names that results give them: {}, ...",
            some.join(", ")
        ),
    )
}

/// A conflict if ports must not change, because they fix the future of a packet in advance.
fn unchangeable(keys: &Keys) -> Option<Conflict> {
    let all = &keys.topology.faults.0;
    if !all.iter().any(|fault| fault.kind.changes_ports()) {
        return None;
    }
    let switch = &keys.switch;
    if switch.pfc.classes().is_some() {
        Some(Conflict::new(
            &["topology.faults", "switch.pfc"],
            "a link or switch that fails or changes would lose pauses that are under way",
            "leave switch.pfc at \"off\", or let links lose or damage packets, hosts disappear or stop reading",
        ))
    } else if switch.burst.0.is_some() {
        Some(Conflict::new(
            &["topology.faults", "switch.burst"],
            BUCKET,
            "set switch.burst = \"off\", or let links lose or damage packets, hosts disappear or stop reading",
        ))
    } else if keys.host.burst.0.is_some() {
        Some(Conflict::new(
            &["topology.faults", "host.burst"],
            BUCKET,
            "set host.burst = \"off\", or let links lose or damage packets, hosts disappear or stop reading",
        ))
    } else {
        None
    }
}

const BUCKET: &str =
    "a token bucket decides in advance when packets leave, before a link fails or changes";

fn conflict(message: String, remedy: impl Into<String>) -> Conflict {
    Conflict::new(&["topology.faults"], message, remedy)
}
