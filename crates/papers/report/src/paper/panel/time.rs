//! A series over simulated time, of the first seed.

use claims::Subject;
use claims::unit::Dimension;
use scenario::Problems;

use super::{AxesAndLines, Panel, given, line};
use crate::figure::{PlotPoint, Shape};
use crate::thin::Thinned;

/// Both axes and the lines.
pub(super) fn draw(panel: &Panel<'_>) -> Result<AxesAndLines, Problems> {
    let tracks = panel.tracks(None);
    let several = super::several(&tracks);
    let mut drawn = Vec::new();
    for track in &tracks {
        if let Some(row) = track.rows.first() {
            let series = panel.run.series(&track.line.measure, *row)?;
            let thinned = series.into_iter();
            let thinned =
                thinned.map(|(subject, samples)| (subject, thin(within(panel, &samples))));
            drawn.push((track, thinned.collect::<Vec<_>>()));
        }
    }
    let samples = || {
        let series = drawn.iter().flat_map(|(_, series)| series);
        series.flat_map(|(_, samples)| samples)
    };
    let greatest = samples().map(|sample| sample.1).fold(0.0, f64::max);
    let end = samples().map(|sample| sample.0).fold(0.0, f64::max);
    let (y, unit) = panel.y(greatest);
    let axis = &panel.plot.x;
    let time = panel.unit(axis.unit.as_deref(), Dimension::Time, end);
    let label = axis.label.clone().unwrap_or_else(|| "Time".into());
    let x = given(axis, label, &time.name);
    let mut lines = Vec::new();
    for (track, series) in &drawn {
        let own = track.label(several);
        for ((subject, samples), index) in series.iter().zip(0..) {
            let points = samples.iter();
            let points =
                points.map(|(at, value)| PlotPoint::new(at / time.size, value / unit.size));
            let (label, shape, style) = match series.len() {
                1 => (own.clone(), Shape::Step, panel.style(track)),
                2..=MOST => {
                    let label = format!("{own}, {}", name(*subject));
                    // Distinguished by colour if there is one scheme, else by dash.
                    let mut style = panel.style(track);
                    style.dash = index;
                    if !several {
                        style.slot = lines.len();
                    }
                    (label, Shape::Step, style)
                }
                _ => (own.clone(), Shape::Faint, panel.style(track)),
            };
            lines.push(line(label, style, shape, points.collect()));
        }
    }
    Ok((x, y, lines))
}

/// The samples within the axis, and one on either side. Thinning only these keeps the detail.
fn within<'a>(panel: &Panel<'_>, samples: &'a [(f64, f64)]) -> &'a [(f64, f64)] {
    let axis = &panel.plot.x;
    let Some((range, unit)) = axis.range.zip(axis.unit.as_deref()) else {
        return samples;
    };
    let unit = panel.unit(Some(unit), Dimension::Time, 0.0).size;
    let first = samples.partition_point(|(time, _)| *time <= range.0 * unit);
    let last = samples.partition_point(|(time, _)| *time < range.1 * unit);
    &samples[first.saturating_sub(1)..(last + 1).min(samples.len())]
}

/// As few samples as draw the same picture.
fn thin(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut thinned = Thinned::new();
    for (time, value) in samples {
        thinned.push(*time, *value);
    }
    thinned.samples()
}

fn name(subject: Subject) -> String {
    match subject {
        Subject::Port(port) => format!("port {port}"),
        Subject::Flow(flow) => format!("flow {flow}"),
        Subject::Host(host) => format!("host {host}"),
    }
}

/// The most lines of one scheme that can be told apart.
const MOST: usize = 7;
