//! Numbers in units for readers, and settings as numbers.

use sim::columns::METRICS;

use base::cast::integer;

/// A unit for showing values: the divisor, and its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) size: f64,
    pub(crate) name: &'static str,
}

/// The unit for values of a column with the unit `unit`, up to `greatest`.
pub(crate) fn unit(unit: &str, greatest: f64) -> Unit {
    let choices: &[(f64, &'static str)] = match unit {
        "us" => &[(1e6, "s"), (1e3, "ms"), (1.0, "µs")],
        "bytes" => &[(1e6, "MB"), (1e3, "KB"), (1.0, "bytes")],
        "bit/s" => &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")],
        _ => &[(1.0, "")],
    };
    let fits = choices.iter().find(|(size, _)| greatest >= 1.5 * size);
    let (size, name) = *fits.unwrap_or(&choices[choices.len() - 1]);
    Unit { size, name }
}

/// A text with a space between every number and its unit: `< 5 ms` of `< 5ms`.
pub(crate) fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 1);
    let mut before = ' ';
    for letter in text.chars() {
        if before.is_ascii_digit() && letter.is_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(letter);
        before = letter;
    }
    spaced
}

/// The unit of a metric.
pub(crate) fn of_metric(metric: &str) -> &'static str {
    let column = METRICS.iter().find(|column| column.name == metric);
    column.map_or("", |column| column.unit)
}

/// A value of a metric in a unit that suits values up to `greatest`.
pub(crate) fn amount(metric: &str, value: f64, greatest: f64) -> String {
    let unit = unit(of_metric(metric), greatest.abs());
    let number = number(value / unit.size, 3);
    match unit.name {
        "" => number,
        name => format!("{number} {name}"),
    }
}

/// A number with about `digits` significant digits, in full: `0.0123`, `12.3`, `12300`.
pub(crate) fn number(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let exponent = integer(libm::floor(libm::log10(value.abs())));
    let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        let trimmed = text.trim_end_matches('0').trim_end_matches('.');
        return trimmed.to_owned();
    }
    text
}

/// Settings as numbers of one unit, if they all are quantities of one kind.
pub(crate) fn quantities(texts: &[&str]) -> Option<(Vec<f64>, &'static str)> {
    let parsed: Option<Vec<_>> = texts.iter().map(|text| quantity(text)).collect();
    let parsed = parsed?;
    let (_, first, kind) = *parsed.first()?;
    if parsed.iter().any(|(_, _, other)| *other != kind) {
        return None;
    }
    // The values keep their typed form if all have one unit.
    let same = parsed.iter().all(|(_, unit, _)| unit.name == first.name);
    let greatest = parsed.iter().map(|(value, unit, _)| value * unit.size);
    let shown = if same {
        first
    } else {
        unit(kind, greatest.fold(0.0, f64::max))
    };
    let values = parsed
        .iter()
        .map(|(value, unit, _)| value * unit.size / shown.size);
    Some((values.collect(), shown.name))
}

/// A quantity such as `10ms` as a number in the unit of an axis, if both are of one kind.
pub(crate) fn in_unit(text: &str, unit: &str) -> Option<f64> {
    let (value, own, kind) = quantity(text)?;
    let found = SUFFIXES
        .iter()
        .find(|(_, name, other)| shown(name) == unit && *other == kind);
    let (size, ..) = found?;
    Some(value * own.size / size)
}

/// The factor from the unit `from` to the `wanted` one, and its name. The factor is 1 if the wanted unit is of another
/// kind.
pub(crate) fn converted(from: &str, wanted: Option<&str>) -> (f64, String) {
    let known = |name: &str| {
        let found = SUFFIXES
            .iter()
            .find(|(_, own, _)| shown(own) == shown(name));
        found.map(|(size, _, kind)| (*size, *kind))
    };
    match wanted {
        // A plain number as a share in per cent, as in a load of 0.6.
        Some("%") if from.is_empty() => (100.0, "%".to_owned()),
        Some(wanted) => match (known(from), known(wanted)) {
            (Some((own, kind)), Some((size, other))) if kind == other => {
                (own / size, wanted.to_owned())
            }
            // The unit of counted things may be their name.
            _ if from.is_empty() => (1.0, wanted.to_owned()),
            _ => (1.0, from.to_owned()),
        },
        None => (1.0, from.to_owned()),
    }
}

/// A unit as texts have it.
fn shown(name: &str) -> &str {
    match name {
        "us" => "µs",
        "B" => "bytes",
        "pkt" => "packets",
        "bps" => "bit/s",
        "kbps" | "Kbps" => "kbit/s",
        "Mbps" => "Mbit/s",
        "Gbps" => "Gbit/s",
        name => name,
    }
}

/// A number, its unit, and the kind of the unit.
fn quantity(text: &str) -> Option<(f64, Unit, &'static str)> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic() || letter == '%');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let value: f64 = number.trim().parse().ok()?;
    let (size, name, kind) = SUFFIXES
        .iter()
        .find(|(_, name, _)| *name == suffix)
        .copied()?;
    let name = match name {
        "us" | "B" | "pkt" => shown(name),
        name => name,
    };
    value
        .is_finite()
        .then_some((value, Unit { size, name }, kind))
}

/// A setting in bytes, where a full packet has `packet` of them.
pub(crate) fn bytes(text: &str, packet: f64) -> Option<f64> {
    let (value, unit, kind) = quantity(text)?;
    match (kind, unit.name) {
        ("bytes", _) => Some(value * unit.size),
        (_, "packets") if packet > 0.0 => Some(value * packet),
        _ => None,
    }
}

/// The suffixes of quantities in scenarios: size, name, kind.
const SUFFIXES: [(f64, &str, &str); 25] = [
    (1.0, "", ""),
    (1.0, "%", "%"),
    (1.0, "pkt", "packets"),
    (1e-6, "ps", "us"),
    (1e-3, "ns", "us"),
    (1.0, "us", "us"),
    (1e3, "ms", "us"),
    (1e6, "s", "us"),
    (1.0, "B", "bytes"),
    (1e3, "KB", "bytes"),
    (1e6, "MB", "bytes"),
    (1e9, "GB", "bytes"),
    (1024.0, "KiB", "bytes"),
    (1_048_576.0, "MiB", "bytes"),
    (1_073_741_824.0, "GiB", "bytes"),
    (1.0, "bps", "bit/s"),
    (1e3, "Kbps", "bit/s"),
    (1e3, "kbps", "bit/s"),
    (1e6, "Mbps", "bit/s"),
    (1e9, "Gbps", "bit/s"),
    (1.0, "bit", "bit/s"),
    (1e3, "kbit", "bit/s"),
    (1e6, "Mbit", "bit/s"),
    (1e9, "Gbit", "bit/s"),
    (1e3, "kB", "bytes"),
];

/// A key in words: `switch.ecn_threshold` becomes `ECN threshold`.
pub(crate) fn words(key: &str) -> String {
    let last = key.rsplit('.').next().unwrap_or(key);
    let words = last.split('_').enumerate().map(|(index, word)| match word {
        "ecn" | "fct" | "rto" | "mss" | "tcp" | "rtt" | "syn" | "ssthresh" => {
            word.to_ascii_uppercase()
        }
        _ if index == 0 => capital(word),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The text with a capital first letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The text with a small first letter, unless it begins with an abbreviation.
pub(crate) fn lower(text: &str) -> String {
    let mut letters = text.chars();
    let (Some(first), second) = (letters.next(), letters.next()) else {
        return String::new();
    };
    if second.is_some_and(|second| second.is_ascii_uppercase()) {
        return text.to_owned();
    }
    let rest = &text[first.len_utf8()..];
    format!("{}{rest}", first.to_ascii_lowercase())
}

/// Turns a text of [`place`] into one of [`short_place`].
pub(crate) fn shortened(text: &str) -> String {
    let parts = text.split(", ").map(|part| match part.split_once(" = ") {
        Some((key, value)) => format!("{} {value}", lower(&words(key))),
        None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Like [`place`], but with only the last word of keys: `ECN threshold 30KB, min RTO 1ms`.
pub(crate) fn short_place(set: &[(String, String)]) -> String {
    let words = set.iter().map(|(key, value)| match key.as_str() {
        "workload.senders" => place(&[(key.clone(), value.clone())]),
        _ => format!("{} {value}", lower(&words(key))),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Values of swept settings in words: `100 senders, buffer = 64KB`.
pub(crate) fn place(set: &[(String, String)]) -> String {
    let words = set.iter().map(|(key, value)| match key.as_str() {
        "workload.senders" if value == "1" => "1 sender".into(),
        "workload.senders" => format!("{value} senders"),
        _ => format!("{key} = {value}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_stands_between_a_number_and_its_unit() {
        let spaces = [
            ("< 5ms", "< 5 ms"),
            ("<= 1.5Gbps", "<= 1.5 Gbps"),
            ("> 5 %", "> 5 %"),
            ("= 0", "= 0"),
        ];
        for (text, expected) in spaces {
            assert_eq!(spaced(text), expected);
        }
    }

    #[test]
    fn an_axis_may_have_another_unit_than_its_setting() {
        assert_eq!(converted("KB", Some("MB")), (1e-3, "MB".to_owned()));
        assert_eq!(converted("", Some("%")), (100.0, "%".to_owned()));
        assert_eq!(converted("ms", Some("KB")), (1.0, "ms".to_owned()));
        assert_eq!(
            converted("Gbps", Some("Mbit/s")),
            (1e3, "Mbit/s".to_owned())
        );
    }

    #[test]
    fn settings_are_numbers_of_one_unit_or_names() {
        assert_eq!(quantities(&["10", "20"]), Some((vec![10.0, 20.0], "")));
        assert_eq!(
            quantities(&["64KB", "128KB"]),
            Some((vec![64.0, 128.0], "KB"))
        );
        assert_eq!(quantities(&["500us", "2ms"]), Some((vec![0.5, 2.0], "ms")));
        assert_eq!(quantities(&["64KB", "80pkt"]), None);
        assert_eq!(quantities(&["on", "off"]), None);
    }

    #[test]
    fn numbers_are_short_and_in_full() {
        let shown = [0.0, 0.012_345, 1.0, 12.345, 99.96, 123_456.0].map(|value| number(value, 3));
        assert_eq!(shown, ["0", "0.0123", "1", "12.3", "100", "123456"]);
    }

    #[test]
    fn a_place_is_shortened_as_if_it_had_been_made_short() {
        let set = [("switch.buffer", "64KB"), ("workload.senders", "20")];
        let set = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(shortened(&place(&set)), short_place(&set));
        assert_eq!(shortened("rcc, tcp.min_rto = 1ms"), "rcc, min RTO 1ms");
    }

    #[test]
    fn keys_become_labels() {
        assert_eq!(words("workload.senders"), "Senders");
        assert_eq!(words("switch.ecn_threshold"), "ECN threshold");
        assert_eq!(words("tcp.min_rto"), "Min RTO");
    }
}
