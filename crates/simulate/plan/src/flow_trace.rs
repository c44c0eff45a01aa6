//! Flows given one by one, from an observation or from another run: `workload.kind = "trace"`.
//!
//! A trace is a table with a row for each flow, as CSV or Parquet:
//!
//! | column | what it holds |
//! |---|---|
//! | `start_us` | start on the clock of the simulation, in microseconds: a number of any form, or a date |
//! | `size_bytes` | payload |
//! | `sender`, `receiver` | numbers of hosts, or addresses or other names |
//! | `open_us` | optional: when the connection of the flow opens, if not with its first flow |
//! | `request_bytes` | optional: payload of the request for the flow: the receiver opens the connection and asks |
//! | `connection` | optional: flows with the same number share a connection |
//! | `group` | optional: the group of flows, by name |
//! | `round` | optional: flows with the same number are awaited together |
//! | `id` | optional: a name of the flow, by which others wait for it |
//! | `after` | optional: ids of flows, joined by `+`; the flow starts when all are done, and `start_us` is empty. `3@12.5` is 12.5 us after flow 3, and `2 of 3+4+5` when two of three are done |
//! | `delay_us` | optional: time from the end of the flows in `after` to the start |
//!
//! A flow is done when its last byte is in order at the receiver, or when its connection has failed.
//!
//! Other columns are ignored; `workload.columns` may name other columns and units. Times in microseconds with six
//! decimals are exact to the picosecond, the resolution of the simulator's clock. So a trace that a run has written
//! gives back exactly the run's flows.

use std::sync::{Arc, OnceLock};

use base::{Quantity, QuantityError};
use tables::flows;
pub use tables::flows::{
    ColumnNames, FlowTrace, HostNames, TraceFileSettings, TraceWindow, TracedFlow,
};

use crate::suggest;
use flows::is_path;

/// A trace that comes with the program.
#[derive(Debug)]
pub struct BuiltinTrace {
    /// Its name in scenarios.
    pub name: &'static str,
    /// Its content.
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
///
/// A file is read after all settings are known, because other settings say how to read it and the value may still be
/// replaced.
#[derive(Clone, Debug)]
pub struct TraceChoice {
    source: TraceSource,
    content: Option<Arc<FlowTrace>>,
}

#[derive(Clone, Debug)]
enum TraceSource {
    Builtin(&'static BuiltinTrace),
    File(String),
}

impl TraceChoice {
    /// A trace that needs no file.
    pub fn known(trace: Arc<FlowTrace>) -> Self {
        Self {
            source: TraceSource::File(String::new()),
            content: Some(trace),
        }
    }

    /// Its flows.
    ///
    /// # Panics
    /// If `workload.kind` is a kind without a trace.
    pub fn content(&self) -> &FlowTrace {
        self.content
            .as_ref()
            .expect("the settings of a trace have read it")
    }

    /// Reads the trace with the settings in `reading`.
    pub(crate) fn read(&mut self, reading: &TraceFileSettings) -> Result<(), String> {
        self.content = Some(match &self.source {
            TraceSource::File(path) => FlowTrace::open(path, reading)?,
            TraceSource::Builtin(builtin) => builtin.read(reading)?,
        });
        Ok(())
    }
}

impl BuiltinTrace {
    /// The trace.
    ///
    /// # Panics
    /// If its text is not correct; a test reads every one.
    pub fn trace(&self) -> Arc<FlowTrace> {
        static RACK: OnceLock<Arc<FlowTrace>> = OnceLock::new();
        let read = || {
            Arc::new(
                self.of(&TraceFileSettings::default())
                    .expect("a correct trace"),
            )
        };
        Arc::clone(RACK.get_or_init(read))
    }

    /// The trace as read with `reading`. Without further settings all callers share one copy.
    fn read(&self, reading: &TraceFileSettings) -> Result<Arc<FlowTrace>, String> {
        if reading.window == TraceWindow::default() && reading.max_gap.is_none() {
            return Ok(self.trace());
        }
        let usual = TraceFileSettings {
            columns: ColumnNames::default(),
            hosts: HostNames::default(),
            ..reading.clone()
        };
        self.of(&usual).map(Arc::new)
    }

    fn of(&self, reading: &TraceFileSettings) -> Result<FlowTrace, String> {
        FlowTrace::of_plain(self.text, reading).map_err(|cause| format!("{}: {cause}", self.name))
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
            return Ok(Self {
                source: TraceSource::Builtin(builtin),
                content: None,
            });
        }
        if is_path(text) {
            return Ok(Self {
                source: TraceSource::File(text.to_owned()),
                content: None,
            });
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

    fn is_path() -> Option<fn(&str) -> bool> {
        Some(is_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_of_the_program_is_the_one_that_a_file_of_its_text_has() {
        for builtin in BUILTINS {
            let bytes = builtin.text.as_bytes();
            let of_file = FlowTrace::of_csv(builtin.name, bytes, &TraceFileSettings::default());
            let of_file = of_file.expect("a correct file");
            let own = builtin.trace();
            assert_eq!(own.flows(), of_file.flows());
            assert_eq!(own.groups(), of_file.groups());
        }
    }
}
