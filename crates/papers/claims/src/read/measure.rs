//! Reading measures.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::leaf::{size, wrong};
use crate::unit::Dimension;
use crate::{FlowSizes, Level, Measure, Moment, Of, Statistic, Stretch, model};

/// A measure with its short forms written out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMeasure {
    source: Of,
    statistic: Option<Statistic>,
    reduction_from: Option<String>,
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let refused = |message: String, expected: &str| {
            Err(D::Error::custom(format!("{message}\nexpected {expected}")))
        };
        if !deserializer.is_human_readable() {
            let (of, statistic, reduction_from) = Deserialize::deserialize(deserializer)?;
            return Ok(Self {
                of,
                statistic,
                reduction_from,
            });
        }
        let written = WrittenMeasure::deserialize(deserializer)?;
        let mut measure = Self::new(written.source, None);
        if let Of::Model {
            name,
            size: Some(_),
        } = measure.of
            && !model::find(name).is_some_and(model::PaperEquation::takes_size)
        {
            return refused(format!("{name} is not about a flow"), "no size");
        }
        if let Of::Series { across, .. } = &measure.of
            && !ACROSS.contains(across)
        {
            let expected = "one of mean, min, max, sum, deviation, jain";
            return refused("wrong value for across".to_owned(), expected);
        }
        if let Some(statistic) = &written.statistic {
            if measure.is_number() {
                let message = format!("{} is one number already", measure.column());
                return refused(message, "no statistic");
            }
            fits(statistic, &measure)?;
        }
        measure.statistic = written.statistic;
        if written.reduction_from.is_some() && !measure.is_number() {
            let message = "only a number can be lower than another".to_owned();
            return refused(message, "a statistic in the measure");
        }
        measure.reduction_from = written.reduction_from;
        Ok(measure)
    }
}

/// Fails for a statistic, or a level in it, that does not fit the measure.
fn fits<E: Error>(statistic: &Statistic, measure: &Measure) -> Result<(), E> {
    let over_time = matches!(measure.of, Of::Series { .. });
    let fits = match statistic {
        Statistic::Sum | Statistic::Count | Statistic::Clusters { .. } | Statistic::Jain => {
            !over_time
        }
        Statistic::Dips { .. } | Statistic::Oscillations { .. } | Statistic::Change => over_time,
        Statistic::Share {
            below: None,
            above: None,
        } => return Err(E::missing_field("below")),
        _ => true,
    };
    if !fits {
        let expected = if over_time {
            "a statistic over time, such as mean, p95, change or dips"
        } else {
            "a statistic of many values, such as mean, p99 or sum; this one needs a series"
        };
        return Err(E::custom(format!(
            "this statistic is not for this source\nexpected {expected}"
        )));
    }
    let dimension = measure.dimension();
    let mut levels = levels(statistic).into_iter().flatten();
    match levels.find(|level| level.in_column(dimension, 1.0).is_none()) {
        Some(level) => Err(E::custom(format!(
            "{level} is no value of what is measured\nexpected {}",
            dimension.expected()
        ))),
        None => Ok(()),
    }
}

/// The levels of a statistic.
fn levels(statistic: &Statistic) -> [Option<&Level>; 2] {
    match statistic {
        Statistic::Share { below, above } => [below.as_ref(), above.as_ref()],
        Statistic::Oscillations { below, above } => [Some(below), Some(above)],
        Statistic::Clusters { gap: level } | Statistic::Dips { below: level } => {
            [Some(level), None]
        }
        _ => [None; 2],
    }
}

impl<'de> Deserialize<'de> for FlowSizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let (above, up_to) = Deserialize::deserialize(deserializer)?;
            return Ok(Self { above, up_to });
        }
        let expected =
            "two sizes, as in size = [\"0B\", \"100KB\"], the second perhaps \"unlimited\"";
        let one = |text: &str| size(Level::parse(text).ok_or_else(|| wrong(expected))?, expected);
        match &Vec::<String>::deserialize(deserializer)?[..] {
            [above, up_to] => Ok(Self {
                above: one(above)?,
                up_to: match up_to.as_str() {
                    "unlimited" => None,
                    _ => Some(one(up_to)?),
                },
            }),
            _ => Err(wrong(expected)),
        }
    }
}

impl<'de> Deserialize<'de> for Stretch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let (from, to) = Deserialize::deserialize(deserializer)?;
            return Ok(Self { from, to });
        }
        let moment = |text: &str, open: &str| {
            if text == open {
                return Ok(None);
            }
            let level = Level::parse(text).filter(|level| !level.unit.is_empty());
            let moment = level.and_then(|level| match level.unit.as_str() {
                "%" => Some(Moment::Share(level.value / 100.0)),
                _ => level.in_column(Dimension::Time, 1.0).map(Moment::At),
            });
            moment.map(Some).ok_or_else(|| {
                wrong(format!(
                    "a time with its unit, a share of the simulation as in \"40%\", or {open:?}"
                ))
            })
        };
        match &Vec::<String>::deserialize(deserializer)?[..] {
            [from, to] => Ok(Self {
                from: moment(from, "start")?,
                to: moment(to, "end")?,
            }),
            _ => Err(wrong("two times, as in during = [\"10ms\", \"end\"]")),
        }
    }
}

/// Statistics that can combine those of several ports, flows or hosts.
const ACROSS: [Statistic; 6] = [
    Statistic::Mean,
    Statistic::Min,
    Statistic::Max,
    Statistic::Sum,
    Statistic::Deviation,
    Statistic::Jain,
];
