//! The schemes that a scenario compares: registered ones, compositions and variants.

use std::ops::Range;
use std::sync::Arc;

use schemes::{Bundle, BundleError};

use super::argument::Argument;
use super::document::{Draft, Setting, Variant};
use super::problem::{Problem, Problems};
use super::source::Source;
use super::values::{self, Value};
use plan::keys;
use plan::suggest;

/// One row of every comparison: a composition of schemes with its own settings.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) label: String,
    pub(super) bundle: String,
    pub(super) needs_marking: bool,
    pub(super) settings: Vec<Setting>,
    /// Whether `settings` come from a variant. A resolved scenario writes such a variant again.
    pub(super) variant: bool,
}

/// Flows with settings of their own. If the file has no groups, there is one group of all flows.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    /// Empty for the group of all flows.
    pub(super) name: Arc<str>,
    /// The scheme of its hosts; `None`: the arm's scheme.
    pub(super) bundle: Option<String>,
    pub(super) needs_marking: bool,
}

impl Arm {
    /// Whether the settings of the scheme called `group` have an effect here.
    pub(super) fn uses(&self, group: &str) -> bool {
        uses(&self.bundle, group)
    }
}

impl Flows {
    /// Whether its own scheme uses the settings of the scheme called `group`.
    pub(super) fn uses(&self, group: &str) -> bool {
        self.bundle
            .as_deref()
            .is_some_and(|bundle| uses(bundle, group))
    }
}

fn uses(bundle: &str, group: &str) -> bool {
    let mut parts = schemes::all().iter();
    parts.any(|scheme| {
        let named = bundle.split('+').any(|part| part == scheme.name);
        let reads = || scheme.keys.iter().any(|key| keys::group(key.name) == group);
        named && (scheme.name == group || reads())
    })
}

/// The groups of the file.
pub(super) fn flows(draft: &Draft, file: &Source) -> Result<Vec<Flows>, Problems> {
    if draft.groups.is_empty() {
        return Ok(vec![Flows {
            name: Arc::from(""),
            bundle: None,
            needs_marking: false,
        }]);
    }
    let mut problems = Vec::new();
    let mut groups = Vec::new();
    for group in &draft.groups {
        let bundle = group
            .scheme
            .as_ref()
            .map(|scheme| (scheme, Bundle::parse(&scheme.text)));
        match bundle {
            Some((scheme, Err(error))) => problems.push(bad_bundle(file, scheme, &error, [])),
            Some((scheme, Ok(bundle))) => groups.push(Flows {
                name: Arc::clone(&group.name),
                bundle: Some(scheme.text.clone()),
                needs_marking: bundle.needs_marking(),
            }),
            None => groups.push(Flows {
                name: Arc::clone(&group.name),
                bundle: None,
                needs_marking: false,
            }),
        }
    }
    Problems::unless(problems, groups)
}

/// The only row of a scenario in which every group of flows has its own scheme.
fn mixed(draft: &Draft) -> Option<Arm> {
    let schemes: Option<Vec<&str>> = draft
        .groups
        .iter()
        .map(|group| group.scheme.as_ref().map(|scheme| scheme.text.as_str()))
        .collect();
    let schemes = schemes.filter(|schemes| !schemes.is_empty())?;
    Some(Arm {
        label: MIXED.to_owned(),
        bundle: schemes[0].to_owned(),
        needs_marking: false,
        settings: Vec::new(),
        variant: false,
    })
}

/// The label of a row in which every group has its own scheme.
pub(super) const MIXED: &str = "mixed";

/// The schemes of the command line; without any, those of the file, else its variants, else all schemes.
pub(super) fn arms(
    draft: &Draft,
    file: &Source,
    requested: Option<&str>,
) -> Result<Vec<Arm>, Problems> {
    let mut problems = Vec::new();
    let variants = check_variants(draft, file, &mut problems);
    let argument = Source::of_argument(Argument::Schemes, requested.unwrap_or_default());
    if let (None, None, true) = (requested, &draft.schemes, draft.variants.is_empty())
        && let Some(arm) = mixed(draft)
    {
        return Ok(vec![arm]);
    }
    let (source, names) = match (requested, &draft.schemes) {
        (Some(text), _) => (&argument, values::parts(text, 0)),
        (None, Some(names)) => (file, names.clone()),
        (None, None) if !draft.variants.is_empty() => {
            (file, draft.variants.iter().map(Variant::as_value).collect())
        }
        (None, None) => {
            let all = schemes::all().iter().map(|scheme| Value {
                text: scheme.name.to_owned(),
                place: 0..0,
            });
            (file, all.collect())
        }
    };
    let mut arms: Vec<Arm> = Vec::new();
    for name in names {
        if arms.iter().any(|arm| arm.label == name.text) {
            let problem = Problem::new(format!("scheme {} is listed twice", name.text))
                .at(source, name.place, "given before")
                .help("leave one of them out, or make a [variant.NAME] that differs");
            problems.push(problem);
            continue;
        }
        if let Some(arm) = variants.iter().find(|arm| arm.label == name.text) {
            arms.push(arm.clone());
            continue;
        }
        if draft
            .variants
            .iter()
            .any(|variant| variant.name == name.text)
        {
            // The error in the variant has been reported.
            continue;
        }
        if name.text.is_empty() {
            let problem = Problem::new("a name is missing in the list of schemes")
                .at(source, name.place, "expected a scheme here")
                .help(format!(
                    "as in {}; `tailwater list schemes` prints all of them",
                    schemes::EXAMPLES.join(",")
                ));
            problems.push(problem);
            continue;
        }
        match Bundle::parse(&name.text) {
            Ok(bundle) => arms.push(Arm {
                label: name.text.clone(),
                bundle: name.text,
                needs_marking: bundle.needs_marking(),
                settings: Vec::new(),
                variant: false,
            }),
            Err(error) => {
                let labels = draft.variants.iter().map(|variant| variant.name.as_str());
                problems.push(bad_bundle(source, &name, &error, labels));
            }
        }
    }
    Problems::unless(problems, arms)
}

impl Variant {
    fn as_value(&self) -> Value {
        Value {
            text: self.name.clone(),
            place: self.place.clone(),
        }
    }
}

fn check_variants(draft: &Draft, file: &Source, problems: &mut Vec<Problem>) -> Vec<Arm> {
    let mut arms = Vec::new();
    for variant in &draft.variants {
        if schemes::all()
            .iter()
            .any(|scheme| scheme.name == variant.name)
        {
            let problem = Problem::new(format!(
                "variant {} has the name of a scheme",
                variant.name
            ))
            .at(file, variant.place.clone(), "a scheme of this name exists")
            .help(format!(
                "give it a name of its own, as in [variant.{}-mine]; to set a scheme's parameters \
                     everywhere, write [{}] without \"variant\"",
                variant.name, variant.name
            ));
            problems.push(problem);
            continue;
        }
        match Bundle::parse(&variant.base.text) {
            Ok(bundle) => arms.push(Arm {
                label: variant.name.clone(),
                bundle: variant.base.text.clone(),
                needs_marking: bundle.needs_marking(),
                settings: variant.settings.clone(),
                variant: true,
            }),
            Err(error) => problems.push(bad_bundle(file, &variant.base, &error, [])),
        }
    }
    arms
}

fn bad_bundle<'a>(
    source: &Source,
    name: &Value,
    error: &BundleError,
    variants: impl IntoIterator<Item = &'a str>,
) -> Problem {
    let BundleError::Unknown { name: unknown, .. } = error else {
        return Problem::new(error.to_string())
            .at(source, name.place.clone(), "these do not compose")
            .help(
                "combine at most one scheme for each role, as in a switch's scheme with a sender's",
            );
    };
    let known = schemes::all().iter().map(|scheme| scheme.name);
    let nearest = suggest::did_you_mean(unknown, known.chain(variants));
    Problem::new(format!("there is no scheme {unknown:?}"))
        .at(source, place_in(source, name, unknown), "unknown name")
        .help(format!(
            "{nearest}`tailwater list schemes` prints all of them"
        ))
}

/// The position of one part of a composition. A single scheme has the position of the whole name.
fn place_in(source: &Source, name: &Value, part: &str) -> Range<usize> {
    let text = source.text().get(name.place.clone()).unwrap_or_default();
    match text.find(part) {
        Some(at) if !part.is_empty() => name.place.start + at..name.place.start + at + part.len(),
        _ => name.place.clone(),
    }
}
