//! Converts plain values of Python to requests.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use api::{Access, Allowance, Causes, Destination, Error, Precision, RunOptions, Shard};
use claims::catalogue;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use record::pcap::CapturePoints;
use scenario::{Overrides, Scenario, Source};
use tailwater::texts;

use crate::driver::RaisedBy;
use crate::errors::{exception, guarded, parts};
use crate::role::{Class, Use};
use crate::waiting;

/// The package's arguments for a run. The package has checked types and bounds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunArguments {
    /// A name or a path, or else `text`.
    word: Option<String>,
    text: Option<String>,
    schemes: Option<String>,
    sets: Vec<String>,
    goals: Vec<String>,
    seed: Option<u64>,
    seeds: Option<NonZeroU32>,
    trace: Option<String>,
    until: Option<f64>,
    ties: Option<NonZeroU32>,
    max_seeds: NonZeroU32,
    pcap: Option<String>,
}

/// Limits of simulations.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Limits {
    jobs: Option<NonZeroUsize>,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    work: Option<u64>,
    disk: Option<u64>,
}

impl From<Limits> for Allowance {
    fn from(limits: Limits) -> Self {
        Self {
            memory: limits.memory,
            work: limits.work,
            disk: limits.disk,
            jobs: limits.jobs,
            threads: limits.threads,
        }
    }
}

/// The package's arguments for figures of papers.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Figures {
    what: Vec<String>,
    full: bool,
    seed: Option<u64>,
    seeds: Option<NonZeroU32>,
    causes: String,
    phase: bool,
    out: PathBuf,
    report: bool,
    limits: Limits,
    command: Vec<String>,
}

impl Figures {
    /// The same for the library.
    pub(crate) fn read(self, py: Python<'_>) -> PyResult<(api::Figures, Allowance)> {
        let causes = match self.causes.as_str() {
            "missed" => Causes::Missed,
            "all" => Causes::All,
            "none" => Causes::None,
            other => {
                let problem = scenario::Problem::new(format!("causes cannot be {other:?}"));
                let problem = problem.help("\"missed\", \"all\" or \"none\"");
                return Err(exception(py, Error::Problems(problem.into())));
            }
        };
        let figures = api::Figures {
            what: self.what,
            full: self.full,
            seed: self.seed,
            seeds: self.seeds,
            causes,
            phase: self.phase,
            out: self.out,
            report: self.report,
            command: self.command,
        };
        Ok((figures, self.limits.into()))
    }
}

/// A scenario and how to run it.
#[pyclass(frozen, module = "tailwater._tailwater")]
pub(crate) struct Request {
    inner: api::Request,
    scenario: Scenario,
    /// The original text of the scenario.
    written: String,
    /// Its schemes in Python.
    classes: Vec<Arc<Class>>,
}

impl Request {
    pub(crate) fn new(py: Python<'_>, given: RunArguments) -> PyResult<Self> {
        guarded(py, || -> Result<Self, Error> {
            let source = match (&given.word, given.text) {
                (_, Some(text)) => Source::new("scenario", text),
                (word, None) => catalogue::scenario(word.as_deref().unwrap_or_default())?,
            };
            let captures = given
                .pcap
                .as_deref()
                .map(CapturePoints::parse)
                .transpose()?;
            let written = catalogue::scenario_text(&source)?;
            // Mistakes in the text itself are reported before those in arguments.
            Scenario::load(source.clone(), &Overrides::default())?;
            let request = api::Request {
                overrides: Overrides {
                    schemes: given.schemes,
                    sets: given.sets,
                    seed: given.seed,
                    seeds: given.seeds,
                    usual_seeds: None,
                    trace: given.trace,
                    goals: given.goals,
                    search: None,
                },
                until: given.until.map(|width| Precision {
                    width,
                    max_seeds: given.max_seeds,
                }),
                ties: given.ties,
                captures,
                ..api::Request::new(source)
            };
            let scenario = request.scenario()?;
            Ok(Self {
                classes: Use::named(&scenario),
                inner: request,
                scenario,
                written,
            })
        })
    }
}

#[pymethods]
impl Request {
    /// The page of `tailwater.explore`; the command calls the scenario `name`.
    fn explore(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        guarded(py, || texts::explore(&self.inner, name))
    }

    /// Runs missing points in a folder. Returns the exceptions of roles in Python.
    #[expect(
        clippy::too_many_arguments,
        reason = "Python calls it, with the names of the arguments"
    )]
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        access: &str,
        report: bool,
        limits: Limits,
        command: Vec<String>,
        progress: Option<Bound<'_, PyAny>>,
        driver: Option<Py<PyAny>>,
    ) -> PyResult<Vec<RaisedBy>> {
        let _used = Use::begin(py, &self.classes)?;
        let request = api::Request {
            command,
            ..self.inner.clone()
        };
        let access = match access {
            "resume" => Access::Resume,
            "scratch" => Access::Scratch,
            "new" => Access::New,
            other => {
                return Err(PyValueError::new_err(format!(
                    "no access is called {other}"
                )));
            }
        };
        let to = Destination::new(&folder).access(access).report(report);
        let allowance = limits.into();
        let run = |options: RunOptions<'_>| {
            api::run_request(&request, to, &options.allowance(allowance)).map(drop)
        };
        let ((), raised) = waiting::waited(py, progress.as_ref(), driver, run)?;
        Ok(raised)
    }

    /// Runs missing points of a shard in a folder. Returns the numbers of existing points and of all points.
    #[expect(
        clippy::too_many_arguments,
        reason = "Python calls it, with the names of the arguments"
    )]
    fn run_shard(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        shard: (u32, u32),
        limits: Limits,
        progress: Option<Bound<'_, PyAny>>,
        driver: Option<Py<PyAny>>,
    ) -> PyResult<((usize, usize), Vec<RaisedBy>)> {
        let _used = Use::begin(py, &self.classes)?;
        let shard = Shard::new(shard.0, shard.1);
        let shard = shard.ok_or_else(|| PyValueError::new_err("there is no such shard"))?;
        let request = api::Request {
            shard: Some(shard),
            ..self.inner.clone()
        };
        let allowance = limits.into();
        let (done, raised) = waiting::waited(py, progress.as_ref(), driver, |options| {
            api::run_shard(&request, &folder, &options.allowance(allowance))
        })?;
        Ok(((done.finished, done.points), raised))
    }

    /// Its schemes in Python.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> Vec<&Bound<'py, PyType>> {
        self.classes.iter().map(|class| class.object(py)).collect()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.scenario.name()
    }

    /// The subject, in one line.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.scenario.title()
    }

    /// The labels of its schemes.
    #[getter]
    fn schemes(&self) -> Vec<&str> {
        self.scenario.schemes()
    }

    /// How many seeds each combination runs with.
    #[getter]
    fn seeds(&self) -> u32 {
        self.scenario.seeds()
    }

    /// As it is written.
    #[getter]
    fn written(&self) -> &str {
        &self.written
    }

    /// As TOML with every setting.
    #[getter]
    fn resolved(&self) -> String {
        self.scenario.resolved()
    }

    /// Every simulation: its number, scheme, seed, and the settings shown in results.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Vec<Listed<'_, 'py>>> {
        let points = self.scenario.points().iter();
        let point = |point: &'_ plan::PointSpec| {
            let set = PyDict::new(py);
            for (key, text) in &point.set {
                set.set_item(key, text)?;
            }
            PyResult::Ok(set)
        };
        points
            .map(|one| Ok((one.index, one.scheme.as_str(), one.seed, point(one)?)))
            .collect()
    }

    /// Changes made to traces before they are simulated.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scenario.notes()
    }

    /// Hints about settings that are allowed but probably not intended, each as the command prints it.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
        let warnings = self.scenario.warnings().iter();
        let one = |warning| {
            let (text, mut parts) = parts(py, std::slice::from_ref(warning))?;
            Ok((text, parts.remove(0)))
        };
        warnings.map(one).collect()
    }
}

/// A simulation: its number, scheme, seed, and the settings shown in results.
type Listed<'a, 'py> = (usize, &'a str, u64, Bound<'py, PyDict>);
