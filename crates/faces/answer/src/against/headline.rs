//! One run against another, in sentences.

use plan::metric::Selector;
use results::statistics::Significance;
use results::{Against, MetricChange, RowPair};

use crate::words::{averaged, list, percent, place_of, shown};

/// How the second run differs from the first; the runs have these names. A sentence for each headline, then what more
/// seeds would show.
pub fn of_change(against: &Against, names: [&str; 2]) -> Vec<String> {
    let headlines = against.headlines.iter();
    let mut sentences: Vec<String> = headlines
        .filter_map(|selector| sentence(against, selector, names))
        .collect();
    if sentences.is_empty() {
        return sentences;
    }
    let told = |change: &MetricChange| against.headlines.contains(&change.selector);
    let mut changes = against
        .rows
        .iter()
        .flat_map(|row| &row.changes)
        .filter(|change| told(change));
    let unsure = changes.any(|change| change.verdict == Significance::NotEnoughRuns);
    if against.random && against.seeds.contains(&1) {
        sentences.push(
            "With one seed nothing tells a difference from chance: run both with --seeds 10."
                .to_owned(),
        );
    } else if against.random && unsure {
        sentences.push(
            "Unsure are differences whose 95 % interval contains zero: more seeds tell, and --until 5% runs as \
             many as needed."
                .to_owned(),
        );
    }
    sentences
}

/// `after against before: fct_p99 is 90 % lower, 21.0 ms instead of 209.0 ms.`
fn sentence(against: &Against, selector: &Selector, [first, second]: [&str; 2]) -> Option<String> {
    let changes = against.rows.iter().filter_map(|row| {
        let change = row.change(selector.of.as_deref(), selector.metric)?;
        let [Some(before), Some(after)] = change.means else {
            return None;
        };
        Some((row, change, [before, after]))
    });
    let changes: Vec<(&RowPair, &MetricChange, [f64; 2])> = changes.collect();
    let told = match changes.as_slice() {
        [] => return None,
        [(_, change, means)] => single(change, *means),
        several => each(several),
    };
    let goal = met(against, selector, first);
    Some(format!(
        "{second} against {first}: {selector} {told}.{goal}"
    ))
}

/// The change of the only row.
fn single(change: &MetricChange, [before, after]: [f64; 2]) -> String {
    let metric = change.selector.metric;
    let [a, b] = [shown(metric, before, after), shown(metric, after, before)];
    let by = change
        .share()
        .map_or_else(String::new, |share| match share {
            share if share >= 1.0 => format!("{:.1} times as high, ", share + 1.0),
            share if share > 0.0 => format!("{} higher, ", percent(share)),
            share => format!("{} lower, ", percent(-share)),
        });
    match change.verdict {
        _ if before.to_bits() == after.to_bits() => format!("is the same, {b}"),
        Significance::Same => format!("is the same, {b}"),
        Significance::NotEnoughRuns => format!("is {by}{b} instead of {a}, which may be chance"),
        Significance::Lower | Significance::Higher => format!("is {by}{b} instead of {a}"),
    }
}

/// The numbers of rows in which it is lower, higher, the same, or unsure.
fn each(changes: &[(&RowPair, &MetricChange, [f64; 2])]) -> String {
    let all = changes.len();
    let verdicts = [
        Significance::Lower,
        Significance::Higher,
        Significance::Same,
        Significance::NotEnoughRuns,
    ];
    let clauses = verdicts.into_iter().filter_map(|verdict| {
        let own = changes
            .iter()
            .filter(|(_, change, _)| direction(change) == verdict);
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            return None;
        }
        let rows = match own.len() {
            some if some == all => format!("all {all} rows"),
            some => format!("{some} of {all} rows"),
        };
        let word = match verdict {
            Significance::Same => "the same",
            verdict => verdict.name(),
        };
        let shares = own
            .iter()
            .filter_map(|(row, change, _)| Some((change.share()?.abs(), row)));
        let most = shares.clone().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let least = shares.map(|(share, _)| share).fold(f64::INFINITY, f64::min);
        let by = match (verdict, most) {
            (Significance::Lower | Significance::Higher, Some((most, row))) => {
                let most_for = format!(", most for {}", named(row));
                let factors = least >= 1.0;
                let (least, mut most) = (size(least), size(most));
                if factors && least != most {
                    most = most.replace("a factor of ", "");
                }
                let range = if least == most {
                    most
                } else {
                    format!("{least} to {most}")
                };
                format!(" by {range}{most_for}")
            }
            _ => String::new(),
        };
        Some(format!("{word} in {rows}{by}"))
    });
    let clauses: Vec<String> = clauses.collect();
    format!("is {}", clauses.join("; "))
}

/// The direction in which a metric changed: the verdict or, with one seed and so without an interval, the sign.
fn direction(change: &MetricChange) -> Significance {
    match (change.verdict, change.difference.mean) {
        (Significance::NotEnoughRuns, Some(mean)) if change.difference.low.is_none() => {
            match mean {
                mean if mean < 0.0 => Significance::Lower,
                mean if mean > 0.0 => Significance::Higher,
                _ => Significance::Same,
            }
        }
        (verdict, _) => verdict,
    }
}

/// `40 %`, or `a factor of 7.6` from twice as much on.
fn size(share: f64) -> String {
    if share >= 1.0 {
        format!("a factor of {:.1}", share + 1.0)
    } else {
        percent(share)
    }
}

/// The rows that meet the goal on a metric.
fn met(against: &Against, selector: &Selector, first: &str) -> String {
    let own = against.goals.iter().filter(|(about, ..)| about == selector);
    let told = own.map(
        |(_, goal, [before, after])| match (against.rows.len(), before, after) {
            (1, 1, 1) => format!(" Both meet {goal}."),
            (1, 0, 0) => format!(" Neither meets {goal}."),
            (1, 0, _) => format!(" It meets {goal}; {first} does not."),
            (1, _, _) => format!(" It does not meet {goal}; {first} does."),
            (all, before, after) => {
                let all = f64::from(u32::try_from(all).unwrap_or(u32::MAX));
                format!(
                    " It meets {goal} in {after} of {}, {first} in {before}.",
                    averaged(all, "row")
                )
            }
        },
    );
    told.collect()
}

/// `dctcp at 100 senders`.
fn named(row: &RowPair) -> String {
    let [a, b] = &row.schemes;
    let schemes = if a == b { a.clone() } else { list(&[a, b]) };
    match place_of(&row.set) {
        place if place.is_empty() => schemes,
        place => format!("{schemes} at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::statistics;

    /// A row of dctcp with this many senders, whose metric changes from the first values (by seed) to the second.
    fn row(senders: u32, metric: &'static str, before: &[f64], after: &[f64]) -> RowPair {
        let (difference, verdict) = statistics::paired(after, before, true);
        let mean = |values: &[f64]| statistics::Estimate::of(values.iter().copied()).mean;
        RowPair {
            set: vec![("workload.senders".to_owned(), senders.to_string())],
            schemes: ["dctcp".to_owned(), "dctcp".to_owned()],
            changes: vec![MetricChange {
                selector: Selector { of: None, metric },
                means: [mean(before), mean(after)],
                difference,
                verdict,
            }],
        }
    }

    fn told(rows: Vec<RowPair>, seeds: u32, goals: &[(&str, [usize; 2])]) -> Vec<String> {
        let selector = rows[0].changes[0].selector.clone();
        let goals = goals.iter();
        let against = Against {
            settings: Vec::new(),
            alone: [0, 0],
            goals: goals
                .map(|(goal, met)| (selector.clone(), (*goal).to_owned(), *met))
                .collect(),
            headlines: vec![selector],
            seeds: [seeds, seeds],
            random: true,
            rows,
        };
        of_change(&against, ["before", "after"])
    }

    #[test]
    fn one_row_is_told_with_both_values_and_the_goal() {
        let rows = vec![row(
            40,
            "fct_p99_us",
            &[2.09e5, 2.1e5, 2.08e5],
            &[2.1e4, 2.11e4, 2.09e4],
        )];
        assert_eq!(
            told(rows, 3, &[("fct_p99 < 50ms", [0, 1])]),
            [
                "after against before: fct_p99 is 90 % lower, 21.0 ms instead of 209.0 ms. It meets fct_p99 < \
                 50ms; before does not."
            ]
        );
    }

    #[test]
    fn one_seed_asks_for_more() {
        let rows = vec![row(40, "fct_p99_us", &[2.09e5], &[2.1e4])];
        assert_eq!(
            told(rows, 1, &[]),
            [
                "after against before: fct_p99 is 90 % lower, 21.0 ms instead of 209.0 ms, which may be chance.",
                "With one seed nothing tells a difference from chance: run both with --seeds 10."
            ]
        );
    }

    #[test]
    fn with_one_seed_rows_are_counted_by_their_values() {
        let rows = vec![
            row(20, "fct_p99_us", &[5.8e3], &[5.8e3]),
            row(60, "fct_p99_us", &[2.8e4], &[2.16e5]),
            row(80, "fct_p99_us", &[2e4], &[4e4]),
        ];
        assert_eq!(
            told(rows, 1, &[])[0],
            "after against before: fct_p99 is higher in 2 of 3 rows by a factor of 2.0 to 7.7, most for dctcp \
             at 60 senders; the same in 1 of 3 rows."
        );
    }

    #[test]
    fn several_rows_are_counted_by_what_became_of_them() {
        let rows = vec![
            row(10, "goodput_bps", &[1e9, 1.01e9], &[9e8, 9.1e8]),
            row(40, "goodput_bps", &[1e9, 1.01e9], &[5e8, 5.05e8]),
            row(60, "goodput_bps", &[1e9, 1e9], &[1e9, 1e9]),
            row(80, "goodput_bps", &[1e9, 1.2e9], &[1.1e9, 1.1e9]),
        ];
        assert_eq!(
            told(rows, 2, &[("goodput > 800Mbps", [4, 3])]),
            [
                "after against before: goodput is lower in 2 of 4 rows by 10 % to 50 %, most for dctcp at 40 \
                 senders; the same in 1 of 4 rows; unsure in 1 of 4 rows. It meets goodput > 800Mbps in 3 of 4 \
                 rows, before in 4.",
                "Unsure are differences whose 95 % interval contains zero: more seeds tell, and --until 5% runs \
                 as many as needed."
            ]
        );
    }
}
