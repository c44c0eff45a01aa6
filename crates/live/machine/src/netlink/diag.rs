//! Connections of the kernel's TCP (`linux/inet_diag.h`).

use std::io;

use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use super::socket::{Netlink, Raw, find};

/// The smoothed round-trip time of the only connection of this thread's namespace, in microseconds.
pub fn round_trip_us() -> io::Result<Option<u32>> {
    let mut netlink = Netlink::open(NETLINK_SOCK_DIAG)?;
    // struct inet_diag_req_v2: family, protocol, extensions, padding, states, and an empty socket.
    let mut payload = vec![IPV4, TCP, 1 << (INFO - 1), 0];
    payload.extend((1_u32 << ESTABLISHED).to_ne_bytes());
    payload.resize(REQUEST, 0);
    let kind = BY_FAMILY;
    let answers = netlink.ask("sockets", Raw { kind, payload }, NLM_F_DUMP)?;
    let rtt = answers.first().and_then(|answer| {
        let info = find(answer.payload.get(MESSAGE..)?, INFO.into())?;
        let rtt = info.get(RTT..RTT + 4)?;
        Some(u32::from_ne_bytes(rtt.try_into().ok()?))
    });
    Ok(rtt)
}

const BY_FAMILY: u16 = 20;
const IPV4: u8 = 2;
const TCP: u8 = 6;
const ESTABLISHED: u32 = 1;
const INFO: u8 = 2;

/// Bytes of a request, and of the message before an answer's attributes.
const REQUEST: usize = 56;
const MESSAGE: usize = 72;

/// Offset of `tcpi_rtt` in struct `tcp_info`.
const RTT: usize = 68;
