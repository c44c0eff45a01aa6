//! The page: one file with the program in it.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plan::keys::all_keys;
use report::Head;
use scenario::{BUILTINS, Problem, Problems, Scenario, Source};
use serde_json::{Value, json};

use crate::lecture::lectures;
use crate::panel::PaperPanel;
use crate::request::PageRequest;
use crate::{description, run};

/// The first state of a page.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The name of the scenario in the command.
    pub name: String,
    /// The scenario.
    pub source: Source,
    /// Schemes and variants in place of its own, if there are any.
    pub schemes: Vec<String>,
    /// Settings over its own.
    pub sets: Vec<(String, String)>,
    /// The seed in place of its own.
    pub seed: Option<u64>,
    /// Sentences that stand beside it: the claims of a figure.
    pub beside: Vec<String>,
    /// The panels of the figure.
    pub figures: Vec<PaperPanel>,
}

/// The version of the simulator in the program that pages carry. Another one than this crate's simulates the same as long
/// as the tests pass; the page compares its first digests with those of the command, and says if they differ.
pub const PROGRAM_VERSION: &str = include_str!("../assets/play.version");

/// The program, compressed.
const PROGRAM: &[u8] = include_bytes!("../assets/play.wasm.gz");

#[derive(Template)]
#[template(path = "explore.html")]
struct Page<'a> {
    head: Head<'a>,
    stage: &'static str,
    report_script: &'static str,
    script: &'static str,
    /// The answer of the first run, so that a page shows one at once, and without a script.
    sentences: Vec<String>,
    charts: String,
    table: String,
    title: String,
    again: String,
    beside: Vec<String>,
    data: String,
    worker: &'static str,
    program: String,
}

/// The page that simulates what `opened` says.
///
/// # Errors
/// Everything that is wrong with the scenario, and what a page does not have.
pub fn page(opened: &Opened) -> Result<String, Problems> {
    let request = PageRequest {
        name: opened.name.clone(),
        text: opened.source.text().to_owned(),
        schemes: opened.schemes.clone(),
        sets: opened.sets.clone(),
        seed: opened.seed,
        ..PageRequest::default()
    };
    // Errors name their place in the file.
    let scenario = request.scenario()?;
    can_be_carried(&scenario)?;
    let described = description::describe(&request);
    let first = first(&request, &described);
    let answer = run::run(&PageRequest {
        patience_s: Some(PATIENCE_S),
        ..first.clone()
    });
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let mut scenarios = vec![
        json!({ "name": request.name, "text": request.text, "described": described,
        "first": first }),
    ];
    scenarios.extend(others(&request.name));
    let schemes = schemes::all().iter();
    let schemes = schemes.map(|scheme| json!({ "name": scheme.name, "summary": scheme.summary }));
    let data = json!({
        "schemes": schemes.collect::<Vec<_>>(),
        "version": sim::VERSION,
        "program": PROGRAM_VERSION,
        "scenarios": scenarios,
        "lectures": lectures(),
        "digests": answer["digests"],
        "figures": figures(opened),
        "toml": answer["toml"],
    });
    let sentences = answer["sentences"].as_array().into_iter().flatten();
    let style = [report::STYLE, include_str!("../templates/explore.css")].concat();
    Ok(Page {
        head: Head {
            heading: scenario.name(),
            command: "explore",
            style: &style,
        },
        title: scenario.title().unwrap_or_default().to_owned(),
        stage: report::STAGE,
        report_script: report::PLAYING_SCRIPT,
        script: include_str!("../templates/explore.js"),
        sentences: sentences
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        charts: text("charts"),
        table: text("table"),
        again: text("command"),
        beside: opened.beside.clone(),
        // Text that looks like the end of a script would end it.
        data: data.to_string().replace('<', "\\u003c"),
        worker: include_str!("../templates/worker.js"),
        program: STANDARD.encode(PROGRAM),
    }
    .to_string())
}

/// The panels of the paper's figure. Schemes that the command names are those of every panel.
fn figures(opened: &Opened) -> Vec<Value> {
    let figures = opened.figures.iter();
    let figures = figures.map(|figure| {
        let mut figure = figure.clone();
        if !opened.schemes.is_empty() {
            figure.run.schemes.clone_from(&opened.schemes);
        }
        json!(figure)
    });
    figures.collect()
}

/// Refuses what a page does not have: files beside the scenario, and schemes of other crates.
fn can_be_carried(scenario: &Scenario) -> Result<(), Problems> {
    if let Some((scheme, _)) = scenario.origins().first() {
        let problem = Problem::new(format!(
            "a page does not contain the scheme {scheme}, because it comes from another crate"
        ));
        return Err(problem.help("compare it with `tailwater run`").into());
    }
    for point in scenario.points() {
        let texts = point.groups.iter().map(|group| &group.texts);
        for texts in texts.chain([&point.texts]) {
            let mut keys = all_keys().iter();
            if let Some(key) = keys.find(|key| key.names_file(&texts[key.name])) {
                let problem = Problem::new(format!(
                    "a page cannot read the file of {} = {}",
                    key.name, &texts[key.name]
                ));
                return Err(problem
                    .help("use a built-in one, or `tailwater run`")
                    .into());
            }
        }
    }
    Ok(())
}

/// The first run of a scenario: of every swept setting one value, and of long lists of schemes the first.
pub(crate) fn first(request: &PageRequest, described: &Value) -> PageRequest {
    let mut first = request.clone();
    for pair in described["sets"].as_array().into_iter().flatten() {
        let text = |index: usize| pair[index].as_str().unwrap_or_default().to_owned();
        first.sets.retain(|(key, _)| *key != text(0));
        first.sets.push((text(0), text(1)));
    }
    let own = described["schemes"].as_array().into_iter().flatten();
    let own: Vec<&str> = own.filter_map(Value::as_str).collect();
    if own.len() > MOST_SCHEMES {
        first.schemes = own[..MOST_SCHEMES]
            .iter()
            .map(|&name| name.to_owned())
            .collect();
    }
    first.seed = first.seed.or(described["seed"].as_u64());
    first
}

/// The built-in scenarios that answer at once, but for `opened`.
fn others(opened: &str) -> Vec<Value> {
    let all = BUILTINS.iter().filter(|builtin| builtin.name != opened);
    let described = all.map(|builtin| {
        let request = PageRequest {
            name: builtin.name.to_owned(),
            text: builtin.text.to_owned(),
            ..PageRequest::default()
        };
        let described = description::describe(&request);
        let first = first(&request, &described);
        json!({ "name": builtin.name, "text": builtin.text, "described": described, "first": first })
    });
    let quick = |other: &Value| {
        other["described"]["expected_s"]
            .as_f64()
            .is_some_and(|s| s < QUICK_S)
    };
    described.filter(quick).collect()
}

/// Schemes that a page compares.
const MOST_SCHEMES: usize = 4;
/// Seconds that the command simulates for the first picture of a page, as the page would.
const PATIENCE_S: f64 = 5.0;
/// Seconds in which a built-in scenario has to answer to be offered.
pub(crate) const QUICK_S: f64 = 0.5;

#[cfg(test)]
mod tests;
