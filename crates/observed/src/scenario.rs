//! The scenario of what was seen.

use std::collections::BTreeMap;

use crate::seen::{Flow, Observation};

/// The flows as a trace: a table with a row for each. Hosts are numbered by their addresses.
#[must_use]
pub fn trace(flows: &[Flow]) -> String {
    let hosts = hosts(flows);
    let mut connections: BTreeMap<(&str, &str), (usize, u32)> = BTreeMap::new();
    for flow in flows {
        let next = connections.len();
        let of = connections
            .entry((&flow.sender, &flow.receiver))
            .or_insert((next, 0));
        of.1 += 1;
    }
    let persist = connections.values().any(|(_, count)| *count > 1);
    let end = if persist { ",connection" } else { "" };
    let row = |flow: &Flow| {
        let host = |end: &str| hosts.get(address(end)).copied().unwrap_or(0);
        let (sender, receiver) = (host(&flow.sender), host(&flow.receiver));
        let start_us = FIRST_US + flow.start_s * 1e6;
        let row = format!("{start_us:.3},{},{sender},{receiver}", flow.bytes);
        let (number, _) = connections[&(flow.sender.as_str(), flow.receiver.as_str())];
        if persist {
            format!("{row},{number}\n")
        } else {
            row + "\n"
        }
    };
    let rows: String = flows.iter().map(row).collect();
    format!("start_us,size_bytes,sender,receiver{end}\n{rows}")
}

impl Observation {
    /// A scenario with these flows, whose trace is in the file `trace`, and with rate, round-trip time, buffer, minimum
    /// RTO and congestion control as found. Comments say what was guessed.
    #[must_use]
    pub fn scenario(&self, name: &str, trace: &str, flows: &[Flow]) -> String {
        let mut text = String::new();
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        let hosts = hosts(flows).len().max(2);
        line(format!(
            "# What went through {} in {:.3} s: {} flows of {hosts} hosts.",
            self.place(),
            self.seconds,
            flows.len()
        ));
        line(format!("name = {name:?}"));
        line(format!("schemes = [{:?}]", self.scheme()));
        if self.control.is_none() {
            line("# Guessed: no socket of this machine told its congestion control.".to_owned());
        }
        line("\n[topology]\nkind = \"star\"".to_owned());
        line(format!("hosts = {hosts}"));
        line(format!(
            "\n[link]\n# {}; every host is given the same, which its flows share.",
            self.rate_from
        ));
        line(format!("rate = \"{}bps\"", self.rate_bps.max(1)));
        match self.min_rtt_us {
            // There and back, over two links each way.
            Some(rtt) => line(format!(
                "# A quarter of the shortest round trip, {rtt:.0} us.\ndelay = \"{:.0}ns\"",
                rtt * 250.0
            )),
            None => line("# Guessed: no handshake was seen.\ndelay = \"20us\"".to_owned()),
        }
        line("\n[switch]".to_owned());
        let (buffer, from) = self.buffer();
        line(format!(
            "# {from}.\nbuffer = \"{buffer}B\"\necn_threshold = \"off\""
        ));
        line("\n[tcp]".to_owned());
        line(format!("mss = {}", self.mss.unwrap_or(1_448)));
        match self.min_rto_ms {
            Some(rto) => line(format!("min_rto = \"{rto:.0}ms\"")),
            None => line("# Guessed: that of Linux.\nmin_rto = \"200ms\"".to_owned()),
        }
        line(format!("\n[workload]\nkind = \"trace\"\ntrace = {trace:?}"));
        text
    }

    /// The device, with its namespace if it was named.
    #[must_use]
    pub fn place(&self) -> String {
        match self.netns.as_str() {
            "" => self.device.clone(),
            netns => format!("{} in {netns}", self.device),
        }
    }

    /// The scheme of the congestion control that was found; CUBIC, which Linux has by default, for all that are not
    /// simulated.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self.control.as_deref() {
            Some("reno") => "newreno",
            Some("dctcp") => "dctcp",
            _ => "cubic",
        }
    }

    /// Room of the queue in bytes, and where it is from.
    #[must_use]
    pub fn buffer(&self) -> (u64, String) {
        let queue = self.queue.as_ref();
        if let Some(room) = queue.and_then(|queue| queue.room_bytes) {
            return (room, "The room of the queue".to_owned());
        }
        if let Some(queue) = queue.filter(|queue| self.drops > 0 && queue.max_bytes > 0) {
            return (
                queue.max_bytes,
                "The longest queue, as packets were dropped".to_owned(),
            );
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes of a queue"
        )]
        let inferred = self.inferred_queue_bytes.map(|bytes| bytes as u64);
        match inferred.filter(|bytes| *bytes >= LEAST) {
            Some(bytes) => (bytes, "Guessed: the queue that senders feel".to_owned()),
            None => (USUAL, "Guessed: no queue could be read".to_owned()),
        }
    }
}

/// A number for each address, in the order of the addresses.
fn hosts(flows: &[Flow]) -> BTreeMap<&str, usize> {
    let ends = flows.iter().flat_map(|flow| [&flow.sender, &flow.receiver]);
    let mut hosts: BTreeMap<&str, usize> = ends.map(|end| (address(end), 0)).collect();
    for (number, host) in hosts.values_mut().enumerate() {
        *host = number;
    }
    hosts
}

/// What stands before the port.
fn address(end: &str) -> &str {
    end.rsplit_once(':').map_or(end, |(address, _)| address)
}

/// When the first flow starts at the earliest, as in every scenario.
const FIRST_US: f64 = 10_000.0;
/// Ten full packets: less is no buffer of a switch.
const LEAST: u64 = 15_000;
/// Of a shallow switch port.
const USUAL: u64 = 128_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(sender: &str, start_s: f64) -> Flow {
        Flow {
            start_s,
            fct_s: 0.1,
            bytes: 1_000,
            sender: sender.to_owned(),
            receiver: "10.0.0.9:80".to_owned(),
            timeouts: 0,
            fast_retransmits: 0,
            probes: 0,
            repeats: 0,
            drops: 0,
            waited_s: 0.0,
            is_told: true,
            closed: true,
        }
    }

    #[test]
    fn hosts_are_numbered_and_connections_only_where_they_are_used_again() {
        let once = [flow("10.0.0.1:5", 0.0), flow("10.0.0.2:6", 0.000_001_5)];
        assert_eq!(
            trace(&once),
            "start_us,size_bytes,sender,receiver\n10000.000,1000,0,2\n10001.500,1000,1,2\n"
        );
        let again = [&once[..], &[flow("10.0.0.1:5", 0.5)]].concat();
        assert_eq!(
            trace(&again),
            "start_us,size_bytes,sender,receiver,connection\n10000.000,1000,0,2,0\n10001.500,1000,1,2,1\n\
             510000.000,1000,0,2,0\n"
        );
    }

    #[test]
    fn a_guess_is_called_one() {
        let nothing = Observation {
            rate_bps: 1_000_000,
            ..Observation::default()
        };
        let text = nothing.scenario("seen", "seen.csv", &[]);
        assert_eq!(text.matches("# Guessed").count(), 4, "{text}");
        let known = Observation {
            control: Some("reno".to_owned()),
            min_rtt_us: Some(100.0),
            min_rto_ms: Some(200.0),
            queue: Some(crate::Queue {
                room_bytes: Some(64_000),
                ..crate::Queue::default()
            }),
            ..nothing
        };
        let text = known.scenario("seen", "seen.csv", &[]);
        assert_eq!(text.matches("# Guessed").count(), 0, "{text}");
        for line in [
            "schemes = [\"newreno\"]",
            "delay = \"25000ns\"",
            "buffer = \"64000B\"",
            "rate = \"1000000bps\"",
            "min_rto = \"200ms\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
