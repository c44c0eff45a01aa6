//! The values of an operand at the points of the axes.

use scenario::Problems;

use crate::{At, Average, Claim, Measure, MeasuredRun, Operand};
use base::cast::count;

/// Values at each combination of swept settings, in the order of the sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct SweptValues {
    /// Swept settings and their values.
    pub(super) places: Vec<Vec<(String, String)>>,
    /// One value for each seed, at each place.
    pub(super) values: Vec<Vec<f64>>,
    /// Bytes of a full packet.
    pub(super) packet: f64,
}

impl SweptValues {
    /// The measurements of `measure` for `operand`, at the values that the operand or else the claim names.
    pub(super) fn new(
        runs: &MeasuredRun,
        claim: &Claim,
        (operand, measure): (&Operand, &Measure),
    ) -> Result<Self, Problems> {
        let own = |key: &String| operand.at.iter().any(|(other, _)| other == key);
        let common = claim.at.iter().filter(|(key, _)| !own(key));
        let common: At = common.cloned().collect();
        let values = runs.values(measure)?;
        let mut along = Self {
            packet: f64::NAN,
            ..Self::default()
        };
        for row in runs.rows(&operand.scheme, &[&common, &operand.at]) {
            let set = &runs.run().summary().rows[row].set;
            let excepted = claim.except.iter().any(|(key, texts)| {
                let value = set.iter().find(|(name, _)| name == key);
                value.is_some_and(|(_, value)| texts.contains(value))
            });
            if !excepted {
                along.places.push(set.clone());
                along.values.push(values.per_seed(row).to_vec());
                along.packet = runs.packet_bytes(row);
            }
        }
        Ok(along)
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The mean over the seeds at a place. A value measured at only one place is the same at all places.
    pub(super) fn mean(&self, place: usize) -> f64 {
        let values = self.values.get(place);
        let values = values.or(if self.len() == 1 {
            self.values.first()
        } else {
            None
        });
        values.map_or(f64::NAN, |values| mean(values))
    }

    /// The average of a seed's values along the axes.
    pub(super) fn averaged(&self, average: Average) -> f64 {
        let means = (0..self.len()).map(|place| self.mean(place));
        average.of(&means.collect::<Vec<_>>())
    }

    /// The name of a place: `workload.senders = 40`.
    pub(super) fn name(&self, place: usize) -> String {
        let set = self.places.get(place).into_iter().flatten();
        let set: Vec<_> = set.map(|(key, value)| format!("{key} = {value}")).collect();
        set.join(", ")
    }
}

impl Average {
    /// The average of many values; missing ones are left out.
    pub(super) fn of(self, values: &[f64]) -> f64 {
        let known = values.iter().copied().filter(|value| !value.is_nan());
        let known: Vec<f64> = known.collect();
        match self {
            _ if known.is_empty() => f64::NAN,
            Self::Mean => mean(&known),
            Self::Min => known.into_iter().fold(f64::INFINITY, f64::min),
            Self::Max => known.into_iter().fold(f64::NEG_INFINITY, f64::max),
            Self::Sum => known.into_iter().sum(),
        }
    }
}

/// The mean of the values that exist.
fn mean(values: &[f64]) -> f64 {
    let known = || values.iter().filter(|value| !value.is_nan());
    known().sum::<f64>() / count(known().count())
}
