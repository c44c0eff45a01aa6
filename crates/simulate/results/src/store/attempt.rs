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

use plan::PointSpec;
use scenario::{Problems, Scenario};
use sim::error::RunError;
use sysinfo::System;

use super::super::cannot;
use super::super::shard::first_twins;
use super::{Access, State, Store, part};

/// Files of points that this process simulates at the moment; none once it is about to end.
#[derive(Debug)]
pub(super) struct Attempts(Mutex<Option<BTreeSet<PathBuf>>>);

impl Default for Attempts {
    fn default() -> Self {
        Self(Mutex::new(Some(BTreeSet::new())))
    }
}

impl Attempts {
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
enum Claim {
    /// It is this process's turn, with the locked file and the lines of earlier processes.
    Ours(Option<File>, Vec<String>),
    /// Another process simulates it at the moment.
    Busy,
}

impl Store {
    /// The right to simulate a point; none if another process does so at the moment.
    ///
    /// # Errors
    /// If the file that says so cannot be written.
    pub fn attempt(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Attempt<'_>>, RunError> {
        let attempts = &self.attempts;
        if self.access != Access::Shard {
            let held = None;
            return Ok(Some(Attempt { held, attempts }));
        }
        let path = self.attempt_path(point, scenario);
        let claimed = claim(&path).map_err(|error| self.unwritten(&error))?;
        let file = match claimed {
            Claim::Busy => return Ok(None),
            Claim::Ours(file, _) => file,
        };
        let mut paths = attempts.paths();
        let held = match (file, &mut *paths) {
            (Some(mut file), Some(paths)) => {
                let written = file.write_all(this_process().as_bytes());
                written.map_err(|error| self.unwritten(&error))?;
                paths.insert(path.clone());
                Some((file, path))
            }
            _ => None,
        };
        drop(paths);
        Ok(Some(Attempt { held, attempts }))
    }

    /// The process ends now, and the points that it simulates are not the reason.
    pub fn abandon(&self) {
        for path in self.attempts.paths().take().into_iter().flatten() {
            drop(fs::remove_file(path));
        }
    }

    /// The given points but for suspects and quarantined ones.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn without_suspects<'a>(
        &self,
        points: Vec<&'a PointSpec>,
        scenario: &Scenario,
    ) -> Result<Vec<&'a PointSpec>, Problems> {
        if self.access != Access::Shard {
            return Ok(points);
        }
        let mut ordinary = Vec::new();
        for point in points {
            if self.deaths(point, scenario)?.is_empty() {
                ordinary.push(point);
            }
        }
        Ok(ordinary)
    }

    /// Points of all shards that have ended one process and may be tried again here. Points that have ended two get their
    /// failure now.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn suspects<'a>(&self, scenario: &'a Scenario) -> Result<Vec<&'a PointSpec>, Problems> {
        let mut suspects = Vec::new();
        if self.access != Access::Shard {
            return Ok(suspects);
        }
        for point in scenario.points() {
            if self.deaths(point, scenario)?.is_empty()
                || self.state(point, scenario)? != State::Unknown
            {
                continue;
            }
            let path = self.attempt_path(point, scenario);
            let claim = claim(&path).map_err(|error| cannot("read", &path, &error))?;
            match claim {
                Claim::Busy => {}
                Claim::Ours(_, deaths) if deaths.len() >= MOST_DEATHS => {
                    let kept = self.keep(point, scenario, &Err(quarantined(&deaths)));
                    kept.map_err(|error| cannot("write", &path, &io::Error::other(error)))?;
                }
                Claim::Ours(..) => suspects.push(point),
            }
        }
        Ok(suspects)
    }

    /// True if another process simulates this point at the moment.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn is_elsewhere(&self, point: &PointSpec, scenario: &Scenario) -> Result<bool, Problems> {
        let path = self.attempt_path(point, scenario);
        if self.access != Access::Shard || !path.exists() {
            return Ok(false);
        }
        let claim = claim(&path).map_err(|error| cannot("read", &path, &error))?;
        Ok(matches!(claim, Claim::Busy))
    }

    /// Processes that ended at this point or at one with the same outcome, or are at it.
    fn deaths(&self, point: &PointSpec, scenario: &Scenario) -> Result<Vec<String>, Problems> {
        let path = self.attempt_path(point, scenario);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(lines(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(cannot("read", &path, &error)),
        }
    }

    fn attempt_path(&self, point: &PointSpec, scenario: &Scenario) -> PathBuf {
        // The points of a shard's scenario never change.
        let firsts = self
            .firsts
            .get_or_init(|| first_twins(scenario.points(), self.captures()));
        let first = &scenario.points()[firsts[point.index]];
        let name = part::name(first, scenario.seeds());
        self.parts().join(format!("{name}.{ATTEMPTS}"))
    }
}

/// Claims the file at `path`, without a line of its own.
fn claim(path: &Path) -> io::Result<Claim> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).create(true).open(path)?;
    for _ in 0..PATIENCE {
        match file.try_lock() {
            Ok(()) => {
                let text = io::read_to_string(&mut file)?;
                return Ok(Claim::Ours(Some(file), lines(&text)));
            }
            // Somebody may only look.
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::Error(_)) => {
                drop(file);
                fs::remove_file(path)?;
                return Ok(Claim::Ours(None, Vec::new()));
            }
        }
    }
    Ok(Claim::Busy)
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The line of this process.
fn this_process() -> String {
    let host = System::host_name().unwrap_or_default();
    format!("process {} on {host}\n", std::process::id())
}

fn quarantined(deaths: &[String]) -> String {
    format!(
        "quarantined: it ended {} workers ({}), most likely for want of memory",
        deaths.len(),
        deaths.join(", ")
    )
}

/// Ending of the file beside a point.
const ATTEMPTS: &str = "attempts";
/// Workers that a point may end.
const MOST_DEATHS: usize = 2;
/// How often a lock is asked for.
const PATIENCE: u32 = 5;
