//! What the papers compute without a simulation.
pub mod dde;
pub mod rcc;
