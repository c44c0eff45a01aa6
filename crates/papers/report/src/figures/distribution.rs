//! Distributions of completion times.

use super::scales;
use crate::data::{self, Data, Distribution};
use crate::figure::{Axis, Figure, PlotLine, PlotPoint, Shape, slug};
use crate::units;
use base::Sort as _;
use base::cast;

/// Points of a curve: more than a chart has pixels.
const POINTS: usize = 1000;

/// The cumulative distributions of completion times, one for each combination: of all flows, then of each group and
/// class.
pub(crate) fn all(data: &Data<'_>) -> Vec<Figure> {
    let views = views(data).into_iter();
    views.flat_map(|(_, figures)| figures).collect()
}

/// The same with the name of the group or class, which is empty for all flows.
pub(crate) fn views(data: &Data<'_>) -> Vec<(String, Vec<Figure>)> {
    let mut groups: Vec<&str> = Vec::new();
    for run in &data.runs {
        for (_, group) in run.distributions.keys() {
            if !groups.contains(&group.as_str()) {
                groups.push(group);
            }
        }
    }
    // The name of all flows comes first.
    groups.order();
    let views = groups.into_iter();
    views
        .map(|group| (group.to_owned(), of_group(data, group)))
        .collect()
}

fn of_group(data: &Data<'_>, group: &str) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    let greatest = data.runs.iter().flat_map(|run| run.distributions.values());
    let greatest = greatest.filter_map(|distribution| distribution.fct_us.last());
    let unit = units::unit("us", greatest.copied().fold(0.0, f64::max));
    for (number, run) in data.runs.iter().enumerate() {
        let distributions = run.distributions.iter();
        for ((index, _), distribution) in distributions.filter(|((_, of), _)| of == group) {
            let row = &run.summary.rows[*index];
            let parts = [group.to_owned(), data::place(row)];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let choice = parts.join(", ");
            let line = PlotLine {
                label: data.label(&row.scheme, number),
                style: data.palette.style(&row.scheme, number),
                shape: Shape::Step,
                points: curve(distribution, unit.size),
            };
            match figures.iter_mut().find(|figure| figure.choice == choice) {
                Some(figure) => figure.lines.push(line),
                None => figures.push(figure(choice, unit.name, SEEDS, vec![line])),
            }
        }
    }
    scales::share_axes(&mut figures);
    figures.reverse();
    figures
}

/// A view of a distribution; the caption names the flows.
pub(crate) fn figure(choice: String, unit: &str, caption: &str, lines: Vec<PlotLine>) -> Figure {
    let x = Axis::new("Flow completion time", unit);
    let mut y = Axis::new("Fraction of flows", "");
    y.range = Some((0.0, 1.0));
    Figure {
        name: slug(&format!("fct-cdf {choice}")),
        chart: "fct-cdf".into(),
        choice,
        title: "Distribution of flow completion times".into(),
        caption: caption.into(),
        x,
        y,
        lines,
    }
}

const SEEDS: &str = "The fraction of flows that completed within a time, over all seeds. Where a curve ends below \
                     1, flows were unfinished or failed.";

/// The steps of the empirical distribution, thinned to equal steps of the fraction.
pub(crate) fn curve(distribution: &Distribution, size: f64) -> Vec<PlotPoint> {
    let (times, flows) = (&distribution.fct_us, cast::count(distribution.flows));
    let count = times.len();
    let shown = count.min(POINTS);
    let mut points: Vec<PlotPoint> = Vec::with_capacity(shown + 1);
    for index in 1..=shown {
        // Exact at every rank that is shown, and the last flow is among them.
        let rank = (index * count).div_ceil(shown);
        let (x, y) = (times[rank - 1] / size, cast::count(rank) / flows);
        match points.last_mut() {
            None => points.extend([PlotPoint::new(x, 0.0), PlotPoint::new(x, y)]),
            Some(last) if last.x >= x => last.y = y,
            Some(_) => points.push(PlotPoint::new(x, y)),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_the_empirical_distribution() {
        let distribution = Distribution {
            fct_us: vec![1000.0, 2000.0, 2000.0],
            flows: 4,
        };
        let points: Vec<_> = curve(&distribution, 1e3)
            .into_iter()
            .map(|point| (point.x, point.y))
            .collect();
        assert_eq!(points, [(1.0, 0.0), (1.0, 0.25), (2.0, 0.75)]);
    }

    #[test]
    fn a_thinned_curve_is_exact_where_it_is_shown() {
        let distribution = Distribution {
            fct_us: (1..=123_457).map(f64::from).collect(),
            flows: 123_457,
        };
        let points = curve(&distribution, 1.0);
        assert_eq!(points.len(), POINTS + 1);
        for point in &points[1..] {
            assert!((point.y - point.x / 123_457.0).abs() < 1e-12);
        }
        assert!((points[POINTS].y - 1.0).abs() < 1e-12);
    }
}
