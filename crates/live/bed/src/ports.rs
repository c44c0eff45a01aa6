//! Programs at the ports of switches and at receivers, if this build has them.

use std::collections::{BTreeMap, BTreeSet};

use base::cast;
use base::{HostId, Rate};
use fabric::PortId;
use plan::workload::PlannedConnection;
use protocol::SlotLengths;
use schemes::HostInfo;

use crate::lan::Speed;
use crate::paths;
use crate::testbed::Testbed;

#[cfg(feature = "kernel")]
mod connections;
#[cfg(feature = "kernel")]
mod receivers;

#[cfg_attr(feature = "kernel", path = "ports/loaded.rs")]
#[cfg_attr(not(feature = "kernel"), path = "ports/absent.rs")]
pub(crate) mod loaded;

/// The number of packets for each fate at all ports, by the names of `programs::Reason`.
pub(crate) type FateCounts = BTreeMap<&'static str, u64>;

/// Counts of the programs during a run.
#[derive(Clone, Default, Debug)]
pub(crate) struct PortReport {
    pub(crate) counts: FateCounts,
    /// The slots of windows, if windows are decided outside the kernel.
    pub(crate) slots: Option<SlotLengths>,
}

/// Statistics of slots with these lengths in microseconds. The law was not told of `untold` segments.
#[cfg_attr(
    not(feature = "kernel"),
    expect(dead_code, reason = "without programs nothing is decided")
)]
pub(crate) fn slots(planned_us: f64, mut lengths_us: Vec<f64>, untold: u64) -> SlotLengths {
    lengths_us.sort_by(f64::total_cmp);
    let count = lengths_us.len();
    let rank = (count * 99).div_ceil(100).max(1);
    SlotLengths {
        planned_us,
        count: count as u64,
        mean_us: lengths_us.iter().sum::<f64>() / cast::count(count.max(1)),
        p99_us: lengths_us.get(rank - 1).copied().unwrap_or_default(),
        untold,
    }
}

/// Where programs go.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "kernel"),
    expect(dead_code, reason = "it is read where programs are loaded")
)]
pub(crate) struct Sites {
    /// Ports of switches that data passes.
    pub(crate) switches: BTreeSet<PortId>,
    pub(crate) receivers: Vec<ReceiverSite>,
}

/// A receiving host.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "kernel"),
    expect(dead_code, reason = "it is read where programs are loaded")
)]
pub(crate) struct ReceiverSite {
    /// The port by which its acknowledgements leave.
    pub(crate) port: PortId,
    /// What its role is told.
    pub(crate) info: HostInfo,
}

impl Sites {
    /// The ports that data of `connections` passes, and their receivers. At other ports only ACKs wait, so no law would
    /// act there.
    pub(crate) fn of(bed: &Testbed, speed: Speed, connections: &[PlannedConnection]) -> Self {
        let pairs = connections.iter();
        let pairs = pairs.map(|connection| (connection.sender, connection.receiver));
        let pairs: BTreeSet<_> = pairs.collect();
        let hosts: BTreeSet<HostId> = pairs.iter().map(|(_, receiver)| *receiver).collect();
        let hosts = hosts.into_iter();
        Self {
            receivers: hosts.map(|host| site(bed, speed, host)).collect(),
            switches: paths::on_the_way(&bed.topology, &pairs),
        }
    }
}

fn site(bed: &Testbed, speed: Speed, host: HostId) -> ReceiverSite {
    let port = bed.topology.host_port(host);
    // The other end of the receiver's link sends to it.
    let planned = bed.port_rate(port.reverse());
    ReceiverSite {
        port,
        info: HostInfo {
            rate: Rate::from_bps(speed.of(planned.as_bps())),
            mss: u16::try_from(bed.mss).expect("the scenario checked the segment size"),
            packet_bytes: bed.packet_bytes().into(),
        },
    }
}

#[cfg(feature = "kernel")]
fn refused(error: programs::LoadError) -> std::io::Error {
    std::io::Error::other(error)
}

/// How long programs act without renewal. A process that hangs must not act much longer than it waits.
#[cfg(feature = "kernel")]
const LEASE: std::time::Duration = std::time::Duration::from_secs(5);
