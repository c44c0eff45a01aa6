//! Reading causes.

use std::ops::Range;

use super::Context;
use super::fields::{Fields, Reader};
use crate::{Cause, Change, Claim, Weight};

impl Reader<'_> {
    /// A cause and where its id is written.
    pub(super) fn cause(
        &mut self,
        fields: &Fields<'_>,
        context: &Context,
        claims: &[String],
    ) -> Option<(Cause, Range<usize>)> {
        self.only(
            fields,
            &["id", "says", "set", "weight", "schemes", "claims"],
        );
        let id = self.id(fields);
        let says = self.required_text(fields, "says");
        let schemes = self.schemes(fields, "schemes", context);
        let explained = self.words(fields, "claims");
        if explained.is_empty() {
            self.missing(fields, "claims");
        }
        for word in &explained {
            if !claims.contains(&word.text) {
                self.unknown("claim", word, claims.iter().map(String::as_str));
            }
        }
        let weights = [("time", Weight::Time), ("change", Weight::Change)];
        let weight = self.choice(fields, "weight", &weights);
        if !fields.has("set") && !fields.has("weight") {
            self.missing(fields, "set");
        }
        let mut set = self.settings(fields, "set");
        let place = fields.value_place("set");
        for (key, _) in &set {
            let axis = context.axes.iter().find(|(axis, _)| axis == key);
            if axis.is_some_and(|(_, values)| values.len() > 1) {
                let message = format!("{key} is swept, so a cause cannot set it");
                self.wrong(message, place.clone(), "a setting with one value");
            }
        }
        if set.len() + usize::from(weight.is_some()) > 1 {
            let message = "a cause changes one setting".to_owned();
            self.wrong(
                message,
                place,
                "one key: two changes at once explain nothing",
            );
        }
        let cause = Cause {
            id,
            says,
            change: match (set.pop(), weight) {
                (Some((key, value)), _) => Change::Setting(key, value),
                (None, weight) => Change::Weight(weight?),
            },
            schemes,
            claims: explained.into_iter().map(|word| word.text).collect(),
        };
        Some((cause, fields.value_place("id")))
    }

    /// Complains of a cause that does not run a scheme again whose flows a claim looks at.
    pub(super) fn whole_comparison(
        &mut self,
        cause: &Cause,
        claims: &[Claim],
        place: &Range<usize>,
    ) {
        if cause.schemes.is_empty() {
            return;
        }
        let claims = claims
            .iter()
            .filter(|claim| cause.claims.contains(&claim.id));
        for claim in claims {
            let mut operands = claim.kind.operands().into_iter();
            let missing = operands.find_map(|operand| {
                let mut others = operand.measure.other_schemes();
                others.find(|other| !cause.schemes.iter().any(|scheme| scheme == other))
            });
            if let Some(other) = missing {
                let message = format!(
                    "{} does not run {other} again, with which {} compares",
                    cause.id, claim.id
                );
                let expected = format!("{other} among schemes, or no schemes for all");
                self.wrong(message, place.clone(), &expected);
            }
        }
    }
}
