//! `tailwater import`: traces of flows, networks and distributions of sizes from the files of other programs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use answer::words::quoted;
use import::{Content, FileKind, Imported, ImportedNetwork, ImportedSizes, Out};
use scenario::{Problem, Problems};

use crate::args::ImportArgs;
use crate::output::{self, Stop};

/// Reads the file, writes the trace, and prints a summary; on standard error if the trace goes to a stream.
pub(crate) fn import(args: &ImportArgs) -> Result<(), Stop> {
    let told = made(args)?;
    if args.output.as_deref().is_some_and(results::is_stream) {
        told.lines().for_each(output::complain);
        return Ok(());
    }
    output::answer(&told)
}

/// Reads the file, writes the trace, and returns a summary.
pub(crate) fn made(args: &ImportArgs) -> Result<String, Problems> {
    let name = args.file.display();
    let bytes = import::read(&args.file).map_err(|error| {
        let problem = Problem::new(format!("{name}: it cannot be read: {error}"));
        let folder = "; for a folder of Chakra's execution traces, name the file of rank 0, as in all_reduce.0.et";
        let folder = if args.file.is_dir() { folder } else { "" };
        Problems::from(problem.help(format!("name a file of flow records or packets{folder}")))
    })?;
    let mut options = args.options();
    let wrong = |cause: String| {
        let problem = Problem::new(format!("{name}: {cause}"));
        let kinds = FileKind::ALL.map(|(_, name, _)| name).join(", ");
        let size = if cause.contains("without an end") {
            "--size 10MB sets the size of flows without an end; "
        } else {
            ""
        };
        Problems::from(problem.help(format!(
            "{size}--from KIND says what a file is ({kinds}); a table with columns of your own needs no import: `tailwater \
             explain workload.columns`"
        )))
    };
    if options.kind.or_else(|| FileKind::of(&bytes)) == Some(FileKind::Chakra) {
        options.ranks = import::ranks(&args.file).map_err(wrong)?;
    }
    let content = import::import(&bytes, &options).map_err(wrong)?;
    match content {
        Content::Flows(imported) => trace(args, &imported),
        Content::Network(network) => map(args, &network),
        Content::Sizes(sizes) => law(args, &sizes),
    }
}

/// Writes the trace of flows.
fn trace(args: &ImportArgs, imported: &Imported) -> Result<String, Problems> {
    let (path, out) = target(args)?;
    deliver(&path, |file| {
        import::write(imported, BEGIN, out, &creator(), file)
    })?;
    Ok(told(imported, args, &path))
}

/// Writes a scenario with a network, and the network's map beside it unless it is a named shape.
fn map(args: &ImportArgs, network: &ImportedNetwork) -> Result<String, Problems> {
    let path = path(args, ".toml")?;
    let beside = path.with_extension("json");
    if network.shape.is_none() {
        if args.output.is_none() {
            absent(&beside)?;
        }
        deliver(&beside, |file| file.write_all(network.map().as_bytes()))?;
    }
    let map = beside.file_name().unwrap_or_default().to_string_lossy();
    let settings = network.settings(&map);
    deliver(&path, |file| scenario(&args.file, &settings, file))?;
    let mut lines = vec![format!(
        "Read {} switches, {} hosts at each rack, {} links between switches.",
        network.switches.len(),
        network.hosts,
        network.links.len()
    )];
    lines.extend(network.notes.iter().cloned());
    let path = quoted(&path.display().to_string());
    let run = format!(
        "Wrote {path}. Run flows in it with:\n  tailwater run {path} --set workload.kind=trace --set workload.trace=FLOWS.csv\n"
    );
    Ok(paragraphs(args, network.dialect, &lines) + &run)
}

/// Writes a scenario whose sizes are drawn from a distribution.
fn law(args: &ImportArgs, sizes: &ImportedSizes) -> Result<String, Problems> {
    let path = path(args, ".toml")?;
    let settings = [
        ("workload.kind", "poisson".to_owned()),
        ("workload.size", sizes.law()),
    ];
    deliver(&path, |file| scenario(&args.file, &settings, file))?;
    let shares = if sizes.percent {
        "percent"
    } else {
        "parts of 1"
    };
    let line = format!("Read {} sizes with shares in {shares}.", sizes.rows.len());
    let path = quoted(&path.display().to_string());
    let run = format!("Wrote {path}. Run it with:\n  tailwater run {path}\n");
    Ok(paragraphs(args, FileKind::Sizes.help(), &[line]) + &run)
}

/// A scenario with these settings, by table.
fn scenario(
    file: &Path,
    settings: &[(&'static str, String)],
    mut out: impl Write,
) -> io::Result<()> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    writeln!(out, "name = {name:?}")?;
    let mut tables: Vec<&str> = Vec::new();
    for (key, _) in settings {
        let (table, _) = key.split_once('.').unwrap_or((key, ""));
        if tables.contains(&table) {
            continue;
        }
        tables.push(table);
        writeln!(out, "\n[{table}]")?;
        for (key, text) in settings {
            if let Some(field) = key
                .strip_prefix(table)
                .and_then(|rest| rest.strip_prefix('.'))
            {
                writeln!(out, "{field} = {text:?}")?;
            }
        }
    }
    Ok(())
}

/// Writes a file completely, or returns an error.
fn deliver(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Problems> {
    let written = results::deliver(path, write).map(drop);
    written.map_err(|error| {
        let problem = Problem::new(error.to_string());
        // The input was right.
        Problems::from(problem.for_lack_of_room())
    })
}

/// The path to write: as requested, or the input's name with another ending.
fn path(args: &ImportArgs, ending: &str) -> Result<PathBuf, Problems> {
    if let Some(path) = &args.output {
        return Ok(path.clone());
    }
    let mut name = args.file.file_stem().unwrap_or_default().to_os_string();
    name.push(ending);
    let path = PathBuf::from(name);
    absent(&path)?;
    Ok(path)
}

/// Fails if a file exists and may not be replaced.
fn absent(path: &Path) -> Result<(), Problems> {
    if !path.exists() {
        return Ok(());
    }
    let name = path.display();
    let problem = Problem::new(format!("{name} is there already"));
    let help = format!("-o {name} replaces it; -o NAME writes another file");
    Err(problem.help(help).into())
}

/// The path and the format of the trace.
fn target(args: &ImportArgs) -> Result<(PathBuf, Out), Problems> {
    let path = path(args, ".flows.csv")?;
    let name = path.display();
    let streamed = results::is_stream(&path).then_some(Out::Csv);
    let out = Out::of(&path).or(streamed).ok_or_else(|| {
        let problem = Problem::new(format!(
            "-o {name}: the ending of the name is not that of a known format"
        ));
        problem.help("a trace is .csv or .parquet")
    })?;
    Ok((path, out))
}

/// The flows that were read and skipped with reasons, and the next command.
fn told(imported: &Imported, args: &ImportArgs, target: &Path) -> String {
    let mut lines = imported.told();
    if imported.largest() > HUGE {
        let huge = "A flow of more than 10 GB takes long: run.duration ends a simulation before, as in --set \
                    run.duration=100ms.";
        lines.push(huge.to_owned());
    }
    let out = paragraphs(args, imported.kind.help(), &lines);
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

/// The kind of the file, and its contents.
fn paragraphs(args: &ImportArgs, what: &str, lines: &[String]) -> String {
    let mut out = String::new();
    answer::paragraph(&mut out, 0, &format!("{}: {what}.", args.file.display()));
    for line in lines {
        answer::paragraph(&mut out, 0, line);
    }
    out
}

fn creator() -> String {
    format!("tailwater {}", env!("CARGO_PKG_VERSION"))
}

/// The start of the first flow, in picoseconds: the default of `workload.start`.
const BEGIN: u64 = 10_000_000_000;
/// The size in bytes that stands for endless flows in many files.
const HUGE: u64 = 10_000_000_000;
