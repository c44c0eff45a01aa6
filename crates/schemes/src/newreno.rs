//! NewReno: TCP as the RFCs describe it.
//!
//! The plain roles. Slow start and congestion avoidance of RFC 5681, recovery of RFC 6582 or, with
//! SACK, RFC 6675; with `tcp.ecn` the response of RFC 3168 to marks. Its parameters are those of the
//! endpoint, `tcp.*`.

use crate::registry::{Role, Roles, Scheme};

pub use tcp::{NewReno as Sender, Plain as Receiver};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "newreno",
    summary: "TCP NewReno: halves its window at a loss, grows by a segment per round trip",
    reference: "RFC 5681, RFC 6582, RFC 6675",
    roles: &[Role::Sender],
    needs_marking: false,
    keys: &[],
    gauges: &[tcp::SSTHRESH],
    build: |_| {
        Ok(Roles {
            sender: Some(Box::new(|flow| {
                crate::Sender::newreno(Sender::new(&flow.config))
            })),
            ..Roles::default()
        })
    },
};
