//! What settings mean to hosts and switches alike.

use scenario::keys::Keys;
use schemes::HostInfo;

/// What a role of a host is told in a group with these settings.
pub(super) fn host_info(keys: &Keys) -> HostInfo {
    HostInfo {
        rate: keys.link.to_hosts(),
        mss: mss(keys),
        packet_bytes: keys.packet_bytes(),
    }
}

/// Bytes of a full segment.
pub(super) fn mss(keys: &Keys) -> u16 {
    u16::try_from(keys.tcp.mss.0).expect("the scenario checked the segment size")
}
