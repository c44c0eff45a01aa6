//! Whether a run of the network is valid for TCP, or only shows the limits of the machine.

use protocol::{LinuxRun, SlotLengths};

/// Facts about a run in addition to its results.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Facts {
    /// The 99th percentile of how late first bytes were written, without the time that their connection took to open.
    pub(crate) start_lateness_p99_us: Option<f64>,
    /// Mean lateness of the starts of flows.
    pub(crate) start_lateness_mean_us: Option<f64>,
    pub(crate) fct_p50_us: Option<f64>,
    /// Share of busy time of all cores, processes of low priority included.
    pub(crate) busy_share: f64,
    /// Throughput over the rate of the link while packets waited; null if hardly any waited.
    pub(crate) rate_share: Option<f64>,
    /// Reordering seen by senders, per segment.
    pub(crate) reordered_share: f64,
    /// Reads with other bytes than were written.
    pub(crate) corrupted: u64,
    /// The slots of a scheme that decides windows outside the kernel.
    pub(crate) slots: Option<SlotLengths>,
    pub(crate) strange: Vec<String>,
}

/// The reason why a run with such busy cores is invalid, if it is.
pub(crate) fn busy(share: f64) -> Option<String> {
    (share > MOST_BUSY).then(|| format!("cores {:.0} % busy", share * 100.0))
}

impl Facts {
    /// The reasons why the run is invalid; empty if it is valid.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let mut reasons = self.strange.clone();
        if self.corrupted > 0 {
            reasons.push(format!(
                "{} reads with other bytes than were sent",
                self.corrupted
            ));
        }
        if let Some(share) = self.late_share().filter(|share| *share > MOST_LATE) {
            let share = share * 100.0;
            reasons.push(format!(
                "starts late by {share:.0} % of the median completion time"
            ));
        }
        reasons.extend(busy(self.busy_share));
        if let Some(share) = self.rate_share.filter(|share| *share < LEAST_RATE) {
            reasons.push(format!("link at {:.1} % while queued", share * 100.0));
        }
        if self.reordered_share > MOST_REORDERED {
            let share = self.reordered_share * 100.0;
            reasons.push(format!("{share:.2} % of segments reordered"));
        }
        if let Some(slots) = self.slots {
            let [planned, mean] = [slots.planned_us, slots.mean_us].map(|us| us / 1e3);
            if mean > MOST_SLOT * planned {
                reasons.push(format!(
                    "slots of {mean:.2} ms on average instead of {planned:.2} ms"
                ));
            }
            if slots.count == 0 {
                reasons.push("no slot in which windows were decided".to_owned());
            }
            if slots.untold > 0 {
                let untold = slots.untold;
                reasons.push(format!(
                    "{untold} segments that the receiver's law did not hear of"
                ));
            }
        }
        reasons
    }

    /// The facts as in lines of the protocol, with the verdict. The network adds the kernel and its own numbers.
    pub(crate) fn judged(self) -> LinuxRun {
        let reasons = self.reasons();
        LinuxRun {
            valid: reasons.is_empty(),
            reasons,
            start_lateness_p99_us: self.start_lateness_p99_us,
            start_lateness_mean_us: self.start_lateness_mean_us,
            busy_share: self.busy_share,
            rate_share: self.rate_share,
            reordered_share: Some(self.reordered_share),
            corrupted: Some(self.corrupted),
            slots: self.slots,
            ..LinuxRun::default()
        }
    }

    /// Lateness over the median completion time.
    pub(crate) fn late_share(&self) -> Option<f64> {
        Some(self.start_lateness_p99_us? / self.fct_p50_us?)
    }
}

/// As a share of the median completion time: less lateness changes no conclusion.
pub(crate) const MOST_LATE: f64 = 0.1;

/// Beyond this share, packets wait for cores rather than links.
const MOST_BUSY: f64 = 0.9;
const LEAST_RATE: f64 = 0.97;
const MOST_REORDERED: f64 = 0.001;
/// The allowed factor between actual and planned slots; the twin has the planned ones. Waking up takes a twentieth of a
/// slot if cores are free.
const MOST_SLOT: f64 = 1.25;

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            start_lateness_p99_us: Some(200.0),
            start_lateness_mean_us: Some(100.0),
            fct_p50_us: Some(50_000.0),
            busy_share: 0.71,
            rate_share: Some(0.991),
            reordered_share: 0.0,
            corrupted: 0,
            slots: Some(SlotLengths {
                planned_us: 1_000.0,
                count: 100,
                mean_us: 1_060.0,
                p99_us: 1_900.0,
                untold: 0,
            }),
            strange: Vec::new(),
        }
    }

    #[test]
    fn a_calm_run_counts() {
        assert_eq!(facts().reasons(), [""; 0]);
        let idle = Facts {
            rate_share: None,
            ..facts()
        };
        assert_eq!(idle.reasons(), [""; 0]);
    }

    // The tests of ICTCP search for these words: if windows come too late, a run is invalid for them.
    #[test]
    fn reasons_about_windows_name_slots_or_the_law() {
        let wrong = Facts {
            slots: facts().slots.map(|slots| SlotLengths {
                count: 0,
                mean_us: 2_000.0,
                untold: 3,
                ..slots
            }),
            ..facts()
        };
        let reasons = wrong.reasons();
        assert_eq!(reasons.len(), 3);
        let named = |reason: &String| reason.contains("slot") || reason.contains("law");
        assert!(reasons.iter().all(named), "{reasons:?}");
    }

    #[test]
    fn a_run_that_ends_before_its_first_slot_does_not_count() {
        let wrong = Facts {
            slots: facts().slots.map(|slots| SlotLengths {
                count: 0,
                mean_us: 0.0,
                p99_us: 0.0,
                ..slots
            }),
            ..facts()
        };
        let expected = ["no slot in which windows were decided"];
        assert_eq!(wrong.reasons(), expected);
    }

    #[test]
    fn every_limit_disowns_a_run() {
        let wrong = Facts {
            start_lateness_p99_us: Some(6_000.0),
            busy_share: 0.95,
            rate_share: Some(0.95),
            reordered_share: 0.002,
            corrupted: 1,
            slots: facts().slots.map(|slots| SlotLengths {
                mean_us: 1_300.0,
                untold: 7,
                ..slots
            }),
            strange: vec!["segments of 1448 instead of 1446 bytes".to_owned()],
            ..facts()
        };
        let expected = [
            "segments of 1448 instead of 1446 bytes",
            "1 reads with other bytes than were sent",
            "starts late by 12 % of the median completion time",
            "cores 95 % busy",
            "link at 95.0 % while queued",
            "0.20 % of segments reordered",
            "slots of 1.30 ms on average instead of 1.00 ms",
            "7 segments that the receiver's law did not hear of",
        ];
        assert_eq!(wrong.reasons(), expected);
    }
}
