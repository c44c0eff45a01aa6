//! The scenario of what was seen: the port between two switches, with the hosts of each side behind one of them.

use std::fmt::Write;

use schemes::USUAL_OF_LINUX;
use schemes::linux::{self, KernelLaw};

use crate::cure::{AttachPoint, Cure};
use crate::seen::{Flow, Observation};
use base::cast::{real, whole};

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
        let mut cures = self.cures();
        if asks(flows) {
            let at_receiver = |cure: &Cure| {
                let attach = cure.attach.as_ref();
                attach.is_some_and(|attach| attach.at == AttachPoint::Receiver)
            };
            cures.retain(|cure| !at_receiver(cure));
        }
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

    /// The shortest round trip, seen or guessed.
    pub(crate) fn rtt_us(&self) -> f64 {
        self.min_rtt_us.unwrap_or(6.0 * USUAL_DELAY_US)
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
        let asked = asks(flows);
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

/// Whether receivers open connections and ask. Laws of receivers do not act there.
fn asks(flows: &[Flow]) -> bool {
    flows.iter().any(|flow| flow.request.is_some())
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
    pub(crate) fn ends(&self, flow: &Flow) -> (usize, usize) {
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
pub(crate) mod tests {
    use super::*;

    pub(crate) fn flow(sender: &str, start_s: f64) -> Flow {
        Flow {
            start_s,
            fct_s: 0.1,
            ..Flow::lossless(sender, "10.0.0.9:80", 1_000)
        }
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
