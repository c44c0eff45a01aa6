//! How ports are numbered.

/// A port; dense from 0. Link `l` has ports `2l` (from its first node) and `2l + 1` (from its second).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortId(pub u32);
