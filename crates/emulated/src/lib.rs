//! What an emulation told of Linux beside its simulation: a table, a page, and the same for programs.
//!
//! The privileged program writes a line for each run as it ends ([`protocol`]). An [`Emulated`] holds all of them.
//!
//! ```
//! use protocol::Line;
//!
//! let line = r#"{ "type": "emulation", "scenario": "incast", "runs": 5, "version": "0.1.0" }"#;
//! let emulated = emulated::Emulated::of(vec![Line::read(line)?])?;
//! assert_eq!(emulated::page(&emulated).name, "incast");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod claims;
pub mod judged;
mod measured;
mod page;

use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

use csv::Writer;
use protocol::{
    BedLine, CaptureLine, ClaimLine, EmulationLine, FILE, LinuxRun, PointLine, Results, RunsOn,
    Settings, SkippedLine, TwinLine,
};
use report::LiveColumn;
use results::statistics::Estimate;
use scenario::{Problem, Problems};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sim::columns::METRICS;

pub use page::page;

/// What `tailwater-live` told of a scenario.
#[derive(Clone, Debug)]
pub struct Emulated {
    about: EmulationLine,
    beds: Vec<BedLine>,
    skipped: Vec<SkippedLine>,
    captures: Vec<CaptureLine>,
    twins: Vec<TwinLine>,
    points: Vec<PointLine>,
    claims: Vec<ClaimLine>,
}

impl Emulated {
    /// The lines of an emulation, sorted by kind. Other lines are not about it.
    ///
    /// # Errors
    /// If the line with which an emulation begins is missing.
    pub fn of(lines: impl IntoIterator<Item = protocol::Line>) -> Result<Self, Problems> {
        use protocol::Line;

        let mut about = None;
        let (mut beds, mut skipped, mut captures) = (Vec::new(), Vec::new(), Vec::new());
        let (mut twins, mut points, mut claims) = (Vec::new(), Vec::new(), Vec::new());
        for line in lines {
            match line {
                Line::Emulation(line) => about = Some(line),
                Line::Bed(line) => beds.push(line),
                Line::Skipped(line) => skipped.push(line),
                Line::Capture(line) => captures.push(line),
                Line::Twin(line) => twins.push(line),
                Line::Point(line) => points.push(*line),
                Line::Claim(line) => claims.push(*line),
                _ => {}
            }
        }
        let about = about.ok_or_else(|| {
            let problem = Problem::new("no line of the kind emulation, with which lines begin");
            Problems::from(problem.help(AGAIN))
        })?;
        Ok(Self {
            about,
            beds,
            skipped,
            captures,
            twins,
            points,
            claims,
        })
    }

    /// The lines that `tailwater-live` left in `folder`; `None` if it was never there.
    pub fn read(folder: &Path) -> Option<Result<Self, Problems>> {
        let file = folder.join(FILE);
        let damaged = |cause: &dyn std::fmt::Display| {
            let text = format!("{}: {cause}", file.display());
            Problems::from(Problem::new(text).help(AGAIN))
        };
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            text => text.map_err(|error| damaged(&error)),
        };
        let lines = text.and_then(|text| {
            protocol::read_all(&text).map_err(|malformed| {
                let text = format!("{}, {malformed}", file.display());
                Problem::new(text).help(AGAIN).into()
            })
        });
        Some(lines.and_then(Self::of))
    }

    /// The same with these verdicts besides.
    #[must_use]
    pub fn with_claims(mut self, claims: Vec<ClaimLine>) -> Self {
        self.claims.extend(claims);
        self
    }

    /// Forgets single flows and series, by which claims are judged: a table needs neither.
    pub fn forget_details(&mut self) {
        self.points.iter_mut().for_each(PointLine::forget_details);
    }

    /// Points of a scheme under some settings, by where they ran.
    fn points<'a>(
        &'a self,
        runs_on: RunsOn,
        like: &'a PointLine,
    ) -> impl Iterator<Item = &'a PointLine> {
        self.points.iter().filter(move |point| {
            point.runs_on() == runs_on && point.scheme == like.scheme && point.set == like.set
        })
    }

    /// The first run on Linux of every scheme under these settings.
    fn first_runs<'a>(&'a self, set: &'a Settings) -> impl Iterator<Item = &'a PointLine> {
        let points = self.points.iter();
        points.filter(move |point| point.live().is_some() && point.run == 0 && point.set == *set)
    }

    /// The schemes that do not run under these settings.
    fn left_out<'a>(&'a self, set: &'a Settings) -> impl Iterator<Item = &'a SkippedLine> {
        self.skipped.iter().filter(move |line| line.set == *set)
    }

    /// The network with these settings, if any scheme runs there.
    fn bed(&self, set: &Settings) -> Option<&BedLine> {
        self.beds.iter().find(|bed| bed.set == *set)
    }

    /// The runs on Linux under these settings.
    fn live<'a>(&'a self, set: &'a Settings) -> impl Iterator<Item = &'a LinuxRun> {
        let points = self.points.iter().filter(move |point| point.set == *set);
        points.filter_map(PointLine::live)
    }

    /// Whether a setting, as [`settings`] writes it, is not that of all networks.
    fn is_swept(&self, setting: &str) -> bool {
        let mut sets = self.sets().into_iter();
        !sets.all(|set| settings(set).any(|own| own == setting))
    }

    /// Settings in the order in which their networks were made.
    fn sets(&self) -> Vec<&Settings> {
        let mut sets: Vec<&Settings> = Vec::new();
        let of_beds = self.beds.iter().map(|bed| &bed.set);
        for set in of_beds.chain(self.skipped.iter().map(|line| &line.set)) {
            if !sets.contains(&set) {
                sets.push(set);
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

fn network(out: &mut String, emulated: &Emulated, set: &Settings) -> std::fmt::Result {
    let bed = emulated.bed(set);
    match bed {
        Some(bed) => writeln!(out, "{}", title(emulated, bed))?,
        None => writeln!(
            out,
            "{}: no stack of this kernel is compared",
            emulated.about.scenario
        )?,
    }
    for setting in settings(set) {
        writeln!(out, "{setting}")?;
    }
    writeln!(out)?;
    let ran: Vec<&PointLine> = emulated.first_runs(set).collect();
    let left_out: Vec<&SkippedLine> = emulated.left_out(set).collect();
    let names = ran.iter().map(|row| &row.scheme);
    let names = names.chain(left_out.iter().map(|row| &row.scheme));
    let width = names.map(String::len).max().unwrap_or(0);
    let width = width.max("scheme".len());
    let cells: Vec<_> = (ran.iter())
        .map(|row| (row.scheme.as_str(), cells(emulated, row)))
        .collect();
    if !cells.is_empty() {
        grid(out, width, &cells)?;
    }
    for row in left_out {
        writeln!(out, "{:width$}  {}", row.scheme, row.reason)?;
    }
    writeln!(out)?;
    if let Some(bed) = bed {
        text::paragraph(out, 0, &validity(emulated, set));
        let captures = emulated.captures.iter().filter(|line| line.set == *set);
        for capture in captures {
            let line = format!("{}: {}", capture.file, captured_text(capture));
            text::paragraph(out, 0, &line);
        }
        for row in &bed.different {
            text::paragraph(out, 2, &format!("{}: {}", row.key, row.instead));
        }
    }
    Ok(())
}

/// What tells networks apart, one text for each key.
fn settings(set: &Settings) -> impl Iterator<Item = String> {
    set.iter().map(|(key, value)| format!("{key} = {value}"))
}

/// What a capture holds, and what it lacks.
fn captured_text(capture: &CaptureLine) -> String {
    let mut parts = vec![format!("{} packets", capture.packets)];
    match capture.lost {
        0 => parts.push("the kernel dropped none".to_owned()),
        lost => parts.push(format!("the kernel dropped {lost} more from the capture")),
    }
    if let left_out @ 1.. = capture.left_out {
        parts.push(format!("{left_out} more did not fit into the file"));
    }
    parts.join("; ")
}

/// Where the table comes from.
fn title(emulated: &Emulated, bed: &BedLine) -> String {
    let version: Vec<_> = bed.kernel.split(['.', '-']).take(2).collect();
    let (rate, rtt_us) = (instead(bed), bed.rtt_us);
    // A process in place of a network has no buckets.
    let place = match bed.burst_bytes {
        Some(burst) => {
            let nodes = bed.hosts + bed.switches;
            format!("{nodes} namespaces, {rate}, RTT {rtt_us:.0} us, bucket {burst} B")
        }
        None => format!("our TCP at the sender, {rate}, RTT {rtt_us:.0} us"),
    };
    format!(
        "{} on Linux {}: {place}, {} interleaved runs",
        emulated.about.scenario,
        version.join("."),
        emulated.about.runs,
    )
}

/// The rate of a network, and of the scenario if that is another.
pub fn instead(bed: &BedLine) -> String {
    let (real, planned) = (bed.rate_bps, bed.scenario_rate_bps);
    if real < planned {
        format!("{} instead of {}", rate(real), rate(planned))
    } else {
        rate(real)
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates are below 2^53")]
fn rate(bps: u64) -> String {
    let bps = bps as f64;
    if bps >= 1e9 {
        format!("{} Gbit/s", bps / 1e9)
    } else {
        format!("{} Mbit/s", bps / 1e6)
    }
}

/// A column of both worlds.
struct Shown {
    value: fn(&Results) -> Option<f64>,
    column: LiveColumn,
}

/// A metric of either world, divided for the column.
macro_rules! metric {
    ($name:ident, $divisor:expr) => {
        |results| {
            let value = match results {
                Results::Linux { metrics, .. } => metrics.$name.number(),
                Results::Simulated { metrics } => metrics.$name.number(),
            };
            value.map(|value| value / $divisor)
        }
    };
}

const SHOWN: [Shown; 5] = [
    shown(metric!(fct_p50_us, 1e3), ("FCT p50", "ms", 1)),
    shown(metric!(fct_p99_us, 1e3), ("FCT p99", "ms", 1)),
    shown(metric!(timeouts, 1.0), ("timeouts", "", 1)),
    shown(metric!(drops, 1.0), ("drops", "", 0)),
    shown(metric!(queue_mean_bytes, 1e3), ("queue mean", "KB", 1)),
];

/// A number of either world.
trait Number {
    /// The number, if there is one.
    fn number(self) -> Option<f64>;
}

impl Number for f64 {
    fn number(self) -> Option<f64> {
        (!self.is_nan()).then_some(self)
    }
}

impl Number for u64 {
    #[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl<T: Number> Number for Option<T> {
    fn number(self) -> Option<f64> {
        self.and_then(T::number)
    }
}

const fn shown(
    value: fn(&Results) -> Option<f64>,
    (head, unit, decimals): (&'static str, &'static str, usize),
) -> Shown {
    Shown {
        value,
        column: LiveColumn {
            head,
            unit,
            decimals,
        },
    }
}

impl Shown {
    fn head(&self) -> String {
        let LiveColumn { head, unit, .. } = self.column;
        format!("{head} {unit}").trim_end().to_owned()
    }
}

const WORLDS: [RunsOn; 2] = [RunsOn::Linux, RunsOn::Simulator];

/// The values of every column, Linux and simulated.
fn pairs(emulated: &Emulated, row: &PointLine) -> Vec<[Estimate; 2]> {
    let column = |shown: &Shown| {
        WORLDS.map(|world| {
            let points = emulated.points(world, row);
            let values = points.map(|point| (shown.value)(&point.results));
            Estimate::of(values.map(|value| value.unwrap_or(f64::NAN)))
        })
    };
    SHOWN.iter().map(column).collect()
}

/// The same as texts.
fn cells(emulated: &Emulated, row: &PointLine) -> Vec<[String; 2]> {
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

/// Whether there are runs of a network, and all of them say something about TCP.
fn is_valid(emulated: &Emulated, set: &Settings) -> bool {
    emulated.live(set).next().is_some() && emulated.live(set).all(|run| run.valid)
}

/// The same in words, with the worst of all runs.
fn validity(emulated: &Emulated, set: &Settings) -> String {
    let worst = |of: fn(&LinuxRun) -> Option<f64>, pick: fn(f64, f64) -> f64| {
        emulated.live(set).filter_map(of).reduce(pick)
    };
    let late = worst(|run| run.start_lateness_p99_us, f64::max);
    let Some(busy) = worst(|run| Some(run.busy_share), f64::max) else {
        return "NOT VALID: no run has ended".to_owned();
    };
    let busy = format!("cores {:.0} % busy", busy * 100.0);
    let reordered = worst(|run| run.reordered_share, f64::max);
    let link = match worst(|run| run.rate_share, f64::min) {
        Some(share) => format!("link at {:.1} % while queued", share * 100.0),
        None => "no queue".to_owned(),
    };
    let order = match reordered {
        Some(share) if share > 0.0 => format!("{:.2} % reordered", share * 100.0),
        _ => "no reordering".to_owned(),
    };
    let facts = match late.map(|late| late / 1e3) {
        Some(late) => format!("starts late by {late:.1} ms (p99), {link}, {busy}, {order}"),
        // A process in place of a network has no queues to look at.
        None => busy,
    };
    let all = emulated.live(set).count();
    let invalid = || emulated.live(set).filter(|run| !run.valid);
    let count = invalid().count();
    if count == 0 {
        return format!("valid: {facts}");
    }
    // Reasons that differ in numbers alone are told once; the facts have the worst of each.
    let kind = |text: &str| text.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    let mut reasons: Vec<&str> = Vec::new();
    for reason in invalid().flat_map(|run| &run.reasons) {
        if !reasons.iter().any(|other| kind(other) == kind(reason)) {
            reasons.push(reason);
        }
    }
    format!(
        "NOT VALID, {count} of {all} runs: {} ({facts})",
        reasons.join("; ")
    )
}

/// Everything as one object.
///
/// # Panics
/// Never: lines are objects.
pub fn json(emulated: &Emulated) -> String {
    let points = emulated.points.iter().map(|point| {
        let mut fields = fields(point);
        // Every flow is in the run folder.
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

/// One line for each run in each world.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn csv(emulated: &Emulated) -> String {
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

/// What helps a folder that is damaged.
const AGAIN: &str = "`tailwater emulate` with the same --out writes the folder anew";

#[cfg(test)]
mod tests;
