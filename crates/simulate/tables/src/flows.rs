//! Flows given one by one, from an observation or from a run.
//!
//! A trace is a table with a row for each flow, as CSV or Parquet:
//!
//! | column | what it holds |
//! |---|---|
//! | `start_us` | start on the clock of the simulation, in microseconds: a number of any form, or a date |
//! | `size_bytes` | payload |
//! | `sender`, `receiver` | numbers of hosts, or addresses or other names |
//! | `open_us` | optional: when the connection of the flow opens, if not with its first flow |
//! | `request_bytes` | optional: payload of the request for the flow. The receiver opens the connection and asks; the flow starts when the request leaves |
//! | `connection` | optional: flows with the same number share a connection |
//! | `group` | optional: the group of flows, by name |
//! | `round` | optional: flows with the same number are awaited together |
//! | `id` | optional: a name of the flow, by which others wait for it |
//! | `after` | optional: ids of flows, joined by `+`; the flow starts when all are done, and `start_us` is empty. `3@12.5` is 12.5 us after flow 3, and `2 of 3+4+5` when two of three are done |
//! | `delay_us` | optional: time from the end of the flows in `after` to the start |
//!
//! A flow is done when its last byte is in order at the receiver, or when its connection has failed.
//!
//! Other columns are ignored; a [`TraceFileSettings`] may name other columns and units. Times in microseconds with six
//! decimals are exact to the picosecond, the resolution of the simulator's clock. So a trace that a run has written
//! gives back exactly the run's flows.

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

/// Numbers and times as in files, without rounding on the way.
pub mod exact {
    pub use super::moment::{SECOND, date, lasting, written};
    pub use super::number::Decimal;
}

pub use file::is_path;
pub use reading::{ColumnNames, HostNames, TraceFileSettings, TraceWindow};
pub use waits::Wait;

/// The flows of a trace, in the order of its rows.
#[derive(Debug)]
pub struct FlowTrace {
    /// At least one.
    flows: Vec<TracedFlow>,
    /// The names to which `TracedFlow::group` refers.
    groups: Vec<String>,
    /// The waits of flows, to which `TracedFlow::waits` refers.
    waits: Vec<Wait>,
    /// The names of hosts by their numbers, if the file has names.
    hosts: Vec<(u32, String)>,
    /// Changes made to the file's times and hosts, a sentence each.
    notes: Vec<String>,
    /// For a trace from a file: a hash of its contents.
    fingerprint: Option<u64>,
}

/// A row of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedFlow {
    /// The time of its start. For a flow that waits for others: the delay after them, counted from time zero.
    pub start: Time,
    /// The index of its wait, if it waits.
    waits: Option<u32>,
    /// The time at which its connection opens, if the trace gives it; not after the start.
    pub open: Option<Time>,
    /// Payload of the receiver's request for the flow, at least one byte; `None` if the sender sends without one.
    pub request: Option<u64>,
    /// Payload in bytes, at least one.
    pub size: u64,
    /// The host that sends.
    pub sender: HostId,
    /// The receiving host, which is not the sender.
    pub receiver: HostId,
    /// Its connection, if the trace gives it.
    pub connection: Option<u64>,
    /// The number of its round, if the trace gives it. The file's rounds are numbered from 0 in the order of their
    /// first appearance.
    pub round: Option<u32>,
    /// The index of its group's name, if the trace gives it.
    group: Option<u32>,
}

impl FlowTrace {
    /// The trace in the file at `path`. A sweep reads the same file many times and gets the same trace while its
    /// contents are the same.
    ///
    /// # Errors
    /// If the file cannot be read or a row is no flow. The error has the file, the line and the cause.
    pub fn open(path: &str, reading: &TraceFileSettings) -> Result<Arc<Self>, String> {
        file::open(path, reading)
    }

    /// The trace in `bytes`, the CSV content of a file with this name.
    ///
    /// # Errors
    /// If a line is no flow. The error has the line and the cause.
    pub fn of_csv(name: &str, bytes: &[u8], reading: &TraceFileSettings) -> Result<Self, String> {
        file::of_csv(name, bytes, reading)
    }

    /// The trace that comes with the program as `text`: a line of columns, `start_us,size_bytes,sender,receiver,group`, and one
    /// line for each flow.
    ///
    /// # Errors
    /// If `reading` takes none of its flows.
    ///
    /// # Panics
    /// If a line has another form.
    pub fn of_plain(text: &str, reading: &TraceFileSettings) -> Result<Self, String> {
        file::of_plain(text, reading)
    }

    /// The flows of the group with this name: all flows if the scenario has no groups or the trace gives none.
    pub fn of<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a TracedFlow> {
        self.flows
            .iter()
            .filter(move |flow| self.is_of(flow, group))
    }

    /// Like [`FlowTrace::of`], with the index of each flow's row.
    pub fn rows_of<'a>(
        &'a self,
        group: &'a str,
    ) -> impl Iterator<Item = (u32, &'a TracedFlow)> + 'a {
        let rows = (0_u32..).zip(&self.flows);
        rows.filter(move |(_, flow)| self.is_of(flow, group))
    }

    /// Whether the flow in this row belongs to the group with this name, as in [`FlowTrace::of`].
    pub fn has(&self, group: &str, row: u32) -> bool {
        self.is_of(&self.flows[row as usize], group)
    }

    /// The group of the flow in this row, if the trace gives it.
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

    /// Its wait; `None` for a flow that starts at its own time.
    pub fn wait(&self, flow: &TracedFlow) -> Option<&Wait> {
        flow.waits.map(|place| &self.waits[place as usize])
    }

    /// All flows.
    pub fn flows(&self) -> &[TracedFlow] {
        &self.flows
    }

    /// The names of its groups, if it has any.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The names of its hosts with their numbers, if the file has names.
    pub fn hosts(&self) -> &[(u32, String)] {
        &self.hosts
    }

    /// Changes made to the file's times and hosts, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether any of its flows belongs to a round.
    pub fn has_rounds(&self) -> bool {
        self.flows.iter().any(|flow| flow.round.is_some())
    }

    /// Whether receivers ask for any of its flows.
    pub fn has_requests(&self) -> bool {
        self.flows.iter().any(|flow| flow.request.is_some())
    }

    /// The largest number of a host.
    pub fn last_host(&self) -> u32 {
        let hosts = self
            .flows
            .iter()
            .flat_map(|flow| [flow.sender, flow.receiver]);
        hosts.map(|host| host.0).max().unwrap_or(0)
    }

    /// The earliest and the latest start, from time zero, among flows that wait for no others.
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

    /// A hash of its contents; `None` for a trace that comes with the program.
    pub fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }
}

#[cfg(test)]
mod tests;
