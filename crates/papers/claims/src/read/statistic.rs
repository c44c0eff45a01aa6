//! Reading what is made of many values, and the levels that it needs.

use super::fields::{Fields, Reader};
use crate::unit::Dimension;
use crate::{Level, Measure, Of, Statistic};

impl Reader<'_> {
    /// The statistic called `name`, which suits what is measured.
    pub(super) fn statistic(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        measure: &Measure,
    ) -> Option<Statistic> {
        let word = self.text(fields, name)?;
        let dimension = measure.dimension();
        let parts: Vec<&str> = word.text.split(" - ").map(str::trim).collect();
        let mut one = |text: &str| {
            let statistic = self.one_statistic(fields, text, dimension);
            if statistic.is_none() {
                let expected = "mean, min, max, sum, count, variance, deviation, p99, \"p99 - p1\", share, clusters, dips, oscillations, change or jain";
                let message = format!("there is no statistic {text:?}");
                self.wrong(message, word.place.clone(), expected);
            }
            statistic
        };
        let statistic = match parts[..] {
            [one_only] => one(one_only)?,
            [a, b] => Statistic::Difference(Box::new(one(a)?), Box::new(one(b)?)),
            _ => one(&word.text)?,
        };
        let over_time = matches!(measure.of, Of::Series { .. });
        let fits = match &statistic {
            Statistic::Sum | Statistic::Count | Statistic::Clusters { .. } | Statistic::Jain => {
                !over_time
            }
            Statistic::Dips { .. } | Statistic::Oscillations { .. } | Statistic::Change => {
                over_time
            }
            _ => true,
        };
        if !fits {
            let expected = if over_time {
                "a statistic over time, such as mean, p95, change or dips"
            } else {
                "a statistic of many values, such as mean, p99 or sum; this one needs a series"
            };
            self.wrong(
                format!("{} is not for this source", word.text),
                word.place,
                expected,
            );
            return None;
        }
        Some(statistic)
    }

    /// A single statistic; none if there is none of this name, or if what it needs is wrong.
    fn one_statistic(
        &mut self,
        fields: &Fields<'_>,
        text: &str,
        dimension: Dimension,
    ) -> Option<Statistic> {
        let mut needed = |name: &str| {
            if !fields.has(name) {
                self.missing(fields, name);
            }
            let level = self.level(fields, name, dimension);
            // What is wrong has been said; the statistic itself is none the less known.
            level.unwrap_or(Level {
                value: f64::NAN,
                unit: String::new(),
            })
        };
        Some(match text {
            "mean" => Statistic::Mean,
            "min" => Statistic::Min,
            "max" => Statistic::Max,
            "sum" => Statistic::Sum,
            "count" => Statistic::Count,
            "variance" => Statistic::Variance,
            "deviation" => Statistic::Deviation,
            "change" => Statistic::Change,
            "jain" => Statistic::Jain,
            "clusters" => Statistic::Clusters { gap: needed("gap") },
            "dips" => Statistic::Dips {
                below: needed("below"),
            },
            "oscillations" => Statistic::Oscillations {
                below: needed("below"),
                above: needed("above"),
            },
            "share" => {
                if !fields.has("above") {
                    needed("below");
                }
                Statistic::Share {
                    below: self.level(fields, "below", dimension),
                    above: self.level(fields, "above", dimension),
                }
            }
            _ => {
                let percent = text.strip_prefix('p')?.parse::<f64>().ok()?;
                let correct = (0.0..=100.0).contains(&percent);
                correct.then_some(Statistic::Percentile(percent))?
            }
        })
    }

    /// A level of this dimension.
    pub(super) fn level(
        &mut self,
        fields: &Fields<'_>,
        name: &str,
        dimension: Dimension,
    ) -> Option<Level> {
        let words = self.words(fields, name);
        let word = words.first()?;
        let level = Level::parse(&word.text);
        let level = level.filter(|level| level.in_column(dimension, 1.0).is_some());
        if level.is_none() {
            let units = dimension.units().iter().map(|(name, _)| *name);
            let units: Vec<_> = units.filter(|name| !name.is_empty()).collect();
            let expected = match units.len() {
                0 => "a number".to_owned(),
                _ => format!("a number with one of the units {}", units.join(", ")),
            };
            self.wrong(
                format!("wrong value for {name}"),
                word.place.clone(),
                &expected,
            );
        }
        level
    }
}
