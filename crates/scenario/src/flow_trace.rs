//! Flows one by one, as somebody observed them or another run had them: `workload.kind = "trace"`.
//!
//! A trace is a table with a row for each flow, as CSV or Parquet:
//!
//! | column | what it holds |
//! |---|---|
//! | `start_us` | start on the clock of the simulation, in microseconds with up to six decimals |
//! | `size_bytes` | payload |
//! | `sender`, `receiver` | numbers of hosts |
//! | `open_us` | optional: when the connection of the flow opens, if not with its first flow |
//! | `connection` | optional: flows with the same number share a connection |
//! | `group` | optional: the group of flows, by name |
//!
//! Other columns are passed over. Six decimals of a microsecond are picoseconds, the resolution of the simulator's
//! clock, so that a trace gives back exactly the flows that it was written from.

use std::sync::{Arc, OnceLock};

use base::{Quantity, QuantityError};
use tables::flows;
pub use tables::flows::{FlowTrace, TracedFlow};

use crate::suggest;
pub(crate) use flows::is_path;

/// A trace that comes with the program.
#[derive(Debug)]
pub struct BuiltinTrace {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it holds.
    pub help: &'static str,
    text: &'static str,
}

/// The traces that come with the program.
pub const BUILTINS: &[BuiltinTrace] = &[BuiltinTrace {
    name: "rack",
    help: "300 flows of 21 hosts in 0.1 s: five reads from 20 servers each, in the group reads, beside 200 flows in the group others.",
    text: include_str!("../workloads/rack-trace.csv"),
}];

/// The value of `workload.trace`: the name of a trace that comes with the program, or the path of a file.
#[derive(Clone, Debug)]
pub struct TraceChoice(pub Arc<FlowTrace>);

impl BuiltinTrace {
    /// The trace.
    ///
    /// # Panics
    /// If its text is not correct; a test reads every one.
    pub fn trace(&self) -> Arc<FlowTrace> {
        static RACK: OnceLock<Arc<FlowTrace>> = OnceLock::new();
        let read = || {
            Arc::new(FlowTrace::of_csv(self.name, self.text.as_bytes()).expect("a correct trace"))
        };
        Arc::clone(RACK.get_or_init(read))
    }
}

impl Quantity for TraceChoice {
    fn expected() -> String {
        let names: Vec<_> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        format!(
            "the name of a trace ({}), or the path of a file that ends in .csv or .parquet",
            names.join(", ")
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == text) {
            return Ok(Self(builtin.trace()));
        }
        if is_path(text) {
            let trace = FlowTrace::open(text).map_err(|message| QuantityError { message })?;
            return Ok(Self(trace));
        }
        let names = BUILTINS.iter().map(|builtin| builtin.name);
        let nearest = suggest::did_you_mean(text, names);
        Err(QuantityError {
            message: format!(
                "there is no trace {text:?}; {nearest}expected {}",
                Self::expected()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_the_program_are_correct() {
        for builtin in BUILTINS {
            let trace = builtin.trace();
            assert!(trace.flows().len() > 100);
            assert!(builtin.help.starts_with(&trace.flows().len().to_string()));
        }
    }
}
