//! Reading what a claim compares: schemes, each with what is measured of it.

use std::ops::Range;

use toml_edit::{Item, TableLike, Value};

use super::Runs;
use super::fields::{Fields, Reader, Word, scalar};
use crate::{At, Measure, Operand};

/// What the operands of a claim have in common.
pub(super) struct Common<'a> {
    pub(super) runs: Runs<'a>,
    pub(super) measure: Option<Measure>,
}

impl Reader<'_> {
    /// A scheme or a table by the name of its key.
    pub(super) fn operand(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        common: &Common<'_>,
    ) -> Option<Operand> {
        let item = fields.get(name)?;
        let place = fields.value_place(name);
        match (item.as_str(), item.as_table_like()) {
            (Some(text), _) => {
                let text = text.to_owned();
                self.named(&Word { text, place }, common)
            }
            (_, Some(table)) => self.described(table, place, common),
            _ => {
                let expected = "a scheme, or a table such as { scheme = \"rcc\", at = { ... } }";
                self.wrong(format!("wrong value for {name}"), place, expected);
                None
            }
        }
    }

    /// A scheme or a table, or a list of them.
    pub(super) fn operands(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        common: &Common<'_>,
    ) -> Vec<Operand> {
        let Some(array) = fields.get(name).and_then(Item::as_array) else {
            return self.operand(fields, name, common).into_iter().collect();
        };
        let mut operands = Vec::new();
        for value in array {
            let place = value.span().unwrap_or_else(|| fields.value_place(name));
            let operand = match value {
                Value::InlineTable(table) => self.described(table, place, common),
                value => {
                    let text = scalar(value).unwrap_or_default();
                    self.named(&Word { text, place }, common)
                }
            };
            operands.extend(operand);
        }
        operands
    }

    /// A scheme by its label, on the measure of the claim.
    fn named(&mut self, word: &Word, common: &Common<'_>) -> Option<Operand> {
        let known = self.scheme(word, common.runs.own);
        known.then(|| Some(operand(&word.text, common.measure.clone()?)))?
    }

    /// A scheme with a measure, values or a run of its own.
    fn described(
        &mut self,
        table: &dyn TableLike,
        place: Range<usize>,
        common: &Common<'_>,
    ) -> Option<Operand> {
        let fields = Fields::new(table, "this operand", place);
        self.only(&fields, &["scheme", "measure", "at", "run", "label"]);
        let (run, context) = self.run(&fields, common.runs)?;
        if !fields.has("scheme") {
            self.missing(&fields, "scheme");
        }
        let scheme = self.text(&fields, "scheme")?;
        let known = self.scheme(&scheme, context);
        let own = fields.has("measure");
        let measure = if own {
            self.measure(&fields, "measure")
        } else {
            common.measure.clone()
        };
        if let Some(measure) = measure.as_ref().filter(|_| own || run.is_some()) {
            self.check_measure(measure, &fields.place, context);
        }
        let label = self.text(&fields, "label").map(|word| word.text);
        let at = self.at(&fields, "at", context);
        known.then_some(Operand {
            label: label.unwrap_or_else(|| scheme.text.clone()),
            scheme: scheme.text,
            measure: measure?,
            at,
            run,
        })
    }
}

/// A scheme on a measure, wherever the claim is judged.
pub(super) fn operand(scheme: &str, measure: Measure) -> Operand {
    Operand {
        scheme: scheme.to_owned(),
        measure,
        at: At::new(),
        run: None,
        label: scheme.to_owned(),
    }
}
