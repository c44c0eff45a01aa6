//! The sender's part: Alg. 1.

use base::cast::{real, whole};
use base::{Packet, Span, Time};
use tcp::{Ack, Config, Established, Gauge, Loss, SegmentCc, SenderCc};

use super::echo;
use super::params::{Params, Variant};
use crate::registry::FlowInfo;

/// A sender of one connection. Times are in seconds where no type says otherwise.
#[derive(Debug)]
pub struct Sender {
    params: Params,
    scaling: Scaling,
    /// Congestion window in packets; may be less than one.
    cwnd: f64,
    /// The largest window that the receive buffer allows, in packets.
    maximum: f64,
    /// Bytes of a packet's payload.
    mss: u64,
    /// Mean round trip, from that of the empty network on, if it is known.
    rtt: Span,
    /// When the window became smaller last.
    cut: Option<Time>,
    /// Timeouts since the last ACK.
    timeouts: u32,
    /// When data left last, and when an ACK came last.
    sent: Time,
    acked: Time,
    /// When the next packet may leave; zero while the window holds a packet.
    next: Time,
    /// htsim: whether a loss has not cut the window yet, as it is not repaired.
    owes_cut: bool,
}

/// The parts of the target.
#[derive(Clone, Copy, Debug, Default)]
struct Scaling {
    /// The base and what the hops add.
    fixed: f64,
    range: f64,
    /// §3.5: a and b.
    factor: f64,
    offset: f64,
}

impl Scaling {
    // DEVIATION(Swift §3.5): the default of the base has no fixed value, so that a target is never below the round trip.
    fn new(params: &Params, config: &Config) -> Self {
        let usual = USUAL_BASE.max(config.base_rtt + config.base_rtt / 4);
        let base = params.base_target.0.unwrap_or(usual).as_secs();
        let hop = params.hop_target.0.map_or(base / HOP_PART, Span::as_secs);
        let range = params.range.0.map_or(RANGE_FACTOR * base, Span::as_secs);
        let inverse_root = |packets: f64| 1.0 / packets.sqrt();
        let (least, most) = (params.scaled_from.0, params.scaled_to.0);
        // Windows that begin and end at the same size have no range between.
        let slope = (inverse_root(least) - inverse_root(most)).max(f64::MIN_POSITIVE);
        let factor = range / slope;
        Self {
            fixed: base + f64::from(config.hops) * hop,
            range,
            factor,
            offset: factor * inverse_root(most),
        }
    }
}

impl Sender {
    pub(super) fn new(params: &Params, flow: &FlowInfo) -> Self {
        let config = &flow.config;
        Self {
            params: params.clone(),
            scaling: Scaling::new(params, config),
            cwnd: f64::from(config.initial_window),
            maximum: (real(config.receive_buffer) / f64::from(config.mss)).max(1.0),
            mss: config.mss.into(),
            rtt: config.base_rtt,
            cut: None,
            timeouts: 0,
            sent: Time::ZERO,
            acked: Time::ZERO,
            next: Time::ZERO,
            owes_cut: false,
        }
    }

    /// §3.5: the target for the present window.
    pub(super) fn target(&self) -> f64 {
        let Scaling {
            fixed,
            range,
            factor,
            offset,
        } = self.scaling;
        let window = match self.params.variant {
            Variant::Paper => self.cwnd,
            // swift.cpp, targetDelay: an integer division, which drops fractions of a packet.
            Variant::Htsim => self.cwnd.floor(),
        };
        fixed + (factor / window.sqrt() - offset).clamp(0.0, range)
    }

    /// Alg. 1 l. 4: a cut answers only data sent after the last cut.
    fn may_cut(&self, now: Time) -> bool {
        self.cut.is_none_or(|cut| now.since(cut) >= self.rtt)
    }

    /// A loss, if the window may shrink already.
    fn cut_for_loss(&mut self, now: Time) {
        if self.may_cut(now) {
            self.set(self.cwnd * (1.0 - self.params.most_decrease.0), now);
        }
    }

    /// Alg. 1 l. 24-29: the window stays within its bounds, and one of less than a packet is paced.
    fn set(&mut self, packets: f64, now: Time) {
        let before = self.cwnd;
        let least = self.params.min_window.0.min(self.maximum);
        self.cwnd = packets.clamp(least, self.maximum);
        if self.cwnd < before {
            self.cut = Some(now);
        }
        self.pace();
    }

    fn pace(&mut self) {
        self.next = if self.cwnd >= 1.0 {
            Time::ZERO
        } else {
            let gap = Span::from_secs_f64(self.rtt.as_secs() / self.cwnd);
            match self.params.variant {
                Variant::Paper => self.sent + gap,
                Variant::Htsim => self.acked.max(self.sent) + gap,
            }
        };
    }

    /// The window after an ACK of this number of packets, with this delay (Alg. 1 l. 6-12).
    fn answered(&self, delay: f64, packets: f64, now: Time) -> f64 {
        let target = self.target();
        let params = &self.params;
        if delay < target {
            let step = params.increase.0 * packets;
            self.cwnd
                + if self.cwnd >= 1.0 {
                    step / self.cwnd
                } else {
                    step
                }
        } else if self.may_cut(now) {
            let excess = params.beta.0 * (delay - target) / delay;
            self.cwnd * (1.0 - excess).max(1.0 - params.most_decrease.0)
        } else {
            self.cwnd
        }
    }
}

impl SenderCc for Sender {
    fn window(&self) -> u64 {
        whole(self.cwnd.max(1.0) * real(self.mss))
    }

    fn on_established(&mut self, handshake: &Established) {
        self.maximum *= real(self.mss) / f64::from(handshake.mss);
        self.mss = handshake.mss.into();
        self.cwnd = f64::from(handshake.segments);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let Some(delay) = echo::age(ack.extension, ack.now) else {
            return;
        };
        self.acked = ack.now;
        self.timeouts = 0;
        let packets = if ack.limited_by_window {
            real(ack.bytes) / real(self.mss)
        } else {
            0.0
        };
        let window = self.answered(delay.as_secs(), packets, ack.now);
        self.rtt = if self.rtt == Span::ZERO {
            delay
        } else {
            (self.rtt * 7 + delay) / 8
        };
        self.set(window, ack.now);
    }

    fn on_loss(&mut self, loss: Loss, _in_flight: u64, now: Time) {
        match (loss, self.params.variant) {
            (Loss::FastRetransmit | Loss::Tail, Variant::Paper) => {
                self.timeouts = 0;
                self.cut_for_loss(now);
            }
            (Loss::FastRetransmit | Loss::Tail, Variant::Htsim) => self.owes_cut = true,
            // Alg. 1 l. 13-18.
            (Loss::Timeout | Loss::RepeatedTimeout, _) => {
                self.timeouts += 1;
                if self.timeouts >= self.params.timeouts.0 {
                    self.set(self.params.min_window.0, now);
                } else {
                    self.cut_for_loss(now);
                }
            }
        }
    }

    fn on_recovered(&mut self, _limit: Option<u64>) {
        // swift.cpp, handle_ack: the ACK that ends recovery has come.
        if std::mem::take(&mut self.owes_cut) {
            self.cut_for_loss(self.acked);
        }
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        sink(TARGET.name, 1e6 * self.target());
    }
}

impl SegmentCc for Sender {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if packet.payload > 0 {
            echo::put_departure(packet, now);
            self.sent = now;
            self.pace();
        }
    }

    fn pacing(&self) -> Option<Time> {
        Some(self.next)
    }
}

/// §3.5: the base target.
const USUAL_BASE: Span = Span::from_micros(25);
/// swift.cpp: the base divided by the delay of a hop.
const HOP_PART: f64 = 6.55;
/// swift.cpp: the range divided by the base.
const RANGE_FACTOR: f64 = 5.0;

/// The target, for traces.
pub(super) const TARGET: Gauge = Gauge {
    name: "swift_target_us",
    unit: "us",
    help: "Delay that the sender aims at with its present window.",
};
