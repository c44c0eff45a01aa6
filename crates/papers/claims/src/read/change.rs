//! Reads changes: other readings of the paper, and causes.

use super::Context;
use super::reader::{Reader, Table};
use super::tree::{Node, Site, split};
use crate::{ExperimentChange, leaf};

impl Reader<'_> {
    /// The tables of `[reading.NAME]`.
    pub(super) fn readings(
        &mut self,
        document: &Node<'_>,
        context: &Context,
    ) -> Vec<ExperimentChange> {
        let Some(all) = document.get_ref().get("reading") else {
            return Vec::new();
        };
        let Some(tables) = all.get_ref().as_table() else {
            let expected = "[reading.text], [reading.code] and their keys below";
            self.wrong("wrong value for reading", all.span(), expected);
            return Vec::new();
        };
        let mut readings: Vec<(usize, ExperimentChange)> = Vec::new();
        for (name, node) in tables {
            let reading = self.reading(name.get_ref(), node, context);
            readings.extend(reading.map(|reading| (name.span().start, reading)));
        }
        readings.sort_by_key(|(place, _)| *place);
        let readings: Vec<ExperimentChange> =
            readings.into_iter().map(|(_, reading)| reading).collect();
        let bases = readings.iter().filter(|reading| reading.is_base()).count();
        if bases > 1 {
            let expected = "set, weight, clock or of_averages in all readings but one";
            let message = "two readings change nothing, so they are the same";
            self.wrong(message, all.span(), expected);
        }
        readings
    }

    fn reading(
        &mut self,
        name: &str,
        node: &Node<'_>,
        context: &Context,
    ) -> Option<ExperimentChange> {
        let (site, what) = (Site::new(node), format!("reading {name}"));
        if !leaf::is_id(name) {
            let message = format!("{name:?} cannot be the name of a reading");
            self.wrong(message, site.place(), leaf::OF_ID);
        }
        for key in ["id", "at"].into_iter().filter(|key| site.has(key)) {
            let message = format!("{key} has no place in a reading");
            let expected = "a name in its heading, and every claim judged at all of its values";
            self.wrong(message, site.key(key).place(), expected);
        }
        let (_, rest) = split(node, &["id", "at"]);
        let reading = self.change((&what, &["says"]), &rest, context)?;
        if name == TEXT && !reading.is_base() {
            let message = "the reading of the text is what the figure itself runs and measures";
            let expected = "the settings in the scenario, and the other reading with its own";
            self.wrong(message, site.place(), expected);
        }
        Some(ExperimentChange {
            id: name.to_owned(),
            ..reading
        })
    }

    pub(super) fn cause(
        &mut self,
        name: &str,
        node: &Node<'_>,
        context: &Context,
    ) -> Option<ExperimentChange> {
        let cause = self.change((name, &["id", "says"]), node, context)?;
        if cause.is_base() {
            self.missing(name, "set", Site::new(node).place());
        }
        Some(cause)
    }

    fn change(
        &mut self,
        (name, required): (&str, &[&str]),
        node: &Node<'_>,
        context: &Context,
    ) -> Option<ExperimentChange> {
        let site = Site::new(node);
        let table = Table {
            name,
            required,
            others: &[],
        };
        let change: ExperimentChange = self.read(&table, node)?;
        self.schemes(&change.schemes, site.key("schemes"), context);
        self.at(&change.at, site.key("at"), context);
        self.settings(site.key("set"));
        let place = || site.key("set").place();
        for (key, _) in &change.set {
            let axis = context.axes.iter().find(|(axis, _)| axis == key);
            if axis.is_some_and(|(_, values)| values.len() > 1) {
                let message = format!("{key} is swept, so {name} cannot set it");
                self.wrong(message, place(), "a setting with one value");
            }
            if key.ends_with("seed") {
                let message = format!("{key} picks a draw, and a draw that fits explains nothing");
                self.wrong(message, place(), "a setting of the mechanism");
            }
        }
        Some(change)
    }
}

/// The name of the reading that totals count: the file's own scenario and measures.
const TEXT: &str = "text";
