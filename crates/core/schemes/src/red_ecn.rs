//! TCP with RED and ECN: the queue marks by its average length, senders halve once per window.
//!
//! The queues of [`red`] with marks, and the classic answer of RFC 3168 at the ends: ECN-capable data,
//! an echo until the sender says that it has reduced its window, one reduction per window of data. The
//! sender is NewReno, or the one it is composed with: `red-ecn+cubic`. Parameters are RED's.
//!
//! | symbol | field | value here | source |
//! |---|---|---|---|
//! | ECN | `red.ecn` | always on | the scheme |
//! | the others | `red.*` | as in [`red`] | see there |
//!
//! Deviations and what is open: those of RED.

use base::setting::Settings;
use tcp::EcnMode;

use crate::red::{self, Params};
use crate::registry::{Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "red-ecn",
    summary: "RED queues that mark, and TCP that halves its window at marks as at losses",
    how: "A queue keeps a moving average of its length. Between two thresholds it marks each arriving \
          packet with a probability that grows with the average, and above them every packet. Endpoints \
          use classic ECN: the receiver echoes a mark, and the sender halves its window as after a loss. \
          Packets that cannot carry a mark, such as SYNs and pure ACKs, are dropped in its place. So most \
          flows slow down without a loss.",
    reference: "RFC 3168; Floyd and Jacobson, IEEE/ACM ToN 1993",
    roles: &[Role::Marks, Role::Queue],
    keys: red::SCHEME.keys,
    gauges: &[tcp::SSTHRESH],
    build: &|text| {
        let params = Params::read(text)?;
        Ok(Roles {
            ecn: Some(EcnMode::Classic),
            ..Params {
                ecn: true,
                ..params
            }
            .roles("red-ecn")
        })
    },
    ..Scheme::PLAIN
};
