//! Judging orders.

use scenario::Problems;

use super::along::Along;
use super::{Bench, Finding, Tally, display};
use crate::unit::Dimension;
use crate::{Average, Claim, Operand, Order, Rank};

pub(super) fn judge(claim: &Claim, order: &Order, bench: &Bench<'_>) -> Result<Finding, Problems> {
    let tally = tally(claim, &order.rank, order.average, bench)?;
    let counted = match &order.rank {
        Rank::Sorted(_) => "pairs",
        _ => "values",
    };
    Ok(Finding {
        paper: order.rank.paper(),
        ours: tally.ours(counted),
        value: None,
        interval: None,
        unit: String::new(),
        verdict: tally.verdict(),
        reason: tally.reason(counted),
    })
}

/// At how many values of the axes the order holds, or whether it does over all of them.
pub(super) fn tally(
    claim: &Claim,
    rank: &Rank,
    average: Option<Average>,
    bench: &Bench<'_>,
) -> Result<Tally, Problems> {
    let mut tally = Tally::default();
    match rank {
        Rank::Sorted(operands) => {
            let lines = Lines::new(claim, operands.iter(), average, bench)?;
            for place in 0..lines.places() {
                for pair in 1..operands.len() {
                    let (a, b) = (lines.value(pair - 1, place), lines.value(pair, place));
                    tally.add(a <= b, || lines.say(&[pair - 1, pair], place));
                }
            }
        }
        Rank::Lowest { of, among, place } | Rank::Highest { of, among, place } => {
            let others = among.iter().filter(|other| *other != of);
            let lines = Lines::new(claim, [of].into_iter().chain(others), average, bench)?;
            let highest = matches!(rank, Rank::Highest { .. });
            for at in 0..lines.places() {
                let ours = lines.value(0, at);
                let before: Vec<usize> = (1..lines.all.len())
                    .filter(|other| {
                        let other = lines.value(*other, at);
                        if highest { other > ours } else { other < ours }
                    })
                    .collect();
                let holds = !ours.is_nan() && before.len() + 1 == *place;
                tally.add(holds, || {
                    // With too many before it they are the answer, else all are.
                    let others = if before.is_empty() {
                        1..lines.all.len()
                    } else {
                        0..0
                    };
                    let shown: Vec<usize> = [0]
                        .into_iter()
                        .chain(before.clone())
                        .chain(others)
                        .collect();
                    lines.say(&shown, at)
                });
            }
        }
    }
    Ok(tally)
}

/// The operands of an order along the axes.
struct Lines<'a> {
    all: Vec<(&'a Operand, Along)>,
    average: Option<Average>,
}

impl<'a> Lines<'a> {
    fn new(
        claim: &Claim,
        operands: impl Iterator<Item = &'a Operand>,
        average: Option<Average>,
        bench: &Bench<'_>,
    ) -> Result<Self, Problems> {
        let all = operands.map(|operand| Ok((operand, bench.along(claim, operand)?)));
        Ok(Self {
            all: all.collect::<Result<_, Problems>>()?,
            average,
        })
    }

    fn places(&self) -> usize {
        let places = self
            .all
            .iter()
            .map(|(_, along)| along.len())
            .max()
            .unwrap_or(0);
        if self.average.is_some() {
            places.min(1)
        } else {
            places
        }
    }

    fn value(&self, line: usize, place: usize) -> f64 {
        let (_, along) = &self.all[line];
        match self.average {
            Some(average) => along.averaged(average),
            None => along.mean(place),
        }
    }

    /// What these lines are at a place.
    fn say(&self, lines: &[usize], place: usize) -> String {
        let values = lines.iter().map(|line| {
            let (operand, _) = &self.all[*line];
            let value = display(self.value(*line, place), operand.dimension());
            format!("{} {value}", operand.label)
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let longest = self
            .all
            .iter()
            .map(|(_, along)| along)
            .max_by_key(|along| along.len());
        let name = longest.map(|along| along.name(place)).unwrap_or_default();
        if name.is_empty() || self.average.is_some() {
            values
        } else {
            format!("at {name} {values}")
        }
    }
}

impl Rank {
    /// What the paper says, in a few words.
    fn paper(&self) -> String {
        match self {
            Self::Lowest { of, place, .. } => format!("{} {}lowest", of.label, ordinal(*place)),
            Self::Highest { of, place, .. } => format!("{} {}highest", of.label, ordinal(*place)),
            Self::Sorted(all) => {
                let labels: Vec<_> = all.iter().map(|operand| operand.label.as_str()).collect();
                labels.join(" < ")
            }
        }
    }
}

impl Operand {
    pub(super) fn dimension(&self) -> Dimension {
        self.measure.value_dimension()
    }
}

fn ordinal(place: usize) -> String {
    match place {
        1 => String::new(),
        2 => "second-".to_owned(),
        3 => "third-".to_owned(),
        place => format!("{place}th-"),
    }
}
