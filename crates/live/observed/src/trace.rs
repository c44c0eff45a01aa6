//! The flows of an observation as a trace.

use std::collections::BTreeMap;

use crate::scenario::Hosts;
use crate::seen::{Flow, Observation};

impl Observation {
    /// The flows as a trace: a table with a row for each. Hosts are numbered by their addresses, those before the port
    /// first. Requests should be [parts of their answers](Observation::with_requests).
    #[must_use]
    pub fn trace(&self, flows: &[Flow]) -> String {
        let hosts = Hosts::of(flows);
        let numbers = connections(flows);
        let persist = numbers
            .iter()
            .max()
            .is_some_and(|last| last + 1 < flows.len());
        // If a program waited before it sent, the handshake began earlier.
        let waited = flows.iter().any(|flow| self.opens_before_s(flow).is_some());
        let asked = flows.iter().any(|flow| flow.request.is_some());
        let row = |(flow, number): (&Flow, &usize)| {
            let (sender, receiver) = hosts.ends(flow);
            let start_us = on_clock_us(self.begins_s(flow));
            let mut row = format!("{start_us:.3},{},{sender},{receiver}", flow.bytes);
            let mut more = |is_there: bool, text: String| {
                if is_there {
                    row.push(',');
                    row.push_str(&text);
                }
            };
            let opened = self.opens_before_s(flow);
            let opened = opened.map(|at_s| format!("{:.3}", on_clock_us(at_s)));
            more(waited, opened.unwrap_or_default());
            let request = flow.request.map(|request| request.bytes.to_string());
            more(asked, request.unwrap_or_default());
            more(persist, number.to_string());
            row + "\n"
        };
        let rows: String = flows.iter().zip(&numbers).map(row).collect();
        let columns = [
            (waited, ",open_us"),
            (asked, ",request_bytes"),
            (persist, ",connection"),
        ];
        let more = columns.iter().filter(|(is_there, _)| *is_there);
        let more: String = more.map(|(_, name)| *name).collect();
        format!("start_us,size_bytes,sender,receiver{more}\n{rows}")
    }

    /// When a flow begins in the trace, in seconds of the observation: as it was seen, or when the request for it leaves, a
    /// round trip before its first byte comes to the port.
    #[must_use]
    pub fn begins_s(&self, flow: &Flow) -> f64 {
        if flow.request.is_none() {
            return flow.start_s;
        }
        (flow.start_s - self.rtt_us() / 1e6).max(-FIRST_US / 1e6)
    }

    /// When the connection of a flow opens, if that is before the flow begins.
    fn opens_before_s(&self, flow: &Flow) -> Option<f64> {
        let opened_s = match flow.request {
            Some(request) => request.opened_s,
            None => flow.opened_s,
        };
        opened_s.filter(|opened_s| *opened_s < self.begins_s(flow))
    }
}

/// The number of each flow's connection, from 0. Programs use a port again once its connection is closed, so a flow whose
/// connection was seen to open has a new one.
fn connections(flows: &[Flow]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by(|one, other| flows[*one].start_s.total_cmp(&flows[*other].start_s));
    let mut latest: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut numbers, mut next) = (vec![0; flows.len()], 0);
    for place in order {
        let flow = &flows[place];
        let ends = (flow.sender.as_str(), flow.receiver.as_str());
        let known = latest.get(&ends).copied();
        let number = known.filter(|_| flow.opened_s.is_none()).unwrap_or(next);
        next = next.max(number + 1);
        latest.insert(ends, number);
        numbers[place] = number;
    }
    numbers
}

/// A time of the observation on the clock of the simulation.
fn on_clock_us(seconds: f64) -> f64 {
    FIRST_US + seconds * 1e6
}

/// When the first flow starts at the earliest, as in every scenario.
const FIRST_US: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::tests::flow;
    use crate::seen::SeenRequest;

    #[test]
    fn hosts_are_numbered_by_side_and_connections_only_where_they_are_used_again() {
        let seen = Observation::default();
        let once = [flow("10.0.0.1:5", 0.0), flow("10.0.0.2:6", 0.000_001_5)];
        // Two before the port, so that the first one behind it is the third.
        assert_eq!(
            seen.trace(&once),
            "start_us,size_bytes,sender,receiver\n10000.000,1000,0,2\n10001.500,1000,1,2\n"
        );
        let again = [&once[..], &[flow("10.0.0.1:5", 0.5)]].concat();
        assert_eq!(
            seen.trace(&again),
            "start_us,size_bytes,sender,receiver,connection\n10000.000,1000,0,2,0\n10001.500,1000,1,2,1\n\
             510000.000,1000,0,2,0\n"
        );
        // A program waited behind a handshake.
        let waited = Flow {
            opened_s: Some(0.4),
            ..flow("10.0.0.1:5", 0.5)
        };
        let opened = Flow {
            opened_s: Some(0.0),
            ..flow("10.0.0.2:6", 0.0)
        };
        assert_eq!(
            seen.trace(&[opened, waited]),
            "start_us,size_bytes,sender,receiver,open_us\n10000.000,1000,1,2,\n510000.000,1000,0,2,410000.000\n"
        );
        // A program uses a port again.
        let anew = |at_s| Flow {
            opened_s: Some(at_s - 0.1),
            ..flow("10.0.0.1:5", at_s)
        };
        let more = flow("10.0.0.1:5", 0.8);
        assert_eq!(
            seen.trace(&[anew(0.5), anew(0.7), more]),
            "start_us,size_bytes,sender,receiver,open_us,connection\n510000.000,1000,0,1,410000.000,0\n\
             710000.000,1000,0,1,610000.000,1\n810000.000,1000,0,1,,1\n"
        );
        // A flow that comes in has its sender behind the port.
        let answer = Flow {
            leaves: false,
            sender: "10.0.0.9:80".to_owned(),
            receiver: "10.0.0.2:6".to_owned(),
            ..flow("", 0.0)
        };
        let both = [&once[..], &[answer]].concat();
        assert!(
            seen.trace(&both).ends_with("10000.000,1000,2,1\n"),
            "{both:?}"
        );
    }

    #[test]
    fn a_flow_that_was_asked_for_starts_a_round_trip_before_it_was_seen() {
        let seen = Observation {
            min_rtt_us: Some(500.0),
            rate_bps: 1_000_000_000,
            ..Observation::default()
        };
        let request = |opened_s| {
            Some(SeenRequest {
                bytes: 100,
                opened_s,
            })
        };
        let with_handshake = Flow {
            opened_s: Some(0.0),
            request: request(Some(-0.000_4)),
            ..flow("10.0.0.1:5", 0.0)
        };
        let later = Flow {
            opened_s: Some(0.1),
            request: request(Some(0.099)),
            ..flow("10.0.0.2:6", 0.2)
        };
        assert!((seen.begins_s(&later) - 0.199_5).abs() < 1e-12);
        let flows = [with_handshake, later];
        assert_eq!(
            seen.trace(&flows),
            "start_us,size_bytes,sender,receiver,open_us,request_bytes\n9500.000,1000,0,2,,100\n\
             209500.000,1000,1,2,109000.000,100\n"
        );
        // Only receivers that open connections need it.
        let counts = "count_both = \"true\"";
        let text = seen.scenario("seen", "seen.csv", &flows);
        // A law of receivers does not act on these connections.
        assert!(text.contains(counts) && !text.contains("rcc"), "{text}");
        assert!(
            !seen
                .scenario("seen", "seen.csv", &[flow("10.0.0.1:5", 0.0)])
                .contains(counts)
        );
    }
}
