//! Tables that are written once for many values.
//!
//! `each` in a table of `[[claim]]`, `[[plot]]` or `[[cause]]` is a list of rows. The table stands for one table for
//! each row. In a text, `{name}` is replaced by the row's value of this name; a name that no text uses becomes a key.
//! `[values]` of a figure has such names for all of its tables, mainly for shared ones.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value with its place.
type Node<'a> = Spanned<DeValue<'a>>;

/// A mistake in the rows of a table, or in the values of a figure.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mistake {
    /// The mistake.
    pub message: String,
    /// Its first and last byte in the text.
    pub place: Range<usize>,
    /// How to mend it.
    pub help: String,
}

/// Expands the rows of all claims, plots and causes of a figure into tables, and adds the figure's place in the paper
/// to claims without one. Values of a row keep their place in the text, everything else keeps the place of the table
/// with the list.
pub fn write_out(figure: &mut DeTable<'_>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let values = figure.remove(VALUES);
    let values = values
        .as_ref()
        .and_then(|values| values.get_ref().as_table());
    let mut used = BTreeSet::new();
    for name in TABLES {
        let Some(list) = figure.get_mut(name).map(Spanned::get_mut) else {
            continue;
        };
        let mut tables = match mem::replace(list, DeValue::Boolean(false)) {
            DeValue::Array(tables) => tables,
            other => {
                *list = other;
                continue;
            }
        };
        for table in tables.iter_mut() {
            let mut filler = Filler::of(values);
            filler.fill(table);
            mistakes.append(&mut filler.mistakes);
            used.append(&mut filler.used);
        }
        let all = tables.into_iter();
        *list = DeValue::Array(all.flat_map(|table| rows(table, &mut mistakes)).collect());
    }
    let names = values.into_iter().flat_map(DeTable::keys);
    let unused = names.filter(|name| !used.contains(&**name.get_ref()));
    mistakes.extend(unused.map(|name| Mistake {
        message: format!("no table has {{{}}}", name.get_ref()),
        place: name.span(),
        help: "use the name in braces in a claim, plot or cause, or leave the line out".to_owned(),
    }));
    add_place(figure);
    mistakes
}

/// The tables that one table stands for: itself, if it has no rows.
fn rows<'a>(mut table: Node<'a>, mistakes: &mut Vec<Mistake>) -> Vec<Node<'a>> {
    let each = match table.get_mut() {
        DeValue::Table(keys) => keys.remove(EACH),
        _ => None,
    };
    let Some(each) = each else {
        return vec![table];
    };
    let list = each.get_ref().as_array();
    let rows =
        list.filter(|list| !list.is_empty() && list.iter().all(|row| row.get_ref().is_table()));
    let Some(rows) = rows else {
        let example = format!("{EACH} = [{{ id = \"a\" }}, {{ id = \"b\" }}]");
        mistakes.push(Mistake {
            message: format!("wrong value for {EACH}"),
            place: each.span(),
            help: format!("expected a list of tables, as in {example}"),
        });
        return vec![table];
    };
    let tables = rows.iter().map(|row| {
        let mut filler = Filler::of(row.get_ref().as_table());
        let mut table = table.clone();
        filler.fill(&mut table);
        filler.add(&mut table);
        mistakes.append(&mut filler.mistakes);
        mistakes.extend(filler.missing.into_iter().map(|(name, text)| Mistake {
            message: format!("the row has no {name}"),
            place: row.span(),
            help: format!("add {name} = ... for the text {text:?}"),
        }));
        table
    });
    tables.collect()
}

/// Replaces names by values.
struct Filler<'r, 'a> {
    values: Option<&'r DeTable<'a>>,
    /// Names that some text has.
    used: BTreeSet<String>,
    /// Names in texts without a value, each with its text.
    missing: Vec<(String, String)>,
    mistakes: Vec<Mistake>,
}

impl<'r, 'a> Filler<'r, 'a> {
    fn of(values: Option<&'r DeTable<'a>>) -> Self {
        Self {
            values,
            used: BTreeSet::new(),
            missing: Vec::new(),
            mistakes: Vec::new(),
        }
    }

    /// Replaces names by its values.
    fn fill(&mut self, node: &mut Node<'a>) {
        match node.get_mut() {
            DeValue::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            DeValue::Table(table) => table.iter_mut().for_each(|(_, value)| self.fill(value)),
            DeValue::String(text) => {
                let whole = hole(text).filter(|(before, _, after)| before.len() + after.len() == 0);
                let value = whole.and_then(|(_, name, _)| self.value(name));
                match value {
                    Some(value) => *node = value.clone(),
                    None => *text = self.filled(text).into(),
                }
            }
            _ => {}
        }
    }

    /// Adds values that no text uses as keys of the table.
    fn add(&self, node: &mut Node<'a>) {
        if let DeValue::Table(table) = node.get_mut() {
            let keys = self.values.into_iter().flatten();
            let keys = keys.filter(|(name, _)| !self.used.contains(&**name.get_ref()));
            for (name, value) in keys {
                // Without removing it first, an existing key would keep its old place.
                table.remove(&**name.get_ref());
                table.insert(name.clone(), value.clone());
            }
        }
    }

    fn value(&mut self, name: &str) -> Option<&'r Node<'a>> {
        let value = self.values?.get(name)?;
        self.used.insert(name.to_owned());
        Some(value)
    }

    /// A text with names replaced by values; a name without a value stays.
    fn filled(&mut self, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, name, after)) = hole(rest) {
            filled += before;
            match self.value(name).map(|value| (words(value), value.span())) {
                Some((Some(words), _)) => filled += &words,
                Some((None, place)) => self.mistakes.push(Mistake {
                    message: format!("{name} has no place within a text"),
                    place,
                    help: "expected a text, a number or a truth value".to_owned(),
                }),
                None => {
                    filled.extend(["{", name, "}"]);
                    self.missing.push((name.to_owned(), text.to_owned()));
                }
            }
            rest = after;
        }
        filled + rest
    }
}

/// Gives claims without a place the figure's place, with its section if it is known.
fn add_place(figure: &mut DeTable<'_>) {
    let Some(name) = figure.get("figure") else {
        return;
    };
    let section = figure
        .get("section")
        .and_then(|section| section.get_ref().as_str());
    let mut place = name.clone();
    if let (Some(section), Some(name)) = (section, name.get_ref().as_str()) {
        *place.get_mut() = DeValue::String(format!("{section}, {name}").into());
    }
    let claims = match figure.get_mut("claim").map(Spanned::get_mut) {
        Some(DeValue::Array(claims)) => claims.iter_mut(),
        _ => return,
    };
    for claim in claims {
        if let DeValue::Table(claim) = claim.get_mut()
            && !claim.contains_key(WHERE)
        {
            claim.insert(Spanned::new(place.span(), WHERE.into()), place.clone());
        }
    }
}

/// The first name in braces, with the text before and after it.
fn hole(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// A value in its notation, without quotes; `None` for a list or a table.
fn words(value: &Node<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// The table of values for all tables of a figure.
const VALUES: &str = "values";

/// The key of a list of rows.
const EACH: &str = "each";

/// The key of a place in the paper.
const WHERE: &str = "where";

/// Tables that may have rows.
const TABLES: [&str; 3] = ["claim", "plot", "cause"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use toml::Table;
    use toml::de::ValueDeserializer;

    fn written_out(text: &str) -> (Table, Vec<Mistake>) {
        let mut figure = DeTable::parse(text).unwrap().into_inner();
        let mistakes = write_out(&mut figure);
        let node = Spanned::new(0..0, DeValue::Table(figure));
        (
            Table::deserialize(ValueDeserializer::from(node)).unwrap(),
            mistakes,
        )
    }

    #[test]
    fn a_table_stands_for_one_of_each_row() {
        let (short, mistakes) = written_out(
            "[[claim]]\nid = \"first\"\n\
             [[claim]]\nsays = \"{percent} % take {paper} s\"\nmeasure = { size = [\"0B\", \"{size}\"] }\n\
             at = { load = \"{load}\" }\npaper = \"{paper}\"\nunit = \"s\"\neach = [\n\
             { id = \"a\", percent = 10, load = 0.10, size = \"1KB\", paper = 0.50 },\n\
             { id = \"b\", percent = 20, load = [0.2, 0.3], size = \"2KB\", paper = 2, unit = \"ms\" },\n]\n",
        );
        assert_eq!(mistakes, []);
        let (long, _) = written_out(
            "[[claim]]\nid = \"first\"\n\
             [[claim]]\nid = \"a\"\nsays = \"10 % take 0.50 s\"\nmeasure = { size = [\"0B\", \"1KB\"] }\n\
             at = { load = 0.1 }\npaper = 0.5\nunit = \"s\"\n\
             [[claim]]\nid = \"b\"\nsays = \"20 % take 2 s\"\nmeasure = { size = [\"0B\", \"2KB\"] }\n\
             at = { load = [0.2, 0.3] }\npaper = 2\nunit = \"ms\"\n",
        );
        assert_eq!(short, long);
    }

    #[test]
    fn a_claim_without_a_place_has_that_of_the_figure() {
        let places = |head: &str| {
            let text = format!("{head}[[claim]]\nid = \"a\"\n[[claim]]\nwhere = \"§2\"\n");
            let (table, _) = written_out(&text);
            [0, 1].map(|index| table["claim"][index].get("where").cloned())
        };
        let place = |text: &str| Some(toml::Value::String(text.to_owned()));
        assert_eq!(
            places("figure = \"Fig. 1\"\n"),
            [place("Fig. 1"), place("§2")]
        );
        let with_section = "section = \"§6.1\"\nfigure = \"Fig. 1\"\n";
        assert_eq!(places(with_section), [place("§6.1, Fig. 1"), place("§2")]);
        assert_eq!(places(""), [None, place("§2")]);
    }

    #[test]
    fn a_figure_has_values_for_tables_that_it_shares() {
        let text = "[values]\nnetwork = \"ESnet\"\ntcp = 0.2\nother = 1\n\
                    [[claim]]\nsays = \"{name} in {network}\"\nsize = \"{size}\"\neach = [\n\
                    { id = \"a\", name = \"TCP takes {tcp} s\", size = \"{tcp}\" },\n]\n\
                    [[cause]]\nsays = \"{network} and {nothing}\"\n";
        let (short, mistakes) = written_out(text);
        let (long, _) = written_out(
            "[[claim]]\nid = \"a\"\nsays = \"TCP takes 0.2 s in ESnet\"\nsize = 0.2\n\
             [[cause]]\nsays = \"ESnet and {nothing}\"\n",
        );
        assert_eq!(short, long);
        let [mistake] = &mistakes[..] else {
            panic!("{mistakes:?}");
        };
        assert_eq!(
            (&*mistake.message, &text[mistake.place.clone()]),
            ("no table has {other}", "other")
        );
    }

    #[test]
    fn braces_in_a_table_without_rows_are_a_text() {
        let (table, mistakes) = written_out("[[claim]]\nsays = \"{load}\"\n");
        assert_eq!(mistakes, []);
        assert_eq!(table["claim"][0]["says"].as_str(), Some("{load}"));
    }

    #[test]
    fn what_is_wrong_with_a_row_has_its_place() {
        let text = "[[claim]]\nsays = \"{load} and {sizes}\"\neach = [{ sizes = [1] }]\n[[plot]]\neach = []\n";
        let (_, mistakes) = written_out(text);
        let found = mistakes.iter();
        let found: Vec<_> = found
            .map(|mistake| (&*mistake.message, &text[mistake.place.clone()]))
            .collect();
        assert_eq!(
            found,
            [
                ("sizes has no place within a text", "[1]"),
                ("the row has no load", "{ sizes = [1] }"),
                ("wrong value for each", "[]"),
            ]
        );
    }
}
