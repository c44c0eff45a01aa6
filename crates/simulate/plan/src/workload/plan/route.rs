//! What a connection is for.

use base::HostId;

/// What a connection stands for: its ends, and which of a group's connections it is where those are
/// used again.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) sender: HostId,
    pub(super) receiver: HostId,
    pub(super) key: u64,
    /// Whether all flows of this key share a connection, whatever the settings.
    pub(super) shared: bool,
}

impl Route {
    pub(super) fn new((sender, receiver): (HostId, HostId), key: u64) -> Self {
        Self {
            sender,
            receiver,
            key,
            shared: false,
        }
    }
}
