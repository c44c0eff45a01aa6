//! The data of flows: hashes of the offset, so that a lost, repeated or moved byte is detected.

/// Bytes by offset. They repeat after a prime number of bytes, so that no shift by a power of two is hidden.
pub struct Payload(Vec<u8>);

impl Default for Payload {
    fn default() -> Self {
        Self::new()
    }
}

impl Payload {
    /// The same bytes every time.
    pub fn new() -> Self {
        let words = (0..PERIOD.div_ceil(8) as u64).flat_map(|word| hash(word).to_le_bytes());
        Self(words.take(PERIOD).collect())
    }

    /// The bytes from `offset` of a connection's stream, as many as are contiguous.
    ///
    /// # Panics
    /// If a number below the period does not fit into an address, which no Linux has.
    pub fn at(&self, connection: usize, offset: u64) -> &[u8] {
        let offset = offset % PERIOD as u64 + connection as u64 * 7919;
        let place = usize::try_from(offset % PERIOD as u64).expect("a place in memory");
        &self.0[place..]
    }

    /// Whether `bytes` are the right ones from `offset`.
    pub fn is_right(&self, connection: usize, mut offset: u64, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let expected = self.at(connection, offset);
            let length = expected.len().min(bytes.len());
            if bytes[..length] != expected[..length] {
                return false;
            }
            offset += length as u64;
            bytes = &bytes[length..];
        }
        true
    }
}

/// `SplitMix64`'s finalizer.
fn hash(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const PERIOD: usize = 1_048_573;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_right_only_at_its_place() {
        let payload = Payload::new();
        let mut stream = payload.at(3, 1_000_000).to_vec();
        stream.extend(&payload.at(3, 1_000_000 + stream.len() as u64)[..5000]);
        assert!(payload.is_right(3, 1_000_000, &stream));
        assert!(!payload.is_right(3, 1_000_001, &stream));
        assert!(!payload.is_right(4, 1_000_000, &stream));
        stream[70_000 % 5000] ^= 1;
        assert!(!payload.is_right(3, 1_000_000, &stream));
    }
}
