//! NewReno: TCP as the RFCs describe it.
//!
//! The plain roles. Slow start and congestion avoidance of RFC 5681, recovery of RFC 6582 or, with
//! SACK, RFC 6675; with `tcp.ecn` the response of RFC 3168 to marks. Its parameters are those of the
//! endpoint, `tcp.*`.

use tcp::NewReno;

use crate::registry::{FlowInfo, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "newreno",
    summary: "TCP NewReno: halves its window at a loss, grows by a segment per round trip",
    reference: "RFC 5681, RFC 6582, RFC 6675",
    roles: &[Role::Sender],
    gauges: &[tcp::SSTHRESH],
    build: &|_| {
        let make = |(): &(), flow: &FlowInfo| NewReno::new(&flow.config);
        Ok(Roles::of_sender((), make))
    },
    ..Scheme::PLAIN
};
