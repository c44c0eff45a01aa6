//! Which process of several simulates a point, and which have ended while they did.
//!
//! A shard writes the line of its process into a file beside the point and holds that file locked until the point is kept.
//! Whatever ends the process gives the lock back and leaves the line. A point with one such line is suspect: it is tried
//! once more, after all others and alone, by the first process that has nothing else to do. With two lines it is
//! quarantined: it counts as failed, and no shard touches it again.
//!
//! Ctrl-C, SIGTERM and a failed simulation remove the line, since they say nothing about the point. Nothing is written
//! where the file system has no locks.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sysinfo::System;

/// Files of points that this process simulates at the moment; none once it is about to end.
#[derive(Debug)]
pub(crate) struct Attempts(Mutex<Option<BTreeSet<PathBuf>>>);

impl Default for Attempts {
    fn default() -> Self {
        Self(Mutex::new(Some(BTreeSet::new())))
    }
}

impl Attempts {
    /// Permission to simulate the point whose file is `path`, none while another process does so.
    pub(crate) fn begin(&self, path: PathBuf) -> io::Result<Option<Attempt<'_>>> {
        let file = match Claim::of(&path)? {
            Claim::Busy => return Ok(None),
            Claim::Ours(file, _) => file,
        };
        let mut paths = self.paths();
        let held = match (file, &mut *paths) {
            (Some(mut file), Some(paths)) => {
                file.write_all(this_process().as_bytes())?;
                paths.insert(path.clone());
                Some((file, path))
            }
            _ => None,
        };
        drop(paths);
        Ok(Some(Attempt {
            held,
            attempts: self,
        }))
    }

    /// Permission that nobody else has to give.
    pub(crate) const fn alone(&self) -> Attempt<'_> {
        Attempt {
            held: None,
            attempts: self,
        }
    }

    /// Removes the lines of this process, which ends now; it writes no more of them.
    pub(crate) fn abandon(&self) {
        for path in self.paths().take().into_iter().flatten() {
            drop(fs::remove_file(path));
        }
    }

    fn paths(&self) -> MutexGuard<'_, Option<BTreeSet<PathBuf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This process simulates a point until this is dropped.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// The locked file with its path; none where nobody else works.
    held: Option<(File, PathBuf)>,
    attempts: &'a Attempts,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.held {
            if let Some(paths) = &mut *self.attempts.paths() {
                paths.remove(path);
            }
            // Before the lock goes with the file, so that nobody takes the line for that of a dead process.
            drop(fs::remove_file(path));
        }
    }
}

/// The answer to a process that wants to simulate a point.
pub(crate) enum Claim {
    /// It is this process's turn, with the locked file and the lines of earlier processes.
    Ours(Option<File>, Vec<String>),
    /// Another process simulates it at the moment.
    Busy,
}

impl Claim {
    /// Claims the file at `path`, without a line of its own.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        for _ in 0..PATIENCE {
            match file.try_lock() {
                Ok(()) => {
                    let text = io::read_to_string(&mut file)?;
                    return Ok(Self::Ours(Some(file), lines(&text)));
                }
                // Somebody may only look.
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::Error(_)) => {
                    drop(file);
                    fs::remove_file(path)?;
                    return Ok(Self::Ours(None, Vec::new()));
                }
            }
        }
        Ok(Self::Busy)
    }
}

/// The lines of the processes that ended at a point, or are at it.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The line of this process.
fn this_process() -> String {
    let host = System::host_name().unwrap_or_default();
    format!("process {} on {host}\n", std::process::id())
}

/// The failure of a point that ended these processes.
pub(crate) fn quarantined(deaths: &[String]) -> String {
    format!(
        "quarantined: it killed {} workers ({}), most likely because memory ran out",
        deaths.len(),
        deaths.join(", ")
    )
}

/// Ending of the file beside a point.
pub(crate) const ENDING: &str = "attempts";
/// Workers that a point may end.
pub(crate) const MOST_DEATHS: usize = 2;
/// How often a lock is asked for.
const PATIENCE: u32 = 5;
