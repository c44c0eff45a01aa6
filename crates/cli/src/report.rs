//! `tailwater report`.

use std::path::PathBuf;

use results::Folder;
use scenario::Problems;

use crate::args::ReportArgs;
use crate::output::{self, Stop};
use crate::render::live::{self, Emulated};

/// Writes the report of a run anew, or one of several runs side by side, and prints where it is.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Stop> {
    if let [folder] = args.folders.as_slice()
        && let Some(emulated) = Emulated::read(folder)
    {
        let out = args.output.clone();
        let out = out.unwrap_or_else(|| folder.join(NAME));
        ::report::write_live(&live::page(&emulated?), &out).map_err(Problems::from)?;
        return output::answer(&format!("{}\n", out.display()));
    }
    let folders = args.folders.iter().map(|path| Folder::open(path));
    let folders = folders.collect::<Result<Vec<_>, _>>()?;
    let out = match (&args.output, args.folders.as_slice()) {
        (Some(path), _) => path.clone(),
        (None, [folder]) => folder.join(NAME),
        (None, _) => PathBuf::from(NAME),
    };
    let folders: Vec<&Folder> = folders.iter().collect();
    ::report::write(&folders, &out).map_err(Problems::from)?;
    output::answer(&format!("{}\n", out.display()))
}

/// The name of a report whose name nobody chose.
pub(crate) const NAME: &str = "report.html";
