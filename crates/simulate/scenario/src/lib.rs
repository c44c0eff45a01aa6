//! Scenarios: the text of a user, resolved into points to simulate.
//!
//! Each setting takes its strongest text, in this order from weak to strong: default, file, current variant, command
//! line. A key with several texts is an axis. The points are the product of the axes, the schemes and the seeds, in
//! this order. Every mistake is found here, before anything runs, and is shown at its place in the text.
//!
//! ```
//! use scenario::{Overrides, Scenario, Source};
//!
//! let load = |set: &str| {
//!     let overrides = Overrides {
//!         schemes: Some("newreno,dctcp".to_owned()),
//!         sets: vec![set.to_owned()],
//!         ..Overrides::default()
//!     };
//!     let source = Source::builtin("incast").expect("a scenario that comes with the program");
//!     Scenario::load(source, &overrides)
//! };
//! let scenario = load("workload.senders=10,20,40").expect("a key that exists");
//! assert_eq!(scenario.points().len(), 2 * 3);
//! assert_eq!(scenario.points()[0].text("workload.senders"), "10");
//! assert!(load("workload.servers=10").is_err());
//! ```

mod argument;
mod arms;
mod document;
mod expression;
mod find;
pub mod goal;
mod goals;
mod hints;
pub mod limits;
mod losses;
mod problem;
mod resolve;
pub mod search;
mod seeds;
mod show;
mod source;
mod unplaced;
mod values;

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use base::Count;
use plan::PointSpec;
use schemes::{Origin, Scheme};
// Named for its features alone: the workspace's manifest says why.
use winnow as _;

use crate::goal::Goal;
use crate::search::Searched;
use crate::seeds::{points, read_seed, seeds_of};
pub use argument::{Argument, Help};
use arms::{Arm, Flows};
use document::Setting;
pub use find::{BUILTINS, BuiltinScenario};
use plan::keys::WorkloadKind;
pub use problem::{Problem, Problems, Spot};
use resolve::Resolver;
pub use source::Source;

/// A scenario in which every setting is known to be correct.
pub struct Scenario {
    name: String,
    title: Option<String>,
    arms: Vec<Arm>,
    groups: Vec<Flows>,
    settings: Vec<Setting>,
    points: Vec<PointSpec>,
    goals: Vec<Goal>,
    explore: Vec<String>,
    /// What is searched.
    search: Option<String>,
    seed: u64,
    seeds: u32,
    warnings: Vec<Problem>,
}

/// Arguments of a command line that override a scenario.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Schemes and variants by name, separated by commas; replaces the scenario's list.
    pub schemes: Option<String>,
    /// Settings of the form `KEY=VALUE`.
    pub sets: Vec<String>,
    /// The first seed.
    pub seed: Option<u64>,
    /// How many seeds to run.
    pub seeds: Option<NonZeroU32>,
    /// The number of seeds if anything is random and neither `seeds` nor the scenario gives a number; `None` is 1.
    pub usual_seeds: Option<NonZeroU32>,
    /// Quantities to record over time in addition to the scenario's, as in [`trace.series`](plan::keys::Trace::series);
    /// "off" records nothing at all.
    pub trace: Option<String>,
    /// Goals; if there are any, they replace the scenario's.
    pub goals: Vec<String>,
    /// The setting whose values a search chooses, and the values chosen so far.
    pub search: Option<Searched>,
}

impl Scenario {
    /// Reads `source` and applies `overrides`.
    pub fn load(source: Source, overrides: &Overrides) -> Result<Self, Problems> {
        let draft = document::read(&source)?;
        let mut sources = vec![source];
        let mut arguments = Vec::new();
        let mut problems = Vec::new();
        let mut argument = |kind, text: String, read: &dyn Fn(&Source) -> _| {
            let argument = Source::of_argument(kind, text);
            match read(&argument) {
                Ok(setting) => arguments.push((sources.len(), setting)),
                Err(Problems(found)) => problems.extend(found),
            }
            sources.push(argument);
        };
        for text in &overrides.sets {
            argument(Argument::Set, text.clone(), &document::read_argument);
        }
        if let Some(text) = &overrides.trace {
            let own = draft.of_all("trace.series").unwrap_or("auto");
            let read = |argument: &Source| document::read_series(argument, own);
            argument(Argument::Trace, text.clone(), &read);
        }
        if let Some(searched) = &overrides.search {
            argument(
                Argument::Search,
                searched.setting(),
                &document::read_argument,
            );
        }
        let goals = goals::read(&draft.goals, &sources[0], &overrides.goals, &mut problems);
        let seeds = read_seed::<Count>(&sources[0], "seeds", draft.seeds.as_ref(), &mut problems);
        let seed = read_seed::<u64>(&sources[0], "seed", draft.seed.as_ref(), &mut problems);
        let arms = arms::arms(&draft, &sources[0], overrides.schemes.as_deref());
        let arms = match arms {
            Ok(arms) if problems.is_empty() => arms,
            Ok(_) => return Err(Problems(problems)),
            Err(found) => {
                problems.extend(found.0);
                return Err(Problems(problems));
            }
        };

        let seeds = overrides
            .seeds
            .map(NonZeroU32::get)
            .or(seeds.map(|count| count.0));
        let seed = overrides.seed.or(seed).unwrap_or(1);
        let groups = arms::flows(&draft, &sources[0])?;
        let resolver = Resolver::new(
            (sources, groups),
            (draft.settings, draft.columns),
            arguments,
            &arms,
        )?;
        let points = points(&resolver, &arms, seed, (seeds, overrides.usual_seeds))?;
        let goals = goals::check(goals, &points)?;
        let mut warnings = resolver.warnings(&arms, overrides.schemes.is_none(), &draft.variants);
        let seeds = seeds_of(&points);
        warnings.extend(hints::unused_seeds(&points, seeds));
        warnings.extend(unplaced::links(&points));
        warnings.extend(hints::starving(&points));
        warnings.extend(hints::late_marks(&points));
        let name = draft.name.unwrap_or_else(|| resolver.file_name());
        Ok(Self {
            name,
            title: draft.title,
            groups: resolver.groups().to_vec(),
            settings: resolver.into_settings(),
            arms,
            points,
            goals,
            explore: draft.explore,
            search: overrides.search.as_ref().map(Searched::to_string),
            seed,
            seeds,
            warnings,
        })
    }

    /// The unchanged built-in scenario called `name`.
    ///
    /// # Panics
    /// If it does not exist; a test loads every built-in scenario.
    pub fn builtin(name: &str) -> Self {
        let source = Source::builtin(name).expect("a built-in scenario");
        Self::load(source, &Overrides::default()).expect("built-in scenarios are correct")
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The subject of the scenario, in one line.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The labels of its schemes, in the order of its rows.
    pub fn schemes(&self) -> Vec<&str> {
        self.arms.iter().map(|arm| arm.label.as_str()).collect()
    }

    /// How many seeds each combination runs with.
    pub fn seeds(&self) -> u32 {
        self.seeds
    }

    /// Every simulation: the product of axes, schemes and seeds, seeds changing fastest.
    pub fn points(&self) -> &[PointSpec] {
        &self.points
    }

    /// Whether results depend on the seed.
    pub fn is_random(&self) -> bool {
        self.points.iter().any(PointSpec::is_random)
    }

    /// Keys in [`PointSpec::set`], in the order of the sweep: the first changes slowest.
    pub fn set_keys(&self) -> Vec<&str> {
        let first = self.points.first();
        first.map_or_else(Vec::new, |point| {
            point.set.iter().map(|(key, _)| key.as_str()).collect()
        })
    }

    /// The goals that results have to meet.
    pub fn goals(&self) -> &[Goal] {
        &self.goals
    }

    /// The settings offered by a page for exploring it, if it names some.
    pub fn explore(&self) -> &[String] {
        &self.explore
    }

    /// The searched setting and its range, if there is one.
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Hints about settings that are allowed but probably not intended.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Changes made to traces before they are simulated, a sentence each: shifted times, omitted parts, numbered hosts.
    pub fn notes(&self) -> Vec<String> {
        let groups = self.points.iter().flat_map(|point| point.groups.iter());
        let mut notes = Vec::new();
        let mut seen = BTreeSet::new();
        for group in groups.filter(|group| group.keys.workload.kind == WorkloadKind::Trace) {
            for note in group.keys.workload.trace.content().notes() {
                let note = format!("{}: {note}", &group.texts["workload.trace"]);
                if seen.insert(note.clone()) {
                    notes.push(note);
                }
            }
        }
        notes
    }

    /// Its schemes from outside, and the origin of their code.
    pub fn origins(&self) -> Vec<(&'static str, Origin)> {
        let used = |scheme: &&Scheme| {
            let arms = self.arms.iter().map(|arm| Some(arm.bundle.as_str()));
            let groups = self.groups.iter().map(|group| group.bundle.as_deref());
            let mut bundles = arms.chain(groups).flatten();
            bundles.any(|bundle| bundle.split('+').any(|part| part.trim() == scheme.name))
        };
        let all = schemes::all().iter().copied().filter(used);
        all.filter_map(|scheme| Some((scheme.name, scheme.origin?)))
            .collect()
    }

    /// The scenario as TOML with every setting written out.
    pub fn resolved(&self) -> String {
        show::resolved(self)
    }
}

/// A point without a scenario: `scheme`, which may be a composition, with `settings` (key and text) over the defaults.
///
/// ```
/// # fn main() -> Result<(), scenario::Problems> {
/// let point = scenario::point("dctcp", 7, &[("workload.senders", "20")])?;
/// assert_eq!((point.text("workload.senders"), point.seed), ("20", 7));
/// # Ok(())
/// # }
/// ```
pub fn point(scheme: &str, seed: u64, settings: &[(&str, &str)]) -> Result<PointSpec, Problems> {
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        sets: settings
            .iter()
            .map(|(key, text)| format!("{key}={text}"))
            .collect(),
        ..Overrides::default()
    };
    // A file without any setting would be reported as a mistake.
    let source = Source::new("settings", format!("seed = {seed}\n"));
    let mut points = Scenario::load(source, &overrides)?.points;
    match (points.pop(), points.len()) {
        (Some(point), 0) => Ok(point),
        (_, others) => {
            let problem = Problem::new(format!("these settings make {} points", others + 1));
            Err(problem
                .help("name one scheme, and one value for each setting")
                .into())
        }
    }
}

#[cfg(test)]
mod tests;
