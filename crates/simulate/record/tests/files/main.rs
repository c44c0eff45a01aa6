//! The contents of the files that probes write.

mod captures;
mod perfetto;
#[path = "../../../sim/tests/simulations/support.rs"]
#[expect(dead_code, reason = "outcomes without a probe are of no use here")]
mod support;
mod theatre;
mod traces;
