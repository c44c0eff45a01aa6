//! Numbers and places in words: one way for every sentence and table.

use results::{Goals, Row};
use sim::columns::METRICS;

/// The word for the goals after they have been named.
pub(crate) fn pronoun(goals: &Goals) -> &'static str {
    if goals.goals.len() > 1 { "them" } else { "it" }
}

/// The swept values of a row in words: `100 senders and switch.buffer = 64KB`.
pub(crate) fn place(row: &Row) -> String {
    place_of(&row.set)
}

/// The same of swept values.
pub(crate) fn place_of(set: &[(String, String)]) -> String {
    let words = set.iter().map(|(key, value)| setting(key, value));
    words.collect::<Vec<_>>().join(" and ")
}

/// A scheme and the settings of its row.
pub(crate) fn named(row: &Row) -> String {
    match place(row) {
        at if at.is_empty() => row.scheme.clone(),
        at => format!("{} at {at}", row.scheme),
    }
}

/// From one row to another of a sweep along one setting: `10 to 40 senders`.
pub(crate) fn span(first: &Row, last: &Row) -> String {
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
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

pub(crate) fn time(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.2} s", us / 1e6),
        us if us >= 1e3 => format!("{:.1} ms", us / 1e3),
        us if us >= 0.5 => format!("{us:.0} us"),
        us => format!("{} us", small(us)),
    }
}

/// A time from a setting, without trailing zeros.
pub(crate) fn set_time(us: f64) -> String {
    time(us).replace(".00 ", " ").replace(".0 ", " ")
}

pub(crate) fn bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 50.0 => format!("{:.1} KB", bytes / 1e3),
        bytes => format!("{} B", small(bytes)),
    }
}

/// A rate in a unit that gives it digits before the point.
pub(crate) fn rate(bps: f64) -> String {
    match bps {
        bps if bps >= 9.995e8 => format!("{} Gbit/s", three_digits(bps / 1e9)),
        bps if bps >= 1e6 => format!("{} Mbit/s", three_digits(bps / 1e6)),
        bps if bps >= 1e3 => format!("{} kbit/s", three_digits(bps / 1e3)),
        bps => format!("{} bit/s", small(bps)),
    }
}

/// Three significant digits of a number from 1 to 1,000.
pub(crate) fn three_digits(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// Two digits of a number that may be far below 1. It is never shown as zero unless it is zero.
fn small(value: f64) -> String {
    let (mut size, mut decimals) = (value.abs(), 0);
    while size > 0.0 && size < 9.5 && decimals < 9 {
        size *= 10.0;
        decimals += 1;
    }
    match size {
        tiny if tiny > 0.0 && tiny < 0.5 => format!("{value:.0e}"),
        _ => format!("{value:.decimals$}"),
    }
}

/// A value of the metric `metric` with its unit, with enough digits to distinguish it from `threshold`, unless both are
/// equal.
pub(crate) fn shown(metric: &str, value: f64, threshold: f64) -> String {
    let unit = METRICS.iter().find(|column| column.name == metric);
    let unit = unit.map_or("", |column| column.unit);
    let coarse = |value: f64| match unit {
        "us" => time(value),
        "bytes" => bytes(value),
        "bit/s" => rate(value),
        "" if value >= 5e-4 => format!("{value:.3}"),
        "" => small(value),
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
pub(crate) fn percent(share: f64) -> String {
    if share.abs() > 0.0 && share.abs() < 5e-4 {
        return format!("{} %", small(share * 100.0));
    }
    let decimals = usize::from(share < 0.0995);
    format!("{:.decimals$} %", share * 100.0)
}

/// Large numbers, rounded.
pub(crate) fn amount(count: f64) -> String {
    match count {
        count if count >= 1e9 => format!("{:.1} thousand million", count / 1e9),
        count if count >= 1e6 => format!("{:.1} million", count / 1e6),
        count => format!("{count:.0}"),
    }
}

/// A number of things on average: `1 flow`, `2.5 flows`.
pub(crate) fn averaged(count: f64, noun: &str) -> String {
    let plural = if (count - 1.0).abs() < f64::EPSILON {
        ""
    } else {
        "s"
    };
    format!("{} {noun}{plural}", rounded(count))
}

/// Whole numbers unchanged, means over seeds with a decimal.
pub(crate) fn rounded(count: f64) -> String {
    match count {
        count if count.fract().abs() < f64::EPSILON => format!("{count:.0}"),
        count if count.abs() < 0.05 => small(count),
        count => format!("{count:.1}"),
    }
}

/// A number of things: `1 claim`, `3 claims`, `2,880 claims`.
pub fn counted(number: impl TryInto<u64>, thing: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// A sentence with its first letter as a capital one.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Digits in threes: `2,880`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A word of a command, in quotes where a shell would change it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,=:+%@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The most rows with unfinished flows that are named; more would bury the answer.
pub(crate) const SHOWN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_zero_is_never_shown_as_zero() {
        let metrics = [
            "goodput_bps",
            "fct_p99_us",
            "queue_mean_bytes",
            "fairness",
            "drops",
        ];
        for exponent in -6..13 {
            for digits in ["1", "1.66", "4.99", "9.99"] {
                let value: f64 = format!("{digits}e{exponent}").parse().expect("a number");
                let texts = metrics.map(|metric| shown(metric, value, 0.0)).into_iter();
                for text in texts.chain([percent(value), rounded(value), rate(value)]) {
                    let has_digit = text.contains(|digit| ('1'..='9').contains(&digit));
                    assert!(has_digit, "{value}: {text}");
                }
            }
        }
        for metric in metrics {
            let text = shown(metric, 0.0, 1.0);
            assert!(text.starts_with('0'), "{metric}: {text}");
        }
    }

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!(
            quoted("workload.senders=1..20:1"),
            "workload.senders=1..20:1"
        );
        assert_eq!(quoted("pareto(50KB, 1.2)"), "'pareto(50KB, 1.2)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_number_of_things_has_digits_in_threes() {
        let counts = [0_u64, 1, 999, 2880].map(|number| counted(number, "claim"));
        assert_eq!(
            counts,
            ["0 claims", "1 claim", "999 claims", "2,880 claims"]
        );
    }

    #[test]
    fn a_rate_has_three_digits_in_its_unit() {
        let rates = [9.96e7, 9.96e6].map(rate);
        assert_eq!(rates, ["99.6 Mbit/s", "9.96 Mbit/s"]);
        let rates = [2.266e10, 9.4e8, 9.4e7, 1.13e9, 16_600.0, 12.0, 0.0];
        assert_eq!(
            rates.map(rate),
            [
                "22.7 Gbit/s",
                "940 Mbit/s",
                "94.0 Mbit/s",
                "1.13 Gbit/s",
                "16.6 kbit/s",
                "12 bit/s",
                "0 bit/s"
            ]
        );
    }
}
