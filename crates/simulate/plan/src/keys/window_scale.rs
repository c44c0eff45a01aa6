//! The window-scale setting: a given shift, an automatic one, or none.

use base::{Quantity, QuantityError};

/// Whether and by how much advertised windows are shifted (RFC 7323 §2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// The smallest shift that can advertise the whole receive buffer.
    Auto,
    /// The option is not sent: windows end at 65,535 bytes.
    Off,
    /// This shift.
    Shift(u8),
}

impl WindowScale {
    /// RFC 7323 §2.3: a larger shift would allow windows of more than half the sequence space.
    pub const MAX: u8 = 14;
}

impl Quantity for WindowScale {
    fn expected() -> String {
        "\"auto\", \"off\" or a whole number from 0 to 14".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            number => u32::parse(number)
                .ok()
                .and_then(|shift| u8::try_from(shift).ok())
                .filter(|shift| *shift <= Self::MAX)
                .map(Self::Shift)
                .ok_or_else(|| QuantityError::expected(&Self::expected(), text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_word_or_a_shift_of_at_most_14() {
        assert_eq!(WindowScale::parse("off"), Ok(WindowScale::Off));
        assert_eq!(WindowScale::parse("14"), Ok(WindowScale::Shift(14)));
        assert!(WindowScale::parse("15").is_err());
        assert!(WindowScale::parse("-1").is_err());
    }
}
