//! Arguments of the commands that take something out of a run folder.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use import::{FileKind, ImportOptions};

use super::Length;
use super::value::{length, size};

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// A run folder
    pub(crate) folder: PathBuf,
    /// The table: flows, ports or series
    #[arg(required_unless_present = "as_trace", conflicts_with = "as_trace")]
    pub(crate) table: Option<String>,
    /// Write the flows of one simulation as a trace for workload.kind = "trace", and print the command that repeats the
    /// simulation packet by packet. Refused for flows that a trace cannot describe: requests and rounds
    #[arg(long)]
    pub(crate) as_trace: bool,
    /// Also write a trace that cannot repeat the simulation exactly: flows start when they did in the simulation, and wait
    /// for no other flow
    #[arg(long, requires = "as_trace")]
    pub(crate) inexact: bool,
    /// Write only the rows of the simulation with this number [default: all; with --as-trace 0]
    #[arg(long, value_name = "N")]
    pub(crate) point: Option<u32>,
    /// Write to this file, device or FIFO instead of standard output
    #[arg(long, short, value_name = "FILE", alias = "out")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// Flow records of nfdump as text or JSON, a capture (pcap, pcapng), a flow file or a topology of HPCC's simulator or a
    /// simulator derived from it, a connection matrix or a topology of htsim, a GOAL schedule, or a distribution of sizes
    pub(crate) file: PathBuf,
    /// The file to write. For flows: a trace, .csv or .parquet [default: FILE with the ending .flows.csv]; for a topology or
    /// a distribution: a scenario [default: FILE with the ending .toml]. Defaults are in the working directory
    #[arg(long, short, value_name = "FILE", alias = "out")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the file; detected from its content unless given
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub(crate) from: Option<String>,
    /// Payload of flows that have no end, such as htsim's connections of size 0 [default: skip them]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) size: Option<u64>,
    /// Import a file that ends early, or that has entries a trace cannot express, such as link failures: skip these parts
    /// and report them. Without this option such a file is refused
    #[arg(long)]
    pub(crate) lenient: bool,
}

impl ImportArgs {
    /// How the file is read.
    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
            kind: self.kind(),
            endless: self.size,
            lenient: self.lenient,
            ranks: Vec::new(),
        }
    }

    /// The format that `--from` gives.
    fn kind(&self) -> Option<FileKind> {
        let from = self.from.as_deref()?;
        FileKind::ALL
            .iter()
            .find(|(_, name, _)| *name == from)
            .map(|(kind, ..)| *kind)
    }
}

/// The formats that `import` reads, each with its description.
fn kinds() -> PossibleValuesParser {
    let all = FileKind::ALL.into_iter();
    PossibleValuesParser::new(all.map(|(_, name, help)| PossibleValue::new(name).help(help)))
}

#[derive(Args)]
pub(crate) struct PlotArgs {
    /// A folder that `tailwater run` wrote, or a reproduced figure of a paper, as in rcc/fig5a
    pub(crate) folder: PathBuf,
    /// For a figure of a paper: the folder that `tailwater reproduce` wrote
    #[arg(long, value_name = "DIR", default_value = "results/reproduce")]
    pub(crate) reproduced: PathBuf,
    /// Which figure to draw
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "list",
        requires = "output"
    )]
    pub(crate) figure: Option<String>,
    /// The file to write. Its name ends in .svg, .png or .pdf; a device, a FIFO or /dev/stdout gets SVG
    #[arg(long, short, value_name = "FILE", requires = "figure")]
    pub(crate) output: Option<PathBuf>,
    /// List the figures of the run instead of drawing one
    #[arg(long, conflicts_with_all = ["figure", "output"])]
    pub(crate) list: bool,
    /// Width on paper, in cm, mm or in [default: 8.5cm, a column of a two-column paper]
    #[arg(long, value_parser = length)]
    pub(crate) width: Option<Length>,
    /// Height on paper [default: 6cm]
    #[arg(long, value_parser = length)]
    pub(crate) height: Option<Length>,
    /// Draw only these schemes, by their names in the legend
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub(crate) schemes: Vec<String>,
    /// The swept setting on the horizontal axis [default: the first numeric one]
    #[arg(long, value_name = "KEY")]
    pub(crate) x: Option<String>,
    /// Ends of the horizontal axis, as in 0:50 or 1ms:50ms
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true)]
    pub(crate) xlim: Option<String>,
    /// Ends of the vertical axis
    #[arg(long, value_name = "LOW:HIGH", allow_hyphen_values = true)]
    pub(crate) ylim: Option<String>,
    /// Draw a dashed line across the figure at this value of the vertical axis, as in 10ms or goal=10ms
    #[arg(long, value_name = "[NAME=]VALUE")]
    pub(crate) line: Vec<String>,
    /// The family of fonts of an SVG, as in "Times New Roman"; PNG and PDF contain their font
    #[arg(long, value_name = "NAME")]
    pub(crate) font: Option<String>,
    /// Make the horizontal axis logarithmic
    #[arg(long)]
    pub(crate) log_x: bool,
    /// Make the vertical axis logarithmic
    #[arg(long)]
    pub(crate) log_y: bool,
}
