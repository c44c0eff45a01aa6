//! The switches of a network and the links between them: what routes are made from.

use std::collections::{BTreeMap, VecDeque};

use base::HostId;
use base::Sort as _;

use super::Row;
use crate::port_id::PortId;
use crate::topology::{Node, NodeId, Place, Topology, TopologyError};

/// Switches by row. Hosts do not forward, and each has one link, so they are no part of it.
#[derive(Debug)]
pub(super) struct Map {
    /// Where in `neighbours` those of each switch begin, and where they end.
    first: Vec<u32>,
    /// Ports of switches and the switches that these lead to, in the order of links.
    neighbours: Vec<(PortId, Row)>,
    /// Where each port leads; [`NOWHERE`]: to a host.
    ends: Vec<Row>,
    places: Vec<Place>,
}

/// The way of all switches to one of them, the target.
pub(super) struct Search {
    /// Switches that have a way, the nearest first: the target itself.
    pub(super) order: Vec<Row>,
    /// Links to the target by switch; [`UNREACHED`] without a way.
    distances: Vec<u32>,
}

impl Map {
    /// The switches of `topology` in the order of their nodes. O(ports).
    pub(super) fn of(topology: &Topology, rows: &[Option<Row>]) -> Self {
        let row = |node: NodeId| rows[node.0 as usize];
        let all = || {
            let ports = (0..).zip(topology.links());
            ports.flat_map(|(link, ends): (u32, _)| {
                [(2 * link, ends.a, ends.b), (2 * link + 1, ends.b, ends.a)]
                    .map(|(port, from, to)| (PortId(port), row(from), row(to)))
            })
        };
        let is_up = |port: PortId| !topology.links()[port.0 as usize / 2].down;
        let between = || all().filter(|(port, ..)| is_up(*port));
        let switches = rows.iter().flatten().count();
        let mut first = vec![0; switches + 1];
        for (_, from, to) in between() {
            if let (Some(from), Some(_)) = (from, to) {
                first[from.0 as usize + 1] += 1;
            }
        }
        for switch in 0..switches {
            first[switch + 1] += first[switch];
        }
        let mut free = first.clone();
        let mut neighbours = vec![(PortId(0), NOWHERE); first[switches] as usize];
        for (port, from, to) in between() {
            if let (Some(from), Some(to)) = (from, to) {
                let place = &mut free[from.0 as usize];
                neighbours[*place as usize] = (port, to);
                *place += 1;
            }
        }
        let nodes = (0..).map(NodeId).zip(topology.nodes());
        let switches = nodes.filter(|(_, node)| **node == Node::Switch);
        Self {
            first,
            neighbours,
            ends: all().map(|(_, _, to)| to.unwrap_or(NOWHERE)).collect(),
            places: switches.map(|(node, _)| topology.place(node)).collect(),
        }
    }

    pub(super) fn switches(&self) -> usize {
        self.places.len()
    }

    pub(super) fn place(&self, switch: Row) -> Place {
        self.places[switch.0 as usize]
    }

    /// The switch that `port` leads to.
    pub(super) fn end(&self, port: PortId) -> Row {
        self.ends[port.0 as usize]
    }

    fn neighbours(&self, switch: Row) -> &[(PortId, Row)] {
        let switch = switch.0 as usize;
        &self.neighbours[self.first[switch] as usize..self.first[switch + 1] as usize]
    }

    /// A breadth-first search from `target`. O(ports).
    pub(super) fn search(&self, target: Row) -> Search {
        let mut distances = vec![UNREACHED; self.switches()];
        let mut order = Vec::with_capacity(self.switches());
        distances[target.0 as usize] = 0;
        order.push(target);
        let mut done = 0;
        while let Some(switch) = order.get(done).copied() {
            done += 1;
            let further = distances[switch.0 as usize] + 1;
            for (_, next) in self.neighbours(switch) {
                let distance = &mut distances[next.0 as usize];
                if *distance == UNREACHED {
                    *distance = further;
                    order.push(*next);
                }
            }
        }
        Search { order, distances }
    }

    /// Ports of `switch` that lead nearer to the target, and where to, in the order of links.
    pub(super) fn closer<'a>(
        &'a self,
        search: &'a Search,
        switch: Row,
    ) -> impl Iterator<Item = (PortId, Row)> + 'a {
        let here = search.distances[switch.0 as usize];
        let ports = self.neighbours(switch).iter().copied();
        ports.filter(move |(_, next)| search.distances[next.0 as usize] < here)
    }

    /// The first port of `switch` to another.
    pub(super) fn port(&self, switch: Row, to: Row) -> Option<PortId> {
        let mut ports = self.neighbours(switch).iter();
        ports.find(|(_, next)| *next == to).map(|(port, _)| *port)
    }

    /// The parent of every switch in the tree of a breadth-first search from `root` that visits
    /// neighbours in the order of their numbers. O(ports log ports).
    pub(super) fn parents(&self, root: Row) -> Vec<Option<Row>> {
        let mut parents = vec![None; self.switches()];
        let mut open = VecDeque::from([root]);
        while let Some(switch) = open.pop_front() {
            let neighbours = self.neighbours(switch).iter();
            let mut neighbours: Vec<Row> = neighbours.map(|(_, next)| *next).collect();
            neighbours.order_unstable();
            for next in neighbours {
                let parent = &mut parents[next.0 as usize];
                if next != root && parent.is_none() {
                    *parent = Some(switch);
                    open.push_back(next);
                }
            }
        }
        parents
    }

    /// Planes after which the ranks of switches repeat.
    pub(super) fn turns(&self) -> u32 {
        least_common_multiple(self.places.iter().map(|place| place.of))
    }

    /// The least number that every number of parallel links divides.
    pub(super) fn lanes(&self) -> u32 {
        let all = (0..).map(Row).take(self.switches()).flat_map(|switch| {
            let mut counts = BTreeMap::new();
            for (_, next) in self.neighbours(switch) {
                *counts.entry(next.0).or_insert(0) += 1;
            }
            counts.into_values()
        });
        least_common_multiple(all)
    }
}

impl Search {
    pub(super) fn reaches(&self, switch: Row) -> bool {
        self.distances[switch.0 as usize] != UNREACHED
    }
}

/// The switch of every host, and the port from there; [`NOWHERE`] if hosts are linked to each other.
pub(super) fn racks(
    topology: &Topology,
    rows: &[Option<Row>],
) -> Result<Vec<(Row, PortId)>, TopologyError> {
    let mut links = vec![0; topology.hosts().len()];
    for node in topology.links().iter().flat_map(|link| [link.a, link.b]) {
        if let Node::Host(host) = topology.nodes()[node.0 as usize] {
            links[host.0 as usize] += 1;
        }
    }
    let rack = |(host, links)| {
        let host = HostId(host);
        if links != 1 {
            return Err(TopologyError::HostLinks(host, links));
        }
        let port = topology.host_port(host);
        let (_, switch) = topology.ends(port);
        Ok((rows[switch.0 as usize].unwrap_or(NOWHERE), port.reverse()))
    };
    (0..).zip(links).map(rack).collect()
}

pub(super) fn least_common_multiple(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(1, |product, number| {
        let (mut a, mut b) = (product, number);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        product.saturating_mul(number / a)
    })
}

/// No switch.
pub(super) const NOWHERE: Row = Row(u32::MAX);
/// No distance.
const UNREACHED: u32 = u32::MAX;
