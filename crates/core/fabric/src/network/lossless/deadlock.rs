//! Ports that wait for each other.

use base::Sort as _;
use base::cast::{real, whole};

use super::Lossless;
use crate::pfc::Xoff;
use crate::port_id::PortId;

impl Lossless {
    /// A cycle of ports, each paused by what waits at the next; empty if there is none.
    ///
    /// All ports that are paused are candidates. One of them is none if it will be resumed when everything that does not wait
    /// behind a candidate has left: this is repeated until no more are struck out. The others are stuck for good.
    pub(super) fn deadlock(&self) -> Vec<PortId> {
        let mut stuck: Vec<(PortId, usize)> = Vec::new();
        for switch in &self.switches {
            stuck.extend(&switch.paused);
        }
        stuck.order_unstable();
        loop {
            let before = stuck.len();
            let kept = stuck.iter().copied();
            let kept = kept.filter(|one| self.is_stuck(*one, &stuck));
            stuck = kept.collect();
            if stuck.len() == before {
                break;
            }
        }
        let Some(first) = stuck.first() else {
            return Vec::new();
        };
        let mut way = vec![*first];
        loop {
            let last = way[way.len() - 1];
            let next = stuck.iter().find(|next| self.held(last, **next) > 0);
            let next = *next.expect("what is stuck waits behind another that is");
            if let Some(place) = way.iter().position(|one| *one == next) {
                return way[place..].iter().map(|(port, _)| *port).collect();
            }
            way.push(next);
        }
    }

    /// Whether a paused port stays paused once its switch holds only packets that wait behind ports in `stuck`.
    fn is_stuck(&self, one: (PortId, usize), stuck: &[(PortId, usize)]) -> bool {
        let left = self.left(one, stuck);
        let ingress = self.ports[one.0.0 as usize].ingress[one.1];
        let gone = ingress.shared + ingress.headroom - left;
        if left == 0 || ingress.headroom > gone {
            return left > 0;
        }
        left + self.config.resume > self.threshold(one.0, stuck)
    }

    /// The threshold of a port once its switch holds only packets that wait behind ports in `stuck`.
    fn threshold(&self, port: PortId, stuck: &[(PortId, usize)]) -> u64 {
        let into = self.ports[port.0 as usize].into;
        let pool = into.and_then(|switch| self.switches[switch].pool.as_ref());
        match (self.config.xoff, pool) {
            (Xoff::Static(bytes), _) => bytes,
            (Xoff::Dynamic(_), None) => u64::MAX,
            (Xoff::Dynamic(alpha), Some(pool)) => {
                let same = |one: &&(PortId, usize)| self.ports[one.0.0 as usize].into == into;
                let left = stuck.iter().filter(same).map(|one| self.left(*one, stuck));
                whole(alpha * real(pool.bytes().saturating_sub(left.sum())))
            }
        }
    }

    /// Bytes that a port has brought into its switch and that wait behind ports in `stuck`.
    fn left(&self, one: (PortId, usize), stuck: &[(PortId, usize)]) -> u64 {
        stuck.iter().map(|next| self.held(one, *next)).sum()
    }

    /// Bytes that a port has brought in and that wait at the port `next`.
    fn held(&self, (port, class): (PortId, usize), next: (PortId, usize)) -> u64 {
        let side = &self.ports[next.0.0 as usize];
        if next.1 != class || side.of != self.ports[port.0 as usize].into {
            return 0;
        }
        let Some(queue) = side.queues.get(class) else {
            return 0;
        };
        let own = queue
            .entries
            .iter()
            .filter(|entry| entry.from == Some(port));
        own.map(|entry| entry.bytes).sum()
    }
}
