//! Records of networks on the machine, written before the networks are made, so that they can be found after a crash.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process;

use serde::{Deserialize, Serialize};

use crate::namespace::{self, Namespace};

/// One run and whose it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The part of the names of its namespaces between `tw-` and the node.
    pub run: String,
    /// The process that made it.
    pid: u32,
    /// When that process started, in ticks, because process ids are used again.
    started: u64,
    /// Whether it stays when the process ends.
    pub kept: bool,
}

impl Record {
    /// Records a run of this process.
    pub fn begin() -> io::Result<Self> {
        fs::create_dir_all(FOLDER)?;
        let pid = process::id();
        for number in 0.. {
            let record = Self {
                run: format!("{pid}n{number}"),
                pid,
                started: started(pid).unwrap_or(0),
                kept: false,
            };
            let file = fs::File::options()
                .write(true)
                .create_new(true)
                .open(record.path());
            match file {
                Ok(_) => {
                    record.write()?;
                    return Ok(record);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("some number is free")
    }

    /// Keeps the run when its process ends.
    pub fn keep(&mut self) -> io::Result<()> {
        self.kept = true;
        self.write()
    }

    /// Removes all namespaces of the run, then the record.
    pub fn remove(&self) -> io::Result<()> {
        let prefix = self.prefix();
        for name in namespace::names()? {
            if name.starts_with(&prefix) {
                namespace::remove(&name)?;
            }
        }
        fs::remove_file(self.path())
    }

    /// The prefix of the names of its namespaces.
    pub fn prefix(&self) -> String {
        format!("tw-{}-", self.run)
    }

    /// Whether the process that made it still runs.
    fn is_alive(&self) -> bool {
        started(self.pid) == Some(self.started)
    }

    fn write(&self) -> io::Result<()> {
        fs::write(self.path(), serde_json::to_vec(self)?)
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(FOLDER).join(format!("{}.json", self.run))
    }
}

/// All records. An unreadable record was interrupted while it was written, and is left out.
pub fn all() -> io::Result<Vec<Record>> {
    let entries = match fs::read_dir(FOLDER) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut records = Vec::new();
    for entry in entries {
        let text = fs::read(entry?.path())?;
        records.extend(serde_json::from_slice::<Record>(&text));
    }
    records.sort_by(|a, b| a.run.cmp(&b.run));
    Ok(records)
}

/// The namespace of a node of a kept network, by the node's name, as in `h3`.
///
/// # Errors
/// If records or namespaces cannot be read.
pub fn kept_node(name: &str) -> io::Result<Option<Namespace>> {
    for record in all()?.iter().filter(|record| record.kept) {
        let name = format!("{}{name}", record.prefix());
        if namespace::names()?.contains(&name) {
            return Namespace::open(&name).map(Some);
        }
    }
    Ok(None)
}

/// Removes kept networks and those of dead processes. Returns the names of the namespaces.
///
/// A run of another process that is still running stays.
///
/// # Errors
/// If a namespace cannot be removed.
pub fn down() -> io::Result<Vec<String>> {
    let before = namespace::names()?;
    let records = all()?;
    let mut alive = Vec::new();
    for record in &records {
        if record.kept || !record.is_alive() {
            record.remove()?;
        } else {
            alive.push(record.prefix());
        }
    }
    // Namespaces without a record, which was lost with its folder or while it was written.
    for name in &before {
        if is_ours(name) && !alive.iter().any(|prefix| name.starts_with(prefix)) {
            namespace::remove(name)?;
        }
    }
    let after = namespace::names()?;
    Ok(before
        .into_iter()
        .filter(|name| !after.contains(name))
        .collect())
}

/// Whether a name has the form `tw-<process>n<number>-<node>`.
fn is_ours(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = || {
        let (run, node) = name.strip_prefix("tw-")?.split_once('-')?;
        let (pid, number) = run.split_once('n')?;
        let node = node.strip_prefix(['h', 's'])?;
        Some(digits(pid) && digits(number) && digits(node))
    };
    parts().unwrap_or(false)
}

/// When a process started, in ticks since the machine started.
fn started(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may contain spaces; the third field follows it.
    let (_, fields) = text.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

const FOLDER: &str = "/run/tailwater/live";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_runs_are_taken_for_ours() {
        assert!(is_ours("tw-812n0-h3"));
        assert!(is_ours("tw-812n1-s0"));
        for other in [
            "tw-lab",
            "tw-812n0-x1",
            "tw-n0-h1",
            "tw-812-h1",
            "h1",
            "tw-812n0-h",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }

    #[test]
    fn a_process_knows_when_it_started() {
        assert!(started(process::id()).is_some_and(|ticks| ticks > 0));
    }
}
