//! `tailwater export`: tables of a run folder as comma-separated values.

use std::io;

use results::Folder;
use scenario::{Problem, Problems, suggest};

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
    let mut unreadable = None;
    let mut write = |out: &mut dyn io::Write| match export_to(&folder, &args.table, out) {
        Ok(written) => written,
        Err(problems) => {
            unreadable = Some(problems);
            Err(io::Error::other("there is nothing to write"))
        }
    };
    let written = match &args.out {
        None => output::ended(write(&mut io::stdout().lock())),
        Some(path) => results::replace(path, |file| write(file)),
    };
    if let Some(problems) = unreadable {
        return Err(problems.into());
    }
    written.map_err(|error| {
        output::complain(&format!("cannot write the table: {error}"));
        Stop::Failed
    })
}

/// Writes a table; the inner result is about that, the outer one about reading it.
fn export_to(
    folder: &Folder,
    table: &str,
    out: &mut dyn io::Write,
) -> Result<io::Result<()>, Problems> {
    let mut writer = csv::Writer::from_writer(out);
    let written = folder.table(table, &mut |record| Ok(writer.write_record(record)?))?;
    Ok(written.and_then(|()| writer.flush()))
}
