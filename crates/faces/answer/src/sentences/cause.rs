//! Whether timers explain why a scheme is behind.

use results::{Ranking, RankingMeasure, Row};

use super::timers::Timers;
use crate::words::{capital, list, place, rounded};

/// The cost of timers, if they are long enough to show in the tail. Uses the last point at which they explain the lead
/// over the next best scheme, or the last point of a single scheme.
pub(super) fn sentence(rankings: &[Ranking<'_>]) -> Option<String> {
    let told = rankings.iter().rev().find_map(|ranking| {
        if ranking.measure != RankingMeasure::Tail {
            return None;
        }
        let leader = ranking.leaders[0];
        match ranking.behind.first() {
            Some(next) if ranking.winner().is_some() => {
                let more = timers(next) > timers(leader);
                (more && shows(next)).then_some((*next, Some(leader)))
            }
            None if ranking.leaders.len() == 1 => shows(leader).then_some((leader, None)),
            _ => None,
        }
    });
    let Some((row, leader)) = told else {
        return alike(rankings);
    };
    let at = match place(row) {
        place if place.is_empty() => place,
        place => format!("At {place} "),
    };
    let beside = leader.map_or_else(String::new, |leader| {
        let waits = match timers(leader) {
            none if none <= 0.0 => "for none".to_owned(),
            some => {
                let mixed = [row, leader].map(|row| Timers::of(row, None).kinds() > 1);
                let kinds = if mixed.contains(&true) {
                    " timers and probes in all"
                } else {
                    ""
                };
                format!("for {}{kinds}", rounded(some))
            }
        };
        format!(", {} {waits}", leader.scheme)
    });
    let waited = Timers::of(row, None).waited(row.waits?);
    Some(format!("{at}{} {waited}{beside}.", row.scheme))
}

/// Timers that show in the tail of every scheme, at the last point at which no scheme leads by them.
fn alike(rankings: &[Ranking<'_>]) -> Option<String> {
    let ranking = rankings.iter().rev().find(|ranking| {
        let several = ranking.measure == RankingMeasure::Tail && ranking.leaders.len() > 1;
        several && ranking.leaders.iter().all(|row| shows(row))
    })?;
    let at = match place(ranking.leaders[0]) {
        place if place.is_empty() => String::new(),
        place => format!("At {place} "),
    };
    let all = match ranking.leaders.len() {
        2 => "both",
        _ => "all",
    };
    let counts = ranking.leaders.iter().map(|row| {
        let own = rounded(timers(row));
        format!("{} for {own}", row.scheme)
    });
    let counts: Vec<String> = counts.collect();
    let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
    Some(capital(&format!(
        "{at}{all} waited for timers: {}.",
        list(&counts)
    )))
}

/// Timers of every kind that expired in a run.
fn timers(row: &Row) -> f64 {
    Timers::of(row, None).all()
}

fn shows(row: &Row) -> bool {
    Timers::of(row, None).show(row, None, "fct")
}
