//! Flows one by one, as somebody observed them or a run had them.
//!
//! A trace is a table with a row for each flow, as CSV or Parquet:
//!
//! | column | what it holds |
//! |---|---|
//! | `start_us` | start on the clock of the simulation, in microseconds: a number of any form, or a date |
//! | `size_bytes` | payload |
//! | `sender`, `receiver` | numbers of hosts, or addresses or other names |
//! | `open_us` | optional: when the connection of the flow opens, if not with its first flow |
//! | `connection` | optional: flows with the same number share a connection |
//! | `group` | optional: the group of flows, by name |
//! | `round` | optional: flows with the same number are awaited together |
//!
//! Other columns are passed over, and a [`Reading`] may name other columns and units. Six decimals of a microsecond are picoseconds, the resolution of the simulator's
//! clock, so that a trace gives back exactly the flows that it was written from.

mod clock;
mod file;
mod moment;
mod names;
mod number;
mod reading;
mod rows;

use std::collections::BTreeSet;
use std::sync::Arc;

use base::cast::real;
use base::{HostId, Span, Time};

/// Numbers and times as files have them, without rounding on the way.
pub mod exact {
    pub use super::moment::{SECOND, date, lasting, written};
    pub use super::number::Decimal;
}

pub use file::is_path;
pub use reading::{ColumnNames, HostNames, Reading, TraceWindow};

/// The flows of a trace, in the order of its rows.
#[derive(Debug)]
pub struct FlowTrace {
    /// At least one.
    flows: Vec<TracedFlow>,
    /// Names that `TracedFlow::group` counts.
    groups: Vec<String>,
    /// The names of hosts by their numbers, if the file has names.
    hosts: Vec<(u32, String)>,
    /// What was done to the file's times and hosts, a sentence each.
    notes: Vec<String>,
    /// Of a trace from a file: what tells its contents from others.
    fingerprint: Option<u64>,
}

/// A row of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedFlow {
    /// When it starts.
    pub start: Time,
    /// When its connection opens, if the trace tells: not after the start.
    pub open: Option<Time>,
    /// Payload in bytes, at least one.
    pub size: u64,
    /// The host that sends.
    pub sender: HostId,
    /// The host that receives: another one.
    pub receiver: HostId,
    /// Its connection, if the trace tells.
    pub connection: Option<u64>,
    /// The number of its round, if the trace tells: those of the file in the order of their first appearance, from 0.
    pub round: Option<u32>,
    /// The place of its group among the names of groups, if the trace tells.
    group: Option<u32>,
}

impl FlowTrace {
    /// The trace in the file at `path`. A sweep asks for the same file many times: while its contents are the same,
    /// so is the trace.
    ///
    /// # Errors
    /// If the file cannot be read or a row is no flow: which file and line, and how.
    pub fn open(path: &str, reading: &Reading) -> Result<Arc<Self>, String> {
        file::open(path, reading)
    }

    /// The trace that `bytes`, of a file with this name, hold as CSV.
    ///
    /// # Errors
    /// If a line is no flow: which line, and how.
    pub fn of_csv(name: &str, bytes: &[u8], reading: &Reading) -> Result<Self, String> {
        file::of_csv(name, bytes, reading)
    }

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

    /// The names of its hosts with their numbers, if the file has names.
    pub fn hosts(&self) -> &[(u32, String)] {
        &self.hosts
    }

    /// What was done to the times and hosts of its file, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether any of its flows belongs to a round.
    pub fn has_rounds(&self) -> bool {
        self.flows.iter().any(|flow| flow.round.is_some())
    }

    /// The largest number of a host.
    pub fn last_host(&self) -> u32 {
        let hosts = self
            .flows
            .iter()
            .flat_map(|flow| [flow.sender, flow.receiver]);
        hosts.map(|host| host.0).max().unwrap_or(0)
    }

    /// How long after the beginning of time the first and the last flow start.
    pub fn span(&self) -> (Span, Span) {
        let starts = || {
            self.flows
                .iter()
                .map(|flow| Span::from_ps(flow.start.as_ps()))
        };
        let ends = (starts().min(), starts().max());
        (ends.0.unwrap_or(Span::ZERO), ends.1.unwrap_or(Span::ZERO))
    }

    /// The mean payload in bytes.
    pub fn mean_size(&self) -> f64 {
        let sum: f64 = self.flows.iter().map(|flow| real(flow.size)).sum();
        sum / real(self.flows.len() as u64)
    }

    /// How many hosts receive.
    pub fn receivers(&self) -> usize {
        let receivers: BTreeSet<u32> = self.flows.iter().map(|flow| flow.receiver.0).collect();
        receivers.len()
    }

    /// What tells its contents from those of other files; `None` if it comes with the program.
    pub fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }
}

#[cfg(test)]
mod tests;
