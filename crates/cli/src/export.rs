//! `tailwater export`: tables of a run folder as comma-separated values.

use std::io;

use lab::results::Folder;
use lab::scenario::{Problem, Problems, suggest};

use crate::args::ExportArgs;
use crate::output::{self, Stop};

/// Prints a table, or writes it to a file.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Stop> {
    let folder = Folder::open(&args.folder)?;
    let tables = folder.tables();
    if !tables.contains(&args.table.as_str()) {
        let nearest = suggest::did_you_mean(&args.table, tables.iter().copied());
        let problem = Problem::new(format!("the run has no table {:?}", args.table));
        let help = format!("{nearest}its tables: {}", tables.join(", "));
        return Err(Problems::from(problem.help(help)).into());
    }
    let written = match &args.out {
        None => output::ended(export_to(&folder, &args.table, io::stdout().lock())),
        Some(path) => lab::results::replace(path, |file| export_to(&folder, &args.table, file)),
    };
    written.map_err(|error| {
        output::complain(&format!("cannot write the table: {error}"));
        Stop::Failed
    })
}

fn export_to(folder: &Folder, table: &str, out: impl io::Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    folder.table(table, &mut |record| Ok(writer.write_record(record)?))?;
    writer.flush()
}
