//! The receiver's part: the rate that a packet was granted goes back with the next ACK.

use base::{Packet, Time};
use tcp::{Arrival, ReceiverCc, Slot};

use super::header::Header;

/// Rates on their way back, of all connections of a host.
#[derive(Debug, Default)]
pub struct Receiver {
    /// By slot, the rate in the latest packet that no ACK has returned yet, in bytes per second; 0 if there is none.
    granted: Vec<f64>,
}

impl Receiver {
    fn note(&mut self, slot: Slot, rate: f64) {
        let place = slot.0 as usize;
        if self.granted.len() <= place {
            self.granted.resize(place + 1, 0.0);
        }
        self.granted[place] = rate;
    }
}

impl ReceiverCc for Receiver {
    // A SYN carries no data, so `on_data` does not see it; and the slot may hold a rate of its last connection.
    fn on_open(&mut self, slot: Slot, syn: &Packet, _mss: u16, _now: Time) {
        self.note(slot, Header::of(syn.extension).rate);
    }

    fn on_data(&mut self, slot: Slot, arrival: &Arrival, _now: Time) {
        let rate = Header::of(arrival.extension).rate;
        // Without a rate it is no request, or not of this scheme.
        if rate > 0.0 {
            self.note(slot, rate);
        }
    }

    fn stamp(&mut self, slot: Slot, packet: &mut Packet) {
        let granted = self.granted.get_mut(slot.0 as usize).map(std::mem::take);
        if let Some(returned) = granted.filter(|rate| *rate > 0.0) {
            let header = Header {
                returned,
                ..Header::of(packet.extension)
            };
            packet.extension = header.write();
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{Extension, FlowId, HostId};

    use super::*;

    const SLOT: Slot = Slot(2);

    fn granted(rate: f64) -> Extension {
        let header = Header {
            rate,
            rtt: 0.04,
            returned: 0.0,
        };
        header.write()
    }

    fn data(rate: f64) -> Arrival {
        Arrival {
            payload: 1460,
            extension: granted(rate),
            ..Arrival::default()
        }
    }

    fn ack(receiver: &mut Receiver) -> Extension {
        let mut packet = Packet::new(FlowId(0), HostId(0));
        receiver.stamp(SLOT, &mut packet);
        packet.extension
    }

    fn returned(receiver: &mut Receiver) -> u64 {
        base::cast::whole(Header::of(ack(receiver)).returned)
    }

    #[test]
    fn an_ack_returns_what_the_newest_packet_was_granted() {
        let mut receiver = Receiver::default();
        let mut syn = Packet::new(FlowId(0), HostId(0));
        syn.extension = granted(6_250_000.0);
        receiver.on_open(SLOT, &syn, 1460, Time::ZERO);
        assert_eq!(returned(&mut receiver), 6_250_000);
        for rate in [5_000_000.0, 4_000_000.0] {
            receiver.on_data(SLOT, &data(rate), Time::ZERO);
        }
        // Data that does not ask changes nothing.
        receiver.on_data(SLOT, &data(0.0), Time::ZERO);
        assert_eq!(returned(&mut receiver), 4_000_000);
        assert_eq!(ack(&mut receiver), Extension::NONE);
    }

    #[test]
    fn what_the_host_sends_itself_keeps_its_own_request() {
        let mut receiver = Receiver::default();
        receiver.on_data(SLOT, &data(4096.0), Time::ZERO);
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.extension = granted(8192.0);
        receiver.stamp(SLOT, &mut packet);
        let expected = Header {
            rate: 8192.0,
            rtt: f64::from(0.04_f32),
            returned: 4096.0,
        };
        assert_eq!(Header::of(packet.extension), expected);
    }

    #[test]
    fn connections_of_other_schemes_are_left_alone() {
        let mut receiver = Receiver::default();
        let other = Arrival {
            extension: Extension::from_u64(32_768),
            ..Arrival::default()
        };
        receiver.on_data(SLOT, &other, Time::ZERO);
        let mut packet = Packet::new(FlowId(0), HostId(0));
        packet.extension = Extension([1, 2, 3]);
        receiver.stamp(SLOT, &mut packet);
        assert_eq!(packet.extension, Extension([1, 2, 3]));
    }
}
