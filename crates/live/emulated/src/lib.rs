//! What an emulation told of Linux beside its simulation: a table, a page, and the same for programs.
//!
//! The privileged program tells of every run as it ends, in lines of JSON ([`LINES`]). An [`Emulated`] is all of them.
//!
//! ```
//! let told = serde_json::json!({ "type": "emulation", "scenario": "incast", "runs": 5, "version": "0.1.0" });
//! let emulated = emulated::Emulated::new(vec![told]);
//! assert_eq!(emulated::page(&emulated).name, "incast");
//! ```

pub mod claims;
pub mod judged;
mod measured;
mod page;

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use csv::Writer;
use report::LiveColumn;
use results::statistics::Estimate;
use scenario::{Problem, Problems};
use serde_json::{Value, json};
use sim::columns::METRICS;

pub use page::page;

/// What `tailwater-live` told of a scenario.
pub struct Emulated {
    lines: Vec<Value>,
}

impl Emulated {
    /// What was told, line by line.
    pub fn new(lines: Vec<Value>) -> Self {
        Self { lines }
    }

    /// The lines that `tailwater-live` left in `folder`; `None` if it was never there.
    pub fn read(folder: &Path) -> Option<Result<Self, Problems>> {
        let file = folder.join(LINES);
        let damaged = |text: String| Problems::from(Problem::new(text).help(AGAIN));
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            text => text.map_err(|error| damaged(format!("{}: {error}", file.display()))),
        };
        let lines = text.and_then(|text| {
            let lines = text.lines().zip(1_u32..).map(|(line, number)| {
                serde_json::from_str(line)
                    .map_err(|error| damaged(format!("{}, line {number}: {error}", file.display())))
            });
            lines.collect()
        });
        Some(lines.map(Self::new))
    }

    /// A fact about the whole of it.
    fn about(&self, name: &str) -> &Value {
        let first = self.of_kind("emulation").next();
        first.map_or(&Value::Null, |line| &line[name])
    }

    fn scenario(&self) -> &str {
        self.about("scenario").as_str().unwrap_or_default()
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

    /// Whether a setting, as [`settings`] writes it, is not that of all networks.
    fn is_swept(&self, setting: &str) -> bool {
        let mut sets = self.sets().into_iter();
        !sets.all(|set| settings(set).any(|own| own == setting))
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
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(emulated: &Emulated) -> String {
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
            emulated.scenario()
        )?,
    }
    for setting in settings(set) {
        writeln!(out, "{setting}")?;
    }
    writeln!(out)?;
    let rows = emulated.rows(set);
    let width = rows.iter().map(|row| scheme(row).len()).max().unwrap_or(0);
    let width = width.max("scheme".len());
    let cells: Vec<_> = (rows.iter())
        .filter(|row| row["type"] == "point")
        .map(|row| (scheme(row), cells(emulated, row)))
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
        let captured = emulated
            .of_kind("capture")
            .filter(|line| line["set"] == *set);
        for capture in captured {
            let line = format!("{}: {}", word(capture, "file"), captured_text(capture));
            text::paragraph(out, 0, &line);
        }
        for (key, instead) in different(bed) {
            text::paragraph(out, 2, &format!("{key}: {instead}"));
        }
    }
    Ok(())
}

/// What tells networks apart, one text for each key.
fn settings(set: &Value) -> impl Iterator<Item = String> {
    let pairs = set.as_object().into_iter().flatten();
    pairs.map(|(key, value)| format!("{key} = {}", value.as_str().unwrap_or_default()))
}

/// Keys that Linux does not follow, and what it does instead.
fn different(bed: &Value) -> impl Iterator<Item = (&str, &str)> {
    let rows = bed["different"].as_array().into_iter().flatten();
    rows.map(|row| (word(row, "key"), word(row, "instead")))
}

fn word<'a>(line: &'a Value, name: &str) -> &'a str {
    line[name].as_str().unwrap_or_default()
}

/// What a capture holds, and what it lacks.
fn captured_text(capture: &Value) -> String {
    let number = |name: &str| capture[name].as_u64().unwrap_or(0);
    let mut parts = vec![format!("{} packets", number("packets"))];
    match number("lost") {
        0 => parts.push("the kernel dropped none".to_owned()),
        lost => parts.push(format!("the kernel dropped {lost} more from the capture")),
    }
    if let left_out @ 1.. = number("left_out") {
        parts.push(format!("{left_out} more did not fit into the file"));
    }
    parts.join("; ")
}

/// Where the table comes from.
fn title(emulated: &Emulated, bed: &Value) -> String {
    let number = |name: &str| bed[name].as_f64().unwrap_or(0.0);
    let kernel = bed["kernel"].as_str().unwrap_or_default();
    let version: Vec<_> = kernel.split(['.', '-']).take(2).collect();
    let nodes = bed["hosts"].as_u64().unwrap_or(0) + bed["switches"].as_u64().unwrap_or(0);
    // A process in place of a network has no buckets.
    let place = match bed["burst_bytes"].as_f64() {
        Some(burst) => format!(
            "{nodes} namespaces, {}, RTT {:.0} us, bucket {burst:.0} B",
            instead(bed),
            number("rtt_us")
        ),
        None => format!(
            "our TCP at the sender, {}, RTT {:.0} us",
            instead(bed),
            number("rtt_us")
        ),
    };
    format!(
        "{} on Linux {}: {place}, {} interleaved runs",
        emulated.scenario(),
        version.join("."),
        emulated.about("runs"),
    )
}

/// The rate of a network, and of the scenario if that is another.
pub fn instead(bed: &Value) -> String {
    let number = |name: &str| bed[name].as_f64().unwrap_or(0.0);
    let (real, planned) = (number("rate_bps"), number("scenario_rate_bps"));
    if real < planned {
        format!("{} instead of {}", rate(real), rate(planned))
    } else {
        rate(real)
    }
}

fn rate(bps: f64) -> String {
    if bps >= 1e9 {
        format!("{} Gbit/s", bps / 1e9)
    } else {
        format!("{} Mbit/s", bps / 1e6)
    }
}

fn scheme(row: &Value) -> &str {
    word(row, "scheme")
}

/// A column of both worlds.
struct Shown {
    metric: &'static str,
    column: LiveColumn,
    divisor: f64,
}

const SHOWN: [Shown; 5] = [
    shown("fct_p50_us", ("FCT p50", "ms", 1), 1e3),
    shown("fct_p99_us", ("FCT p99", "ms", 1), 1e3),
    shown("timeouts", ("timeouts", "", 1), 1.0),
    shown("drops", ("drops", "", 0), 1.0),
    shown("queue_mean_bytes", ("queue mean", "KB", 1), 1e3),
];

const fn shown(
    metric: &'static str,
    (head, unit, decimals): (&'static str, &'static str, usize),
    divisor: f64,
) -> Shown {
    Shown {
        metric,
        column: LiveColumn {
            head,
            unit,
            decimals,
        },
        divisor,
    }
}

impl Shown {
    fn head(&self) -> String {
        let LiveColumn { head, unit, .. } = self.column;
        format!("{head} {unit}").trim_end().to_owned()
    }
}

const WORLDS: [&str; 2] = ["linux", "simulated"];

/// The values of every column, Linux and simulated.
fn pairs(emulated: &Emulated, row: &Value) -> Vec<[Estimate; 2]> {
    let column = |shown: &Shown| {
        WORLDS.map(|world| {
            let points = emulated.points(world, row);
            let values = points.map(|point| point["metrics"][shown.metric].as_f64());
            Estimate::of(values.map(|value| value.map_or(f64::NAN, |value| value / shown.divisor)))
        })
    };
    SHOWN.iter().map(column).collect()
}

/// The same as texts.
fn cells(emulated: &Emulated, row: &Value) -> Vec<[String; 2]> {
    let columns = pairs(emulated, row).into_iter().zip(&SHOWN);
    let texts = columns.map(|(both, shown)| {
        both.each_ref()
            .map(|own| estimate(own, shown.column.decimals))
    });
    texts.collect()
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
            let missing = long(&SHOWN[column].head()).saturating_sub(widths[0] + 1 + widths[1]);
            widths[0] += missing;
            widths
        })
        .collect();
    let mut lines = [format!("{:width$}", ""), format!("{:width$}", "scheme")];
    for ([linux, sim], shown) in widths.iter().zip(&SHOWN) {
        let both = linux + 1 + sim;
        write!(lines[0], "  {:>both$}", shown.head())?;
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

/// Runs on Linux that do not count.
fn invalid<'a>(emulated: &'a Emulated, set: &'a Value) -> impl Iterator<Item = &'a Value> {
    let points = emulated
        .of_kind("point")
        .filter(|point| point["set"] == *set);
    points.filter(|point| point["live"]["valid"] == false)
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
    let late = worst("start_lateness_p99_us", f64::max);
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
    let facts = match late.map(|late| late / 1e3) {
        Some(late) => {
            format!("starts late by {late:.1} ms (p99), {link}, cores {busy:.0} % busy, {order}")
        }
        // A process in place of a network has no queues to look at.
        None => format!("cores {busy:.0} % busy"),
    };
    let count = invalid(emulated, set).count();
    if count == 0 {
        return format!("valid: {facts}");
    }
    // Reasons that differ in numbers alone are told once; the facts have the worst of each.
    let kind = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut reasons: Vec<&str> = Vec::new();
    for point in invalid(emulated, set) {
        let own = point["live"]["reasons"].as_array().into_iter().flatten();
        for reason in own.filter_map(Value::as_str) {
            if !reasons.iter().any(|other| kind(other) == kind(reason)) {
                reasons.push(reason);
            }
        }
    }
    format!(
        "NOT VALID, {count} of {all} runs: {} ({facts})",
        reasons.join("; ")
    )
}

/// Everything as one object.
pub fn json(emulated: &Emulated) -> String {
    let of = |kind| {
        let lines = emulated.of_kind(kind).map(|line| {
            let mut line = line.clone();
            if let Value::Object(fields) = &mut line {
                fields.remove("type");
                // Every flow is in the run folder.
                fields.remove("fct_us");
            }
            line
        });
        Value::Array(lines.collect())
    };
    let object = json!({
        "version": sim::VERSION,
        "scenario": emulated.scenario(),
        "networks": of("bed"),
        "points": of("point"),
        "captures": of("capture"),
        "skipped": of("skipped"),
    });
    format!("{object:#}\n")
}

/// One line for each run in each world.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(emulated: &Emulated) -> String {
    let mut writer = Writer::from_writer(Vec::new());
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

/// Everything that was told, in the run folder.
pub const LINES: &str = "live.jsonl";

/// What helps a folder that is damaged.
const AGAIN: &str = "`tailwater emulate` with the same --out writes the folder anew";

#[cfg(test)]
mod tests;
