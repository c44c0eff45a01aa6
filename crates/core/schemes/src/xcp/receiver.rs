//! The receiver's part: the feedback of data packets goes back with the next ACK.

use base::{Packet, Time};
use tcp::{Arrival, ReceiverCc, Slot};

use super::header::Header;

/// Feedback on its way back, of all connections of a host, whoever opened them.
#[derive(Debug, Default)]
pub struct Receiver {
    /// Sum of what has arrived since the last ACK left, bytes per second, by slot.
    sums: Vec<f64>,
}

impl ReceiverCc for Receiver {
    fn on_data(&mut self, slot: Slot, arrival: &Arrival, _now: Time) {
        let header = Header::of(arrival.extension);
        // Without a round trip it is no request, or not of this scheme.
        if header.rtt > 0.0 {
            let place = slot.0 as usize;
            if self.sums.len() <= place {
                self.sums.resize(place + 1, 0.0);
            }
            self.sums[place] += header.delta;
        }
    }

    fn stamp(&mut self, slot: Slot, packet: &mut Packet) {
        let sum = self.sums.get_mut(slot.0 as usize).map(std::mem::take);
        if let Some(sum) = sum.filter(|sum| *sum != 0.0) {
            let mut header = Header::of(packet.extension);
            header.reverse = sum;
            packet.extension = header.write();
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{Extension, FlowId, HostId};

    use super::*;

    const SLOT: Slot = Slot(2);

    fn granted(delta: f64) -> Arrival {
        let header = Header {
            spacing: 1e-5,
            rtt: 1e-4,
            delta,
            reverse: 0.0,
        };
        Arrival {
            payload: 1460,
            extension: header.write(),
            ..Arrival::default()
        }
    }

    fn ack(receiver: &mut Receiver) -> Extension {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        receiver.stamp(SLOT, &mut packet);
        packet.extension
    }

    #[test]
    fn an_ack_returns_what_all_data_since_the_last_one_was_granted() {
        let mut receiver = Receiver::default();
        for delta in [1024.0, -256.0, 2048.0] {
            receiver.on_data(SLOT, &granted(delta), Time::ZERO);
        }
        assert_eq!(
            Header::of(ack(&mut receiver)).reverse.to_bits(),
            2816_f64.to_bits()
        );
        assert_eq!(ack(&mut receiver), Extension::NONE);
    }

    #[test]
    fn connections_of_other_schemes_are_left_alone() {
        let mut receiver = Receiver::default();
        let other = Arrival {
            extension: Extension::from_u64(32_768),
            ..granted(0.0)
        };
        receiver.on_data(SLOT, &other, Time::ZERO);
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.extension = Extension([1, 2, 3]);
        receiver.stamp(SLOT, &mut packet);
        assert_eq!(packet.extension, Extension([1, 2, 3]));
    }
}
