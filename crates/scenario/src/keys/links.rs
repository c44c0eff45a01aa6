//! Rates and delays of the links of a graph under the settings of a scenario.

use base::{Rate, Span};
use engine::random::Stream;
use fabric::LinkSpec;

use super::{Capacity, Keys};
use crate::graph::{Graph, GraphLink};

impl Graph {
    /// The rate of every link, where every node has this many hosts.
    ///
    /// `bottleneck.rate` stands above all; else `topology.capacity` decides.
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

    /// The one-way delay of every link; `None` if that of one is not known, for which there is
    /// [`Graph::without_delay`].
    pub(crate) fn delays(&self, keys: &Keys) -> Option<Vec<Span>> {
        let one = keys.bottleneck.delay.0;
        self.links().iter().map(|link| one.or(link.delay)).collect()
    }

    /// The first link whose delay neither the graph nor the settings tell.
    pub(crate) fn without_delay(&self, keys: &Keys) -> Option<usize> {
        let unknown = |link: &GraphLink| link.delay.is_none();
        match keys.bottleneck.delay.0 {
            Some(_) => None,
            None => self.links().iter().position(unknown),
        }
    }

    /// The longest time that light needs between two nodes; nothing if that is not known.
    pub(crate) fn span(&self, keys: &Keys) -> Span {
        let delays = self.delays(keys);
        delays.map_or(Span::ZERO, |delays| self.longest(&delays))
    }

    /// Rates and delays of all links.
    ///
    /// # Panics
    /// If the delay of a link is not known.
    pub(crate) fn specs(&self, keys: &Keys, hosts: u32) -> Vec<LinkSpec> {
        let delays = self.delays(keys);
        let delays = delays.expect("the scenario checked that every delay is known");
        let rates = self.rates(keys, hosts);
        let both = rates.into_iter().zip(delays);
        both.map(|(rate, delay)| LinkSpec { rate, delay }).collect()
    }

    /// The first link whose rate by the rule of equal load is beyond what a link can have, and the rate.
    pub(crate) fn too_fast(&self, keys: &Keys, hosts: u32) -> Option<(usize, u128)> {
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

    /// The same within what a link can have; to exceed that is a conflict of settings.
    fn equal_load(&self, link: usize, edge: Rate, hosts: u32) -> Rate {
        let bits = self.equal_load_bps(link, edge, hosts);
        Rate::from_bps(bits.clamp(1, FASTEST) as u64)
    }

    /// P H R / (n - 1) for a link on the paths of P pairs of nodes, with H hosts at each of n nodes and
    /// R the rate of a host: traffic from every host to all others, evenly, then fills every link as much
    /// as the links of hosts.
    ///
    /// Rounded up to a thousandth of R, which at 1 Gbit/s gives all capacities of RC3's published
    /// Internet2 (data in `graphs/internet2-links.csv`), and at other rates the same multiples of R. A link
    /// on no path counts as on one.
    fn equal_load_bps(&self, link: usize, edge: Rate, hosts: u32) -> u128 {
        let pairs = u128::from(self.pairs()[link].max(1));
        let others = self.nodes().len() as u128 - 1;
        let thousandths = (pairs * u128::from(hosts) * 1000).div_ceil(others.max(1));
        (thousandths * u128::from(edge.as_bps())).div_ceil(1000)
    }
}

/// Above it a byte lasts less than a picosecond.
const FASTEST: u128 = 8_000_000_000_000;
