//! Makes points from layers of settings.

mod layer;
mod problems;

use std::path::Path;
use std::sync::Arc;

use base::Quantity;
use base::Sort as _;
use base::setting::SettingError;

use super::arms::{Arm, Flows};
use super::document::{Setting, about, split_group};
use super::problem::{Problem, Problems};
use super::source::Source;
use crate::losses;
use layer::Layer;
use plan::keys::{self, Conflict, Keys, SweepSize, TracedSeries};
use plan::workload::{self, Layout};
use plan::{Group, PointSpec, Pool, Texts, series, suggest};

/// The layers below and above a variant, and the texts that they came from.
pub(super) struct Resolver {
    /// The file first, then every argument.
    sources: Vec<Source>,
    /// The flows; at least one group.
    groups: Vec<Flows>,
    /// Settings of the file and of arguments. Arguments replace file settings or follow them; settings that the file
    /// orders come first.
    layers: Vec<Layered>,
    /// Settings that the file selects for display, in order.
    columns: Vec<String>,
}

struct Layered {
    source: usize,
    setting: Setting,
}

/// The texts for one combination of axis values with one scheme.
struct Chosen<'a> {
    /// The layer that all have in common.
    all: Layer<'a>,
    /// Settings of single links and hosts by their names in results, and their texts.
    parts: Vec<(String, &'a str)>,
    /// The layer of each group of flows, by its name.
    groups: Vec<(&'a str, Layer<'a>)>,
}

impl Resolver {
    /// Merges the arguments, each with the index of its source, over the file.
    pub(super) fn new(
        (sources, groups): (Vec<Source>, Vec<Flows>),
        (file, columns): (Vec<Setting>, Vec<String>),
        arguments: Vec<(usize, Setting)>,
        arms: &[Arm],
    ) -> Result<Self, Problems> {
        let layer = |setting| Layered { source: 0, setting };
        let mut layers: Vec<Layered> = file.into_iter().map(layer).collect();
        let mut problems = Vec::new();
        for (source, setting) in arguments {
            let layered = Layered { source, setting };
            let key = layered.setting.name();
            if let Some(group) = &layered.setting.group
                && !groups.iter().any(|flows| flows.name == *group)
            {
                let names = groups.iter().map(|flows| &*flows.name);
                let nearest = suggest::did_you_mean(group, names.filter(|name| !name.is_empty()));
                problems.push(
                    Problem::new(format!("there is no group {group:?} in this scenario"))
                        .at(&sources[source], layered.setting.place, "unknown name")
                        .help(format!(
                            "{nearest}groups of flows are tables [group.NAME] of the scenario"
                        )),
                );
                continue;
            }
            let about = |layer: &Layered| layer.setting.is_about(&layered.setting);
            let earlier = layers.iter().position(about);
            match earlier {
                Some(earlier) if layers[earlier].source > 0 => problems.push(
                    Problem::new(format!("{key} is given twice"))
                        .at(&sources[source], layered.setting.place, "given before")
                        .help(format!("several values go into one: {key}=A,B")),
                ),
                // An overridden axis keeps its place in the order of the sweep; new axes follow the file's axes.
                Some(earlier) if layers[earlier].setting.listed => layers[earlier] = layered,
                Some(earlier) => {
                    layers.remove(earlier);
                    layers.push(layered);
                }
                None => layers.push(layered),
            }
        }
        for column in &columns {
            if let Some((group, _)) = split_group(column)
                && !groups.iter().any(|flows| *flows.name == *group)
            {
                let problem = Problem::new(format!(
                    "columns names a group {group:?}, which does not exist"
                ));
                problems
                    .push(problem.help("groups of flows are tables [group.NAME] of the scenario"));
            }
        }
        let place = |name: &str| columns.iter().position(|column| column == name);
        layers.order_by_key(|layer| place(&layer.setting.name()).unwrap_or(usize::MAX));
        let resolver = Self {
            sources,
            groups,
            layers,
            columns,
        };
        problems.extend(arms.iter().flat_map(|arm| resolver.pinned_axes(arm)));
        Problems::unless(problems, resolver)
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
        let mut pool = Pool::default();
        for combination in 0..combinations {
            for arm in arms {
                let chosen = self.choose(combination, arm);
                let (shared, groups) = self.check(&chosen, arm, &mut pool)?;
                let flows = Layout::of(&shared.keys, &groups).all_flows(&groups);
                let series = |seed| {
                    let size = SweepSize { combinations, rows };
                    TracedSeries::automatic(size, seed, flows)
                };
                let first = shared.tracing(series(0), &mut pool);
                let others = if series(0) == series(1) || shared.traces_more() {
                    first.clone()
                } else {
                    shared.tracing(series(1), &mut pool)
                };
                let set: Vec<_> = self
                    .reported()
                    .map(|name| (name.clone(), chosen.text(&name).to_owned()))
                    .collect();
                for offset in 0..u64::from(seeds) {
                    let (keys, texts) = if offset == 0 { &first } else { &others };
                    points.push(PointSpec {
                        index: points.len(),
                        scheme: arm.label.clone(),
                        bundle: arm.bundle.clone(),
                        seed: seed + offset,
                        set: set.clone(),
                        texts: texts.clone(),
                        keys: Arc::clone(keys),
                        groups: Arc::clone(&groups),
                    });
                }
            }
        }
        if let Some(problem) = points.iter().find_map(losses::unknown_flow) {
            return Err(self.pointing(problem, "bottleneck.lose").into());
        }
        Ok(points)
    }

    /// The file's name without folder and ending, used as the name of a scenario without one.
    pub(super) fn file_name(&self) -> String {
        let stem = Path::new(self.sources[0].name()).file_stem();
        stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// The settings above the defaults, without those of variants.
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
        let axes = axes.map(|setting| format!("{} ({})", setting.name(), setting.values.len()));
        let axes = axes.collect::<Vec<_>>().join(" x ");
        let problem = Problem::new(format!("this sweep has {count} combinations: {axes}"));
        let help = format!("the limit is {MAX_COMBINATIONS}: sweep fewer keys or use larger steps");
        Err(problem.help(help).into())
    }

    /// Keys that every point mentions: the columns, the other axes, and the keys of the command line.
    fn reported(&self) -> impl Iterator<Item = String> {
        let others = self.layers.iter().filter(|layered| {
            let setting = &layered.setting;
            (setting.listed || layered.source > 0) && !self.columns.contains(&setting.name())
        });
        let others = others.map(|layered| layered.setting.name());
        let all = self.columns.iter().cloned().chain(others);
        // Settings of the trace change no result.
        all.filter(|key| keys::group(key) != "trace")
    }

    fn choose<'a>(&'a self, combination: u64, arm: &'a Arm) -> Chosen<'a> {
        let mut file = Layer::of_defaults();
        // The last axis changes fastest, so the digits of the combination are read from the end.
        let mut rest = combination;
        let mut grouped = Vec::new();
        let mut parts = Vec::new();
        for layered in self.layers.iter().rev() {
            let values = &layered.setting.values;
            let size = values.len() as u64;
            let digit = usize::try_from(rest % size).expect("an index into a list in memory");
            rest /= size;
            let origin = (layered.source, values[digit].place.clone());
            let (key, text) = (layered.setting.key, &values[digit].text);
            match (&layered.setting.group, &layered.setting.part) {
                (Some(group), _) => grouped.push((group, key, text, origin)),
                (None, Some(part)) => parts.push((part, text.as_str(), origin)),
                (None, None) => file.choose(key, text, origin),
            }
        }
        parts.reverse();
        file.add_exceptions(&parts);
        let parts = parts.into_iter();
        let parts = parts
            .map(|(part, text, _)| (part.to_string(), text))
            .collect();
        let mut all = file.clone();
        let is_argument = |key| {
            let mut layers = self.layers.iter();
            layers.any(|layered| {
                let setting = &layered.setting;
                layered.source > 0 && setting.group.is_none() && setting.key == key
            })
        };
        for setting in arm
            .settings
            .iter()
            .filter(|setting| !is_argument(setting.key))
        {
            for value in &setting.values {
                all.choose(setting.key, &value.text, (0, value.place.clone()));
            }
        }
        // Settings of a variant apply to the flows with its scheme.
        let groups = self.groups.iter().map(|flows| {
            let mut layer = if flows.bundle.is_some() { &file } else { &all }.clone();
            for (group, key, text, origin) in &grouped {
                if **group == flows.name {
                    layer.choose(key, text, origin.clone());
                }
            }
            layer.follow_profile(flows.bundle.as_deref().unwrap_or(&arm.bundle));
            (&*flows.name, layer)
        });
        let groups = groups.collect();
        all.follow_profile(&arm.bundle);
        Chosen { all, parts, groups }
    }

    fn check(
        &self,
        chosen: &Chosen<'_>,
        arm: &Arm,
        pool: &mut Pool,
    ) -> Result<(Shared, Arc<[Group]>), Problems> {
        self.check_expressions(chosen)?;
        // Every text was checked when it was read, but file contents are only known now.
        let read = |layer: &Layer<'_>| {
            Keys::read(&|key| layer.texts[key].to_string())
                .map_err(|error| Problems::from(self.refused(&error, layer)))
        };
        let shared = Shared {
            keys: Arc::new(read(&chosen.all)?),
            texts: pool.texts(|key| &chosen.all.texts[key]),
        };
        let mut groups = Vec::new();
        let mut problems = Vec::new();
        for (flows, (_, layer)) in self.groups.iter().zip(&chosen.groups) {
            let own = flows.bundle.as_ref();
            let needs_marking = own.map_or(arm.needs_marking, |_| flows.needs_marking);
            let marking = needs_marking.then_some(own.unwrap_or(&arm.label).as_str());
            // If the file has no groups, all flows have the settings of the point.
            let (keys, texts) = if flows.name.is_empty() {
                (Arc::clone(&shared.keys), shared.texts.clone())
            } else {
                (Arc::new(read(layer)?), pool.texts(|key| &layer.texts[key]))
            };
            let group = Group {
                name: Arc::clone(&flows.name),
                bundle: own.unwrap_or(&arm.bundle).clone(),
                texts,
                keys,
            };
            for conflict in group.keys.conflicts(marking) {
                let problem = self.explain(&conflict, layer);
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            groups.push(group);
        }
        if problems.is_empty() {
            let explain = |conflict: Conflict| self.explain(&conflict, &chosen.groups[0].1);
            let conflicts = workload::conflicts(&shared.keys, &groups);
            problems.extend(conflicts.into_iter().map(explain));
        }
        Problems::unless(problems, (shared, groups.into()))
    }

    /// The error of a wrong value, at its place.
    fn refused(&self, error: &SettingError, layer: &Layer<'_>) -> Problem {
        let problem = Problem::new(format!("wrong value for {}: {}", error.key, error.error));
        let problem = match layer.origins.get(error.key) {
            Some((source, place)) => {
                problem.at(&self.sources[*source], place.clone(), "wrong value")
            }
            None => problem,
        };
        match keys::key(error.key) {
            Some(key) => problem.help(about(key, key.name)),
            None => problem,
        }
    }

    /// The flows; at least one group.
    pub(super) fn groups(&self) -> &[Flows] {
        &self.groups
    }
}

/// The settings that the seeds of one combination and scheme share.
struct Shared {
    keys: Arc<Keys>,
    texts: Texts,
}

impl Shared {
    /// The settings of a point, with `series` recorded if the choice is automatic. With these settings a point is a
    /// pure function of itself, not of the sweep.
    fn tracing(&self, series: &str, pool: &mut Pool) -> (Arc<Keys>, Texts) {
        let (mut keys, mut texts) = (Arc::clone(&self.keys), self.texts.clone());
        if let TracedSeries::Auto(beside) = &keys.trace.series {
            let beside: Vec<_> = beside.iter().copied().map(series::word).collect();
            let series = if beside.is_empty() {
                series.to_owned()
            } else {
                TracedSeries::joined(series, &beside.join(","))
            };
            let own = Arc::make_mut(&mut keys);
            own.trace.series = TracedSeries::parse(&series).expect("names of quantities");
            texts = texts.with("trace.series", pool.kept(&series));
        }
        (keys, texts)
    }

    /// Whether the user asked for more series than the automatic choice. Those are recorded for every seed.
    fn traces_more(&self) -> bool {
        matches!(&self.keys.trace.series, TracedSeries::Auto(beside) if !beside.is_empty())
    }
}

impl Chosen<'_> {
    /// The text of a setting by its name in results.
    fn text(&self, name: &str) -> &str {
        if let Some((group, key)) = split_group(name) {
            let mut groups = self.groups.iter();
            let found = groups.find(|(name, _)| *name == group);
            return found.map_or("", |(_, layer)| &layer.texts[key]);
        }
        let mut parts = self.parts.iter();
        let part = parts.find(|(own, _)| own == name).map(|(_, text)| *text);
        let own = || self.all.texts.get(name).map(|text| &**text);
        // A column may name a link without exceptions.
        part.or_else(own).unwrap_or("auto")
    }
}

/// All combinations are checked before the first one runs; this many take a few seconds.
const MAX_COMBINATIONS: u64 = 100_000;
/// At a millisecond each, a million simulations take a quarter of an hour; a larger number is a typing error.
const MAX_POINTS: u64 = 1_000_000;
