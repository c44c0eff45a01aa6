//! How the sender reaches the congestion control.

use base::{Packet, Time};

use super::Sender;
use crate::cc::{Delivery, Orders, SenderCc};
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Header fields of the scheme.
    #[inline(always)]
    pub(crate) fn on_send(&mut self, packet: &mut Packet, now: Time) {
        if self.sees_sent
            && let Some(cc) = self.cc.as_role_mut().as_segment_cc()
        {
            cc.on_send(packet, now);
        }
        debug_assert_eq!(self.cc.as_role().window(), self.window, "no event");
    }

    /// Tells the congestion control of an event, and takes the window that it allows from now on.
    #[inline(always)]
    pub(crate) fn control(&mut self, tell: impl FnOnce(&mut dyn SenderCc)) {
        self.window = self.cc.tell(|cc| {
            tell(cc);
            cc.window()
        });
    }

    /// Tells the congestion control what an ACK says has been delivered, if it listens.
    #[inline(always)]
    pub(super) fn tell_delivery(&mut self, delivery: &Delivery) {
        self.cc.tell(|cc| {
            if let Some(cc) = cc.as_delivery_cc() {
                cc.on_delivery(delivery);
            }
        });
    }

    /// The peer's orders do at least this.
    pub(crate) fn obey(&mut self, orders: Orders) {
        self.orders = self.orders.max(orders);
    }

    /// Whether the peer may order a segment to be sent again.
    pub(crate) fn obeys(&self) -> bool {
        self.orders != Orders::Ignored
    }

    /// Whether losses of data are repaired without an order of the peer.
    #[inline(always)]
    pub(super) const fn repairs(&self) -> bool {
        !matches!(self.orders, Orders::Awaited)
    }
}
