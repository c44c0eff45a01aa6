//! The settings of a sweep with which all goals are met, in few words: regions and smallest values.

use base::Sort as _;
use base::cast::real;
use base::{Quantity, Rate, Span, WireSize};
use serde::{Deserialize, Serialize};

use crate::row::{Row, Rows};

/// Combinations of one scheme that all meet the goals: the product of these values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Label of the scheme.
    pub scheme: String,
    /// Swept settings with their values in the region. Settings that make no difference are left out.
    pub values: Vec<(String, Vec<String>)>,
    /// Rows in it.
    pub rows: u32,
}

/// The smallest value of a setting with which a scheme meets the goals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smallest {
    /// The setting.
    pub axis: String,
    /// Label of the scheme.
    pub scheme: String,
    /// The smallest value with which some combination meets them; `None` if there is none.
    pub some: Option<String>,
    /// The smallest value with which every combination meets them.
    pub every: Option<String>,
    /// The greatest value with which some combination meets them, if greater ones were tried.
    pub greatest: Option<String>,
}

/// Regions that together cover the rows that are `met`, the largest first, scheme by scheme.
pub(super) fn regions(sweep: &Rows<'_>, met: &[bool]) -> Vec<Region> {
    let values: Vec<Vec<&str>> = sweep.axes.iter().map(|axis| values(sweep, axis)).collect();
    let mut regions = Vec::new();
    for scheme in sweep.schemes {
        let own = || {
            sweep
                .all
                .iter()
                .zip(met)
                .filter(|(row, _)| row.scheme == *scheme)
        };
        let place = |row: &Row| -> Vec<usize> {
            let axes = sweep.axes.iter().zip(&values);
            let place = |(axis, values): (&String, &Vec<&str>)| {
                let value = row.setting(axis).unwrap_or_default();
                values.iter().position(|other| *other == value).unwrap_or(0)
            };
            axes.map(place).collect()
        };
        let good: Vec<Vec<usize>> = own()
            .filter(|(_, met)| **met)
            .map(|(row, _)| place(row))
            .collect();
        let mut open = good.clone();
        while let Some(seed) = open.first() {
            let sizes: Vec<usize> = values.iter().map(Vec::len).collect();
            let area = largest(seed, &good, &sizes);
            open.retain(|place| !contains(&area, place));
            let chosen = area.iter().zip(&values).zip(sweep.axes);
            let chosen = chosen.filter(|((area, values), _)| area.len() < values.len());
            let named = chosen.map(|((area, values), axis)| {
                let words = area.iter().map(|at| values[*at].to_owned());
                (axis.clone(), words.collect())
            });
            regions.push(Region {
                scheme: scheme.clone(),
                values: named.collect(),
                rows: u32::try_from(area.iter().map(Vec::len).product::<usize>())
                    .unwrap_or(u32::MAX),
            });
        }
    }
    regions
}

/// The smallest values for each axis that has numbers, and each scheme.
pub(super) fn smallest(sweep: &Rows<'_>, met: &[bool]) -> Vec<Smallest> {
    let mut smallest = Vec::new();
    for axis in sweep.axes {
        let mut numbers: Vec<(f64, &str)> = values(sweep, axis)
            .into_iter()
            .filter_map(|value| Some((magnitude(value)?, value)))
            .collect();
        if numbers.len() < 2 {
            continue;
        }
        numbers.order_by(|(a, _), (b, _)| a.total_cmp(b));
        for scheme in sweep.schemes {
            let meets = |value: &str, enough: fn(usize, usize) -> bool| {
                let rows = sweep.all.iter().zip(met);
                let own: Vec<_> = rows
                    .filter(|(row, _)| row.scheme == *scheme && row.setting(axis) == Some(value))
                    .collect();
                enough(own.iter().filter(|(_, met)| **met).count(), own.len())
            };
            let text = |found: Option<&(f64, &str)>| found.map(|(_, value)| (*value).to_owned());
            let some = |(_, value): &&(f64, &str)| meets(value, |met, _| met > 0);
            let every = |(_, value): &&(f64, &str)| meets(value, |met, all| met == all && all > 0);
            let greatest = numbers.iter().rev().find(some);
            smallest.push(Smallest {
                axis: axis.clone(),
                scheme: scheme.clone(),
                some: text(numbers.iter().find(some)),
                every: text(numbers.iter().find(every)),
                greatest: text(greatest.filter(|found| Some(*found) != numbers.last())),
            });
        }
    }
    smallest
}

/// The number in a text with or without a unit, in the base unit of its kind; `None` for a word.
pub fn magnitude(text: &str) -> Option<f64> {
    let span = || Span::parse(text).ok().map(Span::as_secs);
    let rate = || Rate::parse(text).ok().map(|rate| real(rate.as_bps()));
    let size = || {
        WireSize::parse(text)
            .ok()
            .map(|size| real(size.in_bytes(1500)))
    };
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.or_else(span).or_else(rate).or_else(size)
}

/// The values of an axis, in the order of the sweep.
fn values<'a>(sweep: &Rows<'a>, axis: &str) -> Vec<&'a str> {
    let mut values = Vec::new();
    for value in sweep.all.iter().filter_map(|row| row.setting(axis)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// The largest product of values around `seed` that contains only `good` places. Axes are widened one after the other.
/// Their order matters, so each axis is tried as the first.
fn largest(seed: &[usize], good: &[Vec<usize>], sizes: &[usize]) -> Vec<Vec<usize>> {
    let grown = (0..seed.len().max(1)).map(|first| {
        let mut area: Vec<Vec<usize>> = seed.iter().map(|at| vec![*at]).collect();
        for turn in 0..seed.len() {
            let axis = (first + turn) % seed.len();
            let fits = |value: &usize| {
                let mut slice = area.clone();
                slice[axis] = vec![*value];
                let wanted: usize = slice.iter().map(Vec::len).product();
                good.iter().filter(|place| contains(&slice, place)).count() == wanted
            };
            area[axis] = (0..sizes[axis]).filter(fits).collect();
        }
        area
    });
    let size = |area: &Vec<Vec<usize>>| area.iter().map(Vec::len).product::<usize>();
    grown.max_by_key(size).unwrap_or_default()
}

fn contains(area: &[Vec<usize>], place: &[usize]) -> bool {
    area.iter()
        .zip(place)
        .all(|(values, at)| values.contains(at))
}
