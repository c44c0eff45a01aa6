//! Chooses the next values of a search for the smallest value of a setting that meets the goals.

use std::collections::BTreeMap;

use results::Summary;
use scenario::search::Searched;

/// Indices of the values to try next: at most one for each scheme.
pub(crate) fn next(summary: &Summary, searched: &Searched) -> Vec<u64> {
    let mut next: Vec<u64> = Vec::new();
    let Some(goals) = &summary.goals else {
        return next;
    };
    for scheme in &summary.schemes {
        let rows = summary.rows.iter().zip(&goals.rows);
        let own = rows.filter(|(row, _)| row.scheme == *scheme);
        let known: BTreeMap<u64, bool> = own
            .zip(&searched.chosen)
            .map(|((_, judged), number)| (*number, judged.is_met()))
            .collect();
        if let Some(number) = searched
            .range
            .next(&known)
            .filter(|number| !next.contains(number))
        {
            next.push(number);
        }
    }
    next
}
