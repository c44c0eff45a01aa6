//! Explains errors in layers of settings, at the places where they are written.

use super::layer::Layer;
use super::{Chosen, Layered, Resolver};
use crate::argument::{Argument, Help};
use crate::arms::Arm;
use crate::document::Variant;
use crate::problem::{Problem, Problems};
use plan::keys::{self, Conflict};

impl Resolver {
    /// Hints about settings and variants without effect.
    pub(in super::super) fn warnings(
        &self,
        arms: &[Arm],
        list_from_file: bool,
        variants: &[Variant],
    ) -> Vec<Problem> {
        let mut found = Vec::new();
        for layered in self.layers.iter().filter(|layered| layered.source > 0) {
            let key = layered.setting.name();
            let group = keys::group(layered.setting.key);
            let is_scheme = schemes::all().iter().any(|scheme| scheme.name == group);
            let used = arms.iter().any(|arm| arm.uses(group))
                || self.groups.iter().any(|flows| flows.uses(group));
            if is_scheme && !used {
                let problem = Problem::warning(format!("{key} has no effect"))
                    .at(
                        &self.sources[layered.source],
                        layered.setting.place.clone(),
                        "set here",
                    )
                    .help(
                        Help::from(format!("no scheme of this run is {group}: add it to "))
                            .argument(Argument::Schemes),
                    );
                found.push(problem);
            }
        }
        for variant in variants.iter().filter(|_| list_from_file) {
            if !arms.iter().any(|arm| arm.label == variant.name) {
                let name = &variant.name;
                let problem = Problem::warning(format!("variant {name} is not run"))
                    .at(&self.sources[0], variant.place.clone(), "defined here")
                    .help(
                        Help::from(format!("add {name:?} to schemes, or run it with "))
                            .argument(Argument::Schemes)
                            .text(format!(" {name}")),
                    );
                found.push(problem);
            }
        }
        found
    }

    /// Fails unless every expression has a value.
    pub(super) fn check_expressions(&self, chosen: &Chosen<'_>) -> Result<(), Problems> {
        let groups = chosen.groups.iter().map(|(_, layer)| layer);
        let mut problems = Vec::new();
        for layer in [&chosen.all].into_iter().chain(groups) {
            for (key, fault) in &layer.faults {
                let (source, place) = layer.origins[key].clone();
                let problem = Problem::new(format!("{key} has no value here: {fault}"))
                    .at(&self.sources[source], place, "worked out at each point of a sweep")
                    .help("multiply or divide a quantity by settings, as in \"1MB / workload.senders\"");
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        Problems::unless(problems, ())
    }

    /// Reports a conflict at those of its keys that were set in the text read last, because the mistake is more likely
    /// there, and names the values of the others.
    pub(super) fn explain(&self, conflict: &Conflict, chosen: &Layer<'_>) -> Problem {
        let about = |layered: &&Layered| match (&layered.setting.part, &conflict.exception) {
            (Some(part), Some(exception)) => *part.place == **exception,
            _ => false,
        };
        if let Some(layered) = self.layers.iter().find(about) {
            let place = layered.setting.place.clone();
            let problem = Problem::new(conflict.message.clone());
            return problem
                .at(&self.sources[layered.source], place, layered.setting.name())
                .help(conflict.remedy.clone());
        }
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

    /// Errors for variants that set a swept key, because all values of the sweep would be the same simulation.
    pub(super) fn pinned_axes(&self, arm: &Arm) -> Vec<Problem> {
        let axis = |key| {
            let mut layers = self.layers.iter();
            layers.any(|layered| {
                let setting = &layered.setting;
                layered.source == 0
                    && setting.listed
                    && setting.group.is_none()
                    && setting.key == key
            })
        };
        let pinned = arm.settings.iter().filter(|setting| axis(setting.key));
        let problems = pinned.map(|setting| {
            Problem::new(format!(
                "variant {} sets {}, but this key is swept",
                arm.label, setting.key
            ))
            .at(&self.sources[0], setting.place.clone(), "set here")
            .help("leave the key out of the variant or give it one value outside")
        });
        problems.collect()
    }

    /// Points `problem` at the place where `key` is set, if it is set.
    pub(super) fn pointing(&self, problem: Problem, key: &'static str) -> Problem {
        let set = |layered: &&Layered| layered.setting.key == key;
        let Some(layered) = self.layers.iter().rfind(set) else {
            return problem;
        };
        let place = layered.setting.values.first();
        let place = place.map(|value| value.place.clone());
        problem.at(
            &self.sources[layered.source],
            place.unwrap_or_default(),
            key,
        )
    }
}
