//! Makes reports and figures from a run folder.
//!
//! [`write()`] makes the report, one HTML file that needs neither network nor other files. Its charts
//! are [`Figure`]s: data with titles, axes and units, which [`figures`] lists and [`save`] draws for
//! papers as SVG, PNG or PDF. A scheme has one colour, one marker and one dash everywhere.
//!
//! Everything is a pure function of the folder: the same folder gives the same bytes.
//!
//! ```
//! use report::{Axis, Figure, FigureSize, Format, PlotLine, PlotPoint, Shape, Style};
//!
//! let figure = Figure {
//!     name: "goodput".to_owned(),
//!     chart: "goodput".to_owned(),
//!     choice: String::new(),
//!     title: "Goodput".to_owned(),
//!     caption: "Bytes that all receivers got, over the time of the transfer.".to_owned(),
//!     x: Axis::new("Senders", ""),
//!     y: Axis::new("Goodput", "Mbit/s"),
//!     lines: vec![PlotLine {
//!         label: "dctcp".to_owned(),
//!         style: Style { slot: 0, dash: 0, open: false },
//!         shape: Shape::Joined,
//!         points: vec![PlotPoint::new(10.0, 930.0), PlotPoint::new(40.0, 910.0)],
//!     }],
//! };
//! let svg = report::draw(&figure, FigureSize::default(), Format::Svg);
//! assert!(String::from_utf8_lossy(&svg).contains("Goodput (Mbit/s)"));
//! ```

mod data;
mod error;
mod figure;
mod figures;
mod fixed;
mod live;
mod model;
mod page;
mod palette;
mod paper;
mod sentences;
mod thin;
mod units;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use askama::Template;
use results::{Folder, Recorded};

pub use error::Error;
pub use figure::{Axis, Cells, EventMark, Figure, PlotLine, PlotPoint, Shape, Style};
pub use fixed::{FigureSize, Format, draw, save, save_in};
pub use live::{LiveClaim, LiveColumn, LiveNetwork, LivePage, LiveScheme, write_live};
pub use model::{ModelPage, Rows, write_model};
pub use page::fragments::Fragments;
pub use page::theatre::Played;
pub use page::{Head, PLAYING_SCRIPT, STAGE, STYLE};
pub use paper::{Reproduction, panel, write_paper};
pub use sentences::Sentences;

/// Writes the report of `folders` to `out`: one run, or several side by side.
///
/// # Panics
/// If there is no folder.
pub fn write(folders: &[&Folder], sentences: &Sentences, out: &Path) -> Result<(), Error> {
    assert!(!folders.is_empty(), "a report is about a run");
    put_page(out, &page::page(folders, sentences, out)?)
}

/// Writes the report of `folder` to `out`, with a button that opens `page`: a whole page, which the report carries.
pub fn write_opening(
    folder: &Folder,
    sentences: &Sentences,
    page: &str,
    out: &Path,
) -> Result<(), Error> {
    let report = page::page(&[folder], sentences, out)?;
    put_page(out, &report.opening(page))
}

/// A run as a part of another page, such as a notebook: the answer, the table and the main charts, without a script and
/// below 200 KB.
pub fn snippet(folder: &Folder, sentences: &Sentences) -> Result<String, Error> {
    page::snippet::snippet(folder, sentences)
}

/// The parts of a page that are drawn anew for every run it shows.
pub fn fragments(run: &dyn Recorded, sentences: &Sentences) -> Result<Fragments, Error> {
    page::fragments::fragments(run, sentences)
}

/// The scenes of a run, which its page can play: for runs that were recorded with them.
pub fn scenes(run: &dyn Recorded) -> Result<Vec<Played>, Error> {
    page::theatre::scenes(run)
}

/// A figure on its own axes as a chart in HTML; empty if it shows nothing.
pub fn chart(figure: &Figure) -> String {
    page::fragments::drawing(figure)
}

/// Every figure of a run, in the order of its report.
pub fn figures(folder: &Folder) -> Result<Vec<Figure>, Error> {
    figures_over(folder, None)
}

/// The same with the swept setting `x`, if given, on the horizontal axis of metrics.
pub fn figures_over(folder: &Folder, x: Option<&str>) -> Result<Vec<Figure>, Error> {
    let mut data = data::Data::read(&[folder])?;
    data.x = x.map(str::to_owned);
    Ok(figures::all(&data))
}

/// Writes to a file, a device or a stream.
fn put(out: &Path, bytes: &[u8]) -> Result<(), Error> {
    put_with(out, |file| file.write_all(bytes))
}

/// Writes a page without holding its text in memory.
fn put_page(out: &Path, page: &impl Template) -> Result<(), Error> {
    put_with(out, |file| Template::write_into(page, file))
}

fn put_with(
    out: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Error> {
    results::deliver(out, write)?;
    Ok(())
}
