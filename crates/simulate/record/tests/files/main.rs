//! What is in the files that probes write.

mod captures;
#[path = "../../../sim/tests/simulations/support.rs"]
#[expect(dead_code, reason = "outcomes without a probe are of no use here")]
mod support;
mod traces;
