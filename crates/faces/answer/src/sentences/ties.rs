//! Whether the order of simultaneous events determines the leader.

use std::collections::BTreeSet;

use base::Ordered as _;
use base::cast::real;
use results::{Ranking, RankingMeasure, Row, Summary, Ties, within_a_percent};

use crate::words::{SHOWN, averaged, list, place};

/// Where the leader changes with the order, or that it does not; empty without `--ties` or with a single scheme.
pub(super) fn sentences(summary: &Summary, rankings: &[Ranking<'_>]) -> Vec<String> {
    let Some(ties) = &summary.ties else {
        return Vec::new();
    };
    if summary.schemes.len() < 2 {
        return Vec::new();
    }
    let width = summary.schemes.len();
    let groups = summary.rows.chunks(width).enumerate();
    let groups = groups.filter_map(|(number, rows)| {
        let ranking = rankings
            .iter()
            .find(|ranking| ranking.leaders[0].set == rows[0].set)?;
        Some((
            ranking,
            leaders(ties, (number * width, rows), ranking.measure)?,
        ))
    });
    let groups: Vec<_> = groups.collect();
    let changes = groups.iter().filter(|(_, under)| common(under).is_empty());
    let clauses: Vec<String> = changes
        .map(|(ranking, under)| changing(ranking, under))
        .collect();
    let orders = ties.orders;
    if groups.is_empty() {
        return Vec::new();
    }
    if !clauses.is_empty() {
        let more = clauses.len().saturating_sub(SHOWN);
        let rest = if more > 0 {
            let more = real(more as u64);
            format!("; and {}", averaged(more, "more point"))
        } else {
            String::new()
        };
        let shown = clauses
            .into_iter()
            .take(SHOWN)
            .collect::<Vec<_>>()
            .join("; ");
        return vec![format!(
            "Without jitter the order of simultaneous events decides: {shown}{rest}. Rely on what seeds with \
             link.jitter say."
        )];
    }
    let same = |(ranking, under): &(&Ranking<'_>, Vec<BTreeSet<&str>>)| {
        let common = common(under);
        ranking.names().iter().any(|name| common.contains(name))
    };
    if groups.iter().all(same) {
        return vec![format!(
            "Whoever leads also leads under each of {orders} orders of simultaneous events without jitter."
        )];
    }
    let other = groups
        .iter()
        .filter(|group| !same(group))
        .map(|(ranking, under)| {
            let names: Vec<&str> = common(under).into_iter().collect();
            format!("{}{}", at(ranking.leaders[0]), list(&names))
        });
    let other: Vec<String> = other.take(SHOWN).collect();
    vec![format!(
        "Without jitter another scheme leads under each of {orders} orders of simultaneous events: {}. Senders that \
         keep step make that difference; rely on what seeds with link.jitter say.",
        other.join("; ")
    )]
}

/// The leaders under each order, including all within a percent of the best.
fn leaders<'a>(
    ties: &Ties,
    (first, rows): (usize, &'a [Row]),
    measure: RankingMeasure,
) -> Option<Vec<BTreeSet<&'a str>>> {
    let values = (first..).zip(rows).filter_map(|(number, row)| {
        Some((row.scheme.as_str(), ties.values(number, measure.metric())?))
    });
    let values: Vec<_> = values.collect();
    if values.len() < 2 {
        return None;
    }
    let under = (0..ties.orders as usize).map(|order| {
        let best = values
            .iter()
            .map(|(_, of)| measure.cost_of(of[order]))
            .fold(f64::INFINITY, f64::min);
        let leads = values
            .iter()
            .filter(|(_, of)| within_a_percent(best, measure.cost_of(of[order])));
        leads.map(|(name, _)| *name).into_set()
    });
    Some(under.collect())
}

/// The schemes that lead under every order.
fn common<'a>(under: &[BTreeSet<&'a str>]) -> BTreeSet<&'a str> {
    let mut sets = under.iter().cloned();
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |all, one| all.intersection(&one).copied().into_set())
}

/// The number of orders under which each scheme leads.
fn changing(ranking: &Ranking<'_>, under: &[BTreeSet<&str>]) -> String {
    let names = under.iter().flatten().copied().into_set();
    let count = |name: &str| under.iter().filter(|leads| leads.contains(name)).count();
    let clauses: Vec<String> = names
        .iter()
        .map(|name| format!("{name} leads under {} of {}", count(name), under.len()))
        .collect();
    format!("{}{}", at(ranking.leaders[0]), clauses.join(", "))
}

fn at(row: &Row) -> String {
    let place = place(row);
    if place.is_empty() {
        String::new()
    } else {
        format!("at {place} ")
    }
}
