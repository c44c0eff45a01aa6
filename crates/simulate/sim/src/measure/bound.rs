//! Lower bounds of completion times, which no scheme can beat: a flow takes at least as long as its bytes need on the
//! links of its hosts.

use base::HostId;
use base::Sort as _;
use base::cast::real;
use fabric::{Network, PortId, Topology};
use plan::PointSpec;

use crate::metrics::{Distribution, FlowRecord};

/// The rates of the links of a point's hosts.
pub(super) struct HostLinks {
    /// Rates of each host's link, from the host and to the host, in bit/s.
    rates: Vec<[f64; 2]>,
    /// Whether the settings contain faults.
    pub(super) have_faults: bool,
    /// For each group: its name, its largest payload, and the bytes of a packet beside the payload.
    groups: Vec<(String, f64, f64)>,
}

impl HostLinks {
    pub(super) fn of(topology: &Topology, network: &Network, point: &PointSpec) -> Self {
        let rate = |port: PortId| real(network.ports()[port.0 as usize].link().rate.as_bps());
        let hosts = (0..).zip(topology.hosts());
        let rates = hosts.map(|(host, _)| {
            let port = topology.host_port(HostId(host));
            [rate(port), rate(port.reverse())]
        });
        let header = f64::from(point.keys.net.header_bytes);
        let groups = point.groups.iter().map(|group| {
            let mss = f64::from(group.keys.tcp.mss.0);
            (group.name.to_string(), mss, header)
        });
        Self {
            rates: rates.collect(),
            have_faults: !point.keys.topology.faults.0.is_empty(),
            groups: groups.collect(),
        }
    }

    /// Bits of a flow on the wire.
    fn bits(&self, flow: &FlowRecord) -> f64 {
        let payload = real(flow.size_bytes.unwrap_or(0));
        let group = self.groups.iter().find(|(name, ..)| *name == flow.group);
        let headers = group.map_or(0.0, |(_, mss, header)| (payload / mss).ceil() * header);
        (payload + headers) * 8.0
    }

    /// Percentiles of completion times, in microseconds. They are lower bounds for the complete flows among `flows`.
    ///
    /// Among flows to one receiver that start together, the n-th completes at the earliest when the n smallest have
    /// crossed the link to the receiver. No flow completes before its own bytes have crossed the links of its hosts.
    /// O(n log n).
    pub(super) fn bound<'a>(&self, flows: impl Iterator<Item = &'a FlowRecord>) -> Distribution {
        let complete = flows.filter(|flow| flow.fct_us.get().is_some());
        let mut complete: Vec<&FlowRecord> = complete.collect();
        complete.order_by(|a, b| {
            let receiver = a.receiver.cmp(&b.receiver);
            receiver.then(a.start_us.total_cmp(&b.start_us))
        });
        let mut bounds = Vec::with_capacity(complete.len());
        let mut rest = complete.as_slice();
        while let [first, ..] = rest {
            let rate = self.rates[first.receiver as usize][1];
            let (burst, behind) = rest.split_at(self.burst(rest, rate));
            self.add_burst(burst, rate, &mut bounds);
            rest = behind;
        }
        Distribution::of(bounds)
    }

    /// How many flows at the front of `flows` start together: they have one receiver, and each starts within a tenth of
    /// the time that the bytes before it take on its link.
    fn burst(&self, flows: &[&FlowRecord], rate: f64) -> usize {
        let (first, mut bits) = (flows[0], 0.0);
        let together = |flow: &&&FlowRecord| {
            let after = flow.start_us - first.start_us;
            let near = flow.receiver == first.receiver && after <= bits / rate * 1e5;
            bits += self.bits(flow);
            near
        };
        flows.iter().take_while(together).count().max(1)
    }

    /// Adds a bound for each flow of a burst, in the order of completion.
    fn add_burst(&self, burst: &[&FlowRecord], rate: f64, bounds: &mut Vec<f64>) {
        let mut all: Vec<f64> = burst.iter().map(|flow| self.bits(flow)).collect();
        all.order_unstable_by(f64::total_cmp);
        let mut alone: Vec<f64> = burst
            .iter()
            .map(|flow| {
                let rate = self.rates[flow.sender as usize][0].min(rate);
                self.bits(flow) / rate * 1e6
            })
            .collect();
        alone.order_unstable_by(f64::total_cmp);
        // A flow may start as late as the last of the burst.
        let late = burst[burst.len() - 1].start_us - burst[0].start_us;
        let mut sum = 0.0;
        for (bits, alone) in all.into_iter().zip(alone) {
            sum += bits;
            bounds.push((sum / rate * 1e6 - late).max(alone));
        }
    }
}
