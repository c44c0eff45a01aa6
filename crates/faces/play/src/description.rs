//! Settings of a scenario that the page offers to change.

use plan::{PointSpec, keys};
use scenario::{Problems, Scenario};
use serde_json::{Value, json};

use crate::fault::answered;
use crate::ladder;
use crate::request::PageRequest;
use crate::run::expected_s;

/// Names, schemes and sliders of the scenario of a request.
pub(crate) fn describe(request: &PageRequest) -> Value {
    answered(described(request))
}

fn described(request: &PageRequest) -> Result<Value, Problems> {
    let scenario = request.scenario()?;
    let points = scenario.points();
    let own = |key: &str| {
        let mut texts: Vec<&str> = Vec::new();
        for point in points {
            let text = point.text(key);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    };
    // A page shows one combination at a time: of every swept setting the value in the middle.
    let first: &PointSpec = &points[0];
    let axes = first.set.iter().map(|(key, _)| key.as_str());
    let axes = axes.filter(|key| {
        points
            .iter()
            .any(|point| value(point, key) != value(first, key))
    });
    let chosen: Vec<(&str, &str)> = axes
        .filter_map(|key| {
            let texts: Vec<&str> = distinct(points, key);
            Some((key, *texts.get(texts.len() / 2)?))
        })
        .collect();
    let sliders = offered(&scenario).into_iter().filter_map(|name| {
        let key = keys::key(&name)?;
        let texts = own(&name);
        let now = chosen.iter().find(|(axis, _)| *axis == name);
        let now = now.map_or(texts[0], |(_, text)| *text);
        let values = ladder::values(key, &texts);
        let at = values.iter().position(|value| value == now);
        Some(
            json!({ "key": name, "values": values, "at": at, "now": now, "help": key.help,
            "expected": (key.expected)() }),
        )
    });
    let sliders: Vec<Value> = sliders.collect();
    let few: Vec<&PointSpec> = points
        .iter()
        .filter(|point| {
            chosen
                .iter()
                .all(|(key, text)| value(point, key) == Some(*text))
        })
        .collect();
    Ok(json!({
        "name": scenario.name(),
        "title": scenario.title(),
        "schemes": scenario.schemes(),
        "sets": chosen,
        "seed": first.seed,
        "sliders": sliders,
        "expected_s": expected_s(&few),
    }))
}

/// The settings that get a slider: those that the scenario names, else the usual ones.
fn offered(scenario: &Scenario) -> Vec<String> {
    let own = scenario.explore();
    if own.is_empty() {
        return USUAL.map(str::to_owned).to_vec();
    }
    own.to_vec()
}

fn value<'a>(point: &'a PointSpec, key: &str) -> Option<&'a str> {
    let mut set = point.set.iter();
    set.find(|(name, _)| name == key)
        .map(|(_, text)| text.as_str())
}

/// The values of a swept setting, in the order of the sweep.
pub(crate) fn distinct<'a>(points: &'a [PointSpec], key: &str) -> Vec<&'a str> {
    let mut texts = Vec::new();
    for text in points.iter().filter_map(|point| value(point, key)) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

const USUAL: [&str; 6] = [
    "workload.senders",
    "workload.size",
    "switch.buffer",
    "switch.ecn_threshold",
    "tcp.min_rto",
    "link.jitter",
];
