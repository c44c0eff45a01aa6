//! What a model of the present says, whether to believe it, and what cures would change.

use serde::{Deserialize, Serialize};

use crate::cure::{Attach, Cure, Place};
use crate::numbers::percentile;
use crate::seen::Flow;

/// Completion times and timeouts of the same flows, seen or simulated.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Times {
    /// Median completion time in seconds.
    pub fct_p50_s: f64,
    /// The 99th percentile.
    pub fct_p99_s: f64,
    /// Timeouts of data.
    pub timeouts: u64,
}

/// What one cure would do.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Predicted {
    /// What people call it.
    pub name: String,
    /// Its label among the schemes of the scenario.
    pub scheme: String,
    /// How `tailwater attach` puts it there, if it can.
    pub attach: Option<Attach>,
    /// The flows with it; none if it could not be simulated.
    pub times: Option<Times>,
}

/// A model of what was seen, and what it says of cures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Prediction {
    /// Flows that were simulated.
    pub flows: u64,
    /// Seconds in which they began: all of the observation, or its first part.
    pub seconds: f64,
    /// What was seen of these flows.
    pub observed: Times,
    /// What the model says of them.
    pub model: Times,
    /// The scheme of the model.
    pub scheme: String,
    /// Whether the 99th percentiles of both are within a factor of 1.5.
    pub fits: bool,
    /// What the model takes for granted that was not seen.
    pub guessed: Vec<String>,
    /// Best first, by the 99th percentile; those that could not be simulated last.
    pub cures: Vec<Predicted>,
}

impl Times {
    /// Of flows that were seen.
    #[must_use]
    pub fn of(flows: &[Flow]) -> Self {
        let mut times: Vec<_> = flows.iter().map(|flow| flow.fct_s).collect();
        Self {
            fct_p50_s: percentile(&mut times, 0.5),
            fct_p99_s: percentile(&mut times, 0.99),
            timeouts: flows.iter().map(|flow| u64::from(flow.timeouts)).sum(),
        }
    }
}

impl Prediction {
    /// From these flows, whose model of today says `model`, and cures with what the model says of each.
    #[must_use]
    pub fn new(
        flows: &[Flow],
        model: Times,
        cures: impl IntoIterator<Item = (Cure, Option<Times>)>,
    ) -> Self {
        let observed = Times::of(flows);
        let mut cures: Vec<_> = cures
            .into_iter()
            .map(|(cure, times)| Predicted {
                name: cure.name,
                scheme: cure.scheme,
                attach: cure.attach,
                times,
            })
            .collect();
        let p99 = |cure: &Predicted| cure.times.map_or(f64::INFINITY, |times| times.fct_p99_s);
        cures.sort_by(|one, other| p99(one).total_cmp(&p99(other)));
        Self {
            flows: flows.len() as u64,
            fits: ratio(observed.fct_p99_s, model.fct_p99_s) <= MOST_APART,
            observed,
            model,
            cures,
            ..Self::default()
        }
    }

    /// How far apart the 99th percentiles are: the larger over the smaller.
    #[must_use]
    pub fn apart(&self) -> f64 {
        ratio(self.observed.fct_p99_s, self.model.fct_p99_s)
    }

    /// The best cure that `tailwater attach` can put there, if it is better than what there is, and how.
    #[must_use]
    pub fn attachable(&self, at: Place) -> Option<&Attach> {
        let is_better = |times: Times| times.fct_p99_s < self.model.fct_p99_s;
        let better = self
            .cures
            .iter()
            .filter(|cure| cure.times.is_some_and(is_better));
        let mut ways = better.filter_map(|cure| cure.attach.as_ref());
        ways.find(|way| way.at == at)
    }
}

fn ratio(one: f64, other: f64) -> f64 {
    one.max(other) / one.min(other).max(1e-9)
}

/// A model whose 99th percentile is further from the one that was seen does not fit.
const MOST_APART: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Observation;

    fn flow(fct_s: f64, timeouts: u32) -> Flow {
        Flow {
            start_s: 0.0,
            opened_s: None,
            fct_s,
            bytes: 1_000,
            sender: "10.0.0.1:5".to_owned(),
            receiver: "10.0.0.9:80".to_owned(),
            timeouts,
            fast_retransmits: 0,
            probes: 0,
            repeats: 0,
            drops: 0,
            waited_s: 0.0,
            leaves: true,
            is_told: true,
            closed: true,
        }
    }

    fn times(fct_p99_s: f64) -> Times {
        Times {
            fct_p50_s: 0.001,
            fct_p99_s,
            timeouts: 2,
        }
    }

    #[test]
    fn a_model_fits_within_half_of_the_99th_percentile_and_cures_come_best_first() {
        let flows = [flow(0.003, 0), flow(0.2, 1), flow(0.004, 1)];
        let cures = || {
            let cures = Observation::default().cures().into_iter();
            let said = [Some(0.05), None, Some(0.009), Some(0.01), Some(0.03)];
            let said = said.map(|p99| p99.map(times)).into_iter();
            cures.zip(said).collect::<Vec<_>>()
        };
        for (model, fits) in [(0.299, true), (0.301, false), (0.134, true), (0.133, false)] {
            let said = Prediction::new(&flows, times(model), cures());
            assert_eq!(said.fits, fits, "{model}");
        }
        let said = Prediction::new(&flows, times(0.3), cures());
        assert_eq!((said.flows, said.observed.timeouts), (3, 2));
        assert!((said.observed.fct_p99_s - 0.2).abs() < 1e-9);
        assert!((said.observed.fct_p50_s - 0.004).abs() < 1e-9);
        let names: Vec<_> = said.cures.iter().map(|cure| cure.name.as_str()).collect();
        assert_eq!(
            names,
            ["rwndq", "dctcp", "min_rto 10ms", "rcc (grant)", "hscc"]
        );
        let best = |said: &Prediction, at| said.attachable(at).map(|way| way.scheme.clone());
        assert_eq!(best(&said, Place::Port).as_deref(), Some("rwndq"));
        assert_eq!(best(&said, Place::Receiver).as_deref(), Some("rcc"));
        // What is no better than today is no advice.
        let said = Prediction::new(&flows, times(0.02), cures());
        assert_eq!(best(&said, Place::Port).as_deref(), Some("rwndq"));
        assert_eq!(best(&said, Place::Receiver), None);
        // The queue of what comes in is another machine's.
        let receiver = Observation {
            packet_bytes: [64, 1_500],
            ..Observation::default()
        };
        let ways = receiver.cures().into_iter().filter_map(|cure| cure.attach);
        let places: Vec<_> = ways.map(|way| way.at).collect();
        assert_eq!(places, [Place::Receiver]);
    }
}
