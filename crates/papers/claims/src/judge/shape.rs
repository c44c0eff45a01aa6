//! Judging shapes.

use base::cast;
use scenario::Problems;

use super::bench::Bench;
use super::line::{self, OperandValues};
use super::tally::Tally;
use super::verdict::Finding;
use crate::unit::Dimension;
use crate::{Claim, Level, ShapeClaim, ShapeKind};

pub(super) fn judge(
    claim: &Claim,
    shape: &ShapeClaim,
    bench: &Bench<'_>,
) -> Result<Finding, Problems> {
    let lines = OperandValues::all(claim, &shape.of, shape.average, bench)?;
    let others = OperandValues::all(claim, shape.shape.than(), shape.average, bench)?;
    let (tally, counted) = match (&shape.shape, &others[..]) {
        (ShapeKind::Equal(within), _) => (equal(shape, &lines, within.as_ref()), "values"),
        (ShapeKind::Greater { factor, .. }, [other]) => (
            against(shape, &lines, other, |ours, other| ours > other * factor),
            "values",
        ),
        (ShapeKind::Less { factor, .. }, [other]) => (
            against(shape, &lines, other, |ours, other| ours * factor < other),
            "values",
        ),
        (ShapeKind::Above(limit), _) => (
            level(shape, &lines, limit, |ours, limit, off| ours > limit - off),
            "values",
        ),
        (ShapeKind::Below(limit), _) => (
            level(shape, &lines, limit, |ours, limit, off| ours < limit + off),
            "values",
        ),
        (ShapeKind::Near(limit), _) => {
            let near = |ours: f64, limit: f64, off: f64| (ours - limit).abs() <= off;
            (level(shape, &lines, limit, near), "values")
        }
        _ => (along_axis(shape, &lines), "lines"),
    };
    Ok(tally.finding(shape.paper(), ours(&lines, &tally), counted))
}

/// Whether all operands are equal at every value.
fn equal(shape: &ShapeClaim, lines: &[OperandValues<'_>], within: Option<&Level>) -> Tally {
    let mut tally = Tally::default();
    for place in 0..line::places(lines) {
        let values = || lines.iter().map(|line| line.value(place));
        let least = values().fold(f64::INFINITY, f64::min);
        let most = values().fold(f64::NEG_INFINITY, f64::max);
        let level = within.map(|level| lines[0].level(level));
        let level = level.filter(|level| !level.is_nan());
        let allowed = level.unwrap_or(shape.tolerance * most.abs());
        let known = values().all(|value| !value.is_nan());
        tally.add(known && most - least <= allowed, || {
            let each: Vec<_> = lines.iter().map(|line| line.say(place)).collect();
            lines[0].at(place, &each.join(", "))
        });
    }
    tally
}

/// Compares each operand with another at every value.
fn against(
    shape: &ShapeClaim,
    lines: &[OperandValues<'_>],
    other: &OperandValues<'_>,
    holds: impl Fn(f64, f64) -> bool,
) -> Tally {
    let mut tally = Tally::default();
    for line in lines {
        let places = match shape.average {
            Some(_) => 1,
            None => line.along.len().max(other.along.len()),
        };
        for place in 0..places {
            let (ours, theirs) = (line.value(place), other.value(place));
            tally.add(holds(ours, theirs), || {
                let theirs = line.display(theirs);
                let text = format!("{}, {} {theirs}", line.say(place), other.label);
                line.at(place, &text)
            });
        }
    }
    tally
}

/// Compares each operand with a level at every value; `holds` gets the value, the level and the tolerance.
fn level(
    shape: &ShapeClaim,
    lines: &[OperandValues<'_>],
    level: &Level,
    holds: impl Fn(f64, f64, f64) -> bool,
) -> Tally {
    let mut tally = Tally::default();
    for line in lines {
        let level = line.level(level);
        let off = shape.tolerance * level.abs();
        let places = match shape.average {
            Some(_) => 1,
            None => line.along.len(),
        };
        for place in 0..places {
            tally.add(holds(line.value(place), level, off), || {
                line.at(place, &line.say(place))
            });
        }
    }
    tally
}

/// Whether each operand has the shape along the axis, for each combination of the other settings.
fn along_axis(shape: &ShapeClaim, lines: &[OperandValues<'_>]) -> Tally {
    let mut tally = Tally::default();
    for line in lines {
        for places in groups(shape, line) {
            let values: Vec<f64> = places.iter().map(|place| line.along.mean(*place)).collect();
            tally.add(has_shape(shape, line, &places, &values), || {
                let shown: Vec<_> = values.iter().map(|value| line.display(*value)).collect();
                format!("{} goes {}", line.label, shown.join(", "))
            });
        }
    }
    tally
}

/// Groups of places that only differ in the axis.
fn groups(shape: &ShapeClaim, line: &OperandValues<'_>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (place, set) in line.along.places.iter().enumerate() {
        let others = set.iter().filter(|(key, _)| {
            let mut x = shape.x.iter();
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

/// Settings other than the axis, with their values, and the places with these values.
type Group<'a> = (Vec<&'a (String, String)>, Vec<usize>);

/// Whether the values at these places have the shape.
fn has_shape(
    shape: &ShapeClaim,
    line: &OperandValues<'_>,
    places: &[usize],
    values: &[f64],
) -> bool {
    let tolerance = shape.tolerance;
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return false;
    };
    if values.iter().any(|value| value.is_nan()) {
        return false;
    }
    let location = |index: usize| {
        let mut set = line.along.places[places[index]].iter();
        let found = set.find(|(key, _)| shape.x.as_ref().is_none_or(|x| x == key));
        found.map(|(_, value)| value)
    };
    let extreme = |greatest: bool, at: &Option<String>| {
        let sign = if greatest { 1.0 } else { -1.0 };
        let places = values.iter().enumerate();
        let found = places.max_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)));
        found.is_some_and(|(index, value)| {
            let off = tolerance * value.abs();
            let ends = sign * (value - first) > off && sign * (value - last) > off;
            ends && at.as_ref().is_none_or(|at| location(index) == Some(at))
        })
    };
    match &shape.shape {
        ShapeKind::Constant => {
            let mean = values.iter().sum::<f64>() / cast::count(values.len());
            let off = tolerance * mean.abs();
            values.iter().all(|value| (value - mean).abs() <= off)
        }
        ShapeKind::Rising => rises(values.iter().copied(), tolerance),
        ShapeKind::Falling => rises(values.iter().map(|value| -value), tolerance),
        ShapeKind::Peak(at) => extreme(true, at),
        ShapeKind::Valley(at) => extreme(false, at),
        ShapeKind::Reaches(level) => {
            let level = line.level(level);
            let met = level - tolerance * level.abs();
            values.iter().any(|value| *value >= met)
        }
        _ => false,
    }
}

/// The first and the last value of the first operand, and whether the shape holds for more operands.
fn ours(lines: &[OperandValues<'_>], tally: &Tally) -> String {
    let Some(line) = lines.first() else {
        return tally.ours("values");
    };
    let least = line.means().fold(f64::INFINITY, f64::min);
    let most = line.means().fold(f64::NEG_INFINITY, f64::max);
    if lines.len() > 1 || !least.is_finite() {
        return tally.ours("places");
    }
    let (least, most) = (line.display(least), line.display(most));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// Whether the last value is above the first, and no step goes back by more than the tolerance of the total rise.
fn rises(values: impl Iterator<Item = f64>, tolerance: f64) -> bool {
    let values: Vec<f64> = values.collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return false;
    };
    let back = tolerance * (last - first);
    last > first && values.windows(2).all(|pair| pair[1] >= pair[0] - back)
}

impl ShapeClaim {
    /// The paper's statement, in a few words.
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
