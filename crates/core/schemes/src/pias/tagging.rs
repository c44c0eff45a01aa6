//! The sending host's part: every packet is tagged by the bytes that its flow has sent before.

use base::cast::low_8;
use base::{Packet, Seq, TcpFlags, Time};
use tcp::{HostHelper, Slot};

/// Tags what leaves a host.
#[derive(Debug)]
pub struct Tagger {
    /// Demotion thresholds, bytes, ascending.
    thresholds: Vec<u64>,
    /// By slot: connections that have sent data.
    connections: Vec<Option<Sent>>,
}

/// The bytes that a flow has sent. Offsets count its stream as TCP does: 1 is the first byte.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Number of the SYN.
    initial: Seq,
    /// Offset of the first byte of the message.
    message: u64,
    /// One past the highest offset sent.
    end: u64,
}

impl Tagger {
    /// With demotion thresholds in bytes.
    pub fn new(thresholds: Vec<u64>) -> Self {
        Self {
            thresholds,
            connections: Vec::new(),
        }
    }

    /// The priority of a packet whose flow has sent `bytes` before it.
    fn priority(&self, bytes: u64) -> u8 {
        let below = self
            .thresholds
            .partition_point(|threshold| *threshold < bytes);
        low_8(below as u64)
    }
}

impl HostHelper for Tagger {
    // Unsent data of an earlier message count as the beginning of this one.
    fn on_message(&mut self, slot: Slot) {
        if let Some(Some(sent)) = self.connections.get_mut(slot.0 as usize) {
            sent.message = sent.end;
        }
    }

    fn on_outgoing(&mut self, slot: Slot, packet: &mut Packet, _now: Time) {
        packet.dscp = 0;
        let place = slot.0 as usize;
        if place >= self.connections.len() {
            self.connections.resize(place + 1, None);
        }
        let sent = &mut self.connections[place];
        // Another connection may have taken the slot.
        if packet.flags.has(TcpFlags::SYN) {
            *sent = None;
        }
        if packet.payload == 0 {
            return;
        }
        // The first data that a connection sends is that of offset 1.
        let sent = sent.get_or_insert_with(|| Sent {
            initial: Seq(packet.seq.0.wrapping_sub(1)),
            message: 1,
            end: 1,
        });
        let offset = sent.initial.near(packet.seq, sent.end);
        sent.end = sent.end.max(offset + u64::from(packet.payload));
        // The rest of an earlier message goes first.
        let before = offset.saturating_sub(sent.message);
        packet.dscp = self.priority(before);
    }
}

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};

    use super::*;

    const MSS: u16 = 1460;
    const SLOT: Slot = Slot(5);

    fn tag(tagger: &mut Tagger, initial: Seq, offset: u64, payload: u16) -> u8 {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        (packet.seq, packet.payload) = (initial.at(offset), payload);
        tagger.on_outgoing(SLOT, &mut packet, Time::ZERO);
        packet.dscp
    }

    /// Sends whole segments from `from` on until their priority is `until`; returns how many.
    fn segments(tagger: &mut Tagger, initial: Seq, from: u64, until: u8) -> u64 {
        let offset = |segment| from + segment * u64::from(MSS);
        let mut numbers = 0..10_000;
        let first = numbers.find(|segment| tag(tagger, initial, offset(*segment), MSS) == until);
        first.expect("the flow sinks")
    }

    #[test]
    fn a_flow_sinks_after_each_threshold_and_stays_at_the_bottom() {
        // Bytes sent before segment n: 1460 n. Priority 0 up to exactly 10 segments: the eleventh still
        // has it (b <= t), so eleven segments leave with it. The stream wraps on the way.
        let initial = Seq(u32::MAX - 5000);
        let mut tagger = Tagger::new(vec![10 * 1460, 20 * 1460]);
        assert_eq!(segments(&mut tagger, initial, 1, 1), 11);
        let mut tagger = Tagger::new(vec![10 * 1460, 20 * 1460]);
        assert_eq!(segments(&mut tagger, initial, 1, 2), 21);
        assert_eq!(tag(&mut tagger, initial, 1 + 22 * 1460, MSS), 2);
    }

    #[test]
    fn a_retransmission_has_the_priority_of_its_place_and_counts_nothing() {
        let mut tagger = Tagger::new(vec![2 * 1460]);
        for (segment, priority) in [
            (0, 0),
            (1, 0),
            (2, 0),
            (0, 0),
            (0, 0),
            (1, 0),
            (3, 1),
            (2, 0),
        ] {
            let offset = 1 + segment * u64::from(MSS);
            assert_eq!(tag(&mut tagger, Seq(7), offset, MSS), priority);
        }
    }

    #[test]
    fn a_message_on_an_open_connection_starts_at_the_top() {
        let mut tagger = Tagger::new(vec![1000]);
        tagger.on_message(SLOT);
        assert_eq!(tag(&mut tagger, Seq(7), 1, MSS), 0);
        assert_eq!(tag(&mut tagger, Seq(7), 1461, MSS), 1);
        tagger.on_message(SLOT);
        assert_eq!(tag(&mut tagger, Seq(7), 2921, MSS), 0);
        assert_eq!(tag(&mut tagger, Seq(7), 4381, MSS), 1);
    }

    #[test]
    fn a_message_begins_behind_all_that_was_sent_also_after_a_retransmission() {
        let mut tagger = Tagger::new(vec![1000]);
        for offset in [1, 1461, 2921, 1] {
            tag(&mut tagger, Seq(7), offset, MSS);
        }
        tagger.on_message(SLOT);
        assert_eq!(tag(&mut tagger, Seq(7), 4381, MSS), 0);
    }

    #[test]
    fn what_carries_no_data_is_at_the_top() {
        let mut tagger = Tagger::new(vec![1000]);
        for offset in [1, 1461] {
            tag(&mut tagger, Seq(7), offset, MSS);
        }
        assert_eq!(tag(&mut tagger, Seq(7), 2921, 0), 0);
    }
}
