//! The port, flow or host of a series.

/// What a series is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Subject {
    /// A port, by number.
    Port(u32),
    /// A flow, by number.
    Flow(u32),
    /// A host, by number.
    Host(u32),
}
