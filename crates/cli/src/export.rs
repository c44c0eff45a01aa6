//! `tailwater export`: tables of a run folder as comma-separated values.

use std::io;

use results::Folder;
use scenario::shown::cell;
use scenario::{Problem, Problems, suggest};
use sim::metrics::FlowRecord;

use crate::args::ExportArgs;
use crate::output::{self, Stop};

/// Prints a table, or writes it to a file.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Stop> {
    let folder = Folder::open(&args.folder)?;
    let mut unreadable = None;
    let mut write = |out: &mut dyn io::Write| {
        let mut writer = csv::Writer::from_writer(out);
        let written = match &args.table {
            Some(table) => table_to(&folder, table, &mut writer),
            None => trace_to(&folder, args.point, &mut writer),
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
    })
}

/// Where rows go.
type Writer<'a> = csv::Writer<&'a mut dyn io::Write>;

/// Writes a table; the inner result is about that, the outer one about reading it.
fn table_to(
    folder: &Folder,
    table: &str,
    writer: &mut Writer<'_>,
) -> Result<io::Result<()>, Problems> {
    let tables = folder.tables();
    if !tables.contains(&table) {
        let nearest = suggest::did_you_mean(table, tables.iter().copied());
        let problem = Problem::new(format!("the run has no table {table:?}"));
        let help = format!("{nearest}its tables: {}", tables.join(", "));
        return Err(problem.help(help).into());
    }
    folder.table(table, &mut |record| {
        for text in record {
            writer.write_field(cell(text).as_bytes())?;
        }
        // The end of the line.
        Ok(writer.write_record(None::<&[u8]>)?)
    })
}

/// Writes the flows of a simulation as a trace that `workload.kind = "trace"` reads; results as those of
/// [`table_to`].
fn trace_to(
    folder: &Folder,
    point: u32,
    writer: &mut Writer<'_>,
) -> Result<io::Result<()>, Problems> {
    let mut flows = Vec::new();
    folder.flows(&mut |of, flow| {
        if of == point {
            flows.push(flow.clone());
        }
    })?;
    if flows.is_empty() {
        let problem = Problem::new(format!("the run has no simulation {point}"));
        let last = folder.summary().points.len().saturating_sub(1);
        return Err(problem
            .help(format!("its simulations are numbered from 0 to {last}"))
            .into());
    }
    if flows.iter().any(|flow| flow.size_bytes.is_none()) {
        let problem = Problem::new("flows without end have no size that a trace could name");
        let help = "run it with a finite workload.size and export that run";
        return Err(problem.help(help).into());
    }
    Ok(rows(&flows, writer))
}

/// A row for each flow that started, with the columns that tell something.
fn rows(flows: &[FlowRecord], writer: &mut Writer<'_>) -> io::Result<()> {
    let shares = flows
        .windows(2)
        .any(|pair| pair[0].connection >= pair[1].connection);
    let grouped = flows.iter().any(|flow| !flow.group.is_empty());
    let mut names = vec!["start_us", "size_bytes", "sender", "receiver"];
    names.extend(shares.then_some("connection"));
    names.extend(grouped.then_some("group"));
    writer.write_record(&names)?;
    for flow in flows.iter().filter(|flow| flow.start_us.is_finite()) {
        let mut row = vec![
            format!("{:.6}", flow.start_us),
            flow.size_bytes.unwrap_or_default().to_string(),
            flow.sender.to_string(),
            flow.receiver.to_string(),
        ];
        row.extend(shares.then(|| flow.connection.to_string()));
        row.extend(grouped.then(|| cell(&flow.group).into_owned()));
        writer.write_record(&row)?;
    }
    Ok(())
}
