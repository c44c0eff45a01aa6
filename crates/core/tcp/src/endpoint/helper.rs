//! Additions of a scheme of receivers at the sending end of a connection.

use base::Extension;

use super::Endpoint;
use crate::cc::{Orders, SenderCc};
use crate::plays::Plays;

/// Additions of a scheme of receivers at the sending end of a connection.
///
/// It stands beside the congestion control, whichever that is, and is asked nothing: so there is no method of
/// [`SenderCc`] that it could fail to pass on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderHelper {
    /// What the SYN or SYN-ACK carries in the header space of schemes, in the place of what the congestion control has
    /// put there; `None`: nothing else.
    pub announcement: Option<Extension>,
    /// The least that orders of the peer to send again do.
    pub orders: Orders,
}

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// The same with the additions of a scheme of receivers.
    #[must_use]
    pub fn with_helper(mut self, helper: SenderHelper) -> Self {
        self.announcement = helper.announcement.map(Box::new);
        self.sender.obey(helper.orders);
        self
    }
}
