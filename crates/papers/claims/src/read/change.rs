//! Reading causes.

use super::Context;
use super::reader::{Reader, Table};
use super::tree::{Node, Site};
use crate::Cause;

impl Reader<'_> {
    pub(super) fn cause(
        &mut self,
        name: &str,
        node: &Node<'_>,
        context: &Context,
    ) -> Option<Cause> {
        let site = Site::new(node);
        let table = Table {
            name,
            required: &["id", "says"],
            others: &[],
        };
        if !["set", "weight", "clock"].iter().any(|key| site.has(key)) {
            self.missing(name, "set", site.place());
        }
        let cause: Cause = self.read(&table, node)?;
        self.schemes(&cause.schemes, site.key("schemes"), context);
        self.at(&cause.at, site.key("at"), context);
        self.settings(site.key("set"));
        let place = || site.key("set").place();
        for (key, _) in &cause.set {
            let axis = context.axes.iter().find(|(axis, _)| axis == key);
            if axis.is_some_and(|(_, values)| values.len() > 1) {
                let message = format!("{key} is swept, so a cause cannot set it");
                self.wrong(message, place(), "a setting with one value");
            }
            if key.ends_with("seed") {
                let message = format!("{key} picks a draw, and a draw that fits explains nothing");
                self.wrong(message, place(), "a setting of the mechanism");
            }
        }
        Some(cause)
    }
}
