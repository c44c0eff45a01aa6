//! A paper beside its reproduction: every figure in the paper's arrangement, with its claims.

mod outcome;
mod page;
mod panel;

use std::collections::BTreeMap;
use std::path::Path;

use lab::experiment::{Experiment, Measured, Paper};
use lab::scenario::Problems;

use crate::error::Error;
use crate::figure::Figure;
use crate::fixed::{self, Format, Size};
use crate::palette::Palette;
use panel::Panel;

pub use outcome::{Outcome, Tried, Verdict};

/// A paper with what came out.
#[derive(Debug)]
pub struct Reproduction<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// Its figures and tables that were run, in the paper's order.
    pub figures: Vec<Reproduced<'a>>,
    /// What it was run with, as in `tailwater 0.1.0`.
    pub version: String,
}

/// A figure with what came out.
#[derive(Debug)]
pub struct Reproduced<'a> {
    /// The figure.
    pub experiment: &'a Experiment,
    /// Its panels, from [`panels`].
    pub panels: Vec<Figure>,
    /// The scale that it was run at, in one sentence.
    pub scale: String,
    /// The command that runs it again.
    pub command: String,
    /// Its claims, in order.
    pub claims: Vec<Outcome>,
}

/// Writes the page of a paper to `out`, and its panels as vector pictures into the folder `figures`
/// beside it. The same reproduction gives the same bytes.
pub fn write_paper(reproduction: &Reproduction<'_>, out: &Path) -> Result<(), Error> {
    let folder = out.parent().unwrap_or(Path::new("."));
    let panels = reproduction
        .figures
        .iter()
        .flat_map(|figure| &figure.panels);
    let panels: Vec<&Figure> = panels.filter(|panel| !panel.is_empty()).collect();
    if !panels.is_empty() {
        let figures = folder.join(FIGURES);
        std::fs::create_dir_all(&figures).map_err(|error| Error::Write {
            path: figures.display().to_string(),
            error,
        })?;
    }
    for panel in panels {
        let drawn = fixed::draw(panel, Size::default(), Format::Svg);
        crate::put(&folder.join(file(panel)), &drawn)?;
    }
    crate::put(out, page::render(reproduction).as_bytes())
}

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

/// Where a panel is written, relative to the page.
fn file(panel: &Figure) -> String {
    format!("{FIGURES}/{}.svg", panel.name)
}

/// The folder of the vector pictures.
const FIGURES: &str = "figures";
