//! `tailwater import`: traces of flows from the files of other programs.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use import::{Imported, Kind, Out};
use scenario::{Problem, Problems};
use tables::flows::exact::{lasting, written};

use crate::args::ImportArgs;
use crate::output::{self, Stop};

/// Reads the file, writes the trace, and prints what became of it.
pub(crate) fn import(args: &ImportArgs) -> Result<(), Stop> {
    output::answer(&made(args)?)
}

/// Reads the file, writes the trace, and says what became of it.
pub(crate) fn made(args: &ImportArgs) -> Result<String, Problems> {
    let target = target(args)?;
    let name = args.file.display();
    let bytes = read(&args.file).map_err(|error| {
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
    let written = results::replace(&target.0, |file| {
        import::write(&imported, BEGIN, target.1, &creator(), file)
    });
    written.map_err(|error| {
        let problem = Problem::new(format!("cannot write {}: {error}", target.0.display()));
        // The input was right.
        Problems::from(problem.for_lack_of_room())
    })?;
    Ok(told(&imported, &args.file, &target.0))
}

/// The file to write, and how.
fn target(args: &ImportArgs) -> Result<(PathBuf, Out), Problems> {
    let Some(path) = &args.output else {
        let stem = args.file.file_stem().unwrap_or_default();
        let mut name = stem.to_os_string();
        name.push(".flows.csv");
        let path = PathBuf::from(name);
        if path.exists() {
            let problem = Problem::new(format!("{} is there already", path.display()));
            return Err(problem
                .help(format!(
                    "-o {} replaces it; -o NAME writes another file",
                    path.display()
                ))
                .into());
        }
        return Ok((path, Out::Csv));
    };
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "csv" => Ok((path.clone(), Out::Csv)),
        "parquet" | "pq" => Ok((path.clone(), Out::Parquet)),
        _ => {
            let problem =
                Problem::new(format!("-o {}: the ending tells no format", path.display()));
            Err(problem.help("a trace is .csv or .parquet").into())
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Devices do not know their length.
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it has more than 4 GiB: give it in parts"));
    }
    Ok(bytes)
}

/// What was read, what was skipped and why, and what to run next.
fn told(imported: &Imported, file: &Path, target: &Path) -> String {
    let mut out = String::new();
    let mut line = |text: &str| text::paragraph(&mut out, 0, text);
    line(&format!("{}: {}.", file.display(), imported.kind.help()));
    let flows = &imported.flows;
    let bytes: u128 = flows.iter().map(|flow| u128::from(flow.size)).sum();
    let most = flows.iter().map(|flow| flow.size).max().unwrap_or(0);
    let (first, last) = (flows[0].start, flows[flows.len() - 1].start);
    line(&format!(
        "Read {} {}: {} flows between {} hosts with {}, the largest {}.",
        imported.read,
        imported.what,
        flows.len(),
        imported.hosts.len(),
        size(bytes),
        size(most.into())
    ));
    let since = if imported.dated {
        written(first)
    } else {
        lasting(first)
    };
    let within = match last - first {
        0 => "all at once".to_owned(),
        span => format!("within {}", lasting(span)),
    };
    line(&format!(
        "They start at {since} and later, {within}; the first is put at 10 ms."
    ));
    for (what, count) in &imported.skipped {
        line(&format!("Skipped: {count} {what}."));
    }
    for note in &imported.notes {
        line(note);
    }
    if most > HUGE {
        line(
            "A flow of more than 10 GB takes long: run.duration ends a simulation before, as in --set \
             run.duration=100ms.",
        );
    }
    let (path, further) = (shown(target), further(imported));
    out + &format!(
        "Wrote {path}. Run it with:\n  tailwater run trace --set workload.trace={path}{further}\n"
    )
}

/// Settings that a trace like this one wants.
fn further(imported: &Imported) -> &'static str {
    let flows = &imported.flows;
    let gap = flows
        .windows(2)
        .map(|pair| pair[1].start - pair[0].start)
        .max();
    if gap.unwrap_or(0) > LONG_GAP {
        " --set workload.max_gap=1s"
    } else {
        ""
    }
}

/// A path as a shell takes it.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Bytes with three digits.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn size(bytes: u128) -> String {
    let unit = UNITS.into_iter().find(|(_, unit)| bytes >= *unit);
    let (name, unit) = unit.unwrap_or(("B", 1));
    let text = format!("{:.2}", bytes as f64 / unit as f64);
    format!(
        "{} {name}",
        text.trim_end_matches('0').trim_end_matches('.')
    )
}

fn creator() -> String {
    format!("tailwater {}", env!("CARGO_PKG_VERSION"))
}

/// Where the first flow starts, in picoseconds: `workload.start` unless a scenario sets it.
const BEGIN: u64 = 10_000_000_000;
/// A minute without a start, in picoseconds: longer than anything that flows wait for.
const LONG_GAP: u128 = 60_000_000_000_000;
/// Bytes of flows that stand for endless ones in many files.
const HUGE: u64 = 10_000_000_000;
/// The file is read at once.
const MOST_BYTES: u64 = 4 << 30;
const UNITS: [(&str, u128); 5] = [
    ("PB", 1_000_000_000_000_000),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
];
