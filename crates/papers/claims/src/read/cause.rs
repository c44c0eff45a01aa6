//! Reading causes.

use std::ops::Range;

use super::Context;
use super::fields::{Fields, Reader};
use crate::{Cause, Clock, Weight};

impl Reader<'_> {
    /// A cause and where its id is written.
    pub(super) fn cause(
        &mut self,
        fields: &Fields<'_>,
        context: &Context,
    ) -> Option<(Cause, Range<usize>)> {
        self.only(
            fields,
            &["id", "says", "set", "at", "weight", "clock", "schemes"],
        );
        let id = self.id(fields);
        let says = self.required_text(fields, "says");
        let schemes = self.schemes(fields, "schemes", context);
        let weights = [("time", Weight::Time), ("change", Weight::Change)];
        let weight = self.choice(fields, "weight", &weights);
        let clocks = [("receiver", Clock::Receiver), ("sender", Clock::Sender)];
        let clock = self.choice(fields, "clock", &clocks);
        let at = self.at(fields, "at", context);
        if !["set", "weight", "clock"].iter().any(|key| fields.has(key)) {
            self.missing(fields, "set");
        }
        let set = self.settings(fields, "set");
        let place = fields.value_place("set");
        for (key, _) in &set {
            let axis = context.axes.iter().find(|(axis, _)| axis == key);
            if axis.is_some_and(|(_, values)| values.len() > 1) {
                let message = format!("{key} is swept, so a cause cannot set it");
                self.wrong(message, place.clone(), "a setting with one value");
            }
            if key.ends_with("seed") {
                let message = format!("{key} picks a draw, and a draw that fits explains nothing");
                self.wrong(message, place.clone(), "a setting of the mechanism");
            }
        }
        if set.is_empty() && weight.is_none() && clock.is_none() {
            return None;
        }
        let cause = Cause {
            id,
            says,
            set,
            at,
            weight,
            clock,
            schemes,
        };
        Some((cause, fields.value_place("id")))
    }
}
