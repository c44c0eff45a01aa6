//! How a packet tells a switch by how much its window is shifted.

use base::cast::{low_8, low_16};
use base::{Packet, TcpFlags};
use tcp::HostHelper;

use super::{MAX_SHIFT, ScaleHelper, Shifts};

base::choices! {
    /// Where a packet carries the shift of its connection's windows. SYNs never do: their windows are not shifted.
    pub enum Encoding {
        /// In the four reserved bits of the TCP header.
        Reserved = "reserved",
        /// In the window field itself: twelve bits of window and four of shift, which the helper of the other host undoes.
        Window12 = "window12",
        /// In a window-scale option of every packet, kept in the header space of schemes.
        Option = "option",
    }
}

impl Encoding {
    /// How every host lets switches tell by how much windows are shifted.
    pub(crate) fn helper(self) -> Box<dyn HostHelper> {
        Box::new(ScaleHelper::new(
            move |packet: &mut Packet, shifts: Shifts| self.write(packet, shifts.ours),
            move |packet: &mut Packet, shifts: Shifts| self.erase(packet, shifts.theirs),
            self == Self::Window12,
        ))
    }

    /// Adds to a packet that leaves a host whose connection shifts windows by `shift`.
    fn write(self, packet: &mut Packet, shift: u8) {
        if !carries_shift(packet.flags) {
            return;
        }
        match self {
            Self::Reserved => packet.reserved = shift,
            Self::Window12 => packet.window = pack(packet.window, shift),
            Self::Option => {
                packet.extension.0[OPTION_WORD] = u32::from_be_bytes([KIND, LENGTH, shift, 0]);
            }
        }
    }

    /// Takes out of a packet that has arrived what its sender added. `shift` is that of the sender's
    /// windows, as TCP knows it.
    fn erase(self, packet: &mut Packet, shift: u8) {
        if !carries_shift(packet.flags) {
            return;
        }
        match self {
            Self::Reserved => packet.reserved = 0,
            Self::Window12 => packet.window = unpack(packet.window, shift),
            Self::Option => packet.extension.0[OPTION_WORD] = 0,
        }
    }

    /// Lets a switch change the window of a packet: `law` is told its flags, window and shift.
    pub(crate) fn rewrite(self, packet: &mut Packet, law: impl FnOnce(TcpFlags, u16, u8) -> u16) {
        let (flags, window) = (packet.flags, packet.window);
        packet.window = match self {
            _ if !carries_shift(flags) => law(flags, window, 0),
            Self::Reserved => law(flags, window, packet.reserved),
            Self::Window12 => {
                let (units, shift) = (window >> SHIFT_BITS, window & SHIFT_MASK);
                law(flags, units, low_8(u64::from(shift))) << SHIFT_BITS | shift
            }
            // A packet without the option comes from a host without the helper: not shifted.
            Self::Option => match packet.extension.0[OPTION_WORD].to_be_bytes() {
                [KIND, LENGTH, shift, _] => law(flags, window, shift),
                _ => law(flags, window, 0),
            },
        };
    }
}

/// SYNs carry no shifted window (RFC 7323 §2.2), segments without ACK none at all.
fn carries_shift(flags: TcpFlags) -> bool {
    flags.has(TcpFlags::ACK) && !flags.has(TcpFlags::SYN)
}

/// A window as twelve bits and the smallest shift with which it fits, rounded down: no more is granted
/// than the receiver has room for.
fn pack(window: u16, shift: u8) -> u16 {
    let bytes = u64::from(window) << shift.min(MAX_SHIFT);
    let bits = u64::BITS - bytes.leading_zeros();
    let wider = bits.saturating_sub(WINDOW_BITS).min(u32::from(MAX_SHIFT));
    let units = (bytes >> wider).min(MAX_UNITS);
    low_16(units << SHIFT_BITS | u64::from(wider))
}

/// The window in units of `shift` again, rounded up: the bits that [`pack`] dropped are lost, and a
/// window that a switch wrote is no less than it meant.
fn unpack(field: u16, shift: u8) -> u16 {
    let bytes = u64::from(field >> SHIFT_BITS) << (field & SHIFT_MASK).min(u16::from(MAX_SHIFT));
    let units = bytes.div_ceil(1 << shift.min(MAX_SHIFT));
    low_16(units.min(u64::from(u16::MAX)))
}

/// The larger part of the window field, and the smaller.
const WINDOW_BITS: u32 = 12;
const SHIFT_BITS: u32 = 4;
const SHIFT_MASK: u16 = (1 << SHIFT_BITS) - 1;
const MAX_UNITS: u64 = (1 << WINDOW_BITS) - 1;
/// Kind and length of the window-scale option, RFC 7323 §2.2, and the word of the header space it is in.
const KIND: u8 = 3;
const LENGTH: u8 = 3;
const OPTION_WORD: usize = 2;

#[cfg(test)]
mod tests {
    use base::{FlowId, HostId};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_packed_window_keeps_twelve_bits() {
        // 65 535 * 2^7 = 8 388 480 bytes has 23 bits: a shift of 11, 4095 units of 2048.
        assert_eq!(pack(65_535, 7), (4095 << 4) + 11);
        assert_eq!(unpack((4095 << 4) + 11, 7), 65_520);
        // A segment of 1460 bytes needs no shift.
        assert_eq!(pack(1460, 0), 1460 << 4);
        // The largest window of RFC 7323 does not fit into 4095 * 2^14.
        assert_eq!(pack(65_535, 14), (4095 << 4) + 14);
    }

    proptest! {
        #[test]
        fn packing_loses_at_most_one_part_in_2048_and_never_adds(window: u16, shift in 0..=14_u8) {
            let back = unpack(pack(window, shift), shift);
            prop_assert!(back <= window);
            let bytes = u64::from(window) << shift;
            if bytes <= MAX_UNITS << MAX_SHIFT {
                prop_assert!(u64::from(window - back) <= u64::from(window) / 2048 + 1);
            }
        }

        /// The switch means at least `bytes`; every encoding lets it write that, to within a unit.
        #[test]
        fn a_switch_writes_the_same_window_whatever_the_encoding(
            window: u16,
            shift in 0..=14_u8,
            bytes in 1..20_000_u64,
        ) {
            for encoding in [Encoding::Reserved, Encoding::Window12, Encoding::Option] {
                let mut packet = Packet::new(FlowId(0), HostId(0));
                packet.flags = TcpFlags::ACK;
                packet.window = window;
                encoding.write(&mut packet, shift);
                encoding.rewrite(&mut packet, |_, units, shift| {
                    units.min(u16::try_from(bytes.div_ceil(1 << shift)).unwrap())
                });
                encoding.erase(&mut packet, shift);
                let granted = u64::from(window) << shift;
                let written = u64::from(packet.window) << shift;
                prop_assert!(written <= granted);
                // Twelve bits of the window granted are one part in 2048 of it.
                let unit = (granted / 2048 + 1).max(1 << shift);
                prop_assert!(written >= granted.min(bytes).saturating_sub(granted / 2048));
                prop_assert!(written <= bytes + unit);
                prop_assert_eq!((packet.reserved, packet.extension), (0, base::Extension::NONE));
            }
        }
    }
}
