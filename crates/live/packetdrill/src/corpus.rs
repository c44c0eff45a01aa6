//! Runs a folder of third-party scripts one by one.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::kernel::LinuxHost;
use crate::{ScriptFailure, run};

/// The result of a script.
#[derive(Clone, Debug)]
pub struct ScriptResult {
    /// The folder it lies in.
    pub group: String,
    /// Its name without the extension.
    pub name: String,
    /// Why it did not pass, if it did not.
    pub failure: Option<ScriptFailure>,
}

/// Runs every script below `folder`, in the order of their paths, as written for Linux.
///
/// # Errors
/// If a file or folder cannot be read.
pub fn run_folder(folder: &Path) -> io::Result<Vec<ScriptResult>> {
    let mut scripts = Vec::new();
    find(folder, &mut scripts)?;
    scripts.sort();
    scripts.iter().map(|path| run_file(path)).collect()
}

fn find(folder: &Path, scripts: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, scripts)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            scripts.push(path);
        }
    }
    Ok(())
}

fn run_file(path: &Path) -> io::Result<ScriptResult> {
    let text = fs::read_to_string(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    // Scripts may be deeper in folders than the path to their common files says.
    let read = |name: &str| {
        let found = folder.ancestors().find_map(|above| {
            let tail = name.trim_start_matches("../");
            fs::read_to_string(above.join(tail)).ok()
        });
        found.or_else(|| fs::read_to_string(folder.join(name)).ok())
    };
    let part =
        |path: Option<&std::ffi::OsStr>| path.unwrap_or_default().to_string_lossy().into_owned();
    Ok(ScriptResult {
        group: part(folder.file_name()),
        name: part(path.file_stem()),
        failure: run(&text, &LinuxHost { read: &read }).err(),
    })
}
