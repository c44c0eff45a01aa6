//! One simulation, by its scheme, its seed and its settings.

use std::fmt::Display;

use plan::PointSpec;
use sim::metrics::Outcome;
use sim::sweep::{PointFailure, run_one};

use crate::error::Error;

/// One simulation: a scheme, a seed and every setting. All have been checked.
///
/// ```
/// use api::Point;
///
/// let point = Point::builder("dctcp").set("workload.senders", 10).seed(1).build()?;
/// assert_eq!((point.scheme(), point.seed()), ("dctcp", 1));
/// assert_eq!(point.get("workload.senders"), Some("10"));
/// assert_eq!(point.get("workload.servers"), None);
/// # Ok::<(), api::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Point {
    spec: PointSpec,
}

impl Point {
    /// A builder for a single point: `scheme` is a scheme or a composition, as in `"rcc+cubic"`.
    pub fn builder(scheme: &str) -> PointBuilder {
        PointBuilder {
            scheme: scheme.to_owned(),
            seed: 1,
            settings: Vec::new(),
        }
    }

    /// The point of a scenario.
    pub(crate) fn of(spec: &PointSpec) -> Self {
        Self { spec: spec.clone() }
    }

    /// Its place among the points of its scenario.
    pub const fn index(&self) -> usize {
        self.spec.index
    }

    /// The label of its scheme: a composition or the name of a variant.
    pub fn scheme(&self) -> &str {
        &self.spec.scheme
    }

    /// The seed of its random streams.
    pub const fn seed(&self) -> u64 {
        self.spec.seed
    }

    /// The text of a setting; `None` if the setting does not exist.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.spec.texts.get(key)
    }

    /// The swept and changed settings, with their texts.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let set = self.spec.set.iter();
        set.map(|(key, text)| (key.as_str(), text.as_str()))
    }

    /// Whether its outcome depends on the seed.
    pub fn is_random(&self) -> bool {
        self.spec.is_random()
    }

    /// For the simulator.
    pub(crate) const fn spec(&self) -> &PointSpec {
        &self.spec
    }
}

/// A [`Point`] under construction: settings over the defaults.
///
/// ```
/// use api::Point;
///
/// let wrong = Point::builder("dctcp").set("workload.senders", 0).build();
/// assert!(wrong.is_err());
/// ```
#[derive(Clone, Debug)]
pub struct PointBuilder {
    scheme: String,
    seed: u64,
    settings: Vec<(String, String)>,
}

impl PointBuilder {
    /// Gives a setting this value, written as in a scenario: `10`, `"64KiB"`, `"40us"`.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Display) -> Self {
        self.settings.push((key.to_owned(), value.to_string()));
        self
    }

    /// The seed of its random streams; 1 if it is not given.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks everything.
    ///
    /// # Errors
    /// If the scheme or a setting does not exist, a value is wrong, or a setting has several values.
    pub fn build(self) -> Result<Point, Error> {
        let settings = self.settings.iter();
        let settings: Vec<(&str, &str)> = settings
            .map(|(key, text)| (key.as_str(), text.as_str()))
            .collect();
        let spec = scenario::point(&self.scheme, self.seed, &settings)?;
        Ok(Point { spec })
    }
}

/// Simulates a point. The outcome is a pure function of the point, except for the cost.
///
/// ```
/// use api::{Point, run};
///
/// let point = Point::builder("newreno").set("workload.senders", 4).build()?;
/// let outcome = run(&point)?;
/// assert_eq!(outcome.metrics.flows_completed, 4);
/// assert_eq!(outcome.digest, run(&point)?.digest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Why the simulation has no outcome: its network cannot carry the traffic, or a role of its scheme gave up or panicked.
pub fn run(point: &Point) -> Result<Outcome, PointFailure> {
    run_one(point.spec(), sim::run::run)
}
