//! The sender's part: it says how it sends, asks for more, and does as it is told.

use base::cast::{real, whole};
use base::{Packet, Span, Time};
use tcp::{Ack, Config, Echo, Established, Loss, Restart, SegmentCc, SenderCc};

use super::header::Header;

base::choices! {
    /// The window that a sender tells routers.
    pub enum Told {
        /// With the fraction of a packet that is not sent yet.
        Real = "real",
        /// Its whole packets, as ns-2 has it: the fraction of a small window is a large part of it.
        Whole = "whole",
    }
}

/// A sender of one connection.
#[derive(Debug)]
pub struct Sender {
    /// Congestion window, packets; whole ones are sent.
    cwnd: f64,
    /// Largest window, packets.
    maximum: f64,
    /// First window, packets.
    initial: f64,
    /// Bytes of a segment.
    mss: u16,
    /// Smoothed round trip (RFC 6298 §2); zero before the first sample.
    srtt: Span,
    told: Told,
}

impl Sender {
    /// The state before the handshake.
    pub fn new(config: &Config, told: Told) -> Self {
        let initial = f64::from(config.initial_window);
        Self {
            cwnd: initial,
            maximum: (real(config.receive_buffer) / f64::from(config.mss)).max(1.0),
            initial,
            mss: config.mss,
            srtt: Span::ZERO,
            told,
        }
    }

    /// Never less than a packet, never more than the connection can use.
    fn set_window(&mut self, packets: f64) {
        self.cwnd = packets.clamp(1.0, self.maximum);
    }

    /// RFC 5681 §3.1 eq. 4, in packets.
    fn half_of(&self, bytes: u64) -> f64 {
        (real(bytes) / 2.0 / f64::from(self.mss)).max(2.0)
    }
}

impl SenderCc for Sender {
    fn window(&self) -> u64 {
        whole(self.cwnd) * u64::from(self.mss)
    }

    fn on_established(&mut self, handshake: &Established) {
        self.maximum *= f64::from(self.mss) / f64::from(handshake.mss);
        self.mss = handshake.mss;
        self.initial = f64::from(handshake.segments);
        self.cwnd = self.initial;
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.srtt = if self.srtt == Span::ZERO {
                rtt
            } else {
                (self.srtt * 7 + rtt) / 8
            };
        }
        if ack.echo == Echo::Reduce {
            self.cwnd = (self.cwnd / 2.0).max(1.0);
        }
        // XCP §3.3: bytes per second, over a round trip, in packets.
        let feedback = Header::of(ack.extension).reverse;
        let change = feedback * self.srtt.as_secs() / f64::from(self.mss);
        self.set_window(self.cwnd + change);
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, _now: Time) {
        match loss {
            Loss::FastRetransmit | Loss::Tail => self.set_window(self.half_of(in_flight)),
            Loss::Timeout | Loss::RepeatedTimeout => self.set_window(1.0),
        }
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        if let Some(limit) = limit {
            self.set_window(self.cwnd.min(real(limit) / f64::from(self.mss)));
        }
    }

    fn on_idle(&mut self, restart: Restart) {
        self.cwnd = match restart {
            Restart::Initial => self.cwnd.min(self.initial),
            Restart::Halved { times, .. } => {
                let halved = libm::ldexp(self.cwnd, -times.min(64).cast_signed());
                halved.max(self.cwnd.min(self.initial))
            }
        };
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }
}

impl SegmentCc for Sender {
    fn on_send(&mut self, packet: &mut Packet, _now: Time) {
        if packet.payload > 0 && self.srtt > Span::ZERO {
            let rtt = self.srtt.as_secs();
            let window = match self.told {
                Told::Real => self.cwnd,
                Told::Whole => self.cwnd.floor(),
            };
            let header = Header {
                spacing: rtt / window,
                rtt,
                delta: EVERYTHING,
                ..Header::of(packet.extension)
            };
            packet.extension = header.write();
        }
    }
}

/// The rate that a sender asks for, in bytes per second: more than any link has.
const EVERYTHING: f64 = 1e15;

#[cfg(test)]
mod tests {
    use base::{Extension, FlowId, HostId};

    use super::*;

    fn sender() -> Sender {
        let config = Config {
            mss: 1000,
            initial_window: 1,
            receive_buffer: 1_000_000,
            ..Config::default()
        };
        Sender::new(&config, Told::Real)
    }

    fn ack(reverse: f64, rtt: Option<Span>) -> Ack {
        let header = Header {
            reverse,
            ..Header::default()
        };
        Ack {
            bytes: 1000,
            acknowledged: 1,
            next: 1,
            echo: Echo::None,
            recovering: false,
            limited_by_window: true,
            rtt,
            extension: header.write(),
            now: Time::ZERO,
        }
    }

    fn sent(sender: &mut Sender) -> Header {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = 1000;
        sender.on_send(&mut packet, Time::ZERO);
        Header::of(packet.extension)
    }

    #[test]
    fn a_sender_that_knows_no_round_trip_asks_for_nothing_and_does_not_grow() {
        let mut sender = sender();
        assert_eq!(sent(&mut sender), Header::default());
        sender.on_ack(&ack(0.0, None));
        assert_eq!(sender.window(), 1000);
    }

    #[test]
    fn feedback_changes_the_window_and_whole_packets_are_sent() {
        let mut sender = sender();
        // 2^20 bytes/s over 2^-10 s are 1024 bytes: 1.024 packets.
        let rtt = Some(Span::from_ps(976_562_500));
        for (reverse, window) in [
            (f64::from(1 << 20), 2000),
            (f64::from(1 << 20), 3000),
            (f64::from(-(1 << 19)), 2000),
            (f64::from(-(1 << 25)), 1000),
            (1e12, 1_000_000),
        ] {
            sender.on_ack(&ack(reverse, rtt));
            assert_eq!(sender.window(), window);
        }
    }

    #[test]
    fn packets_tell_the_round_trip_and_the_spacing() {
        let mut sender = sender();
        sender.on_ack(&ack(0.0, Some(Span::from_micros(100))));
        sender.cwnd = 12.5;
        let header = sent(&mut sender);
        assert!((header.rtt - 100e-6).abs() < 1e-8);
        assert!((header.spacing - 8e-6).abs() < 1e-9);
        assert!((header.delta - EVERYTHING).abs() < EVERYTHING * 1e-4);
        sender.told = Told::Whole;
        assert!((sent(&mut sender).spacing - 100e-6 / 12.0).abs() < 1e-9);
        // A SYN asks for nothing.
        let mut syn = Packet::new(FlowId(0), HostId(0));
        sender.on_send(&mut syn, Time::ZERO);
        assert_eq!(syn.extension, Extension::NONE);
    }

    #[test]
    fn losses_and_marks_are_answered_as_reno_does() {
        let mut sender = sender();
        sender.cwnd = 20.0;
        sender.on_loss(Loss::FastRetransmit, 16_000, Time::ZERO);
        assert_eq!(sender.window(), 8000);
        sender.on_ack(&Ack {
            echo: Echo::Reduce,
            ..ack(0.0, None)
        });
        assert_eq!(sender.window(), 4000);
        sender.on_loss(Loss::Timeout, 4000, Time::ZERO);
        assert_eq!(sender.window(), 1000);
    }

    #[test]
    fn the_end_of_recovery_bounds_the_window_and_never_enlarges_it() {
        let mut sender = sender();
        sender.cwnd = 20.0;
        for (limit, window) in [(None, 20_000), (Some(3000), 3000), (Some(9000), 3000)] {
            sender.on_recovered(limit);
            assert_eq!(sender.window(), window);
        }
    }
}
