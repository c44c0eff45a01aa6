//! The receiving half of a connection: reassembly, what to acknowledge and when, the window.

mod acks;
mod compression;
mod policy;
mod quick_acks;
mod tuning;

use base::{Ecn, Extension, Options, Packet, SackBlocks, Seq, Time};

use crate::assembler::{Assembler, NOTHING};
use crate::config::{Agreement, Config, EcnMode};
use crate::rtt::RttEstimator;
use policy::Policy;

/// See the module documentation. Offsets count the peer's stream: 0 is its SYN, 1 its first byte.
///
/// Fields are in the order of use: every segment touches the first ones, few the last.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Next offset expected in order (RCV.NXT).
    next: u64,
    /// One past the last offset ever allowed; it never moves back.
    edge: u64,
    /// Bytes in order that the application has not read.
    unread: u64,
    /// Receive buffer, bytes.
    buffer: u64,
    /// When a delayed ACK is due.
    ack_deadline: Time,
    /// The peer's initial sequence number.
    pub(crate) irs: Seq,
    /// In-order segments not yet acknowledged.
    unacknowledged: u32,
    delayed_ack: u32,
    /// Whether an ACK is due now.
    ack_due: bool,
    /// Classic: echo until CWR. Accurate: the mark of the latest segment (`DCTCP.CE`).
    echo: bool,
    /// Whether the application reads at once.
    reading: bool,
    mode: EcnMode,
    /// The priority of an ACK that is due for data of low priority; 0: none is.
    low_ack: u8,
    /// Whether duplicate segments are reported (D-SACK).
    dsack: bool,
    /// An ACK to be sent before anything else; its SACK blocks, if it has any, are the policy's.
    early: Option<EarlyAck>,
    assembler: Assembler,
    /// The segment stored last.
    arrival: Arrival,
    /// Offset of the peer's FIN, once known.
    fin: Option<u64>,
    /// What came twice, until an ACK has told; where reports wait, until more has come.
    duplicate: Option<(u64, u64)>,
    /// What else decides about ACKs and the window, if anything does.
    policy: Option<Box<Policy>>,
}

/// An ACK that leaves before anything else: that of the handshake, which no data replaces, or one whose
/// content was fixed before the latest segment arrived (RFC 8257 §3.2, [`Receiver::reports_before`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyAck {
    pub(crate) ack: u64,
    pub(crate) echo: bool,
}

/// A data segment that a receiver has stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arrival {
    /// Offset of its first byte; 1 is the first byte of the stream.
    pub offset: u64,
    /// Next offset expected before it was stored.
    pub expected: u64,
    /// Payload bytes; 0 for a lone FIN.
    pub payload: u64,
    /// Payload bytes that were not there before.
    pub new_bytes: u64,
    /// Bytes that became in order by storing it.
    pub in_order: u64,
    /// Bytes held out of order after storing it.
    pub held: u64,
    /// Whether it carried a congestion mark.
    pub marked: bool,
    /// Whether it ends something that the peer's application has written (PSH).
    pub pushed: bool,
    /// The scheme's header space.
    pub extension: Extension,
}

impl Arrival {
    /// Whether all of its data had come in order before.
    const fn is_old(&self) -> bool {
        came_before(self.offset, self.payload, false, self.expected)
    }
}

/// A segment's place in the stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) offset: u64,
    pub(crate) payload: u64,
    pub(crate) fin: bool,
    pub(crate) ecn: Ecn,
    pub(crate) cwr: bool,
    pub(crate) push: bool,
    pub(crate) extension: Extension,
}

impl Segment {
    /// Whether all of it has come in order before.
    const fn is_old(&self, next: u64) -> bool {
        came_before(self.offset, self.payload, self.fin, next)
    }
}

/// Whether a segment with data ends no later than `next`, up to where everything is there.
const fn came_before(offset: u64, payload: u64, fin: bool, next: u64) -> bool {
    payload > 0 && offset + payload + fin as u64 <= next
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        let policy = Policy::new(config);
        let window = policy.as_ref().and_then(|policy| policy.window());
        Self {
            irs: Seq(0),
            next: 0,
            edge: 0,
            unread: 0,
            buffer: window.unwrap_or(config.receive_buffer),
            reading: true,
            fin: None,
            assembler: Assembler::default(),
            arrival: Arrival::default(),
            unacknowledged: 0,
            ack_due: false,
            ack_deadline: Time::NEVER,
            delayed_ack: config.delayed_ack,
            mode: EcnMode::Off,
            echo: false,
            early: None,
            low_ack: 0,
            dsack: config.dsack,
            duplicate: None,
            policy,
        }
    }

    /// What both SYNs have agreed on.
    pub(crate) fn agree(&mut self, agreed: Agreement, config: &Config) {
        if let Some(policy) = &mut self.policy {
            policy.agree(agreed, config);
        }
    }

    /// The handshake is over.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some(policy) = &mut self.policy {
            policy.begin(now);
        }
    }

    /// The peer's SYN has arrived.
    pub(crate) fn synchronise(&mut self, irs: Seq) {
        (self.irs, self.next, self.edge) = (irs, 1, 1);
        self.ack_due = true;
    }

    /// What the handshake decided about marks.
    pub(crate) fn set_ecn(&mut self, mode: EcnMode) {
        self.mode = mode;
    }

    /// Whether a segment at `offset` with `payload` bytes touches the window (RFC 9293 §3.10.7.4). Offsets
    /// below are duplicates: stored as nothing, and acknowledged. A FIN needs no room: it may come where
    /// the window ends, as in Linux.
    pub(crate) fn accepts(&self, offset: u64, payload: u64) -> bool {
        if payload == 0 {
            offset <= self.edge
        } else {
            offset < self.edge
        }
    }

    /// Stores a segment with payload or FIN and decides about its ACK, where this side's own data has this round trip.
    #[inline(always)]
    pub(crate) fn on_segment(
        &mut self,
        segment: &Segment,
        config: &Config,
        rtt: &RttEstimator,
        now: Time,
    ) {
        let marked = segment.ecn == Ecn::Marked;
        if self.passes_over(segment) {
            self.note_answer(segment);
        } else {
            self.note_mark(segment.ecn, segment.cwr);
        }
        if self.has_waiting_reports() && self.reports_before(segment) {
            self.store(segment, marked);
            self.note_unreported(rtt, now);
            return;
        }
        let plain = self.store(segment, marked);
        self.schedule_ack(plain, config, rtt, now);
        if self.dsack && self.arrival.new_bytes < segment.payload {
            self.note_duplicate(segment);
        }
    }

    /// Whether the next segment in order, with this payload, is stored as it is: it fits into the window, and
    /// nothing is held beyond it.
    #[inline(always)]
    pub(crate) const fn takes_next(&self, payload: u64) -> bool {
        self.next + payload <= self.edge && self.assembler.is_empty() && self.fin.is_none()
    }

    /// Stores the next segment in order, which it [takes](Receiver::takes_next).
    #[inline(always)]
    fn store_next(&mut self, packet: &Packet) {
        let (offset, payload) = (self.next, u64::from(packet.payload));
        let marked = packet.ecn == Ecn::Marked;
        self.note_mark(packet.ecn, false);
        self.advance_to(offset + payload);
        self.arrival = Arrival {
            offset,
            payload,
            expected: offset,
            new_bytes: payload,
            in_order: payload,
            held: 0,
            marked,
            pushed: false,
            extension: packet.extension,
        };
    }

    /// A segment beyond a gap is not stored; its mark is told.
    pub(crate) fn on_discarded(&mut self, segment: &Segment) {
        self.arrival = Arrival {
            offset: segment.offset,
            expected: self.next,
            payload: segment.payload,
            new_bytes: 0,
            in_order: 0,
            held: self.assembler.held(),
            marked: segment.ecn == Ecn::Marked,
            pushed: segment.push,
            extension: segment.extension,
        };
    }

    /// RFC 2883 §4: the next ACK reports the part of the segment that had been received.
    // DEVIATION(RFC 2883 §4.2): a segment that is new in part, which only a sender that cuts its data anew
    // sends, is not reported.
    #[inline(never)]
    fn note_duplicate(&mut self, segment: &Segment) {
        let end = segment.offset + segment.payload;
        if self.arrival.new_bytes == 0 && end <= self.edge {
            self.duplicate = Some((segment.offset, end));
        }
    }

    /// Stores a segment of low priority, whose ACK has that priority and leaves at once if `answered`
    /// (RC3 §4.2.2). Its sender does not look at the window: what the buffer has room for is kept.
    pub(crate) fn on_low_segment(&mut self, segment: &Segment, priority: u8, answered: bool) {
        let most = self.policy.as_ref().and_then(|policy| policy.most());
        let buffer = most.unwrap_or(self.buffer);
        let room = buffer.saturating_sub(self.unread);
        self.edge = self.edge.max(self.next.saturating_add(room));
        self.store(segment, false);
        if answered {
            self.low_ack = priority;
        }
    }

    /// Puts a segment where it belongs. Returns whether it was the next one, with nothing beyond it.
    #[inline(always)]
    fn store(&mut self, segment: &Segment, marked: bool) -> bool {
        let expected = self.next;
        let end = (segment.offset + segment.payload).min(self.edge);
        let (new_bytes, in_order_end) = self.assembler.insert(segment.offset, end, expected);
        self.advance_to(in_order_end);
        let in_order = self.next - expected;
        if segment.fin && segment.offset + segment.payload <= self.edge {
            self.fin = Some(segment.offset + segment.payload);
        }
        let fin_reached = self.fin == Some(self.next);
        if fin_reached {
            self.next += 1;
        }
        self.arrival = Arrival {
            offset: segment.offset,
            payload: segment.payload,
            expected,
            new_bytes,
            in_order,
            held: self.assembler.held(),
            marked,
            pushed: segment.push,
            extension: segment.extension,
        };
        // RFC 5681 §4.2: at once when out of order, when a gap is filled, for a duplicate and a FIN.
        segment.offset == expected
            && new_bytes > 0
            && in_order == new_bytes
            && self.assembler.held() == 0
            && !fin_reached
    }

    /// The segment stored last.
    #[inline(always)]
    pub(crate) const fn arrival(&self) -> &Arrival {
        &self.arrival
    }

    /// The peer's SYN-ACK has arrived: its ACK leaves by itself, before data.
    pub(crate) fn acknowledge_alone(&mut self) {
        self.ack_due = false;
        self.early = Some(EarlyAck {
            ack: self.next,
            echo: self.echo,
        });
    }

    /// Whether the window is closed: no room was advertised beyond what has come.
    pub(crate) const fn is_closed(&self) -> bool {
        self.edge <= self.next
    }

    /// A segment that must be answered at once.
    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_due = true;
    }

    /// The delayed ACK's time has come.
    pub(crate) fn on_deadline(&mut self, now: Time) {
        if self.ack_deadline <= now {
            self.ack_due = true;
            self.ack_deadline = Time::NEVER;
            if let Some(policy) = &mut self.policy {
                policy.on_delayed();
            }
        }
    }

    /// Stops or resumes reading. Data in order then waits in the buffer until [`Receiver::read`].
    pub(crate) fn set_reading(&mut self, reading: bool) {
        self.reading = reading;
    }

    /// The application reads up to `bytes`. The peer is told if its window grows by a useful amount.
    pub(crate) fn read(&mut self, bytes: u64, mss: u64) {
        let before = self.window(mss);
        self.unread -= bytes.min(self.unread);
        self.ack_due |= self.window(mss) > before;
    }

    /// The window the buffer allows, without a silly small step (RFC 9293 §3.8.6.2.2): the edge moves
    /// only by a segment or half the buffer.
    #[inline(always)]
    pub(crate) fn window(&self, mss: u64) -> u64 {
        let allowed = self.next + self.buffer.saturating_sub(self.unread);
        let step = mss.min(self.buffer / 2);
        let edge = if allowed >= self.edge + step {
            allowed
        } else {
            self.edge
        };
        edge.saturating_sub(self.next)
    }

    /// An ACK with `window` leaves: nothing is due any more.
    #[inline(always)]
    pub(crate) fn on_acknowledged(&mut self, window: u64) {
        self.on_advertised(self.next, window);
        if let Some(policy) = &mut self.policy {
            policy.on_acknowledged(self.unacknowledged > 0, self.next);
        }
        self.ack_due = false;
        self.unacknowledged = 0;
        self.ack_deadline = Time::NEVER;
    }

    /// The connection is over: nothing more is acknowledged by timer.
    pub(crate) fn stop(&mut self) {
        self.ack_deadline = Time::NEVER;
        (self.early, self.low_ack) = (None, 0);
    }

    /// The due ACK was handed to a role that holds it.
    pub(crate) fn on_held(&mut self) {
        self.ack_due = false;
    }

    /// SACK blocks for an ACK that leaves now, on which both sides have agreed.
    #[inline(always)]
    pub(crate) fn sack_blocks(&mut self) -> Options {
        if self.assembler.is_empty() && self.duplicate.is_none() {
            return Options::None;
        }
        Options::Sack(self.blocks(NOTHING))
    }

    /// SACK blocks of the ranges held; a range that touches `from..to` is reported extended by it.
    #[inline(never)]
    fn blocks(&mut self, (from, to): (u64, u64)) -> SackBlocks {
        let duplicate = self.duplicate.take();
        let mut blocks = SackBlocks::new();
        // RFC 2883 §4 (1) and (3): what came twice is the first block, and is reported once.
        if let Some((start, end)) = duplicate {
            blocks.push(self.irs.at(start), self.irs.at(end));
        }
        self.assembler.sack_order(|start, end| {
            let touches = from <= end && start <= to;
            let (start, end) = if touches {
                (start.min(from), end.max(to))
            } else {
                (start, end)
            };
            blocks.push(self.irs.at(start), self.irs.at(end));
        });
        blocks
    }

    /// Data leaves, and with it what is acknowledged.
    #[inline(always)]
    pub(crate) fn on_data_sent(&mut self, now: Time) {
        if let Some(policy) = &mut self.policy {
            policy.on_data_sent(now);
        }
    }

    /// Whether an ACK must leave before any other.
    #[inline(always)]
    pub(crate) const fn has_early(&self) -> bool {
        self.early.is_some() || self.low_ack > 0
    }

    /// The priority of the ACK that is due for data of low priority, if one is.
    pub(crate) fn take_low_ack(&mut self) -> Option<u8> {
        Some(std::mem::take(&mut self.low_ack)).filter(|priority| *priority > 0)
    }

    /// A segment leaves that allows `window` bytes from `ack` on. What is due stays due.
    #[inline(always)]
    pub(crate) fn on_advertised(&mut self, ack: u64, window: u64) {
        self.edge = self.edge.max(ack + window);
    }

    /// That ACK.
    pub(crate) fn take_early(&mut self) -> Option<EarlyAck> {
        self.early.take()
    }

    pub(crate) const fn is_ack_due(&self) -> bool {
        self.ack_due
    }

    pub(crate) const fn deadline(&self) -> Time {
        self.ack_deadline
    }

    /// Whether ACKs carry ECE now.
    pub(crate) const fn echoes(&self) -> bool {
        self.echo
    }

    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Whether the FIN has arrived in order.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Payload bytes received beyond a gap.
    pub(crate) fn held(&self) -> u64 {
        self.assembler.held()
    }

    /// Payload bytes received in order.
    pub(crate) fn received(&self) -> u64 {
        (self.next - u64::from(self.is_finished())).saturating_sub(1)
    }

    #[inline(always)]
    fn advance_to(&mut self, end: u64) {
        if !self.reading {
            self.unread += end - self.next;
        }
        self.next = end;
    }
}
