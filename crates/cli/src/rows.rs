//! Outcomes as rows: one for each combination of swept values and scheme, the mean over its seeds.

use lab::columns::{METRICS, metric_values};
use lab::metrics::Outcome;
use lab::scenario::PointSpec;

use crate::finished::Finished;

/// One row of a comparison.
pub(crate) struct Row<'a> {
    pub(crate) point: &'a PointSpec,
    /// The columns of [`METRICS`]: means over the seeds that have a value, `NaN` if none has.
    values: Vec<f64>,
}

impl Row<'_> {
    /// The value of the metric called `name`.
    pub(crate) fn value(&self, name: &str) -> f64 {
        let index = METRICS.iter().position(|column| column.name == name);
        self.values[index.expect("a column that is declared")]
    }
}

/// The rows of a sweep in groups that differ only in the scheme.
pub(crate) fn groups<'a>(finished: &'a Finished<'_>) -> Vec<Vec<Row<'a>>> {
    let seeds = finished.scenario.seeds() as usize;
    let schemes = finished.scenario.schemes().len();
    // Points come as combinations, schemes within them, seeds within those.
    let points = finished.scenario.points().chunks(seeds);
    let rows: Vec<_> = points.zip(finished.results.chunks(seeds)).collect();
    let group = |rows: &[(&'a [PointSpec], &[Result<Outcome, _>])]| {
        let row = |(points, results): &(&'a [PointSpec], &[Result<Outcome, _>])| Row {
            point: &points[0],
            values: means(results),
        };
        rows.iter().map(row).collect()
    };
    rows.chunks(schemes).map(group).collect()
}

fn means<E>(results: &[Result<Outcome, E>]) -> Vec<f64> {
    let outcomes = results.iter().filter_map(|result| result.as_ref().ok());
    let values: Vec<_> = outcomes
        .map(|outcome| metric_values(&outcome.metrics))
        .collect();
    (0..METRICS.len())
        .map(|column| {
            let present = values
                .iter()
                .map(|row| row[column])
                .filter(|value| !value.is_nan());
            let (sum, count) = present.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
            // No value at all makes 0/0, which is the NaN that stands for "none".
            sum / count
        })
        .collect()
}
