//! The collective that a workload describes.

use distributions::SizeLaw;

use super::Workload;
use crate::collective::{self, CollectiveRun};

impl Workload {
    /// The collective in the settings. Its size is the size of each rank, or 0 if the size is drawn.
    ///
    /// # Panics
    /// Never: every collective has an algorithm.
    pub fn shape(&self, mss: u64) -> CollectiveRun {
        let usual = || {
            let mut all = collective::ALL.iter();
            let own = all.find(|(collective, _)| *collective == self.collective);
            own.expect("every collective has an algorithm").1
        };
        let bytes = match &self.size {
            SizeLaw::Fixed(size) => size.in_bytes(mss),
            _ => 0,
        };
        CollectiveRun {
            collective: self.collective,
            algorithm: self.algorithm.0.unwrap_or_else(usual),
            ranks: self.ranks.0,
            bytes,
            segments: self.segments.0,
        }
    }
}
