//! Judging shapes.

use scenario::Problems;

use super::along::Along;
use super::{Bench, Finding, Tally, display};
use crate::unit::Dimension;
use crate::{Claim, Level, Operand, Shape, ShapeKind};

pub(super) fn judge(claim: &Claim, shape: &Shape, bench: &Bench<'_>) -> Result<Finding, Problems> {
    let lines = shape.of.iter().map(|operand| {
        let line = bench.along(claim, operand)?;
        Ok((operand, line))
    });
    let lines = Lines {
        shape,
        all: lines.collect::<Result<Vec<_>, Problems>>()?,
    };
    let (tally, counted) = match &shape.shape {
        ShapeKind::Equal(within) => (lines.equal(within.as_ref()), "values"),
        ShapeKind::Greater { than, factor } => {
            let other = bench.along(claim, than)?;
            let holds = |ours: f64, other: f64| ours > other * factor;
            (lines.against(&than.label, &other, holds), "values")
        }
        ShapeKind::Less { than, factor } => {
            let other = bench.along(claim, than)?;
            let holds = |ours: f64, other: f64| ours * factor < other;
            (lines.against(&than.label, &other, holds), "values")
        }
        ShapeKind::Above(level) => (
            lines.level(level, |ours, level, off| ours > level - off),
            "values",
        ),
        ShapeKind::Below(level) => (
            lines.level(level, |ours, level, off| ours < level + off),
            "values",
        ),
        ShapeKind::Near(level) => {
            let near = |ours: f64, level: f64, off: f64| (ours - level).abs() <= off;
            (lines.level(level, near), "values")
        }
        _ => (lines.along_axis(), "lines"),
    };
    Ok(Finding {
        paper: shape.paper(),
        ours: lines.ours(&tally),
        value: None,
        interval: None,
        unit: String::new(),
        verdict: tally.verdict(),
        reason: tally.reason(counted),
    })
}

/// What has a shape, along the axes.
struct Lines<'a> {
    shape: &'a Shape,
    all: Vec<(&'a Operand, Along)>,
}

impl Lines<'_> {
    /// At every value all operands are equal.
    fn equal(&self, within: Option<&Level>) -> Tally {
        let mut tally = Tally::default();
        let places = self
            .all
            .iter()
            .map(|(_, line)| line.len())
            .max()
            .unwrap_or(0);
        let averaged = self.shape.average.is_some();
        for place in 0..if averaged { places.min(1) } else { places } {
            let values: Vec<f64> = self
                .all
                .iter()
                .map(|(_, line)| match self.shape.average {
                    Some(average) => line.averaged(average),
                    None => line.mean(place),
                })
                .collect();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (operand, line) = &self.all[0];
            let level = within.and_then(|level| level.in_column(operand.dimension(), line.packet));
            let allowed = level.unwrap_or(self.shape.tolerance * most.abs());
            let known = values.iter().all(|value| !value.is_nan());
            tally.add(known && most - least <= allowed, || {
                let each = self.all.iter().zip(&values);
                let each = each.map(|((operand, _), value)| {
                    format!("{} {}", operand.label, display(*value, operand.dimension()))
                });
                let each: Vec<_> = each.collect();
                at(line, place, averaged, &each.join(", "))
            });
        }
        tally
    }

    /// At every value each operand compares with another.
    fn against(&self, label: &str, other: &Along, holds: impl Fn(f64, f64) -> bool) -> Tally {
        let mut tally = Tally::default();
        for (operand, line) in &self.all {
            let mut add = |ours: f64, other: f64, place: Option<usize>| {
                tally.add(holds(ours, other), || {
                    let (ours, other) = (
                        display(ours, operand.dimension()),
                        display(other, operand.dimension()),
                    );
                    let text = format!("{} {ours}, {label} {other}", operand.label);
                    at(line, place.unwrap_or(0), place.is_none(), &text)
                });
            };
            if let Some(average) = self.shape.average {
                add(line.averaged(average), other.averaged(average), None);
                continue;
            }
            for place in 0..line.len().max(other.len()) {
                add(line.mean(place), other.mean(place), Some(place));
            }
        }
        tally
    }

    /// At every value each operand compares with a level; `holds` gets the value, the level and what it
    /// may be off.
    fn level(&self, level: &Level, holds: impl Fn(f64, f64, f64) -> bool) -> Tally {
        let mut tally = Tally::default();
        for (operand, line) in &self.all {
            let level = level.in_column(operand.dimension(), line.packet);
            let level = level.unwrap_or(f64::NAN);
            let off = self.shape.tolerance * level.abs();
            let mut add = |ours: f64, place: Option<usize>| {
                tally.add(holds(ours, level, off), || {
                    let ours = display(ours, operand.dimension());
                    let text = format!("{} {ours}", operand.label);
                    at(line, place.unwrap_or(0), place.is_none(), &text)
                });
            };
            if let Some(average) = self.shape.average {
                add(line.averaged(average), None);
                continue;
            }
            for place in 0..line.len() {
                add(line.mean(place), Some(place));
            }
        }
        tally
    }

    /// Each operand has the shape along the axis, for each combination of the others.
    fn along_axis(&self) -> Tally {
        let mut tally = Tally::default();
        for (operand, line) in &self.all {
            for places in self.groups(line) {
                let values: Vec<f64> = places.iter().map(|place| line.mean(*place)).collect();
                let location = |index: usize| -> Option<String> {
                    let set = line.places[places[index]].iter();
                    let mut set =
                        set.filter(|(key, _)| self.shape.x.as_ref().is_none_or(|x| x == key));
                    set.next().map(|(_, value)| value.clone())
                };
                let holds = self.has_shape(&values, &location, operand, line.packet);
                tally.add(holds, || {
                    let shown = values
                        .iter()
                        .map(|value| display(*value, operand.dimension()));
                    let shown: Vec<_> = shown.collect();
                    format!("{} goes {}", operand.label, shown.join(", "))
                });
            }
        }
        tally
    }

    /// Places that differ in the axis only.
    fn groups(&self, line: &Along) -> Vec<Vec<usize>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for (place, set) in line.places.iter().enumerate() {
            let others = set.iter().filter(|(key, _)| {
                let mut x = self.shape.x.iter();
                x.any(|x| x != key)
            });
            let others: Vec<_> = others.collect();
            match groups.iter_mut().find(|(known, _)| *known == others) {
                Some((_, places)) => places.push(place),
                None => groups.push((others, vec![place])),
            }
        }
        groups.into_iter().map(|(_, places)| places).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "axes have few values")]
    fn has_shape(
        &self,
        values: &[f64],
        location: &dyn Fn(usize) -> Option<String>,
        operand: &Operand,
        packet: f64,
    ) -> bool {
        let tolerance = self.shape.tolerance;
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return false;
        };
        if values.iter().any(|value| value.is_nan()) {
            return false;
        }
        let extreme = |greatest: bool, at: &Option<String>| {
            let sign = if greatest { 1.0 } else { -1.0 };
            let places = values.iter().enumerate();
            let found = places.max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
            found.is_some_and(|(index, value)| {
                let off = tolerance * value.abs();
                let ends = sign * (value - first) > off && sign * (value - last) > off;
                let mut wanted = at.iter();
                ends && wanted.all(|wanted| location(index).as_ref() == Some(wanted))
            })
        };
        match &self.shape.shape {
            ShapeKind::Constant => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let off = tolerance * mean.abs();
                values.iter().all(|value| (value - mean).abs() <= off)
            }
            ShapeKind::Rising => rises(values.iter().copied(), tolerance),
            ShapeKind::Falling => rises(values.iter().map(|value| -value), tolerance),
            ShapeKind::Peak(at) => extreme(true, at),
            ShapeKind::Valley(at) => extreme(false, at),
            ShapeKind::Reaches(level) => {
                let level = level.in_column(operand.dimension(), packet);
                let level = level.unwrap_or(f64::NAN);
                let met = level - tolerance * level.abs();
                values.iter().any(|value| *value >= met)
            }
            _ => false,
        }
    }

    /// From which value to which the first operand goes, and whether it holds for more.
    fn ours(&self, tally: &Tally) -> String {
        let Some((operand, line)) = self.all.first() else {
            return tally.ours("values");
        };
        let means = || (0..line.len()).map(|place| line.mean(place));
        let least = means().fold(f64::INFINITY, f64::min);
        let most = means().fold(f64::NEG_INFINITY, f64::max);
        if self.all.len() > 1 || !least.is_finite() {
            return tally.ours("places");
        }
        let (least, most) = (
            display(least, operand.dimension()),
            display(most, operand.dimension()),
        );
        if least == most {
            least
        } else {
            format!("{least} to {most}")
        }
    }
}

/// Settings beside the axis with their values, and the places that have them.
type Group<'a> = (Vec<&'a (String, String)>, Vec<usize>);

/// Whether the last value is above the first and no step goes back by more than the tolerance of the
/// whole way.
fn rises(values: impl Iterator<Item = f64>, tolerance: f64) -> bool {
    let values: Vec<f64> = values.collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return false;
    };
    let back = tolerance * (last - first);
    last > first && values.windows(2).all(|pair| pair[1] >= pair[0] - back)
}

/// A text with the place that it is about.
fn at(line: &Along, place: usize, averaged: bool, text: &str) -> String {
    let name = line.name(place);
    if averaged || name.is_empty() {
        text.to_owned()
    } else {
        format!("at {name} {text}")
    }
}

impl Shape {
    /// What the paper says, in a few words.
    fn paper(&self) -> String {
        let place = |at: &Option<String>| {
            let at = at.as_ref();
            at.map_or_else(String::new, |at| format!(" at {at}"))
        };
        let times = |factor: f64| {
            if factor > 1.0 {
                format!("{factor} times ")
            } else {
                String::new()
            }
        };
        match &self.shape {
            ShapeKind::Constant => "constant".to_owned(),
            ShapeKind::Rising => "rising".to_owned(),
            ShapeKind::Falling => "falling".to_owned(),
            ShapeKind::Peak(at) => format!("peak{}", place(at)),
            ShapeKind::Valley(at) => format!("valley{}", place(at)),
            ShapeKind::Above(level) => format!("above {level}"),
            ShapeKind::Below(level) => format!("below {level}"),
            ShapeKind::Near(level) => format!("near {level}"),
            ShapeKind::Reaches(level) => format!("reaches {level}"),
            ShapeKind::Equal(_) => "equal".to_owned(),
            ShapeKind::Greater { than, factor } => {
                format!("{}more than {}", times(*factor), than.label)
            }
            ShapeKind::Less { than, factor } => {
                format!("{}less than {}", times(*factor), than.label)
            }
        }
    }

    /// What its values count.
    pub fn dimension(&self) -> Dimension {
        let first = self.of.first();
        first.map_or(Dimension::Count, |operand| {
            operand.measure.value_dimension()
        })
    }
}
