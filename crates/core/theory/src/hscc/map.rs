//! The verdict over flows and round trips.

use super::fluid::{Fluid, NoEquilibrium};
use super::linear::Linear;
use crate::answer::{Chart, ChartAxis, Colour, Curve, CurveShape};

/// A place of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapCell {
    /// N.
    pub flows: f64,
    /// RTT without a queue, in s.
    pub rtt: f64,
    /// By how many powers of e a disturbance grows in a round trip; below 0 it decays.
    pub growth: Result<f64, NoEquilibrium>,
}

/// The dominant eigenvalue for `columns` numbers of flows from 1 to `most` and `rows` round trips between
/// two, both spaced evenly in their logarithms; everything else is as in `fluid`.
pub fn map(fluid: &Fluid, most: (u32, f64), rtts: (f64, f64), rows: u32) -> Vec<MapCell> {
    let (columns, most) = most;
    let between = |share: f64, low: f64, high: f64| low * libm::pow(high / low, share);
    let shares =
        |count: u32| (0..count).map(move |place| (f64::from(place) + 0.5) / f64::from(count));
    let places = shares(columns).flat_map(|x| shares(rows).map(move |y| (x, y)));
    places
        .map(|(x, y)| {
            let place = Fluid {
                flows: between(x, 1.0, most),
                rtt: between(y, rtts.0, rtts.1),
                ..*fluid
            };
            let growth = place.equilibrium().map(|still| {
                let linear = Linear::of(&place, &still);
                linear.dominant().re * still.rtt
            });
            MapCell {
                flows: place.flows,
                rtt: place.rtt,
                growth,
            }
        })
        .collect()
}

/// The map as a figure.
pub(super) fn chart(fluid: &Fluid) -> Chart {
    let places = map(fluid, (COLUMNS, MOST_FLOWS), RTTS, ROWS);
    let half = |range: f64, count: u32| libm::pow(range, 0.5 / f64::from(count));
    let (x, y) = (half(MOST_FLOWS, COLUMNS), half(RTTS.1 / RTTS.0, ROWS));
    let curves = CLASSES.map(|(label, colour, percent, holds)| {
        let members = places.iter().filter(|place| holds(place.growth));
        Curve {
            label: label.into(),
            shape: CurveShape::Cells {
                x,
                y,
                percent,
                colour,
            },
            points: members
                .map(|place| (place.flows, place.rtt * 1e6))
                .collect(),
        }
    });
    let here = Curve {
        label: "these settings".into(),
        shape: CurveShape::Markers,
        points: vec![(fluid.flows, fluid.rtt * 1e6)],
    };
    Chart {
        name: "hurwitz",
        title: "Stability of HSCC's fluid model",
        caption: "How much a small disturbance of the equilibrium decays or grows within a round trip: the \
                  dominant eigenvalue of equation (3) with its delay, the probabilities following the queue."
            .into(),
        x: ChartAxis::new("Flows", "").log(),
        y: ChartAxis::new("Round trip with an empty queue", "us").log(),
        curves: curves.into_iter().chain([here]).collect(),
    }
}

type Growth = Result<f64, NoEquilibrium>;
type Class = (&'static str, Colour, u8, fn(Growth) -> bool);

/// Classes of the map: name, colour, shade, and which growth belongs to it.
const CLASSES: [Class; 6] = [
    ("decays by > 20 %", Colour::Good, 95, |growth| {
        growth.is_ok_and(|growth| growth < FAST)
    }),
    ("by 5 to 20 %", Colour::Good, 60, |growth| {
        growth.is_ok_and(|growth| (FAST..SLOW).contains(&growth))
    }),
    ("by < 5 %", Colour::Good, 30, |growth| {
        growth.is_ok_and(|growth| (SLOW..0.0).contains(&growth))
    }),
    ("grows by < 5 %", Colour::Bad, 35, |growth| {
        growth.is_ok_and(|growth| (0.0..-SLOW).contains(&growth))
    }),
    ("by more", Colour::Bad, 85, |growth| {
        growth.is_ok_and(|growth| growth >= -SLOW)
    }),
    ("no equilibrium", Colour::None, 60, |growth| growth.is_err()),
];

/// Logarithms of 0.8 and of 0.95.
const FAST: f64 = -0.223_143_551_314_209_76;
const SLOW: f64 = -0.051_293_294_387_550_58;

/// What data centres have: up to a thousand flows, and round trips from within a rack to a slow host's.
const MOST_FLOWS: f64 = 1000.0;
const RTTS: (f64, f64) = (10e-6, 2e-3);
const COLUMNS: u32 = 40;
const ROWS: u32 = 30;

#[cfg(test)]
mod tests {
    use super::super::fluid::tests::testbed;
    use super::*;

    #[test]
    fn every_place_belongs_to_one_class() {
        let places = map(&testbed(36.0), (8, 1000.0), (10e-6, 2e-3), 6);
        assert_eq!(places.len(), 48);
        let mut seen = [0; 6];
        for place in &places {
            let classes = CLASSES.iter().map(|(.., holds)| holds(place.growth));
            let classes: Vec<bool> = classes.collect();
            assert_eq!(
                classes.iter().filter(|holds| **holds).count(),
                1,
                "{place:?}"
            );
            seen[classes.iter().position(|holds| *holds).unwrap()] += 1;
        }
        // Some of either verdict, and clamped for ever beyond 99 flows in a rack.
        assert!(
            seen[..3].iter().sum::<i32>() > 0 && seen[3] + seen[4] > 0 && seen[5] > 0,
            "{seen:?}"
        );
        assert!((FAST - libm::log(0.8)).abs() < 1e-15 && (SLOW - libm::log(0.95)).abs() < 1e-15);
    }
}
