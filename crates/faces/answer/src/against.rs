//! The comparison of two runs in the terminal: a sentence for each headline, the settings that differ, then every row
//! of both.

mod headline;

use std::cmp::Reverse;
use std::fmt::Write;

use plan::metric::Selector;
use results::{Against, Bound, MetricChange, RowPair};

pub use headline::of_change;

use crate::layout;
use crate::run::amount;

/// Settings, rows and the exceeded bounds.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(against: &Against, names: [&str; 2], bounds: &[Bound]) -> String {
    let mut out = String::new();
    write(&mut out, against, names, bounds).expect("writing to a string succeeds");
    out
}

fn write(
    out: &mut String,
    against: &Against,
    names: [&str; 2],
    bounds: &[Bound],
) -> std::fmt::Result {
    for sentence in of_change(against, names) {
        layout::wrap(out, 0, WIDTH, &sentence);
    }
    if !against.rows.is_empty() {
        writeln!(out)?;
    }
    settings(out, against, names)?;
    if against.rows.is_empty() {
        writeln!(
            out,
            "The runs have no row in common: rows go together by swept values and scheme."
        )?;
        return Ok(());
    }
    let mut rows: Vec<&RowPair> = against.rows.iter().collect();
    if rows.len() > LONG {
        let change = |row: &&RowPair| {
            row.change(None, TAIL)
                .and_then(MetricChange::share)
                .unwrap_or(0.0)
        };
        rows.sort_by_key(|row| Reverse((change(row).abs() * 1e6).round().min(1e15).to_bits()));
        rows.truncate(BEST);
    }
    let head = [
        "",
        "metric",
        names[0],
        names[1],
        "change",
        "95 % interval",
        "",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for row in &rows {
        let chosen = selectors(against, row, bounds);
        let changes = row
            .changes
            .iter()
            .filter(|change| chosen.contains(&change.selector));
        for (number, change) in changes.enumerate() {
            let what = if number == 0 {
                what(row)
            } else {
                String::new()
            };
            lines.push(line(what, change));
        }
    }
    // Without randomness there are no intervals.
    if lines.iter().skip(1).all(|line| line[INTERVAL] == "-") {
        for line in &mut lines {
            line.remove(INTERVAL);
        }
    }
    aligned(out, &lines)?;
    if rows.len() < against.rows.len() {
        let (shown, all) = (rows.len(), against.rows.len());
        writeln!(
            out,
            "The {shown} rows of {all} whose 99th percentile changes most; the report has all."
        )?;
    }
    match against.alone {
        [0, 0] => {}
        [a, b] => writeln!(
            out,
            "{a} rows are only in {}, {b} only in {}.",
            names[0], names[1]
        )?,
    }
    writeln!(out)?;
    bounds
        .iter()
        .try_for_each(|bound| crossed(out, against, bound))
}

/// The settings that differ.
fn settings(out: &mut String, against: &Against, names: [&str; 2]) -> std::fmt::Result {
    if against.settings.is_empty() {
        writeln!(out, "All settings are the same.\n")?;
    } else {
        let head = ["setting", names[0], names[1]].map(str::to_owned);
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let lines = against.settings.iter();
        let lines = lines.map(|(name, [a, b])| vec![name.clone(), text(a), text(b)]);
        let lines: Vec<_> = std::iter::once(head.to_vec()).chain(lines).collect();
        aligned(out, &lines)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Whether a bound holds, and the rows in which it does not.
fn crossed(out: &mut String, against: &Against, bound: &Bound) -> std::fmt::Result {
    let beyond = against.beyond(bound);
    if beyond.is_empty() {
        return writeln!(out, "{bound}: in no row.\n");
    }
    let (number, all) = (beyond.len(), against.rows.len());
    let told = beyond
        .iter()
        .take(BEST)
        .map(|(row, change)| format!("{} ({})", what(row), percent(change)));
    let told: Vec<_> = told.collect();
    let line = format!("{bound}: in {number} of {all} rows: {}.", told.join("; "));
    layout::wrap(out, 0, WIDTH, &line);
    writeln!(out)
}

fn line(what: String, change: &MetricChange) -> Vec<String> {
    let value = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| amount(&change.selector, value))
    };
    let [a, b] = change.means.map(value);
    let interval = change
        .share_interval()
        .map(|(low, high)| format!("{:+.1} % to {:+.1} %", low * 100.0, high * 100.0));
    let interval = interval.unwrap_or_else(|| "-".to_owned());
    vec![
        what,
        change.selector.to_string(),
        a,
        b,
        percent(change),
        interval,
        change.verdict.name().to_owned(),
    ]
}

fn percent(change: &MetricChange) -> String {
    change.share().map_or_else(
        || "-".to_owned(),
        |share| format!("{:+.1} %", share * 100.0),
    )
}

/// The metrics shown for a row: the headlines, completion times of groups, and the metrics of bounds.
fn selectors(against: &Against, row: &RowPair, bounds: &[Bound]) -> Vec<Selector> {
    let usual = against.shown(row).map(|change| change.selector.clone());
    usual
        .chain(bounds.iter().map(|bound| bound.selector.clone()))
        .collect()
}

fn what(row: &RowPair) -> String {
    let [a, b] = &row.schemes;
    let scheme = if a == b {
        a.clone()
    } else {
        format!("{a} -> {b}")
    };
    let set = row.set.iter().map(|(key, value)| {
        let (_, field) = key.rsplit_once('.').unwrap_or(("", key));
        format!(" {field}={value}")
    });
    scheme + &set.collect::<String>()
}

/// Lines of cells in columns: names on the left, numbers on the right.
fn aligned(out: &mut String, lines: &[Vec<String>]) -> std::fmt::Result {
    let columns = lines.first().map_or(0, Vec::len);
    let is_number = |at: usize| columns > 3 && (2..columns - 1).contains(&at);
    out.write_str(&layout::aligned(lines, "", is_number))
}

/// The place of the interval in a line.
const INTERVAL: usize = 5;
/// The metric by which rows are sorted.
const TAIL: &str = "fct_p99_us";
/// Columns of sentences.
const WIDTH: usize = 80;
/// The number of rows from which only those with the largest changes are shown.
const LONG: usize = 24;
/// The number of rows shown in a long comparison.
const BEST: usize = 10;
