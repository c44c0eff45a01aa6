//! The size of send buffers: unlimited, fixed, or growing.

use base::{DataSize, Quantity, QuantityError};

/// Memory for what an application has written and its peer has not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendBuffer {
    /// There is room for all that an application writes.
    Unlimited,
    /// It grows with the congestion window from the first size to the second; equal sizes fix it.
    Sizes(DataSize, DataSize),
}

impl Quantity for SendBuffer {
    fn expected() -> String {
        let size = DataSize::expected();
        format!("\"auto\", \"unlimited\", {size}, or the least and the most, as in \"16KiB-4MiB\"")
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = match text.trim() {
            "unlimited" => return Ok(Self::Unlimited),
            "auto" => AUTO,
            sizes => sizes,
        };
        let wrong = || QuantityError::expected(&Self::expected(), text);
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        let size = |text: &str| DataSize::parse(text.trim()).map_err(|_| wrong());
        let (least, most) = (size(least)?, size(most)?);
        if least.in_bytes(1) == 0 || least.in_bytes(1) > most.in_bytes(1) {
            return Err(wrong());
        }
        Ok(Self::Sizes(least, most))
    }
}

/// `net.ipv4.tcp_wmem` of Linux (`tcp.c, tcp_init`).
const AUTO: &str = "16KiB-4MiB";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_a_size_or_two_or_has_no_end() {
        let sizes = |least, most| {
            let size = |text| DataSize::parse(text).expect("a size");
            Ok(SendBuffer::Sizes(size(least), size(most)))
        };
        assert_eq!(SendBuffer::parse("unlimited"), Ok(SendBuffer::Unlimited));
        assert_eq!(SendBuffer::parse("auto"), sizes("16KiB", "4MiB"));
        assert_eq!(SendBuffer::parse("64KiB"), sizes("64KiB", "64KiB"));
        assert_eq!(SendBuffer::parse("4MB-8MB"), sizes("4MB", "8MB"));
        for text in ["0B", "8MB-4MB", "4MB-", "-4MB", "off", "1-2"] {
            assert!(SendBuffer::parse(text).is_err(), "{text}");
        }
    }
}
