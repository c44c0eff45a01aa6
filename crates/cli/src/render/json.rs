//! Results for programs: one object, names with their units.

use lab::metrics::Outcome;
use lab::scenario::PointSpec;
use serde_json::{Map, Number, Value, json};

use crate::finished::Finished;

/// The whole sweep as one object.
pub(crate) fn json(finished: &Finished<'_>, flows: bool) -> String {
    let points: Vec<_> = finished
        .outcomes()
        .map(|(point, outcome)| self::point(point, outcome, flows))
        .collect();
    let mut object = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scenario": finished.scenario.name(),
        "points": points,
        "cost": cost(finished),
    });
    let failed: Vec<_> = finished
        .failures()
        .map(|(point, failure)| {
            let (scheme, seed, set) = (&point.scheme, point.seed, set(point));
            json!({ "scheme": scheme, "seed": seed, "set": set, "error": failure.to_string() })
        })
        .collect();
    if !failed.is_empty() {
        object["failed"] = Value::Array(failed);
    }
    format!("{object:#}\n")
}

/// Metrics and cost of one simulation under one roof.
pub(super) fn metrics(outcome: &Outcome) -> Map<String, Value> {
    let mut all = Map::new();
    for part in [
        serde_json::to_value(&outcome.metrics),
        serde_json::to_value(outcome.cost),
    ] {
        if let Ok(Value::Object(fields)) = part {
            all.extend(fields);
        }
    }
    all
}

/// The digest of everything that happened in a simulation.
pub(super) fn digest(outcome: &Outcome) -> String {
    format!("{:016x}", outcome.digest)
}

fn point(point: &PointSpec, outcome: &Outcome, flows: bool) -> Value {
    let mut object = json!({
        "scheme": point.scheme,
        "seed": point.seed,
        "set": set(point),
        "metrics": metrics(outcome),
        "digest": digest(outcome),
    });
    if flows {
        object["flows"] = json!(outcome.flows);
    }
    object
}

fn set(point: &PointSpec) -> Map<String, Value> {
    let value = |text: &str| {
        let whole = text.parse::<u64>().map(Number::from).ok();
        let number = whole.or_else(|| text.parse().ok().and_then(Number::from_f64));
        number.map_or_else(|| Value::from(text), Value::Number)
    };
    point
        .set
        .iter()
        .map(|(key, text)| (key.clone(), value(text)))
        .collect()
}

/// Sums over all points. `wall_us` is the time of the whole sweep, `busy_us` that of all threads
/// together, from which the cost of a packet-hop follows.
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
fn cost(finished: &Finished<'_>) -> Value {
    let costs = || finished.outcomes().map(|(_, outcome)| &outcome.cost);
    let hops: u64 = costs().map(|cost| cost.packet_hops).sum();
    let busy = costs().fold(0.0, |sum, cost| sum + cost.wall_us);
    json!({
        "simulated_us": costs().fold(0.0, |sum, cost| sum + cost.simulated_us),
        "packet_hops": hops,
        "events": costs().map(|cost| cost.events).sum::<u64>(),
        "wall_us": finished.wall.as_secs_f64() * 1e6,
        "busy_us": busy,
        // Without a hop this is NaN or infinite, which JSON writes as null.
        "ns_per_hop": busy * 1e3 / hops as f64,
        "jobs": finished.jobs,
    })
}
