//! Rates and delays of the links of a graph under the settings of a scenario.

use base::{Rate, Span};
use engine::random::Stream;
use fabric::LinkSpec;

use super::{Capacity, Keys, LinkWeight};
use crate::graph::{Graph, GraphLink};

impl Graph {
    /// The rate of every link, if every node has this many hosts.
    ///
    /// `bottleneck.rate` overrides all; otherwise `topology.capacity` decides.
    pub(crate) fn rates(&self, keys: &Keys, hosts: u32) -> Vec<Rate> {
        let rate = |link: usize| match keys.topology.capacity {
            Capacity::Auto => match self.links()[link].capacity {
                Some(capacity) => capacity,
                None => self.equal_load(link, keys.link.rate, hosts),
            },
            Capacity::EqualLoad => self.equal_load(link, keys.link.rate, hosts),
            Capacity::Between(least, most) => {
                let (least, most) = (least.as_bps(), most.as_bps());
                let seed = keys.topology.capacity_seed;
                let mut stream = Stream::new(seed, "capacity", link as u64);
                Rate::from_bps(least + stream.below(most - least + 1))
            }
        };
        let links = 0..self.links().len();
        match keys.bottleneck.rate.0 {
            Some(one) => links.map(|_| one).collect(),
            None => links.map(rate).collect(),
        }
    }

    /// The one-way delay of every link. It is zero for a link whose delay neither the graph nor the settings give; see
    /// [`Graph::unplaced`].
    pub(crate) fn delays(&self, keys: &Keys) -> Vec<Span> {
        let missing = keys.topology.missing_delay.0.unwrap_or(Span::ZERO);
        let delay = |link| known_delay(link, keys).unwrap_or(missing);
        self.links().iter().map(delay).collect()
    }

    /// The links whose delay neither the graph nor the settings give. `topology.missing_delay` does not count.
    pub fn unplaced<'a>(&'a self, keys: &'a Keys) -> impl Iterator<Item = usize> + 'a {
        let links = self.links().iter().enumerate();
        let unknown = links.filter(|(_, link)| known_delay(link, keys).is_none());
        unknown.map(|(number, _)| number)
    }

    /// The longest propagation time between two nodes.
    pub(crate) fn span(&self, keys: &Keys) -> Span {
        self.longest(&self.delays(keys))
    }

    /// Rates and delays of all links.
    pub(crate) fn specs(&self, keys: &Keys, hosts: u32) -> Vec<LinkSpec> {
        let rates = self.rates(keys, hosts);
        let both = rates.into_iter().zip(self.delays(keys));
        both.map(|(rate, delay)| LinkSpec { rate, delay }).collect()
    }

    /// The first link whose rate by the rule of equal load exceeds the maximum rate, and its rate.
    pub fn too_fast(&self, keys: &Keys, hosts: u32) -> Option<(usize, u128)> {
        let ruled = |link: &usize| match keys.topology.capacity {
            Capacity::Auto => self.links()[*link].capacity.is_none(),
            Capacity::EqualLoad => true,
            Capacity::Between(..) => false,
        };
        if keys.bottleneck.rate.0.is_some() {
            return None;
        }
        let links = (0..self.links().len()).filter(ruled);
        let mut rates = links.map(|link| (link, self.equal_load_bps(link, keys.link.rate, hosts)));
        rates.find(|(_, bits)| *bits > FASTEST)
    }

    /// The same, limited to the maximum rate. To exceed it is a conflict of settings.
    fn equal_load(&self, link: usize, edge: Rate, hosts: u32) -> Rate {
        let bits = self.equal_load_bps(link, edge, hosts);
        Rate::from_bps(bits.clamp(1, FASTEST) as u64)
    }

    /// The rate P H R / (n - 1) for a link on the paths of P pairs of nodes, with H hosts at each of n nodes and the
    /// rate R of a host. If every host sends evenly to all others, such a link is as busy as the links of hosts.
    ///
    /// Rounded up to a thousandth of R. At 1 Gbit/s this reproduces all capacities of RC3's published Internet2 (data
    /// in `graphs/internet2-links.csv`), and at other rates the same multiples of R. A link on no path counts as if it
    /// were on one.
    fn equal_load_bps(&self, link: usize, edge: Rate, hosts: u32) -> u128 {
        let pairs = u128::from(self.pairs()[link].max(1));
        let others = self.nodes().len() as u128 - 1;
        let thousandths = (pairs * u128::from(hosts) * 1000).div_ceil(others.max(1));
        (thousandths * u128::from(edge.as_bps())).div_ceil(1000)
    }
}

/// The delay of a link from the settings or its file.
fn known_delay(link: &GraphLink, keys: &Keys) -> Option<Span> {
    let by_weight = |weight| match keys.topology.weight {
        LinkWeight::None => None,
        LinkWeight::Kilometres => Graph::weight_as_length(weight),
        LinkWeight::Milliseconds => Some(Span::from_ps(weight.saturating_mul(1_000))),
        LinkWeight::Microseconds => Some(Span::from_ps(weight)),
    };
    let own = || link.weight.and_then(by_weight).or(link.delay);
    keys.bottleneck.delay.0.or_else(own)
}

/// At a higher rate a byte would last less than a picosecond.
const FASTEST: u128 = 8_000_000_000_000;
