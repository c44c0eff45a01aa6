//! The reports of the programs, with the layout of `bpf/seen.h`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::port::Direction;

/// A direction of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowDirection {
    /// Who sends.
    pub from: SocketAddr,
    /// Who receives.
    pub to: SocketAddr,
}

/// Data that was sent together in one direction: after a SYN, or after a pause. Times are those of the monotonic clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObservedTransfer {
    /// The time of the SYN or of the first byte. The latter counts after a pause, and if a program waited after the
    /// handshake longer than the handshake took.
    pub first: Duration,
    /// The time of the SYN or SYN-ACK, if it began with one.
    pub opened: Option<Duration>,
    /// The last byte.
    pub last: Duration,
    /// Bytes, each counted once.
    pub bytes: u64,
    /// Silence before timeouts.
    pub waited: Duration,
    /// Segments with data.
    pub segments: u32,
    /// Those with nothing new.
    pub repeats: u32,
    /// How many of them came after 10 ms of silence.
    pub late_repeats: u32,
    /// Timeouts, if its sender is of this machine.
    pub timeouts: u32,
    /// Retransmissions in fast recovery, likewise.
    pub fast: u32,
    /// Other retransmissions, which are probes, likewise.
    pub probes: u32,
    /// Packets of it that the queue dropped.
    pub drops: u32,
    /// Whether it began with a SYN.
    pub from_syn: bool,
    /// Whether it ended with a FIN or RST.
    pub closed: bool,
    /// Whether its sender is of this machine.
    pub is_own: bool,
    /// Its direction through the device.
    pub direction: Direction,
    /// Bytes in the queue of the device when the last byte joined it, including that packet; zero for incoming data.
    pub queued: u32,
    /// Bytes before the first one was acknowledged: the first window of its sender, or less.
    pub first_bytes: u32,
}

/// The state of a connection in the kernel's TCP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Socket {
    /// Payload of a full segment.
    pub mss: u32,
    /// Smoothed round-trip time, in microseconds.
    pub srtt_us: u32,
    /// The smallest recent round-trip time, in microseconds.
    pub min_rtt_us: u32,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// The smallest retransmission timeout, of its route if the route has one.
    pub min_rto: Duration,
    /// The first window in segments, unless a program set another one.
    pub first_window: u32,
    /// Whether both ends agreed to use congestion marks.
    pub is_ecn_capable: bool,
    /// Segments that arrived with congestion marks.
    pub delivered_ce: u32,
    /// The congestion control.
    pub control: String,
    /// Segments that it has retransmitted.
    pub retransmitted: u32,
    /// How many of these had arrived already, by D-SACKs (RFC 2883).
    pub needless: u32,
    /// Whether the connection is over, so that these numbers are final.
    pub is_over: bool,
    /// Whether it has begun to close, so that no new data follow.
    pub closes: bool,
}

/// An event, reported when it happens.
#[derive(Clone, Debug)]
pub enum ObserverEvent {
    /// A transfer after which another one began on its connection.
    Transfer(FlowDirection, ObservedTransfer),
    /// For a millisecond from this time on, this number of flows went to this flow's receiver.
    Incast(FlowDirection, Duration, u32),
    /// The queue dropped a packet to this receiver, for the first time in this millisecond. The packet's transfer began
    /// at the second time.
    Drop(FlowDirection, Duration, Duration),
    /// A timeout of a sender on this machine, whose transfer began at the second time.
    Timeout(FlowDirection, Duration, Duration),
    /// Data arrived a second time after a silence, from a sender on another machine; its transfer began at the second
    /// time.
    Late(FlowDirection, Duration, Duration),
    /// The TCP state of a connection that closes, has its first loss, or learns of a needless retransmission.
    Socket(FlowDirection, Socket),
}

/// Totals of the device.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// For each bin, how many nanoseconds the queue was in it; the last bin has all longer queues.
    pub queue_ns: Vec<u64>,
    /// Sum of bytes times nanoseconds.
    pub queue_area: u64,
    /// The longest queue that a packet found, in bytes.
    pub queue_most: u64,
    /// Packets that left and came in.
    pub packets: [u64; 2],
    /// Their bytes.
    pub bytes: [u64; 2],
    /// SYNs that came again.
    pub syn_repeats: u64,
    /// SYN-ACKs that came again.
    pub syn_ack_repeats: u64,
    /// Resets.
    pub resets: u64,
    /// Runs of short windows above half the rate, of packets that leave and that come in.
    pub bursts: [u64; 2],
    /// The highest rate over 8.4 ms that left and that came in, in bits per second.
    pub peak_bps: [u64; 2],
    /// The shortest handshake: a round trip, if there was one.
    pub handshake: Option<Duration>,
    /// Packets that were not examined, because there were too many.
    pub skipped: u64,
    /// Events and flows for which there was no room.
    pub lost: [u64; 2],
}

impl FlowDirection {
    pub(crate) fn read(key: &[u8]) -> Option<Self> {
        let ports = [0, 2].map(|at| half(key, at).map(u16::from_be));
        let address = |number: usize| -> Option<IpAddr> {
            Some(match key.len() {
                12 => Ipv4Addr::from(*key.get(4 + 4 * number..)?.first_chunk::<4>()?).into(),
                _ => Ipv6Addr::from(*key.get(4 + 16 * number..)?.first_chunk::<16>()?).into(),
            })
        };
        Some(Self {
            from: SocketAddr::new(address(0)?, ports[0]?),
            to: SocketAddr::new(address(1)?, ports[1]?),
        })
    }

    /// Its map and its key there.
    pub(crate) fn key(&self) -> (&'static str, Vec<u8>) {
        let ports = [self.from, self.to].map(|end| end.port().to_be_bytes());
        let address = |end: &SocketAddr| match end.ip() {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        let key = [ports.concat(), address(&self.from), address(&self.to)].concat();
        (
            if self.from.is_ipv4() {
                "flows"
            } else {
                "flows6"
            },
            key,
        )
    }
}

impl ObservedTransfer {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let time = |at| Some(Duration::from_nanos(long(bytes, at)?));
        Some(Self {
            first: time(0)?,
            last: time(8)?,
            bytes: long(bytes, 16)?,
            segments: word(bytes, 24)?,
            queued: word(bytes, 28)?,
            first_bytes: word(bytes, 32)?,
            from_syn: *bytes.get(36)? == 1,
            closed: *bytes.get(37)? == 1,
            is_own: *bytes.get(38)? == 1,
            direction: match bytes.get(39)? {
                0 => Direction::Egress,
                _ => Direction::Ingress,
            },
            waited: time(40)?,
            repeats: word(bytes, 48)?,
            late_repeats: word(bytes, 52)?,
            timeouts: word(bytes, 56)?,
            fast: word(bytes, 60)?,
            probes: word(bytes, 64)?,
            drops: word(bytes, 68)?,
            opened: time(72).filter(|time| *time > Duration::ZERO),
        })
    }
}

impl Socket {
    fn read(bytes: &[u8]) -> Option<Self> {
        let name = bytes.get(68..84)?.split(|byte| *byte == 0).next()?;
        let ticks = word(bytes, 60)?;
        let hertz = hertz(long(bytes, 88)?, long(bytes, 96)?);
        Some(Self {
            mss: word(bytes, 44)?,
            srtt_us: word(bytes, 48)?,
            min_rtt_us: word(bytes, 52)?,
            cwnd: word(bytes, 56)?,
            min_rto: match word(bytes, 112)? {
                0 => Duration::from_secs(1) * ticks / hertz,
                of_route => Duration::from_millis(of_route.into()),
            },
            first_window: match word(bytes, 116)? {
                0 => FIRST_WINDOW,
                of_route => of_route,
            },
            is_ecn_capable: bytes.get(120)? & 1 == 1,
            delivered_ce: word(bytes, 64)?,
            control: String::from_utf8_lossy(name).into_owned(),
            retransmitted: word(bytes, 84)?,
            needless: word(bytes, 104)?,
            is_over: word(bytes, 108)? == 1,
            closes: word(bytes, 108)? > 0,
        })
    }
}

/// The kernel's ticks per second, from both of its clocks. The tick counter starts at 2^32 minus five minutes
/// (`INITIAL_JIFFIES` of `linux/jiffies.h`), so that errors at the wrap show early.
fn hertz(ticks: u64, now_ns: u64) -> u32 {
    let off = |hertz: &u32| {
        let hertz = u64::from(*hertz);
        let expected = (1 << 32) - 300 * hertz + now_ns / 1_000_000 * hertz / 1_000;
        expected.abs_diff(ticks)
    };
    HERTZ.into_iter().min_by_key(off).unwrap_or(HERTZ[0])
}

/// The values with which kernels are built.
const HERTZ: [u32; 4] = [1_000, 300, 250, 100];
/// `TCP_INIT_CWND` of `net/tcp.h`, in segments.
const FIRST_WINDOW: u32 = 10;

impl ObserverEvent {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let key = match word(bytes, 4)? {
            0 => bytes.get(8..20)?,
            _ => bytes.get(8..44)?,
        };
        let way = FlowDirection::read(key)?;
        let time = |at| Some(Duration::from_nanos(long(bytes, at)?));
        Some(match word(bytes, 0)? {
            1 => Self::Transfer(way, ObservedTransfer::read(bytes.get(48..)?)?),
            2 => Self::Incast(way, time(48)?, word(bytes, 44)?),
            3 => Self::Drop(way, time(48)?, time(56)?),
            4 => Self::Timeout(way, time(48)?, time(56)?),
            5 => Self::Late(way, time(48)?, time(56)?),
            6 => Self::Socket(way, Socket::read(bytes)?),
            _ => return None,
        })
    }
}

impl Totals {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let of = |number: usize| long(bytes, 8 * number);
        let way = |side: usize, number: usize| of(WAY * side + number);
        let both = |number: usize| Some([way(0, number)?, way(1, number)?]);
        // The current windows count, too.
        let peak = |side: usize| Some(way(side, 5)?.max(way(side, 10)?));
        let rate = |bytes: u64| bytes * 8 * 1_000_000_000 / (1 << 23);
        let queue = (0..QUEUE_BINS).map(|bin| of(QUEUE + 4 + bin));
        Some(Self {
            queue_ns: queue.collect::<Option<_>>()?,
            queue_area: of(QUEUE + 2)?,
            queue_most: of(QUEUE + 3)?,
            packets: both(0)?,
            bytes: both(1)?,
            bursts: both(8)?,
            peak_bps: [rate(peak(0)?), rate(peak(1)?)],
            skipped: both(11)?.iter().sum(),
            syn_repeats: of(BEHIND)?,
            syn_ack_repeats: of(BEHIND + 1)?,
            resets: of(BEHIND + 2)?,
            handshake: Some(of(BEHIND + 3)?)
                .filter(|time| *time > 0)
                .map(Duration::from_nanos),
            lost: [of(BEHIND + 4)?, of(BEHIND + 5)?],
        })
    }
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u64::from_ne_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u32::from_ne_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .copied()
        .map(u16::from_ne_bytes)
}

const QUEUE_BINS: usize = 65;
/// Sizes in numbers of eight bytes: of each direction, and the offsets of the queue's numbers and of the others.
const WAY: usize = 16;
const QUEUE: usize = 2 * WAY;
const BEHIND: usize = QUEUE + 4 + QUEUE_BINS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_as_many_ticks_as_both_clocks_say() {
        for hertz in HERTZ {
            for seconds in [1_u64, 400, 1_000_000] {
                let ticks = (1_u64 << 32) - 300 * u64::from(hertz) + seconds * u64::from(hertz);
                // A clock may lag by a tick.
                assert_eq!(
                    super::hertz(ticks + 1, seconds * 1_000_000_000),
                    hertz,
                    "{seconds} s"
                );
            }
        }
    }

    #[test]
    fn a_way_is_found_by_the_key_that_it_was_read_from() {
        for (from, to) in [
            ("10.0.0.1:5", "10.0.0.2:600"),
            ("[fd00::1]:5", "[fd00::2]:600"),
        ] {
            let [from, to] = [from, to].map(|end| end.parse().expect("an address"));
            let way = FlowDirection { from, to };
            assert_eq!(FlowDirection::read(&way.key().1), Some(way));
        }
    }
}
