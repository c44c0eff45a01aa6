//! Judging numbers.

use results::statistics::Estimate;
use scenario::Problems;

use super::along::Along;
use super::{Bench, Finding, Verdict, digits, order};
use crate::{Claim, Compare, Number};

pub(super) fn judge(
    claim: &Claim,
    number: &Number,
    bench: &Bench<'_>,
) -> Result<Finding, Problems> {
    let of = bench.along(claim, &number.of)?;
    let against = number.against.as_ref();
    let against = against.map(|other| bench.along(claim, other)).transpose()?;
    let scale = scale(number, of.packet);
    let ours: Vec<f64> = seeds(number, &of, against.as_ref())
        .into_iter()
        .map(|value| value / scale)
        .collect();
    let estimate = Estimate::of(ours.iter().copied());
    let estimate = match number.compare {
        Compare::Value | Compare::Ratio => {
            estimate.between(number.of.measure.least(), f64::INFINITY)
        }
        Compare::Difference | Compare::Reduction | Compare::Increase => estimate,
    };
    let mut finding = Finding {
        paper: with_unit(&range(number.paper), &number.unit),
        ours: "no value".to_owned(),
        value: estimate.mean,
        interval: estimate.low.zip(estimate.high),
        unit: number.unit.clone(),
        verdict: Verdict::NotReproduced,
        reason: "no simulation has a value".to_owned(),
    };
    let Some(mean) = estimate.mean else {
        return Ok(finding);
    };
    finding.ours = with_unit(&digits(mean), &number.unit);
    let known = || ours.iter().copied().filter(|value| !value.is_nan());
    let spread = (
        known().fold(f64::INFINITY, f64::min),
        known().fold(f64::NEG_INFINITY, f64::max),
    );
    let order_holds = match &number.rank {
        Some(rank) => {
            Some(order::tally(claim, rank, None, bench)?.verdict() == Verdict::Reproduced)
        }
        None => None,
    };
    (finding.verdict, finding.reason) =
        verdict(number, mean, spread, order_holds, scale, of.packet);
    Ok(finding)
}

/// The number of each seed, over all points of the axes.
fn seeds(number: &Number, of: &Along, against: Option<&Along>) -> Vec<f64> {
    let seeds = of.values.iter().map(Vec::len).max().unwrap_or(0);
    let places = of.len().max(against.map_or(0, Along::len));
    let value = |along: &Along, place: usize, seed: usize| {
        let place = if along.len() == 1 { 0 } else { place };
        let values = along.values.get(place);
        values
            .and_then(|values| values.get(seed))
            .copied()
            .unwrap_or(f64::NAN)
    };
    let averages = |seed| {
        let average = |along: &Along| {
            let values = (0..places).map(|place| value(along, place, seed));
            number.average.of(&values.collect::<Vec<_>>())
        };
        let other = against.map_or(f64::NAN, average);
        number.compare.apply(average(of), other)
    };
    let one = |seed| {
        if number.of_averages {
            return averages(seed);
        }
        let compared = (0..places).map(|place| {
            let ours = value(of, place, seed);
            let other = against.map_or(f64::NAN, |other| value(other, place, seed));
            number.compare.apply(ours, other)
        });
        number.average.of(&compared.collect::<Vec<_>>())
    };
    (0..seeds).map(one).collect()
}

impl Compare {
    fn apply(self, ours: f64, other: f64) -> f64 {
        match self {
            Self::Value => ours,
            Self::Difference => ours - other,
            // Shares of 1, which the unit turns into per cent.
            Self::Reduction => (other - ours) / other,
            Self::Increase => (ours - other) / other,
            Self::Ratio => ours / other,
        }
    }

    /// Whether both values say the same of which one is greater.
    fn same_side(self, ours: f64, paper: f64) -> bool {
        let equal = if self == Self::Ratio { 1.0 } else { 0.0 };
        (ours - equal) * (paper - equal) > 0.0
    }
}

fn verdict(
    number: &Number,
    mean: f64,
    spread: (f64, f64),
    order_holds: Option<bool>,
    scale: f64,
    packet: f64,
) -> (Verdict, String) {
    let (low, high) = number.paper;
    let nearest = mean.clamp(low, high);
    let off = (mean - nearest).abs();
    let measured = number.of.measure.value_dimension();
    let dimension = number.compare.dimension(measured);
    let within = number.within.as_ref();
    let within = within.and_then(|level| level.in_column(dimension, packet));
    let allowed = within.map_or(number.tolerance * nearest.abs(), |level| level / scale);
    // What is exactly at the edge is inside, whatever rounding says.
    let slack = 1e-9 * (nearest.abs() + mean.abs());
    let distance = if low < high && off <= slack {
        "in the paper's range".to_owned()
    } else if nearest == 0.0 || within.is_some() {
        format!("{} off", with_unit(&digits(off), &number.unit))
    } else {
        format!("{} % off", digits(100.0 * off / nearest.abs()))
    };
    if off <= allowed + slack {
        return (Verdict::Reproduced, distance);
    }
    if low <= spread.1 + slack && high >= spread.0 - slack {
        let (least, most) = (digits(spread.0), digits(spread.1));
        let reason = format!("the paper's value lies within the seeds, {least} to {most}");
        return (Verdict::Reproduced, reason);
    }
    let sign_holds = number
        .against
        .as_ref()
        .map(|_| number.compare.same_side(mean, nearest));
    let reason = match (sign_holds, order_holds) {
        (None, None) => return (Verdict::NotReproduced, distance),
        (Some(false), _) => "which of the two is greater is the other way round",
        (_, Some(false)) => "the scheme is not in the place that the paper shows",
        (Some(true), Some(true)) => "sign and order hold",
        (Some(true), None) => "the sign holds",
        (None, Some(true)) => "the order holds",
    };
    let holds = sign_holds != Some(false) && order_holds != Some(false);
    let verdict = if holds {
        Verdict::Partly
    } else {
        Verdict::NotReproduced
    };
    (verdict, format!("{distance}; {reason}"))
}

/// How many units of the column are one unit of the claim.
fn scale(number: &Number, packet: f64) -> f64 {
    let dimension = number
        .compare
        .dimension(number.of.measure.value_dimension());
    dimension.scale(&number.unit, packet).unwrap_or(f64::NAN)
}

fn range((low, high): (f64, f64)) -> String {
    if low < high {
        format!("{low} to {high}")
    } else {
        low.to_string()
    }
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() {
        number.to_owned()
    } else {
        format!("{number} {unit}")
    }
}
