//! Both ends of a connection.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::ops::Range;
use std::time::Duration;

use machine::payload::Payload;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::SetStruct;
use nix::{libc, setsockopt_impl};
use socket2::Socket;

use super::counts::Counts;

/// The end that sends.
pub(super) struct Outgoing {
    /// `None` once it is over.
    socket: Option<Socket>,
    state: State,
    /// Messages that were added.
    added: u32,
    /// Bytes of these flows, and how many of them the kernel has accepted.
    queued: u64,
    written: u64,
    /// Flows that have not arrived, each with the range of its bytes.
    underway: VecDeque<(usize, Range<u64>)>,
    /// Flows that are asked for, each with its bytes, and bytes of these requests that have come.
    expected: VecDeque<(usize, u64)>,
    heard: u64,
    /// The kernel's counts at the last query, and the part of them that is not booked to a flow yet.
    counted: Counts,
    unbooked: Counts,
    /// The flow that arrived last.
    last: Option<usize>,
    /// Bytes of a full segment at the last query.
    segment: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Opening,
    Open,
    /// All data is written and the kernel will close.
    Finished,
}

impl Outgoing {
    pub(super) fn new(socket: Socket) -> Self {
        Self {
            socket: Some(socket),
            state: State::New,
            added: 0,
            queued: 0,
            written: 0,
            underway: VecDeque::new(),
            expected: VecDeque::new(),
            heard: 0,
            counted: Counts::NONE,
            unbooked: Counts::NONE,
            last: None,
            segment: None,
        }
    }

    pub(super) fn is_new(&self) -> bool {
        self.state == State::New
    }

    pub(super) fn is_opening(&self) -> bool {
        self.state == State::Opening
    }

    pub(super) fn socket(&self) -> io::Result<&Socket> {
        let socket = self.socket.as_ref();
        socket.ok_or_else(|| io::Error::other("the connection is over"))
    }

    /// Keeps at most [`UNSENT`] unsent bytes in the kernel. A flow without end would fill its socket's buffer with
    /// megabytes, and all others would wait meanwhile, because one thread writes for all hosts. A flow that `stops`
    /// keeps fewer, because bytes already written are sent after its stop.
    pub(super) fn hold_back(&self, stops: bool) -> io::Result<()> {
        let bytes = if stops { UNSENT_OF_STOPPING } else { UNSENT };
        Ok(setsockopt(self.socket()?, Unsent, &bytes)?)
    }

    /// Adds a flow of this many bytes after the earlier ones.
    pub(super) fn add(&mut self, flow: usize, size: u64) {
        self.added += 1;
        let bytes = self.queued..self.queued + size;
        self.queued = bytes.end;
        self.underway.push_back((flow, bytes));
    }

    /// Adds a flow of this many bytes that the receiver will request.
    pub(super) fn expect(&mut self, flow: usize, size: u64) {
        self.expected.push_back((flow, size));
    }

    /// This many bytes of requests have arrived; `request` bytes make one. Adds the requested flows and returns them.
    pub(super) fn answer(&mut self, heard: u64, request: u64) -> Vec<usize> {
        self.heard += heard;
        let mut asked = Vec::new();
        while self.heard >= request
            && let Some((flow, size)) = self.expected.pop_front()
        {
            self.heard -= request;
            self.add(flow, size);
            asked.push(flow);
        }
        asked
    }

    /// Ends a flow, unless it is over, with the bytes written so far.
    pub(super) fn stop(&mut self, flow: usize) {
        let last = self.underway.back_mut();
        if let Some((_, bytes)) = last.filter(|(own, _)| *own == flow) {
            bytes.end = self.written.max(bytes.start);
            self.queued = bytes.end;
        }
    }

    /// Begins the handshake. Returns the local address.
    pub(super) fn connect(&mut self, to: SocketAddr) -> io::Result<SocketAddr> {
        self.state = State::Opening;
        let socket = self.socket()?;
        match socket.connect(&to.into()) {
            Err(error) if error.raw_os_error() == Some(nix::errno::Errno::EINPROGRESS as i32) => {}
            other => other?,
        }
        let from = socket.local_addr()?.as_socket();
        from.ok_or_else(|| io::Error::other("a socket without an address"))
    }

    /// The handshake is over. Returns the congestion control if it differs from the requested one.
    pub(super) fn opened(&mut self, control: &str) -> io::Result<Option<String>> {
        self.state = State::Open;
        self.count()?;
        self.unbooked = self.unbooked.of_handshake();
        let found = self.socket()?.tcp_congestion()?;
        let found = String::from_utf8_lossy(&found);
        let found = found.trim_end_matches('\0');
        let is_other = found != control;
        Ok(is_other.then(|| format!("congestion control {found} instead of {control}")))
    }

    /// The latest segment size, if it is not `mss`. At first it is half of a small window.
    pub(super) fn segments_but(&self, mss: u32) -> Option<String> {
        let found = self.segment.filter(|found| *found != mss)?;
        Some(format!("segments of {found} instead of {mss} bytes"))
    }

    /// Writes as much as the kernel accepts, and closes after the last of `all` messages.
    pub(super) fn write(
        &mut self,
        payload: &Payload,
        connection: usize,
        all: u32,
    ) -> io::Result<()> {
        if self.state != State::Open {
            return Ok(());
        }
        let Some(mut socket) = self.socket.as_ref() else {
            return Ok(());
        };
        while self.written < self.queued {
            let bytes = payload.at(connection, self.written);
            let rest = usize::try_from(self.queued - self.written).unwrap_or(usize::MAX);
            match socket.write(&bytes[..bytes.len().min(rest).min(CHUNK)]) {
                Ok(count) => self.written += count as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The event loop gets this error, too.
                Err(_) => return Ok(()),
            }
        }
        if self.added == all {
            self.state = State::Finished;
            socket.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// The bytes that the receiver has sent, and whether it has read everything and closed, which ends the connection.
    pub(super) fn hear(&mut self) -> io::Result<(u64, bool)> {
        let mut heard = 0;
        loop {
            let Some(mut socket) = self.socket.as_ref() else {
                return Ok((heard, false));
            };
            match socket.read(&mut [0; 4096]) {
                Ok(0) => {
                    self.count()?;
                    self.socket = None;
                    return Ok((heard, true));
                }
                Ok(count) => heard += count as u64,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok((heard, false));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads the kernel's counts.
    fn count(&mut self) -> io::Result<()> {
        if let Some(socket) = &self.socket {
            self.segment = Some(socket.tcp_mss()?);
            let counted = Counts::read(socket)?;
            let more = counted.since(self.counted);
            self.counted = counted;
            self.unbooked = self.unbooked.and(more);
        }
        Ok(())
    }

    /// The increase of the kernel's counters since the last call.
    pub(super) fn book(&mut self) -> io::Result<Counts> {
        self.count()?;
        Ok(std::mem::take(&mut self.unbooked))
    }

    /// The current flow, or the one that arrived last.
    pub(super) fn latest(&self) -> Option<usize> {
        self.underway().next().or(self.last)
    }

    /// Aborts, so that unfinished data does not arrive during a later measurement.
    pub(super) fn abort(&self) -> io::Result<()> {
        let socket = self.socket.iter();
        let mut socket = socket.map(|socket| socket.set_linger(Some(Duration::ZERO)));
        socket.try_for_each(|done| done)
    }

    /// The connection has failed. Returns its flows, unless it was over.
    pub(super) fn fail(&mut self) -> Option<Vec<usize>> {
        self.socket.take()?;
        let flows = self.underway.drain(..).map(|(flow, _)| flow);
        let asked = self.expected.drain(..).map(|(flow, _)| flow);
        Some(flows.chain(asked).collect())
    }

    /// Flows that have not arrived.
    pub(super) fn underway(&self) -> impl Iterator<Item = usize> {
        self.underway.iter().map(|(flow, _)| *flow)
    }

    /// The bytes of this range have been read. Returns the flows, their new bytes, and whether each is complete.
    pub(super) fn arrived(&mut self, bytes: Range<u64>) -> Vec<(usize, u64, bool)> {
        let mut told = Vec::new();
        while let Some((flow, own)) = self.underway.front() {
            if own.start >= bytes.end && own.end > own.start {
                break;
            }
            let complete = own.end <= bytes.end;
            told.push((*flow, bytes.end.min(own.end) - own.start, complete));
            if !complete {
                break;
            }
            self.last = Some(*flow);
            self.underway.pop_front();
        }
        told
    }
}

/// The end that receives.
pub(super) struct Incoming {
    socket: Socket,
    pub(super) connection: usize,
    pub(super) received: u64,
}

impl Incoming {
    pub(super) fn new(socket: Socket, connection: usize) -> Self {
        Self {
            socket,
            connection,
            received: 0,
        }
    }

    /// Offers at most this window from now on.
    ///
    /// The kernel sets its buffer again when it sees the first segment, and does not delay ACKs while its window grows
    /// (`tcp_measure_rcv_mss` and `tcp_grow_window` in `net/ipv4/tcp_input.c`).
    pub(super) fn offer(&self, window: u32) -> io::Result<()> {
        Ok(setsockopt(&self.socket, WindowClamp, &window)?)
    }

    /// Sends a request of this many bytes, which any connection accepts at once because a client waits for the answer.
    pub(super) fn ask(&self, bytes: u64) -> io::Result<()> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        (&self.socket).write_all(&vec![0; bytes])
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (&self.socket).read(buffer)?;
        self.received += count as u64;
        Ok(count)
    }
}

/// `TCP_WINDOW_CLAMP` of `tcp(7)`.
#[derive(Clone, Copy, Debug)]
struct WindowClamp;

setsockopt_impl!(
    WindowClamp,
    libc::IPPROTO_TCP,
    libc::TCP_WINDOW_CLAMP,
    u32,
    SetStruct<'_, u32>
);

/// `TCP_NOTSENT_LOWAT` of `tcp(7)`.
#[derive(Clone, Copy, Debug)]
struct Unsent;

setsockopt_impl!(
    Unsent,
    libc::IPPROTO_TCP,
    libc::TCP_NOTSENT_LOWAT,
    u32,
    SetStruct<'_, u32>
);

/// Bytes written at once.
const CHUNK: usize = 1 << 18;

/// The most unsent bytes of a flow without end. At 200 Mbit/s they last for 5 ms.
const UNSENT: u32 = 1 << 17;

/// The same for a flow that stops: a fifth of 100 Mbit/s takes 7 ms for them.
const UNSENT_OF_STOPPING: u32 = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Type};

    #[test]
    fn a_flow_is_sent_when_its_whole_request_has_come() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let mut outgoing = Outgoing::new(socket);
        outgoing.expect(4, 1000);
        outgoing.expect(5, 2000);
        assert_eq!(outgoing.answer(99, 100), [0; 0]);
        assert_eq!(outgoing.answer(1, 100), [4]);
        assert_eq!(outgoing.underway().collect::<Vec<_>>(), [4]);
        assert_eq!(outgoing.answer(150, 100), [5]);
        assert_eq!(
            outgoing.arrived(0..1500),
            [(4, 1000, true), (5, 500, false)]
        );
        // Further bytes request nothing.
        assert_eq!(outgoing.answer(50, 100), [0; 0]);
        outgoing.expect(6, 10);
        assert_eq!(outgoing.fail(), Some(vec![5, 6]));
    }

    #[test]
    fn a_flow_that_is_stopped_ends_with_what_was_written() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let mut outgoing = Outgoing::new(socket);
        outgoing.add(7, u64::MAX >> 2);
        outgoing.written = 5000;
        assert_eq!(outgoing.arrived(0..3000), [(7, 3000, false)]);
        outgoing.stop(6);
        outgoing.stop(7);
        assert_eq!(outgoing.queued, 5000);
        assert_eq!(outgoing.arrived(3000..5000), [(7, 5000, true)]);
        // A flow without end is complete at the end of the connection, with the bytes read.
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let mut outgoing = Outgoing::new(socket);
        outgoing.add(8, u64::MAX >> 2);
        outgoing.written = 5000;
        assert_eq!(outgoing.arrived(0..5000), [(8, 5000, false)]);
        outgoing.stop(8);
        assert_eq!(outgoing.arrived(5000..5000), [(8, 5000, true)]);
    }
}
