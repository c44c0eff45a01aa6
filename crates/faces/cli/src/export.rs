//! `tailwater export`: tables of a run folder as comma-separated values.

use std::io;

use base::shown::cell;
use plan::suggest;
use results::Folder;
use results::trace::{self, Exact, NoTrace};
use scenario::{Problem, Problems};

use crate::args::ExportArgs;
use crate::output::{self, Stop};
use crate::progress;

/// Prints a table, or writes it to a file.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Stop> {
    let folder = Folder::open(&args.folder)?;
    let point = args.point.unwrap_or(0);
    let exact = if args.as_trace && !args.inexact {
        has_point(&folder, point)?;
        Some(exact_of(&folder, point)?)
    } else {
        None
    };
    let mut unreadable = None;
    let mut write = |out: &mut dyn io::Write| {
        if let Some(exact) = &exact {
            return out
                .write_all(exact.replay.csv.as_bytes())
                .and_then(|()| out.flush());
        }
        let mut writer = csv::Writer::from_writer(out);
        let written = match &args.table {
            Some(table) => table_to(&folder, table, args.point, &mut writer),
            None => has_point(&folder, point).and_then(|()| {
                trace::inexact(&folder, point, &mut |row| Ok(writer.write_record(row)?))
            }),
        };
        match written {
            Ok(written) => written.and_then(|()| writer.flush()),
            Err(problems) => {
                unreadable = Some(problems);
                Err(io::Error::other("there is nothing to write"))
            }
        }
    };
    let written = match &args.output {
        None => output::ended(write(&mut io::stdout().lock()))
            .map_err(|error| format!("cannot write to standard output: {error}")),
        Some(path) => results::deliver(path, |file| write(file))
            .map(drop)
            .map_err(|error| error.to_string()),
    };
    if let Some(problems) = unreadable {
        return Err(problems.into());
    }
    written.map_err(|error| {
        output::complain(&error);
        Stop::Failed
    })?;
    if let Some(exact) = exact {
        output::complain(&format!(
            "the same simulation again: {}",
            command(&exact, args)
        ));
    }
    Ok(())
}

/// Where rows go.
type Writer<'a> = csv::Writer<&'a mut dyn io::Write>;

/// Writes a table, or its rows for one simulation. The inner result is about writing, the outer one about reading.
fn table_to(
    folder: &Folder,
    table: &str,
    point: Option<u32>,
    writer: &mut Writer<'_>,
) -> Result<io::Result<()>, Problems> {
    let tables = folder.tables();
    if !tables.contains(&table) {
        let nearest = suggest::did_you_mean(table, tables.iter().copied());
        let problem = Problem::new(format!("the run has no table {table:?}"));
        let help = format!("{nearest}its tables: {}", tables.join(", "));
        return Err(problem.help(help).into());
    }
    if let Some(point) = point {
        has_point(folder, point)?;
    }
    let point = point.map(|point| point.to_string());
    let mut rows = 0_u64;
    folder.table(table, &mut |record| {
        // Every table begins with the number of the simulation; its first record is the header.
        let is_head = rows == 0;
        rows += 1;
        let wanted = |point: &String| record.first() == Some(point);
        if !is_head && !point.as_ref().is_none_or(wanted) {
            return Ok(());
        }
        for text in record {
            writer.write_field(cell(text).as_bytes())?;
        }
        // The end of the line.
        Ok(writer.write_record(None::<&[u8]>)?)
    })
}

/// Fails unless the run has results of the simulation with this number.
fn has_point(folder: &Folder, point: u32) -> Result<(), Problems> {
    let summary = folder.summary();
    if summary.points.iter().any(|found| found.point == point) {
        return Ok(());
    }
    let failed = summary.failures.iter().find(|failed| failed.point == point);
    if let Some(failed) = failed {
        let problem = Problem::new(format!("simulation {point} failed: {}", failed.error));
        return Err(problem.help("export another one").into());
    }
    let problem = Problem::new(format!("the run has no simulation {point}"));
    let last = (summary.points.len() + summary.failures.len()).saturating_sub(1);
    Err(problem
        .help(format!("its simulations are numbered from 0 to {last}"))
        .into())
}

/// The trace that reproduces a simulation, or an error with a remedy.
fn exact_of(folder: &Folder, point: u32) -> Result<Exact, Problems> {
    trace::exact(folder, point).map_err(|error| match error {
        NoTrace::Problems(problems) => problems,
        NoTrace::Inexact(reason) => {
            let problem = Problem::new(format!(
                "a trace cannot give this simulation again: {reason}"
            ));
            let help =
                "--inexact writes the times at which its flows started; in such a trace no flow waits for another";
            problem.help(help).into()
        }
    })
}

/// The command that reproduces the simulation.
fn command(exact: &Exact, args: &ExportArgs) -> String {
    let output = args.output.as_ref();
    let output = output.filter(|path| !results::is_stream(path));
    let trace = output.map_or("TRACE.csv".into(), |path| path.display().to_string());
    let file = args.folder.join("scenario.toml");
    let mut words = vec![
        "tailwater".to_owned(),
        "run".to_owned(),
        file.display().to_string(),
    ];
    if let Some(scheme) = &exact.scheme {
        words.extend(["--scheme".to_owned(), scheme.clone()]);
    }
    words.extend(["--seed".to_owned(), exact.seed.to_string()]);
    words.extend(["--seeds".to_owned(), "1".to_owned()]);
    let settings = exact.axes.iter().chain(&exact.replay.settings);
    let settings = settings.map(|(key, text)| format!("{key}={text}"));
    let traces = exact
        .replay
        .traces
        .iter()
        .map(|key| format!("{key}={trace}"));
    for setting in settings.chain(traces) {
        words.extend(["--set".to_owned(), setting]);
    }
    progress::command(&words, &[])
}
