//! When senders noticed losses, as far as programs in the kernel can tell.

use std::net::SocketAddr;
use std::time::Instant;

#[cfg_attr(feature = "kernel", path = "losses/tracer.rs")]
#[cfg_attr(not(feature = "kernel"), path = "losses/absent.rs")]
mod tracer;

pub(crate) use tracer::during;

/// A sender noticed a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossEvent {
    pub(crate) at: Instant,
    /// The sending end, and the other one.
    pub(crate) ends: (SocketAddr, SocketAddr),
    /// True if a timer indicated the loss, false if ACKs did.
    pub(crate) by_timer: bool,
}
