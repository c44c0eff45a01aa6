//! Judging numbers.

use results::statistics::Estimate;
use scenario::Problems;

use super::bench::Bench;
use super::order;
use super::swept::SweptValues;
use super::verdict::{Finding, Verdict};
use super::words::digits;
use crate::{Claim, Compare, Number, Of, Operand, Statistic};

pub(super) fn judge(
    claim: &Claim,
    number: &Number,
    bench: &Bench<'_>,
) -> Result<Finding, Problems> {
    let of = bench.along(claim, &number.of)?;
    let against = number.against.as_ref();
    let against = against.map(|other| bench.along(claim, other)).transpose()?;
    let scale = scale(number, of.packet);
    let of_averages = bench.of_averages(number);
    let ours: Vec<f64> = seeds((number, of_averages), &of, against.as_ref())
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
    if finding.verdict == Verdict::Reproduced && is_hollow(claim, number, bench)? {
        finding.verdict = Verdict::NotTestable;
        let reason = "every scheme of the run is in the range, so it says nothing of this one";
        finding.reason = reason.into();
    }
    Ok(finding)
}

/// Whether a range also holds for every other scheme of the run, so that it distinguishes none. An equation is the same
/// for all schemes.
fn is_hollow(claim: &Claim, number: &Number, bench: &Bench<'_>) -> Result<bool, Problems> {
    let (low, high) = number.paper;
    let is_equation = matches!(number.of.measure.of, Of::Model { .. });
    if low >= high || is_equation || number.against.is_some() {
        return Ok(false);
    }
    let Some(runs) = bench.runs(&number.of) else {
        return Ok(false);
    };
    let mut others = 0;
    for scheme in &runs.run().summary().schemes {
        if *scheme == number.of.scheme {
            continue;
        }
        let operand = Operand {
            scheme: scheme.clone(),
            ..number.of.clone()
        };
        let along = bench.along(claim, &operand)?;
        let scale = scale(number, along.packet);
        let values = seeds((number, false), &along, None).into_iter();
        let mean = Estimate::of(values.map(|value| value / scale)).mean;
        if mean.is_none_or(|mean| mean < low || mean > high) {
            return Ok(false);
        }
        others += 1;
    }
    Ok(others > 0)
}

/// The number of each seed, over all points of the axes.
fn seeds(
    (number, of_averages): (&Number, bool),
    of: &SweptValues,
    against: Option<&SweptValues>,
) -> Vec<f64> {
    let seeds = of.values.iter().map(Vec::len).max().unwrap_or(0);
    let places = of.len().max(against.map_or(0, SweptValues::len));
    let value = |along: &SweptValues, place: usize, seed: usize| {
        let place = if along.len() == 1 { 0 } else { place };
        let values = along.values.get(place);
        values
            .and_then(|values| values.get(seed))
            .copied()
            .unwrap_or(f64::NAN)
    };
    let averages = |seed| {
        let average = |along: &SweptValues| {
            let values = (0..places).map(|place| value(along, place, seed));
            number.average.of(&values.collect::<Vec<_>>())
        };
        let other = against.map_or(f64::NAN, average);
        number.compare.apply(average(of), other)
    };
    let one = |seed| {
        if of_averages {
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
            // Shares of 1, which the unit converts to per cent.
            Self::Reduction => (other - ours) / other,
            Self::Increase => (ours - other) / other,
            Self::Ratio => ours / other,
        }
    }

    /// Whether both values agree on which side is greater.
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
    let is_range = low < high;
    let sign_holds =
        number.against.is_none() || number.compare.same_side(mean, mean.clamp(low, high));
    let remains = number.whole(scale);
    let (low, high) = remains.map_or((low, high), |whole| (whole - high, whole - low));
    let mean = remains.map_or(mean, |whole| whole - mean);
    let spread = remains.map_or(spread, |whole| (whole - spread.1, whole - spread.0));
    let nearest = mean.clamp(low, high);
    let off = (mean - nearest).abs();
    let measured = number.of.measure.value_dimension();
    let dimension = number.compare.dimension(measured);
    let within = number.within.as_ref();
    let within = within.and_then(|level| level.in_column(dimension, packet));
    let allowed = match within {
        Some(level) => level / scale,
        None => number.tolerance * nearest.abs(),
    };
    // A value exactly at the edge is inside, despite rounding.
    let slack = 1e-9 * (nearest.abs() + mean.abs());
    let distance = if is_range && off <= slack {
        "in the paper's range".to_owned()
    } else if nearest == 0.0 || within.is_some() {
        format!("{} off", with_unit(&digits(off), &number.unit))
    } else {
        let of = if remains.is_some() {
            "what remains is "
        } else {
            ""
        };
        format!("{of}{} % off", digits(100.0 * off / nearest.abs()))
    };
    if off <= allowed + slack {
        return (Verdict::Reproduced, distance);
    }
    if !is_range && low <= spread.1 + slack && high >= spread.0 - slack {
        let (least, most) = remains.map_or(spread, |whole| (whole - spread.1, whole - spread.0));
        let (least, most) = (digits(least), digits(most));
        let reason = format!("the paper's value lies within the seeds, {least} to {most}");
        return (Verdict::Reproduced, reason);
    }
    let close = (0.5..=2.0).contains(&(mean / nearest));
    let missed = if !sign_holds {
        "which of the two is greater is the other way round"
    } else if order_holds == Some(false) {
        "the scheme is not in the place that the paper shows"
    } else if !close {
        "more than a factor of 2"
    } else {
        let held = match (&number.against, order_holds) {
            (Some(_), Some(_)) => "sign and order hold, ",
            (Some(_), None) => "the sign holds, ",
            (None, Some(_)) => "the order holds, ",
            (None, None) => "",
        };
        let reason = format!("{distance}; {held}within a factor of 2");
        return (Verdict::Partly, reason);
    };
    (Verdict::NotReproduced, format!("{distance}; {missed}"))
}

impl Number {
    /// The whole of a reduction or a share of flows, in the claim's unit, if the paper has more than half of it. Then
    /// the remainder is judged: 99.5 % is far from 96 %, although it is within 4 % of it.
    fn whole(&self, scale: f64) -> Option<f64> {
        let whole = 1.0 / scale;
        let statistic = self.of.measure.statistic.as_ref();
        let is_share = statistic.is_some_and(|it| matches!(it, Statistic::Share { .. }));
        let is_part = match self.compare {
            Compare::Reduction => true,
            Compare::Value => is_share,
            _ => false,
        };
        (is_part && self.paper.0 > whole / 2.0 && self.within.is_none()).then_some(whole)
    }
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
