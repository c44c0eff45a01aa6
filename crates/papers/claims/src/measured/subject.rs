//! The port, flow or host of a series.

/// The subject of a series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// A port, by number.
    Port(u32),
    /// A flow, by number.
    Flow(u32),
    /// A host, by number.
    Host(u32),
}
