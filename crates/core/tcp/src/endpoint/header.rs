//! The headers of everything that leaves an endpoint.

use base::cast;
use base::{Beside, Ecn, Options, Packet, Seq, SynOptions, TcpFlags, Time, Timestamps};

use super::{Endpoint, Prediction};
use crate::cc::SenderCc;
use crate::config::EcnMode;
use crate::low_priority::LowSegment;
use crate::plays::Plays;
use crate::receiver::EarlyAck;
use crate::sender::Outgoing;
use crate::timestamps;

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// Puts timestamps on a segment that leaves, if they are in use, and acknowledges all that has come in order.
    #[inline(always)]
    pub(super) fn stamp(&mut self, packet: &mut Packet, now: Time) {
        if self.prediction != Prediction::Plain && self.stamps.is_some() {
            self.put_stamps(packet, now);
        }
    }

    #[inline(never)]
    fn put_stamps(&mut self, packet: &mut Packet, now: Time) {
        if let Some(stamps) = &mut self.stamps {
            put(packet, stamps.stamp(self.receiver.next(), now));
        }
    }

    /// Puts timestamps on a segment that leaves before others, if they are in use. A SYN offers them itself.
    pub(super) fn stamp_urgent(&mut self, packet: &mut Packet, now: Time) {
        if let Some(stamps) = &mut self.stamps
            && packet.flags.has(TcpFlags::ACK)
        {
            let acknowledged = self.receiver.irs.near(packet.ack, self.receiver.next());
            put(packet, stamps.stamp(acknowledged, now));
        }
    }

    pub(super) fn syn(&mut self, now: Time) -> Packet {
        let mut packet = self.header(0, TcpFlags::SYN);
        if self.sender.config.ecn != EcnMode::Off {
            packet.flags = packet.flags.with(TcpFlags::ECE).with(TcpFlags::CWR);
        }
        let config = &self.sender.config;
        let window = config.receive_buffer.min(self.window_limit);
        packet.window = low_16(window.min(u64::from(u16::MAX)));
        self.finish_syn(&mut packet, true, now);
        self.syn_due = false;
        packet
    }

    #[inline(never)]
    pub(super) fn syn_ack(&mut self, push: bool, now: Time) -> Packet {
        let mut packet = self.header(0, TcpFlags::SYN.with(TcpFlags::PSH.when(push)));
        packet.flags = packet
            .flags
            .with(TcpFlags::ECE.when(self.sender.uses_ecn()));
        let scale = self.scale_in(&packet, self.scales.0);
        self.add_acknowledgement(&mut packet, scale, false);
        let window = u64::from(packet.window) << scale;
        self.receiver.on_acknowledged(window);
        let sack = self.sender.uses_sack();
        self.finish_syn(&mut packet, sack, now);
        packet
    }

    fn finish_syn(&mut self, packet: &mut Packet, sack: bool, now: Time) {
        packet.ecn = self.sender.config.ecn_without_data();
        let answers = packet.flags.has(TcpFlags::ACK);
        packet.options = Options::Syn(SynOptions {
            mss: self.sender.config.mss,
            window_scale: self
                .sender
                .config
                .window_scale
                .filter(|_| !answers || self.scaling),
            sack_permitted: self.sender.config.sack && sack,
        });
        // RFC 7323 §3.2: a SYN-ACK has them only if the SYN had; it is stamped as other segments are.
        if self.sender.config.timestamps && !answers {
            let value = timestamps::clock(now);
            packet.options = packet.options.stamped(Timestamps { value, echo: 0 });
        }
        if !answers || std::mem::take(&mut self.opening.asked) {
            let timeout = self.opening_timeout(answers);
            self.state_deadline = self.sender.config.expiry(now, timeout);
        }
        self.opening.on_sent(now);
        self.sender.on_send(packet, now);
        if let Some(announcement) = &self.announcement {
            packet.extension = **announcement;
        }
    }

    #[inline(always)]
    pub(super) fn put_data(&mut self, packet: &mut Packet, segment: &Outgoing, now: Time) {
        let flags = TcpFlags::FIN
            .when(segment.fin)
            .with(TcpFlags::CWR.when(segment.cwr))
            .with(TcpFlags::PSH.when(segment.push));
        *packet = self.header(segment.offset, flags);
        packet.payload = segment.payload;
        if self.sender.uses_ecn() && segment.payload > 0 {
            // RFC 3168 §6.1.5: retransmissions are not ECN-capable. DCTCP and RCC control the path
            // and mark all data capable, as Linux does for DCTCP.
            let config = &self.sender.config;
            let capable =
                !segment.again || config.ecn != EcnMode::Classic || config.ecn_retransmissions;
            packet.ecn = if capable {
                Ecn::Capable
            } else {
                Ecn::NotCapable
            };
        } else if segment.payload == 0 {
            packet.ecn = self.sender.config.ecn_without_data();
        }
        self.add_acknowledgement(packet, self.scales.0, self.receiver.echoes());
        let window = u64::from(packet.window) << self.scales.0;
        self.receiver.on_acknowledged(window);
        self.receiver.on_data_sent(now);
        self.sender.on_send(packet, now);
    }

    #[inline(always)]
    pub(super) fn put_ack(&mut self, packet: &mut Packet, push: bool) {
        *packet = self.header(
            self.sender.bare_offset(self.scales.0),
            TcpFlags::PSH.when(push),
        );
        packet.ecn = self.sender.config.ecn_without_data();
        self.add_acknowledgement(packet, self.scales.0, self.receiver.echoes());
        if self.sender.uses_sack() {
            packet.options = self.receiver.sack_blocks();
        }
        self.receiver
            .on_acknowledged(u64::from(packet.window) << self.scales.0);
    }

    /// Builds the next segment at low priority, if there is such a loop and it has one.
    #[inline(always)]
    pub(super) fn low_into(&mut self, packet: &mut Packet, now: Time) -> bool {
        let Some(low) = self.sender.next_low() else {
            return false;
        };
        *packet = self.low_segment(&low);
        self.stamp(packet, now);
        true
    }

    /// A segment at low priority. Marks say nothing about the ordinary loop, so it is not ECN-capable.
    pub(super) fn low_segment(&mut self, segment: &LowSegment) -> Packet {
        let mut packet = self.header(segment.offset, TcpFlags::PSH.when(segment.push));
        packet.payload = low_16(segment.payload);
        packet.dscp = segment.priority;
        self.add_acknowledgement(&mut packet, self.scales.0, self.receiver.echoes());
        self.receiver.on_advertised(
            self.receiver.next(),
            u64::from(packet.window) << self.scales.0,
        );
        packet
    }

    /// The acknowledgement of data of low priority, at its priority.
    pub(super) fn low_ack(&mut self, priority: u8) -> Packet {
        let mut packet = self.header(self.sender.bare_offset(self.scales.0), TcpFlags::NONE);
        packet.dscp = priority;
        self.add_acknowledgement(&mut packet, self.scales.0, self.receiver.echoes());
        if self.sender.uses_sack() {
            packet.options = self.receiver.sack_blocks();
        }
        self.receiver.on_advertised(
            self.receiver.next(),
            u64::from(packet.window) << self.scales.0,
        );
        packet
    }

    /// An ACK that leaves before anything else: see [`EarlyAck`].
    pub(super) fn early_ack(&mut self, early: EarlyAck) -> Packet {
        let mut packet = self.header(self.sender.bare_offset(self.scales.0), TcpFlags::NONE);
        packet.ecn = self.sender.config.ecn_without_data();
        self.add_acknowledgement(&mut packet, self.scales.0, early.echo);
        packet.ack = self.receiver.irs.at(early.ack);
        if self.sender.uses_sack() {
            packet.options = self.receiver.early_blocks();
        }
        self.receiver
            .on_advertised(early.ack, u64::from(packet.window) << self.scales.0);
        packet
    }

    /// RFC 9293 §3.10.7.1: a reset that the peer will believe.
    pub(super) fn reset_for(&self, packet: &Packet) -> Packet {
        let mut reset = self.header(0, TcpFlags::RST);
        if packet.flags.has(TcpFlags::ACK) {
            reset.seq = packet.ack;
        } else {
            reset.seq = Seq(0);
            reset.flags = reset.flags.with(TcpFlags::ACK);
            reset.ack = packet.seq.at(packet.sequence_length());
        }
        reset
    }

    pub(super) fn reset_at(&self, offset: u64) -> Packet {
        let mut reset = self.header(offset, TcpFlags::RST.with(TcpFlags::ACK));
        reset.ack = self.receiver.irs.at(self.receiver.next());
        reset
    }

    #[inline(always)]
    fn add_acknowledgement(&self, packet: &mut Packet, scale: u8, echo: bool) {
        let flags = TcpFlags::ACK.with(TcpFlags::ECE.when(echo));
        packet.flags = packet.flags.with(flags);
        packet.ack = self.receiver.irs.at(self.receiver.next());
        let buffer = self.receiver.window(self.sender.mss());
        // A role's limit is rounded up to a unit of the scale, as Linux rounds the window it wants:
        // rounded down, a limit of a segment would be less than a segment, or a closed window.
        let limit = self.window_limit.saturating_add((1 << scale) - 1);
        let window = buffer.min(limit) >> scale;
        packet.window = low_16(window.min(u64::from(u16::MAX)));
    }

    #[inline(always)]
    pub(super) fn header(&self, offset: u64, flags: TcpFlags) -> Packet {
        let mut packet = Packet::new(self.identity.flow, self.identity.remote);
        packet.seq = self.identity.initial_seq.at(offset);
        packet.flags = flags;
        packet
    }
}

/// Most segments carry nothing but timestamps.
#[inline(always)]
fn put(packet: &mut Packet, stamps: Timestamps) {
    if matches!(packet.options, Options::None) {
        packet.options = Options::Stamped(stamps, Beside::None);
    } else {
        put_beside(packet, stamps);
    }
}

#[cold]
#[inline(never)]
fn put_beside(packet: &mut Packet, stamps: Timestamps) {
    packet.options = packet.options.stamped(stamps);
}

#[inline(always)]
fn low_16(value: u64) -> u16 {
    debug_assert!(u16::try_from(value).is_ok(), "bounded by its maker");
    cast::low_16(value)
}
