//! Real TCP stacks behind the simulated switch.
//!
//! A checked point of a scenario becomes a [`Bed`]: what each of its settings is in Linux. Hosts and
//! switches are network namespaces, a switch port is a token bucket in front of a virtual link, and the
//! flows are those that the simulator plans. A setting that Linux cannot have is refused with a remedy,
//! or reported as different.
//!
//! ```
//! use live::Bed;
//! use scenario::Scenario;
//!
//! let scenario = Scenario::builtin("incast");
//! let bed = Bed::of(&scenario.points()[0]).expect("a star is a shape that Linux can have");
//! assert_eq!(bed.topology.hosts().len(), 11);
//! assert_eq!(bed.route.advertised_mss, 1448 + 12);
//! ```

pub mod bed;
#[cfg(target_os = "linux")]
mod linux;

pub use bed::Bed;
#[cfg(target_os = "linux")]
pub use linux::*;
