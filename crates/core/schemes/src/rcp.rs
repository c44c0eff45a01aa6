//! RCP: every link keeps one rate for all its flows, and senders pace at it from their first data on.
//!
//! A packet asks for any rate, each router on its way lowers that to its own (`router`), the receiver
//! returns the result (`receiver`), and the sender sends its segments one by one at that rate
//! (`sender`). A SYN asks and its SYN-ACK answers, so the first data is already paced: there is no slow
//! start, and no growth at all. Now and then a router compares what arrives with what its link carries
//! and with what waits, and changes its rate in proportion. How many flows there are it never knows.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | alpha, beta | `rcp.alpha`, `rcp.beta` | 0.4, 0.4 | RC3's simulation; ns-2 patch |
//! | gamma, share of the link to fill | `rcp.gamma` | 1 | RC3's simulation; ns-2 patch |
//! | R(0), share of the link | `rcp.initial_rate` | 0.05 | RC3's simulation; ns-2 patch |
//! | T = min(d, this) | `rcp.max_interval` | 10 ms | RC3's simulation; ns-2 patch |
//! | d(0), mean round trip | `rcp.initial_rtt` | 200 ms | RC3's simulation; ns-2 patch |
//! | least R | `rcp.min_rate` | 16,000 bytes/s | RC3's simulation |
//! | gain of d on shorter round trips | `rcp.averaging` | (R/C) (sample/d) (T/d) | RC3's simulation; ns-2 patch |
//! | which data asks | `rcp.request` | all | RC3's simulation |
//! | rate without an answer | none | that of the host's link | RC3's simulation |
//!
//! The original is the ns-2 patch of RCP's authors, and RC3's simulation (ns-3) is a port of it; the
//! RC3 paper compares with the latter. The original's settings are `min_rate = "auto"` and
//! `request = "round-trip"`.
//!
//! Deviations: RC3's simulation begins at 6.25 MB/s on every link, which is a twentieth of 1 Gbit/s; here
//! it is that share of each link. A sender's round trip is that of one segment in each (RFC 6298 §3),
//! in the simulation that of every packet by a timestamp. A sender that had to wait for its window
//! waits for its interval, too. The window also bounds retransmissions. Hosts' own ports are no routers
//! unless `host.queue = "switch"`. A packet that is dropped counts as input, as in ns-2; in RC3's
//! simulation it does not. No timer runs for less than 1 us. Numbers in the header have 24 significant
//! bits.
//!
//! Open in the papers: small flows are slower than under TCP, which follows from pacing all segments but the
//! first; a router's rate stays as it is when many flows begin at once, so what they send in a round trip
//! overloads the link until it has been lowered; packets without a round trip (SYN, ACK) count as input and
//! say nothing about the mean round trip; the queue is that at the end of an interval; losses
//! change no rate.
//!
//! Cost: O(1) per packet and router; a timer event per segment at senders.

mod header;
mod receiver;
mod router;
mod sender;

use base::setting::Settings;
use base::{Fraction, OrAuto, Rate, Span};
use tcp::Gauge;

use crate::registry::{Role, Roles, Scheme};

pub use receiver::Receiver;
pub use router::Router;
pub use sender::Sender;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "rcp",
    summary: "Rate control protocol: each link has one rate for all flows, at which senders pace",
    how: "Every link keeps one rate for all flows through it. A SYN asks for any rate, each router on its \
          way lowers the request to its own, and the answer comes back with the SYN-ACK. The sender paces \
          its segments at this rate from its first data on: there is no slow start. Now and then a router \
          compares what arrives with what the link carries and what waits, and changes its rate in \
          proportion. It does not count flows: if many begin at once, each gets too much.",
    reference: "Dukkipati, PhD thesis, Stanford 2007; Dukkipati et al., IWQoS 2005",
    roles: &[Role::Sender, Role::Receiver, Role::Switch],
    keys: Params::KEYS,
    gauges: &[RATE],
    build: &|text| {
        let params = Params::read(text)?;
        let request = params.request;
        Ok(Roles {
            sender: Some(Box::new(move |flow| {
                Sender::new(&flow.config, request).into()
            })),
            receiver: Some(Box::new(|_| Receiver::default().into())),
            timers: vec![router::timer(&params)],
            hook: Some(Box::new(move |port| Box::new(Router::new(&params, port)))),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

base::choices! {
    /// How a router averages round trips.
    pub enum Averaging {
        /// Slowly towards shorter ones, the more so the lower the rate and the shorter the round trip.
        Cautious = "cautious",
        /// By the share that the interval is of the mean, towards shorter and longer ones alike.
        Even = "even",
    }
}

base::choices! {
    /// Which packets ask for a rate beside SYNs.
    pub enum RateRequest {
        /// Every packet with data.
        Packet = "packet",
        /// One packet with data per round trip.
        RoundTrip = "round-trip",
    }
}

base::settings! {
    /// Parameters of RCP.
    pub struct Params in "rcp" {
        /// Share of the spare bandwidth given out per mean round trip (alpha).
        pub alpha: Fraction = "0.4",
        /// Share of the queue drained per mean round trip (beta).
        pub beta: Fraction = "0.4",
        /// Share of a link that routers mean to fill (gamma).
        pub gamma: Fraction = "1",
        /// Rate of a router at the beginning, as a share of its link.
        pub initial_rate: Fraction = "0.05",
        /// Longest time between two decisions of a router, which otherwise come once per mean round trip.
        pub max_interval: Span = "10ms",
        /// Mean round trip of a router before it has seen any.
        pub initial_rtt: Span = "200ms",
        /// Least rate of a router; "auto" is that of the ns-2 patch, a hundredth of a packet of 1000 bytes per mean round trip.
        pub min_rate: OrAuto<Rate> = "128Kbps",
        /// How routers average round trips: "cautious" towards shorter ones, or "even".
        pub averaging: Averaging = "cautious",
        /// Which packets ask for a rate beside SYNs: each "packet" with data, or one per "round-trip".
        pub request: RateRequest = "packet",
    }
}

const RATE: Gauge = Gauge {
    name: "rcp_rate_bps",
    unit: "bit/s",
    help: "Rate that the port of the switch grants every flow.",
};
