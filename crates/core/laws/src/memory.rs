//! Values in the memory of a map.

/// `N` bytes of `memory` from `at` on.
pub(crate) fn bytes<const N: usize>(memory: &[u8], at: usize) -> Option<[u8; N]> {
    memory.get(at..)?.first_chunk().copied()
}
