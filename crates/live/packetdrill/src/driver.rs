//! Runs a script: calls, segments and time, in order.

use base::cast::whole;
use base::{Ecn, Timestamps};
use base::{FlowId, HostId, Options, Packet, SackBlocks, Seq, Span, SynOptions, TcpFlags, Time};
use schemes::Sender;
use tcp::{CongestionState, Endpoint, Plays as _, SSTHRESH, State};

use crate::assertion::{BlockProblem, Python};
use crate::matcher::{self, Clocks, Exactness, Sent};
use crate::options::Machine;
use crate::script::{Action, Event, Script, When};
use crate::segment::ScriptSegment;
use crate::{Lacks, ScriptFailure};

/// An endpoint under a script. Both SYNs have the number 0, so that numbers in a script are those on the wire.
pub(crate) struct Driver {
    endpoint: Endpoint<Sender>,
    /// Whether the endpoint offers timestamps.
    stamped: bool,
    now: Time,
    /// The base of relative times: the time of the previous event.
    base: Time,
    sent: Sent,
    clocks: Clocks,
    exactness: Exactness,
    strict: bool,
    python: Python,
    /// The name of the listening socket, if there is one.
    listener: Option<String>,
    /// Payload that the application has read.
    read: u64,
}

impl Driver {
    pub(crate) fn new(machine: Machine) -> Self {
        let mut endpoint = machine.endpoint;
        endpoint.set_reading(false);
        Self {
            endpoint,
            stamped: machine.config.timestamps,
            now: Time::ZERO,
            base: Time::ZERO,
            sent: Sent::new(),
            clocks: Clocks::default(),
            exactness: (machine.tick, machine.tolerance),
            strict: machine.strict,
            python: Python::default(),
            listener: None,
            read: 0,
        }
    }

    pub(crate) fn run(mut self, script: &Script) -> Result<(), ScriptFailure> {
        for event in &script.events {
            self.event(event)?;
        }
        let line = script.events.last().map_or(1, |event| event.line);
        match self.sent.front() {
            Some((_, packet)) if self.strict => {
                let left = matcher::describe(packet, packet.payload.into());
                Err(ScriptFailure::differs(line, format!("at the end: {left}")))
            }
            _ => Ok(()),
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), ScriptFailure> {
        let (from, to) = match event.time {
            When::At(time) => (Time::ZERO + time, Time::ZERO + time),
            When::After(time) => (self.base + time, self.base + time),
            When::Between(from, to) => (self.base + from, self.base + to),
            When::Any => (self.base, Time::NEVER),
        };
        if let Action::Expect(segment) = &event.action {
            return self.expect(segment, (from, to), event.line);
        }
        self.advance(from);
        self.base = self.now;
        match &event.action {
            Action::Inject(segment) => self.inject(segment),
            Action::Call {
                name,
                arguments,
                result,
            } => self.call(name, arguments, result, event.line)?,
            Action::Assert(block) => self.assert(block, event.line)?,
            // Later commands only restore what the first ones changed.
            Action::Command(command) if command.starts_with("/tmp/sysctl_restore") => {}
            Action::Command(command) => {
                return Err(ScriptFailure::lacks(event.line, Lacks::Command, command));
            }
            Action::Expect(_) => {}
        }
        self.collect();
        Ok(())
    }

    /// Time passes, and timers expire.
    fn advance(&mut self, to: Time) {
        while self.endpoint.deadline() <= to {
            self.expire();
        }
        self.now = self.now.max(to);
    }

    fn expire(&mut self) {
        self.now = self.now.max(self.endpoint.deadline());
        self.endpoint.on_deadline(self.now);
        self.collect();
    }

    fn collect(&mut self) {
        while let Some(packet) = self.endpoint.poll(self.now) {
            self.sent.push_back((self.now, packet));
        }
        if let Some(packet) = self.endpoint.due_ack(self.now) {
            self.sent.push_back((self.now, packet));
        }
    }

    fn expect(
        &mut self,
        expected: &ScriptSegment,
        (from, to): (Time, Time),
        line: usize,
    ) -> Result<(), ScriptFailure> {
        let tolerance = self.exactness.1;
        let last = if to == Time::NEVER {
            to
        } else {
            to + tolerance
        };
        while self.sent.is_empty() && self.endpoint.deadline() <= last {
            if self.endpoint.deadline() == Time::NEVER {
                break;
            }
            self.expire();
        }
        let Some((time, packet, payload)) = matcher::take(&mut self.sent, expected) else {
            return Err(ScriptFailure::differs(line, "nothing leaves"));
        };
        matcher::compare(
            (&packet, payload),
            expected,
            &mut self.clocks,
            self.exactness,
        )
        .map_err(|what| ScriptFailure::differs(line, what))?;
        if time + tolerance < from || time > last {
            let seconds = |time: Time| time.as_secs();
            let left = matcher::describe(&packet, payload);
            let what = format!(
                "expected at {:.6} s, left at {:.6} s: {left}",
                seconds(from),
                seconds(time)
            );
            return Err(ScriptFailure::differs(line, what));
        }
        self.base = time;
        Ok(())
    }

    /// A segment of the peer arrives.
    fn inject(&mut self, segment: &ScriptSegment) {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.seq = Seq(segment.seq);
        packet.ack = Seq(segment.ack.unwrap_or_default());
        packet.flags = segment.flags;
        packet.window = segment.window.unwrap_or_default();
        packet.payload = u16::try_from(segment.payload).unwrap_or(u16::MAX);
        packet.ecn = segment.ecn.unwrap_or(Ecn::NotCapable);
        let listed = segment.options.clone().unwrap_or_default();
        let mut blocks = SackBlocks::new();
        for (start, end) in &listed.sack {
            blocks.push(Seq(*start), Seq(*end));
        }
        if packet.flags.has(TcpFlags::SYN) {
            // RFC 9293 §3.7.1: options reduce the size of segments. Endpoints leave this to the settings.
            let taken = if self.stamped && listed.timestamps.is_some() {
                STAMPS_LENGTH
            } else {
                0
            };
            packet.options = Options::Syn(SynOptions {
                mss: listed.mss.unwrap_or(DEFAULT_MSS) - taken,
                window_scale: listed.window_scale,
                sack_permitted: listed.sack_permitted,
            });
        } else if !listed.sack.is_empty() {
            packet.options = Options::Sack(blocks);
        }
        if let Some((value, echo)) = listed.timestamps {
            let echo = if echo == 0 { 0 } else { self.clocks.ours(echo) };
            packet.options = packet.options.stamped(Timestamps { value, echo });
        }
        self.endpoint.on_segment(&packet, self.now);
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[String],
        result: &str,
        line: usize,
    ) -> Result<(), ScriptFailure> {
        let argument = |place: usize| arguments.get(place).map_or("", String::as_str);
        let lacks = || {
            let what = format!("{name}({})", arguments.join(", "));
            ScriptFailure::lacks(line, Lacks::Call, what)
        };
        let bytes = |text: &str| text.parse::<u64>().map_err(|_| lacks());
        match name {
            "socket" | "bind" | "accept" | "fcntl" => {}
            "setsockopt" if HARMLESS.contains(&argument(2)) => {}
            "listen" => {
                self.listener = Some(argument(0).to_owned());
                self.endpoint.listen();
            }
            "connect" => self.endpoint.connect(),
            "write" | "send" | "sendto" => {
                let written = bytes(argument(2))?;
                if bytes(result)? != written {
                    return Err(lacks());
                }
                self.endpoint.write(written);
            }
            "read" | "recv" => self.read(bytes(argument(2))?, bytes(result)?, line)?,
            "close" if self.listener.as_deref() == Some(argument(0)) => {}
            "close" => self.close(),
            "shutdown" if argument(1) == "SHUT_WR" => self.endpoint.close(),
            _ => return Err(lacks()),
        }
        Ok(())
    }

    fn read(&mut self, most: u64, expected: u64, line: usize) -> Result<(), ScriptFailure> {
        let bytes = most.min(self.endpoint.received() - self.read);
        if bytes != expected {
            let what = format!("{bytes} bytes are read and not {expected}");
            return Err(ScriptFailure::differs(line, what));
        }
        self.endpoint.read(bytes);
        self.read += bytes;
        Ok(())
    }

    /// RFC 9293 §3.10.4 and §3.6.1: unread data is refused with a reset, and an attempt to connect is given up.
    fn close(&mut self) {
        let unread = self.endpoint.received() > self.read;
        if unread || self.endpoint.state() == State::SynSent {
            self.endpoint.abort();
        } else {
            self.endpoint.close();
        }
    }

    fn assert(&mut self, block: &str, line: usize) -> Result<(), ScriptFailure> {
        let endpoint = &self.endpoint;
        let known = |name: &str| value(endpoint, name);
        self.python
            .run(block, &known)
            .map_err(|problem| match problem {
                BlockProblem::False(what) => ScriptFailure::differs(line, what),
                BlockProblem::Unknown(name) => ScriptFailure::lacks(line, Lacks::Info, name),
                BlockProblem::Unread(what) => ScriptFailure::lacks(line, Lacks::Syntax, what),
            })
    }
}

/// A value or a constant of `tcp_info`, or a number of the endpoint that `tcp_info` lacks.
fn value(endpoint: &Endpoint<Sender>, name: &str) -> Option<i64> {
    let info = endpoint.info();
    let counters = endpoint.counters();
    let micros = |span: Span| span.as_ps() / 1_000_000;
    let ssthresh = ssthresh(endpoint);
    let number = match name {
        "TCP_CA_Open" => 0,
        "TCP_CA_Disorder" => 1,
        "TCP_CA_CWR" => 2,
        "TCP_CA_Recovery" => 3,
        "TCP_CA_Loss" => 4,
        "tcpi_ca_state" => match info.state {
            CongestionState::Open => 0,
            CongestionState::Disorder => 1,
            CongestionState::Cwr => 2,
            CongestionState::Recovery => 3,
            CongestionState::Loss => 4,
        },
        "tcpi_snd_cwnd" => info.cwnd,
        "tcpi_snd_ssthresh" => ssthresh.map_or(i32::MAX as u64, |bytes| bytes / endpoint.mss()),
        "tcpi_snd_mss" => endpoint.mss(),
        "tcpi_unacked" => info.unacked,
        "tcpi_sacked" => info.sacked,
        "tcpi_lost" => info.lost?,
        "tcpi_retrans" => info.retransmitted?,
        // Linux begins with the three duplicates that show a loss.
        "tcpi_reordering" => info.overtaken?.div_ceil(endpoint.mss()).max(3),
        "tcpi_total_retrans" => counters.retransmissions,
        "tcpi_rtt" => micros(endpoint.srtt()),
        "tcpi_rto" => micros(info.rto),
        "cwnd_bytes" => endpoint.cc().as_role().window(),
        "ssthresh_bytes" => ssthresh?,
        "timeouts" => counters.timeouts,
        "fast_recoveries" => counters.fast_recoveries,
        "tail_probes" => counters.tail_probes,
        "probes" => counters.probes,
        "undone" => counters.undone,
        "received" => endpoint.received(),
        _ => return None,
    };
    i64::try_from(number).ok()
}

/// The slow-start threshold in bytes; `None` if there is none yet.
fn ssthresh(endpoint: &Endpoint<Sender>) -> Option<u64> {
    let mut found = None;
    endpoint.cc().as_role().gauges(&mut |name, value| {
        if name == SSTHRESH.name {
            found = Some(whole(value));
        }
    });
    found
}

/// Bytes of the timestamp option in every segment (RFC 7323 appendix A).
const STAMPS_LENGTH: u16 = 12;
/// RFC 9293 §3.7.1.
const DEFAULT_MSS: u16 = 536;
/// Socket options without an effect here.
const HARMLESS: [&str; 6] = [
    "SO_REUSEADDR",
    "SO_SNDBUF",
    "TCP_NODELAY",
    "IP_MTU_DISCOVER",
    "IP_TOS",
    "TCP_QUICKACK",
];
