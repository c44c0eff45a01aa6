//! Scenarios: what a user writes, resolved into points to simulate.
//!
//! Each setting takes the strongest text it is given: its default, the file, the variant in use, the
//! command line. A key with several texts is an axis; the points are the product of the axes, the
//! schemes and the seeds, in this order. Every mistake is found here, before anything runs, and
//! points into the text that made it.
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
pub mod flow_trace;
pub mod goal;
mod goals;
pub mod graph;
pub mod hosts;
pub mod keys;
mod losses;
pub mod metric;
mod problem;
mod resolve;
pub mod search;
mod seeds;
pub mod series;
mod show;
mod source;
pub mod suggest;
mod texts;
pub mod tokens;
mod twins;
mod unplaced;
mod values;
pub mod words;
pub mod work;
pub mod workload;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use base::Count;
use schemes::{Bundle, Origin, Role, Roles, Scheme};
use tcp::EcnMode;

use crate::goal::Goal;
use crate::keys::{HostQueue, Keys, WorkloadKind};
use crate::search::Searched;
use crate::seeds::{is_random, points, read_seed, seeds_of, unused_seeds};
pub use argument::{Argument, Help};
use arms::{Arm, Flows};
use document::Setting;
pub use find::{BUILTINS, Builtin};
pub use problem::{Problem, Problems, Spot};
use resolve::Resolver;
pub use source::Source;
pub use texts::Texts;

/// A scenario in which every setting is known to be correct.
pub struct Scenario {
    name: String,
    title: Option<String>,
    arms: Vec<Arm>,
    groups: Vec<Flows>,
    settings: Vec<Setting>,
    points: Vec<PointSpec>,
    goals: Vec<Goal>,
    /// What is searched.
    search: Option<String>,
    seed: u64,
    seeds: u32,
    warnings: Vec<Problem>,
}

/// What a command line says over a scenario's head.
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
    /// How many seeds to run if anything is random and neither `seeds` nor the scenario says it; 1 if that is `None`.
    pub usual_seeds: Option<NonZeroU32>,
    /// What to record over time beside what is recorded anyway, as [`trace.series`](crate::keys::Trace::series) reads
    /// it; "off" records nothing at all.
    pub trace: Option<String>,
    /// Goals; if there are any, they replace the scenario's.
    pub goals: Vec<String>,
    /// The setting whose values a search chooses, and those chosen so far.
    pub search: Option<Searched>,
}

/// One simulation: a scheme, a seed and every setting.
#[derive(Clone, Debug)]
pub struct PointSpec {
    /// Place among the points of the scenario.
    pub index: usize,
    /// The label of the scheme: its composition or the name of a variant.
    pub scheme: String,
    /// The composition of schemes, as [`Bundle::parse`](schemes::Bundle::parse) reads it.
    pub bundle: String,
    /// Seed of the random streams.
    pub seed: u64,
    /// Swept keys and keys set on the command line, with their texts; what is traced changes no
    /// result and is not among them.
    pub set: Vec<(String, String)>,
    /// The text of every key; shared by the seeds of a point.
    pub texts: Texts,
    /// Every setting that is not a scheme's own, typed. Its workload and endpoints are those of
    /// `groups`.
    pub keys: Arc<Keys>,
    /// The flows: at least one group.
    pub groups: Arc<[Group]>,
}

/// Flows that have settings of their own in the network that they share with others.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name; empty if the scenario has no groups.
    pub name: Arc<str>,
    /// The composition of schemes that its hosts follow.
    pub bundle: String,
    /// The text of every key.
    pub texts: Texts,
    /// Every setting, of which those of workload and endpoints are its own.
    pub keys: Arc<Keys>,
}

impl Group {
    /// The roles of its hosts.
    ///
    /// # Panics
    /// If its schemes were not checked by [`crate`].
    pub fn roles(&self) -> Roles {
        let bundle = Bundle::parse(&self.bundle).expect("the scenario checked the schemes");
        let roles = bundle.build(&|key| self.texts[key].to_string());
        roles.expect("the scenario checked the schemes' settings")
    }

    /// The marking threshold of the queues as it is written, if its endpoints act on marks; empty where the schemes bring
    /// queues that mark by a rule of their own.
    ///
    /// # Panics
    /// As [`Group::roles`] does.
    pub fn marking(&self) -> Option<String> {
        let roles = self.roles();
        let acts = match roles.ecn {
            Some(mode) => mode != EcnMode::Off,
            None => self.keys.tcp.ecn,
        };
        acts.then(|| match roles.queue {
            Some(_) => String::new(),
            None => self.texts["switch.ecn_threshold"].to_string(),
        })
    }

    /// The schemes of its composition that fill any of `roles`.
    ///
    /// # Panics
    /// As [`Group::roles`] does.
    pub fn schemes_with(&self, roles: &[Role]) -> Vec<&'static Scheme> {
        let bundle = Bundle::parse(&self.bundle).expect("the scenario checked the schemes");
        let fills =
            |scheme: &&&'static Scheme| roles.iter().any(|role| scheme.roles.contains(role));
        bundle.parts().iter().filter(fills).copied().collect()
    }

    /// The scheme whose role its receiving hosts play, if one has any.
    ///
    /// # Panics
    /// As [`Group::roles`] does.
    pub fn receiver_role(&self) -> Option<&'static Scheme> {
        self.roles().receiver.as_ref()?;
        let bundle = Bundle::parse(&self.bundle).expect("the scenario checked the schemes");
        let decides = |scheme: &&&'static Scheme| scheme.roles.contains(&Role::Receiver);
        let mut parts = bundle.parts().iter();
        // A part that only observes has the role if none decides.
        parts.clone().find(decides).or(parts.next()).copied()
    }
}

impl PointSpec {
    /// A point without a scenario: `scheme`, a composition too, with `settings` over the defaults, as
    /// key and text.
    ///
    /// ```
    /// # fn main() -> Result<(), scenario::Problems> {
    /// let point = scenario::PointSpec::of("dctcp", 7, &[("workload.senders", "20")])?;
    /// assert_eq!((point.text("workload.senders"), point.seed), ("20", 7));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(scheme: &str, seed: u64, settings: &[(&str, &str)]) -> Result<Self, Problems> {
        let overrides = Overrides {
            schemes: Some(scheme.to_owned()),
            sets: settings
                .iter()
                .map(|(key, text)| format!("{key}={text}"))
                .collect(),
            ..Overrides::default()
        };
        // A file without any setting would be taken for a mistake.
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

    /// The text of the setting called `key`.
    ///
    /// # Panics
    /// If no such key is declared.
    pub fn text(&self, key: &str) -> &str {
        &self.texts[key]
    }

    /// What the order of events at the same instant is drawn from, unless `run.tie_order` says it: the seed where
    /// anything else is drawn from it, so that a simulation in which nothing is random has one result.
    pub fn order_seed(&self) -> u64 {
        let usual = if is_random(self) { self.seed } else { 1 };
        self.keys.run.tie_order.0.unwrap_or(usual)
    }
}

impl Scenario {
    /// Reads `source` and applies `overrides`.
    pub fn load(source: Source, overrides: &Overrides) -> Result<Self, Problems> {
        let draft = document::read(&source)?;
        let mut sources = vec![source];
        let mut arguments = Vec::new();
        let mut problems = Vec::new();
        for text in &overrides.sets {
            let argument = Source::of_argument(Argument::Set, text.as_str());
            match document::read_argument(&argument) {
                Ok(setting) => arguments.push((sources.len(), setting)),
                Err(found) => problems.extend(found.0),
            }
            sources.push(argument);
        }
        if let Some(text) = &overrides.trace {
            let argument = Source::of_argument(Argument::Trace, text.as_str());
            let own = draft.of_all("trace.series");
            match document::read_series(&argument, own.unwrap_or("auto")) {
                Ok(setting) => arguments.push((sources.len(), setting)),
                Err(found) => problems.extend(found.0),
            }
            sources.push(argument);
        }
        if let Some(searched) = &overrides.search {
            let argument = Source::of_argument(Argument::Search, searched.setting());
            match document::read_argument(&argument) {
                Ok(setting) => arguments.push((sources.len(), setting)),
                Err(found) => problems.extend(found.0),
            }
            sources.push(argument);
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
        warnings.extend(unused_seeds(&points, seeds));
        warnings.extend(unplaced::links(&points));
        warnings.extend(
            points
                .iter()
                .find(|point| has_endless(point))
                .and_then(starving),
        );
        let name = draft.name.unwrap_or_else(|| resolver.file_name());
        Ok(Self {
            name,
            title: draft.title,
            groups: resolver.groups().to_vec(),
            settings: resolver.into_settings(),
            arms,
            points,
            goals,
            search: overrides.search.as_ref().map(Searched::to_string),
            seed,
            seeds,
            warnings,
        })
    }

    /// The built-in scenario called `name` with nothing changed.
    ///
    /// # Panics
    /// If there is none; a test loads every built-in scenario.
    pub fn builtin(name: &str) -> Self {
        let source = Source::builtin(name).expect("a built-in scenario");
        Self::load(source, &Overrides::default()).expect("built-in scenarios are correct")
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it shows, in one line.
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
        self.points.iter().any(is_random)
    }

    /// Keys in [`PointSpec::set`], in the order of the sweep: the first changes slowest.
    pub fn set_keys(&self) -> Vec<&str> {
        let first = self.points.first();
        first.map_or_else(Vec::new, |point| {
            point.set.iter().map(|(key, _)| key.as_str()).collect()
        })
    }

    /// What its results are to reach.
    pub fn goals(&self) -> &[Goal] {
        &self.goals
    }

    /// The setting and the range of its values that are searched, if any are.
    pub fn search(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Hints about what is allowed and probably not meant.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// What was done to traces before they were simulated, a sentence each: times that were shifted, parts that were
    /// left out, hosts that got numbers.
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

    /// Its schemes from outside, and whose code they are.
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

fn has_endless(point: &PointSpec) -> bool {
    let endless = |group: &Group| {
        let workload = &group.keys.workload;
        workload.size.is_unlimited() && workload.kind != WorkloadKind::Trace
    };
    point.groups.iter().any(endless)
}

/// A hint that flows of one host share an endless first-in-first-out queue there, in which one without an end leaves
/// the others little.
fn starving(point: &PointSpec) -> Option<Problem> {
    let keys = &point.keys;
    // Where hosts queue as switches do, switch.buffer bounds them.
    if keys.host.queue != HostQueue::Own || keys.host.buffer.0.is_some() {
        return None;
    }
    let plan = workload::Plan::of(point);
    let sender = |flow: &workload::PlannedFlow| plan.connections[flow.connection as usize].sender;
    let mut flows = vec![(0_u32, false); plan.topology.hosts().len()];
    for flow in &plan.flows {
        let host = &mut flows[sender(flow).0 as usize];
        host.0 += 1;
        // What small queues keep back waits in its socket.
        let small = point.groups[flow.group as usize].keys.tcp.small_queues;
        host.1 |= flow.size.is_none() && !small;
    }
    let host = flows
        .iter()
        .position(|(count, endless)| *count > 1 && *endless)?;
    let problem = Problem::warning(format!(
        "host {host} sends a flow without end beside others, and host.buffer = unlimited: where its own link is the \
         bottleneck, that flow fills the queue there and starves the others"
    ));
    Some(problem.help(
        "bound the queue, as in host.buffer=100pkt, or tcp.receive_buffer, or set tcp.small_queues=true",
    ))
}

#[cfg(test)]
mod tests;
