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
//! | `id` | optional: a name of the flow, by which others wait for it |
//! | `after` | optional: ids of flows, joined by `+`; the flow starts when all are done, and `start_us` is empty. `3@12.5` is 12.5 us after flow 3, and `2 of 3+4+5` when two of three are done |
//! | `delay_us` | optional: time from the end of the flows in `after` to the start |
//!
//! A flow is done when its last byte is in order at the receiver, or when its connection has failed.
//!
//! Other columns are passed over, and a [`Reading`] may name other columns and units. Six decimals of a microsecond are picoseconds, the resolution of the simulator's
//! clock, so that a trace gives back exactly the flows that it was written from.

mod clock;
mod file;
mod moment;
mod names;
mod number;
mod plain;
mod reading;
mod rows;
mod waits;

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
pub use waits::Wait;

/// The flows of a trace, in the order of its rows.
#[derive(Debug)]
pub struct FlowTrace {
    /// At least one.
    flows: Vec<TracedFlow>,
    /// Names that `TracedFlow::group` counts.
    groups: Vec<String>,
    /// The waits of flows; `TracedFlow::waits` is a place among them.
    waits: Vec<Wait>,
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
    /// When it starts; of a flow that waits for others, how long after them on the clock's zero.
    pub start: Time,
    /// The place of what it waits for, if it waits.
    waits: Option<u32>,
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

    /// The trace that comes with the program as `text`: a line of columns, `start_us,size_bytes,sender,receiver,group`, and one
    /// for each flow.
    ///
    /// # Errors
    /// If `reading` takes none of its flows.
    ///
    /// # Panics
    /// If a line has another form.
    pub fn of_plain(text: &str, reading: &Reading) -> Result<Self, String> {
        file::of_plain(text, reading)
    }

    /// The flows of the group of this name: all if the scenario has no groups, or the trace tells none.
    pub fn of<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a TracedFlow> {
        self.flows
            .iter()
            .filter(move |flow| self.is_of(flow, group))
    }

    /// See [`FlowTrace::of`]; each flow comes with its place among the rows.
    pub fn rows_of<'a>(
        &'a self,
        group: &'a str,
    ) -> impl Iterator<Item = (u32, &'a TracedFlow)> + 'a {
        let rows = (0_u32..).zip(&self.flows);
        rows.filter(move |(_, flow)| self.is_of(flow, group))
    }

    /// Whether the flow in this row belongs to the group of this name, as [`FlowTrace::of`] tells.
    pub fn has(&self, group: &str, row: u32) -> bool {
        self.is_of(&self.flows[row as usize], group)
    }

    /// The group of the flow in this row, if the trace tells.
    pub fn group_of(&self, row: u32) -> Option<&str> {
        let place = self.flows[row as usize].group?;
        Some(&self.groups[place as usize])
    }

    fn is_of(&self, flow: &TracedFlow, group: &str) -> bool {
        match flow.group {
            Some(place) if !group.is_empty() => self.groups[place as usize] == group,
            _ => true,
        }
    }

    /// Whether flows wait for others.
    pub fn has_waits(&self) -> bool {
        !self.waits.is_empty()
    }

    /// The place of its wait; `None`: it starts at its own time.
    pub fn wait(&self, flow: &TracedFlow) -> Option<&Wait> {
        flow.waits.map(|place| &self.waits[place as usize])
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

    /// How long after the beginning of time the first and the last flow start of those that wait for none.
    pub fn span(&self) -> (Span, Span) {
        let starts = || {
            self.flows
                .iter()
                .filter(|flow| flow.waits.is_none())
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
