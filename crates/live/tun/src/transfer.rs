//! Transfers between our TCP and the kernel's; every byte is checked on arrival.

use std::io::{self, ErrorKind, Read as _, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use base::{Span, Time};
use machine::namespace::Namespace;
use machine::payload::Payload;
use machine::{Sysctl, clock, interrupt};
use nix::sys::socket::{setsockopt, sockopt::RcvBufForce};
use protocol::LowAcks;
use scenario::Problems;
use socket2::{Domain, Protocol, Socket, Type};
use tcp::Progress;
use wire::Ends;

use super::connection::{Body, Connection, Source};
use super::device::{KERNEL, OURS};
use super::failure::Failure;
use super::host::{Application, Host, Network};
use super::low::LowRule;
use super::path::Impairment;
use super::stack::Stack;

/// One of the two sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The endpoints of `tcp`.
    Ours,
    /// The kernel's TCP.
    Kernel,
}

/// A connection with data in one direction.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The scheme of our side.
    pub scheme: String,
    /// Payload bytes.
    pub size: u64,
    /// Who sends them.
    pub sender: Side,
    /// Who opens the connection.
    pub opener: Side,
}

/// How a transfer went.
#[derive(Clone, Debug)]
pub struct Done {
    /// Whether every byte arrived exactly once at the right offset.
    pub right: bool,
    /// Whether both sides closed with FINs, both were acknowledged, and neither side sent a reset before.
    pub orderly: bool,
    /// The error at the kernel's side, if there was one.
    pub failure: Option<String>,
    /// From its opening until both directions were complete, in milliseconds.
    pub took_ms: Option<f64>,
    /// From its opening until the kernel's side had read the last byte, in milliseconds; only if our side sent it.
    pub arrived_ms: Option<f64>,
    /// Fast recoveries of our side.
    pub fast_recoveries: u64,
    /// Its timeouts.
    pub timeouts: u64,
    /// Segments that it retransmitted.
    pub retransmissions: u64,
    /// The ACKs by their class; `None` if it sends nothing at low priorities.
    pub low_acks: Option<LowAcks>,
}

/// How a session is.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What happens to packets.
    pub impairment: Impairment,
    /// The seed of losses and lateness.
    pub seed: u64,
    /// The file for packets, if they are captured.
    pub capture: Option<PathBuf>,
    /// Receive buffer of the kernel's sockets, bytes; `None`: the kernel's default.
    pub receive_buffer: Option<usize>,
    /// Settings of the kernel's side.
    pub sysctls: Vec<Sysctl>,
    /// Settings of our side, as `key=value`.
    pub sets: Vec<String>,
    /// The rule for ACKs of data of low priority.
    pub rule: LowRule,
}

impl Default for Setup {
    /// No impairment, and room for 4 MB.
    fn default() -> Self {
        Self {
            impairment: Impairment::NONE,
            seed: 1,
            capture: None,
            receive_buffer: Some(4_000_000),
            sysctls: Vec::new(),
            sets: Vec::new(),
            rule: LowRule::default(),
        }
    }
}

/// A device with both sides, for transfers one after the other or together.
pub struct Session {
    host: Host,
    setup: Setup,
    /// Transfers so far. Each uses its own ports.
    count: u16,
}

impl Session {
    /// Makes the device.
    ///
    /// # Errors
    /// If the machine refuses.
    pub fn open(setup: Setup) -> Result<Self, Failure> {
        let host = Host::open(&Network {
            impairment: setup.impairment,
            seed: setup.seed,
            capture: setup.capture.clone(),
            sysctls: setup.sysctls.clone(),
        })?;
        let count = 0;
        Ok(Self { host, setup, count })
    }

    /// Checks that our side can run this scheme with these settings.
    ///
    /// # Errors
    /// If the scheme does not exist, a setting is wrong, or the scheme needs more than its sender.
    pub fn check(scheme: &str, sets: &[String]) -> Result<(), Problems> {
        Stack::of(scheme, sets).map(drop)
    }

    /// Makes transfers, all of them at the same time.
    ///
    /// # Errors
    /// If a scheme does not exist, or the device fails. An error of one transfer is part of its result.
    ///
    /// # Panics
    /// If a thread of the kernel's side panics.
    pub fn run(&mut self, transfers: &[Transfer]) -> Result<Vec<Done>, Failure> {
        let stacks = transfers.iter();
        let rule = self.setup.rule;
        let stacks = stacks.map(|transfer| {
            let stack = Stack::of(&transfer.scheme, &self.setup.sets)?;
            Ok::<_, Failure>(stack.with_rule(rule))
        });
        let mut batch = Batch {
            transfers,
            stacks: stacks.collect::<Result<_, _>>()?,
            first: FIRST_PORT + self.count,
            received: vec![(0, true); transfers.len()],
            payload: Payload::new(),
        };
        let number = u16::try_from(transfers.len()).unwrap_or(u16::MAX);
        self.count = self.count.wrapping_add(number) % PORTS;
        let (told, events) = mpsc::channel();
        let namespace = self.host.device.namespace().try_clone()?;
        let buffer = self.setup.receive_buffer;
        let payload = Payload::new();
        let results = thread::scope(|scope| {
            for (number, transfer) in transfers.iter().enumerate() {
                let (told, namespace, payload) = (told.clone(), &namespace, &payload);
                let port = batch.port(number);
                scope.spawn(move || {
                    let kernel = Kernel {
                        transfer,
                        number,
                        port,
                        buffer,
                        payload,
                    };
                    let done = namespace.enter().and_then(|()| kernel.run(&told));
                    told.send((number, Event::Done(done))).unwrap_or(());
                });
            }
            self.drive(&mut batch, &events)
        })?;
        let done = results.iter().enumerate();
        let done = done.map(|(number, result)| batch.judge(number, result.as_ref(), &self.host));
        let done = done.collect();
        self.host.retain(|_| false);
        Ok(done)
    }

    /// Ends the capture, if there is one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.host.finish()
    }

    /// The numbers of packets that were lost on purpose and late on purpose, so far.
    pub fn impaired(&self) -> (u64, u64) {
        self.host.impaired()
    }

    /// Packets of the kernel that were refused, in words; empty if there are none.
    pub fn refused(&self) -> String {
        let all = wire::Refusal::ALL.into_iter();
        let counted = all.map(|reason| (reason, self.host.refused().of(reason)));
        let told = counted.filter(|(_, count)| *count > 0);
        let told: Vec<_> = told
            .map(|(reason, count)| format!("{reason}: {count}"))
            .collect();
        told.join(", ")
    }

    /// Turns until everything is over on both sides. Returns the kernel side's result of each transfer.
    fn drive(
        &mut self,
        batch: &mut Batch<'_>,
        events: &Receiver<(usize, Event)>,
    ) -> io::Result<Vec<Option<io::Result<Read>>>> {
        let mut results: Vec<Option<io::Result<Read>>> =
            batch.transfers.iter().map(|_| None).collect();
        let end = self.host.now() + LONGEST;
        let mut look = Time::ZERO;
        loop {
            interrupt::check()?;
            let now = self.host.now();
            self.host.turn(batch, (now + PERIOD).min(end))?;
            while let Ok((number, event)) = events.try_recv() {
                match event {
                    Event::Listening => batch.connect(number, &mut self.host)?,
                    Event::Done(result) => results[number] = Some(result),
                }
            }
            let is_over = results.iter().all(Option::is_some)
                && self.host.connections().all(Connection::is_ended);
            if is_over && now >= look {
                if is_quiet(self.host.device.namespace())? {
                    return Ok(results);
                }
                look = now + Span::from_millis(20);
            }
            if now >= end {
                return Ok(results);
            }
        }
    }
}

/// Transfers that run together, as the application of our side.
struct Batch<'a> {
    transfers: &'a [Transfer],
    stacks: Vec<Stack>,
    /// The port of the first one.
    first: u16,
    /// Bytes received by our side, and whether they were right.
    received: Vec<(u64, bool)>,
    payload: Payload,
}

impl Batch<'_> {
    /// The port on which the side that does not open the connection listens.
    fn port(&self, number: usize) -> u16 {
        self.first + u16::try_from(number).expect("a batch of transfers")
    }

    fn prepare(transfer: &Transfer, connection: &mut Connection) {
        if transfer.sender == Side::Ours {
            let source = Source {
                head: Vec::new(),
                body: Body::Generated(connection.number),
            };
            connection.send(source, transfer.size);
        }
    }

    fn connect(&self, number: usize, host: &mut Host) -> io::Result<()> {
        let port = self.port(number);
        let ends = (
            SocketAddrV4::new(OURS, port),
            SocketAddrV4::new(KERNEL, port),
        );
        let transfer = &self.transfers[number];
        host.connect(&self.stacks[number], ends, number, |connection| {
            Self::prepare(transfer, connection);
        })
    }

    /// The result of a transfer, from both sides.
    fn judge(&self, number: usize, result: Option<&io::Result<Read>>, host: &Host) -> Done {
        let transfer = &self.transfers[number];
        let connection = host
            .connections()
            .find(|connection| connection.number == number);
        let failure = match result {
            Some(Ok(_)) => None,
            Some(Err(error)) => Some(error.to_string()),
            None => Some("it took too long".to_owned()),
        };
        let read = result.and_then(|result| result.as_ref().ok());
        let told = read.is_some_and(|read| read.right);
        let right = match transfer.sender {
            Side::Ours => told,
            Side::Kernel => told && self.received[number] == (transfer.size, true),
        };
        let counters = connection.map(Connection::counters).unwrap_or_default();
        let took = connection.and_then(Connection::took);
        let last = read.and_then(|read| read.last).zip(connection);
        let arrived = last.map(|(last, connection)| host.at(last).since(connection.began()));
        Done {
            right,
            orderly: connection.is_some_and(Connection::is_orderly),
            failure,
            took_ms: took.map(|took| took.as_secs() * 1e3),
            arrived_ms: arrived.map(|arrived| arrived.as_secs() * 1e3),
            fast_recoveries: counters.fast_recoveries,
            timeouts: counters.timeouts,
            retransmissions: counters.retransmissions,
            low_acks: connection.and_then(Connection::low_acks),
        }
    }
}

impl Application for Batch<'_> {
    fn accept(&mut self, ends: &Ends) -> Option<(&Stack, usize)> {
        let number = ends.destination.port().checked_sub(self.first)?;
        let number = usize::from(number);
        Some((self.stacks.get(number)?, number))
    }

    fn on_progress(&mut self, connection: &mut Connection, progress: Progress) -> io::Result<()> {
        let number = connection.number;
        if progress.opened {
            Self::prepare(&self.transfers[number], connection);
        }
        let bytes = connection.take();
        let (received, right) = &mut self.received[number];
        *right &= self.payload.is_right(number, *received, &bytes);
        *received += bytes.len() as u64;
        if progress.peer_finished && self.transfers[number].sender == Side::Kernel {
            connection.close();
        }
        Ok(())
    }
}

/// A report of the kernel's side.
enum Event {
    /// Our side may connect.
    Listening,
    /// It is over.
    Done(io::Result<Read>),
}

/// The bytes read by the kernel's side.
#[derive(Clone, Copy, Debug)]
struct Read {
    /// Whether it was right.
    right: bool,
    /// When the last byte from our side arrived.
    last: Option<Instant>,
}

/// The kernel's side of a transfer.
struct Kernel<'a> {
    transfer: &'a Transfer,
    number: usize,
    port: u16,
    buffer: Option<usize>,
    payload: &'a Payload,
}

impl Kernel<'_> {
    fn run(&self, told: &Sender<(usize, Event)>) -> io::Result<Read> {
        let mut stream = self.open(told)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        if self.transfer.sender == Side::Kernel {
            self.write(&mut stream)?;
            stream.shutdown(Shutdown::Write)?;
        }
        let (received, right, last) = self.read(&mut stream)?;
        if self.transfer.sender == Side::Ours {
            stream.shutdown(Shutdown::Write)?;
            let right = right && received == self.transfer.size;
            return Ok(Read { right, last });
        }
        let right = received == 0;
        Ok(Read { right, last: None })
    }

    fn open(&self, told: &Sender<(usize, Event)>) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        if let Some(buffer) = &self.buffer {
            setsockopt(&socket, RcvBufForce, buffer)?;
        }
        if self.transfer.opener == Side::Kernel {
            socket.connect(&SocketAddrV4::new(OURS, self.port).into())?;
            return Ok(socket.into());
        }
        socket.bind(&SocketAddrV4::new(KERNEL, self.port).into())?;
        socket.listen(1)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        told.send((self.number, Event::Listening)).unwrap_or(());
        let listener: TcpListener = socket.into();
        Ok(listener.accept()?.0)
    }

    fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut written = 0;
        while written < self.transfer.size {
            let piece = self.payload.at(self.number, written);
            let left = usize::try_from(self.transfer.size - written).unwrap_or(usize::MAX);
            let length = stream.write(&piece[..piece.len().min(left)])?;
            written += length as u64;
        }
        Ok(())
    }

    /// Reads until the end. Returns the number of bytes, whether they were right, and when the last byte arrived.
    fn read(&self, stream: &mut TcpStream) -> io::Result<(u64, bool, Option<Instant>)> {
        let (mut received, mut right, mut last) = (0, true, None);
        let mut buffer = vec![0; 1 << 16];
        loop {
            let length = match stream.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                length => length?,
            };
            if length == 0 {
                return Ok((received, right, last));
            }
            right &= self
                .payload
                .is_right(self.number, received, &buffer[..length]);
            received += length as u64;
            last = Some(clock::now());
        }
    }
}

/// Whether every socket of the kernel's side is closed or in TIME-WAIT.
fn is_quiet(namespace: &Namespace) -> io::Result<bool> {
    let table = namespace.within(|| std::fs::read_to_string("/proc/thread-self/net/tcp"))?;
    let states = table
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().nth(3));
    Ok(states
        .into_iter()
        .all(|state| [TIME_WAIT, CLOSED, LISTEN].contains(&state)))
}

// `net/tcp_states.h`
const TIME_WAIT: &str = "06";
const CLOSED: &str = "07";
const LISTEN: &str = "0A";

/// Ports of transfers.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 40_000;

/// A transfer that is not over after this time has failed: several timeouts, each twice as long as the one before, may
/// follow each other.
const LONGEST: Span = Span::from_secs(60);
/// For the same reason.
const PATIENCE: Duration = Duration::from_secs(50);
/// The interval of checking reports from the kernel's side.
const PERIOD: Span = Span::from_millis(2);
