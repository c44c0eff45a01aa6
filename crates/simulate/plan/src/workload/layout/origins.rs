//! The senders of random flows.

use base::HostId;

use base::Sort as _;
use base::cast::count;

use super::Layout;

/// The senders of random flows.
pub(in crate::workload) struct Origins {
    senders: Vec<HostId>,
    /// Number of senders in each rack.
    pub(in crate::workload) racks: Vec<usize>,
}

impl Origins {
    /// O(n log n) for n senders.
    pub(in crate::workload) fn of(layout: &Layout, senders: &[HostId]) -> Self {
        let racks = layout.racks_of(senders);
        let mut senders = senders.to_vec();
        senders.order();
        Self { senders, racks }
    }

    /// Whether `host` sends. O(log n).
    pub(in crate::workload) fn has(&self, host: HostId) -> bool {
        self.senders.binary_search(&host).is_ok()
    }

    /// The share of flows from other racks among the flows to `receiver`, if every sender but itself is equally likely.
    /// O(log n).
    pub(in crate::workload) fn crossing_share(&self, layout: &Layout, receiver: HostId) -> f64 {
        let all = self.senders.len();
        let others = all - usize::from(self.has(receiver));
        let near = self.racks[layout.rack(receiver) as usize];
        count(all - near) / count(others.max(1))
    }
}
