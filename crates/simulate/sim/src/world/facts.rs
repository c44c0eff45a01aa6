//! The facts from settings that both hosts and switches use.

use base::{HostId, Rate};
use fabric::Topology;
use plan::keys::Keys;
use schemes::HostInfo;

/// The information for a role of a host that has a link of this rate, in a group with these settings.
pub(super) fn host_info(keys: &Keys, rate: Rate) -> HostInfo {
    HostInfo {
        rate,
        mss: mss(keys),
        packet_bytes: keys.packet_bytes(),
    }
}

/// The rates of a host's link, from the host and to the host.
pub(super) fn host_rates(topology: &Topology, host: HostId) -> [Rate; 2] {
    let port = topology.host_port(host);
    let link = &topology.links()[port.0 as usize / 2];
    let rates = [link.spec.rate, link.back.rate];
    match port.0 % 2 {
        0 => rates,
        _ => [rates[1], rates[0]],
    }
}

/// Bytes of a full segment.
pub(super) fn mss(keys: &Keys) -> u16 {
    u16::try_from(keys.tcp.mss.0).expect("the scenario checked the segment size")
}
