//! Timed scripts against the kernel: calls and the peer's segments are made here, and the kernel's segments must leave
//! at their times.
//!
//! The same text runs against an endpoint in virtual time ([`packetdrill::run`] with [`packetdrill::LinuxHost`]): one
//! script, two stacks. Numbers in a script are relative to the SYNs of both sides. The peer's SYN has number 0 here,
//! too; the number of the kernel's SYN is taken from its first segment.
//!
//! Calls are `socket`, `bind`, `listen`, `accept`, `connect`, `write`, `send`, `read`, `recv`, `shutdown` and `close`;
//! commands are settings in the notation of `sysctl`. Options of the head that are settings of the simulator are
//! ignored. Assertions on `tcp_info` and other calls are refused.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddrV4};
use std::time::Duration;

use base::{
    Ecn, FlowId, HostId, Options, Packet, SackBlocks, Seq, Span, SynOptions, TcpFlags, Time,
};
use machine::{Sysctl, clock};
use packetdrill::matcher::{Clocks, compare};
use packetdrill::script::{Action, Event, Script, When};
use packetdrill::segment::ScriptSegment;
use packetdrill::{FailureCause, Lacks, ScriptFailure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, Socket, Type};
use wire::Ends;

use super::device::{Device, KERNEL, OURS};

/// Runs a script against the kernel of this machine.
///
/// # Errors
/// The first line with which the kernel disagrees, or that needs a missing feature. A failure of the device has line 0.
pub fn run(text: &str) -> Result<(), ScriptFailure> {
    let script = Script::parse(text)?;
    let mut sysctls = Vec::new();
    for (line, commands) in &script.setup {
        for word in commands
            .split_whitespace()
            .filter(|word| word.contains('='))
        {
            let setting = word.trim_start_matches("/proc/sys/").replace('/', ".");
            let setting: Sysctl = setting
                .parse()
                .map_err(|_| lacks(*line, Lacks::Command, word))?;
            sysctls.push(setting);
        }
    }
    let device = Device::open(&sysctls).map_err(|error| failed(0, &error))?;
    let mut driver = Driver {
        device,
        start: clock::now(),
        base: Time::ZERO,
        sockets: Vec::new(),
        port: None,
        initial: None,
        clocks: Clocks::default(),
        sent: Vec::new(),
    };
    script
        .events
        .iter()
        .try_for_each(|event| driver.event(event))
}

struct Driver {
    device: Device,
    start: std::time::Instant,
    /// The base of relative times: the time of the previous event.
    base: Time,
    /// Sockets by their names in the script.
    sockets: Vec<(String, Socket)>,
    /// The port of the kernel's end, once known.
    port: Option<u16>,
    /// The number of the kernel's SYN, once known.
    initial: Option<Seq>,
    clocks: Clocks,
    /// Packets that have left but were not expected yet, oldest first.
    sent: Vec<(Time, Packet)>,
}

impl Driver {
    fn event(&mut self, event: &Event) -> Result<(), ScriptFailure> {
        let line = event.line;
        let (from, to) = match event.time {
            When::At(time) => (Time::ZERO + time, Time::ZERO + time),
            When::After(time) => (self.base + time, self.base + time),
            When::Between(from, to) => (self.base + from, self.base + to),
            When::Any => (self.base, self.base + LONGEST),
        };
        if let Action::Expect(segment) = &event.action {
            return self.expect(segment, (from, to), line);
        }
        self.wait(from).map_err(|error| failed(line, &error))?;
        self.base = self.now();
        match &event.action {
            Action::Inject(segment) => self.inject(segment).map_err(|error| failed(line, &error)),
            Action::Call {
                name,
                arguments,
                result,
            } => self.call(name, arguments, result, line),
            Action::Command(command) => Err(lacks(line, Lacks::Command, command)),
            Action::Assert(_) => Err(lacks(line, Lacks::Info, "tcp_info of the kernel")),
            Action::Expect(_) => Ok(()),
        }
    }

    fn now(&self) -> Time {
        let passed = self.start.elapsed().as_nanos();
        Time::from_ps(u64::try_from(passed).unwrap_or(u64::MAX / 1000) * 1000)
    }

    /// Reads what the kernel sends until `time`.
    fn wait(&mut self, time: Time) -> io::Result<()> {
        loop {
            self.read()?;
            let left = time.since(self.now()).as_ps() / 1000;
            if left == 0 {
                return Ok(());
            }
            let left = Timespec {
                tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(left % 1_000_000_000).unwrap_or(0),
            };
            poll(&mut [PollFd::new(&self.device, PollFlags::IN)], Some(&left))?;
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        while let Some(length) = self.device.read(&mut buffer)? {
            let now = self.now();
            let Ok(segment) = wire::decode(&buffer[..length]) else {
                continue;
            };
            let mut packet = segment.packet;
            self.port = Some(segment.ends.source.port());
            let initial = *self.initial.get_or_insert(packet.seq);
            packet.seq = Seq(packet.seq.0.wrapping_sub(initial.0));
            self.sent.push((now, packet));
        }
        Ok(())
    }

    fn expect(
        &mut self,
        expected: &ScriptSegment,
        (from, to): (Time, Time),
        line: usize,
    ) -> Result<(), ScriptFailure> {
        let last = to + TOLERANCE;
        while self.sent.is_empty() && self.now() < last {
            let soon = (self.now() + Span::from_millis(1)).min(last);
            self.wait(soon).map_err(|error| failed(line, &error))?;
        }
        if self.sent.is_empty() {
            return Err(differs(line, "nothing leaves"));
        }
        let (time, mut packet) = self.sent.remove(0);
        let mut payload = u32::from(packet.payload);
        // A script may expect the data of several segments as one.
        while payload < expected.payload {
            if self.sent.is_empty() {
                self.wait(self.now() + Span::from_millis(1))
                    .map_err(|error| failed(line, &error))?;
            }
            let next = self.sent.first().map(|(_, next)| *next);
            let Some(next) = next.filter(|next| next.seq == packet.seq.at(payload.into())) else {
                break;
            };
            payload += u32::from(next.payload);
            packet.flags = packet.flags.with(next.flags);
            self.sent.remove(0);
        }
        compare(
            (&packet, payload),
            expected,
            &mut self.clocks,
            (None, TOLERANCE),
        )
        .map_err(|what| differs(line, &what))?;
        if time + TOLERANCE < from || time > last {
            let what = format!(
                "expected at {:.3} s, left at {:.3} s",
                from.as_secs(),
                time.as_secs()
            );
            return Err(differs(line, &what));
        }
        self.base = time;
        Ok(())
    }

    /// A segment of the peer arrives at the kernel.
    fn inject(&mut self, segment: &ScriptSegment) -> io::Result<()> {
        let initial = self.initial.unwrap_or_default();
        let theirs = |number: u32| initial.at(number.into());
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.seq = Seq(segment.seq);
        packet.ack = theirs(segment.ack.unwrap_or_default());
        packet.flags = segment.flags;
        packet.window = segment.window.unwrap_or_default();
        packet.payload = u16::try_from(segment.payload).map_err(io::Error::other)?;
        packet.ecn = segment.ecn.unwrap_or(Ecn::NotCapable);
        let listed = segment.options.clone().unwrap_or_default();
        if packet.flags.has(TcpFlags::SYN) {
            packet.options = Options::Syn(SynOptions {
                mss: listed.mss.unwrap_or(DEFAULT_MSS),
                window_scale: listed.window_scale,
                sack_permitted: listed.sack_permitted,
            });
        } else if !listed.sack.is_empty() {
            let mut blocks = SackBlocks::new();
            for (start, end) in &listed.sack {
                blocks.push(theirs(*start), theirs(*end));
            }
            packet.options = Options::Sack(blocks);
        }
        let port = self.port.unwrap_or(PORT);
        let ends = Ends {
            source: SocketAddrV4::new(OURS, PORT),
            destination: SocketAddrV4::new(KERNEL, port),
        };
        let mut bytes = Vec::new();
        wire::encode(&mut bytes, &packet, ends, 0, &[]);
        self.device.write(&bytes)
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[String],
        result: &str,
        line: usize,
    ) -> Result<(), ScriptFailure> {
        let argument = |place: usize| arguments.get(place).map_or("", String::as_str);
        let expected = result.split_whitespace().next().unwrap_or_default();
        let bytes = argument(2).parse::<usize>().unwrap_or_default();
        let did = match name {
            "socket" => self.open(expected).map(|()| None),
            "bind" | "setsockopt" | "fcntl" => Ok(None),
            "listen" => self.socket(argument(0)).and_then(listen).map(|()| None),
            "accept" => self.accept(argument(0), expected).map(|()| None),
            "connect" => self.socket(argument(0)).and_then(connect).map(|()| None),
            "write" | "send" => self
                .socket(argument(0))
                .and_then(|mut socket| socket.write(&vec![0; bytes]))
                .map(Some),
            "read" | "recv" => self
                .socket(argument(0))
                .and_then(|mut socket| socket.read(&mut vec![0; bytes]))
                .map(Some),
            "shutdown" if argument(1) == "SHUT_WR" => self
                .socket(argument(0))
                .and_then(|socket| socket.shutdown(Shutdown::Write))
                .map(|()| None),
            "close" => {
                self.sockets.retain(|(known, _)| known != argument(0));
                Ok(None)
            }
            _ => {
                let what = format!("{name}({})", arguments.join(", "));
                return Err(lacks(line, Lacks::Call, &what));
            }
        };
        match did.map_err(|error| failed(line, &error))? {
            Some(done) if expected.parse() != Ok(done) => {
                Err(differs(line, &format!("{name} returns {done}")))
            }
            _ => Ok(()),
        }
    }

    fn socket(&self, name: &str) -> io::Result<&Socket> {
        let found = self.sockets.iter().find(|(known, _)| known == name);
        let found = found.map(|(_, socket)| socket);
        found.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "there is no such socket"))
    }

    /// A non-blocking socket in the namespace of the device.
    fn open(&mut self, name: &str) -> io::Result<()> {
        let socket = self.device.namespace().within(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            socket.set_nonblocking(true)?;
            // A script expects separate segments, not coalesced ones.
            socket.set_tcp_nodelay(true)?;
            Ok(socket)
        })?;
        self.sockets.push((name.to_owned(), socket));
        Ok(())
    }

    fn accept(&mut self, listener: &str, name: &str) -> io::Result<()> {
        let end = clock::now() + PATIENCE;
        let accepted = loop {
            match self.socket(listener)?.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock && clock::now() < end => {
                    std::thread::sleep(Duration::from_micros(200));
                }
                accepted => break accepted?.0,
            }
        };
        accepted.set_nonblocking(true)?;
        self.sockets.push((name.to_owned(), accepted));
        Ok(())
    }
}

fn listen(socket: &Socket) -> io::Result<()> {
    socket.bind(&SocketAddrV4::new(KERNEL, PORT).into())?;
    socket.listen(1)
}

fn connect(socket: &Socket) -> io::Result<()> {
    let to = SocketAddrV4::new(OURS, PORT);
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() == Some(nix::libc::EINPROGRESS) => Ok(()),
        other => other,
    }
}

fn differs(line: usize, what: &str) -> ScriptFailure {
    let cause = FailureCause::Differs(what.to_owned());
    ScriptFailure { line, cause }
}

fn lacks(line: usize, lack: Lacks, what: &str) -> ScriptFailure {
    let cause = FailureCause::Lacks(lack, what.to_owned());
    ScriptFailure { line, cause }
}

fn failed(line: usize, error: &io::Error) -> ScriptFailure {
    differs(line, &error.to_string())
}

/// The allowed difference of a time: on a busy machine a process may wait.
const TOLERANCE: Span = Span::from_millis(50);
/// How long to wait for a segment that may leave at any time.
const LONGEST: Span = Span::from_secs(5);
/// How long to wait for a connection that the kernel is about to accept.
const PATIENCE: Duration = Duration::from_millis(200);
/// The port of both ends, except for a socket that connects.
const PORT: u16 = 8080;
/// RFC 9293 §3.7.1.
const DEFAULT_MSS: u16 = 536;
