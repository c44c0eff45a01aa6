//! Packets of simulated hosts as real frames.

use std::net::{Ipv4Addr, SocketAddrV4};

use base::{HostId, Packet};
use wire::Ends;

/// Makes frames, reusing one buffer.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frame: Vec<u8>,
    /// Next IP identification of each host.
    identifications: Vec<u16>,
}

impl Frames {
    /// The frame of `packet`. The first host sends the data of the packet's flow, the second receives it.
    pub(super) fn of(&mut self, packet: &Packet, (sender, receiver): (HostId, HostId)) -> &[u8] {
        let (from, to) = if packet.to == receiver {
            (sender, receiver)
        } else {
            (receiver, sender)
        };
        let identification = self.identify(from);
        let frame = &mut self.frame;
        frame.clear();
        frame.extend(mac(to));
        frame.extend(mac(from));
        frame.extend(ETHERTYPE_IPV4);
        let (near, far) = ports(packet.flow.0);
        let (near, far) = if to == receiver {
            (near, far)
        } else {
            (far, near)
        };
        let ends = Ends {
            source: SocketAddrV4::new(address(from), near),
            destination: SocketAddrV4::new(address(to), far),
        };
        wire::encode(frame, packet, ends, identification, &[]);
        frame
    }

    fn identify(&mut self, host: HostId) -> u16 {
        let place = host.0 as usize;
        if self.identifications.len() <= place {
            self.identifications.resize(place + 1, 0);
        }
        self.identifications[place] = self.identifications[place].wrapping_add(1);
        self.identifications[place]
    }
}

/// Port numbers of the sending and the receiving end. No two flows have the same pair.
fn ports(flow: u32) -> (u16, u16) {
    let low = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    let (sender, receiver) = (flow % DYNAMIC_PORTS, flow / DYNAMIC_PORTS);
    (
        FIRST_DYNAMIC_PORT + low(sender),
        FIRST_SERVICE_PORT + low(receiver),
    )
}

/// A locally administered address; its end is the number of the host.
const fn mac(host: HostId) -> [u8; 6] {
    let [_, a, b, c] = host.0.to_be_bytes();
    [0x02, 0, 0, a, b, c]
}

/// 10.0.0.1 is host 0.
const fn address(host: HostId) -> Ipv4Addr {
    let [_, a, b, c] = (host.0 + 1).to_be_bytes();
    Ipv4Addr::new(10, a, b, c)
}

const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
/// RFC 6335 §6: ports from this one on are not assigned.
const FIRST_DYNAMIC_PORT: u16 = 49_152;
const DYNAMIC_PORTS: u32 = 16_384;
/// A range in which Wireshark knows no services.
const FIRST_SERVICE_PORT: u16 = 40_000;

#[cfg(test)]
mod tests {
    use base::FlowId;

    use super::*;

    #[test]
    fn a_frame_has_the_addresses_of_its_hosts_and_no_payload() {
        let mut packet = Packet::new(FlowId(5), HostId(0));
        packet.payload = 3;
        let mut frames = Frames::default();
        let frame = frames.of(&packet, (HostId(1), HostId(0)));
        assert_eq!(frame.len(), 14 + 20 + 20 + 3);
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0]);
        assert_eq!(frame[18..20], [0, 1], "the first packet of its host");
        assert_eq!(frame[26..34], [10, 0, 0, 2, 10, 0, 0, 1]);
        assert_eq!(frame[34..38], [0xc0, 5, 0x9c, 0x40]);
        assert_eq!(frame[54..], [0; 3]);
    }

    #[test]
    fn no_two_flows_share_both_ports() {
        let mut seen: Vec<_> = (0..100_000).map(ports).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 100_000);
    }
}
