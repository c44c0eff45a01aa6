//! Summary numbers of many flows.

use serde::{Deserialize, Serialize};

use crate::numbers::percentile;
use crate::rounds::{FlowTiming, Rounds};

/// Completion times and timeouts of the same flows, observed or simulated.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FlowTimes {
    /// Median completion time in seconds.
    pub fct_p50_s: f64,
    /// The 99th percentile.
    pub fct_p99_s: f64,
    /// Timeouts of data.
    pub timeouts: u64,
    /// The median time of rounds in seconds, if there are rounds and at least half of them end.
    #[serde(default)]
    pub round_p50_s: Option<f64>,
    /// The 99th percentile of rounds.
    #[serde(default)]
    pub round_p99_s: Option<f64>,
}

impl FlowTimes {
    /// The times of flows and of their rounds; none if a percentile falls on a flow that did not end.
    #[must_use]
    pub fn of(outcomes: &[FlowTiming], rounds: &Rounds) -> Option<Self> {
        let mut times: Vec<_> = outcomes.iter().map(|one| one.fct_s).collect();
        let took = rounds.took_s(outcomes);
        let ended = |part: fn((f64, f64)) -> f64| took.map(part).filter(|took| took.is_finite());
        let all = Self {
            fct_p50_s: percentile(&mut times, 0.5),
            fct_p99_s: percentile(&mut times, 0.99),
            timeouts: outcomes.iter().map(|one| u64::from(one.timeouts)).sum(),
            round_p50_s: ended(|(median, _)| median),
            round_p99_s: ended(|(_, slowest)| slowest),
        };
        all.fct_p99_s.is_finite().then_some(all)
    }
}
