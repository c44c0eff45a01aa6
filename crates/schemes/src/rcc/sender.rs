//! The sender: its window is the advertised one, and an ACK with PSH orders a retransmission.

use base::{Extension, Packet, TcpFlags, Time};
use tcp::SenderCc;

use crate::registry::FlowInfo;

/// RCC §4.7: congestion control is the receiver's, so only the advertised window limits. Loss
/// detection is TCP's own and changes no window.
#[derive(Debug)]
pub struct Sender {
    /// Carried in the SYN, so that the receiver can prefer short flows; 0: not known.
    size: u64,
}

impl Sender {
    pub(super) fn new(flow: &FlowInfo) -> Self {
        Self {
            size: flow.size.unwrap_or(0),
        }
    }
}

impl SenderCc for Sender {
    #[inline]
    fn window(&self) -> u64 {
        u64::MAX
    }

    #[inline]
    fn on_send(&mut self, packet: &mut Packet, _now: Time) {
        if packet.flags.has(TcpFlags::SYN) {
            packet.extension = Extension::from_u64(self.size);
        }
    }

    #[inline]
    fn orders_retransmission(&self, packet: &Packet) -> bool {
        packet.flags.has(TcpFlags::PSH) && packet.sequence_length() == 0
    }
}
