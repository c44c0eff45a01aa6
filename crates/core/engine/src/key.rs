//! Keys of events: their time in the upper 64 bits, then the order of those at equal times.
//!
//! Which of two equal times is first is drawn: the same bits are flipped in all tokens of a time. As times are
//! seldom equal, keys wait with their tokens as they are, and bits are flipped when two keys are compared.

use std::cmp::Ordering;

use base::cast::{low_32, low_64};

/// The key of a token for `time`, scheduled `ahead` of it, both in picoseconds.
#[inline(always)]
pub(crate) const fn new(time: u64, ahead: u64, token: u32) -> u128 {
    // The further ahead, the earlier it was scheduled.
    let lateness = FURTHEST - if ahead < FURTHEST { ahead } else { FURTHEST };
    let order = (lateness << TOKEN_BITS) | token as u64;
    (time as u128) << 64 | order as u128
}

/// In picoseconds.
#[inline(always)]
pub(crate) const fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

#[inline(always)]
pub(crate) const fn token_of(key: u128) -> u32 {
    low_32(low_64(key)) & ((1 << TOKEN_BITS) - 1)
}

/// Which of two keys is first. No key is equal to [`EMPTY`].
#[inline(always)]
pub(crate) fn compare(a: u128, b: u128, salt: u64) -> Ordering {
    if (a ^ b) >> TOKEN_BITS != 0 {
        a.cmp(&b)
    } else {
        drawn(a, salt).cmp(&drawn(b, salt))
    }
}

/// A key as a number, in the order of [`compare`]; of that number, the key again.
#[inline(always)]
pub(crate) fn drawn(key: u128, salt: u64) -> u128 {
    key ^ u128::from(flips(time_of(key), salt))
}

/// The bits of tokens that are flipped at `time`: a product, folded and multiplied again, so that no
/// pattern of times makes a pattern of these.
#[inline(always)]
fn flips(time: u64, salt: u64) -> u64 {
    let product = u128::from(time ^ salt) * u128::from(ODD_A);
    let folded = low_64((product >> 64) ^ product);
    folded.wrapping_mul(ODD_B) >> (64 - TOKEN_BITS)
}

/// No key.
pub(crate) const EMPTY: u128 = u128::MAX;

/// 24 bits of token leave 40 for how far ahead an event was scheduled: 1.1 s.
pub(crate) const TOKEN_BITS: u32 = 24;
/// What is scheduled further ahead counts as this far, in picoseconds.
const FURTHEST: u64 = (1 << (64 - TOKEN_BITS)) - 1;
/// Odd constants with well-mixed bits: 2^64 divided by the golden ratio, and the mixer of `MurmurHash3`.
const ODD_A: u64 = 0x9e37_79b9_7f4a_7c15;
const ODD_B: u64 = 0xff51_afd7_ed55_8ccd;
