//! `tailwater import`: traces of flows from the files of other programs.

use std::path::{Path, PathBuf};

use import::{Imported, Kind, Out};
use scenario::{Problem, Problems};

use crate::args::ImportArgs;
use crate::output::{self, Stop};
use crate::progress::quoted;

/// Reads the file, writes the trace, and prints what became of it: beside a trace that goes to a stream, to the standard
/// error.
pub(crate) fn import(args: &ImportArgs) -> Result<(), Stop> {
    let told = made(args)?;
    if args.output.as_deref().is_some_and(results::is_stream) {
        told.lines().for_each(output::complain);
        return Ok(());
    }
    output::answer(&told)
}

/// Reads the file, writes the trace, and says what became of it.
pub(crate) fn made(args: &ImportArgs) -> Result<String, Problems> {
    let target = target(args)?;
    let name = args.file.display();
    let bytes = import::read(&args.file).map_err(|error| {
        let problem = Problem::new(format!("{name}: it cannot be read: {error}"));
        Problems::from(problem.help("name a file of flow records or packets"))
    })?;
    let imported = import::import(&bytes, args.kind(), args.size).map_err(|cause| {
        let problem = Problem::new(format!("{name}: {cause}"));
        let kinds = Kind::ALL.map(|(_, name, _)| name).join(", ");
        Problems::from(problem.help(format!(
            "--from KIND says what a file is ({kinds}); a table with columns of your own needs no import: `tailwater \
             explain workload.columns`"
        )))
    })?;
    let written = results::deliver(&target.0, |file| {
        import::write(&imported, BEGIN, target.1, &creator(), file)
    });
    written.map_err(|error| {
        let problem = Problem::new(error.to_string());
        // The input was right.
        Problems::from(problem.for_lack_of_room())
    })?;
    Ok(told(&imported, &args.file, &target.0))
}

/// The file to write, and how.
fn target(args: &ImportArgs) -> Result<(PathBuf, Out), Problems> {
    let path = args.output.clone().unwrap_or_else(|| {
        let mut name = args.file.file_stem().unwrap_or_default().to_os_string();
        name.push(".flows.csv");
        PathBuf::from(name)
    });
    let name = path.display();
    if args.output.is_none() && path.exists() {
        let problem = Problem::new(format!("{name} is there already"));
        let help = format!("-o {name} replaces it; -o NAME writes another file");
        return Err(problem.help(help).into());
    }
    let streamed = results::is_stream(&path).then_some(Out::Csv);
    let out = Out::of(&path).or(streamed).ok_or_else(|| {
        let problem = Problem::new(format!("-o {name}: the ending tells no format"));
        problem.help("a trace is .csv or .parquet")
    })?;
    Ok((path, out))
}

/// What was read, what was skipped and why, and what to run next.
fn told(imported: &Imported, file: &Path, target: &Path) -> String {
    let mut out = String::new();
    let mut line = |text: &str| answer::paragraph(&mut out, 0, text);
    line(&format!("{}: {}.", file.display(), imported.kind.help()));
    imported.told().iter().for_each(|text| line(text));
    if imported.largest() > HUGE {
        line(
            "A flow of more than 10 GB takes long: run.duration ends a simulation before, as in --set \
             run.duration=100ms.",
        );
    }
    let path = quoted(&target.display().to_string());
    let further = if imported.pauses() {
        " --set workload.max_gap=1s"
    } else {
        ""
    };
    out + &format!(
        "Wrote {path}. Run it with:\n  tailwater run trace --set workload.trace={path}{further}\n"
    )
}

fn creator() -> String {
    format!("tailwater {}", env!("CARGO_PKG_VERSION"))
}

/// Where the first flow starts, in picoseconds: `workload.start` unless a scenario sets it.
const BEGIN: u64 = 10_000_000_000;
/// Bytes of flows that stand for endless ones in many files.
const HUGE: u64 = 10_000_000_000;
