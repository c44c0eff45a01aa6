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
//! assert_eq!(bed.route.advertised_mss, 1446 + 12);
//! ```

pub mod bed;
#[cfg(target_os = "linux")]
mod calibrate;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod cell;
#[cfg(target_os = "linux")]
mod clock;
#[cfg(target_os = "linux")]
mod counters;
#[cfg(all(target_os = "linux", feature = "kernel"))]
pub mod deploy;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
pub mod emulate;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
pub mod interrupt;
#[cfg(target_os = "linux")]
mod lan;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod namespace;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
mod paths;
#[cfg(target_os = "linux")]
mod payload;
#[cfg(target_os = "linux")]
mod ports;
#[cfg(target_os = "linux")]
mod privilege;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod stack;
#[cfg(target_os = "linux")]
mod traffic;
#[cfg(target_os = "linux")]
mod twin;
#[cfg(target_os = "linux")]
mod validity;

pub use bed::Bed;
#[cfg(target_os = "linux")]
pub use calibrate::RateChoice;
#[cfg(target_os = "linux")]
pub use doctor::doctor;
#[cfg(target_os = "linux")]
pub use exec::exec;
#[cfg(all(target_os = "linux", feature = "kernel"))]
pub use privilege::drop_all;
#[cfg(target_os = "linux")]
pub use privilege::{lacks, lacks_for_programs};
#[cfg(target_os = "linux")]
pub use record::down;
