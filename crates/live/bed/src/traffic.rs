//! Runs the plan of the simulator on real sockets, with one thread and one clock for both ends.
//!
//! A flow starts at its time with `connect`, or with its write if its connection is open. It is complete when the
//! receiver has read its last byte.

mod connection;
mod counts;
mod receive;
mod sockets;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::path::Path;
use std::time::{Duration, Instant};

use base::{HostId, Span, Time};
use machine::clock::{self, duration};
use machine::interrupt;
use machine::payload::Payload;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use plan::workload::{Barrier, Dependencies, PlannedConnection, PlannedFlow};
use socket2::Socket;

use crate::lan::{self, Lan};
use crate::series::Arrivals;
use crate::stack::Law;
use crate::testbed::Testbed;
use connection::{Incoming, Outgoing};
pub(crate) use counts::Counts;

/// The connections and flows to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    pub(crate) connections: &'a [PlannedConnection],
    pub(crate) flows: &'a [PlannedFlow],
    pub(crate) barriers: &'a [Barrier],
    pub(crate) dependencies: &'a Dependencies,
    /// The congestion control of every host, by its kernel name.
    pub(crate) control: &'a str,
    /// Whether sockets of both ends set `TCP_NODELAY`.
    pub(crate) nodelay: bool,
    /// The laws at every port of a switch.
    pub(crate) laws: &'a [Law],
    /// The type-of-service byte of packets, by index of their group. Empty if ports have no bands.
    pub(crate) tos: &'a [u8],
    /// When unfinished flows are given up.
    pub(crate) limit: Duration,
    /// The file for the packets of the bottleneck's switch, if they are captured.
    pub(crate) capture: Option<&'a Path>,
    /// Whether series over time are wanted.
    pub(crate) over_time: bool,
}

/// A flow that was sent.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sent {
    /// When it started, if it did.
    pub(crate) start: Option<Duration>,
    /// When it wrote its first bytes, if it did.
    pub(crate) wrote: Option<Duration>,
    /// When its last byte was read.
    pub(crate) completion: Option<Duration>,
    /// How much later than planned it started.
    pub(crate) late: Duration,
    /// The time between the opening of its connection and its first bytes.
    pub(crate) waited: Duration,
    pub(crate) size: u64,
    pub(crate) received: u64,
    pub(crate) failed: bool,
    /// The kernel's counts on its connection, from the end of the previous flow to the end of this one.
    pub(crate) counts: Counts,
}

impl Work<'_> {
    /// The type-of-service byte of a connection's packets, if ports have bands.
    fn tos(&self, connection: usize) -> Option<u8> {
        let group = self.connections[connection].group as usize;
        self.tos.get(group).copied()
    }
}

impl Sent {
    /// Whether it lasts as long as the run.
    pub(crate) fn is_endless(&self) -> bool {
        self.size == ENDLESS
    }
}

/// The flows that were sent.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    pub(crate) flows: Vec<Sent>,
    /// The zero of all its times.
    pub(crate) zero: Instant,
    /// When the run was over.
    pub(crate) ended: Duration,
    /// Reads with other bytes than were written.
    pub(crate) corrupted: u64,
    /// Segment sizes and congestion controls of sockets that differ from the requested ones.
    pub(crate) strange: BTreeSet<String>,
    /// The bytes read over time, if wanted.
    pub(crate) arrivals: Arrivals,
    /// Connections by the addresses of their sender and receiver. A sender may use one port for several receivers.
    pub(crate) by_ends: BTreeMap<(SocketAddr, SocketAddr), usize>,
}

/// Sends everything and waits until it has arrived and every connection is closed, or until the time is over.
pub(crate) fn send(bed: &Testbed, lan: &Lan, work: &Work<'_>) -> io::Result<Traffic> {
    let mut sender = Generator::new(bed, lan, work)?;
    sender.run()?;
    sender.traffic.ended = sender.now();
    for connection in 0..sender.outgoing.len() {
        sender.book(connection)?;
        let outgoing = &sender.outgoing[connection];
        (sender.traffic.strange).extend(outgoing.segments_but(bed.mss));
        outgoing.abort()?;
    }
    let Generator { traffic, .. } = sender;
    Ok(traffic)
}

struct Generator<'a> {
    work: &'a Work<'a>,
    /// The largest window that receivers offer.
    window: u32,
    epoll: Epoll,
    payload: Payload,
    listeners: Vec<(HostId, Socket)>,
    outgoing: Vec<Outgoing>,
    /// By number of acceptance.
    incoming: Vec<Option<Incoming>>,
    /// By connection: its index among accepted ones, and bytes of requests that the kernel has not accepted.
    asking: Vec<(Option<usize>, u64)>,
    /// Flows of each barrier that are not complete.
    waiting: Vec<u32>,
    /// Dependencies between flows that are left.
    dependencies: Dependencies,
    /// The future actions, the next on top, each with its time.
    agenda: BinaryHeap<Reverse<(Duration, Act)>>,
    /// Flows and connections that are not over.
    open: usize,
    /// No event handled from now on happened earlier.
    since: Duration,
    traffic: Traffic,
    buffer: Vec<u8>,
}

/// An action at a planned time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Act {
    /// Opens a connection.
    Open(usize),
    /// Starts a flow.
    Start(usize),
    /// Ends a flow that has no end of its own.
    Stop(usize),
}

impl<'a> Generator<'a> {
    fn new(bed: &Testbed, lan: &Lan, work: &'a Work<'a>) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let receivers: BTreeSet<HostId> = (work.connections.iter())
            .map(|connection| connection.receiver)
            .collect();
        let mut listeners = Vec::new();
        for host in receivers {
            let listener = (lan.host(bed, host)).within(|| sockets::listen(host, work))?;
            let event = EpollEvent::new(EpollFlags::EPOLLIN, LISTENER | listeners.len() as u64);
            epoll.add(&listener, event)?;
            listeners.push((host, listener));
        }
        let outgoing = sockets::outgoing(bed, lan, work)?;
        let mut generator = Self {
            work,
            window: bed.route.window,
            epoll,
            payload: Payload::new(),
            listeners,
            open: work.flows.len() + outgoing.len(),
            outgoing,
            incoming: Vec::new(),
            asking: vec![(None, 0); work.connections.len()],
            waiting: work.barriers.iter().map(|one| one.waits_for).collect(),
            dependencies: work.dependencies.clone(),
            agenda: BinaryHeap::new(),
            since: Duration::ZERO,
            traffic: Traffic {
                flows: vec![Sent::default(); work.flows.len()],
                zero: clock::now(),
                ended: Duration::ZERO,
                corrupted: 0,
                strange: BTreeSet::new(),
                arrivals: Arrivals::default(),
                by_ends: BTreeMap::new(),
            },
            buffer: vec![0; BUFFER],
        };
        generator.plan();
        Ok(generator)
    }

    /// Plans all actions that do not wait for other flows.
    fn plan(&mut self) {
        let mut behind = vec![false; self.work.flows.len()];
        for barrier in self.work.barriers {
            for flow in barrier.next.clone() {
                behind[flow as usize] = true;
            }
        }
        for flow in self.dependencies.flows() {
            behind[flow as usize] = true;
        }
        for (number, connection) in self.work.connections.iter().enumerate() {
            if connection.open != Time::NEVER {
                let at = duration(connection.open.since(Time::ZERO));
                self.agenda.push(Reverse((at, Act::Open(number))));
            }
        }
        for (number, flow) in self.work.flows.iter().enumerate() {
            if !behind[number] {
                let at = duration(flow.start.since(Time::ZERO));
                self.agenda.push(Reverse((at, Act::Start(number))));
            }
            if flow.stop != Time::NEVER {
                let at = duration(flow.stop.since(Time::ZERO));
                self.agenda.push(Reverse((at, Act::Stop(number))));
            }
        }
    }

    fn run(&mut self) -> io::Result<()> {
        let mut events = vec![EpollEvent::empty(); 256];
        self.traffic.zero = clock::now();
        let mut last = Duration::ZERO;
        loop {
            interrupt::check()?;
            let now = self.now();
            while let Some(Reverse((at, act))) = self.agenda.peek().copied() {
                if at > self.now() {
                    break;
                }
                self.agenda.pop();
                match act {
                    Act::Open(connection) => self.connect(connection)?,
                    Act::Start(flow) => self.start(flow, at)?,
                    Act::Stop(flow) => self.stop(flow)?,
                }
            }
            if self.open == 0 || now > self.work.limit {
                return Ok(());
            }
            let next = self.agenda.peek().map(|Reverse((at, _))| *at);
            let rest = next.map_or(PATIENCE, |at| at.saturating_sub(self.now()).min(PATIENCE));
            // Whole milliseconds; the last one is a busy wait.
            let timeout = EpollTimeout::try_from(rest.as_millis()).unwrap_or(EpollTimeout::ZERO);
            let asked = self.now();
            let ready = match self.epoll.wait(&mut events, timeout) {
                Err(nix::errno::Errno::EINTR) => 0,
                ready => ready?,
            };
            // An immediate answer reports earlier events; an answer after a wait reports new ones.
            let told = self.now();
            let waited = timeout != EpollTimeout::ZERO && told.saturating_sub(asked) > MOMENT;
            self.since = if waited { told } else { last };
            last = told;
            for event in &events[..ready] {
                self.handle(*event)?;
            }
        }
    }

    fn handle(&mut self, event: EpollEvent) -> io::Result<()> {
        let place = usize::try_from(event.data() & !KIND).expect("a place in memory");
        match event.data() & KIND {
            LISTENER => self.accept(place),
            OUTGOING => self.on_sender(place, event.events()),
            _ => self.read(place),
        }
    }

    fn now(&self) -> Duration {
        clock::now().saturating_duration_since(self.traffic.zero)
    }

    /// Starts a flow that was planned for `at`.
    fn start(&mut self, number: usize, at: Duration) -> io::Result<()> {
        let flow = &self.work.flows[number];
        let connection = flow.connection as usize;
        let now = self.now();
        let sent = &mut self.traffic.flows[number];
        sent.start = Some(now);
        sent.late = now.saturating_sub(at);
        sent.size = flow.size.unwrap_or(ENDLESS);
        let request = self.work.connections[connection].request;
        if request > 0 {
            self.outgoing[connection].expect(number, sent.size);
            self.asking[connection].1 += request;
            if self.outgoing[connection].is_new() {
                return self.connect(connection);
            }
            return self.ask(connection);
        }
        sent.wrote = Some(now);
        if sent.is_endless() {
            let stops = self.work.flows[number].stop != Time::NEVER;
            self.outgoing[connection].hold_back(stops)?;
        }
        let size = self.traffic.flows[number].size;
        self.outgoing[connection].add(number, size);
        if self.outgoing[connection].is_new() {
            self.connect(connection)
        } else {
            self.write(connection)
        }
    }

    /// Writes no more of a flow without end. It ends with the bytes written so far.
    fn stop(&mut self, number: usize) -> io::Result<()> {
        let connection = self.work.flows[number].connection as usize;
        self.outgoing[connection].stop(number);
        self.write(connection)
    }

    /// The receiver sends its remaining requests, once the connection is open.
    fn ask(&mut self, connection: usize) -> io::Result<()> {
        let (place, bytes) = self.asking[connection];
        let incoming = place.and_then(|place| self.incoming[place].as_mut());
        if let Some(incoming) = incoming {
            incoming.ask(bytes)?;
            self.asking[connection].1 = 0;
        }
        Ok(())
    }

    fn connect(&mut self, connection: usize) -> io::Result<()> {
        let to = listening(self.work.connections[connection].receiver);
        let outgoing = &mut self.outgoing[connection];
        let from = outgoing.connect(to)?;
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        let event = EpollEvent::new(flags, OUTGOING | connection as u64);
        self.epoll.add(outgoing.socket()?, event)?;
        self.traffic.by_ends.insert((from, to), connection);
        Ok(())
    }

    fn on_sender(&mut self, connection: usize, flags: EpollFlags) -> io::Result<()> {
        let outgoing = &mut self.outgoing[connection];
        if flags.intersects(EpollFlags::EPOLLERR) {
            self.book(connection)?;
            if let Some(flows) = self.outgoing[connection].fail() {
                self.open -= 1;
                for flow in flows {
                    self.end(flow, None);
                }
            }
            return Ok(());
        }
        if flags.contains(EpollFlags::EPOLLOUT) {
            if outgoing.is_opening() {
                let now = clock::now().saturating_duration_since(self.traffic.zero);
                for flow in outgoing.underway() {
                    let sent = &mut self.traffic.flows[flow];
                    let open = self.since.max(sent.start.unwrap_or(now));
                    sent.waited = now.saturating_sub(open);
                    sent.wrote = Some(now);
                }
                let strange = outgoing.opened(self.work.control)?;
                self.traffic.strange.extend(strange);
            }
            self.write(connection)?;
        }
        if flags.contains(EpollFlags::EPOLLIN) {
            let (heard, is_closed) = self.outgoing[connection].hear()?;
            if is_closed {
                self.open -= 1;
                self.book(connection)?;
            }
            if heard > 0 {
                return self.answer(connection, heard);
            }
        }
        Ok(())
    }

    /// Writes the flows whose requests are complete now that this many more bytes of requests have arrived.
    fn answer(&mut self, connection: usize, heard: u64) -> io::Result<()> {
        let request = self.work.connections[connection].request;
        if request == 0 {
            return Err(io::Error::other("a receiver that sends"));
        }
        for flow in self.outgoing[connection].answer(heard, request) {
            let now = self.now();
            let sent = &mut self.traffic.flows[flow];
            let asked = self.since.max(sent.start.unwrap_or(now));
            sent.waited = now.saturating_sub(asked);
            sent.wrote = Some(now);
        }
        self.write(connection)
    }

    fn write(&mut self, connection: usize) -> io::Result<()> {
        let all = self.work.connections[connection].messages;
        self.outgoing[connection].write(&self.payload, connection, all)
    }

    /// Books the kernel's counts since the last flow's arrival to the current flow, or to the last flow.
    fn book(&mut self, connection: usize) -> io::Result<()> {
        if let Some(flow) = self.outgoing[connection].latest() {
            let counts = self.outgoing[connection].book()?;
            self.add(flow, counts);
        }
        Ok(())
    }

    fn add(&mut self, flow: usize, counts: Counts) {
        let sent = &mut self.traffic.flows[flow];
        sent.counts = sent.counts.and(counts);
    }

    /// A flow is complete, or has failed.
    fn end(&mut self, flow: usize, completion: Option<Duration>) {
        self.open -= 1;
        self.traffic.flows[flow].completion = completion;
        self.traffic.flows[flow].failed = completion.is_none();
        self.start_followers(flow);
        let Some(barrier) = self.work.flows[flow].awaited_by else {
            return;
        };
        let waiting = &mut self.waiting[barrier as usize];
        *waiting -= 1;
        if *waiting > 0 {
            return;
        }
        let barrier = &self.work.barriers[barrier as usize];
        let base = self.now() + duration(barrier.think);
        for flow in barrier.next.clone() {
            let own = duration(self.work.flows[flow as usize].start.since(Time::ZERO));
            self.agenda
                .push(Reverse((base + own, Act::Start(flow as usize))));
        }
    }

    /// A flow is over. Flows that waited for nothing else start after their delays.
    fn start_followers(&mut self, flow: usize) {
        if self.dependencies.is_empty() {
            return;
        }
        let nanos = u64::try_from(self.now().as_nanos()).expect("a run of less than 500 years");
        let now = Time::ZERO + Span::from_nanos(nanos);
        let flow = u32::try_from(flow).expect("flows have 32-bit numbers");
        let (work, agenda) = (self.work, &mut self.agenda);
        self.dependencies.done(flow, now, |next, ready| {
            let own = work.flows[next as usize].start.since(Time::ZERO);
            let at = duration((ready + own).since(Time::ZERO));
            agenda.push(Reverse((at, Act::Start(next as usize))));
        });
    }
}

/// Where a receiver listens.
fn listening(host: HostId) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(lan::host_address(host), PORT))
}

/// Bytes of a flow without end: more than any run sends.
const ENDLESS: u64 = u64::MAX >> 2;

/// The port on which every receiver listens.
pub(crate) const PORT: u16 = 7000;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// An answer that takes longer than this came after a wait.
const MOMENT: Duration = Duration::from_micros(20);

/// The longest delay until a signal is handled.
const PATIENCE: Duration = Duration::from_millis(20);

/// The highest bits of an event's data hold its kind.
const KIND: u64 = 3 << 62;
const LISTENER: u64 = 1 << 62;
const OUTGOING: u64 = 2 << 62;
const INCOMING: u64 = 3 << 62;
