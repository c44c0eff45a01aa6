//! Judging orders.

use scenario::Problems;

use super::bench::Bench;
use super::line::{self, OperandValues};
use super::tally::Tally;
use super::verdict::Finding;
use crate::{Average, Claim, OrderClaim, Rank};

pub(super) fn judge(
    claim: &Claim,
    order: &OrderClaim,
    bench: &Bench<'_>,
) -> Result<Finding, Problems> {
    let tally = tally(claim, &order.rank, order.average, bench)?;
    let counted = match &order.rank {
        Rank::Sorted(_) => "pairs",
        _ => "values",
    };
    Ok(tally.finding(order.rank.paper(), tally.ours(counted), counted))
}

/// At how many values of the axes the order holds, or whether it holds for their average. Values that differ by less
/// than [`TIE`] are tied; a tie allows any order.
pub(super) fn tally(
    claim: &Claim,
    rank: &Rank,
    average: Option<Average>,
    bench: &Bench<'_>,
) -> Result<Tally, Problems> {
    let mut tally = Tally::default();
    match rank {
        Rank::Sorted(operands) => {
            let lines = OperandValues::all(claim, operands, average, bench)?;
            for place in 0..line::places(&lines) {
                if are_equal(&lines, place) {
                    tally.equal += 1;
                    continue;
                }
                for pair in 1..operands.len() {
                    let (a, b) = (lines[pair - 1].value(place), lines[pair].value(place));
                    let holds = a <= b || is_tie(a, b);
                    tally.add(holds, || say(&lines, [pair - 1, pair], place));
                }
            }
        }
        Rank::Lowest { of, among, place } | Rank::Highest { of, among, place } => {
            let others = among.iter().filter(|other| *other != of);
            let lines = OperandValues::all(claim, [of].into_iter().chain(others), average, bench)?;
            let highest = matches!(rank, Rank::Highest { .. });
            for at in 0..line::places(&lines) {
                if are_equal(&lines, at) {
                    tally.equal += 1;
                    continue;
                }
                let ours = lines[0].value(at);
                let before = |other: f64| if highest { other > ours } else { other < ours };
                let (mut ties, mut clear) = (0, Vec::new());
                for (other, line) in lines.iter().enumerate().skip(1) {
                    let value = line.value(at);
                    if is_tie(value, ours) {
                        ties += 1;
                    } else if before(value) {
                        clear.push(other);
                    }
                }
                // Tied ones share all ranks from their first to their last.
                let shared = clear.len() + 1..=clear.len() + 1 + ties;
                let holds = !ours.is_nan() && shared.contains(place);
                let before = clear;
                tally.add(holds, || {
                    // If too many are before it, they are shown, else all.
                    let all = if before.is_empty() {
                        1..lines.len()
                    } else {
                        0..0
                    };
                    say(&lines, [0].into_iter().chain(before).chain(all), at)
                });
            }
        }
    }
    Ok(tally)
}

/// Whether the difference of two values is no more than the thickness of a line in a figure.
fn is_tie(a: f64, b: f64) -> bool {
    (a - b).abs() <= TIE * a.abs().max(b.abs())
}

/// Whether all have the same value at a place, for example if nothing is dropped. Then there is no order.
#[expect(
    clippy::float_cmp,
    reason = "counts and times of the same runs, unrounded"
)]
fn are_equal(lines: &[OperandValues<'_>], place: usize) -> bool {
    let first = lines[0].value(place);
    lines.iter().all(|line| line.value(place) == first)
}

/// The values of these lines at a place, in words.
fn say(
    lines: &[OperandValues<'_>],
    shown: impl IntoIterator<Item = usize>,
    place: usize,
) -> String {
    let values = shown.into_iter().map(|line| lines[line].say(place));
    let values = values.collect::<Vec<_>>().join(", ");
    let longest = lines.iter().max_by_key(|line| line.along.len());
    longest.map_or_else(String::new, |line| line.at(place, &values))
}

impl Rank {
    /// The paper's statement, in a few words.
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

fn ordinal(place: usize) -> String {
    match place {
        1 => String::new(),
        2 => "second-".to_owned(),
        3 => "third-".to_owned(),
        place => format!("{place}th-"),
    }
}

/// A tie, as a share of the greater value: about the thickness of a line in a figure.
const TIE: f64 = 0.03;
