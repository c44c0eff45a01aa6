//! Notices of the receiver role to the sender's congestion control: small segments that acknowledge nothing, as the
//! congestion notification packets (CNPs) of `RoCE` do.

use base::{Packet, TcpFlags, Time};

use super::Endpoint;
use crate::cc::SenderCc;
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// A notice, whose content the role adds.
    pub(crate) fn notice(&self) -> Packet {
        self.header(self.sender.bare_offset(self.scales.0), TcpFlags::NONE)
    }

    /// A notice has arrived.
    #[cold]
    pub(super) fn on_notice(&mut self, packet: &Packet, now: Time) {
        self.sender
            .control(|cc| cc.on_notice(packet.extension, now));
    }
}

/// Whether a segment is a notice: every other one has a flag.
#[inline(always)]
pub(super) fn is_notice(packet: &Packet) -> bool {
    packet.flags == TcpFlags::NONE
}
