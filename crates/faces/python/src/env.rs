//! Environments for learning agents.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use api::Error;
use claims::catalogue;
use learning::{
    Act, Agents, Autoreset, Batch, DecisionInterval, Draw, EnvironmentFailure, EnvironmentSettings,
    Feature, From, StepResults, Task, Term,
};
use numpy::{PyReadonlyArrayDyn, PyReadwriteArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::{Overrides, Problem, Problems, Source};

use crate::errors::{exception, guarded};

/// The package's arguments for environments. The package has checked types and bounds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    /// A name or a path, or else `text`.
    word: Option<String>,
    text: Option<String>,
    scheme: String,
    sets: Vec<String>,
    draws: Vec<Drawn>,
    environments: NonZeroUsize,
    agents: String,
    interval: String,
    observe: Vec<String>,
    act: String,
    reward: Vec<(String, f64)>,
    max_steps: Option<u64>,
    max_window: Option<f64>,
    autoreset: String,
    jobs: Option<NonZeroUsize>,
}

/// A setting that is drawn.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Drawn {
    key: String,
    /// Texts to choose from; empty for a range.
    choice: Vec<String>,
    bounds: (f64, f64),
    unit: String,
    whole: bool,
    log: bool,
}

/// Numbers that agents see, or decide.
type Numbers<'py> = PyReadwriteArrayDyn<'py, f32>;
/// Numbers that programs compute with.
type Reals<'py> = PyReadwriteArrayDyn<'py, f64>;
type Flags<'py> = PyReadwriteArrayDyn<'py, bool>;

impl Asked {
    fn task(self) -> Result<(Task, NonZeroUsize, Autoreset, NonZeroUsize), Problems> {
        let settings = EnvironmentSettings {
            agents: Agents::parse(&self.agents)?,
            act: Act::parse(&self.act)?,
            interval: DecisionInterval::parse(&self.interval)?,
            observe: self
                .observe
                .iter()
                .map(|word| Feature::parse(word))
                .collect::<Result<_, _>>()?,
            reward: (self.reward.iter())
                .map(|(word, weight)| Ok::<_, Problems>((Term::parse(word)?, *weight)))
                .collect::<Result<_, _>>()?,
            max_steps: self.max_steps,
            max_window: self.max_window,
        };
        let source = match (&self.word, self.text) {
            (_, Some(text)) => Source::new("scenario", text),
            (word, None) => catalogue::scenario(word.as_deref().unwrap_or_default())?,
        };
        let overrides = Overrides {
            schemes: Some(self.scheme),
            sets: self.sets,
            ..Overrides::default()
        };
        let draws = self.draws.into_iter().map(Drawn::read).collect();
        let task = Task::new(settings, (source, overrides), draws)?;
        let autoreset = Autoreset::parse(&self.autoreset)?;
        let jobs = self.jobs.or_else(|| available_parallelism().ok());
        Ok((
            task,
            self.environments,
            autoreset,
            jobs.unwrap_or(NonZeroUsize::MIN),
        ))
    }
}

impl Drawn {
    fn read(self) -> Draw {
        Draw {
            key: self.key,
            from: if self.choice.is_empty() {
                From::Range {
                    bounds: self.bounds,
                    unit: self.unit,
                    whole: self.whole,
                    log: self.log,
                }
            } else {
                From::Choice(self.choice)
            },
        }
    }
}

/// Simulations that advance from one decision to the next, all together.
#[pyclass(frozen, module = "tailwater._tailwater")]
pub(crate) struct Environments(Mutex<Batch>);

impl Environments {
    fn get(&self) -> MutexGuard<'_, Batch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Environments {
    #[new]
    fn new(py: Python<'_>, asked: Asked) -> PyResult<Self> {
        guarded(py, || {
            let (task, count, autoreset, jobs) = asked.task()?;
            Ok::<_, Problems>(Self(Mutex::new(Batch::new(task, count, autoreset, jobs))))
        })
    }

    /// Agents of each environment.
    #[getter]
    fn agents(&self) -> usize {
        self.get().task().agents()
    }

    /// Lowest and highest decision.
    #[getter]
    fn bounds(&self) -> (f64, f64) {
        self.get().task().bounds()
    }

    /// The features that agents may see, and the outcomes of a step: names and their meanings.
    #[staticmethod]
    fn words() -> (Words, Words) {
        let features = Feature::ALL.iter();
        let terms = Term::ALL.iter();
        (
            features.map(|one| (one.name(), one.help())).collect(),
            terms.map(|one| (one.name(), one.help())).collect(),
        )
    }

    /// Begins the episodes of the chosen environments.
    fn reset(
        &self,
        py: Python<'_>,
        seeds: Vec<Option<u64>>,
        chosen: Vec<bool>,
        mut observations: Numbers<'_>,
    ) -> PyResult<()> {
        let seeds = seeds.into_iter().zip(chosen);
        let seeds: Vec<_> = seeds.map(|(seed, chosen)| chosen.then_some(seed)).collect();
        let seen = observations.as_slice_mut()?;
        guarded(py, || self.get().reset(&seeds, seen).map_err(told))
    }

    /// Advances to the next decision; every array has a place for every environment.
    #[expect(
        clippy::too_many_arguments,
        reason = "Python calls it, with the arrays of a step"
    )]
    fn step(
        &self,
        py: Python<'_>,
        decisions: PyReadonlyArrayDyn<'_, f32>,
        mut observations: Numbers<'_>,
        mut finals: Numbers<'_>,
        mut rewards: Reals<'_>,
        mut terminated: Flags<'_>,
        mut truncated: Flags<'_>,
        mut terms: Reals<'_>,
    ) -> PyResult<()> {
        let decisions = decisions.as_slice()?;
        if decisions.iter().any(|decision| decision.is_nan()) {
            let problem = Problem::new("an action is not a number")
                .help("actions are numbers, and none is NaN");
            return Err(exception(py, Error::Problems(problem.into())));
        }
        let room = StepResults {
            observations: observations.as_slice_mut()?,
            finals: finals.as_slice_mut()?,
            rewards: rewards.as_slice_mut()?,
            terminated: terminated.as_slice_mut()?,
            truncated: truncated.as_slice_mut()?,
            terms: terms.as_slice_mut()?,
        };
        guarded(py, || self.get().step(decisions, room).map_err(told))
    }

    /// Episodes that ended with the last step, each with the number of its environment.
    fn ended<'py>(&self, py: Python<'py>) -> PyResult<Vec<(usize, Bound<'py, PyDict>)>> {
        let one = |(number, episode): (usize, &learning::Episode)| {
            let parts = PyDict::new(py);
            parts.set_item("seed", episode.seed)?;
            parts.set_item("steps", episode.steps)?;
            parts.set_item("completed", episode.completed)?;
            parts.set_item("failed", episode.failed)?;
            parts.set_item("fct_mean_us", episode.fct_mean_us)?;
            parts.set_item("fct_max_us", episode.fct_max_us)?;
            parts.set_item("drops", episode.drops)?;
            parts.set_item("timeouts", episode.timeouts)?;
            Ok((number, parts))
        };
        let batch = self.get();
        batch.ended().map(one).collect()
    }

    /// The seeds of the episodes that have begun.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        let batch = self.get();
        batch
            .environments()
            .map(learning::Environment::seed)
            .collect()
    }

    /// The simulated times, in microseconds.
    #[getter]
    fn times_us(&self) -> Vec<f64> {
        let batch = self.get();
        batch
            .environments()
            .map(learning::Environment::now_us)
            .collect()
    }
}

/// Names with what they mean.
type Words = Vec<(&'static str, &'static str)>;

/// Why an environment cannot go on, as problems.
fn told(failure: EnvironmentFailure) -> Problems {
    match failure {
        EnvironmentFailure::Scenario(problems) => problems,
        EnvironmentFailure::Agents { .. } => {
            let problem = Problem::new(failure.to_string());
            problem
                .help("let hosts decide, as in agents=\"host\"")
                .into()
        }
        EnvironmentFailure::Run(error) => Problem::new(error.to_string()).into(),
    }
}
