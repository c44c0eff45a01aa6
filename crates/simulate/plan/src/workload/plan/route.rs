//! What a connection is for.

use base::HostId;

/// Identifies a connection: its ends, and its key among the group's connections that are used again.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) sender: HostId,
    pub(super) receiver: HostId,
    pub(super) key: u64,
    /// Whether all flows of this key share a connection, for all settings.
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
