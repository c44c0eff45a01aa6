//! What the slowest flows waited for, and where packets were dropped.

use sim::breakdown::Part;
use sim::columns;

use super::standing::{Measure, Standing};
use super::words::{place, rounded};
use crate::row::Row;
use crate::summary::Summary;
use crate::tiers::Tier;

/// What most of the slowest flows' time went to, at the last point with a single leader: for the next best and for the
/// leader, or for a scheme that is alone.
pub(super) fn sentence(standings: &[Standing<'_>]) -> Option<String> {
    let standing = standings
        .iter()
        .rev()
        .find(|standing| standing.measure == Measure::Tail && standing.leaders.len() == 1)?;
    let leader = standing.leaders[0];
    let next = standing.behind.first().copied();
    let first = next.unwrap_or(leader);
    let (share, part) = greatest(first)?;
    let at = match place(first) {
        place if place.is_empty() => "The".to_owned(),
        place => format!("At {place} the"),
    };
    let beside = match next {
        Some(_) => {
            let (share, part) = greatest(leader)?;
            format!("; those of {} {share:.0} % {}", leader.scheme, words(part))
        }
        None => String::new(),
    };
    let scheme = &first.scheme;
    let part = words(part);
    Some(format!(
        "{at} slowest flows of {scheme} spent {share:.0} % of their time {part}{beside}."
    ))
}

/// The largest part of the slowest flows' time, in percent.
fn greatest(row: &Row) -> Option<(f64, Part)> {
    let columns = columns::part_columns(true).iter();
    let parts = Part::ALL.into_iter().zip(columns);
    let parts: Vec<(f64, Part)> = parts
        .map(|(part, column)| (row.value(column.name), part))
        .collect();
    let all: f64 = parts.iter().map(|(us, _)| us).sum();
    let largest = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (all > 0.0).then(|| (100.0 * largest.0 / all, largest.1))
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

/// Where the row with most drops lost its packets, tier by tier, in a network of several tiers of switches.
pub(super) fn drops(summary: &Summary) -> Option<String> {
    let drops = |row: &Row| row.tiers.iter().map(|tier| tier.drops).sum::<f64>();
    let rows = summary.rows.iter();
    let row = rows.max_by(|a, b| drops(a).total_cmp(&drops(b)))?;
    let switches = row.tiers.iter().filter(|tier| tier.tier != "host");
    if drops(row) <= 0.0 || switches.count() < 2 {
        return None;
    }
    let lossy = row.tiers.iter().filter(|tier| tier.drops > 0.0);
    let tier = |tier: &Tier| {
        format!(
            "{} on {} (worst: {}, {})",
            rounded(tier.drops),
            tier.tier,
            tier.worst,
            tier.worst_drops
        )
    };
    let tiers: Vec<String> = lossy.map(tier).collect();
    let at = match place(row) {
        place if place.is_empty() => place,
        place => format!(" at {place}"),
    };
    let scheme = &row.scheme;
    Some(format!("Most drops, {scheme}{at}: {}.", tiers.join("; ")))
}
