//! Real TCP stacks behind the simulated switch.
//!
//! A checked point of a scenario becomes a [`Testbed`], which has the Linux counterpart of each setting. Hosts and
//! switches are network namespaces, a switch port is a token bucket in front of a virtual link, and the flows are those
//! that the simulator plans. A setting without a counterpart is refused with a remedy, or reported as different.
//! [`emulate`] runs a scenario there and in the simulator; [`transfers`] runs our TCP against the kernel's instead.
//! Namespaces exist on Linux only: on other systems the crate is empty.
//!
//! ```
//! use bed::Testbed;
//! use scenario::Scenario;
//!
//! let scenario = Scenario::builtin("incast");
//! let bed = Testbed::of(&scenario.points()[0]).expect("a star is a shape that Linux can have");
//! assert_eq!(bed.topology.hosts().len(), 11);
//! assert_eq!(bed.route.advertised_mss, 1448 + 12);
//! ```

#![cfg(target_os = "linux")]

mod calibrate;
mod capture;
mod cell;
mod counters;
pub mod emulate;
mod error;
mod ideal_fct;
mod lan;
mod lateness;
mod lines;
mod losses;
mod measure;
mod network;
mod order;
mod paths;
mod ports;
mod report;
mod series;
mod simulations;
mod stack;
mod starts;
pub mod testbed;
mod traffic;
pub mod transfers;
mod twin;
mod validity;

pub use calibrate::RateChoice;
pub use testbed::Testbed;
