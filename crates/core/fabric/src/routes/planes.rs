//! Paths that are the same in both directions: for every switch a port in each plane.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use base::Sort as _;

use super::Row;
use super::lists::Lists;
use super::map::{Map, Search};
use crate::port_id::PortId;
use crate::topology::Layer;

/// Chooses among paths of fewest links, plane by plane; see [`Routes`](super::Routes).
///
/// Of two paths the one whose highest rank is lower has the smaller sum, and highest ranks differ unless
/// both pass the same switch. So what a switch chooses mostly follows from which switches are highest on
/// the paths of its neighbours, in every plane: their *profiles*. All racks of a pod, and all pods but one's
/// own, look alike in that, so most choices have been made before.
#[derive(Debug)]
pub(super) struct Planes {
    count: u32,
    /// Planes after which the ranks of switches repeat.
    turns: u32,
    /// The highest switch of a path in each plane.
    profiles: Vec<Vec<Row>>,
    known: BTreeMap<Vec<Row>, u32>,
    /// By ports and the profiles of where these lead: what is chosen, and the profile that follows.
    decided: BTreeMap<Vec<(PortId, u32)>, Way>,
}

/// What a switch chooses: an entry of [`Lists`], and its profile.
#[derive(Clone, Copy, Debug)]
struct Way {
    entry: u32,
    profile: u32,
}

/// A port that leads nearer to the target.
#[derive(Clone, Copy)]
struct Step {
    port: PortId,
    to: Row,
    profile: u32,
}

/// The ways to a target found so far: those of all switches that are nearer.
struct Found<'a> {
    map: &'a Map,
    target: Row,
    lists: &'a mut Lists,
    entries: &'a mut [u32],
}

/// Higher layers first, then the place among equals counted from the plane's number on, then the number.
type Rank = (Layer, u32, Row);

impl Planes {
    pub(super) fn of(map: &Map) -> Self {
        let turns = map.turns();
        Self {
            count: turns.saturating_mul(map.lanes()).min(MAX_PLANES),
            turns,
            profiles: Vec::new(),
            known: BTreeMap::new(),
            decided: BTreeMap::new(),
        }
    }

    #[cfg(test)]
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Finds the entries of all switches for the target of `search`. O(ports) where choices have been
    /// made before, else O(planes) for each port.
    pub(super) fn fill(
        &mut self,
        map: &Map,
        search: &Search,
        lists: &mut Lists,
        entries: &mut [u32],
    ) {
        let target = search.order[0];
        let mut found = Found {
            map,
            target,
            lists,
            entries,
        };
        let mut profiles = vec![0; map.switches()];
        profiles[target.0 as usize] = self.profile(vec![target; self.count as usize]);
        for switch in &search.order[1..] {
            let step = |(port, to): (PortId, Row)| Step {
                port,
                to,
                profile: profiles[to.0 as usize],
            };
            let steps: Vec<Step> = map.closer(search, *switch).map(step).collect();
            let way = self.way(*switch, &steps, &mut found);
            found.entries[switch.0 as usize] = way.entry;
            profiles[switch.0 as usize] = way.profile;
        }
    }

    fn way(&mut self, switch: Row, steps: &[Step], found: &mut Found<'_>) -> Way {
        if self.count <= FEW_PLANES {
            return self.choose(switch, steps, found).0;
        }
        let key: Vec<_> = steps.iter().map(|step| (step.port, step.profile)).collect();
        if let Some(way) = self.decided.get(&key) {
            return *way;
        }
        let (way, by_profile) = self.choose(switch, steps, found);
        if by_profile {
            self.decided.insert(key, way);
        }
        way
    }

    /// The best way, and whether profiles alone decided on it.
    fn choose(&mut self, switch: Row, steps: &[Step], found: &mut Found<'_>) -> (Way, bool) {
        let planes = self.count as usize;
        let (mut ports, mut tops) = (Vec::with_capacity(planes), Vec::with_capacity(planes));
        let mut by_profile = true;
        for plane in 0..self.count {
            let top = |step: &Step| self.profiles[step.profile as usize][plane as usize];
            let mut best = &steps[0];
            let mut highest = found.map.rank(top(best), plane);
            for step in &steps[1..] {
                if step.to == best.to {
                    continue;
                }
                let rank = found.map.rank(top(step), plane);
                let order = rank.cmp(&highest);
                by_profile &= order != Ordering::Equal;
                let better = order.then_with(|| found.compare(step.to, best.to, plane));
                if better == Ordering::Less {
                    (best, highest) = (step, rank);
                }
            }
            let lanes = || steps.iter().filter(|step| step.to == best.to);
            let lane = (plane / self.turns) as usize % lanes().count();
            ports.extend(lanes().nth(lane).map(|step| step.port));
            tops.push(highest.max(found.map.rank(switch, plane)).2);
        }
        let way = Way {
            entry: found.lists.entry(&ports),
            profile: self.profile(tops),
        };
        (way, by_profile)
    }

    /// The number of a profile.
    fn profile(&mut self, tops: Vec<Row>) -> u32 {
        if let Some(number) = self.known.get(&tops) {
            return *number;
        }
        let number =
            u32::try_from(self.profiles.len()).expect("fewer profiles than memory has bytes");
        self.profiles.push(tops.clone());
        self.known.insert(tops, number);
        number
    }
}

impl Found<'_> {
    /// Two paths that are equally long by the sums of `2^rank` over their switches: these compare as the
    /// ranks do, the largest first.
    fn compare(&self, a: Row, b: Row, plane: u32) -> Ordering {
        self.ranks(a, plane).cmp(&self.ranks(b, plane))
    }

    fn ranks(&self, from: Row, plane: u32) -> Vec<Rank> {
        let next = |switch: &Row| {
            let entry = self.entries[switch.0 as usize];
            (*switch != self.target).then(|| self.map.end(self.lists.port(entry, plane)))
        };
        let path = std::iter::successors(Some(from), next);
        let mut ranks: Vec<_> = path.map(|switch| self.map.rank(switch, plane)).collect();
        ranks.order_unstable_by(|a, b| b.cmp(a));
        ranks
    }
}

impl Map {
    fn rank(&self, switch: Row, plane: u32) -> Rank {
        let place = self.place(switch);
        let turned = (place.position + place.of - plane % place.of) % place.of;
        (place.layer, turned, switch)
    }
}

/// Bounds the time and the tables of networks whose equals are hard to share evenly.
const MAX_PLANES: u32 = 4096;
/// Up to this many planes it takes less time to choose than to find that it was done before.
const FEW_PLANES: u32 = 16;
