//! XCP: routers tell every sender by how much to change its rate.
//!
//! A data packet carries its sender's round trip and window, and asks for throughput. Each router on its way
//! knows its spare bandwidth and its standing queue, turns them into an amount by which all traffic is
//! to change, and shares it out packet by packet as they leave: increases alike for all flows, decreases
//! in proportion to rate (`router`). The receiver returns what is left of the request (`receiver`), and the
//! sender changes its window by it (`sender`): no slow start, no additive increase.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | alpha | `xcp.alpha` | 0.4 | XCP §3.5.1 |
//! | beta | `xcp.beta` | 0.226 | XCP §3.5.1 |
//! | gamma, shuffled share | `xcp.gamma` | 0.1 | XCP §3.5.2 |
//! | least control interval | `xcp.min_interval` | 1 ms | ns-2.35; the paper has none |
//! | least queue interval | `xcp.min_queue_interval` | 2 ms | ns-2.35; the paper has none |
//! | first interval | `xcp.initial_interval` | 50 ms | ns-2.35 |
//! | longest round trip | `xcp.max_rtt` | 1 s | ns-2.35 |
//! | spacing where no packet told one | `xcp.unknown_spacing` | 1 s | ns-2.35; the paper has none |
//! | window told to routers | `xcp.told_window` | real | open in the paper; ns-2.35 has `whole` |
//! | first window | none | 1 segment | ns-2 |
//!
//! The intervals are part of what the RWNDQ paper compares with: at a round trip of 100 us ns-2's routers
//! decide once in ten. `min_interval = "0s"` and `min_queue_interval = "0s"` make it the paper's.
//!
//! All these times are absolute, so results keep their shape at another rate only if they are divided
//! with all other times: then XCP is exactly free of scale, like every other scheme. In deep overload
//! the last one matters: where no packet of an interval told a round trip, the next one that does is
//! given as much of the increase as its spacing is of a second, so at ten times the rate, where spacings
//! are a tenth, a tenth of that share. With 60 senders and a queue of 40 packets the mean completion time at 10 Gbps is 0.63 of
//! what that at 1 Gbps predicts, where a start that is random within 10 us moves it by 5 %
//! (`crates/simulate/sim/tests/simulations/switch_schemes.rs`).
//!
//! Deviations: the first timers run for exactly their interval (ns-2 draws it); the clock of the round
//! trip is exact (ns-2's ticks of 10 ms would hide 100 us, so its users set 1 us); no timer is shorter
//! than 1 us; the
//! numbers in the header have 16 significant bits. A granted increase is never below zero, also where an
//! earlier router took more than this one may. As in ns-2, windows count payload where routers count
//! packets on the wire, so feedback is answered more strongly by the share of headers (2.7 % at 1500
//! bytes).
//!
//! Open in the paper: losses and marks (answered as Reno does), the largest window (the receive buffer
//! the sender has itself), and traffic that carries no header: it counts as input and is left alone.
//!
//! Cost: O(1) per packet and router.

mod header;
mod receiver;
mod router;
mod sender;

use base::setting::Settings;
use base::{Fraction, Span};

use crate::registry::{Role, Roles, Scheme};

pub use receiver::Receiver;
pub use router::Router;
pub use sender::{Sender, Told};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "xcp",
    summary: "Explicit control protocol: routers tell senders by how much to change their windows",
    how: "A data packet carries the round trip and the window of its sender, and asks for more throughput. \
          Each router on its way knows its spare bandwidth and its standing queue. From these it computes \
          by how much all traffic is to change, and gives each packet its part: increases alike for all \
          flows, decreases in proportion to the rate. The receiver returns what is left of the request, \
          and the sender changes its window by it. There is no slow start, and no loss is needed to find \
          the rate.",
    reference: "Katabi, Handley, Rohrs, SIGCOMM 2002; draft-falk-xcp-spec",
    roles: &[Role::Sender, Role::Receiver, Role::Switch],
    keys: Params::KEYS,
    build: &|text| {
        let params = Params::read(text)?;
        let told = params.told_window;
        Ok(Roles {
            timers: router::timers(&params).to_vec(),
            sender: Some(Box::new(move |flow| Sender::new(&flow.config, told).into())),
            receiver: Some(Box::new(|_| Receiver::default().into())),
            hook: Some(Box::new(move |port| Box::new(Router::new(&params, port)))),
            initial_window: Some(1),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

base::settings! {
    /// Parameters of XCP's routers, and of the requests of senders.
    pub struct Params in "xcp" {
        /// Share of the spare bandwidth given out per control interval (alpha).
        pub alpha: Fraction = "0.4",
        /// Share of the standing queue drained per control interval (beta).
        pub beta: Fraction = "0.226",
        /// Share of the traffic taken from some and given to others where nothing else moves (gamma).
        pub gamma: Fraction = "0.1",
        /// Least time between two decisions, which otherwise come once per mean round trip.
        pub min_interval: Span = "1ms",
        /// Least time over which the standing queue is the shortest one seen.
        pub min_queue_interval: Span = "2ms",
        /// Time to the first decision, and between decisions while no packet tells a round trip.
        pub initial_interval: Span = "50ms",
        /// A longer round trip counts as this.
        pub max_rtt: Span = "1s",
        /// What a decision takes for the sum of round trip over window of all packets where no packet told one.
        pub unknown_spacing: Span = "1s",
        /// The window that senders tell routers: "real" or its "whole" packets, as ns-2 does.
        pub told_window: Told = "real",
    }
}
