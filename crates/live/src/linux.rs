//! What needs Linux: everything but the description of a bed.

mod calibrate;
mod capture;
mod cell;
mod clock;
mod counters;
#[cfg(feature = "kernel")]
pub mod deploy;
mod doctor;
pub mod emulate;
mod exec;
pub mod interrupt;
mod lan;
mod measure;
mod namespace;
mod netlink;
mod paths;
mod payload;
mod ports;
mod priority;
mod privilege;
mod record;
mod stack;
mod starts;
mod traffic;
pub mod tun;
mod twin;
mod validity;

pub use calibrate::RateChoice;
pub use doctor::doctor;
pub use exec::exec;
#[cfg(feature = "kernel")]
pub use privilege::drop_all;
pub use privilege::{lacks, lacks_for_programs};
pub use record::down;
