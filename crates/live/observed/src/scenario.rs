//! The scenario of what was seen: the port between two switches, with the hosts of each side behind one of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use schemes::USUAL_OF_LINUX;
use schemes::linux::{self, KernelLaw};

use crate::cure::Cure;
use crate::seen::{Flow, Observation};
use base::cast::{real, whole};

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

    /// The shortest round trip, seen or guessed.
    fn rtt_us(&self) -> f64 {
        self.min_rtt_us.unwrap_or(6.0 * USUAL_DELAY_US)
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

impl Observation {
    /// A scenario with these flows, whose trace is in the file `trace`: a dumbbell whose middle is the port that was
    /// watched, with rate, round-trip time, buffer, minimum RTO and congestion control as found. Comments say what was
    /// guessed. Its first scheme is that of today; the others are cures.
    #[must_use]
    pub fn scenario(&self, name: &str, trace: &str, flows: &[Flow]) -> String {
        let workload = format!("kind = \"trace\"\ntrace = {trace:?}");
        self.with_workload(name, &workload, flows)
    }

    /// A scenario whose hosts are those of these flows.
    pub(crate) fn with_workload(&self, name: &str, workload: &str, flows: &[Flow]) -> String {
        let hosts = Hosts::of(flows);
        let mut text = String::new();
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        line(format!(
            "# What went through {} in {:.3} s: {} flows of {} hosts.",
            self.place(),
            self.seconds,
            flows.len(),
            hosts.near.len() + hosts.far.len()
        ));
        line(format!("name = {name:?}"));
        let cures = self.cures();
        let labels = cures.iter().map(|cure| cure.scheme.as_str());
        let labels: Vec<_> = [self.scheme()].into_iter().chain(labels).collect();
        line("# What is there today, then what could be there instead.".to_owned());
        line(format!("schemes = {labels:?}"));
        for facts in [
            self.network(&hosts),
            self.queues(),
            self.tcp(),
            self.laws(&cures, flows),
        ] {
            for fact in facts {
                line(fact.text());
            }
        }
        line(format!("\n[workload]\n{workload}"));
        for (label, base, key, value) in cures.iter().filter_map(|cure| cure.variant.as_ref()) {
            line(format!(
                "\n[variant.{label}]\nbase = {base:?}\n{key} = {value:?}"
            ));
        }
        text
    }

    /// Assumptions of the scenario that were not observed.
    #[must_use]
    pub fn guesses(&self, flows: &[Flow]) -> Vec<String> {
        let hosts = Hosts::of(flows);
        let facts = [self.network(&hosts), self.queues(), self.tcp()];
        let facts = facts.into_iter().flatten();
        facts
            .filter(|fact| fact.guessed)
            .map(|fact| format!("{} = {}: {}", fact.key, fact.value, fact.why))
            .collect()
    }

    /// The device, with its namespace if it was named.
    #[must_use]
    pub fn place(&self) -> String {
        match self.netns.as_str() {
            "" => self.device.clone(),
            netns => format!("{} in {netns}", self.device),
        }
    }

    /// The scheme of the observed congestion control. For controls that are not simulated, that of Linux's default.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        let control = self.control.as_deref();
        let simulated = control.and_then(linux::of_control);
        simulated.unwrap_or(USUAL_OF_LINUX).name
    }

    /// Size of the queue in bytes, and the source of the number.
    #[must_use]
    pub fn buffer(&self) -> (u64, String) {
        let (bytes, from, is_guessed) = self.room();
        let guessed = if is_guessed { "Guessed: " } else { "" };
        (bytes, format!("{guessed}{from}"))
    }

    fn room(&self) -> (u64, &'static str, bool) {
        let queue = self.queue.as_ref();
        if let Some(room) = queue.and_then(|queue| queue.room_bytes) {
            return (room, "the room of the queue", false);
        }
        if let Some(queue) = queue.filter(|queue| self.drops > 0 && queue.max_bytes > 0) {
            let why = "the longest queue, as packets were dropped";
            return (queue.max_bytes, why, false);
        }
        let inferred = self.inferred_queue_bytes.map(whole);
        match inferred.filter(|bytes| *bytes >= LEAST) {
            Some(bytes) => (bytes, "the queue that senders feel", true),
            None => (USUAL, "no queue could be read", true),
        }
    }

    /// Whether most traffic left by the device, so that its queue matters.
    #[must_use]
    pub fn leaves(&self) -> bool {
        let [left, came_in] = self.packet_bytes;
        left >= came_in
    }

    /// RCC's budget: bytes that all senders may have in flight together.
    pub(crate) fn budget(&self) -> u64 {
        let (buffer, ..) = self.room();
        (self.pipe_bytes() + buffer / 2).max(PACKET)
    }

    /// Bytes on their way in a round trip without queues.
    pub(crate) fn pipe_bytes(&self) -> u64 {
        whole(real(self.rate_bps) * self.rtt_us() / 8e6)
    }

    fn network(&self, hosts: &Hosts<'_>) -> Vec<Fact> {
        let rate = self.rate_bps.max(1);
        let delay = match self.min_rtt_us {
            // There and back, over three links each way.
            Some(rtt) => Fact::found(
                "delay",
                format!("\"{:.0}ns\"", rtt * 1e3 / 6.0),
                format!("a sixth of the shortest round trip, {rtt:.0} us"),
            ),
            None => Fact::guess(
                "delay",
                format!("\"{USUAL_DELAY_US:.0}us\""),
                "no handshake was seen",
            ),
        };
        let each = hosts.each_side().to_string();
        let (faster, why) = if hosts.are_here {
            (
                FASTER_HERE,
                "senders are of this machine, and nothing slows them before the port",
            )
        } else {
            (
                FASTER,
                "links of hosts were not seen; they are taken to be faster, so that the queue is at the port",
            )
        };
        vec![
            Fact::head("topology"),
            Fact::found("kind", "\"dumbbell\"".to_owned(), String::new()),
            Fact::found(
                "hosts",
                each,
                "of each side, of which not all send or receive".to_owned(),
            ),
            Fact::head("bottleneck"),
            Fact::found(
                "rate",
                format!("\"{rate}bps\""),
                self.rate_from.to_lowercase(),
            ),
            Fact::head("link"),
            Fact::guess(
                "rate",
                format!("\"{}bps\"", rate.saturating_mul(faster)),
                why,
            ),
            delay,
        ]
    }

    fn queues(&self) -> Vec<Fact> {
        let (buffer, from, guessed) = self.room();
        let buffer_fact = Fact {
            guessed,
            ..Fact::found("buffer", format!("\"{buffer}B\""), from.to_owned())
        };
        vec![
            Fact::head("switch"),
            buffer_fact,
            Fact::found(
                "ecn_threshold",
                format!("\"{}B\"", self.threshold()),
                "for schemes that use marks: 20 packets, or a seventh of what is on its way if that is more (DCTCP), at \
                 most half of the room"
                    .to_owned(),
            ),
        ]
    }

    pub(crate) fn threshold(&self) -> u64 {
        let (buffer, ..) = self.room();
        (20 * PACKET).max(self.pipe_bytes() / 7).min(buffer / 2)
    }

    fn tcp(&self) -> Vec<Fact> {
        let mss = match self.mss {
            Some(mss) => Fact::found("mss", mss.to_string(), String::new()),
            None => Fact::guess(
                "mss",
                "1448".to_owned(),
                "no socket of this machine told it",
            ),
        };
        let rto = match self.min_rto_ms {
            Some(rto) => Fact::found("min_rto", format!("\"{rto:.0}ms\""), String::new()),
            None => Fact::guess("min_rto", "\"200ms\"".to_owned(), "that of Linux"),
        };
        let known = match self.control.as_deref() {
            Some(known) if linux::of_control(known).is_some() => None,
            Some(other) => Some(format!("{other} was found, which is not simulated")),
            None => Some("no socket of this machine told its congestion control".to_owned()),
        };
        let control = known.map(|why| Fact {
            is_said_only: true,
            ..Fact::guess("schemes", self.scheme().to_owned(), &why)
        });
        let facts = [
            Fact::head("net"),
            Fact::found(
                "header_bytes",
                "66".to_owned(),
                "Ethernet, IP and TCP with timestamps".to_owned(),
            ),
            Fact::head("tcp"),
            Fact::found("profile", "\"linux\"".to_owned(), String::new()),
            mss,
            rto,
        ];
        let first = self.initial_window.map(|segments| {
            let why = "of most senders, as far as flows are larger".to_owned();
            Fact::found("initial_window", segments.to_string(), why)
        });
        facts.into_iter().chain(first).chain(control).collect()
    }

    /// Settings of cures, as `attach` sets them or adapted to this port.
    fn laws(&self, cures: &[Cure], flows: &[Flow]) -> Vec<Fact> {
        let asked = flows.iter().any(|flow| flow.request.is_some());
        let is_there = |part: &str| {
            cures
                .iter()
                .any(|cure| cure.bundle().split('+').any(|one| one == part))
        };
        let mut facts = Vec::new();
        for (scheme, law) in linux::kernel_laws() {
            if law.cure.is_some() && is_there(scheme.name) {
                facts.push(Fact::head(scheme.group()));
                facts.extend(self.settings(law, asked));
            }
        }
        facts
    }

    /// Settings of a law. Those for connections that receivers open are needed only if the model has such: elsewhere both
    /// directions of a connection are two.
    fn settings(&self, law: &KernelLaw, asked: bool) -> Vec<Fact> {
        let of_machines: &[_] = if asked { law.usual_on_machines } else { &[] };
        let attached = law.fixed.iter().chain(law.usual).chain(of_machines);
        let attached = attached.map(|(key, text)| {
            let value = match text.parse::<f64>() {
                Ok(_) => (*text).to_owned(),
                Err(_) => format!("{text:?}"),
            };
            Fact::found(
                in_group(key),
                value,
                "as `tailwater attach` has it".to_owned(),
            )
        });
        let budget = law.budget.map(|key| {
            Fact::found(
                in_group(key),
                format!("\"{}B\"", self.budget()),
                "what is on its way in a round trip, and half of the room".to_owned(),
            )
        });
        attached.chain(budget).collect()
    }
}

/// The name of a key below the head of its group.
fn in_group(key: &'static str) -> &'static str {
    key.split_once('.').map_or(key, |(_, name)| name)
}

/// A setting and the source of its value.
#[derive(Clone)]
struct Fact {
    /// Empty for the head of a group, which is the value.
    key: &'static str,
    value: String,
    /// Empty if there is nothing to say.
    why: String,
    guessed: bool,
    /// Whether the setting is written elsewhere.
    is_said_only: bool,
}

impl Fact {
    const fn found(key: &'static str, value: String, why: String) -> Self {
        Self {
            key,
            value,
            why,
            guessed: false,
            is_said_only: false,
        }
    }

    fn guess(key: &'static str, value: String, why: &str) -> Self {
        Self {
            guessed: true,
            ..Self::found(key, value, why.to_owned())
        }
    }

    fn head(group: &str) -> Self {
        Self::found("", group.to_owned(), String::new())
    }

    fn text(&self) -> String {
        if self.key.is_empty() {
            return format!("\n[{}]", self.value);
        }
        let mut text = String::new();
        if self.guessed {
            writeln!(text, "# Guessed: {}.", self.why).expect("a text takes everything");
        } else if !self.why.is_empty() {
            writeln!(text, "# {}.", capital(&self.why)).expect("a text takes everything");
        }
        if self.is_said_only {
            write!(text, "# {} = {}", self.key, self.value)
        } else {
            write!(text, "{} = {}", self.key, self.value)
        }
        .expect("a text takes everything");
        text
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Addresses before the port and behind it, in their order.
pub(crate) struct Hosts<'a> {
    near: Vec<&'a str>,
    far: Vec<&'a str>,
    /// Whether most of what left the device was sent by this machine.
    pub(crate) are_here: bool,
}

impl<'a> Hosts<'a> {
    pub(crate) fn of(flows: &'a [Flow]) -> Self {
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for flow in flows {
            let (sender, receiver) = (address(&flow.sender), address(&flow.receiver));
            let (before, behind) = if flow.leaves {
                (sender, receiver)
            } else {
                (receiver, sender)
            };
            near.push(before);
            far.push(behind);
        }
        for side in [&mut near, &mut far] {
            side.sort_unstable();
            side.dedup();
        }
        let leave = flows.iter().filter(|flow| flow.leaves);
        let here = leave.clone().filter(|flow| flow.is_told).count();
        Self {
            near,
            far,
            are_here: 2 * here > leave.count(),
        }
    }

    /// Hosts at each of the two switches.
    fn each_side(&self) -> usize {
        self.near.len().max(self.far.len()).max(1)
    }

    /// Numbers of the sender and the receiver.
    fn ends(&self, flow: &Flow) -> (usize, usize) {
        let near = |end: &str| self.near.binary_search(&address(end)).unwrap_or(0);
        let far = |end: &str| self.each_side() + self.far.binary_search(&address(end)).unwrap_or(0);
        if flow.leaves {
            (near(&flow.sender), far(&flow.receiver))
        } else {
            (far(&flow.sender), near(&flow.receiver))
        }
    }
}

/// The address of one end of a connection, without its port.
pub(crate) fn address(end: &str) -> &str {
    end.rsplit_once(':').map_or(end, |(address, _)| address)
}

/// When the first flow starts at the earliest, as in every scenario.
const FIRST_US: f64 = 10_000.0;
/// Ten full packets: less is no buffer of a switch.
const LEAST: u64 = 15_000;
/// Of a shallow switch port.
const USUAL: u64 = 128_000;
/// A full packet of Ethernet.
const PACKET: u64 = 1_514;
/// The factor by which links of hosts are assumed to be faster than the port.
const FASTER: u64 = 10;
/// The same if there are no such links: a segment a microsecond, or faster.
const FASTER_HERE: u64 = 100;
/// Delay of each link, if no round trip is known.
const USUAL_DELAY_US: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::SeenRequest;

    fn flow(sender: &str, start_s: f64) -> Flow {
        Flow {
            start_s,
            fct_s: 0.1,
            ..Flow::lossless(sender, "10.0.0.9:80", 1_000)
        }
    }

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
        // What comes in is sent from behind the port.
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
        assert!(seen.scenario("seen", "seen.csv", &flows).contains(counts));
        assert!(
            !seen
                .scenario("seen", "seen.csv", &[flow("10.0.0.1:5", 0.0)])
                .contains(counts)
        );
    }

    #[test]
    fn a_guess_is_called_one() {
        let nothing = Observation {
            rate_bps: 1_000_000,
            ..Observation::default()
        };
        let text = nothing.scenario("seen", "seen.csv", &[]);
        assert_eq!(text.matches("# Guessed").count(), 6, "{text}");
        assert_eq!(nothing.guesses(&[]).len(), 6);
        assert!(nothing.guesses(&[])[0].starts_with("rate = \"10000000bps\": links of hosts"));
        let known = Observation {
            control: Some("reno".to_owned()),
            min_rtt_us: Some(120.0),
            min_rto_ms: Some(200.0),
            mss: Some(1_448),
            initial_window: Some(2),
            queue: Some(crate::Queue {
                room_bytes: Some(64_000),
                ..crate::Queue::default()
            }),
            rate_bps: 1_000_000_000,
            rate_from: "The rate of the queue".to_owned(),
            ..nothing
        };
        let text = known.scenario("seen", "seen.csv", &[flow("10.0.0.1:5", 0.0)]);
        // Only what nobody can see at a port.
        assert_eq!(text.matches("# Guessed").count(), 1, "{text}");
        let flows = [flow("10.0.0.1:5", 0.0)];
        assert!(
            known.guesses(&flows)[0].starts_with("rate = \"100000000000bps\": senders are of this")
        );
        for line in [
            "schemes = [\"newreno\", \"rcc+newreno\", \"hscc+newreno\", \"rwndq+newreno\", \"dctcp\", \"min_rto-40ms\", \"min_rto-10ms\", \"buffer-x2\", \"buffer-x4\", \"rmem-8KiB\", \"rmem-16KiB\", \"rmem-32KiB\", \"rmem-64KiB\"]",
            "kind = \"dumbbell\"",
            "hosts = 1",
            "delay = \"20000ns\"",
            "buffer = \"64000B\"",
            "ecn_threshold = \"30280B\"",
            "rate = \"1000000000bps\"",
            "min_rto = \"200ms\"",
            "initial_window = 2",
            "hold = \"grant\"",
            // 1 Gbit/s for 120 us, and half of the room.
            "max_queue = \"47000B\"",
            "tcp.min_rto = \"10ms\"",
            "tcp.receive_buffer = \"5120B\"",
            "switch.buffer = \"256000B\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }

    #[test]
    fn what_is_not_simulated_is_a_guess_and_what_is_there_is_no_cure() {
        let seen = Observation {
            control: Some("bbr".to_owned()),
            min_rto_ms: Some(5.0),
            ..Observation::default()
        };
        let guesses = seen.guesses(&[]).join("\n");
        assert!(guesses.contains("bbr was found"), "{guesses}");
        let dctcp = Observation {
            control: Some("dctcp".to_owned()),
            ..seen
        };
        let names: Vec<_> = dctcp.cures().into_iter().map(|cure| cure.name).collect();
        let (others, buffers) = names.split_at(5);
        assert_eq!(
            others,
            ["rcc (grant)", "hscc", "rwndq", "buffer x2", "buffer x4"]
        );
        assert!(
            buffers
                .iter()
                .all(|name| name.starts_with("receive buffer "))
        );
    }

    #[test]
    fn receive_buffers_are_tried_from_two_segments_up_to_what_fills_the_way() {
        let buffers = |rtt_us: f64, mss: u32| {
            let seen = Observation {
                rate_bps: 1_000_000_000,
                min_rtt_us: Some(rtt_us),
                mss: Some(mss),
                ..Observation::default()
            };
            let rungs = seen.cures().into_iter().filter_map(|cure| cure.rung);
            let buffers = rungs.filter(|rung| rung.setting == "receive buffer");
            let values: Vec<_> = buffers.map(|rung| rung.value).collect();
            values.join(", ")
        };
        // Five eighths of each are offered; 128 KB fill the port.
        let few = "8 KiB, 16 KiB, 32 KiB, 64 KiB, 128 KiB";
        assert_eq!(buffers(20.0, 1_448), few);
        // 10 ms of 1 Gbit/s.
        let wide = "8 KiB, 32 KiB, 128 KiB, 512 KiB, 2048 KiB";
        assert_eq!(buffers(10_000.0, 1_448), wide);
        assert_eq!(buffers(20.0, 8_948), "32 KiB, 64 KiB, 128 KiB");
    }
}
