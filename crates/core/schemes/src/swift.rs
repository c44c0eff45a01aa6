//! Swift: a window that keeps the delay of each packet at a target, and may be less than a packet.
//!
//! A packet carries the time at which it left, the receiver returns it with its ACK (`echo`), and the sender compares
//! the delay with a target. Below it the window grows by a packet per round trip; above it the window shrinks
//! by the share by which the delay is too long, once per round trip. The target grows with the switches on the way,
//! and as the window becomes small: where many flows share a link, each has a little more patience. A window of less
//! than a packet sends one packet per several round trips.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | `base_target` | `swift.base_target` | 25 us, more on longer paths | §3.5; see below |
//! | h per hop | `swift.hop_target` | the base divided by 6.55 | csg-htsim, swift.cpp |
//! | `fs_range` | `swift.range` | 5 times the base | csg-htsim, swift.cpp |
//! | `fs_min_cwnd`, `fs_max_cwnd` | `swift.scaled_from`, `swift.scaled_to` | 0.1, 100 packets | §3.5; swift.cpp |
//! | ai | `swift.increase` | 1 packet | swift.cpp |
//! | beta | `swift.beta` | 0.8 | swift.cpp |
//! | `max_mdf` | `swift.most_decrease` | 0.5 | swift.cpp |
//! | `min_cwnd` | `swift.min_window` | 0.001 packets | Alg. 1; swift.cpp has 10 bytes |
//! | timeouts in a row | `swift.timeouts` | 4 | Alg. 1 |
//!
//! With `swift.variant = "htsim"` it is the sender of csg-htsim: the target sees the window in whole packets, so that
//! one below a packet has the whole range; the time until a packet of such a window leaves counts from the ACK
//! before and not from the packet before; and a loss that duplicates show halves the window when it is repaired and
//! not when it is found.
//!
//! Deviations: hosts take no time, so there is one window for the fabric and none for hosts (§3.3). Times are in
//! nanoseconds, of which a round trip has at most 4 s. The default of the base is 25 us, but a quarter more than the
//! round trip of a full packet in the empty network where that is longer: a target below the round trip would
//! starve every flow.
//!
//! Open in the paper: the first window (as `tcp.initial_window`), the round trip that spaces cuts and packets (RFC 6298's
//! mean), windows that are not used (they do not grow), idle connections (they keep their windows).
//!
//! Cost: O(1) per ACK; an event per packet at senders with windows of less than a packet.

mod echo;
mod sender;

use base::setting::Settings;
use base::{Count, Factor, Fraction, OrAuto, Span};
use tcp::Gauge;

use crate::registry::{Role, Roles, Scheme};

pub use echo::Receiver;
pub use sender::Sender;

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "swift",
    summary: "Swift: keeps the delay of every packet at a target, with windows down to a thousandth of a packet",
    how: "Every packet carries the time at which it left, and its ACK returns it. While the delay is below \
          a target the window grows by a packet per round trip; above it the window shrinks by the share by which \
          the delay is too long, once per round trip. The target grows with the number of switches on the way and \
          with the inverse root of the window, so that many flows share a link alike. A window of less than a \
          packet sends one packet in several round trips, so that a thousand senders do not fill a buffer. \
          Switches do nothing.",
    reference: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020",
    roles: &[Role::Sender, Role::Receiver],
    keys: Params::KEYS,
    gauges: &[TARGET],
    tcp: &[("tcp.delayed_ack", "1")],
    build: &|text| {
        let params = Params::read(text)?;
        Ok(Roles {
            receiver: Some(Box::new(|_| Receiver::default().into())),
            knows_way: true,
            ..Roles::of_sender(params, Sender::new)
        })
    },
    ..Scheme::PLAIN
};

base::choices! {
    /// Whose Swift it is.
    pub enum Variant {
        /// As the paper describes it.
        Paper = "paper",
        /// As csg-htsim has it.
        Htsim = "htsim",
    }
}

base::settings! {
    /// Parameters of Swift.
    pub struct Params in "swift" {
        /// Whose Swift it is: "paper", or "htsim" as in Broadcom's csg-htsim, where the target sees whole packets of the window, a window of less than a packet waits from the last ACK on, and a loss cuts the window when it is repaired.
        pub variant: Variant = "paper",
        /// Target of the delay without switches and with a large window; "auto" is 25 us, but a quarter more than the round trip of a full packet in the empty network where that is longer.
        pub base_target: OrAuto<Span> = "auto",
        /// What every switch on the way adds to the target; "auto" is swift.base_target divided by 6.55.
        pub hop_target: OrAuto<Span> = "auto",
        /// The most that a small window adds to the target; "auto" is five times swift.base_target.
        pub range: OrAuto<Span> = "auto",
        /// Window in packets from which on the target has all of swift.range (fs_min_cwnd).
        pub scaled_from: Factor = "0.1",
        /// Window in packets from which on the target has nothing of swift.range (fs_max_cwnd).
        pub scaled_to: Factor = "100",
        /// Packets that the window grows by per round trip (ai); by each ACK where it is less than a packet.
        pub increase: Factor = "1",
        /// How strongly the window answers a delay beyond the target (beta).
        pub beta: Fraction = "0.8",
        /// The largest share of the window that one cut takes (max_mdf); losses take as much.
        pub most_decrease: Fraction = "0.5",
        /// Least window, in packets.
        pub min_window: Factor = "0.001",
        /// Timeouts in a row after which the window is swift.min_window.
        pub timeouts: Count = "4",
    }
}

const TARGET: Gauge = Gauge {
    name: "swift_target_us",
    unit: "us",
    help: "Delay that the sender aims at with its present window.",
};

#[cfg(test)]
mod tests;
