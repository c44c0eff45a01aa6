//! The parts of a port that settings and schemes choose.

use crate::hook::SwitchHook;
use crate::port::{Bucket, Jitter};
use crate::priority::Strict;
use crate::queue::{Discipline, Limit};

/// The parts of a port that settings and schemes choose.
pub struct PortParts {
    /// Decides which arriving packets are dropped or marked.
    pub discipline: Discipline,
    /// Decides which packets are marked when their transmission begins, by what waits behind them; `None`: none are.
    pub departure_marks: Option<Discipline>,
    /// Rewrites packets in a switch, if the scheme does.
    pub hook: Option<Box<dyn SwitchHook>>,
    /// The priority classes.
    pub priorities: Strict,
    /// The random delay of each packet at the end of the wire.
    pub jitter: Option<Jitter>,
    /// The token bucket that takes the place of the transmitter's rate.
    pub bucket: Option<Bucket>,
    /// How much may wait; `None`: as much as at all ports of its kind.
    pub limit: Option<Limit>,
}

impl PortParts {
    /// A FIFO that only its limit makes drop.
    pub fn plain() -> Self {
        Self {
            discipline: Discipline::DropTail,
            departure_marks: None,
            hook: None,
            priorities: Strict::FIFO,
            jitter: None,
            bucket: None,
            limit: None,
        }
    }
}
