//! Runs the scripts below a folder and prints what became of each, with tabs between: group, name and, if it did
//! not pass, what it lacks, if it lacks something, and where it stopped. `cargo xtask packetdrill` makes a page
//! of it.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::path::Path;
use std::{env, io};

use packetdrill::FailureCause;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    for outcome in packetdrill::corpus::run_folder(Path::new(&folder))? {
        let lack = match outcome.failure.as_ref().map(|failure| &failure.cause) {
            Some(FailureCause::Lacks(lack, _)) => lack.name(),
            _ => "",
        };
        let stop = outcome.failure.map(|failure| failure.to_string());
        let stop = stop.unwrap_or_default().replace(['\n', '\t'], " ");
        println!("{}\t{}\t{lack}\t{stop}", outcome.group, outcome.name);
    }
    Ok(())
}
