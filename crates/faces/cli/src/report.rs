//! `tailwater report`.

use std::path::PathBuf;

use answer::emulation::Emulation;
use api::REPORT;
use results::{Against, Folder, RowPair};
use scenario::{Problem, Problems};

use crate::args::ReportArgs;
use crate::explore;
use crate::output::{self, Stop};
use answer::against;

/// Writes the report of a run again, or one of several runs side by side, and prints its path. For two runs, it first
/// prints how the second differs from the first.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Stop> {
    if let [folder] = args.folders.as_slice()
        && let Some(emulated) = Emulation::read(folder)
    {
        if args.explore {
            return Err(not_explored("a run on the kernel's TCP"));
        }
        let out = args.output.clone();
        let out = out.unwrap_or_else(|| folder.join(REPORT));
        ::report::write_live(&answer::emulation::page(&emulated?), &out).map_err(Problems::from)?;
        return output::wrote(&out);
    }
    let folders = args.folders.iter().map(|path| Folder::open(path));
    let folders = folders.collect::<Result<Vec<_>, _>>()?;
    // The page links to captures, which nothing else has checked.
    folders.iter().try_for_each(Folder::check_all)?;
    let out = match (&args.output, args.folders.as_slice()) {
        (Some(path), _) => path.clone(),
        (None, [folder]) => folder.join(REPORT),
        (None, _) => PathBuf::from(REPORT),
    };
    let folders: Vec<&Folder> = folders.iter().collect();
    let against = match folders.as_slice() {
        [first, second] => Some(Against::of(first, second)),
        _ if args.fail_if.is_empty() => None,
        _ => {
            let problem = Problem::new("--fail-if compares two runs");
            let help = "name two folders, the one to compare with first";
            return Err(Problems::from(problem.help(help)).into());
        }
    };
    let written = match (args.explore, folders.as_slice()) {
        (true, [folder]) => {
            let page = explore::page_of_run(folder)?;
            ::report::write_opening(folder, &answer::SENTENCES, &page, &out)
        }
        (true, _) => return Err(not_explored("several runs")),
        (false, _) => ::report::write(&folders, &answer::SENTENCES, &out),
    };
    written.map_err(Problems::from)?;
    let Some(against) = against else {
        return output::wrote(&out);
    };
    for bound in &args.fail_if {
        let has = |row: &RowPair| {
            row.changes
                .iter()
                .any(|change| change.selector == bound.selector)
        };
        if !against.rows.iter().any(has) {
            let problem = Problem::new(format!(
                "the runs have no row with {} in common",
                bound.selector
            ));
            let help = "rows are matched by their swept values and their scheme";
            return Err(Problems::from(problem.help(help)).into());
        }
    }
    let names = names([&args.folders[0], &args.folders[1]]);
    let text = against::table(&against, [&names[0], &names[1]], &args.fail_if);
    if results::is_stream(&out) {
        // The page may be on standard output.
        output::complain(text.trim_end_matches('\n'));
    } else {
        output::answer(&format!("{text}{}\n", out.display()))?;
    }
    if args
        .fail_if
        .iter()
        .any(|bound| !against.beyond(bound).is_empty())
    {
        return Err(Stop::Failed);
    }
    Ok(())
}

fn not_explored(what: &str) -> Stop {
    let problem = Problem::new(format!("--explore is not for the report of {what}"));
    let help = "name one folder of `tailwater run`";
    Problems::from(problem.help(help)).into()
}

/// The last parts of two paths, or the whole paths if those are equal.
fn names(paths: [&PathBuf; 2]) -> [String; 2] {
    let short = paths.map(|path| path.file_name().unwrap_or_default());
    if short[0] == short[1] {
        return paths.map(|path| path.display().to_string());
    }
    short.map(|name| name.to_string_lossy().into_owned())
}
