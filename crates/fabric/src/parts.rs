//! What differs from port to port.

use crate::hook::SwitchHook;
use crate::port::Jitter;
use crate::priority::Strict;
use crate::queue::Discipline;

/// What schemes and settings put into a port.
pub struct PortParts {
    /// What happens to arriving packets.
    pub discipline: Discipline,
    /// What the switch does besides queueing.
    pub hook: Option<Box<dyn SwitchHook>>,
    /// How packets are served by priority.
    pub priorities: Strict,
    /// What each packet waits at the end of the wire.
    pub jitter: Option<Jitter>,
}

impl PortParts {
    /// A FIFO that only its limit makes drop.
    pub fn plain() -> Self {
        Self {
            discipline: Discipline::DropTail,
            hook: None,
            priorities: Strict::FIFO,
            jitter: None,
        }
    }
}
