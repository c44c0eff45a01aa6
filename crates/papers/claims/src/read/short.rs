//! Expands the short forms of files into the form of the structures that are read.

use std::mem;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tree::{Node, Site};

/// Expands short forms. The name of a metric becomes the table of a measure, a measure a line of a plot, a scheme an
/// operand, and a single value a list where lists are allowed. Texts are trimmed.
pub(super) fn write_out(node: &mut Node<'_>) {
    match node.get_mut() {
        DeValue::String(text) => *text = text.trim().to_owned().into(),
        DeValue::Array(items) => items.iter_mut().for_each(write_out),
        DeValue::Table(table) => {
            for (key, value) in table.iter_mut() {
                match &**key.get_ref() {
                    "measure" | "low" | "high" => write_out_measure(value),
                    "lines" => each(value, |line| {
                        if !Site::new(line).has("measure") {
                            wrap(line, "measure");
                        }
                    }),
                    "at" | "except" | "set" => {
                        if let DeValue::Table(values) = value.get_mut() {
                            values.iter_mut().for_each(|(_, values)| list_texts(values));
                        }
                    }
                    name if LISTS.contains(&name) => list_texts(value),
                    name if LEVELS.contains(&name) => to_text(value),
                    "paper" if !Site::new(value).is_table() => to_list(value),
                    name if OPERANDS.contains(&name) => {
                        if ["among", "sorted"].contains(&name) {
                            to_list(value);
                        }
                        each(value, |operand| {
                            if !Site::new(operand).is_table() {
                                wrap(operand, "scheme");
                            }
                        });
                    }
                    _ => {}
                }
                write_out(value);
            }
        }
        _ => {}
    }
}

/// Expands a measure to `{ source = { flows = { column = "fct_us", ... } }, statistic = ... }`.
fn write_out_measure(node: &mut Node<'_>) {
    if !Site::new(node).is_table() {
        wrap(node, SOURCES[0]);
    }
    let place = node.span();
    let DeValue::Table(table) = node.get_mut() else {
        return;
    };
    let sources = SOURCES.iter().filter_map(|name| table.remove_entry(*name));
    let sources: Vec<_> = sources.collect();
    let mut outer = take(table, &OUTER);
    let mut inner = mem::take(table);
    let levels = take(&mut outer, &["gap", "below", "above"]);
    if let Some(statistic) = outer.get_mut("statistic") {
        write_out_statistic(statistic, &levels);
    }
    if let Some(statistic) = inner.get_mut("each_sender") {
        write_out_statistic(statistic, &DeTable::new());
    }
    let mut source = DeTable::new();
    // None or several leave an empty table. The reader then reports that exactly one is needed.
    if let Ok([(name, mut column)]) = <[_; 1]>::try_from(sources) {
        let (parts, key) = match &**name.get_ref() {
            "metric" => (DeTable::new(), ""),
            "flows" => {
                if inner.contains_key("cluster") {
                    let mut cluster = take(&mut inner, &["cluster"]);
                    cluster.extend(take(&mut levels.clone(), &["gap"]));
                    put(&mut inner, "cluster", &place, DeValue::Table(cluster));
                }
                (take(&mut inner, &CHOSEN), "chosen")
            }
            "events" => {
                list_texts(&mut column);
                (DeTable::new(), "")
            }
            _ => (take(&mut inner, &PORT), "port"),
        };
        if !parts.is_empty() {
            put(&mut inner, key, &place, DeValue::Table(parts));
        }
        if &**name.get_ref() == "metric" {
            outer.extend(mem::take(&mut inner));
            source.insert(name, column);
        } else {
            inner.insert(Spanned::new(name.span(), "column".into()), column);
            source.insert(name, Spanned::new(place.clone(), DeValue::Table(inner)));
        }
    }
    put(&mut outer, "source", &place, DeValue::Table(source));
    *table = outer;
}

/// Expands a statistic with the levels that it needs, as `{ dips = { below = "9" } }`, and a percentile as `{
/// percentile = "99" }`.
fn write_out_statistic<'a>(node: &mut Node<'a>, levels: &DeTable<'a>) {
    let place = node.span();
    let Some(name) = node.get_ref().as_str().map(|name| name.trim().to_owned()) else {
        return;
    };
    let (key, value) = if let Some((one, less)) = name.split_once(" - ") {
        let both = [one, less].map(|part| {
            let mut part = Spanned::new(place.clone(), DeValue::String(part.to_owned().into()));
            write_out_statistic(&mut part, levels);
            part
        });
        ("difference", DeValue::Array(both.into_iter().collect()))
    } else if let Some((key, keys)) = LEVELLED.iter().find(|(key, _)| *key == name) {
        (*key, DeValue::Table(take(&mut levels.clone(), keys)))
    } else if let Some(percent) = name.strip_prefix('p').filter(|text| is_percent(text)) {
        ("percentile", DeValue::String(percent.to_owned().into()))
    } else {
        return;
    };
    *node.get_mut() = value;
    wrap(node, key);
}

fn is_percent(text: &str) -> bool {
    let number = text.parse::<f64>();
    number.is_ok_and(|number| (0.0..=100.0).contains(&number))
}

/// Removes keys from a table.
fn take<'a>(table: &mut DeTable<'a>, names: &[&str]) -> DeTable<'a> {
    names
        .iter()
        .filter_map(|name| table.remove_entry(*name))
        .collect()
}

fn put<'a>(table: &mut DeTable<'a>, key: &'a str, place: &Range<usize>, value: DeValue<'a>) {
    table.insert(
        Spanned::new(place.clone(), key.into()),
        Spanned::new(place.clone(), value),
    );
}

/// Replaces a value by a table that has it as the only value.
fn wrap<'a>(node: &mut Node<'a>, key: &'a str) {
    let place = node.span();
    let value = mem::replace(node.get_mut(), DeValue::Boolean(false));
    let mut table = DeTable::new();
    put(&mut table, key, &place, value);
    *node.get_mut() = DeValue::Table(table);
}

/// Changes the values of a list, or a single value.
fn each<'a>(node: &mut Node<'a>, change: impl FnMut(&mut Node<'a>)) {
    match node.get_mut() {
        DeValue::Array(items) => items.iter_mut().for_each(change),
        _ => [node].into_iter().for_each(change),
    }
}

/// Turns a value into a list of texts.
fn list_texts(node: &mut Node<'_>) {
    each(node, to_text);
    to_list(node);
}

/// Turns the value of a key into a list.
pub(super) fn list(node: &mut Node<'_>, key: &str) {
    if let DeValue::Table(table) = node.get_mut()
        && let Some(value) = table.get_mut(key)
    {
        to_list(value);
    }
}

fn to_list(node: &mut Node<'_>) {
    if !node.get_ref().is_array() {
        let value = mem::replace(node.get_mut(), DeValue::Boolean(false));
        let single = Spanned::new(node.span(), value);
        *node.get_mut() = DeValue::Array([single].into_iter().collect());
    }
}

/// Turns a number or a boolean into a text.
fn to_text(node: &mut Node<'_>) {
    let text = match node.get_ref() {
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => {
            let value = number.as_str().parse::<f64>();
            value.map_or_else(|_| number.to_string(), |value| value.to_string())
        }
        DeValue::Boolean(truth) => truth.to_string(),
        _ => return,
    };
    *node.get_mut() = DeValue::String(text.into());
}

/// The keys of a file that stand for a key of the expanded form, if it has others.
pub(super) fn keys_of(name: &str) -> Vec<&str> {
    match name {
        "source" => SOURCES.to_vec(),
        "column" => OUTER.to_vec(),
        "chosen" => CHOSEN.to_vec(),
        "port" => PORT.to_vec(),
        "percentile" => vec!["p99"],
        "difference" => vec!["p99 - p1"],
        name => vec![name],
    }
}

/// The sources of a measure; each measure has one.
const SOURCES: [&str; 6] = ["metric", "flows", "ports", "series", "events", "model"];

/// Keys of a measure with any source.
const OUTER: [&str; 5] = ["statistic", "gap", "below", "above", "reduction_from"];

/// Statistics that need levels, with their keys.
const LEVELLED: [(&str, &[&str]); 4] = [
    ("share", &["below", "above"]),
    ("clusters", &["gap"]),
    ("dips", &["below"]),
    ("oscillations", &["below", "above"]),
];

/// Keys that choose flows.
const CHOSEN: [&str; 5] = ["group", "size", "during", "common_to", "cluster"];

/// Keys that choose ports.
const PORT: [&str; 3] = ["from", "to", "bottleneck"];

/// Keys whose values are lists of texts, or a single text.
const LISTS: [&str; 8] = [
    "claims",
    "common_to",
    "during",
    "figures",
    "location",
    "schemes",
    "size",
    "sizes",
];

/// Keys whose values are numbers with optional units.
const LEVELS: [&str; 6] = ["level", "within", "gap", "below", "above", "window"];

/// Keys of claims whose values are schemes, or tables with a scheme.
const OPERANDS: [&str; 7] = [
    "of", "against", "among", "lowest", "highest", "sorted", "than",
];
