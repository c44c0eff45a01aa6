//! Where the slowest flows spent their time, and where packets were dropped.

use results::{Ranking, RankingMeasure, Row, Summary, Tier};
use sim::breakdown::Part;
use sim::columns;

use super::timers::Timers;
use crate::words::{place, rounded, time};

/// The largest part of the slowest flows' time, at the last point with a single leader: for the next best scheme and
/// the leader, or for a single scheme.
pub(super) fn sentence(rankings: &[Ranking<'_>]) -> Option<String> {
    let ranking = rankings
        .iter()
        .rev()
        .find(|ranking| ranking.measure == RankingMeasure::Tail && ranking.leaders.len() == 1)?;
    let leader = ranking.leaders[0];
    let next = ranking.behind.first().copied();
    let first = next.unwrap_or(leader);
    let (share, part) = greatest(first)?;
    let at = match place(first) {
        place if place.is_empty() => "The".to_owned(),
        place => format!("At {place} the"),
    };
    let beside = match next {
        Some(_) => {
            let (share, part) = greatest(leader)?;
            format!(
                "; those of {} {share:.0} % {}",
                leader.scheme,
                spent(part, waited(leader))
            )
        }
        None => String::new(),
    };
    let scheme = &first.scheme;
    let part = spent(part, waited(first));
    Some(format!(
        "{at} slowest flows of {scheme} spent {share:.0} % of their time {part}{beside}."
    ))
}

/// The largest part of the slowest flows' time, in percent.
fn greatest(row: &Row) -> Option<(f64, Part)> {
    let times = slowest(row, None)?;
    let all: f64 = times.iter().sum();
    let parts = times.into_iter().zip(Part::ALL);
    let (largest, part) = parts.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (all > 0.0).then(|| (100.0 * largest / all, part))
}

/// A part of the slowest flows' time in two kinds of rows, in words.
pub(super) struct Difference {
    pub(super) words: &'static str,
    /// Its duration in rows that miss a goal, and its share of their time.
    pub(super) bad: String,
    pub(super) share: String,
    /// Its duration in rows that meet the goal, if any do.
    pub(super) good: Option<String>,
}

/// The part of the slowest flows' time (of all flows or of a group) with the largest increase from `good` to `bad`
/// rows.
pub(super) fn difference(bad: &[&Row], good: &[&Row], of: Option<&str>) -> Option<Difference> {
    let times = |rows: &[&Row]| -> Vec<Vec<f64>> {
        rows.iter().filter_map(|row| slowest(row, of)).collect()
    };
    let expired = bad.iter().any(|row| Timers::of(row, of).all() > 0.0);
    let (bad, good) = (times(bad), times(good));
    let mean = |rows: &[Vec<f64>], part: usize| {
        let sum: f64 = rows.iter().map(|times| times[part]).sum();
        sum / f64::from(u32::try_from(rows.len().max(1)).unwrap_or(u32::MAX))
    };
    let longer = |part: usize| mean(&bad, part) - mean(&good, part);
    let all = 0..Part::ALL.len();
    let part = all.max_by(|a, b| longer(*a).total_cmp(&longer(*b)))?;
    if longer(part) <= 0.0 {
        return None;
    }
    let length = |rows: &[Vec<f64>]| span(rows.iter().map(|times| times[part]), time);
    let share = |times: &Vec<f64>| 100.0 * times[part] / times.iter().sum::<f64>();
    Some(Difference {
        words: spent(Part::ALL[part], expired),
        bad: length(&bad),
        share: span(bad.iter().map(share), |share| format!("{share:.0} %")),
        good: (!good.is_empty()).then(|| length(&good)),
    })
}

/// From the least to the greatest value, or a single value if they look the same.
fn span(values: impl Iterator<Item = f64> + Clone, shown: impl Fn(f64) -> String) -> String {
    let least = shown(values.clone().fold(f64::INFINITY, f64::min));
    let most = shown(values.fold(0.0, f64::max));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// The parts of the slowest flows' time in microseconds, of all flows or of a group; `None` if flows were not broken
/// down, or none completed.
fn slowest(row: &Row, of: Option<&str>) -> Option<Vec<f64>> {
    let columns = columns::part_columns(true).iter();
    let times = columns.map(|column| row.estimate(of, column.name)?.mean);
    times.collect()
}

/// Whether a timer of a sender expired in a row.
fn waited(row: &Row) -> bool {
    Timers::of(row, None).all() > 0.0
}

/// How flows spent a part of their time. If no timer of a sender expired, they waited for delayed ACKs.
const fn spent(part: Part, expired: bool) -> &'static str {
    match part {
        Part::Timers if !expired => "waiting for delayed ACKs",
        part => words(part),
    }
}

const fn words(part: Part) -> &'static str {
    match part {
        Part::Handshake => "in the handshake",
        Part::Serialisation => "sending",
        Part::Propagation => "in wires",
        Part::Window => "waiting for the window",
        Part::Application => "waiting for the application",
        Part::Queueing => "behind packets of other flows",
        Part::Recovery => "repairing losses",
        Part::Timers => "waiting for timers",
    }
}

/// Where the row with most drops lost its packets, by tier, in a network with several tiers of switches.
pub fn drops(summary: &Summary) -> Option<String> {
    let row = results::worst_tiers(summary)?;
    let lossy = row.tiers.iter().filter(|tier| tier.drops > 0.0);
    let of = if summary.seeds > 1 {
        "worst port of each seed, mostly"
    } else {
        "worst:"
    };
    let tier = |tier: &Tier| {
        format!(
            "{} on {} ({of} {}, {})",
            rounded(tier.drops),
            tier.tier,
            tier.worst,
            rounded(tier.worst_drops)
        )
    };
    let tiers: Vec<String> = lossy.map(tier).collect();
    let at = match place(row) {
        place if place.is_empty() => place,
        place => format!(" at {place}"),
    };
    let scheme = &row.scheme;
    (!tiers.is_empty()).then(|| format!("Most drops, {scheme}{at}: {}.", tiers.join("; ")))
}
