//! Reading statistics with the levels that they need.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::leaf;
use crate::unit::Dimension;
use crate::{Level, Measure, Of, Statistic};

/// The levels beside a statistic.
#[derive(Clone, Default)]
pub(super) struct Levels {
    pub(super) gap: Option<Level>,
    pub(super) below: Option<Level>,
    pub(super) above: Option<Level>,
}

impl Levels {
    pub(super) fn is_empty(&self) -> bool {
        [&self.gap, &self.below, &self.above]
            .iter()
            .all(|level| level.is_none())
    }
}

/// The name of a statistic, as in `p99` or `p99 - p1`, which may need levels.
pub(super) struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let parts = name.split(" - ").map(str::trim);
        let known = |part: &str| NAMED.contains(&part) || percentile(part).is_some();
        if parts.clone().count() > 2 || !parts.clone().all(known) {
            let expected = format!("{}, p99 or \"p99 - p1\"", NAMED.join(", "));
            return Err(D::Error::custom(format!(
                "there is no statistic {name:?}\nexpected {expected}"
            )));
        }
        Ok(Self(name))
    }
}

impl Name {
    /// The statistic, if it and its levels suit what is measured.
    pub(super) fn of<E: Error>(&self, measure: &Measure, levels: &Levels) -> Result<Statistic, E> {
        let parts: Vec<&str> = self.0.split(" - ").map(str::trim).collect();
        let statistic = match parts[..] {
            [a, b] => Statistic::Difference(Box::new(one(a, levels)?), Box::new(one(b, levels)?)),
            _ => one(&self.0, levels)?,
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
            let message = format!("{} is not for this source\nexpected {expected}", self.0);
            return Err(E::custom(message));
        }
        for level in [&levels.gap, &levels.below, &levels.above]
            .into_iter()
            .flatten()
        {
            fitting(level, measure.dimension())?;
        }
        Ok(statistic)
    }
}

/// Fails for a level that has no unit of this dimension.
fn fitting<E: Error>(level: &Level, dimension: Dimension) -> Result<(), E> {
    if level.in_column(dimension, 1.0).is_some() {
        return Ok(());
    }
    Err(E::custom(format!(
        "{level} is no value of what is measured\nexpected {}",
        dimension.expected()
    )))
}

fn one<E: Error>(name: &str, levels: &Levels) -> Result<Statistic, E> {
    let needed = |level: &Option<Level>, key| level.clone().ok_or_else(|| E::missing_field(key));
    Ok(match name {
        "mean" => Statistic::Mean,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        "sum" => Statistic::Sum,
        "count" => Statistic::Count,
        "variance" => Statistic::Variance,
        "deviation" => Statistic::Deviation,
        "change" => Statistic::Change,
        "jain" => Statistic::Jain,
        "clusters" => Statistic::Clusters {
            gap: needed(&levels.gap, "gap")?,
        },
        "dips" => Statistic::Dips {
            below: needed(&levels.below, "below")?,
        },
        "oscillations" => Statistic::Oscillations {
            below: needed(&levels.below, "below")?,
            above: needed(&levels.above, "above")?,
        },
        "share" => {
            if levels.above.is_none() {
                needed(&levels.below, "below")?;
            }
            Statistic::Share {
                below: levels.below.clone(),
                above: levels.above.clone(),
            }
        }
        name => Statistic::Percentile(percentile(name).ok_or_else(|| leaf::wrong("a percentile"))?),
    })
}

fn percentile(name: &str) -> Option<f64> {
    let percent = name.strip_prefix('p')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent)
}

/// A statistic without levels.
impl<'de> Deserialize<'de> for Statistic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Name(name) = Name::deserialize(deserializer)?;
        one(&name, &Levels::default())
    }
}

const NAMED: [&str; 13] = [
    "mean",
    "min",
    "max",
    "sum",
    "count",
    "variance",
    "deviation",
    "share",
    "clusters",
    "dips",
    "oscillations",
    "change",
    "jain",
];
