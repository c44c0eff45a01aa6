//! Our side of the device: connections, both directions of the way, and the loop.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::time::Instant;

use base::cast::low_32;
use base::{Seq, Time};
use engine::random::Stream;
use machine::payload::Payload;
use machine::{Sysctl, clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tcp::Progress;
use wire::pcapng::CaptureDirection;
use wire::{DecodedSegment, Ends, Refusals};

use super::capture::Capture;
use super::connection::Connection;
use super::device::Device;
use super::path::{Impairment, Path};
use super::stack::Stack;

/// The application on top of our TCP.
pub(crate) trait Application {
    /// A client connects. Returns the stack that answers and a number for the connection; `None` refuses it.
    fn accept(&mut self, ends: &Ends) -> Option<(&Stack, usize)>;

    /// A connection has changed: data may have arrived, the peer may have finished.
    fn on_progress(&mut self, connection: &mut Connection, progress: Progress) -> io::Result<()>;
}

/// How the network is.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) impairment: Impairment,
    pub(crate) seed: u64,
    pub(crate) capture: Option<PathBuf>,
    pub(crate) sysctls: Vec<Sysctl>,
}

/// See the module documentation.
pub(crate) struct Host {
    pub(crate) device: Device,
    start: Instant,
    /// By the ends in the peer's packets.
    connections: BTreeMap<Ends, Connection>,
    /// Both directions.
    outward: Path,
    inward: Path,
    refused: Refusals,
    capture: Option<Capture>,
    pub(crate) payload: Payload,
    /// Numbers of SYNs.
    numbers: Stream,
    /// Answers segments to unknown ports.
    nobody: Stack,
    buffer: Vec<u8>,
}

impl Host {
    pub(crate) fn open(network: &Network) -> io::Result<Self> {
        let capture = network
            .capture
            .as_deref()
            .map(Capture::create)
            .transpose()?;
        let Network {
            impairment, seed, ..
        } = *network;
        Ok(Self {
            device: Device::open(&network.sysctls)?,
            start: clock::now(),
            connections: BTreeMap::new(),
            outward: Path::new(impairment, seed, "to the kernel"),
            inward: Path::new(impairment, seed, "from the kernel"),
            refused: Refusals::default(),
            capture,
            payload: Payload::new(),
            numbers: Stream::new(seed, "initial sequence numbers", 0),
            nobody: Stack::of(schemes::PLAIN_SENDER.name, &[]).expect("a scheme with its defaults"),
            buffer: vec![0; 1 << 16],
        })
    }

    /// Time since the start.
    pub(crate) fn now(&self) -> Time {
        self.at(clock::now())
    }

    /// The simulated time of an instant, by the clock of this host.
    pub(crate) fn at(&self, moment: Instant) -> Time {
        let passed = moment.saturating_duration_since(self.start).as_nanos();
        Time::from_ps(u64::try_from(passed).unwrap_or(u64::MAX / 1000) * 1000)
    }

    /// Opens a connection to the kernel.
    pub(crate) fn connect(
        &mut self,
        stack: &Stack,
        (from, to): (SocketAddrV4, SocketAddrV4),
        number: usize,
        prepare: impl FnOnce(&mut Connection),
    ) -> io::Result<()> {
        let ends = Ends {
            source: from,
            destination: to,
        };
        let (now, initial) = (self.now(), self.initial());
        let mut connection = Connection::new(stack, ends, initial, number, now);
        prepare(&mut connection);
        connection.connect();
        self.flush(&mut connection, now)?;
        self.connections.insert(ends.reversed(), connection);
        Ok(())
    }

    /// One turn: handles arrived packets, due timers and leaving packets; then waits for the next event, at most until
    /// `limit`.
    pub(crate) fn turn(
        &mut self,
        application: &mut dyn Application,
        limit: Time,
    ) -> io::Result<()> {
        self.read()?;
        while let Some(packet) = self.inward.due(self.now()) {
            self.arrive(&packet, application)?;
        }
        self.expire(application)?;
        self.write()?;
        let deadlines = self.connections.values().map(Connection::deadline);
        let next = deadlines.min().unwrap_or(Time::NEVER);
        let next = next.min(self.inward.next()).min(self.outward.next());
        self.wait(next.min(limit))
    }

    /// All connections that are there.
    pub(crate) fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.values()
    }

    /// Removes the connections for which `keep` is false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Connection) -> bool) {
        self.connections.retain(|_, connection| keep(connection));
    }

    /// Packets of the kernel that were refused.
    pub(crate) const fn refused(&self) -> &Refusals {
        &self.refused
    }

    /// The numbers of packets that were lost on purpose and late on purpose, in both directions.
    pub(crate) const fn impaired(&self) -> (u64, u64) {
        (
            self.outward.lost + self.inward.lost,
            self.outward.late + self.inward.late,
        )
    }

    /// Ends the capture, if there is one.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.capture.take().map_or(Ok(()), Capture::finish)
    }

    /// Puts the packets that the kernel has sent into the network.
    fn read(&mut self) -> io::Result<()> {
        while let Some(length) = self.device.read(&mut self.buffer)? {
            let now = self.now();
            let packet = &self.buffer[..length];
            let arrives = self.inward.offer(packet, 0, now);
            if let (false, Some(capture)) = (arrives, &mut self.capture) {
                capture.write(packet, CaptureDirection::In, Some(LOST), now)?;
            }
        }
        Ok(())
    }

    /// Passes arrived packets to the kernel. Reads its answers meanwhile, because its queue is short.
    fn write(&mut self) -> io::Result<()> {
        for number in 1_u32.. {
            let Some(packet) = self.outward.due(self.now()) else {
                break;
            };
            self.device.write(&packet)?;
            if number % BETWEEN == 0 {
                self.read()?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, packet: &[u8], application: &mut dyn Application) -> io::Result<()> {
        let now = self.now();
        let segment = match wire::decode(packet) {
            Ok(segment) => segment,
            Err(reason) => {
                self.refused.add(reason);
                return self.capture(packet, Some(reason.name()), now);
            }
        };
        if !self.connections.contains_key(&segment.ends) {
            self.meet(&segment, application)?;
        }
        let Some(mut connection) = self.connections.remove(&segment.ends) else {
            return self.capture(packet, Some(NOBODY), now);
        };
        let (progress, is_low) = connection.on_segment(&segment, now);
        self.capture(packet, is_low.then_some(LOW), now)?;
        application.on_progress(&mut connection, progress)?;
        self.flush(&mut connection, now)?;
        self.connections.insert(segment.ends, connection);
        Ok(())
    }

    /// A segment of an unknown connection: opens one, or is answered with a reset.
    fn meet(
        &mut self,
        segment: &DecodedSegment<'_>,
        application: &mut dyn Application,
    ) -> io::Result<()> {
        use base::TcpFlags;
        let (now, initial) = (self.now(), self.initial());
        let ends = segment.ends.reversed();
        let flags = segment.packet.flags;
        let opens = flags.has(TcpFlags::SYN) && !flags.has(TcpFlags::ACK);
        let accepted = opens.then(|| application.accept(&segment.ends)).flatten();
        if let Some((stack, number)) = accepted {
            let mut connection = Connection::new(stack, ends, initial, number, now);
            connection.listen();
            self.connections.insert(segment.ends, connection);
            return Ok(());
        }
        let mut nobody = Connection::new(&self.nobody, ends, initial, usize::MAX, now);
        nobody.on_segment(segment, now);
        self.flush(&mut nobody, now)
    }

    fn expire(&mut self, application: &mut dyn Application) -> io::Result<()> {
        let now = self.now();
        let due = self.connections.iter();
        let due = due.filter(|(_, connection)| connection.deadline() <= now);
        let due: Vec<Ends> = due.map(|(ends, _)| *ends).collect();
        for ends in due {
            let Some(mut connection) = self.connections.remove(&ends) else {
                continue;
            };
            let progress = connection.on_deadline(now);
            application.on_progress(&mut connection, progress)?;
            self.flush(&mut connection, now)?;
            self.connections.insert(ends, connection);
        }
        Ok(())
    }

    /// Puts everything that a connection has to send into the network.
    fn flush(&mut self, connection: &mut Connection, now: Time) -> io::Result<()> {
        let mut bytes = Vec::new();
        while let Some(priority) = connection.emit(&mut bytes, &self.payload, now)? {
            let arrives = self.outward.offer(&bytes, priority, now);
            if let Some(capture) = &mut self.capture {
                let comment = (!arrives).then_some(LOST);
                capture.write(&bytes, CaptureDirection::Out, comment, now)?;
            }
            bytes.clear();
        }
        Ok(())
    }

    fn capture(&mut self, packet: &[u8], comment: Option<&str>, now: Time) -> io::Result<()> {
        match &mut self.capture {
            Some(capture) => capture.write(packet, CaptureDirection::In, comment, now),
            None => Ok(()),
        }
    }

    /// Waits for a packet of the kernel, at most until `time`.
    fn wait(&self, time: Time) -> io::Result<()> {
        let left = time.since(self.now()).as_ps() / 1000;
        let left = Timespec {
            tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(left % 1_000_000_000).unwrap_or(0),
        };
        let mut files = [PollFd::new(&self.device, PollFlags::IN)];
        match poll(&mut files, Some(&left)) {
            Err(rustix::io::Errno::INTR) => Ok(()),
            polled => Ok(polled.map(drop)?),
        }
    }

    fn initial(&mut self) -> Seq {
        Seq(low_32(self.numbers.bits()))
    }
}

/// Packets written before the kernel's packets are read: its queue has 500.
const BETWEEN: u32 = 32;

// Comments of packets.
const LOST: &str = "lost on purpose";
const NOBODY: &str = "nobody is here";
const LOW: &str = "counted as an ACK of low-priority data";
