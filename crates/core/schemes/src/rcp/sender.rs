//! The sender's part: it asks, and sends segment by segment at the rate that it is granted.

use base::cast::{real, whole};
use base::{Extension, Packet, Span, TcpFlags, Time};
use tcp::{Ack, Config, Established, SegmentCc, SenderCc};

use super::RateRequest;
use super::header::{EVERYTHING, Header};

/// A sender of one connection.
#[derive(Debug)]
pub struct Sender {
    /// The rate granted, bytes on the wire per second; before the first answer that of the link.
    rate: f64,
    /// Rate of the host's link: nothing above it is of use.
    link: f64,
    /// The last round trip measured; zero before the first.
    rtt: Span,
    /// Bytes of a segment, and of its headers.
    mss: u16,
    header_bytes: u32,
    /// Bytes that may be outstanding: the rate times the round trip, in whole segments.
    window: u64,
    /// When the last segment with data left, and its bytes on the wire.
    last: Option<(Time, u64)>,
    /// When the next one may leave.
    next: Time,
    request: RateRequest,
    /// From when on data asks again.
    asks_from: Time,
}

impl Sender {
    /// The state before the handshake.
    pub fn new(config: &Config, request: RateRequest) -> Self {
        let link = real(config.link_rate.as_bps()) / 8.0;
        Self {
            rate: link,
            link,
            rtt: Span::ZERO,
            mss: config.mss,
            header_bytes: config.header_bytes,
            window: config.mss.into(),
            last: None,
            next: Time::ZERO,
            request,
            asks_from: Time::ZERO,
        }
    }

    /// A round trip was measured, or a rate returned.
    fn learn(&mut self, rtt: Option<Span>, extension: Extension) {
        let returned = Header::of(extension).returned;
        if returned > 0.0 {
            self.rate = returned.min(self.link);
        }
        self.rtt = rtt.unwrap_or(self.rtt);
        self.update();
    }

    /// Window and time of the next segment follow from the rate.
    fn update(&mut self) {
        let wire = f64::from(self.mss) + f64::from(self.header_bytes);
        let segments = whole(self.rate * self.rtt.as_secs() / wire);
        self.window = segments.max(1).saturating_mul(self.mss.into());
        if let Some((at, size)) = self.last {
            self.next = at + self.interval(size);
        }
    }

    /// How long this many bytes take at the rate.
    fn interval(&self, bytes: u64) -> Span {
        Span::from_ps(whole((real(bytes) / self.rate * 1e12).round()))
    }
}

impl SenderCc for Sender {
    fn window(&self) -> u64 {
        self.window
    }

    fn on_established(&mut self, handshake: &Established) {
        self.mss = handshake.mss;
        self.learn(handshake.rtt, handshake.extension);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.learn(ack.rtt, ack.extension);
    }

    fn as_segment_cc(&mut self) -> Option<&mut dyn SegmentCc> {
        Some(self)
    }
}

impl SegmentCc for Sender {
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        let mut header = Header::of(packet.extension);
        if packet.flags.has(TcpFlags::SYN) {
            header.rate = EVERYTHING;
        } else if packet.payload > 0 {
            if now >= self.asks_from {
                header.rate = EVERYTHING;
                self.asks_from = match self.request {
                    RateRequest::Packet => Time::ZERO,
                    RateRequest::RoundTrip => now + self.rtt,
                };
            }
            header.rtt = self.rtt.as_secs();
            let size = u64::from(packet.payload) + u64::from(self.header_bytes);
            self.last = Some((now, size));
            self.next = now + self.interval(size);
        }
        packet.extension = header.write();
    }

    fn pacing(&self) -> Option<Time> {
        Some(self.next)
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};
    use tcp::{Echo, Loss};

    use super::*;

    /// Segments of 1460 bytes, 1500 on the wire, at a link of 125 MB/s.
    fn sender(request: RateRequest) -> Sender {
        Sender::new(&Config::default(), request)
    }

    fn returning(returned: f64) -> Extension {
        let header = Header {
            returned,
            ..Header::default()
        };
        header.write()
    }

    fn answered(rtt: Option<Span>, returned: f64) -> Established {
        Established {
            mss: 1460,
            segments: 10,
            rtt,
            extension: returning(returned),
        }
    }

    fn ack(returned: f64, rtt: Option<Span>) -> Ack {
        Ack {
            bytes: 1460,
            acknowledged: 1,
            next: 1,
            echo: Echo::None,
            recovering: false,
            limited_by_window: true,
            rtt,
            extension: returning(returned),
            now: Time::ZERO,
        }
    }

    fn sent(sender: &mut Sender, payload: u16, at: Time) -> Header {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.payload = payload;
        sender.on_send(&mut packet, at);
        Header::of(packet.extension)
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn the_handshake_gives_a_rate_a_window_and_an_interval() {
        let mut sender = sender(RateRequest::Packet);
        let mut syn = Packet::new(FlowId(0), HostId(0));
        syn.flags = TcpFlags::SYN;
        sender.on_send(&mut syn, Time::ZERO);
        assert!(Header::of(syn.extension).rate > 9e14);
        assert_eq!((sender.window(), sender.pacing()), (1460, Some(Time::ZERO)));
        // 6.25 MB/s over 40 ms are 250,000 bytes: 166 packets and a fraction.
        sender.on_established(&answered(Some(Span::from_millis(40)), 6_250_000.0));
        assert_eq!(sender.window(), 166 * 1460);
        let header = sent(&mut sender, 1460, us(1000));
        assert!(header.rate > 9e14 && (header.rtt - 0.04).abs() < 1e-8);
        // 1500 bytes at 6.25 MB/s.
        assert_eq!(sender.pacing(), Some(us(1240)));
    }

    #[test]
    fn a_new_rate_counts_for_the_segment_that_waits() {
        let mut sender = sender(RateRequest::Packet);
        sent(&mut sender, 1460, us(0));
        // Without an answer at the rate of the link: 12 us.
        assert_eq!(sender.pacing(), Some(us(12)));
        sender.on_ack(&ack(1_250_000.0, None));
        assert_eq!(sender.pacing(), Some(us(1200)));
        sender.on_ack(&ack(2_500_000.0, None));
        assert_eq!(sender.pacing(), Some(us(600)));
        // More than the link has is that of the link; nothing returned changes nothing.
        sender.on_ack(&ack(EVERYTHING, None));
        sender.on_ack(&ack(0.0, Some(Span::from_millis(1))));
        assert_eq!(sender.pacing(), Some(us(12)));
        assert_eq!(sender.window(), 83 * 1460);
    }

    #[test]
    fn a_loss_changes_neither_rate_nor_window() {
        let mut sender = sender(RateRequest::Packet);
        sender.on_established(&answered(Some(Span::from_millis(40)), 6_250_000.0));
        for loss in [Loss::FastRetransmit, Loss::Timeout, Loss::RepeatedTimeout] {
            sender.on_loss(loss, 1460, us(1));
            assert_eq!(sender.window(), 166 * 1460);
        }
    }

    #[test]
    fn a_short_segment_is_followed_sooner_and_no_data_is_not_paced() {
        let mut sender = sender(RateRequest::Packet);
        sender.on_established(&answered(None, 1_000_000.0));
        // Of a round trip that is not known, one segment.
        assert_eq!(sender.window(), 1460);
        sent(&mut sender, 60, us(0));
        assert_eq!(sender.pacing(), Some(us(100)));
        assert_eq!(sent(&mut sender, 0, us(50)), Header::default());
        assert_eq!(sender.pacing(), Some(us(100)));
    }

    #[test]
    fn data_asks_always_or_once_per_round_trip() {
        for (request, asked) in [
            (RateRequest::Packet, [true; 4]),
            (RateRequest::RoundTrip, [true, false, false, true]),
        ] {
            let mut sender = sender(request);
            sender.on_established(&answered(Some(Span::from_micros(1000)), 1e6));
            let asks = [0, 400, 999, 1000].map(|at| sent(&mut sender, 1460, us(at)).rate > 0.0);
            assert_eq!(asks, asked);
        }
    }
}
