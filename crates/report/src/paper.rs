//! A paper beside its reproduction: every figure in the paper's arrangement, with its claims.

mod panel;

use std::collections::BTreeMap;

use lab::experiment::{Experiment, Measured};
use lab::scenario::Problems;

use crate::figure::Figure;
use crate::palette::Palette;
use panel::Panel;

/// The panels of a paper's figure, in its order and on its axes. `runs` are the runs of the paper by
/// the names of their figures; a panel whose run is not among them is left out.
///
/// A scheme looks the same in all figures of a paper if they are drawn with the same runs.
pub fn panels(
    experiment: &Experiment,
    runs: &BTreeMap<String, Measured>,
) -> Result<Vec<Figure>, Problems> {
    let schemes = runs
        .values()
        .flat_map(|run| &run.folder().summary().schemes);
    let palette = Palette::new(schemes.map(String::as_str));
    let mut figures = Vec::new();
    for (plot, number) in experiment.plots.iter().zip(1..) {
        let name = plot.run.as_deref().unwrap_or(experiment.runs());
        let Some(run) = runs.get(name) else { continue };
        let panel = Panel {
            plot,
            run,
            palette: &palette,
        };
        let (name, title) = if experiment.plots.len() == 1 {
            (experiment.name.clone(), &experiment.title)
        } else {
            (format!("{}-{number}", experiment.name), &plot.title)
        };
        let title = if title.is_empty() {
            &experiment.title
        } else {
            title
        };
        figures.push(panel::draw(&panel, name, title.clone())?);
    }
    Ok(figures)
}
