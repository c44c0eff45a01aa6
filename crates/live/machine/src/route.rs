//! TCP settings that connections take from their route.

/// Options of the routes of hosts, with their names in `ip route`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteOptions {
    /// `advmss`, with the 12 bytes of the timestamps that every segment carries.
    pub advertised_mss: u32,
    /// `initcwnd` in segments.
    pub initial_window: u32,
    /// `rto_min` in milliseconds.
    pub min_rto_ms: u32,
    /// `quickack`: every segment is acknowledged at once.
    pub quick_ack: bool,
    /// `window`: the largest advertised window, in bytes.
    pub window: u32,
}
