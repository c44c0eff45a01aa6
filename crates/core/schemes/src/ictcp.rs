//! ICTCP: the receiver shares the bandwidth that is left on its link.
//!
//! Incast happens at the last hop, the receiver's own link, so the receiver knows how much of it is
//! free. It measures the link in one part of a slot and lets windows grow in the other, by no more
//! than was free (`interface`). A connection whose throughput is what its window promises may grow; one
//! that stays far below it shrinks (`connection`). Windows change on the scale of each connection's
//! round trip, which the receiver estimates from the windows it advertises (`rtt`). The sender is
//! plain TCP under the smaller of both windows.
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | alpha | `ictcp.alpha` | 0.9 | the paper |
//! | gamma1, gamma2 | `ictcp.gamma1`, `ictcp.gamma2` | 0.1, 0.5 | the paper |
//! | beta | `ictcp.beta` | 0.75 | published ports differ: 0.5 to 0.9 |
//! | least window | `ictcp.min_window` | 2 segments | the paper |
//! | first window | `ictcp.initial_window` | 2 segments | the RCC and RDTCP papers |
//! | round trips before a decrease | `ictcp.patience` | 3 | the paper |
//! | share of C that calls for fairness | `ictcp.fair_below` | 0.2 | the paper |
//! | slow start | `ictcp.slow_start` | doubles | the paper; the RCC simulation adds a segment |
//! | growth in avoidance | `ictcp.growth` | a segment | the paper; the RCC simulation adds MSS²/rwnd |
//! | window at the sender | `ictcp.sender` | NewReno | the paper; the RCC simulation has none |
//! | least round trip | `ictcp.base_rtt` | the least sample | the RCC simulation: 160 us |
//! | longest round trip | `ictcp.max_rtt` | 10 ms | its least retransmission timeout |
//! | least slot | `ictcp.min_slot` | off | the paper: two round trips; on Linux 1 ms |
//!
//! What the RCC paper compares with is `beta = 0.9`, `slow_start = "add"`, `growth = "reno"`,
//! `sender = "rwnd"`, `base_rtt = "160us"`; its units of 10^6 and 2^20 bits make `alpha = 0.944`.
//!
//! Deviations: slots and intervals end with the first arrival after their time, not by a timer: an ACK
//! that could carry a new window leaves only then. Intervals in which nothing came are accounted for
//! with the next arrival. With a least slot the intervals of connections, in which throughput is compared, last half of it
//! at least; what a window promises is still counted by the round trip.
//!
//! Open in the paper: what a host does before it knows a round trip (no window changes), what long
//! idle means (silence in which the window fell to its minimum), how the round trip is smoothed (gain
//! 1/8), whether headers count (towards the link's load they do, towards a connection's they do not).
//!
//! Cost: O(1) per packet; O(connections) per slot, whose length is at least a round trip.

mod connection;
mod interface;
mod rtt;

pub use interface::Interface;

use std::sync::Arc;

use base::setting::Settings;
use base::{Count, Fraction, OrAuto, OrOff, Span};
use tcp::Orders;

use crate::registry::linux::{Decider, Instead, KernelLaw, Linux, Needs, Runs, Site};
use crate::registry::{Helper, HostInfo, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "ictcp",
    summary: "Incast congestion control for TCP: the receiver shares out what its link has left",
    how: "The receiver measures how much of its own link is free, in one part of a slot of time. In the \
          other part it lets the windows of its connections grow, by no more than was free. A connection \
          whose throughput is what its window promises may grow; one whose throughput stays far below it \
          shrinks. The receiver advertises these windows, and the sender is plain TCP under the smaller of \
          both windows. Windows change once per two round trips at most, so that the first burst of an \
          incast comes before any control.",
    reference: "Wu, Feng, Guo, Zhang, CoNEXT 2010; IEEE/ACM ToN 2013",
    roles: &[Role::Helper, Role::Receiver],
    keys: Params::KEYS,
    gauges: interface::GAUGES,
    linux: Linux {
        law: Some(&BESIDE_KERNEL),
        ..Linux::NOTHING
    },
    build: &|text| {
        let params = Params::read(text)?;
        let initial_window = Some(params.initial_window.0);
        Ok(Roles {
            helper: match params.sender {
                Window::NewReno => None,
                Window::Rwnd => Some(Helper {
                    tells_size: false,
                    orders: Orders::Ignored,
                    is_unlimited: true,
                }),
            },
            receiver: Some(Box::new(move |host| Interface::new(&params, host).into())),
            initial_window,
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

/// ICTCP at a receiver of a Linux machine, whose windows user space decides.
const BESIDE_KERNEL: KernelLaw = KernelLaw {
    name: "ictcp",
    summary: "At a receiver: user space shares out the unused rate of the link",
    site: Site::Receiver,
    keys: &[
        "ictcp.alpha",
        "ictcp.gamma1",
        "ictcp.gamma2",
        "ictcp.beta",
        "ictcp.min_window",
        "ictcp.initial_window",
        "ictcp.patience",
        "ictcp.fair_below",
        "ictcp.slow_start",
        "ictcp.growth",
        "ictcp.base_rtt",
        "ictcp.max_rtt",
        MIN_SLOT,
    ],
    needs: Needs::RingBuffer,
    runs: Runs::UserSpace(|text| {
        let params = Params::read(text)?;
        Ok(Decider {
            slot: params.min_slot.0.unwrap_or(Span::ZERO),
            first_window: params.initial_window.0,
            receiver: Arc::new(move |host| Interface::new(&params, host).into()),
        })
    }),
    instead: |text| {
        let params = Params::read(text).map_err(|error| error.error.to_string())?;
        let slot = params
            .min_slot
            .0
            .unwrap_or(Span::ZERO)
            .max(LEAST_SLOT)
            .to_string();
        let why = format!("{slot}, as windows are decided beside the kernel; the twin has it, too");
        Ok(vec![Instead {
            key: MIN_SLOT,
            text: slot,
            why,
        }])
    },
    ..KernelLaw::PLAIN
};

const MIN_SLOT: &str = "ictcp.min_slot";
/// The interval at which user space reads the counters and decides windows.
const LEAST_SLOT: Span = Span::from_millis(1);

base::choices! {
    /// How windows grow in slow start.
    pub enum SlowStartGrowth {
        /// Double, as far as the quota goes.
        Double = "double",
        /// Grow by a segment, in avoidance too whenever the quota covers one: the RCC simulation.
        Add = "add",
    }
}

base::choices! {
    /// How much windows grow in avoidance.
    pub enum AvoidanceGrowth {
        /// A segment.
        Mss = "mss",
        /// MSS * MSS / rwnd: the RCC simulation.
        Reno = "reno",
    }
}

base::choices! {
    /// Which window the sender has beside the advertised one.
    pub enum Window {
        /// NewReno's, or that of the scheme it is composed with.
        NewReno = "newreno",
        /// None, unless it is composed with another scheme.
        Rwnd = "rwnd",
    }
}

base::settings! {
    /// Parameters of ICTCP.
    pub struct Params in "ictcp" {
        /// Share of the link that windows may fill (alpha).
        pub alpha: Fraction = "0.9",
        /// Windows grow if throughput misses what the window promises by at most this share (gamma1).
        pub gamma1: Fraction = "0.1",
        /// Windows shrink if throughput misses what the window promises by more than this share (gamma2).
        pub gamma2: Fraction = "0.5",
        /// Weight of the past in the measured throughput of a connection (beta).
        pub beta: Fraction = "0.75",
        /// Least window, in segments.
        pub min_window: Count = "2",
        /// First window, in segments, at the receiver and at the sender.
        pub initial_window: Count = "2",
        /// Round trips in a row whose throughput is too low before a window shrinks.
        pub patience: Count = "3",
        /// Windows above the mean shrink while less than this share of the link is available.
        pub fair_below: Fraction = "0.2",
        /// Growth in slow start: double the window, or add a segment as in the RCC simulation.
        pub slow_start: SlowStartGrowth = "double",
        /// Growth in avoidance: a segment (mss), or MSS * MSS / rwnd as in the RCC simulation (reno).
        pub growth: AvoidanceGrowth = "mss",
        /// Window at the sender beside the advertised one: that of newreno, or none (rwnd).
        pub sender: Window = "newreno",
        /// Least round trip that is believed; auto: the least sample of the host.
        pub base_rtt: OrAuto<Span> = "auto",
        /// Longest round trip that is believed: a longer one is a timeout of the sender.
        pub max_rtt: Span = "10ms",
        /// Least length of a slot, in which windows change once: for receivers that decide in intervals of their own; off:
        /// two round trips.
        pub min_slot: OrOff<Span> = "off",
    }
}

impl Params {
    /// The law of a receiving host.
    pub fn law(&self, host: &HostInfo) -> Interface {
        Interface::new(self, host)
    }

    /// The least length of a part of a slot.
    fn least_part(&self) -> Span {
        self.min_slot.0.map_or(Span::ZERO, |slot| slot / 2)
    }
}
