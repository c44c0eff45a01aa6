//! The table of an emulation: Linux and the simulator side by side, and the validity of the runs.

use std::fmt::Write;

use protocol::{BedLine, CaptureLine, LinuxRun, PointLine, Results, Settings, SkippedLine};
use report::LiveColumn;
use results::statistics::Estimate;

use super::runs::{Emulation, WORLDS, settings};
use crate::layout;
use base::cast::real;

/// Title, table and validity of every network.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(emulated: &Emulation) -> String {
    let mut out = String::new();
    for set in emulated.sets() {
        network(&mut out, emulated, set).expect("writing to a string succeeds");
        out.push('\n');
    }
    out
}

fn network(out: &mut String, emulated: &Emulation, set: &Settings) -> std::fmt::Result {
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
        layout::paragraph(out, 0, &validity(emulated, set));
        let captures = emulated.captures.iter().filter(|line| line.set == *set);
        for capture in captures {
            let line = format!("{}: {}", capture.file, captured_text(capture));
            layout::paragraph(out, 0, &line);
        }
        for row in &bed.different {
            layout::paragraph(out, 2, &format!("{}: {}", row.key, row.instead));
        }
    }
    Ok(())
}

/// The contents of a capture, and what it lacks.
pub(crate) fn captured_text(capture: &CaptureLine) -> String {
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

/// The origin of the table's numbers.
pub(crate) fn title(emulated: &Emulation, bed: &BedLine) -> String {
    let version: Vec<_> = bed.kernel.split(['.', '-']).take(2).collect();
    let (rate, rtt_us) = (instead(bed), bed.rtt_us);
    // A TUN device has no token buckets.
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

/// The rate of a network, and the scenario's rate if it differs.
pub(crate) fn instead(bed: &BedLine) -> String {
    let (real, planned) = (bed.rate_bps, bed.scenario_rate_bps);
    if real < planned {
        format!("{} instead of {}", rate(real), rate(planned))
    } else {
        rate(real)
    }
}

fn rate(bps: u64) -> String {
    let bps = real(bps);
    if bps >= 1e9 {
        format!("{} Gbit/s", bps / 1e9)
    } else {
        format!("{} Mbit/s", bps / 1e6)
    }
}

/// A column of both worlds.
pub(crate) struct Shown {
    value: fn(&Results) -> Option<f64>,
    pub(crate) column: LiveColumn,
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

pub(crate) const SHOWN: [Shown; 5] = [
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
    fn number(self) -> Option<f64> {
        Some(real(self))
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

/// The values of every column, Linux and simulated.
pub(crate) fn pairs(emulated: &Emulation, row: &PointLine) -> Vec<[Estimate; 2]> {
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
fn cells(emulated: &Emulation, row: &PointLine) -> Vec<[String; 2]> {
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

/// Two header lines, then a line for each scheme.
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
            // The common header of both columns is above them.
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

/// Whether the runs of a network are valid, with the worst values of all of them.
pub(crate) fn validity(emulated: &Emulation, set: &Settings) -> String {
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
        // A TUN device has no queues to sample.
        None => busy,
    };
    let all = emulated.live(set).count();
    let invalid = || emulated.live(set).filter(|run| !run.valid);
    let count = invalid().count();
    if count == 0 {
        return format!("valid: {facts}");
    }
    // Reasons that only differ in numbers are listed once; the facts have the worst values.
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
