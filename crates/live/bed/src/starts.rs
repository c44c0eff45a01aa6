//! The times at which flows of a run began to send, as a trace for its twin.
//!
//! One core opens all connections and writes for all hosts, one after another. The order of hosts decides which packets
//! the queue drops. So a twin with the same distribution of starts is not enough: it needs the same starts.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use base::{HostId, Time};
use machine::clock::{duration, micros};
use plan::workload::Plan;

use crate::traffic::Sent;

/// The starts of all flows of a run, in the order of its plan.
#[derive(Clone, Debug)]
pub(crate) struct Starts(Vec<Beginning>);

#[derive(Clone, Copy, Debug)]
struct Beginning {
    connection: u32,
    ends: (HostId, HostId),
    size: u64,
    /// When its connection opened: in advance, or with the start of the flow.
    open: Duration,
    start: Duration,
    /// When it wrote its first bytes.
    write: Duration,
}

impl Starts {
    /// The starts of the flows of `plan`; `None` if some flows wait for others or never wrote, which no trace can
    /// express.
    pub(crate) fn of(plan: &Plan, flows: &[Sent]) -> Option<Self> {
        if !plan.barriers.is_empty() || !plan.dependencies.is_empty() {
            return None;
        }
        let beginnings = plan.flows.iter().zip(flows).map(|(planned, sent)| {
            let connection = &plan.connections[planned.connection as usize];
            let start = sent.start?;
            let is_early = connection.open != Time::NEVER;
            Some(Beginning {
                connection: planned.connection,
                ends: (connection.sender, connection.receiver),
                size: planned.size?,
                open: if is_early {
                    duration(connection.open.since(Time::ZERO))
                } else {
                    start
                },
                start,
                write: sent.wrote?,
            })
        });
        beginnings.collect::<Option<_>>().map(Self)
    }

    /// Writes a trace in which flows start when they wrote their first bytes.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, self.csv())
    }

    fn csv(&self) -> String {
        let mut csv = "start_us,open_us,size_bytes,sender,receiver,connection\n".to_owned();
        for flow in &self.0 {
            let (sender, receiver) = (flow.ends.0.0, flow.ends.1.0);
            let row = writeln!(
                csv,
                "{:.3},{:.3},{},{sender},{receiver},{}",
                micros(flow.write),
                micros(flow.open),
                flow.size,
                flow.connection
            );
            row.expect("a string takes everything");
        }
        csv
    }

    /// The time between each flow's start and its first bytes, in microseconds.
    pub(crate) fn leads_us(&self) -> impl Iterator<Item = f64> {
        let leads = self.0.iter();
        leads.map(|flow| micros(flow.write.saturating_sub(flow.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Overrides, Scenario, Source};

    fn plan(more: &str) -> Plan {
        let text = format!("schemes = [\"newreno\"]\nworkload.senders = 2\n{more}");
        let scenario = Scenario::load(Source::new("two", text), &Overrides::default()).unwrap();
        Plan::of(&scenario.points()[0])
    }

    fn sent(start: u64, wrote: Option<u64>) -> Sent {
        Sent {
            start: Some(Duration::from_micros(start)),
            wrote: wrote.map(Duration::from_micros),
            ..Sent::default()
        }
    }

    #[test]
    fn a_trace_starts_flows_when_they_wrote() {
        let flows = [sent(10_000, Some(10_050)), sent(10_010, Some(10_170))];
        let starts = Starts::of(&plan("workload.size = \"1KB\""), &flows).unwrap();
        assert_eq!(
            starts.csv(),
            "start_us,open_us,size_bytes,sender,receiver,connection\n\
             10050.000,10000.000,1000,1,0,0\n10170.000,10010.000,1000,2,0,1\n"
        );
        assert_eq!(starts.leads_us().collect::<Vec<_>>(), [50.0, 160.0]);
    }

    #[test]
    fn flows_that_wait_or_never_wrote_make_no_trace() {
        let both = [sent(10_000, Some(10_050)), sent(10_010, Some(10_170))];
        assert!(Starts::of(&plan("workload.rounds = 2"), &both).is_none());
        let one = [sent(10_000, Some(10_050)), sent(10_010, None)];
        assert!(Starts::of(&plan(""), &one).is_none());
    }
}
