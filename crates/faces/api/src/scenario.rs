//! Many simulations: a scenario, and the outcomes of its points.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use claims::catalogue;
use plan::PointSpec;
use scenario::{Overrides, Problems, Source};
use sim::metrics::Outcome;
use sim::run::within;
use sim::sweep::{PointFailure, run_all};

use crate::error::Error;
use crate::monitor::Stage;
use crate::options::RunOptions;
use crate::point::Point;
use crate::request::Request;
use crate::simulate::{self, Room, expected};

/// A scenario in which every setting is known to be correct: schemes, settings with one value or several, and seeds.
/// Its points are their product.
///
/// A wrapper of [`scenario::Scenario`] without anything that a caller could misuse.
///
/// ```
/// use api::Scenario;
///
/// let scenario = Scenario::builder("incast")
///     .schemes(["newreno", "dctcp"])
///     .set("workload.senders", "10,20,40")
///     .seeds(1)
///     .build()?;
/// assert_eq!(scenario.points().count(), 6);
/// # Ok::<(), api::Error>(())
/// ```
pub struct Scenario {
    request: Request,
    inner: scenario::Scenario,
}

impl Scenario {
    /// The scenario called `name`, unchanged: a built-in scenario, a figure of a paper as in `rcc/fig5a`, or the path
    /// of a file.
    pub fn builder(name: &str) -> ScenarioBuilder {
        ScenarioBuilder {
            source: catalogue::scenario(name),
            overrides: Overrides::default(),
        }
    }

    /// The scenario in a TOML text, unchanged.
    ///
    /// ```
    /// use api::Scenario;
    ///
    /// let text = "schemes = [\"dctcp\"]\nworkload.senders = [4, 8]\n";
    /// assert_eq!(Scenario::toml(text).build()?.points().count(), 2);
    /// assert!(Scenario::toml("workload.servers = 4\n").build().is_err());
    /// # Ok::<(), api::Error>(())
    /// ```
    pub fn toml(text: &str) -> ScenarioBuilder {
        ScenarioBuilder {
            source: Ok(Source::new("scenario", text)),
            overrides: Overrides::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// Every simulation, seeds changing fastest.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        self.inner.points().iter().map(Point::of)
    }

    /// Hints about settings that are allowed but probably not intended.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.inner.warnings().iter().map(ToString::to_string)
    }

    /// The scenario as TOML with every setting written out.
    pub fn to_toml(&self) -> String {
        self.inner.resolved()
    }

    /// How to run it into a folder.
    pub(crate) const fn request(&self) -> &Request {
        &self.request
    }
}

/// A [`Scenario`] under construction. Its methods override the text.
///
/// ```
/// use api::Scenario;
///
/// let scenario = Scenario::builder("incast")
///     .schemes(["dctcp"])
///     .set("workload.senders", 4)
///     .seed(7)
///     .seeds(3)
///     .build()?;
/// let seeds: Vec<u64> = scenario.points().map(|point| point.seed()).collect();
/// assert_eq!(seeds, [7, 8, 9]);
/// # Ok::<(), api::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ScenarioBuilder {
    source: Result<Source, Problems>,
    overrides: Overrides,
}

impl ScenarioBuilder {
    /// Gives a setting this value, or several, as in `"10,20,40"` or `"10..40:10"`.
    #[must_use]
    pub fn set(mut self, key: &str, values: impl Display) -> Self {
        self.overrides.sets.push(format!("{key}={values}"));
        self
    }

    /// Sets schemes, compositions and variants in place of the scenario's own.
    #[must_use]
    pub fn schemes<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        self.overrides.schemes = Some(names.join(","));
        self
    }

    /// The first seed.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.overrides.seed = Some(seed);
        self
    }

    /// The number of seeds for every combination; 0 leaves it unchanged.
    #[must_use]
    pub const fn seeds(mut self, seeds: u32) -> Self {
        self.overrides.seeds = NonZeroU32::new(seeds);
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Everything that is wrong, each at its place.
    pub fn build(self) -> Result<Scenario, Error> {
        let request = Request {
            overrides: self.overrides,
            ..Request::new(self.source?)
        };
        let inner = request.scenario()?;
        Ok(Scenario { request, inner })
    }
}

/// Points with their outcomes, or with the reason why there is none.
pub type Outcomes = Vec<(Point, Result<Outcome, PointFailure>)>;

/// Simulates every point of a scenario on all cores, and keeps every outcome in memory.
/// [`run_folder`](crate::run_folder) keeps tables on disk.
///
/// The results are in the order of the points and do not depend on the number of threads. A point that fails does not
/// affect the others.
///
/// ```
/// use api::{RunOptions, Scenario, sweep};
///
/// let scenario = Scenario::builder("incast").set("workload.senders", "4,8").build()?;
/// for (point, result) in sweep(&scenario, &RunOptions::default())? {
///     let outcome = result?;
///     println!("{} {}", point.scheme(), outcome.metrics.goodput_bps);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the points do not fit the memory or the steps allowed, or the sweep was stopped.
pub fn sweep(scenario: &Scenario, options: &RunOptions<'_>) -> Result<Outcomes, Error> {
    let all: Vec<&PointSpec> = scenario.inner.points().iter().collect();
    let room = Room::for_points(&all, None, &options.allowance)?;
    let twins = simulate::twins(&all, false);
    let duplicates = |point: &PointSpec| twins.get(&point.index).into_iter().flatten();
    let is_first = |point: &&PointSpec| {
        !twins
            .values()
            .flatten()
            .any(|twin| twin.index == point.index)
    };
    let first: Vec<&PointSpec> = all.iter().copied().filter(is_first).collect();
    let own = AtomicBool::new(false);
    let stop = options.stop.unwrap_or(&own);
    let limits = room.limits(stop);
    let monitor = options.monitor;
    let stage = Stage {
        simulations: all.len(),
        expected_s: expected(&all, false, room.jobs),
        causes_s: 0.0,
        jobs: room.jobs,
        content: &(),
    };
    let done = |point: &PointSpec, result: &Result<Outcome, PointFailure>| {
        if let Err(failure) = result {
            monitor.on_failure(&Point::of(point), failure);
        }
        monitor.on_simulation(room.share(point));
        duplicates(point).for_each(|_| monitor.on_simulation(0.0));
    };
    let results = Mutex::new(BTreeMap::new());
    monitor.during(&stage, &mut || {
        let run = |point: &PointSpec| within(limits, point);
        let outcomes = run_all(&first, room.jobs, stop, run, done);
        let outcomes = first.iter().map(|point| point.index).zip(outcomes);
        if let Ok(mut results) = results.lock() {
            results.extend(outcomes);
        }
        Ok(())
    })?;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Stopped);
    }
    let mut results = results.into_inner().unwrap_or_default();
    for (index, twins) in &twins {
        let Some(result) = results.get(index).cloned() else {
            continue;
        };
        results.extend(twins.iter().map(|twin| (twin.index, result.clone())));
    }
    let results = results
        .into_iter()
        .map(|(index, result)| (Point::of(all[index]), result));
    Ok(results.collect())
}
