//! Settings that changed nothing: schemes with the same results, axes without effect, and marks that never came.

use std::collections::BTreeMap;

use results::{Row, Summary};
use sim::columns::{METRICS, metric_values};

use crate::words::{bytes, list, place};

/// Parts of the scenario that made no difference.
pub(super) fn sentences(summary: &Summary) -> Vec<String> {
    let results = results(summary);
    let mut sentences = Vec::new();
    let same = same(summary, &results);
    sentences.extend(alike(summary, &same));
    sentences.extend(without_effect(summary, &results));
    sentences.extend(unmarked(summary, &same.concat()));
    sentences.extend(lost_nothing(summary));
    sentences
}

/// The results of a row: metrics of every seed, to the last bit.
type Results = Vec<(u64, Vec<u64>)>;

/// The results of all rows; `None` for a row with a failed simulation.
fn results(summary: &Summary) -> Vec<Option<Results>> {
    let mut rows: Vec<Results> = vec![Vec::new(); summary.rows.len()];
    for point in &summary.points {
        let values = METRICS.iter().zip(metric_values(&point.metrics));
        // Threshold crossings are counted against a setting, even if no scheme reacts to marks, so they are ignored
        // here.
        let results = values.filter(|(column, _)| column.name != "threshold_crossings");
        let values = results.map(|(_, value)| value.to_bits()).collect();
        if let Some(row) = rows.get_mut(point.row as usize) {
            row.push((point.seed, values));
        }
    }
    let complete = rows.into_iter().zip(&summary.rows);
    complete
        .map(|(values, row)| (values.len() == row.points.len()).then_some(values))
        .collect()
}

/// Schemes with the same results at all points, by groups of equal ones.
fn same<'a>(summary: &'a Summary, results: &[Option<Results>]) -> Vec<Vec<&'a str>> {
    let width = summary.schemes.len();
    let mut of_schemes: BTreeMap<Vec<&Results>, Vec<&str>> = BTreeMap::new();
    for (number, scheme) in summary.schemes.iter().enumerate() {
        let own = results.iter().skip(number).step_by(width);
        if let Some(own) = own.map(Option::as_ref).collect() {
            of_schemes.entry(own).or_default().push(scheme);
        }
    }
    let several = |schemes: &Vec<&str>| schemes.len() > 1;
    of_schemes.into_values().filter(several).collect()
}

/// What is said of them.
fn alike(summary: &Summary, same: &[Vec<&str>]) -> Option<String> {
    if same.is_empty() {
        return None;
    }
    let same: Vec<String> = same.iter().map(|schemes| list(schemes)).collect();
    let points = summary.rows.len() / summary.schemes.len().max(1);
    let at = match points {
        0 | 1 => String::new(),
        2 => " at both points".to_owned(),
        more => format!(" at all {more} points"),
    };
    Some(format!(
        "{} have exactly the same results{at}: nothing that tells them apart happened here.",
        same.join(", and ")
    ))
}

/// Axes along which nothing changes.
fn without_effect(summary: &Summary, results: &[Option<Results>]) -> Option<String> {
    let told = summary.axes.iter().filter_map(|axis| {
        let schemes: Vec<&str> = summary.schemes.iter().map(String::as_str).collect();
        let idle = schemes.iter().copied();
        let idle: Vec<&str> = idle
            .filter(|scheme| is_without_effect(summary, results, (axis, scheme)))
            .collect();
        if idle.is_empty() {
            return None;
        }
        let of = if idle.len() == schemes.len() {
            String::new()
        } else {
            format!(" for {}", list(&idle))
        };
        Some(format!(
            "{axis} changed nothing{of}: all its values have the same results."
        ))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// Whether rows of a scheme that only differ in the value of an axis have the same results.
fn is_without_effect(
    summary: &Summary,
    results: &[Option<Results>],
    (axis, scheme): (&str, &str),
) -> bool {
    let mut first: BTreeMap<Vec<(&str, &str)>, &Results> = BTreeMap::new();
    let mut several = false;
    for (row, results) in summary.rows.iter().zip(results) {
        if row.scheme != scheme {
            continue;
        }
        let Some(results) = results else {
            return false;
        };
        let others = row.set.iter().filter(|(key, _)| key != axis);
        let others = others
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        match first.get(&others) {
            Some(known) if *known != results => return false,
            Some(_) => several = true,
            None => drop(first.insert(others, results)),
        }
    }
    several
}

/// Schemes that react to marks but got none: in the whole sweep, or at values of a swept threshold. In a comparison, a
/// scheme without losses did well without marks and is left out, unless its results equal those of such a scheme.
fn unmarked(summary: &Summary, alike: &[&str]) -> Option<String> {
    let of = |scheme: &String| -> Vec<&Row> {
        let rows = summary.rows.iter().filter(|row| row.scheme == *scheme);
        let known = rows.filter(|row| row.marking.is_some() && !row.value("marks").is_nan());
        known.collect()
    };
    let none = |row: &&Row| row.value("marks") <= 0.0;
    let all: Vec<(&str, Vec<&Row>)> = summary
        .schemes
        .iter()
        .map(|scheme| (scheme.as_str(), of(scheme)))
        .collect();
    let deaf = |rows: &[&Row]| !rows.is_empty() && rows.iter().all(none);
    let (without, with): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, rows)| deaf(rows));
    let alone = summary.schemes.len() == 1;
    let hurt = |rows: &[&Row]| rows.iter().any(|row| row.value("drops") > 0.0);
    let without: Vec<_> = without
        .into_iter()
        .filter(|(scheme, rows)| alone || hurt(rows) || alike.contains(scheme))
        .collect();
    let mut told = Vec::new();
    if !without.is_empty() {
        let names: Vec<&str> = without.iter().map(|(scheme, _)| *scheme).collect();
        let rows: Vec<&Row> = without.into_iter().flat_map(|(_, rows)| rows).collect();
        let act = if names.len() == 1 { "acts" } else { "act" };
        let because = because(&rows);
        told.push(format!(
            "{} {act} on marks and got none{because}.",
            list(&names)
        ));
    }
    if let Some(axis) = summary.axes.iter().find(|axis| *axis == THRESHOLD) {
        for (scheme, rows) in with {
            let values = rows.iter().filter_map(|row| row.setting(axis));
            let mut unmarked: Vec<&str> = Vec::new();
            for value in values {
                let mut at = rows.iter().filter(|row| row.setting(axis) == Some(value));
                // If nothing marks, no mark is missing.
                if value != "off" && !unmarked.contains(&value) && at.all(none) {
                    unmarked.push(value);
                }
            }
            if !unmarked.is_empty() {
                let values = list(&unmarked);
                told.push(format!(
                    "{scheme} got no marks with {axis} = {values}: no queue became as long."
                ));
            }
        }
    }
    (!told.is_empty()).then(|| told.join(" "))
}

/// Chosen losses that never happened: of segments that were not sent, or at a time without packets.
fn lost_nothing(summary: &Summary) -> Option<String> {
    let mut idle: Vec<&str> = Vec::new();
    let mut at_work: Vec<&str> = Vec::new();
    for row in &summary.rows {
        let Some(lose) = row.lose.as_deref() else {
            continue;
        };
        if row.value("drops") > 0.0 {
            at_work.push(lose);
        } else if !idle.contains(&lose) {
            idle.push(lose);
        }
    }
    idle.retain(|lose| !at_work.contains(lose));
    (!idle.is_empty()).then(|| format!("{LOSE} = {} lost no packet.", list(&idle)))
}

/// Why no packet was marked, if the rows show it.
fn because(rows: &[&Row]) -> String {
    let longest = rows
        .iter()
        .max_by(|a, b| a.value(LONGEST).total_cmp(&b.value(LONGEST)));
    let Some(row) = longest else {
        return String::new();
    };
    let crossed = rows
        .iter()
        .any(|row| row.value("threshold_crossings") > 0.0);
    let threshold = row.marking.as_deref().unwrap_or_default();
    if threshold.is_empty() || crossed {
        return String::new();
    }
    let at = match place(row) {
        place if place.is_empty() => place,
        place => format!(" at {place}"),
    };
    let queue = bytes(row.value(LONGEST));
    format!(
        ": no queue reached {THRESHOLD} = {threshold}; the longest at the bottleneck was {queue}{at}"
    )
}

const LOSE: &str = "bottleneck.lose";
const THRESHOLD: &str = "switch.ecn_threshold";
const LONGEST: &str = "queue_max_bytes";
