//! NewReno: TCP as the RFCs describe it.
//!
//! The plain roles. Slow start and congestion avoidance of RFC 5681, recovery of RFC 6582 or, with
//! SACK, RFC 6675; with `tcp.ecn` the response of RFC 3168 to marks. Its parameters are those of the
//! endpoint, `tcp.*`.

use tcp::NewReno;

use crate::registry::linux::Linux;
use crate::registry::{FlowInfo, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "newreno",
    summary: "TCP NewReno: halves its window at a loss, grows by a segment per round trip",
    how: "A connection begins with a small window, which doubles every round trip until a packet is lost: \
          slow start. After that the window grows by one segment per round trip. Three duplicate ACKs, or \
          reports of SACK, show a loss: the lost segments are sent again at once, and the window is \
          halved. A loss that no later packet shows waits for the retransmission timer, of at least \
          tcp.min_rto, and the window begins again at one segment. In an incast whole windows are lost, so \
          that many flows wait for this timer.",
    reference: "RFC 5681, RFC 6582, RFC 6675",
    roles: &[Role::Sender],
    gauges: &[tcp::SSTHRESH],
    linux: Linux {
        control: Some("reno"),
        ..Linux::NOTHING
    },
    build: &|_| {
        let make = |(): &(), flow: &FlowInfo| NewReno::new(&flow.config);
        Ok(Roles::of_sender((), make))
    },
    ..Scheme::PLAIN
};
