//! From layers of settings to points.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::PointSpec;
use super::document::{Setting, Variant};
use super::problem::{Problem, Problems};
use super::schemes::Arm;
use super::source::Source;
use crate::keys::{self, Conflict, Keys};

/// The layers below a variant and above it, and the texts they came from.
pub(super) struct Resolver {
    /// The file first, then every argument.
    sources: Vec<Source>,
    /// Settings of the file and, in place of those they override or behind them, of arguments;
    /// those that the file orders first.
    layers: Vec<Layered>,
    /// Settings that the file wants to be shown, in order.
    columns: Vec<&'static str>,
}

struct Layered {
    source: usize,
    setting: Setting,
}

/// The texts of one combination of axis values under one scheme.
struct Chosen<'a> {
    texts: BTreeMap<&'static str, &'a str>,
    origins: BTreeMap<&'static str, (usize, Range<usize>)>,
}

impl Resolver {
    /// Lets arguments, given with the index of their source, override the file.
    pub(super) fn new(
        sources: Vec<Source>,
        (file, columns): (Vec<Setting>, Vec<&'static str>),
        arguments: Vec<(usize, Setting)>,
        arms: &[Arm],
    ) -> Result<Self, Problems> {
        let layer = |setting| Layered { source: 0, setting };
        let mut layers: Vec<Layered> = file.into_iter().map(layer).collect();
        let mut problems = Vec::new();
        for (source, setting) in arguments {
            let layered = Layered { source, setting };
            let key = layered.setting.key;
            let earlier = layers.iter().position(|layer| layer.setting.key == key);
            match earlier {
                Some(earlier) if layers[earlier].source > 0 => problems.push(
                    Problem::new(format!("--set gives {key} twice"))
                        .at(&sources[source], layered.setting.place, "given before")
                        .help(format!("several values go into one: --set {key}=A,B")),
                ),
                // An axis keeps its place in the order of the sweep; new axes follow the file's.
                Some(earlier) if layers[earlier].setting.listed => layers[earlier] = layered,
                Some(earlier) => {
                    layers.remove(earlier);
                    layers.push(layered);
                }
                None => layers.push(layered),
            }
        }
        let place = |key| columns.iter().position(|column| *column == key);
        layers.sort_by_key(|layer| place(layer.setting.key).unwrap_or(usize::MAX));
        let resolver = Self {
            sources,
            layers,
            columns,
        };
        problems.extend(arms.iter().flat_map(|arm| resolver.pinned_axes(arm)));
        if problems.is_empty() {
            Ok(resolver)
        } else {
            Err(Problems(problems))
        }
    }

    /// Every point of the sweep, checked.
    pub(super) fn points(
        &self,
        arms: &[Arm],
        seed: u64,
        seeds: u32,
    ) -> Result<Vec<PointSpec>, Problems> {
        let combinations = self.count()?;
        let rows = combinations.saturating_mul(arms.len() as u64);
        let total = rows.saturating_mul(u64::from(seeds));
        if total > MAX_POINTS {
            return Err(Problem::new(format!(
                "{total} simulations are too many: {rows} combinations with {seeds} seeds each"
            ))
            .help(format!(
                "the limit is {MAX_POINTS}: sweep fewer values or run fewer seeds"
            ))
            .into());
        }
        if seed.checked_add(u64::from(seeds)).is_none() {
            return Err(Problem::new("the last seed does not fit in 64 bits")
                .help("choose a smaller seed")
                .into());
        }
        let mut points = Vec::new();
        for combination in 0..combinations {
            for arm in arms {
                let chosen = self.choose(combination, arm);
                let keys = Arc::new(self.check(&chosen, arm)?);
                let texts = chosen
                    .texts
                    .iter()
                    .map(|(key, text)| (*key, Arc::from(*text)));
                let texts = Arc::new(texts.collect());
                let set: Vec<_> = self
                    .reported()
                    .map(|key| (key.to_owned(), chosen.texts[key].to_owned()))
                    .collect();
                for offset in 0..u64::from(seeds) {
                    points.push(PointSpec {
                        index: points.len(),
                        scheme: arm.label.clone(),
                        bundle: arm.bundle.clone(),
                        seed: seed + offset,
                        set: set.clone(),
                        texts: Arc::clone(&texts),
                        keys: Arc::clone(&keys),
                    });
                }
            }
        }
        Ok(points)
    }

    /// Hints about settings and variants that change nothing.
    pub(super) fn warnings(
        &self,
        arms: &[Arm],
        list_from_file: bool,
        variants: &[Variant],
    ) -> Vec<Problem> {
        let mut found = Vec::new();
        for layered in self.layers.iter().filter(|layered| layered.source > 0) {
            let key = layered.setting.key;
            let group = keys::group(key);
            let is_scheme = ::schemes::all().iter().any(|scheme| scheme.name == group);
            if is_scheme && !arms.iter().any(|arm| arm.uses(group)) {
                let problem = Problem::warning(format!("{key} has no effect"))
                    .at(
                        &self.sources[layered.source],
                        layered.setting.place.clone(),
                        "set here",
                    )
                    .help(format!(
                        "no scheme of this run is {group}: add it to --scheme"
                    ));
                found.push(problem);
            }
        }
        for variant in variants.iter().filter(|_| list_from_file) {
            if !arms.iter().any(|arm| arm.label == variant.name) {
                let name = &variant.name;
                let problem = Problem::warning(format!("variant {name} is not run"))
                    .at(&self.sources[0], variant.place.clone(), "defined here")
                    .help(format!(
                        "add {name:?} to schemes, or run it with --scheme {name}"
                    ));
                found.push(problem);
            }
        }
        found
    }

    /// The file's name without folder and ending: the name of a scenario that has none.
    pub(super) fn file_name(&self) -> String {
        let stem = Path::new(self.sources[0].name()).file_stem();
        stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// The settings in force above the defaults and beside the variants.
    pub(super) fn into_settings(self) -> Vec<Setting> {
        self.layers
            .into_iter()
            .map(|layered| layered.setting)
            .collect()
    }

    fn count(&self) -> Result<u64, Problems> {
        let settings = || self.layers.iter().map(|layered| &layered.setting);
        let sizes = settings().map(|setting| setting.values.len() as u64);
        let count = sizes.fold(1_u64, u64::saturating_mul);
        if count <= MAX_COMBINATIONS {
            return Ok(count);
        }
        let axes = settings().filter(|setting| setting.values.len() > 1);
        let axes = axes.map(|setting| format!("{} ({})", setting.key, setting.values.len()));
        let axes = axes.collect::<Vec<_>>().join(" x ");
        let problem = Problem::new(format!("this sweep has {count} combinations: {axes}"));
        let help = format!("the limit is {MAX_COMBINATIONS}: sweep fewer keys or use larger steps");
        Err(problem.help(help).into())
    }

    /// Keys that every point mentions: the columns, the other axes, what the command line set.
    fn reported(&self) -> impl Iterator<Item = &'static str> {
        let others = self.layers.iter().filter(|layered| {
            let setting = &layered.setting;
            (setting.listed || layered.source > 0) && !self.columns.contains(&setting.key)
        });
        let others = others.map(|layered| layered.setting.key);
        self.columns.iter().copied().chain(others)
    }

    fn choose<'a>(&'a self, combination: u64, arm: &'a Arm) -> Chosen<'a> {
        let mut chosen = Chosen {
            texts: keys::all_keys()
                .iter()
                .map(|key| (key.name, key.default))
                .collect(),
            origins: BTreeMap::new(),
        };
        // The last axis changes fastest, so the digits of the combination are read from the back.
        let mut rest = combination;
        for layered in self.layers.iter().rev() {
            let values = &layered.setting.values;
            let size = values.len() as u64;
            let digit = usize::try_from(rest % size).expect("an index into a list in memory");
            rest /= size;
            let origin = (layered.source, values[digit].place.clone());
            chosen.choose(layered.setting.key, &values[digit].text, origin);
        }
        let is_argument = |key| {
            let mut layers = self.layers.iter();
            layers.any(|layered| layered.source > 0 && layered.setting.key == key)
        };
        for setting in arm
            .settings
            .iter()
            .filter(|setting| !is_argument(setting.key))
        {
            for value in &setting.values {
                chosen.choose(setting.key, &value.text, (0, value.place.clone()));
            }
        }
        chosen
    }

    fn check(&self, chosen: &Chosen<'_>, arm: &Arm) -> Result<Keys, Problems> {
        // Every text has been checked where it was read; the key is named should one slip through.
        let keys = Keys::read(&|key| chosen.texts[key].to_owned()).map_err(|error| {
            Problem::new(format!("wrong value for {}: {}", error.key, error.error))
        })?;
        let marking = arm.needs_marking.then_some(arm.label.as_str());
        let conflicts = keys.conflicts(marking);
        if conflicts.is_empty() {
            return Ok(keys);
        }
        let problems = conflicts
            .into_iter()
            .map(|conflict| self.explain(&conflict, chosen));
        Err(Problems(problems.collect()))
    }

    /// Points a conflict at those of its keys that were set in the text that was read last, which
    /// is the likelier mistake, and names the values of the others.
    fn explain(&self, conflict: &Conflict, chosen: &Chosen<'_>) -> Problem {
        let origin = |key: &&'static str| chosen.origins.get(*key);
        let source = conflict
            .keys
            .iter()
            .filter_map(|key| Some(origin(key)?.0))
            .max();
        let mut problem = Problem::new(conflict.message.clone());
        let mut elsewhere = Vec::new();
        for key in conflict.keys {
            match origin(key) {
                Some((from, place)) if Some(*from) == source => {
                    problem = problem.at(&self.sources[*from], place.clone(), *key);
                }
                _ => elsewhere.push(format!("{key} = {}", chosen.texts[key])),
            }
        }
        if elsewhere.is_empty() {
            return problem.help(conflict.remedy.clone());
        }
        let values = elsewhere.join(", ");
        problem.help(format!("{} (here {values})", conflict.remedy))
    }

    /// A variant that sets a swept key would make all values of the sweep the same simulation.
    fn pinned_axes(&self, arm: &Arm) -> Vec<Problem> {
        let axis = |key| {
            let mut layers = self.layers.iter();
            layers.any(|layered| {
                layered.source == 0 && layered.setting.listed && layered.setting.key == key
            })
        };
        let pinned = arm.settings.iter().filter(|setting| axis(setting.key));
        let problems = pinned.map(|setting| {
            Problem::new(format!(
                "variant {} sets {}, which is swept",
                arm.label, setting.key
            ))
            .at(&self.sources[0], setting.place.clone(), "set here")
            .help("leave the key out of the variant or give it one value outside")
        });
        problems.collect()
    }
}

impl<'a> Chosen<'a> {
    fn choose(&mut self, key: &'static str, text: &'a str, origin: (usize, Range<usize>)) {
        self.texts.insert(key, text);
        self.origins.insert(key, origin);
    }
}

/// Combinations of values are checked before the first one runs: this many take a few seconds.
const MAX_COMBINATIONS: u64 = 100_000;
/// At a millisecond each, a million simulations take a quarter of an hour; more is a slip.
const MAX_POINTS: u64 = 1_000_000;
