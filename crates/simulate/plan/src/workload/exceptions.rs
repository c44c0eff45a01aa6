//! The place of exceptional links and hosts in a network, and checks that they exist.

use std::collections::BTreeMap;

use base::HostId;
use fabric::{Node, NodeId, PortId, Topology};

use super::layout::Layout;
use crate::keys::{Conflict, Exception, ExceptionPlace, Exceptions, Keys};
use crate::suggest;

impl Exceptions {
    /// The ports with exceptions, in order. A link's port is the port of the first node in the link's name; a host's
    /// port is the one that leads to it. O(links) if there are exceptions.
    pub fn ports<'a>(&'a self, topology: &Topology) -> Vec<(PortId, &'a Exception)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let named = ports_by_name(topology);
        let mut found = Vec::new();
        for exception in &self.0 {
            match &exception.place {
                ExceptionPlace::Link(name) => {
                    found.extend(named.get(name).map(|port| (*port, exception)));
                }
                ExceptionPlace::Hosts(first, last) => {
                    let hosts = (*first..=*last).take(topology.hosts().len());
                    let there = hosts.filter(|host| (*host as usize) < topology.hosts().len());
                    let port = |host| topology.host_port(HostId(host)).reverse();
                    found.extend(there.map(|host| (port(host), exception)));
                }
            }
        }
        found
    }

    /// The network with these exceptions.
    pub(super) fn change(&self, mut topology: Topology) -> Topology {
        for (port, Exception { place, own }) in self.ports(&topology) {
            let to_host = matches!(place, ExceptionPlace::Hosts(..));
            let link = topology.link_mut(port.0 as usize / 2);
            for spec in [&mut link.spec, &mut link.back] {
                spec.rate = own.rate.0.unwrap_or(spec.rate);
                spec.delay = own.delay.0.unwrap_or(spec.delay);
            }
            let there = if port.0.is_multiple_of(2) {
                &mut link.spec
            } else {
                &mut link.back
            };
            if let Some(rate) = own.down_rate.0.filter(|_| to_host) {
                there.rate = rate;
            }
            link.down |= own.down;
        }
        topology
    }
}

/// The conflicts between exceptions and their network.
pub(super) fn conflicts(keys: &Keys, layout: &Layout) -> Vec<Conflict> {
    let exceptions = &keys.topology.exceptions;
    if exceptions.0.is_empty() {
        return Vec::new();
    }
    let (topology, _) = layout.topology(keys, HostId(0));
    let named = ports_by_name(&topology);
    let hosts = topology.hosts().len();
    let mut found = Vec::new();
    for Exception { place, own } in &exceptions.0 {
        let of_host = match place {
            ExceptionPlace::Hosts(_, last) if *last as usize >= hosts => {
                found.push(Conflict::of_exception(
                    place,
                    format!("there is no host {last}: the network has {hosts}, numbered from 0"),
                    "name hosts by their numbers, or raise topology.hosts",
                ));
                continue;
            }
            ExceptionPlace::Hosts(..) => true,
            ExceptionPlace::Link(name) => {
                let Some(port) = named.get(name) else {
                    found.push(unknown(place, name, &named));
                    continue;
                };
                is_of_host(&topology, *port)
            }
        };
        if own.down && of_host {
            found.push(Conflict::of_exception(
                place,
                format!("{} cannot be down: a host has no other link", place.words()),
                "take the host out of the workload, or let its link lose packets for a time, as in lose = \"from 10ms to 20ms\"",
            ));
        }
        if own.down_rate.0.is_some() && !matches!(place, ExceptionPlace::Hosts(..)) {
            found.push(Conflict::of_exception(
                place,
                "down_rate is the rate towards a host",
                "give it in a table such as [host.3]; rate is for links between switches",
            ));
        }
    }
    if found.is_empty() {
        found.extend(cut(exceptions, &topology));
    }
    found
}

fn unknown(place: &ExceptionPlace, name: &str, named: &BTreeMap<String, PortId>) -> Conflict {
    let nearest = suggest::did_you_mean(name, named.keys().map(String::as_str));
    let some: Vec<String> = named
        .keys()
        .take(3)
        .map(|name| format!("{name:?}"))
        .collect();
    Conflict::of_exception(
        place,
        format!("there is no link {name:?} in this network"),
        format!(
            "{nearest}links have the names that results give their ports: {}, ...",
            some.join(", ")
        ),
    )
}

/// A conflict if links that are down leave a host without a path.
fn cut(exceptions: &Exceptions, topology: &Topology) -> Option<Conflict> {
    let (one, other) = topology.apart()?;
    let all = exceptions.0.iter();
    let down: Vec<&ExceptionPlace> = all
        .filter(|one| one.own.down)
        .map(|one| &one.place)
        .collect();
    let names: Vec<String> = down.iter().map(|place| place.words()).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    Some(Conflict::of_exception(
        down.last()?,
        format!(
            "no path leads from host {} to host {} while {} {verb} down",
            one.0,
            other.0,
            names.join(" and ")
        ),
        "leave a link up between the two parts, or let a link lose packets for a time, as in lose = \"from 10ms to 20ms\"",
    ))
}

fn is_of_host(topology: &Topology, port: PortId) -> bool {
    let (from, to) = topology.ends(port);
    let is_host = |node: NodeId| matches!(topology.nodes()[node.0 as usize], Node::Host(_));
    is_host(from) || is_host(to)
}

/// All ports by their names in results; for parallel links the first one.
pub(super) fn ports_by_name(topology: &Topology) -> BTreeMap<String, PortId> {
    let names = topology.names();
    let mut named = BTreeMap::new();
    for port in (0..).map(PortId).take(2 * topology.links().len()) {
        let (from, to) = topology.ends(port);
        let [from, to] = [from, to].map(|node| &names[node.0 as usize]);
        named.entry(format!("{from} to {to}")).or_insert(port);
    }
    named
}
