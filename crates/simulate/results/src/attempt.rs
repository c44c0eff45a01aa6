//! Locks that show which of several processes simulates a point, and which processes died while they did.
//!
//! A shard writes the line of its process into a file beside the point and keeps that file locked until the point is
//! stored. However the process ends, the lock is released and the line stays. A point with one such line is suspect: it
//! is tried once more, after all others and alone, by the first process that has nothing else to do. A point with two
//! lines is quarantined: it counts as failed, and no shard simulates it again.
//!
//! Ctrl-C, SIGTERM and a failed simulation remove the line, because they say nothing about the point. Nothing is
//! written on a file system without locks.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sysinfo::System;

/// Files of points that this process simulates at the moment; `None` when it is about to end.
#[derive(Debug)]
pub(crate) struct Attempts(Mutex<Option<BTreeSet<PathBuf>>>);

impl Default for Attempts {
    fn default() -> Self {
        Self(Mutex::new(Some(BTreeSet::new())))
    }
}

impl Attempts {
    /// Permission to simulate the point whose file is `path`; `None` while another process simulates it.
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

    /// Permission without a lock, for a process that works alone.
    pub(crate) const fn alone(&self) -> Attempt<'_> {
        Attempt {
            held: None,
            attempts: self,
        }
    }

    /// Removes the lines of this process, which is about to end. It writes no more of them.
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
    /// The locked file with its path; `None` if no other process works here.
    held: Option<(File, PathBuf)>,
    attempts: &'a Attempts,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.held {
            if let Some(paths) = &mut *self.attempts.paths() {
                paths.remove(path);
            }
            // Removes the file before its lock is released, so that no process takes the line for that of a dead one.
            drop(fs::remove_file(path));
        }
    }
}

/// The answer to a process that wants to simulate a point.
pub(crate) enum Claim {
    /// This process may simulate it. With the locked file and the lines of earlier processes.
    Ours(Option<File>, Vec<String>),
    /// Another process simulates it at the moment.
    Busy,
}

impl Claim {
    /// Claims the file at `path`, without writing a line.
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

/// The lines of the processes that died at a point, or simulate it now.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The line of this process.
fn this_process() -> String {
    let host = System::host_name().unwrap_or_default();
    format!("process {} on {host}\n", std::process::id())
}

/// The failure of a point at which these processes died.
pub(crate) fn quarantined(deaths: &[String]) -> String {
    format!(
        "quarantined: it killed {} workers ({}), most likely because memory ran out",
        deaths.len(),
        deaths.join(", ")
    )
}

/// Ending of the file beside a point.
pub(crate) const ENDING: &str = "attempts";
/// The most processes that may die at a point.
pub(crate) const MOST_DEATHS: usize = 2;
/// How often a lock is tried.
const PATIENCE: u32 = 5;
