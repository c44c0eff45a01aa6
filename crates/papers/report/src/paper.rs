//! A paper beside its reproduction: every figure in the paper's arrangement, with its claims.

mod given_axis;
mod page;
mod panel;

use std::path::Path;

use claims::judge;
use claims::{MeasuredRun, Paper, Plot};
use scenario::Problems;

use crate::error::Error;
use crate::figure::Figure;
use crate::fixed::{self, FigureSize, Format};
use crate::palette::Palette;
use panel::Panel;

/// A paper with the results of its figures.
pub struct Reproduction<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// Its figures and tables that were run and judged, in the paper's order.
    pub figures: &'a [judge::JudgedFigure<'a>],
    /// Whether they were run with `--full`.
    pub full: bool,
}

impl Reproduction<'_> {
    /// The panels of each figure, in the paper's order and on its axes. A scheme looks the same in all of them. Panels
    /// without a run are left out.
    pub fn panels(&self) -> Result<Vec<Vec<Figure>>, Problems> {
        let palette = self.palette();
        let figures = self.figures.iter();
        figures.map(|figure| panels(figure, &palette)).collect()
    }

    fn palette(&self) -> Palette {
        let runs = self.figures.iter().flat_map(|figure| {
            let others = figure.bench.others.values().copied();
            others.chain([figure.bench.own])
        });
        let schemes = runs.flat_map(|run| &run.run().summary().schemes);
        let schemes: Vec<&str> = schemes.map(String::as_str).collect();
        Palette::new(schemes.into_iter())
    }
}

/// Writes the page of a paper to `out`, and its panels as vector pictures into the folder `figures`
/// beside it. The same reproduction gives the same bytes.
pub fn write_paper(reproduction: &Reproduction<'_>, out: &Path) -> Result<(), Error> {
    let panels = reproduction.panels()?;
    let folder = out.parent().unwrap_or(Path::new("."));
    let drawn = panels.iter().flatten().filter(|panel| !panel.is_empty());
    for panel in drawn {
        let file = folder.join(file(panel));
        let parent = file.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| results::Undelivered {
            path: parent.to_owned(),
            error,
        })?;
        let svg = fixed::draw(panel, FigureSize::default(), Format::Svg);
        crate::put(&file, &svg)?;
    }
    crate::put_page(out, &page::page(reproduction, &panels))
}

/// A panel of a paper's figure, called `name`, from the run that it shows. Schemes look as in a figure of `schemes`.
pub fn panel(
    plot: &Plot,
    (name, title): (&str, &str),
    schemes: &[String],
    run: &MeasuredRun,
) -> Result<Figure, Problems> {
    let palette = Palette::new(schemes.iter().map(String::as_str));
    let panel = Panel {
        plot,
        run,
        palette: &palette,
    };
    panel::draw(&panel, name.to_owned(), title.to_owned())
}

/// The panels of a figure.
fn panels(figure: &judge::JudgedFigure<'_>, palette: &Palette) -> Result<Vec<Figure>, Problems> {
    let experiment = figure.experiment;
    let run = |name: &Option<String>| -> Option<&MeasuredRun> {
        match name.as_deref() {
            Some(name) if name != experiment.name && name != experiment.runs() => {
                figure.bench.others.get(name).copied()
            }
            _ => Some(figure.bench.own),
        }
    };
    let mut figures = Vec::new();
    for (plot, number) in experiment.plots.iter().zip(1..) {
        let Some(run) = run(&plot.run) else { continue };
        let panel = Panel { plot, run, palette };
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
