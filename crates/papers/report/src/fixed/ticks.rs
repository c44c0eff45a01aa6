//! The ticks of an axis and their names.

use crate::figure::Axis;
use crate::units;
use base::cast::integer;

/// The range of an axis with its ticks.
#[derive(Debug)]
pub(super) struct Scale {
    pub(super) log: bool,
    /// Ticks are names at 0, 1, 2, ...
    pub(super) categories: bool,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Places with their names.
    pub(super) major: Vec<(f64, String)>,
    pub(super) minor: Vec<f64>,
}

/// Room that an axis leaves around its data.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Room {
    /// The data may touch both ends.
    None,
    /// At the upper end.
    Above,
    /// At both ends.
    Around,
}

impl Scale {
    /// An axis for `values` with at most about `count` ticks.
    pub(super) fn new(axis: &Axis, values: &[f64], room: Room, count: f64) -> Self {
        let usable = values
            .iter()
            .copied()
            .filter(|value| !axis.log || *value > 0.0);
        let (mut low, mut high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| {
            (ends.0.min(value), ends.1.max(value))
        });
        if low > high {
            (low, high) = if axis.log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if axis.log {
            let (low, high) = axis.range.unwrap_or((low, high));
            return Self::log(low, high, count);
        }
        if let Some((from, to)) = axis.range {
            return Self::linear(from, to, count);
        }
        // An axis that begins near zero begins at zero.
        if low > 0.0 && (low < 0.3 * high || room == Room::Above) {
            low = 0.0;
        }
        if high <= low {
            high = low + 1.0;
        }
        let margin = (high - low) * 0.04;
        match room {
            Room::None => {}
            Room::Above => high += margin,
            Room::Around => {
                high += margin;
                low -= if low > 0.0 { margin } else { 0.0 };
            }
        }
        Self::linear(low, high, count)
    }

    /// An axis with names at 0, 1, 2, ...
    pub(super) fn categories(names: &[String]) -> Self {
        let count = f64::from(u32::try_from(names.len()).unwrap_or(u32::MAX));
        let places = (0_u32..).map(f64::from).zip(names.iter().cloned());
        Self {
            log: false,
            categories: true,
            low: -0.5,
            high: count - 0.5,
            major: places.collect(),
            minor: Vec::new(),
        }
    }

    /// A value as a share of the axis from its lower end.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.log {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Whether a value has a position.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    fn linear(low: f64, high: f64, count: f64) -> Self {
        let rough = (high - low) / count.max(1.0);
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let first = libm::ceil(low / step - 1e-9);
        let places = (0_u32..MOST).map(|index| (first + f64::from(index)) * step);
        let places = places.take_while(|place| *place <= high + 1e-9 * step);
        // The digits from the first of the greatest value to the first of the step, and one more for steps of 2.5.
        let power = |value: f64| libm::floor(libm::log10(value) + 1e-9);
        let digits = (power(high.abs().max(low.abs())) - power(step)).max(0.0) + 2.0;
        let digits = integer(digits);
        Self {
            log: false,
            categories: false,
            low,
            high,
            major: places
                .map(|place| (place, units::number(place, digits)))
                .collect(),
            minor: Vec::new(),
        }
    }

    fn log(low: f64, high: f64, count: f64) -> Self {
        // The ends are multiples of a power of ten, so that a tick is near each.
        let low_power = libm::pow(10.0, libm::floor(libm::log10(low)));
        let low = libm::floor(low / low_power + 1e-9) * low_power;
        let high_power = libm::pow(10.0, libm::floor(libm::log10(high)));
        let high = (libm::ceil(high / high_power - 1e-9) * high_power).max(2.0 * low);
        let decades = libm::log10(high / low);
        let named: &[f64] = if decades * 3.0 <= count {
            &[1.0, 2.0, 5.0]
        } else if decades * 2.0 <= count {
            &[1.0, 3.0]
        } else {
            &[1.0]
        };
        let (mut major, mut minor) = (Vec::new(), Vec::new());
        let mut power = low_power;
        while power <= high * 1.000_001 {
            for digit in (1_u32..10).map(f64::from) {
                let place = digit * power;
                if place < low * 0.999_999 || place > high * 1.000_001 {
                    continue;
                }
                if named.contains(&digit) {
                    major.push((place, log_name(place)));
                } else {
                    minor.push(place);
                }
            }
            power *= 10.0;
        }
        Self {
            log: true,
            categories: false,
            low,
            high,
            major,
            minor,
        }
    }
}

/// In full if that is short, else as a power of ten.
fn log_name(place: f64) -> String {
    if (1e-3..1e5).contains(&place) {
        return units::number(place, 2);
    }
    let exponent = integer(libm::floor(libm::log10(place) + 1e-9));
    let digit = place / libm::pow(10.0, f64::from(exponent));
    let raised = exponent.to_string();
    let raised: String = raised.chars().map(superscript).collect();
    if digit < 1.5 {
        format!("10{raised}")
    } else {
        format!("{digit:.0}·10{raised}")
    }
}

fn superscript(letter: char) -> char {
    match letter {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁻',
    }
}

/// The most ticks of any axis.
const MOST: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: &Scale) -> Vec<&str> {
        scale.major.iter().map(|(_, name)| name.as_str()).collect()
    }

    #[test]
    fn a_linear_axis_has_round_ticks() {
        let axis = Axis::default();
        let scale = Scale::new(&axis, &[3.0, 41.0], Room::Above, 5.0);
        assert_eq!(names(&scale), ["0", "10", "20", "30", "40"]);
        let scale = Scale::new(&axis, &[900.0, 940.0], Room::Around, 4.0);
        assert_eq!(names(&scale), ["900", "920", "940"]);
        let scale = Scale::new(&axis, &[8.0, 19.5], Room::None, 5.0);
        assert_eq!(names(&scale), ["10", "12.5", "15", "17.5"]);
        let scale = Scale::new(&axis, &[0.0, 0.01], Room::None, 5.0);
        assert_eq!(
            names(&scale),
            ["0", "0.002", "0.004", "0.006", "0.008", "0.01"]
        );
    }

    #[test]
    fn a_logarithmic_axis_names_as_many_ticks_as_fit() {
        let axis = Axis {
            log: true,
            ..Axis::default()
        };
        let scale = Scale::new(&axis, &[2.3, 180.0], Room::None, 6.0);
        assert_eq!(names(&scale), ["2", "5", "10", "20", "50", "100", "200"]);
        let chosen = Axis {
            range: Some((1.0, 1000.0)),
            ..axis.clone()
        };
        let scale = Scale::new(&chosen, &[2.3, 180.0], Room::None, 6.0);
        assert_eq!(names(&scale), ["1", "3", "10", "30", "100", "300", "1000"]);
        let scale = Scale::new(&axis, &[1.0, 1e7], Room::None, 6.0);
        assert_eq!(names(&scale)[5..], ["10⁵", "10⁶", "10⁷"]);
    }
}
