//! Figures for papers: SVG, PNG and PDF of a given size, with text of a readable size.
//!
//! A [`chart`] is laid out once, in points, as a list of shapes and texts; each format draws this
//! list. SVG and PDF keep text as text. The font is part of the program, so that figures look the
//! same on a machine that has none.

mod chart;
mod clip;
mod embed;
mod font;
mod pdf;
mod png;
mod scene;
mod summary;
mod svg;
mod ticks;

use std::path::Path;

use scenario::{Problem, Problems};

use crate::error::Error;
use crate::figure::Figure;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable Vector Graphics, for the web and for editing.
    Svg,
    /// Portable Network Graphics with 300 dots per inch.
    Png,
    /// Portable Document Format, for papers.
    Pdf,
}

/// The size of a figure on paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureSize {
    /// In centimetres.
    pub width_cm: f64,
    /// In centimetres.
    pub height_cm: f64,
}

impl Default for FigureSize {
    /// One column of a paper with two.
    fn default() -> Self {
        Self {
            width_cm: 8.5,
            height_cm: 6.0,
        }
    }
}

impl FigureSize {
    fn points(self) -> (f64, f64) {
        let points = |cm: f64| cm / 2.54 * 72.0;
        (points(self.width_cm), points(self.height_cm))
    }
}

impl Format {
    /// The format for the ending of a file name. Devices and streams get SVG, because their names have no ending.
    pub fn of(path: &Path) -> Result<Self, Problems> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("pdf") => Ok(Self::Pdf),
            _ if results::is_stream(path) => Ok(Self::Svg),
            _ => {
                let name = path.display();
                let problem = Problem::new(format!("{name} has no format that figures come in"));
                Err(problem.help("end the name in .svg, .png or .pdf").into())
            }
        }
    }
}

/// A figure as the contents of a file.
pub fn draw(figure: &Figure, size: FigureSize, format: Format) -> Vec<u8> {
    draw_in(figure, size, None, format)
}

/// The same with another family of fonts than the usual one, which an SVG names and others contain.
fn draw_in(figure: &Figure, size: FigureSize, font: Option<&str>, format: Format) -> Vec<u8> {
    let scene = chart::scene(figure, size.points(), 0);
    match format {
        Format::Svg => svg::write(&scene, size, font, &figure.full_title()).into_bytes(),
        Format::Png => png::write(&scene),
        Format::Pdf => pdf::write(&scene, &figure.full_title()),
    }
}

/// A figure as a part of a page, `size` points wide and high, with its legend or without.
pub(crate) fn embed(figure: &Figure, size: (f64, f64), legend: bool) -> String {
    let scene = if legend {
        chart::scene(figure, size, READ)
    } else {
        chart::without_legend(figure, size, READ)
    };
    embed::write(&scene, &summary::of(figure))
}

/// The same for a narrow screen, with values for fewer points.
pub(crate) fn embed_narrow(figure: &Figure, size: (f64, f64)) -> String {
    let scene = chart::scene(figure, size, READ_NARROW);
    embed::write(&scene, &summary::of(figure))
}

/// Whether the legend of a figure of this size has room for all of its lines.
pub(crate) fn names_all(figure: &Figure, size: (f64, f64)) -> bool {
    chart::names_all(figure, size)
}

/// The legend of a figure as a part of a page.
pub(crate) fn embed_legend(figure: &Figure, width: f64) -> String {
    embed::write(&chart::legend_alone(figure, width), "")
}

/// Writes a figure in the format that the name ends in.
pub fn save(figure: &Figure, size: FigureSize, path: &Path) -> Result<(), Error> {
    save_in(figure, size, None, path)
}

/// The same, with text of an SVG in this family of fonts, if one is given.
pub fn save_in(
    figure: &Figure,
    size: FigureSize,
    font: Option<&str>,
    path: &Path,
) -> Result<(), Error> {
    let format = Format::of(path)?;
    crate::put(path, &draw_in(figure, size, font, format))
}

/// Points of a drawing whose values a page holds, and those of a second drawing for a narrow screen.
const READ: usize = 300;
const READ_NARROW: usize = 60;
