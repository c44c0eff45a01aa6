//! The language of the timelines: one endpoint, a scripted peer, a clock.
//!
//! Data is counted in segments of [`MSS`] bytes, from 0. Nothing escapes: what the endpoint sends
//! waits in a queue until the script expects it, in order; a script that leaves something unexpected fails.

use std::collections::VecDeque;
use std::ops::Range;

use base::{
    Ecn, FlowId, HostId, Options, Packet, SackBlocks, Seq, Span, SynOptions, TcpFlags, Time,
};
use tcp::{Config, EcnMode, Endpoint, Identity, NewReno, Progress, SenderCc};

/// Bytes of a segment.
pub(crate) const MSS: u64 = 1000;
/// How long the handshake of [`Timeline::established`] takes: the first round-trip sample.
pub(crate) const HANDSHAKE: Span = Span::from_millis(100);
/// The timeout that follows from that sample: R + 4 * R/2 (RFC 6298 §2.2).
pub(crate) const RTO: Span = Span::from_millis(300);
/// Shift of the peer's windows.
pub(crate) const PEER_SCALE: u8 = 7;
/// Sequence number of the peer's SYN, unless a script says otherwise.
pub(crate) const PEER_SEQ: Seq = Seq(500_000);

/// One endpoint and what the script knows of both sides.
pub(crate) struct Timeline<C = NewReno> {
    pub(crate) endpoint: Endpoint<C>,
    /// What the last event changed.
    pub(crate) progress: Progress,
    /// Window the peer advertises, bytes.
    pub(crate) window: u64,
    /// Sequence number of the peer's SYN.
    pub(crate) peer_seq: Seq,
    /// What the peer's segments acknowledge, as a stream offset.
    acked: u64,
    /// Next stream offset of the peer.
    peer_next: u64,
    /// One past the highest offset expected so far.
    highest: u64,
    now: Time,
    origin: Time,
    sent: VecDeque<Packet>,
    port: Option<Port>,
}

/// The port of the endpoint's host, which sends a data segment in each interval.
#[derive(Clone, Copy)]
struct Port {
    interval: Span,
    free_at: Time,
}

/// The settings of most scripts: no options, so that each shows one mechanism.
pub(crate) fn config() -> Config {
    Config {
        mss: 1000,
        sack: false,
        limited_transmit: false,
        receive_buffer: 64_000,
        window_scale: Some(0),
        ..Config::default()
    }
}

pub(crate) const fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// The options of a peer that agrees to everything.
pub(crate) const fn willing() -> SynOptions {
    SynOptions {
        mss: 1460,
        window_scale: Some(PEER_SCALE),
        sack_permitted: true,
    }
}

pub(crate) const fn identity(initial_seq: Seq) -> Identity {
    Identity {
        flow: FlowId(3),
        local: HostId(0),
        remote: HostId(1),
        initial_seq,
    }
}

impl Timeline {
    /// A closed endpoint with a plain NewReno sender.
    pub(crate) fn closed(config: Config) -> Self {
        Self::with(config, Seq(1000), NewReno::new(&config))
    }

    /// An endpoint that has just sent its SYN.
    pub(crate) fn connecting(config: Config) -> Self {
        let mut timeline = Self::closed(config);
        timeline.act(Endpoint::connect);
        timeline
    }

    /// An endpoint that waits for a SYN.
    pub(crate) fn listening(config: Config) -> Self {
        let mut timeline = Self::closed(config);
        timeline.act(Endpoint::listen);
        timeline
    }

    /// A connection that the endpoint opened; the clock starts when the handshake is complete.
    pub(crate) fn established(config: Config) -> Self {
        Self::established_with(config, Seq(1000), NewReno::new(&config))
    }

    /// Checks the congestion window.
    #[track_caller]
    pub(crate) fn expect_cwnd(&mut self, bytes: u64) -> &mut Self {
        assert_eq!(self.endpoint.cc().cwnd, bytes, "congestion window");
        self
    }

    /// Checks the slow-start threshold.
    #[track_caller]
    pub(crate) fn expect_ssthresh(&mut self, bytes: u64) -> &mut Self {
        assert_eq!(self.endpoint.cc().ssthresh, bytes, "slow-start threshold");
        self
    }
}

impl<C: SenderCc + 'static> Timeline<C> {
    pub(crate) fn with(config: Config, initial_seq: Seq, cc: C) -> Self {
        Self {
            endpoint: Endpoint::new(identity(initial_seq), config, cc),
            progress: Progress::default(),
            window: 1 << 20,
            peer_seq: PEER_SEQ,
            acked: 1,
            peer_next: 0,
            highest: 1,
            now: Time::ZERO,
            origin: Time::ZERO,
            sent: VecDeque::new(),
            port: None,
        }
    }

    pub(crate) fn established_with(config: Config, initial_seq: Seq, cc: C) -> Self {
        let mut timeline = Self::with(config, initial_seq, cc);
        timeline.act(Endpoint::connect);
        timeline.open(config.ecn);
        timeline
    }

    /// The peer's SYN-ACK arrives [`HANDSHAKE`] after the SYN and is acknowledged.
    #[track_caller]
    pub(crate) fn open(&mut self, ecn: EcnMode) {
        assert!(self.take().flags.has(TcpFlags::SYN));
        self.now += HANDSHAKE;
        self.origin = self.now;
        let mut syn_ack = self.syn_ack(willing());
        syn_ack.flags = syn_ack.flags.with(TcpFlags::ECE.when(ecn != EcnMode::Off));
        self.deliver(syn_ack).expect_ack(0);
    }

    // What the peer sends.

    /// A segment of the peer with its current numbers.
    pub(crate) fn peer_segment(&self, flags: TcpFlags) -> Packet {
        let mut packet = Packet::new(FlowId(3), HostId(0));
        packet.seq = self.peer_seq.at(self.peer_next);
        packet.ack = self.endpoint.identity().initial_seq.at(self.acked);
        packet.flags = flags;
        packet.window = u16::try_from(self.window >> PEER_SCALE).expect("a window of 16 bits");
        packet
    }

    /// The peer's SYN.
    pub(crate) fn syn(&mut self, options: SynOptions) -> Packet {
        self.peer_next = 0;
        let mut packet = self.peer_segment(TcpFlags::SYN);
        self.peer_next = 1;
        packet.window = u16::MAX;
        packet.options = Options::Syn(options);
        packet
    }

    /// The peer's SYN-ACK.
    pub(crate) fn syn_ack(&mut self, options: SynOptions) -> Packet {
        let mut packet = self.syn(options);
        packet.flags = TcpFlags::SYN.with(TcpFlags::ACK);
        packet
    }

    /// Acknowledges the first `segments`.
    #[track_caller]
    pub(crate) fn ack(&mut self, segments: u64) -> &mut Self {
        self.ack_offset(1 + segments * MSS)
    }

    /// Acknowledges up to a stream offset.
    #[track_caller]
    pub(crate) fn ack_offset(&mut self, offset: u64) -> &mut Self {
        self.acked = offset;
        self.deliver(self.peer_segment(TcpFlags::ACK))
    }

    /// The same ACK again, `times` times.
    #[track_caller]
    pub(crate) fn duplicates(&mut self, times: u64) -> &mut Self {
        for _ in 0..times {
            self.deliver(self.peer_segment(TcpFlags::ACK));
        }
        self
    }

    /// Acknowledges the first `segments`, and selectively the segments of `blocks`.
    #[track_caller]
    pub(crate) fn sack(&mut self, segments: u64, blocks: &[(u64, u64)]) -> &mut Self {
        self.acked = 1 + segments * MSS;
        let initial = self.endpoint.identity().initial_seq;
        let mut list = SackBlocks::new();
        for (start, end) in blocks {
            list.push(initial.at(1 + start * MSS), initial.at(1 + end * MSS));
        }
        let mut packet = self.peer_segment(TcpFlags::ACK);
        packet.options = Options::Sack(list);
        self.deliver(packet)
    }

    /// The peer's segment number `segment`, to be changed or delivered.
    pub(crate) fn peer_data(&self, segment: u64) -> Packet {
        let mut packet = self.peer_segment(TcpFlags::ACK);
        packet.seq = self.peer_seq.at(1 + segment * MSS);
        packet.payload = 1000;
        packet
    }

    /// The peer's data segments `segments` arrive.
    #[track_caller]
    pub(crate) fn receive(&mut self, segments: Range<u64>) -> &mut Self {
        for segment in segments {
            let packet = self.peer_data(segment);
            self.peer_next = self.peer_next.max(1 + (segment + 1) * MSS);
            self.deliver(packet);
        }
        self
    }

    /// The peer's data segments `segments` arrive with a congestion mark.
    #[track_caller]
    pub(crate) fn receive_marked(&mut self, segments: Range<u64>) -> &mut Self {
        for segment in segments {
            let mut packet = self.peer_data(segment);
            packet.ecn = Ecn::Marked;
            self.peer_next = self.peer_next.max(1 + (segment + 1) * MSS);
            self.deliver(packet);
        }
        self
    }

    /// The peer's FIN arrives, after all the data it has sent.
    #[track_caller]
    pub(crate) fn receive_fin(&mut self) -> &mut Self {
        let fin = self.peer_segment(TcpFlags::FIN.with(TcpFlags::ACK));
        self.peer_next += 1;
        self.deliver(fin)
    }

    /// `packet` arrives.
    #[track_caller]
    pub(crate) fn deliver(&mut self, packet: Packet) -> &mut Self {
        self.progress = self.endpoint.on_segment(&packet, self.now);
        self.collect();
        self
    }

    // What the application does.

    /// Writes `bytes`.
    #[track_caller]
    pub(crate) fn write(&mut self, bytes: u64) -> &mut Self {
        self.act(|endpoint| endpoint.write(bytes))
    }

    /// Closes.
    #[track_caller]
    pub(crate) fn close(&mut self) -> &mut Self {
        self.act(Endpoint::close)
    }

    /// From now on data leaves through a port that sends a segment in each `interval`, and is free at `free_at`, counted
    /// from the end of the handshake.
    pub(crate) fn through_port(&mut self, interval: Span, free_at: Span) -> &mut Self {
        self.port = Some(Port {
            interval,
            free_at: self.origin + free_at,
        });
        self
    }

    #[track_caller]
    pub(crate) fn act(&mut self, action: impl FnOnce(&mut Endpoint<C>)) -> &mut Self {
        self.expect_nothing();
        action(&mut self.endpoint);
        self.collect();
        self
    }

    // Time.

    /// The clock moves on to `time`, counted from the end of the handshake. Timers fire when they are
    /// due, and nothing may leave before `time` itself.
    #[track_caller]
    pub(crate) fn at(&mut self, time: Span) -> &mut Self {
        self.expect_nothing();
        let target = self.origin + time;
        assert!(target >= self.now, "the clock does not go back");
        while self.endpoint.deadline() <= target {
            self.now = self.now.max(self.endpoint.deadline());
            self.progress = self.endpoint.on_deadline(self.now);
            self.collect();
            let early = self.now < target && !self.sent.is_empty();
            assert!(!early, "{:?} left at {:?}", self.sent, self.clock());
        }
        self.now = target;
        self
    }

    /// Nothing leaves until just before `time`, counted from the end of the handshake.
    #[track_caller]
    pub(crate) fn quiet_until(&mut self, time: Span) -> &mut Self {
        self.at(time - Span::from_ps(1)).expect_nothing()
    }

    /// Time since the end of the handshake.
    pub(crate) fn clock(&self) -> Span {
        self.now.since(self.origin)
    }

    // What is expected.

    /// The next segment that left.
    #[track_caller]
    pub(crate) fn take(&mut self) -> Packet {
        self.sent.pop_front().expect("a segment has left")
    }

    /// New data leaves: the segments `segments`, full and in order.
    #[track_caller]
    pub(crate) fn expect_data(&mut self, segments: Range<u64>) -> &mut Self {
        for segment in segments {
            let packet = self.take();
            let offset = self.offset(&packet);
            assert_eq!(
                (offset, u64::from(packet.payload)),
                (1 + segment * MSS, MSS),
                "expected new segment {segment}, got {packet:?}"
            );
            assert!(offset >= self.highest, "segment {segment} was sent before");
            self.highest = offset + MSS;
        }
        self
    }

    /// New data leaves in one segment of `payload` bytes.
    #[track_caller]
    pub(crate) fn expect_bytes(&mut self, payload: u64) -> &mut Self {
        let packet = self.take();
        assert_eq!(u64::from(packet.payload), payload, "{packet:?}");
        assert_eq!(self.offset(&packet), self.highest, "{packet:?}");
        self.highest += payload;
        self
    }

    /// The segment `segment` leaves again.
    #[track_caller]
    pub(crate) fn expect_retransmission(&mut self, segment: u64) -> &mut Self {
        let packet = self.take();
        let offset = self.offset(&packet);
        assert_eq!(offset, 1 + segment * MSS, "{packet:?}");
        assert!(packet.sequence_length() > 0, "{packet:?}");
        assert!(offset < self.highest, "segment {segment} is new");
        self
    }

    /// A pure ACK leaves for the first `segments` of the peer.
    #[track_caller]
    pub(crate) fn expect_ack(&mut self, segments: u64) -> &mut Self {
        let packet = self.take();
        let expected = self.peer_seq.at(1 + segments * MSS);
        assert!(
            packet.ack == expected && packet.sequence_length() == 0,
            "expected an ACK of {segments} segments, got {packet:?}"
        );
        assert!(packet.flags.has(TcpFlags::ACK));
        self
    }

    /// Nothing more has left.
    #[track_caller]
    pub(crate) fn expect_nothing(&mut self) -> &mut Self {
        assert!(self.sent.is_empty(), "not expected: {:?}", self.sent);
        self
    }

    /// The stream offset of a segment of this endpoint.
    pub(crate) fn offset(&self, packet: &Packet) -> u64 {
        let initial = self.endpoint.identity().initial_seq;
        initial.near(packet.seq, self.highest)
    }

    fn collect(&mut self) {
        while let Some(packet) = self.endpoint.poll(self.now) {
            self.sent.push_back(packet);
            if let Some(port) = &mut self.port {
                let begins = port.free_at.max(self.now);
                port.free_at = begins + port.interval;
                if begins > self.now {
                    self.endpoint.note_waiting(&packet, begins);
                }
            }
        }
        self.sent.extend(self.endpoint.due_ack(self.now));
    }
}

impl<C> Drop for Timeline<C> {
    fn drop(&mut self) {
        let finished = !std::thread::panicking();
        assert!(
            !finished || self.sent.is_empty(),
            "at the end: {:?}",
            self.sent
        );
    }
}
