//! Requests for runs, for all callers.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::thread;

use record::pcap::CapturePoints;
use results::{Shard, ties};
use scenario::search::{Search, Searched};
use scenario::{Argument, Help, Overrides, Problem, Problems, Scenario, Source};

/// A scenario and how to run it: the arguments of `tailwater run`.
#[derive(Clone, Debug)]
pub struct Request {
    /// The scenario.
    pub source: Source,
    /// Overrides of the scenario.
    pub overrides: Overrides,
    /// The setting whose smallest value that meets the goals is searched for.
    pub search: Option<Search>,
    /// The precision until which more seeds are run.
    pub until: Option<Precision>,
    /// The number of orders of simultaneous events under which every row is simulated again, without jitter.
    pub ties: Option<NonZeroU32>,
    /// Where packets are captured.
    pub captures: Option<CapturePoints>,
    /// Which points to run, if not all.
    pub shard: Option<Shard>,
    /// The origin in `run.json`: a command, with the program first.
    pub command: Vec<String>,
}

/// How narrow confidence intervals are to become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of the 95 % interval of every row's 99th percentile of completion times (or mean
    /// queue) over its mean.
    pub width: f64,
    /// Most seeds: at least 2.
    pub max_seeds: NonZeroU32,
}

/// The limits of a run; the machine determines those left out.
///
/// ```
/// use api::{Allowance, Error, RunOptions, Scenario, sweep};
///
/// let allowance = Allowance {
///     work: Some(1000),
///     ..Allowance::default()
/// };
/// let scenario = Scenario::builder("incast").build()?;
/// let refused = sweep(&scenario, &RunOptions::default().allowance(allowance));
/// assert!(matches!(refused, Err(Error::Problems(_))));
/// # Ok::<(), api::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    /// Bytes of memory of all simulations that run at a time.
    pub memory: Option<u64>,
    /// Steps of one simulation.
    pub work: Option<u64>,
    /// Bytes on disk of all series.
    pub disk: Option<u64>,
    /// Threads.
    pub jobs: Option<NonZeroUsize>,
    /// The number of threads that share each simulation that can be divided. If left out: idle threads, for simulations
    /// that end sooner with them.
    pub threads: Option<NonZeroUsize>,
}

/// Figures of papers and how to run them: the arguments of `tailwater reproduce`.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Papers or figures by name, or folders or files; every paper if there is none.
    pub what: Vec<String>,
    /// Whether they run at the papers' own scale.
    pub full: bool,
    /// The first seed, if not the one of each figure.
    pub seed: Option<u64>,
    /// The number of seeds, if not the one of each figure.
    pub seeds: Option<NonZeroU32>,
    /// Which causes of differences to try.
    pub causes: Causes,
    /// Whether claims are also judged with random lateness of links, to find those that depend on the order of events.
    pub phase: bool,
    /// The folder of all results.
    pub out: PathBuf,
    /// Whether reports are written.
    pub report: bool,
    /// The origin in each `run.json`: a command, with the program first.
    pub command: Vec<String>,
}

/// Which causes `reproduce` tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Causes {
    /// Causes of claims that are not reproduced.
    Missed,
    /// All of them.
    All,
    /// None, which takes the least time.
    None,
}

impl Request {
    /// To run `source` as it is.
    pub fn new(source: Source) -> Self {
        Self {
            source,
            overrides: Overrides::default(),
            search: None,
            until: None,
            ties: None,
            captures: None,
            shard: None,
            command: Vec::new(),
        }
    }

    /// The scenario at the start of the run. More seeds, and more values of a search, may be added to it later.
    ///
    /// # Errors
    /// All errors in it, and captures at ports or points that it does not have.
    pub fn scenario(&self) -> Result<Scenario, Problems> {
        let search = self.search.clone().map(Searched::begin);
        let first = self.until.map(|until| {
            let given = self.overrides.seeds.map_or(FIRST_SEEDS, NonZeroU32::get);
            // An interval needs two.
            given.max(2).min(until.max_seeds.get())
        });
        let mut scenario = self.with(first, search.clone())?;
        if self.until.is_some() && !scenario.is_random() {
            // More seeds would be the same simulation again.
            scenario = self.with(Some(1), search)?;
        }
        if let Some(places) = &self.captures {
            places.check(&scenario)?;
        }
        if self.ties.is_some() {
            can_have_orders(&scenario)?;
        }
        Ok(scenario)
    }

    /// The sweep under several orders of simultaneous events, if wanted: without jitter, with the first seed for
    /// everything else that is random.
    pub(crate) fn under_orders(&self) -> Result<Option<Scenario>, Problems> {
        let Some(orders) = self.ties else {
            return Ok(None);
        };
        let own = [ties::JITTER, ties::ORDER].map(|key| format!("{key}="));
        let is_own = |set: &String| own.iter().any(|key| set.trim_start().starts_with(key));
        let mut overrides = Overrides {
            seeds: Some(NonZeroU32::MIN),
            trace: None,
            ..self.overrides.clone()
        };
        overrides.sets.retain(|set| !is_own(set));
        let numbers: Vec<String> = (1..=orders.get()).map(|order| order.to_string()).collect();
        overrides.sets.push(format!("{}0s", own[0]));
        overrides
            .sets
            .push(format!("{}{}", own[1], numbers.join(",")));
        Scenario::load(self.source.clone(), &overrides).map(Some)
    }

    /// The scenario with as many seeds and with the values of a search.
    pub(crate) fn with(
        &self,
        seeds: Option<u32>,
        search: Option<Searched>,
    ) -> Result<Scenario, Problems> {
        // A user who records packets or quantities wants to look at one simulation.
        let records = self.captures.is_some() || self.overrides.trace.is_some();
        let mut overrides = Overrides {
            search,
            usual_seeds: NonZeroU32::new(if records { 1 } else { USUAL_SEEDS }),
            ..self.overrides.clone()
        };
        if let Some(seeds) = seeds {
            overrides.seeds = NonZeroU32::new(seeds);
        }
        Scenario::load(self.source.clone(), &overrides)
    }
}

/// Checks that a sweep can be simulated under other orders of events: it must not sweep the keys that these set.
fn can_have_orders(scenario: &Scenario) -> Result<(), Problems> {
    let points = scenario.points();
    for key in [ties::JITTER, ties::ORDER] {
        if points
            .iter()
            .any(|point| point.text(key) != points[0].text(key))
        {
            let problem = Problem::new(format!(
                "{key} is an axis of this sweep, and orders of simultaneous events set it"
            ));
            let help = Help::from(format!("give {key} one value, or leave out "));
            return Err(problem.help(help.argument(Argument::Ties)).into());
        }
    }
    Ok(())
}

/// Threads that the machine runs at a time.
pub fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The number of seeds if something is random and the user gives no number: a difference between two random draws is no
/// result.
const USUAL_SEEDS: u32 = 10;
/// The number of seeds with which a wanted precision begins; with fewer, intervals are too wide to be useful.
const FIRST_SEEDS: u32 = 5;
