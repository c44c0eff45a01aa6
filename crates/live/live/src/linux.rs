//! What needs Linux: everything but the description of a bed.

mod alone;
mod along;
mod calibrate;
mod capture;
mod cell;
mod counters;
#[cfg(feature = "kernel")]
pub mod deploy;
mod doctor;
pub mod emulate;
mod error;
mod lan;
mod lines;
mod losses;
mod measure;
mod network;
mod order;
mod paths;
mod ports;
mod simulations;
mod stack;
mod starts;
mod traffic;
pub mod transfers;
mod twin;
mod validity;

pub use calibrate::RateChoice;
pub use doctor::doctor;
