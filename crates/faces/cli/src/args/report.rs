//! `tailwater report`.

use std::path::PathBuf;

use clap::Args;
use results::Bound;

/// The runs of a report and its file.
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Folders that `tailwater run` wrote, or one folder that `tailwater emulate` wrote
    #[arg(required = true, value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// Where to write [default: report.html in the folder, or here if there are several folders]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Add a button that opens the page of `tailwater explore` with the scenario of the run. The report contains that page
    /// and becomes about 1.4 MB larger. Only for a single folder of `tailwater run`
    #[arg(long)]
    pub(crate) explore: bool,
    /// Exit with status 1 if a metric of the second folder differs from the first by more than this in
    /// any row, as in 'p99 > +5%', 'goodput < -2%' or 'reads.p99 > +1ms'. May be given several times
    #[arg(long, value_name = "CHANGE", value_parser = bound, allow_hyphen_values = true)]
    pub(crate) fail_if: Vec<Bound>,
}

fn bound(text: &str) -> Result<Bound, String> {
    Bound::parse(text).map_err(|unknown| format!("{}; {}", unknown.cause, unknown.remedy))
}
