//! A digest: a number that any difference in any packet-hop changes.

use base::cast::low_64;
use base::{Beside, Extension, Options, Packet, Time, Timestamps};

use super::Network;
use crate::port_id::PortId;

impl Network {
    #[inline(always)]
    pub(super) fn record(&mut self, port: PortId, packet: &Packet, now: Time) {
        let place = u64::from(port.0) << 32 | u64::from(packet.flow.0);
        // In the order in which a packet has them, so that each is one word of it.
        let numbers = u64::from(packet.seq.0) | u64::from(packet.ack.0) << 32;
        let rest = u64::from(packet.window)
            | u64::from(packet.payload) << 16
            | u64::from(packet.flags.bits()) << 32
            | (packet.ecn as u64) << 40
            | u64::from(packet.dscp) << 48
            | u64::from(packet.reserved) << 56;
        let where_and_when = now.as_ps() ^ place.rotate_left(17) ^ ODD_A;
        let mut what = numbers ^ rest.rotate_left(29);
        if !matches!(packet.options, Options::None) || packet.extension != Extension::NONE {
            what = what.wrapping_add(match packet.options {
                // As `digest_of_carried` has it, of what nearly all segments carry where any do.
                Options::Stamped(timestamps, Beside::None)
                    if packet.extension == Extension::NONE =>
                {
                    both(timestamps).wrapping_mul(ODD_B.wrapping_mul(ODD_A))
                }
                _ => digest_of_carried(packet),
            });
        }
        // The two halves of a product are folded, which mixes both factors into every bit. A sum does not
        // depend on the order of hops: those at equal times have none.
        let product = u128::from(where_and_when) * u128::from(what ^ ODD_B);
        let hop = low_64((product >> 64) ^ product);
        self.digest = self.digest.wrapping_add(hop);
    }
}

/// Most segments carry neither options nor an extension.
#[inline(never)]
fn digest_of_carried(packet: &Packet) -> u64 {
    let [first, second, third] = packet.extension.0;
    let extension = u64::from(first) << 32 ^ u64::from(second) << 16 ^ u64::from(third);
    let mut options: u64 = match (packet.options.syn(), packet.options.sack()) {
        (Some(syn), _) => {
            let scale = syn.window_scale.map_or(0xff, u64::from);
            u64::from(syn.mss) << 16 | scale << 8 | u64::from(syn.sack_permitted) << 1 | 1
        }
        (None, Some(blocks)) => blocks.as_slice().iter().fold(3, |digest, (start, end)| {
            let block = u64::from(start.0) << 32 | u64::from(end.0);
            (digest.rotate_left(7) ^ block).wrapping_mul(ODD_B)
        }),
        (None, None) => 0,
    };
    if let Some(timestamps) = packet.options.timestamps() {
        options = (options.rotate_left(11) ^ both(timestamps)).wrapping_mul(ODD_B);
    }
    options
        .wrapping_mul(ODD_A)
        .wrapping_add(extension.wrapping_mul(ODD_B))
}

const fn both(timestamps: Timestamps) -> u64 {
    (timestamps.value as u64) << 32 | timestamps.echo as u64
}

/// Odd constants with well-mixed bits: 2^64 divided by the golden ratio, and the mixer of `MurmurHash3`.
const ODD_A: u64 = 0x9e37_79b9_7f4a_7c15;
const ODD_B: u64 = 0xff51_afd7_ed55_8ccd;
