//! The answer in words.

use crate::finished::Finished;
use crate::rows::Row;

/// Who wins in the last group, which is the hardest of a sweep that grows, and by how much.
pub(super) fn winner(groups: &[Vec<Row<'_>>], axes: &[&str]) -> String {
    let group = groups.last().expect("a scenario has at least one point");
    let place = place(&group[0], axes);
    let mut ranked: Vec<_> = group
        .iter()
        .filter(|row| !row.value("fct_p99_us").is_nan())
        .collect();
    // Percentiles are over completed flows: who leaves flows behind is not fast.
    ranked.sort_by(|a, b| {
        let completed = |row: &Row<'_>| row.value("flows_completed");
        let p99 = |row: &Row<'_>| row.value("fct_p99_us");
        let more = completed(b).total_cmp(&completed(a));
        more.then(p99(a).total_cmp(&p99(b)))
    });
    let text = match ranked.as_slice() {
        [] => steady(group),
        [only] => alone(only),
        [first, .., last] => burst(first, last),
    };
    let sentence = if place.is_empty() {
        text
    } else {
        format!("At {place} {text}")
    };
    capital(&sentence)
}

/// Rows in which flows with an end did not reach it: their other numbers are about the rest.
#[expect(clippy::cast_precision_loss, reason = "a number of flows is small")]
pub(super) fn unfinished(groups: &[Vec<Row<'_>>], axes: &[&str]) -> Option<String> {
    let rows = groups.iter().flatten().filter_map(|row| {
        let workload = &row.point.keys.workload;
        let flows = f64::from(workload.senders.0);
        let left = flows - row.value("flows_completed");
        (workload.size.0.is_some() && left > 0.0).then(|| {
            let place = place(row, axes);
            let at = if place.is_empty() { "" } else { " at " };
            format!(
                "{} of {flows} flows of {}{at}{place}",
                rounded(left),
                row.point.scheme
            )
        })
    });
    let rows: Vec<_> = rows.collect();
    let shown = rows
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    let more = match rows.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {}", counted(more as f64, "more row")),
    };
    (!rows.is_empty()).then(|| format!("Unfinished: {shown}{more}."))
}

/// What the sweep cost, in one line.
#[expect(clippy::cast_precision_loss, reason = "rounded for people")]
pub(super) fn cost(finished: &Finished<'_>) -> String {
    let costs = || finished.outcomes().map(|(_, outcome)| &outcome.cost);
    let simulated = costs().fold(0.0, |sum, cost| sum + cost.simulated_us);
    let hops = costs().fold(0.0, |sum, cost| sum + cost.packet_hops as f64);
    let busy = costs().fold(0.0, |sum, cost| sum + cost.wall_us);
    let runs = finished.results.len();
    let per_hop = if hops > 0.0 {
        format!("{:.0}", busy * 1e3 / hops)
    } else {
        "-".into()
    };
    format!(
        "Cost: {} simulated in {}; {} of wall time on {}; {} packet-hops at {per_hop} ns each.",
        time(simulated),
        counted(runs as f64, "run"),
        time(finished.wall.as_secs_f64() * 1e6),
        counted(finished.jobs.get() as f64, "thread"),
        amount(hops),
    )
}

fn burst(first: &Row<'_>, last: &Row<'_>) -> String {
    let (best, worst) = (first.value("fct_p99_us"), last.value("fct_p99_us"));
    let left = first.value("flows_completed") - last.value("flows_completed");
    if left > 0.0 {
        return format!(
            "{} finishes the burst: {} at the 99th percentile, while {} leaves {} unfinished.",
            first.point.scheme,
            time(best),
            last.point.scheme,
            counted(left, "flow"),
        );
    }
    let ratio = worst / best;
    if ratio < 1.01 {
        return format!(
            "all schemes finish alike: {} at the 99th percentile, within 1 % of each other.",
            time(best)
        );
    }
    format!(
        "{} finishes the burst first: {} at the 99th percentile, {} than {} ({}, {}).",
        first.point.scheme,
        time(best),
        sooner(ratio),
        last.point.scheme,
        time(worst),
        counted(last.value("timeouts"), "timeout"),
    )
}

/// "3.1 times sooner" or, where that would read oddly, "12 % sooner".
fn sooner(ratio: f64) -> String {
    if ratio < 1.5 {
        format!("{:.0} % sooner", (1.0 - 1.0 / ratio) * 100.0)
    } else {
        format!("{ratio:.1} times sooner")
    }
}

fn alone(row: &Row<'_>) -> String {
    format!(
        "{} finishes 99 % of its flows within {}, with {} and {}.",
        row.point.scheme,
        time(row.value("fct_p99_us")),
        counted(row.value("timeouts"), "timeout"),
        counted(row.value("drops"), "drop"),
    )
}

/// Flows that never end are judged by the queue they keep.
fn steady(group: &[Row<'_>]) -> String {
    let queue = |row: &&Row<'_>| row.value("queue_mean_bytes");
    let mut ranked: Vec<_> = group.iter().filter(|row| !queue(row).is_nan()).collect();
    ranked.sort_by(|a, b| queue(a).total_cmp(&queue(b)));
    let goodput = |row: &Row<'_>| {
        let bits = row.value("goodput_bps");
        if bits.is_nan() {
            "unknown goodput".into()
        } else {
            format!("{:.0} Mbit/s", bits / 1e6)
        }
    };
    match ranked.as_slice() {
        [] => "no scheme has a result.".into(),
        [only] => format!(
            "{} carries {} with a mean queue of {}.",
            only.point.scheme,
            goodput(only),
            bytes(queue(only))
        ),
        [first, .., last] => format!(
            "{} keeps the shortest queue: {} on average at {}; {} keeps {} at {}.",
            first.point.scheme,
            bytes(queue(first)),
            goodput(first),
            last.point.scheme,
            bytes(queue(last)),
            goodput(last),
        ),
    }
}

/// The swept values of a group in words: `100 senders and buffer = 64KB`.
fn place(row: &Row<'_>, axes: &[&str]) -> String {
    let values = row
        .point
        .set
        .iter()
        .filter(|(key, _)| axes.contains(&key.as_str()));
    let words = values.map(|(key, value)| match key.as_str() {
        "workload.senders" if value == "1" => "1 sender".into(),
        "workload.senders" => format!("{value} senders"),
        _ => format!("{key} = {value}"),
    });
    words.collect::<Vec<_>>().join(" and ")
}

fn capital(text: &str) -> String {
    // A sentence that begins with a scheme's name keeps the name as it is typed.
    match text
        .strip_prefix("all ")
        .or_else(|| text.strip_prefix("no "))
    {
        Some(_) => text[..1].to_uppercase() + &text[1..],
        None => text.to_owned(),
    }
}

fn time(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.2} s", us / 1e6),
        us if us >= 1e3 => format!("{:.1} ms", us / 1e3),
        us => format!("{us:.0} us"),
    }
}

fn bytes(bytes: f64) -> String {
    format!("{:.1} KB", bytes / 1e3)
}

fn amount(count: f64) -> String {
    match count {
        count if count >= 1e9 => format!("{:.1} thousand million", count / 1e9),
        count if count >= 1e6 => format!("{:.1} million", count / 1e6),
        count => format!("{count:.0}"),
    }
}

fn counted(count: f64, noun: &str) -> String {
    let plural = if (count - 1.0).abs() < f64::EPSILON {
        ""
    } else {
        "s"
    };
    format!("{} {noun}{plural}", rounded(count))
}

/// Whole numbers as they are, means over seeds with a decimal.
fn rounded(count: f64) -> String {
    if count.fract().abs() < f64::EPSILON {
        format!("{count:.0}")
    } else {
        format!("{count:.1}")
    }
}

/// Rows of unfinished flows that are named; more would bury the answer.
const SHOWN: usize = 4;
