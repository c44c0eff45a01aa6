//! Points of a shared folder that other processes simulate, or at which they died: see [`crate::attempt`].

use std::fs;
use std::io;
use std::path::PathBuf;

use plan::PointSpec;
use scenario::{Problems, Scenario};
use sim::error::RunError;

use super::super::attempt::{Attempt, Claim, ENDING, MOST_DEATHS, lines, quarantined};
use super::super::cannot;
use super::super::part;
use super::super::shard::first_twins;
use super::{Access, State, Store};

impl Store {
    /// The right to simulate a point; `None` if another process simulates it at the moment.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub fn attempt(
        &self,
        point: &PointSpec,
        scenario: &Scenario,
    ) -> Result<Option<Attempt<'_>>, RunError> {
        if self.access != Access::Shard {
            return Ok(Some(self.attempts.alone()));
        }
        let begun = self.attempts.begin(self.attempt_path(point, scenario));
        begun.map_err(|error| self.unwritten(&error))
    }

    /// Called when the process ends now and the points that it simulates are not the reason.
    pub fn abandon(&self) {
        self.attempts.abandon();
    }

    /// The given points, without suspect and quarantined ones.
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

    /// Points of all shards at which one process died and that may be tried again here. Points at which two processes
    /// died get their failure now.
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
            let claim = Claim::of(&path).map_err(|error| cannot("read", &path, &error))?;
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
        let claim = Claim::of(&path).map_err(|error| cannot("read", &path, &error))?;
        Ok(matches!(claim, Claim::Busy))
    }

    /// Processes that died at this point or at one with the same outcome, or that simulate it now.
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
        self.parts().join(format!("{name}.{ENDING}"))
    }
}
