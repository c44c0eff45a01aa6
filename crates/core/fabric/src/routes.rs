//! Which port of a switch leads to which host, and how flows spread over equal paths.

mod lists;
mod map;
mod planes;

use base::Sort as _;
use base::{FlowId, HostId, Packet};

use crate::port_id::PortId;
use crate::topology::{Node, Topology, TopologyError};
use lists::Lists;
use map::{Map, NOWHERE, Search};
use planes::Planes;

/// The choice among paths of equally few links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// By a hash of the connection, so that its ACKs come back the way its data went.
    Symmetric,
    /// By a hash of the connection, the direction and the switch: the ways there and back differ.
    Flow,
    /// Every packet for itself at every switch, whatever its connection.
    Packet,
    /// Not at all: there is one path between two hosts, the same in both directions.
    Off,
    /// Not at all, and every switch for itself: it takes the first of its links that lead nearer to the destination.
    First,
}

/// The ports of every switch towards every host, along paths of fewest links.
///
/// # Symmetric paths
///
/// A switch knows the destination and a hash of the flow, not the source. So a flow belongs to one of `K`
/// *planes* by its hash, and in each plane there is exactly one path between two hosts, the same from
/// either end:
///
/// - A plane ranks all switches, no two alike: the higher layer first, then the place among equals
///   counted from the plane's number on, then the number of the switch.
/// - Of the shortest paths between two hosts the plane uses the one for which the sum of
///   `2^rank` over its switches is least.
/// - Two such paths have different sums. A sum tells the set of switches, and a shortest path passes
///   them in the order of their distance; so equal sums mean the same switches in the same order.
/// - The sum is the same in both directions, hence so is the path of least sum.
/// - What follows a switch on that path is the path of least sum from there, or the path could be
///   improved. So forwarding switch by switch, by destination and plane, stays on it.
///
/// Of parallel links between two switches the plane takes one, by the order in which they were added.
///
/// With `K` a multiple of the number of equals in every group, each of them is the first in equally
/// many planes. In a leaf-spine network a plane is one spine, in a fat tree one core switch and the
/// aggregation switches below it, and flows spread evenly over all paths.
///
/// # One path
///
/// With [`Spread::Off`] both directions take, of the shortest paths between two hosts, the one whose
/// switches, read from the host with the lower number, come first in the order of their numbers, as
/// words in a dictionary. It is the path that a breadth-first search from there finds which visits
/// neighbours in the order of their numbers. No switch needs to know the source of a packet, only
/// which way it goes:
///
/// - Away from the lower host, what follows any switch on the path is itself the first path from there.
///   So a switch forwards to the lowest of the neighbours that are nearer to the destination.
/// - Towards the lower host, what lies between it and any switch is the first path as well. So a switch
///   forwards to its parent in the tree of the search.
///
/// Where both are the same port, which is the rule, it is the only one in the table. Where they differ
/// there is a list of both, and the ends of the flow tell which way a packet goes.
///
/// With [`Spread::First`] every switch forwards by its own first link, in the order in which links were added, of those
/// that lead nearer: there is one path as well, but the way back may be another. Global routes of ns-3 are such.
///
/// # Costs
///
/// A rack is a switch with hosts. The ways to a rack are found when the first flow from or to one of its
/// hosts is introduced, in O(ports of switches); `Planes` has the exceptions. They take four bytes for
/// every switch, and lists of ports are shared: what does not communicate costs nothing.
///
/// To forward a packet costs a load for its host and one for the rack of that. Where several ports share
/// the flows, it costs a load of what is known of the flow and two more, from a table of `K` ports for each
/// distinct list.
#[derive(Debug)]
pub struct Routes {
    /// Of every host.
    places: Vec<HostPlace>,
    /// Of every rack to which there are ways, by switch: an entry of `lists`.
    entries: Vec<u32>,
    lists: Lists,
    spread: Spread,
    /// Makes hashes of runs with different seeds unrelated.
    salt: u64,
    /// Packets that chose a path for themselves, at each switch.
    sprayed: Vec<u64>,
    /// The number on which the path of each flow depends: with [`Spread::Off`] the host with the lower
    /// number, else a hash. Empty if no route depends on it.
    flows: Vec<u32>,
    map: Map,
    planes: Planes,
    /// All hosts, by rack.
    by_rack: Vec<HostId>,
}

/// Where a host is.
#[derive(Clone, Copy, Debug)]
struct HostPlace {
    rack: Row,
    /// The port of the rack that leads to it.
    port: PortId,
    /// Where in the entries the ways to its rack begin; [`NO_WAYS`] before they are found.
    ways: u32,
}

/// The part of [`Routes`] that belongs to one switch; dense from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Row(u32);

impl Routes {
    /// The routes of `topology`, and the row of every switch, by node. O(ports).
    pub fn new(
        topology: &Topology,
        spread: Spread,
        salt: u64,
    ) -> Result<(Self, Vec<Option<Row>>), TopologyError> {
        let mut switches = 0;
        let row = |node: &Node| {
            let row = Row(switches);
            (*node == Node::Switch).then(|| {
                switches += 1;
                row
            })
        };
        let rows: Vec<_> = topology.nodes().iter().map(row).collect();
        let places: Vec<HostPlace> = map::racks(topology, &rows)?
            .into_iter()
            .map(|(rack, port)| HostPlace {
                rack,
                port,
                ways: NO_WAYS,
            })
            .collect();
        let mut by_rack: Vec<HostId> = (0..).map(HostId).take(places.len()).collect();
        by_rack.order_by_key(|host| places[host.0 as usize].rack);
        let map = Map::of(topology, &rows);
        let routes = Self {
            places,
            entries: Vec::new(),
            lists: Lists::default(),
            spread,
            salt,
            sprayed: vec![0; map.switches()],
            flows: Vec::new(),
            planes: Planes::of(&map),
            map,
            by_rack,
        };
        routes.check_reach()?;
        Ok((routes, rows))
    }

    /// Takes over the counts of chosen paths at the switches of another part of the network.
    pub(crate) fn join(&mut self, other: &Self) {
        for (own, others) in self.sprayed.iter_mut().zip(&other.sprayed) {
            *own += others;
        }
    }

    /// Announces a flow: its two hosts, and the number by which its path is chosen. Flows are numbered
    /// densely from 0.
    ///
    /// # Panics
    /// If the ways to all racks that communicate are more than 2^32.
    pub fn introduce(&mut self, flow: FlowId, key: u64, [a, b]: [HostId; 2]) {
        self.find_ways(a);
        self.find_ways(b);
        if self.lists.is_empty() || self.spread == Spread::Packet {
            return;
        }
        let place = flow.0 as usize;
        if self.flows.len() <= place {
            self.flows.resize(place + 1, 0);
        }
        self.flows[place] = match self.spread {
            Spread::Off => a.min(b).0,
            _ => upper(mix(key ^ self.salt)),
        };
    }

    /// The port by which `packet` leaves the switch of `row`.
    ///
    /// # Panics
    /// If nobody told of the flow.
    #[inline(always)]
    pub fn next(&mut self, row: Row, packet: &Packet) -> PortId {
        let to = self.places[packet.to.0 as usize];
        if to.rack == row {
            return to.port;
        }
        let entry = self.entries[to.ways as usize + row.0 as usize];
        if let Some(port) = Lists::only(entry) {
            return port;
        }
        let flow = packet.flow.0 as usize;
        let hash = match self.spread {
            Spread::Off => {
                let back = packet.to.0 == self.flows[flow];
                return self.lists.ports(entry)[usize::from(back)];
            }
            Spread::Symmetric | Spread::First => self.flows[flow],
            Spread::Flow => {
                let direction = u64::from(packet.to.0) << 32 | u64::from(self.flows[flow]);
                upper(mix(direction ^ self.at(row)))
            }
            Spread::Packet => {
                let count = self.sprayed[row.0 as usize] + 1;
                self.sprayed[row.0 as usize] = count;
                upper(mix(count ^ self.at(row)))
            }
        };
        let ports = self.lists.ports(entry);
        ports[((u64::from(hash) * ports.len() as u64) >> 32) as usize]
    }

    /// What makes the hashes of a switch unrelated to those of others.
    fn at(&self, row: Row) -> u64 {
        mix(u64::from(row.0) ^ self.salt)
    }

    /// Whether all hosts have a path to the first one of the first rack.
    fn check_reach(&self) -> Result<(), TopologyError> {
        let Some(first) = self.by_rack.first().copied() else {
            return Ok(());
        };
        let rack = self.places[first.0 as usize].rack;
        if rack == NOWHERE {
            return Ok(());
        }
        let search = self.map.search(rack);
        for (host, place) in (0..).map(HostId).zip(&self.places) {
            if place.rack != NOWHERE && !search.reaches(place.rack) {
                return Err(TopologyError::Unconnected(host, first));
            }
        }
        Ok(())
    }

    /// Finds the ways to the rack of `host`, unless they are known.
    fn find_ways(&mut self, host: HostId) {
        let HostPlace { rack, ways, .. } = self.places[host.0 as usize];
        if ways != NO_WAYS || rack == NOWHERE {
            return;
        }
        let first = self.entries.len();
        // A switch without a path never gets a packet: any port will do.
        self.entries.resize(first + self.map.switches(), 0);
        let search = self.map.search(rack);
        match self.spread {
            Spread::Symmetric => {
                let entries = &mut self.entries[first..];
                self.planes
                    .fill(&self.map, &search, &mut self.lists, entries);
            }
            Spread::Off => self.by_direction(&search, first),
            Spread::Flow | Spread::Packet | Spread::First => {
                let most = if self.spread == Spread::First {
                    1
                } else {
                    usize::MAX
                };
                for switch in &search.order[1..] {
                    let ports = self.map.closer(&search, *switch).take(most);
                    let ports: Vec<PortId> = ports.map(|(port, _)| port).collect();
                    self.entries[first + switch.0 as usize] = self.lists.entry(&ports);
                }
            }
        }
        let ways = u32::try_from(first).expect("ways fit 32 bits");
        let place = |host: &HostId| self.places[host.0 as usize].rack;
        let here = self.by_rack.partition_point(|host| place(host) < rack)
            ..self.by_rack.partition_point(|host| place(host) <= rack);
        for host in &self.by_rack[here] {
            self.places[host.0 as usize].ways = ways;
        }
    }

    /// The ports of every switch for packets to a rack: of those from lower hosts, then of those from
    /// higher ones.
    fn by_direction(&mut self, search: &Search, first: usize) {
        let parents = self.map.parents(search.order[0]);
        for switch in &search.order[1..] {
            let away = self.map.closer(search, *switch).map(|(_, next)| next).min();
            let next = [away, parents[switch.0 as usize]].into_iter().flatten();
            let ports = next.filter_map(|next| self.map.port(*switch, next));
            let ports: Vec<PortId> = ports.collect();
            self.entries[first + switch.0 as usize] = self.lists.entry(&ports);
        }
    }
}

/// The finaliser of `MurmurHash3`: every bit of `z` changes every other one half of the time.
#[inline(always)]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    z ^ (z >> 33)
}

const fn upper(z: u64) -> u32 {
    (z >> 32) as u32
}

/// No ways to a rack.
const NO_WAYS: u32 = u32::MAX;

#[cfg(test)]
mod tests;
