//! Reading measures.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::statistic::{Levels, Name};
use crate::{Level, Measure, Of, model};

/// A measure with its short forms written out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    source: Of,
    statistic: Option<Name>,
    gap: Option<Level>,
    below: Option<Level>,
    above: Option<Level>,
    reduction_from: Option<String>,
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = |message: String, expected: &str| {
            Err(D::Error::custom(format!("{message}\nexpected {expected}")))
        };
        let written = Written::deserialize(deserializer)?;
        let mut measure = Self::new(written.source, None);
        if let Of::Model {
            name,
            size: Some(_),
        } = measure.of
            && !model::find(name).is_some_and(model::Model::takes_size)
        {
            return wrong(format!("{name} is not about a flow"), "no size");
        }
        let levels = Levels {
            gap: written.gap,
            below: written.below,
            above: written.above,
        };
        if measure.is_number() && (written.statistic.is_some() || !levels.is_empty()) {
            let message = format!("{} is one number already", measure.column());
            return wrong(message, "no statistic");
        }
        let statistic = written.statistic.map(|name| name.of(&measure, &levels));
        measure.statistic = statistic.transpose()?;
        if written.reduction_from.is_some() && !measure.is_number() {
            let message = "only a number can be lower than another".to_owned();
            return wrong(message, "a statistic in the measure");
        }
        measure.reduction_from = written.reduction_from;
        Ok(measure)
    }
}
