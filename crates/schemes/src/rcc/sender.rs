//! The sender: its window is the advertised one, and an ACK with PSH orders a retransmission.

use base::{Extension, Packet, Span, TcpFlags, Time};
use tcp::{Ack, Loss, Plays, SenderCc};

use crate::registry::FlowInfo;

/// RCC §4.7: congestion control is the receiver's, so only the advertised window limits. Loss
/// detection is TCP's own and changes no window.
pub struct Sender {
    /// Carried in the SYN, so that the receiver can prefer short flows; 0: not known.
    size: u64,
    /// The sender that this one is composed with: its window counts beside the advertised one.
    inner: Option<Box<crate::Sender>>,
    /// Whether it repairs losses beside the receiver (RCC footnote 7).
    retransmits: bool,
}

impl Sender {
    pub(crate) fn new(flow: &FlowInfo, inner: Option<crate::Sender>, retransmits: bool) -> Self {
        Self {
            size: flow.size.unwrap_or(0),
            inner: inner.map(Box::new),
            retransmits,
        }
    }

    fn inner(&self) -> Option<&dyn SenderCc> {
        self.inner.as_ref().map(|inner| inner.as_role())
    }

    fn inner_mut(&mut self) -> Option<&mut (dyn SenderCc + 'static)> {
        self.inner.as_mut().map(|inner| inner.as_role_mut())
    }
}

impl SenderCc for Sender {
    #[inline]
    fn window(&self) -> u64 {
        self.inner().map_or(u64::MAX, SenderCc::window)
    }

    fn on_established(&mut self, mss: u16, segments: u32) {
        if let Some(inner) = self.inner_mut() {
            inner.on_established(mss, segments);
        }
    }

    fn on_handshake(&mut self, rtt: Option<Span>, extension: Extension) {
        if let Some(inner) = self.inner_mut() {
            inner.on_handshake(rtt, extension);
        }
    }

    fn pacing(&self) -> Option<Time> {
        self.inner().and_then(SenderCc::pacing)
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(inner) = self.inner_mut() {
            inner.on_ack(ack);
        }
    }

    fn on_loss(&mut self, loss: Loss, in_flight: u64, now: Time) {
        if let Some(inner) = self.inner_mut() {
            inner.on_loss(loss, in_flight, now);
        }
    }

    fn on_recovered(&mut self, limit: Option<u64>) {
        if let Some(inner) = self.inner_mut() {
            inner.on_recovered(limit);
        }
    }

    fn is_slow_starting(&self) -> bool {
        self.inner().is_some_and(SenderCc::is_slow_starting)
    }

    fn on_undo(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.on_undo();
        }
    }

    fn on_idle(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.on_idle();
        }
    }

    #[inline]
    fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if let Some(inner) = self.inner_mut() {
            inner.on_send(packet, now);
        }
        if packet.flags.has(TcpFlags::SYN) {
            packet.extension = Extension::from_u64(self.size);
        }
    }

    fn obeys_pushed_acks(&self) -> bool {
        true
    }

    fn retransmits(&self) -> bool {
        self.retransmits
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        if let Some(inner) = self.inner() {
            inner.gauges(sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};
    use tcp::{Config, NewReno};

    use super::*;

    fn flow() -> FlowInfo {
        let config = Config {
            mss: 1000,
            initial_window: 10,
            ..Config::default()
        };
        FlowInfo {
            size: Some(32_768),
            config,
        }
    }

    fn composed() -> Sender {
        let inner = NewReno::new(&flow().config).into();
        Sender::new(&flow(), Some(inner), true)
    }

    #[test]
    fn alone_no_congestion_window_limits_it_and_a_loss_changes_nothing() {
        let mut sender = Sender::new(&flow(), None, true);
        sender.on_established(1000, 1);
        sender.on_loss(Loss::Timeout, 8000, Time::ZERO);
        assert_eq!(sender.window(), u64::MAX);
    }

    #[test]
    fn composed_it_has_the_window_of_the_other_scheme() {
        let mut sender = composed();
        sender.on_established(1000, 10);
        assert_eq!(sender.window(), 10_000);
        // RFC 5681 §3.1: half of what is in flight.
        sender.on_loss(Loss::FastRetransmit, 8000, Time::ZERO);
        assert_eq!(sender.window(), 4000);
        sender.on_recovered(Some(3000));
        assert_eq!(sender.window(), 3000);
    }

    #[test]
    fn composed_it_still_tells_the_size_and_obeys_orders() {
        let mut sender = composed();
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.flags = TcpFlags::SYN;
        sender.on_send(&mut packet, Time::ZERO);
        assert_eq!(packet.extension.as_u64(), 32_768);
        assert!(sender.obeys_pushed_acks());
    }
}
