//! Finds the acknowledgements of a stock receiver that data of low priority caused.
//!
//! RC3's receiver acknowledges data at the priority of the data, so that its sender can distinguish deliveries of the
//! ordinary loop from those of the loop at low priorities. A stock receiver sends all ACKs at the same priority. Then
//! the cause is read from the SACK blocks: the first one contains the segment that triggered it (RFC 2018 §4), or the
//! data that came twice (RFC 2883 §4).

use base::{Packet, Seq, TcpFlags};
use protocol::LowAcks;

/// The rule by which data counts as sent at low priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LowRule {
    /// Data above everything sent at priority 0. If the ordinary loop has overtaken a copy meanwhile, its ACK looks
    /// like an ACK of ordinary data.
    #[default]
    Ahead,
    /// All data sent at low priority, since such copies leave before the ordinary loop reaches them. After a loss, an
    /// ACK of ordinary data looks like an ACK of a copy.
    Copied,
}

/// Reads the ACKs of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowAckReader {
    rule: LowRule,
    /// The number of our SYN.
    initial: Seq,
    /// Acknowledged up to here, by any ACK.
    acknowledged: u64,
    /// One past the last byte that was sent at priority 0.
    ordinary: u64,
    /// The range sent at low priorities.
    copies: (u64, u64),
    pub(crate) counts: LowAcks,
}

impl LowAckReader {
    pub(crate) fn new(initial: Seq, rule: LowRule) -> Self {
        Self {
            rule,
            initial,
            acknowledged: 0,
            ordinary: 0,
            copies: (u64::MAX, 0),
            counts: LowAcks::default(),
        }
    }

    /// A segment leaves.
    pub(crate) fn on_sent(&mut self, packet: &Packet) {
        if packet.payload == 0 {
            return;
        }
        let highest = self.ordinary.max(self.copies.1);
        let start = self.initial.near(packet.seq, highest);
        let end = start + u64::from(packet.payload);
        if packet.dscp == 0 {
            self.ordinary = self.ordinary.max(end);
        } else {
            let (from, to) = self.copies;
            self.copies = (from.min(start), to.max(end));
        }
    }

    /// The priority of the data that caused an arrived segment.
    pub(crate) fn priority_of(&mut self, packet: &Packet) -> u8 {
        let control = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST];
        let is_pure = packet.payload == 0 && !control.iter().any(|flag| packet.flags.has(*flag));
        if !is_pure || !packet.flags.has(TcpFlags::ACK) || self.ordinary == 0 {
            return 0;
        }
        let acknowledged = self.initial.near(packet.ack, self.acknowledged);
        if acknowledged >= self.ordinary.max(self.copies.1) && acknowledged == self.acknowledged {
            // Everything has arrived, so the priority does not matter any more.
            return 0;
        }
        self.counts.acks += 1;
        if acknowledged > self.acknowledged {
            self.acknowledged = acknowledged;
            self.counts.advancing += 1;
            return 0;
        }
        let offsets = |(start, end): &(Seq, Seq)| {
            let near = |seq: &Seq| self.initial.near(*seq, self.acknowledged);
            (near(start), near(end))
        };
        let blocks = packet.options.sack().map(base::SackBlocks::as_slice);
        let mut blocks = blocks.unwrap_or_default().iter().map(offsets);
        let Some((start, end)) = blocks.next() else {
            return 0;
        };
        // RFC 2883 §4: below the acknowledgement, or within the following block.
        let within = |(from, to): (u64, u64)| from <= start && end <= to;
        if end <= acknowledged || blocks.next().is_some_and(within) {
            if within(self.copies) {
                self.counts.duplicates += 1;
                return LOW;
            }
        } else if start >= self.low_from() {
            self.counts.ahead += 1;
            return LOW;
        }
        0
    }

    /// The offset from which bytes count as sent at low priority.
    const fn low_from(&self) -> u64 {
        match self.rule {
            LowRule::Ahead => self.ordinary,
            LowRule::Copied => self.copies.0,
        }
    }
}

/// Endpoints only distinguish low and ordinary priority.
const LOW: u8 = 1;

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId, Options, SackBlocks};

    use super::*;

    const SYN: Seq = Seq(1000);

    fn data(offset: u64, payload: u16, priority: u8) -> Packet {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        (packet.seq, packet.payload, packet.dscp) = (SYN.at(offset), payload, priority);
        packet
    }

    fn ack(offset: u64, blocks: &[(u64, u64)]) -> Packet {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        (packet.ack, packet.flags) = (SYN.at(offset), TcpFlags::ACK);
        let mut sack = SackBlocks::new();
        for (start, end) in blocks {
            sack.push(SYN.at(*start), SYN.at(*end));
        }
        if !blocks.is_empty() {
            packet.options = Options::Sack(sack);
        }
        packet
    }

    /// 200 bytes at priority 0, then copies of 800 from the end.
    fn reader(rule: LowRule) -> LowAckReader {
        let mut reader = LowAckReader::new(SYN, rule);
        reader.on_sent(&data(1, 100, 0));
        reader.on_sent(&data(101, 100, 0));
        for offset in [901, 801, 701, 601, 501, 401, 301, 201] {
            reader.on_sent(&data(offset, 100, 1));
        }
        reader
    }

    #[test]
    fn an_ack_of_what_lies_ahead_is_of_low_priority() {
        let mut reader = reader(LowRule::Ahead);
        assert_eq!(reader.priority_of(&ack(101, &[])), 0);
        assert_eq!(reader.priority_of(&ack(101, &[(901, 1001)])), 1);
        // A part of the second segment is missing: this is about priority 0.
        assert_eq!(reader.priority_of(&ack(101, &[(151, 201)])), 0);
        assert_eq!(reader.priority_of(&ack(201, &[(901, 1001)])), 0);
        let counts = reader.counts;
        assert_eq!((counts.acks, counts.advancing, counts.ahead), (4, 2, 1));
        assert_eq!(counts.unexplained(), 1);
    }

    #[test]
    fn a_copy_that_was_overtaken_is_told_by_one_rule_alone() {
        for (rule, priority) in [(LowRule::Ahead, 0), (LowRule::Copied, 1)] {
            let mut reader = reader(rule);
            reader.on_sent(&data(201, 100, 0));
            reader.on_sent(&data(301, 100, 0));
            assert_eq!(reader.priority_of(&ack(201, &[(301, 1001)])), 0);
            assert_eq!(reader.priority_of(&ack(201, &[(301, 1001)])), priority);
        }
    }

    #[test]
    fn a_copy_that_came_twice_was_of_low_priority() {
        let mut reader = reader(LowRule::Ahead);
        assert_eq!(reader.priority_of(&ack(301, &[(901, 1001)])), 0);
        assert_eq!(reader.priority_of(&ack(301, &[(201, 301), (901, 1001)])), 1);
        assert_eq!(
            reader.priority_of(&ack(301, &[(901, 1001), (801, 1001)])),
            1
        );
        assert_eq!(reader.priority_of(&ack(301, &[(1, 101)])), 0);
        assert_eq!(reader.counts.duplicates, 2);
    }

    #[test]
    fn segments_with_data_and_ends_have_no_low_priority() {
        let mut reader = reader(LowRule::Ahead);
        let mut finished = ack(1, &[(901, 1001)]);
        finished.flags = finished.flags.with(TcpFlags::FIN);
        assert_eq!(reader.priority_of(&finished), 0);
        assert_eq!(reader.counts, LowAcks::default());
    }
}
