//! The Internet checksum (RFC 1071).

use std::net::Ipv4Addr;

use crate::PROTOCOL_TCP;
use base::cast::{id, low_16};

/// Sum of 16-bit words, not yet folded. An odd byte at the end is the first half of a word.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2);
    words
        .map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)))
        .sum()
}

/// The Internet checksum for a sum of words.
pub(crate) const fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !low_16(sum as u64)
}

/// The sum of the pseudo header, from the addresses, the protocol and the length of a segment (RFC 9293 §3.1).
pub(crate) fn pseudo(from: Ipv4Addr, to: Ipv4Addr, length: usize) -> u32 {
    sum(&from.octets()) + sum(&to.octets()) + u32::from(PROTOCOL_TCP) + id(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_a_known_header() {
        // The example of RFC 1071 §3: words 0001 f203 f4f5 f6f7 sum to 2ddf0, folded ddf2.
        let sum = sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!((sum, fold(sum)), (0x2_ddf0, !0xddf2));
    }
}
