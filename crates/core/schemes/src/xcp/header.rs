//! XCP's numbers in a packet.

use base::Extension;
use base::cast::single;

/// The congestion header of a data packet, and the feedback that an acknowledgement returns.
///
/// All four share the header space, because a packet may be both: each is the upper 24 bits of a
/// 32-bit float.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Header {
    /// Sender's smoothed round trip divided by its window: seconds per packet; 0 if unknown.
    pub(super) spacing: f64,
    /// Sender's smoothed round trip, seconds; 0 if unknown.
    pub(super) rtt: f64,
    /// Change of throughput, bytes per second: wanted by the sender, then granted by the routers.
    pub(super) delta: f64,
    /// Change of throughput that the receiver returns, bytes per second.
    pub(super) reverse: f64,
}

impl Header {
    pub(super) fn of(extension: Extension) -> Self {
        let [first, second, third] = extension.0;
        Self {
            spacing: widen(first >> 8),
            rtt: widen((first & 0xff) << 16 | second >> 16),
            delta: widen((second & 0xffff) << 8 | third >> 24),
            reverse: widen(third & 0x00ff_ffff),
        }
    }

    pub(super) fn write(self) -> Extension {
        let [spacing, rtt, delta, reverse] =
            [self.spacing, self.rtt, self.delta, self.reverse].map(narrow);
        Extension([
            spacing << 8 | rtt >> 16,
            (rtt & 0xffff) << 16 | delta >> 8,
            (delta & 0xff) << 24 | reverse,
        ])
    }
}

/// The 24 bits that stand for `value`, rounded to nearest.
fn narrow(value: f64) -> u32 {
    (single(value).to_bits() + 0x80) >> 8
}

fn widen(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits << 8))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_keep_sixteen_digits(
            spacing in 1e-9_f64..1.0,
            rtt in 1e-6_f64..10.0,
            delta in -1e15_f64..1e15,
            reverse in -1e15_f64..1e15,
        ) {
            let header = Header { spacing, rtt, delta, reverse };
            let read = Header::of(header.write());
            for (read, written) in [
                (read.spacing, spacing),
                (read.rtt, rtt),
                (read.delta, delta),
                (read.reverse, reverse),
            ] {
                // 15 explicit bits and one implied, rounded to nearest after a first rounding to 24.
                let error = 1.0 / 65_536.0 + 1.0 / 16_777_216.0;
                prop_assert!((read - written).abs() <= written.abs() * error);
            }
            // A header that was read is written again without a change.
            prop_assert_eq!(Header::of(read.write()), read);
        }
    }

    #[test]
    fn nothing_is_written_as_nothing() {
        assert_eq!(Header::default().write(), Extension::NONE);
        assert_eq!(Header::of(Extension::NONE), Header::default());
    }
}
