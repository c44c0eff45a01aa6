//! Results for programs: one object, names with their units.

use std::collections::BTreeMap;

use results::{PointResult, PointSummary};
use serde_json::{Map, Number, Value, json};
use sim::metrics::FlowRecord;

use results::Finished;

use base::cast::real;

/// The whole sweep as one object, with the flows of every point if they are given.
pub fn json(finished: &Finished, flows: Option<BTreeMap<u32, Vec<FlowRecord>>>) -> String {
    let summary = &finished.summary;
    let mut flows = flows;
    let points: Vec<_> = finished
        .points()
        .map(|(point, result)| {
            let mut object = self::point(finished, point, result);
            if let Some(flows) = &mut flows {
                object["flows"] = json!(flows.remove(&point.point).unwrap_or_default());
            }
            object
        })
        .collect();
    let mut object = json!({
        "version": summary.version,
        "scenario": summary.scenario,
        "points": points,
        "rows": summary.rows,
        "comparisons": summary.comparisons,
        "cost": cost(finished),
    });
    if !summary.notes.is_empty() {
        object["notes"] = json!(summary.notes);
    }
    if let Some(goals) = &summary.goals {
        object["goals"] = json!(goals);
    }
    if let Some(search) = &summary.search {
        object["search"] = json!(search);
    }
    if let Some(until) = &summary.until {
        object["until"] = json!(until);
    }
    if let Some(ties) = &summary.ties {
        object["ties"] = json!(ties);
    }
    let failed = summary.failures.iter().map(|failure| {
        let (scheme, set) = (
            &summary.rows[failure.row as usize].scheme,
            set(finished, failure.row),
        );
        json!({ "scheme": scheme, "seed": failure.seed, "set": set, "error": failure.error,
            "reproduce": failure.reproduce })
    });
    let failed: Vec<_> = failed.collect();
    if !failed.is_empty() {
        object["failed"] = Value::Array(failed);
    }
    if let Some(all) = finished.of {
        object["interrupted"] = json!({ "done": finished.results.len(), "of": all });
    }
    format!("{object:#}\n")
}

/// Metrics and cost of one simulation in one object.
pub(super) fn metrics(result: &PointResult) -> Map<String, Value> {
    let mut all = Map::new();
    for part in [
        serde_json::to_value(&result.metrics),
        serde_json::to_value(result.cost),
    ] {
        if let Ok(Value::Object(fields)) = part {
            all.extend(fields);
        }
    }
    all
}

fn point(finished: &Finished, point: &PointSummary, result: &PointResult) -> Value {
    let mut object = json!({
        "scheme": finished.summary.rows[point.row as usize].scheme,
        "seed": point.seed,
        "set": set(finished, point.row),
        "metrics": metrics(result),
        "digest": point.digest,
    });
    if !result.groups.is_empty() {
        object["groups"] = json!(result.groups);
    }
    if !result.collectives.is_empty() {
        object["collectives"] = json!(result.collectives);
    }
    object
}

/// The settings that results name, for the points of a row.
fn set(finished: &Finished, row: u32) -> Map<String, Value> {
    let value = |text: &str| {
        let whole = text.parse::<u64>().map(Number::from).ok();
        let number = whole.or_else(|| text.parse().ok().and_then(Number::from_f64));
        number.map_or_else(|| Value::from(text), Value::Number)
    };
    finished
        .settings(row)
        .map(|(key, text)| (key.clone(), value(text)))
        .collect()
}

/// Sums over all points. `wall_us` is the time of the whole sweep, `cpu_us` the processor time of all simulations. The
/// cost of a packet-hop follows from the latter.
fn cost(finished: &Finished) -> Value {
    let info = &finished.info;
    json!({
        "simulated_us": info.simulated_us,
        "packet_hops": info.packet_hops,
        "events": info.events,
        "wall_us": info.wall_us,
        "cpu_us": info.cpu_us,
        // Without a hop this is NaN or infinite, and JSON gets null.
        "ns_per_hop": info.cpu_us * 1e3 / real(info.packet_hops),
        "jobs": info.jobs,
    })
}
