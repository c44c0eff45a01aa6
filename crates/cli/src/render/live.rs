//! Linux beside the simulation: a table, and the same for programs.

use std::fmt::Write;

use results::statistics::Estimate;
use serde_json::{Value, json};
use sim::columns::METRICS;

use crate::text;

/// What `tailwater-live` told of a scenario.
pub(crate) struct Emulated {
    scenario: String,
    runs: u32,
    lines: Vec<Value>,
}

impl Emulated {
    pub(crate) fn new(scenario: &str, runs: u32, lines: Vec<Value>) -> Self {
        Self {
            scenario: scenario.to_owned(),
            runs,
            lines,
        }
    }

    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |line| line["type"] == kind)
    }

    /// Points of a scheme in one world, under the same settings as `like`.
    fn points<'a>(&'a self, world: &'a str, like: &'a Value) -> impl Iterator<Item = &'a Value> {
        self.of_kind("point").filter(move |point| {
            point["world"] == world
                && point["scheme"] == like["scheme"]
                && point["set"] == like["set"]
        })
    }

    /// The first run of every scheme under these settings, and schemes that were left out.
    fn rows<'a>(&'a self, set: &'a Value) -> Vec<&'a Value> {
        let first = |line: &&Value| {
            line["type"] == "skipped"
                || line["type"] == "point" && line["world"] == "linux" && line["run"] == 0
        };
        let rows = self.lines.iter().filter(first);
        let mut rows: Vec<_> = rows.filter(|line| line["set"] == *set).collect();
        rows.sort_by_key(|line| line["type"] == "skipped");
        rows
    }

    /// Settings in the order in which their networks were made.
    fn sets(&self) -> Vec<&Value> {
        let mut sets: Vec<&Value> = Vec::new();
        for line in self.of_kind("bed").chain(self.of_kind("skipped")) {
            if !sets.contains(&&line["set"]) {
                sets.push(&line["set"]);
            }
        }
        sets
    }
}

/// Title, table and validity of every network.
pub(crate) fn table(emulated: &Emulated) -> String {
    let mut out = String::new();
    for set in emulated.sets() {
        network(&mut out, emulated, set).expect("writing to a string succeeds");
        out.push('\n');
    }
    out
}

fn network(out: &mut String, emulated: &Emulated, set: &Value) -> std::fmt::Result {
    let bed = emulated.of_kind("bed").find(|bed| bed["set"] == *set);
    match bed {
        Some(bed) => writeln!(out, "{}", title(emulated, bed))?,
        None => writeln!(
            out,
            "{}: no stack of this kernel is compared",
            emulated.scenario
        )?,
    }
    for (key, value) in set.as_object().into_iter().flatten() {
        writeln!(out, "{key} = {}", value.as_str().unwrap_or_default())?;
    }
    writeln!(out)?;
    let rows = emulated.rows(set);
    let width = rows.iter().map(|row| scheme(row).len()).max().unwrap_or(0);
    let width = width.max("scheme".len());
    let cells: Vec<_> = (rows.iter())
        .filter(|row| row["type"] == "point")
        .map(|row| (scheme(row), pairs(emulated, row)))
        .collect();
    if !cells.is_empty() {
        grid(out, width, &cells)?;
    }
    for row in rows.iter().filter(|row| row["type"] == "skipped") {
        let reason = row["reason"].as_str().unwrap_or_default();
        writeln!(out, "{:width$}  {reason}", scheme(row))?;
    }
    writeln!(out)?;
    if let Some(bed) = bed {
        text::paragraph(out, 0, &validity(emulated, set));
        for row in bed["different"].as_array().into_iter().flatten() {
            let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let line = format!("{}: {}", word("key"), word("instead"));
            text::paragraph(out, 2, &line);
        }
    }
    Ok(())
}

/// Where the table comes from.
fn title(emulated: &Emulated, bed: &Value) -> String {
    let number = |name: &str| bed[name].as_f64().unwrap_or(0.0);
    let kernel = bed["kernel"].as_str().unwrap_or_default();
    let version: Vec<_> = kernel.split(['.', '-']).take(2).collect();
    let nodes = bed["hosts"].as_u64().unwrap_or(0) + bed["switches"].as_u64().unwrap_or(0);
    let (real, planned) = (number("rate_bps"), number("scenario_rate_bps"));
    let instead = if real < planned {
        format!(" instead of {}", rate(planned))
    } else {
        String::new()
    };
    format!(
        "{} on Linux {}: {nodes} namespaces, {}{instead}, RTT {:.0} us, bucket {:.0} B, {} interleaved runs",
        emulated.scenario,
        version.join("."),
        rate(real),
        number("rtt_us"),
        number("burst_bytes"),
        emulated.runs,
    )
}

fn rate(bps: f64) -> String {
    if bps >= 1e9 {
        format!("{} Gbit/s", bps / 1e9)
    } else {
        format!("{} Mbit/s", bps / 1e6)
    }
}

fn scheme(row: &Value) -> &str {
    row["scheme"].as_str().unwrap_or_default()
}

/// A column of both worlds.
struct Shown {
    metric: &'static str,
    head: &'static str,
    divisor: f64,
    decimals: usize,
}

const SHOWN: [Shown; 5] = [
    Shown {
        metric: "fct_p50_us",
        head: "FCT p50 ms",
        divisor: 1e3,
        decimals: 1,
    },
    Shown {
        metric: "fct_p99_us",
        head: "FCT p99 ms",
        divisor: 1e3,
        decimals: 1,
    },
    Shown {
        metric: "timeouts",
        head: "timeouts",
        divisor: 1.0,
        decimals: 1,
    },
    Shown {
        metric: "drops",
        head: "drops",
        divisor: 1.0,
        decimals: 0,
    },
    Shown {
        metric: "queue_mean_bytes",
        head: "queue mean KB",
        divisor: 1e3,
        decimals: 1,
    },
];

/// The texts of every column, Linux and simulated.
fn pairs(emulated: &Emulated, row: &Value) -> Vec<[String; 2]> {
    let column = |shown: &Shown| {
        ["linux", "simulated"].map(|world| {
            let points = emulated.points(world, row);
            let values = points.map(|point| point["metrics"][shown.metric].as_f64());
            let values = values.map(|value| value.map_or(f64::NAN, |value| value / shown.divisor));
            estimate(&Estimate::of(values), shown.decimals)
        })
    };
    SHOWN.iter().map(column).collect()
}

fn estimate(estimate: &Estimate, decimals: usize) -> String {
    match (estimate.mean, estimate.half_width()) {
        (None, _) => "-".to_owned(),
        (Some(mean), None) => format!("{mean:.decimals$}"),
        (Some(mean), Some(half)) => format!("{mean:.decimals$}\u{b1}{half:.decimals$}"),
    }
}

/// Two lines of heads, then a line for each scheme.
fn grid(out: &mut String, width: usize, rows: &[(&str, Vec<[String; 2]>)]) -> std::fmt::Result {
    let long = |text: &str| text.chars().count();
    let widths: Vec<[usize; 2]> = (0..SHOWN.len())
        .map(|column| {
            let mut widths = ["Linux", "sim"].map(long);
            for (_, cells) in rows {
                for (width, cell) in widths.iter_mut().zip(&cells[column]) {
                    *width = long(cell).max(*width);
                }
            }
            // The head of both stands above them.
            let missing = long(SHOWN[column].head).saturating_sub(widths[0] + 1 + widths[1]);
            widths[0] += missing;
            widths
        })
        .collect();
    let mut lines = [format!("{:width$}", ""), format!("{:width$}", "scheme")];
    for ([linux, sim], shown) in widths.iter().zip(&SHOWN) {
        let both = linux + 1 + sim;
        write!(lines[0], "  {:>both$}", shown.head)?;
        write!(lines[1], "  {:>linux$} {:>sim$}", "Linux", "sim")?;
    }
    for line in &lines {
        writeln!(out, "{}", line.trim_end())?;
    }
    for (scheme, cells) in rows {
        write!(out, "{scheme:width$}")?;
        for ([linux, sim], [left, right]) in widths.iter().zip(cells) {
            write!(out, "  {left:>linux$} {right:>sim$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Whether the runs of a network say something about TCP, by their worst.
fn validity(emulated: &Emulated, set: &Value) -> String {
    let runs = || {
        let points = emulated.of_kind("point");
        points.filter(|point| point["world"] == "linux" && point["set"] == *set)
    };
    let all = runs().count();
    let worst = |name: &str, pick: fn(f64, f64) -> f64| {
        let values = runs().filter_map(|point| point["live"][name].as_f64());
        values.reduce(pick)
    };
    let late = worst("start_lateness_p99_us", f64::max).unwrap_or(0.0) / 1e3;
    let busy = worst("busy_share", f64::max).unwrap_or(0.0) * 100.0;
    let reordered = worst("reordered_share", f64::max).unwrap_or(0.0) * 100.0;
    let link = match worst("rate_share", f64::min) {
        Some(share) => format!("link at {:.1} % while queued", share * 100.0),
        None => "no queue".to_owned(),
    };
    let order = if reordered > 0.0 {
        format!("{reordered:.2} % reordered")
    } else {
        "no reordering".to_owned()
    };
    let facts =
        format!("starts late by {late:.1} ms (p99), {link}, cores {busy:.0} % busy, {order}");
    let invalid = || runs().filter(|point| point["live"]["valid"] == false);
    if invalid().next().is_none() {
        return format!("valid: {facts}");
    }
    let mut reasons: Vec<&str> = Vec::new();
    for point in invalid() {
        let own = point["live"]["reasons"].as_array().into_iter().flatten();
        for reason in own.filter_map(Value::as_str) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    let count = invalid().count();
    format!(
        "NOT VALID, {count} of {all} runs: {} ({facts})",
        reasons.join("; ")
    )
}

/// Everything as one object.
pub(crate) fn json(emulated: &Emulated) -> String {
    let of = |kind| {
        let lines = emulated.of_kind(kind).map(|line| {
            let mut line = line.clone();
            if let Value::Object(fields) = &mut line {
                fields.remove("type");
            }
            line
        });
        Value::Array(lines.collect())
    };
    let object = json!({
        "version": sim::VERSION,
        "scenario": emulated.scenario,
        "networks": of("bed"),
        "points": of("point"),
        "skipped": of("skipped"),
    });
    format!("{object:#}\n")
}

/// One line for each run in each world.
pub(crate) fn csv(emulated: &Emulated) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let sets = emulated.sets();
    let keys = sets.first().and_then(|set| set.as_object());
    let keys: Vec<&str> = keys
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect();
    let mut header = vec!["world", "scheme", "run", "seed", "valid"];
    header.extend(&keys);
    header.extend(METRICS.iter().map(|column| column.name));
    writer
        .write_record(header)
        .expect("writing to memory succeeds");
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    for point in emulated.of_kind("point") {
        let mut line: Vec<_> = ["world", "scheme", "run", "seed"]
            .map(|name| text(&point[name]))
            .into();
        line.push(text(&point["live"]["valid"]));
        line.extend(keys.iter().map(|key| text(&point["set"][*key])));
        let metrics = METRICS
            .iter()
            .map(|column| text(&point["metrics"][column.name]));
        line.extend(metrics);
        writer
            .write_record(line)
            .expect("writing to memory succeeds");
    }
    let bytes = writer.into_inner().expect("flushing to memory succeeds");
    String::from_utf8(bytes).expect("fields are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emulated(valid: bool) -> Emulated {
        let set = json!({ "workload.senders": "20" });
        let reasons = if valid {
            json!([])
        } else {
            json!(["cores 95 % busy"])
        };
        let linux = |run: u32, p50: f64| {
            json!({ "type": "point", "world": "linux", "scheme": "cubic", "run": run, "seed": 1, "set": set,
                "metrics": { "fct_p50_us": p50, "fct_p99_us": 30_000.0, "timeouts": 1, "drops": 50,
                    "queue_mean_bytes": 61_200.0 },
                "live": { "valid": valid, "reasons": reasons, "start_lateness_p99_us": 200.0,
                    "busy_share": 0.71, "rate_share": 0.991, "reordered_share": 0.0 } })
        };
        let lines = vec![
            json!({ "type": "skipped", "scheme": "dctcp", "set": set, "reason": "this kernel has no dctcp" }),
            json!({ "type": "bed", "set": set, "kernel": "6.18.44", "hosts": 21, "switches": 1,
                "rate_bps": 2e8, "scenario_rate_bps": 1e9, "burst_bytes": 1512, "rtt_us": 61.0,
                "different": [{ "key": "tcp.syn_rto", "instead": "1 s" }] }),
            linux(0, 25_000.0),
            linux(1, 27_000.0),
            json!({ "type": "point", "world": "simulated", "scheme": "cubic", "run": 0, "seed": 1, "set": set,
                "metrics": { "fct_p50_us": 26_100.0, "fct_p99_us": 27_000.0, "timeouts": 0, "drops": 99,
                    "queue_mean_bytes": 70_000.0 } }),
        ];
        Emulated::new("incast", 2, lines)
    }

    #[test]
    fn linux_stands_beside_the_simulation() {
        insta::assert_snapshot!(table(&emulated(true)));
    }

    #[test]
    fn a_disturbed_run_is_disowned() {
        let text = table(&emulated(false));
        assert!(
            text.contains("NOT VALID, 2 of 2 runs: cores 95 % busy"),
            "{text}"
        );
    }

    #[test]
    fn programs_get_every_run() {
        let text = csv(&emulated(true));
        assert_eq!(text.lines().count(), 4);
        let value: Value = serde_json::from_str(&json(&emulated(true))).unwrap();
        assert_eq!(value["points"][0]["world"], "linux");
        assert_eq!(value["points"].as_array().unwrap().len(), 3);
    }
}
