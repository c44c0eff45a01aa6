//! A distribution: of flows, or of a series over the time that its values last.

use base::Sort as _;
use claims::unit::Dimension;
use claims::{Measure, Of};
use scenario::Problems;

use super::{AxesAndLines, Panel, Track, given, line, name};
use crate::figure::{PlotPoint, Shape};

/// Both axes and the lines.
pub(super) fn draw(panel: &Panel<'_>) -> Result<AxesAndLines, Problems> {
    let tracks = panel.tracks(None);
    let several = super::several(&tracks);
    let mut drawn = Vec::new();
    for track in &tracks {
        drawn.push((track, distribution(panel, track)?));
    }
    let greatest = drawn.iter().filter_map(|(_, own)| own.values.last());
    let greatest = greatest.map(|value| value.0).fold(0.0, f64::max);
    let measure = panel.measure();
    let dimension = measure.map_or(Dimension::Count, Measure::value_dimension);
    let unit = panel.unit(panel.plot.x.unit.as_deref(), dimension, greatest);
    let label = panel.plot.x.label.clone();
    let label = label.unwrap_or_else(|| measure.map_or_else(String::new, name));
    let x = given(&panel.plot.x, label, &unit.name);
    let percent = panel.plot.y.unit.as_deref() == Some("%");
    let whole = if percent { 100.0 } else { 1.0 };
    let label = panel.plot.y.label.clone();
    let label = label.unwrap_or_else(|| "Cumulative share".into());
    let mut y = given(&panel.plot.y, label, if percent { "%" } else { "" });
    y.range = y.range.or(Some((0.0, whole)));
    let lines = drawn.iter().map(|(track, distribution)| {
        let points = distribution.curve(unit.size, whole);
        let label = track.label(several);
        line(label, panel.style(track), Shape::Step, points)
    });
    Ok((x, y, lines.collect()))
}

/// Values in ascending order with their weights.
struct WeightedValues {
    values: Vec<(f64, f64)>,
    /// The total weight, including flows without a value, such as flows that never completed.
    total: f64,
}

/// The distribution of a track over all its rows.
fn distribution(panel: &Panel<'_>, track: &Track<'_>) -> Result<WeightedValues, Problems> {
    let measure = &track.line.measure;
    let mut values = Vec::new();
    let mut all = 0.0;
    for row in &track.rows {
        values.extend_from_slice(panel.run.sample(measure, *row)?.values());
        if let Of::Flows {
            chosen,
            each_sender: None,
            ..
        } = &measure.of
            && chosen.cluster.is_none()
        {
            // Every flow has a start.
            let mut flows = measure.clone();
            if let Of::Flows { column, .. } = &mut flows.of {
                *column = "start_us";
            }
            let flows = panel.run.sample(&flows, *row)?;
            all += flows.values().iter().map(|(_, weight)| weight).sum::<f64>();
        }
    }
    values.order_by(|a: &(f64, f64), b| a.0.total_cmp(&b.0));
    let own: f64 = values.iter().map(|(_, weight)| weight).sum();
    Ok(WeightedValues {
        values,
        total: own.max(all),
    })
}

impl WeightedValues {
    /// The steps from 0 to `whole`, thinned to equal steps of the share. Each value shown is exact.
    fn curve(&self, size: f64, whole: f64) -> Vec<PlotPoint> {
        let mut steps: Vec<(f64, f64)> = Vec::new();
        let mut below = 0.0;
        for (value, weight) in &self.values {
            below += weight;
            let step = (value / size, below / self.total * whole);
            match steps.last_mut() {
                Some(last) if last.0 >= step.0 => last.1 = step.1,
                _ => steps.push(step),
            }
        }
        let mut points: Vec<PlotPoint> = Vec::new();
        points.extend(steps.first().map(|(x, _)| PlotPoint::new(*x, 0.0)));
        for (index, (x, y)) in steps.iter().enumerate() {
            let shown = points.last().map_or(0.0, |point| point.y);
            // The last small step before a large one is shown, too. Otherwise the large one would seem to begin
            // earlier.
            let next = steps.get(index + 1).map_or(f64::INFINITY, |step| step.1);
            if next - shown >= whole * FINEST {
                points.push(PlotPoint::new(*x, *y));
            }
        }
        points
    }
}

/// Less than a pixel of any picture.
const FINEST: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(values: &[(f64, f64)], total: f64) -> Vec<(f64, f64)> {
        let distribution = WeightedValues {
            values: values.to_vec(),
            total,
        };
        let points = distribution.curve(1e3, 1.0).into_iter();
        points.map(|point| (point.x, point.y)).collect()
    }

    #[test]
    fn values_count_by_their_weight() {
        // A queue that was empty for 3 of 8 us, at 1500 bytes for 4 and at 3000 for 1.
        let queue = [(0.0, 3.0), (1500.0, 4.0), (3000.0, 1.0)];
        assert_eq!(
            steps(&queue, 8.0),
            [(0.0, 0.0), (0.0, 0.375), (1.5, 0.875), (3.0, 1.0)]
        );
    }

    #[test]
    fn what_has_no_value_leaves_the_curve_below_one() {
        let half = steps(&[(1000.0, 1.0), (2000.0, 1.0)], 4.0);
        assert_eq!(half.last(), Some(&(2.0, 0.5)));
    }

    #[test]
    fn a_fine_distribution_is_thinned_and_stays_true() {
        let values: Vec<(f64, f64)> = (1..=100_000).map(|k| (f64::from(k), 1.0)).collect();
        let points = steps(&values, 100_000.0);
        assert!(points.len() < 1100, "{}", points.len());
        for (x, y) in &points[1..] {
            assert!((x / 100.0 - y).abs() < 1e-9, "{x} {y}");
        }
        assert_eq!(points.last(), Some(&(100.0, 1.0)));
    }
}
