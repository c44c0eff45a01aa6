//! The measurement of a row as a point with its interval.

use scenario::Problems;

use super::{Panel, is_model};
use crate::figure::PlotPoint;

/// The point of a line for a row, at a place to be set; `None` without a measurement.
pub(super) fn point(
    panel: &Panel<'_>,
    line: &claims::PanelLine,
    row: usize,
) -> Result<Option<PlotPoint>, Problems> {
    let estimate = panel.run.values(&line.measure)?.estimate(row);
    // A measured value is never negative, even if the interval of few seeds is wide. But a reduction may be negative.
    let least = match line.measure.reduction_from {
        Some(_) => f64::NEG_INFINITY,
        None => 0.0,
    };
    let interval = match line.low.as_ref().zip(line.high.as_ref()) {
        // The value of an equation does not depend on seeds.
        _ if is_model(&line.measure) => None,
        Some((low, high)) => {
            let mean = |measure| Ok::<_, Problems>(panel.run.values(measure)?.estimate(row).mean);
            mean(low)?.zip(mean(high)?)
        }
        None => estimate
            .low
            .map(|low| low.max(least))
            .zip(estimate.high)
            .filter(|(low, high)| low < high),
    };
    Ok(estimate.mean.map(|y| PlotPoint {
        y,
        interval,
        ..PlotPoint::default()
    }))
}

/// A point in a unit of this size.
pub(super) fn scale(point: &mut PlotPoint, size: f64) {
    let scale = |(low, high): (f64, f64)| (low / size, high / size);
    point.y /= size;
    point.interval = point.interval.map(scale);
    point.inner = point.inner.map(scale);
}
