//! Flows one by one, as somebody observed them or another run had them: `workload.kind = "trace"`.
//!
//! A trace is a table with a row for each flow, as CSV or Parquet:
//!
//! | column | what it holds |
//! |---|---|
//! | `start_us` | start on the clock of the simulation, in microseconds with up to six decimals |
//! | `size_bytes` | payload |
//! | `sender`, `receiver` | numbers of hosts |
//! | `connection` | optional: flows with the same number share a connection |
//! | `group` | optional: the group of flows, by name |
//!
//! Other columns are passed over. Six decimals of a microsecond are picoseconds, the resolution of the simulator's
//! clock, so that a trace gives back exactly the flows that it was written from.

mod file;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use base::{HostId, Quantity, QuantityError, Span, Time};

use crate::suggest;
pub(crate) use file::is_path;

/// The flows of a trace, in the order of its rows.
#[derive(Debug)]
pub struct FlowTrace {
    /// At least one.
    flows: Vec<TracedFlow>,
    /// Names that `TracedFlow::group` counts.
    groups: Vec<String>,
    /// Of a trace from a file: what tells its contents from others.
    fingerprint: Option<u64>,
}

/// A row of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedFlow {
    /// When it starts.
    pub start: Time,
    /// Payload in bytes, at least one.
    pub size: u64,
    /// The host that sends.
    pub sender: HostId,
    /// The host that receives: another one.
    pub receiver: HostId,
    /// Its connection, if the trace tells.
    pub connection: Option<u64>,
    /// The place of its group among the names of groups, if the trace tells.
    group: Option<u32>,
}

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

impl FlowTrace {
    /// The flows of the group of this name: all if the scenario has no groups, or the trace tells none.
    pub fn of<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a TracedFlow> {
        let own = move |flow: &&TracedFlow| match flow.group {
            Some(place) if !group.is_empty() => self.groups[place as usize] == group,
            _ => true,
        };
        self.flows.iter().filter(own)
    }

    /// All flows.
    pub fn flows(&self) -> &[TracedFlow] {
        &self.flows
    }

    /// The names of its groups, if it tells them.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The largest number of a host.
    pub(crate) fn last_host(&self) -> u32 {
        let hosts = self
            .flows
            .iter()
            .flat_map(|flow| [flow.sender, flow.receiver]);
        hosts.map(|host| host.0).max().unwrap_or(0)
    }

    /// How long after the beginning of time the first and the last flow start.
    pub(crate) fn span(&self) -> (Span, Span) {
        let starts = || {
            self.flows
                .iter()
                .map(|flow| Span::from_ps(flow.start.as_ps()))
        };
        let ends = (starts().min(), starts().max());
        (ends.0.unwrap_or(Span::ZERO), ends.1.unwrap_or(Span::ZERO))
    }

    /// The mean payload in bytes.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn mean_size(&self) -> f64 {
        let sum: f64 = self.flows.iter().map(|flow| flow.size as f64).sum();
        sum / self.flows.len() as f64
    }

    /// How many hosts receive.
    pub(crate) fn receivers(&self) -> usize {
        let receivers: BTreeSet<u32> = self.flows.iter().map(|flow| flow.receiver.0).collect();
        receivers.len()
    }

    /// What tells its contents from those of other files; `None` if it comes with the program.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }
}

impl BuiltinTrace {
    /// The trace.
    ///
    /// # Panics
    /// If its text is not correct; a test reads every one.
    pub fn trace(&self) -> Arc<FlowTrace> {
        static RACK: OnceLock<Arc<FlowTrace>> = OnceLock::new();
        let read =
            || Arc::new(file::of_csv(self.name, self.text.as_bytes()).expect("a correct trace"));
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
            let trace = file::open(text).map_err(|message| QuantityError { message })?;
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
mod tests;
