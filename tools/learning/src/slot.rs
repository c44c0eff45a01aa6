//! The sender that an agent controls, and the slot that both share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::cast::{real, whole};
use base::{FlowId, Packet, Span, Time};
use schemes::{FlowInfo, Sender};
use tcp::{Ack, Config, Echo, Established, Loss, Restart, SegmentCc, SenderCc};

/// The decisions of an agent for the sender of a connection, and the counts of this sender for the agent.
///
/// A simulation and its agent take turns, so plain loads and stores suffice: each number has one writer at a time, and
/// the change of turns orders the accesses.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Bytes that may be outstanding.
    window: AtomicU64,
    /// Bytes on the wire per second, as the bits of a floating-point number; 0: the window is the limit.
    rate: AtomicU64,
    /// Payload of a segment.
    mss: AtomicU64,
    acked: AtomicU64,
    marked: AtomicU64,
    rtt_ps: AtomicU64,
    rtts: AtomicU64,
    losses: AtomicU64,
    timeouts: AtomicU64,
}

/// A sender's counts since its connection began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    /// Bytes acknowledged.
    pub(crate) acked: u64,
    /// Of these, those whose ACKs carried an ECN echo.
    pub(crate) marked: u64,
    /// Round trips measured: their sum in picoseconds, and their number.
    pub(crate) rtt_ps: u64,
    pub(crate) rtts: u64,
    /// Losses that ACKs told of.
    pub(crate) losses: u64,
    /// Retransmission timers that expired.
    pub(crate) timeouts: u64,
}

impl Counts {
    pub(crate) const NONE: Self = Self {
        acked: 0,
        marked: 0,
        rtt_ps: 0,
        rtts: 0,
        losses: 0,
        timeouts: 0,
    };

    pub(crate) const fn and(self, more: Self) -> Self {
        Self {
            acked: self.acked + more.acked,
            marked: self.marked + more.marked,
            rtt_ps: self.rtt_ps + more.rtt_ps,
            rtts: self.rtts + more.rtts,
            losses: self.losses + more.losses,
            timeouts: self.timeouts + more.timeouts,
        }
    }

    pub(crate) const fn since(self, earlier: Self) -> Self {
        Self {
            acked: self.acked - earlier.acked,
            marked: self.marked - earlier.marked,
            rtt_ps: self.rtt_ps - earlier.rtt_ps,
            rtts: self.rtts - earlier.rtts,
            losses: self.losses - earlier.losses,
            timeouts: self.timeouts - earlier.timeouts,
        }
    }
}

impl Slot {
    /// The slot of a connection with these settings that has not begun.
    pub(crate) fn new(config: &Config) -> Self {
        let mss = u64::from(config.mss);
        let zero = || AtomicU64::new(0);
        Self {
            window: AtomicU64::new(mss * u64::from(config.initial_window)),
            rate: zero(),
            mss: AtomicU64::new(mss),
            acked: zero(),
            marked: zero(),
            rtt_ps: zero(),
            rtts: zero(),
            losses: zero(),
            timeouts: zero(),
        }
    }

    /// Sets the bytes that may be outstanding.
    pub(crate) fn set_window(&self, bytes: u64) {
        self.window.store(bytes, Ordering::Relaxed);
    }

    /// Sets the bytes that leave per second, headers included, for any number outstanding.
    pub(crate) fn set_rate(&self, bytes_per_second: f64) {
        self.rate
            .store(bytes_per_second.to_bits(), Ordering::Relaxed);
        self.set_window(u64::MAX);
    }

    pub(crate) fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    /// Bytes that the current decision allows: the window, or the bytes that the rate sends in a round trip.
    pub(crate) fn allowed(&self, round_trip: Span) -> f64 {
        let rate = self.rate();
        if rate > 0.0 {
            rate * round_trip.as_secs()
        } else {
            real(self.window())
        }
    }

    /// Payload of a segment, bytes.
    pub(crate) fn mss(&self) -> u64 {
        self.mss.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            acked: of(&self.acked),
            marked: of(&self.marked),
            rtt_ps: of(&self.rtt_ps),
            rtts: of(&self.rtts),
            losses: of(&self.losses),
            timeouts: of(&self.timeouts),
        }
    }

    fn rate(&self) -> f64 {
        f64::from_bits(self.rate.load(Ordering::Relaxed))
    }
}

/// Adds `more` to a count. There is no other writer meanwhile.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

/// The slots of all connections of a simulation, by number.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slots: Arc<Mutex<Vec<Arc<Slot>>>>,
    paced: bool,
}

impl Slots {
    /// Slots of senders that use a rate if `paced`, otherwise a window.
    pub(crate) fn new(paced: bool) -> Self {
        Self {
            slots: Arc::default(),
            paced,
        }
    }

    /// New slots for connections with these settings; existing senders keep theirs.
    pub(crate) fn renew<'a>(&self, configs: impl Iterator<Item = &'a Config>) -> Vec<Arc<Slot>> {
        let made: Vec<Arc<Slot>> = configs.map(|config| Arc::new(Slot::new(config))).collect();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.clone_from(&made);
        made
    }

    /// The sender of a connection.
    pub(crate) fn sender(&self, id: FlowId, info: &FlowInfo) -> Sender {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(&slots[id.0 as usize]);
        Sender::Custom(Box::new(Steered::new(slot, self.paced, &info.config)))
    }
}

/// A sender with the window or rate that its agent decided last. It reads the decision with every event.
#[derive(Debug)]
struct Steered {
    slot: Arc<Slot>,
    /// Whether it sends at a rate.
    paced: bool,
    header_bytes: u64,
    /// The decision in force.
    window: u64,
    rate: f64,
    /// The time at which the last segment with data left, and its bytes on the wire.
    last: Option<(Time, u64)>,
}

impl Steered {
    fn new(slot: Arc<Slot>, paced: bool, config: &Config) -> Self {
        let mut made = Self {
            slot,
            paced,
            header_bytes: config.header_bytes.into(),
            window: 0,
            rate: 0.0,
            last: None,
        };
        made.read();
        made
    }

    fn read(&mut self) {
        self.window = self.slot.window();
        if self.paced {
            self.rate = self.slot.rate();
        }
    }

    fn note_rtt(&self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            add(&self.slot.rtt_ps, rtt.as_ps());
            add(&self.slot.rtts, 1);
        }
    }
}

impl SenderCc for Steered {
    fn window(&self) -> u64 {
        self.window
    }

    fn on_established(&mut self, handshake: &Established) {
        self.slot.mss.store(handshake.mss.into(), Ordering::Relaxed);
        self.note_rtt(handshake.rtt);
        self.read();
    }

    fn on_ack(&mut self, ack: &Ack) {
        add(&self.slot.acked, ack.bytes);
        if ack.echo != Echo::None {
            add(&self.slot.marked, ack.bytes);
        }
        self.note_rtt(ack.rtt);
        self.read();
    }

    fn on_loss(&mut self, loss: Loss, _in_flight: u64, _now: Time) {
        let count = match loss {
            Loss::FastRetransmit | Loss::Tail => &self.slot.losses,
            Loss::Timeout | Loss::RepeatedTimeout => &self.slot.timeouts,
        };
        add(count, 1);
        self.read();
    }

    fn on_recovered(&mut self, _limit: Option<u64>) {
        self.read();
    }

    fn on_idle(&mut self, _restart: Restart) {
        self.read();
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        self.paced.then_some(self)
    }
}

impl SegmentCc for Steered {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if packet.payload > 0 {
            self.last = Some((now, u64::from(packet.payload) + self.header_bytes));
        }
    }

    fn pacing(&self) -> Option<Time> {
        let after = |(at, bytes): (Time, u64)| {
            at + Span::from_ps(whole((real(bytes) / self.rate * 1e12).round()))
        };
        let last = self.last.filter(|_| self.rate > 0.0);
        Some(last.map_or(Time::ZERO, after))
    }
}
