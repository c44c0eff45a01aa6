//! Numbers and places in words.

use sim::columns::METRICS;

use crate::row::Row;

/// The swept values of a row in words: `100 senders and switch.buffer = 64KB`.
pub(super) fn place(row: &Row) -> String {
    let words = row.set.iter().map(|(key, value)| setting(key, value));
    words.collect::<Vec<_>>().join(" and ")
}

/// From one row to another of a sweep along one setting: `10 to 40 senders`.
pub(super) fn span(first: &Row, last: &Row) -> String {
    let ((key, from), (_, to)) = (&first.set[0], &last.set[0]);
    match key.as_str() {
        _ if from == to => setting(key, from),
        "workload.senders" => format!("{from} to {to} senders"),
        _ => format!("{key} = {from} to {to}"),
    }
}

fn setting(key: &str, value: &str) -> String {
    match key {
        "workload.senders" if value == "1" => "1 sender".into(),
        "workload.senders" => format!("{value} senders"),
        _ => format!("{key} = {value}"),
    }
}

/// "one, two and three".
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

pub(super) fn time(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.2} s", us / 1e6),
        us if us >= 1e3 => format!("{:.1} ms", us / 1e3),
        us => format!("{us:.0} us"),
    }
}

/// A time that somebody set: without decimals that are zero.
pub(super) fn set_time(us: f64) -> String {
    time(us).replace(".00 ", " ").replace(".0 ", " ")
}

pub(super) fn bytes(bytes: f64) -> String {
    format!("{:.1} KB", bytes / 1e3)
}

/// A value of the metric called `metric` with its unit, with so many digits that it does not look like
/// `threshold` unless it is the same.
pub(super) fn shown(metric: &str, value: f64, threshold: f64) -> String {
    let unit = METRICS.iter().find(|column| column.name == metric);
    let unit = unit.map_or("", |column| column.unit);
    let coarse = |value: f64| match unit {
        "us" => time(value),
        "bytes" => bytes(value),
        "bit/s" if value >= 1e10 => format!("{:.1} Gbit/s", value / 1e9),
        "bit/s" => format!("{:.0} Mbit/s", value / 1e6),
        "" => format!("{value:.3}"),
        _ => rounded(value),
    };
    if (value - threshold).abs() > 0.0 && coarse(value) == coarse(threshold) {
        return match unit {
            "us" => format!("{:.3} ms", value / 1e3),
            "bytes" => format!("{value:.0} B"),
            "bit/s" => format!("{:.3} Mbit/s", value / 1e6),
            _ => value.to_string(),
        };
    }
    coarse(value)
}

/// A share as a percentage, with a decimal below 10 %.
pub(super) fn percent(share: f64) -> String {
    let decimals = usize::from(share < 0.0995);
    format!("{:.decimals$} %", share * 100.0)
}

/// Large numbers, rounded.
pub(super) fn amount(count: f64) -> String {
    match count {
        count if count >= 1e9 => format!("{:.1} thousand million", count / 1e9),
        count if count >= 1e6 => format!("{:.1} million", count / 1e6),
        count => format!("{count:.0}"),
    }
}

pub(super) fn counted(count: f64, noun: &str) -> String {
    let plural = if (count - 1.0).abs() < f64::EPSILON {
        ""
    } else {
        "s"
    };
    format!("{} {noun}{plural}", rounded(count))
}

/// Whole numbers as they are, means over seeds with a decimal.
pub(super) fn rounded(count: f64) -> String {
    if count.fract().abs() < f64::EPSILON {
        format!("{count:.0}")
    } else {
        format!("{count:.1}")
    }
}

/// Rows of unfinished flows that are named; more would bury the answer.
pub(super) const SHOWN: usize = 4;
