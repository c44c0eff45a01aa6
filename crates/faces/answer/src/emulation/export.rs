//! An emulation for programs: JSON and CSV.

use csv::Writer;
use protocol::Results;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sim::columns::METRICS;

use super::runs::Emulation;

/// Everything as one object.
///
/// # Panics
/// Never: lines are objects.
pub fn json(emulated: &Emulation) -> String {
    let points = emulated.points.iter().map(|point| {
        let mut fields = fields(point);
        // All flows are in the run folder.
        fields.remove("fct_us");
        fields
    });
    let object = json!({
        "version": sim::VERSION,
        "scenario": emulated.about.scenario,
        "networks": emulated.beds,
        "points": points.collect::<Vec<_>>(),
        "captures": emulated.captures,
        "skipped": emulated.skipped,
    });
    format!("{object:#}\n")
}

/// The fields of a line, or of a part of it, by name.
fn fields(line: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(line) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("lines are objects"),
    }
}

/// One line for each run, on Linux and in the simulator.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(emulated: &Emulation) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    let sets = emulated.sets();
    let keys = sets.first().into_iter().flat_map(|set| set.keys());
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    let mut header = vec!["world", "scheme", "run", "seed", "valid"];
    header.extend(&keys);
    header.extend(METRICS.iter().map(|column| column.name));
    writer
        .write_record(header)
        .expect("writing to memory succeeds");
    for point in &emulated.points {
        let valid = point.live().map(|run| run.valid.to_string());
        let mut line = vec![
            point.runs_on().name().to_owned(),
            point.scheme.clone(),
            point.run.to_string(),
            point.seed.to_string(),
            valid.unwrap_or_default(),
        ];
        let settings = keys.iter().map(|key| point.set.get(*key).cloned());
        line.extend(settings.map(Option::unwrap_or_default));
        let metrics = match &point.results {
            Results::Linux { metrics, .. } => fields(metrics),
            Results::Simulated { metrics } => fields(metrics),
        };
        line.extend(METRICS.iter().map(|column| match metrics.get(column.name) {
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        }));
        writer
            .write_record(line)
            .expect("writing to memory succeeds");
    }
    let bytes = writer.into_inner().expect("flushing to memory succeeds");
    String::from_utf8(bytes).expect("fields are text")
}
