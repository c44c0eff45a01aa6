//! Papers as files: mistakes in them, and claims of every kind judged on small real runs.

mod bench;
mod common;
mod files;
mod flows;
mod judging;
mod measures;
#[path = "../../../../simulate/sim/tests/simulations/support.rs"]
mod support;
mod work;
