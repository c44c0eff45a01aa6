//! Texts of the command for the Python package. It prints the same texts, and runs the command for users who installed
//! it with the package.

use std::ffi::OsString;
use std::path::Path;

use api::{Error, Judgement, Request};
use clap::ValueEnum;
use results::{Finished, Folder};
use scenario::{Problem, Problems};

use crate::args::{ImportArgs, Listed, commands};
use answer::run::View;

/// The table of a run in this many columns of text.
pub fn table(folder: &Folder, width: usize) -> String {
    let view = View {
        columns: None,
        rows: None,
        width,
        styled: false,
    };
    answer::run::table(&finished(folder), &view)
}

/// Every number of a run but those of single flows and ports, as JSON. The cost of single points is unknown for an
/// earlier run.
pub fn json(folder: &Folder) -> String {
    answer::run::json(&finished(folder), None)
}

fn finished(folder: &Folder) -> Finished {
    Finished::new(folder.summary().clone(), folder.info().clone())
}

/// Claims as a table.
pub fn claims_table(judged: &Judgement<'_>) -> String {
    answer::claims::table(judged, false)
}

/// Claims as JSON.
pub fn claims_json(judged: &Judgement<'_>) -> String {
    answer::claims::json(judged)
}

/// The meaning of a word.
///
/// # Errors
/// The nearest names, if the word is unknown.
pub fn explain(word: &str) -> Result<String, Error> {
    Ok(explain::explain(word, &commands())?)
}

/// The page of `tailwater explore` for a request, whose scenario the command calls `name`.
///
/// # Errors
/// All errors in the request, and features that a page does not have.
pub fn explore(request: &Request, name: &str) -> Result<String, Error> {
    Ok(crate::explore::page(request, name)?)
}

/// The page of `tailwater explore` for the scenario of a run.
///
/// # Errors
/// If a page cannot carry the scenario.
pub fn explore_run(folder: &Folder) -> Result<String, Problems> {
    crate::explore::page_of_run(folder)
}

/// The list called `what`, as in `"schemes"`, or the list of lists.
///
/// # Errors
/// The names of the lists, if the name is unknown.
pub fn list(what: Option<&str>) -> Result<String, Error> {
    let what = what.map(|name| {
        let named = Listed::from_str(name, false);
        named.map_err(|_| {
            let lists = Listed::value_variants().iter();
            let lists = lists.filter_map(ValueEnum::to_possible_value);
            let names: Vec<_> = lists.map(|list| format!("{:?}", list.get_name())).collect();
            let problem = Problem::new(format!("there is no list {name:?}"));
            Problems::from(problem.help(format!("choose among {}", names.join(", "))))
        })
    });
    Ok(crate::list::list(what.transpose()?)?)
}

/// A file of another program whose flows become a trace, or whose network or sizes become a scenario.
pub struct Import<'a> {
    /// The file.
    pub file: &'a Path,
    /// The path of the trace, if not named after the file.
    pub output: Option<&'a Path>,
    /// Its kind, as in `"hpcc"`, if it should not be detected from the content.
    pub kind: Option<&'a str>,
    /// Bytes of flows without an end.
    pub size: Option<u64>,
    /// Whether entries that a trace cannot express are left out instead of refused.
    pub lenient: bool,
}

/// Writes a trace of the flows in a file of another program. Returns what was read, and what was skipped with reasons.
///
/// # Errors
/// If there is no such kind, the file has no flow, or the trace cannot be written.
pub fn import_flows(import: &Import<'_>) -> Result<String, Error> {
    let names = import::FileKind::ALL.map(|(_, name, _)| name);
    if let Some(kind) = import.kind.filter(|kind| !names.contains(kind)) {
        let problem = Problem::new(format!("there is no kind of file {kind:?}"));
        let help = format!("choose among {}", names.join(", "));
        return Err(problem.help(help).into());
    }
    let args = ImportArgs {
        file: import.file.to_owned(),
        output: import.output.map(Path::to_owned),
        from: import.kind.map(str::to_owned),
        size: import.size,
        lenient: import.lenient,
    };
    Ok(crate::import_flows::made(&args)?)
}

/// Runs the command in a process that belongs to another program: prints, and ends the process if a signal asks for it.
/// Returns the exit status of [`run_args`](crate::run_args).
pub fn command<I, T>(args: I) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString>,
{
    crate::tell_panics();
    crate::status(args)
}
