//! Decides which role each end plays.

use std::sync::Arc;

use base::FlowId;
use plan::{Group, PointSpec};
use schemes::{FlowInfo, Roles, Sender};

/// Makes the sender of a connection instead of its scheme's sender.
pub type ReplaceSender = dyn Fn(FlowId, &FlowInfo) -> Sender + Send + Sync;

/// The roles of every group, and other senders of flows, if any.
#[derive(Clone)]
pub(crate) struct RoleSet {
    pub(crate) roles: Arc<[Roles]>,
    /// `None`: the senders of the schemes.
    senders: Option<Arc<ReplaceSender>>,
}

impl RoleSet {
    /// The roles that the schemes of a point have.
    pub(crate) fn of(point: &PointSpec) -> Self {
        Self {
            roles: point.groups.iter().map(Group::roles).collect(),
            senders: None,
        }
    }

    /// The same roles with these senders of flows. Additions below TCP apply to their connections, too.
    pub(crate) fn with_senders(self, senders: Arc<ReplaceSender>) -> Self {
        Self {
            senders: Some(senders),
            ..self
        }
    }

    /// Whether the senders of flows are those of their schemes.
    pub(crate) const fn is_plain(&self) -> bool {
        self.senders.is_none()
    }

    /// Whether any host withdraws packets that wait in its port.
    pub(super) fn withdraws(&self) -> bool {
        let mut low = self.roles.iter().filter_map(|roles| roles.low_priority);
        low.any(|low| low.withdraw)
    }

    /// The sender at an end of connection `id`; `sends` if this end sends the flows.
    pub(super) fn sender(&self, roles: &Roles, id: FlowId, info: &FlowInfo, sends: bool) -> Sender {
        match &self.senders {
            Some(make) if sends => make(id, info),
            _ => roles.make_sender(info),
        }
    }
}
