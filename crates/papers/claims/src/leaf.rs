//! Values that are checked while they are read. An error has two lines: the mistake (empty if the key alone says it),
//! and the remedy.
//!
//! Binary formats, such as [`Plot::to_bytes`](crate::Plot::to_bytes), hold the values as they are in memory.

use std::collections::BTreeMap;
use std::fmt;

use plan::suggest;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::unit::{Dimension, Level};

/// A wrong value of a key.
pub(super) fn wrong<E: Error>(expected: impl fmt::Display) -> E {
    E::custom(format!("\nexpected {expected}"))
}

/// The error of a name that is not in `known`, and the remedy.
pub(super) fn unlisted<'a>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> (String, String) {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = suggest::did_you_mean(name, known.iter().copied());
    let list = match known.len() {
        0 => "there is none".to_owned(),
        1..=MOST_LISTED => format!("there are: {}", known.join(", ")),
        _ => "`tailwater list keys` and `explain results` print all names".to_owned(),
    };
    (
        format!("there is no {what} {name:?}"),
        format!("{nearest}{list}"),
    )
}

/// One of the names that something has.
pub(super) fn listed<'de, D: Deserializer<'de>>(
    from: D,
    what: &str,
    known: impl Iterator<Item = &'static str> + Clone,
) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    known.clone().find(|known| *known == name).ok_or_else(|| {
        let (message, help) = unlisted(what, &name, known);
        D::Error::custom(format!("{message}\n{help}"))
    })
}

/// A table with free keys, in the order of the file.
fn ordered<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, T)>, D::Error> {
    let entries = BTreeMap::<Spanned<String>, T>::deserialize(from)?;
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    Ok(entries
        .into_iter()
        .map(|(key, value)| (key.into_inner(), value))
        .collect())
}

/// Texts by key.
type Texts = Vec<(String, Vec<String>)>;

/// Values of swept settings.
pub(crate) fn at<'de, D: Deserializer<'de>>(from: D) -> Result<Texts, D::Error> {
    if !from.is_human_readable() {
        return Texts::deserialize(from);
    }
    ordered(from)
}

/// Settings with the texts of their values, joined by commas.
pub(crate) fn settings<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, String)>, D::Error> {
    let settings = ordered::<Vec<String>, _>(from)?.into_iter();
    Ok(settings
        .map(|(key, values)| (key, values.join(",")))
        .collect())
}

/// Points by scheme.
type Points = Vec<(String, Vec<(f64, f64)>)>;

/// The points of each scheme in the paper's figure.
pub(crate) fn points<'de, D: Deserializer<'de>>(from: D) -> Result<Points, D::Error> {
    if !from.is_human_readable() {
        return Points::deserialize(from);
    }
    let entries = ordered::<Vec<Vec<f64>>, _>(from)?.into_iter();
    let entries = entries.map(|(scheme, points)| {
        let points = points.iter().map(|point| match point[..] {
            [x, y] => Ok((x, y)),
            _ => Err(wrong("pairs of numbers, as in [[10, 1.5], [20, 3]]")),
        });
        Ok((scheme, points.collect::<Result<_, _>>()?))
    });
    entries.collect()
}

/// Both ends of a range.
pub(crate) fn range<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(f64, f64)>, D::Error> {
    if !from.is_human_readable() {
        return Option::deserialize(from);
    }
    match Vec::<f64>::deserialize(from)?[..] {
        [low, high] if low <= high => Ok(Some((low, high))),
        _ => Err(wrong("two numbers in ascending order")),
    }
}

/// The name of a claim or cause.
pub(crate) fn id<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let id = String::deserialize(from)?;
    if is_id(&id) {
        return Ok(id);
    }
    Err(D::Error::custom(format!(
        "{id:?} cannot be an id\nexpected {OF_ID}"
    )))
}

/// Whether a text is a valid name of a claim, a cause or a reading.
pub(crate) fn is_id(text: &str) -> bool {
    let correct = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.chars().all(correct)
}

/// The parts of such a name.
pub(crate) const OF_ID: &str = "letters, digits and dashes, which can be typed on a command line";

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let (value, unit) = Deserialize::deserialize(deserializer)?;
            return Ok(Self { value, unit });
        }
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| wrong("a number, with its unit if it has one"))
    }
}

/// A size of flows.
pub(super) fn size<E: Error>(level: Level, expected: &str) -> Result<Level, E> {
    let known = !level.unit.is_empty() && level.in_column(Dimension::Bytes, 1.0).is_some();
    known.then_some(level).ok_or_else(|| wrong(expected))
}

/// The size of one flow.
pub(crate) fn one_size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Level>, D::Error> {
    if !from.is_human_readable() {
        return Option::deserialize(from);
    }
    let expected = "one size with its unit";
    match <[Level; 1]>::try_from(Vec::deserialize(from)?) {
        Ok([level]) => size(level, expected).map(Some),
        Err(_) => Err(wrong(expected)),
    }
}

/// Sizes of flows along an axis.
pub(crate) fn sizes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Level>, D::Error> {
    if !from.is_human_readable() {
        return Vec::deserialize(from);
    }
    let expected = "sizes with units in ascending order, as in [\"10KB\", \"1MB\"]";
    let sizes = Vec::<Level>::deserialize(from)?;
    let sizes = sizes.into_iter().map(|level| size(level, expected));
    let sizes = sizes.collect::<Result<Vec<_>, D::Error>>()?;
    // A full packet counts with its usual size, because it is not mixed with bytes.
    let bytes = |size: &Level| size.in_column(Dimension::Bytes, 1500.0);
    let ascending = sizes.is_sorted_by(|a, b| bytes(a) < bytes(b));
    ascending.then_some(sizes).ok_or_else(|| wrong(expected))
}

/// A time in microseconds.
pub(crate) fn microseconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    if !from.is_human_readable() {
        return Option::deserialize(from);
    }
    let level = Level::deserialize(from)?;
    let us = level.in_column(Dimension::Time, 1.0);
    let us = us.filter(|us| *us > 0.0 && !level.unit.is_empty());
    us.map(Some)
        .ok_or_else(|| wrong("a time with its unit, above 0"))
}

/// A gap between completions in microseconds.
pub(crate) fn gap<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    if !from.is_human_readable() {
        return f64::deserialize(from);
    }
    let us = Level::deserialize(from)?.in_column(Dimension::Time, 1.0);
    us.ok_or_else(|| wrong("a time with its unit"))
}

/// The per cent of a percentile, from its name.
pub(super) fn percent<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    if !from.is_human_readable() {
        return f64::deserialize(from);
    }
    let percent = String::deserialize(from)?.parse();
    percent.map_err(|_| wrong("a percentile, as in p99"))
}

/// `switch 2`, `host 0`, or all nodes of a kind.
pub(crate) fn node<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    if !from.is_human_readable() {
        return Option::deserialize(from);
    }
    let text = String::deserialize(from)?;
    let (kind, number) = text.split_once(' ').unwrap_or((&text, "0"));
    if matches!(kind, "switch" | "host") && number.parse::<u32>().is_ok() {
        return Ok(Some(text));
    }
    Err(wrong(
        "\"switch 0\", \"host 3\", or \"switch\" or \"host\" for all of them",
    ))
}

/// The most names that a message lists.
const MOST_LISTED: usize = 30;
