//! Kinds of TCP options, as both directions use them.

/// RFC 9293 §3.1.
pub(crate) const END: u8 = 0;
pub(crate) const NOP: u8 = 1;
/// RFC 9293 §3.7.1.
pub(crate) const MSS: u8 = 2;
/// RFC 7323 §2.2.
pub(crate) const WINDOW_SCALE: u8 = 3;
/// RFC 2018 §2.
pub(crate) const SACK_PERMITTED: u8 = 4;
/// RFC 2018 §3.
pub(crate) const SACK: u8 = 5;
/// RFC 7323 §3.2.
pub(crate) const TIMESTAMPS: u8 = 8;
/// Kind, length and identifier of a shared experimental option: RFC 6994 §3.
pub(crate) const EXPERIMENT: [u8; 4] = [253, 16, b'T', b'W'];
/// The most bytes of options in a header.
pub(crate) const MOST: usize = 40;
