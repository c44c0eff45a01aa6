//! What the kernel is told of connections by the routes that they take.

/// Options of the routes of hosts, as `ip route` calls them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouteOptions {
    /// `advmss`: with the 12 bytes of the timestamps that every segment carries.
    pub advertised_mss: u32,
    /// `initcwnd` in segments.
    pub initial_window: u32,
    /// `rto_min` in milliseconds.
    pub min_rto_ms: u32,
    /// `quickack`: every segment is acknowledged at once.
    pub quick_ack: bool,
    /// `window`: the largest window that is advertised, in bytes.
    pub window: u32,
}
