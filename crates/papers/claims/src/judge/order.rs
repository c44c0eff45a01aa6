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

/// At how many values of the axes the order holds, or whether it does over all of them. Values that
/// differ by less than [`TIE`] are in a tie, which any order between them allows.
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
                if lines.are_equal(place) {
                    tally.equal += 1;
                    continue;
                }
                for pair in 1..operands.len() {
                    let (a, b) = (lines.value(pair - 1, place), lines.value(pair, place));
                    let holds = a <= b || is_tie(a, b);
                    tally.add(holds, || lines.say(&[pair - 1, pair], place));
                }
            }
        }
        Rank::Lowest { of, among, place } | Rank::Highest { of, among, place } => {
            let others = among.iter().filter(|other| *other != of);
            let lines = Lines::new(claim, [of].into_iter().chain(others), average, bench)?;
            let highest = matches!(rank, Rank::Highest { .. });
            for at in 0..lines.places() {
                if lines.are_equal(at) {
                    tally.equal += 1;
                    continue;
                }
                let ours = lines.value(0, at);
                let before = |other: f64| if highest { other > ours } else { other < ours };
                let (mut ties, mut clear) = (0, Vec::new());
                for other in 1..lines.all.len() {
                    let value = lines.value(other, at);
                    if is_tie(value, ours) {
                        ties += 1;
                    } else if before(value) {
                        clear.push(other);
                    }
                }
                // Those in a tie share the places from the first to the last of them.
                let shared = clear.len() + 1..=clear.len() + 1 + ties;
                let holds = !ours.is_nan() && shared.contains(place);
                let before = clear;
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

/// Whether two values are no further apart than a line in a figure is thick.
fn is_tie(a: f64, b: f64) -> bool {
    (a - b).abs() <= TIE * a.abs().max(b.abs())
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

    /// Whether all have the same value at a place, as where nothing is dropped: there is no order then.
    #[expect(
        clippy::float_cmp,
        reason = "counts and times of the same runs, unrounded"
    )]
    fn are_equal(&self, place: usize) -> bool {
        let first = self.value(0, place);
        (1..self.all.len()).all(|line| self.value(line, place) == first)
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

/// A tie, as a share of the greater value: a line that is read off a figure is no thinner.
const TIE: f64 = 0.03;
