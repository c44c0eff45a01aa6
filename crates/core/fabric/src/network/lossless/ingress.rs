//! The packets of one class that one port has brought into a switch and that still wait there.

use base::cast::{real, whole};

use crate::pfc::Xoff;
use crate::pool::Pool;
use crate::watch::DropReason;

/// The packets that one port has brought into a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ingress {
    /// Bytes within the threshold, and bytes in the headroom.
    pub(super) shared: u64,
    pub(super) headroom: u64,
    /// Whether the switch has paused it.
    pub(super) is_paused: bool,
}

impl Ingress {
    /// Whether `size` bytes more may wait; and whether in the headroom, which has this many bytes.
    pub(super) fn admits(
        &self,
        size: u64,
        (xoff, headroom): (Xoff, u64),
        pool: Option<&Pool>,
    ) -> Result<bool, DropReason> {
        let fits = pool.is_none_or(|pool| pool.has_room(self.shared, size));
        if self.shared + size <= xoff.bytes(pool) && fits {
            Ok(false)
        } else if self.headroom + size <= headroom {
            Ok(true)
        } else {
            Err(DropReason::Headroom)
        }
    }

    pub(super) fn store(&mut self, size: u64, in_headroom: bool, pool: Option<&mut Pool>) {
        if in_headroom {
            self.headroom += size;
            return;
        }
        if let Some(pool) = pool {
            pool.change(self.shared, self.shared + size);
        }
        self.shared += size;
    }

    /// Bytes have left: those of the headroom are given back first.
    pub(super) fn release(&mut self, size: u64, pool: Option<&mut Pool>) {
        let from_headroom = self.headroom.min(size);
        self.headroom -= from_headroom;
        let left = self.shared - (size - from_headroom);
        if let Some(pool) = pool {
            pool.change(self.shared, left);
        }
        self.shared = left;
    }

    /// Pauses it if it has reached the threshold, and resumes it if it is `resume` bytes below or empty. Returns whether that
    /// changed.
    pub(super) fn review(&mut self, (xoff, resume): (Xoff, u64), pool: Option<&Pool>) -> bool {
        let threshold = xoff.bytes(pool);
        let paused = if self.is_paused {
            self.headroom > 0 || (self.shared > 0 && self.shared + resume > threshold)
        } else {
            self.headroom > 0 || (self.shared > 0 && self.shared >= threshold)
        };
        let changed = paused != self.is_paused;
        self.is_paused = paused;
        changed
    }

    /// How many bytes less than the threshold it has.
    pub(super) fn distance(&self, xoff: Xoff, pool: Option<&Pool>) -> u64 {
        if self.headroom > 0 {
            return 0;
        }
        xoff.bytes(pool).saturating_sub(self.shared)
    }
}

impl Xoff {
    /// The threshold in bytes.
    pub(super) fn bytes(self, pool: Option<&Pool>) -> u64 {
        match (self, pool) {
            (Self::Static(bytes), _) => bytes,
            (Self::Dynamic(alpha), Some(pool)) => pool.reserve() + whole(alpha * real(pool.free())),
            // Without a pool nothing bounds it.
            (Self::Dynamic(_), None) => u64::MAX,
        }
    }
}
