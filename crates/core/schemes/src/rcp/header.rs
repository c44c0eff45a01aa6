//! RCP's numbers in a packet.

use base::Extension;
use base::cast::single;

/// The rate that a sender asks for and routers lower, and the answer that an acknowledgement returns;
/// a packet may carry both. Each is a 32-bit float.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Header {
    /// The rate asked for, lowered by every router to its own, bytes per second; 0: none is asked for.
    pub(super) rate: f64,
    /// The sender's round trip, seconds; 0 if it is not known or not told.
    pub(super) rtt: f64,
    /// The rate that the receiver returns, bytes per second; 0: none.
    pub(super) returned: f64,
}

/// The rate that senders ask for, in bytes per second: more than any link has.
pub(super) const EVERYTHING: f64 = 1e15;

impl Header {
    pub(super) fn of(extension: Extension) -> Self {
        let [rate, rtt, returned] = extension.0.map(read);
        Self {
            rate,
            rtt,
            returned,
        }
    }

    pub(super) fn write(self) -> Extension {
        Extension([self.rate, self.rtt, self.returned].map(narrow))
    }
}

/// Reads a positive number, or 0 if there is none. Whole numbers that other schemes keep there are no normal floats.
fn read(bits: u32) -> f64 {
    let value = f32::from_bits(bits);
    if value.is_normal() && value > 0.0 {
        value.into()
    } else {
        0.0
    }
}

fn narrow(value: f64) -> u32 {
    single(value).to_bits()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_keep_24_bits(
            rate in 1.0_f64..1e15,
            rtt in 1e-7_f64..100.0,
            returned in 1.0_f64..1e15,
        ) {
            let header = Header { rate, rtt, returned };
            let read = Header::of(header.write());
            for (read, written) in [
                (read.rate, rate),
                (read.rtt, rtt),
                (read.returned, returned),
            ] {
                prop_assert!((read - written).abs() <= written / 16_777_216.0);
            }
            prop_assert_eq!(Header::of(read.write()), read);
        }
    }

    #[test]
    fn nothing_is_written_as_nothing() {
        assert_eq!(Header::default().write(), Extension::NONE);
        assert_eq!(Header::of(Extension::NONE), Header::default());
    }

    #[test]
    fn a_flow_size_of_another_scheme_is_no_rate() {
        for size in [1, 32_768, 8_000_000] {
            assert_eq!(Header::of(Extension::from_u64(size)), Header::default());
        }
    }
}
