//! The answer in words.

use super::info::RunInfo;
use super::summary::{Row, Summary};
use crate::statistics::Verdict;

/// What a sweep says, in sentences: what is unfinished, who wins, how sure that is.
pub fn answer(summary: &Summary) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(unfinished(summary));
    sentences.push(winner(summary));
    sentences.extend(certainty(summary));
    sentences.extend(until(summary));
    sentences
}

/// Who wins in the last group, which is the hardest of a sweep that grows, and by how much.
fn winner(summary: &Summary) -> String {
    let group = summary
        .groups()
        .last()
        .expect("a scenario has at least one point");
    let place = place(&group[0]);
    let ranked = ranked(group);
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

/// Rows that have completion times, best first.
fn ranked(group: &[Row]) -> Vec<&Row> {
    let timed = group.iter().filter(|row| !row.value("fct_p99_us").is_nan());
    let mut ranked: Vec<_> = timed.collect();
    // Percentiles are over completed flows: who leaves flows behind is not fast.
    ranked.sort_by(|a, b| {
        let completed = |row: &Row| row.value("flows_completed");
        let p99 = |row: &Row| row.value("fct_p99_us");
        let more = completed(b).total_cmp(&completed(a));
        more.then(p99(a).total_cmp(&p99(b)))
    });
    ranked
}

/// Whether the seeds allow to say that the best of the last group is better than the others.
fn certainty(summary: &Summary) -> Option<String> {
    if !summary.random {
        return None;
    }
    let group = summary.groups().last()?;
    let (metric, best) = match ranked(group).first() {
        Some(best) => ("fct_p99_us", *best),
        None => ("queue_mean_bytes", *ranked_by_queue(group).first()?),
    };
    if group.len() < 2 {
        return None;
    }
    let mut unknown = Vec::new();
    let mut nearest: Option<(f64, String)> = None;
    for comparison in &summary.comparisons {
        let pair = [&comparison.scheme, &comparison.baseline];
        if comparison.metric != metric
            || comparison.set != best.set
            || !pair.contains(&&best.scheme)
        {
            continue;
        }
        let ours = comparison.scheme == best.scheme;
        let other = if ours {
            &comparison.baseline
        } else {
            &comparison.scheme
        };
        if comparison.verdict == Verdict::NotEnoughRuns {
            unknown.push(other.clone());
        } else if let (Some(low), Some(high)) =
            (comparison.difference.low, comparison.difference.high)
        {
            let (low, high) = if ours { (-high, -low) } else { (low, high) };
            let amount = |value| match metric {
                "fct_p99_us" => time(value),
                _ => bytes(value),
            };
            let text = format!("{} to {} less than {other}", amount(low), amount(high));
            if nearest.as_ref().is_none_or(|(least, _)| low < *least) {
                nearest = Some((low, text));
            }
        }
    }
    let what = match metric {
        "fct_p99_us" => "99th percentile",
        _ => "mean queue",
    };
    if !unknown.is_empty() {
        let runs = counted(f64::from(summary.seeds), "seed");
        return Some(format!(
            "Not enough runs to tell {} from {} by the {what}: {runs}; --seeds runs more, \
             --until 5% as many as needed.",
            best.scheme,
            unknown.join(" and "),
        ));
    }
    let (_, text) = nearest?;
    Some(format!(
        "Over the same {} seeds the {what} of {} is {text} (95 % confidence interval of the paired \
         difference).",
        summary.seeds, best.scheme
    ))
}

/// Where `--until` ended.
fn until(summary: &Summary) -> Option<String> {
    let until = summary.until.as_ref()?;
    let (seeds, metric) = (summary.seeds, &until.metric);
    let percent = |share: f64| {
        let decimals = if share < 0.001 { 3 } else { 1 };
        format!("{:.decimals$} %", share * 100.0)
    };
    let widest = until.widest.map_or_else(
        || "unknown".to_owned(),
        |widest| format!("±{}", percent(widest)),
    );
    Some(if until.reached {
        format!(
            "Stopped at {seeds} seeds: the widest 95 % interval of {metric} is {widest}, within \
             the ±{} asked for.",
            percent(until.target)
        )
    } else {
        format!(
            "Stopped at the bound of {} seeds: the widest 95 % interval of {metric} is {widest}, \
             wider than the ±{} asked for; --max-seeds allows more.",
            until.bound,
            percent(until.target)
        )
    })
}

/// Rows in which flows with an end did not reach it: their other numbers are about the rest.
fn unfinished(summary: &Summary) -> Option<String> {
    let rows = summary.rows.iter().filter_map(|row| {
        let left = row.value("flows_unfinished") + row.value("flows_failed");
        let flows = left + row.value("flows_completed");
        (left > 0.0).then(|| {
            let place = place(row);
            let at = if place.is_empty() { "" } else { " at " };
            let (left, flows) = (rounded(left), rounded(flows));
            format!("{left} of {flows} flows of {}{at}{place}", row.scheme)
        })
    });
    let rows: Vec<_> = rows.collect();
    let shown = rows
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join("; ");
    let more = match u32::try_from(rows.len().saturating_sub(SHOWN)) {
        Ok(0) | Err(_) => String::new(),
        Ok(more) => format!("; and {}", counted(more.into(), "more row")),
    };
    (!rows.is_empty()).then(|| format!("Unfinished: {shown}{more}."))
}

/// What a sweep cost, in one line.
#[expect(clippy::cast_precision_loss, reason = "rounded for people")]
pub fn cost(info: &RunInfo) -> String {
    let hops = info.packet_hops as f64;
    let per_hop = if hops > 0.0 {
        format!("{:.0}", info.busy_us * 1e3 / hops)
    } else {
        "-".into()
    };
    let before = match info.runs_before {
        0 => String::new(),
        before => format!(" ({before} of them before)"),
    };
    format!(
        "Cost: {} simulated in {}{before}; {} of wall time on {}; {} packet-hops at {per_hop} ns each.",
        time(info.simulated_us),
        counted(info.runs as f64, "run"),
        time(info.wall_us),
        counted(info.jobs as f64, "thread"),
        amount(hops),
    )
}

fn burst(first: &Row, last: &Row) -> String {
    let (best, worst) = (first.value("fct_p99_us"), last.value("fct_p99_us"));
    let left = first.value("flows_completed") - last.value("flows_completed");
    if left > 0.0 {
        return format!(
            "{} finishes the burst: {} at the 99th percentile, while {} leaves {} unfinished.",
            first.scheme,
            time(best),
            last.scheme,
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
        first.scheme,
        time(best),
        sooner(ratio),
        last.scheme,
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

fn alone(row: &Row) -> String {
    format!(
        "{} finishes 99 % of its flows within {}, with {} and {}.",
        row.scheme,
        time(row.value("fct_p99_us")),
        counted(row.value("timeouts"), "timeout"),
        counted(row.value("drops"), "drop"),
    )
}

/// Flows that never end are judged by the queue they keep.
fn steady(group: &[Row]) -> String {
    let queue = |row: &Row| row.value("queue_mean_bytes");
    let ranked = ranked_by_queue(group);
    let goodput = |row: &Row| {
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
            only.scheme,
            goodput(only),
            bytes(queue(only))
        ),
        [first, .., last] => format!(
            "{} keeps the shortest queue: {} on average at {}; {} keeps {} at {}.",
            first.scheme,
            bytes(queue(first)),
            goodput(first),
            last.scheme,
            bytes(queue(last)),
            goodput(last),
        ),
    }
}

/// Rows that have a queue, shortest first.
fn ranked_by_queue(group: &[Row]) -> Vec<&Row> {
    let queue = |row: &Row| row.value("queue_mean_bytes");
    let mut ranked: Vec<_> = group.iter().filter(|row| !queue(row).is_nan()).collect();
    ranked.sort_by(|a, b| queue(a).total_cmp(&queue(b)));
    ranked
}

/// The swept values of a group in words: `100 senders and buffer = 64KB`.
fn place(row: &Row) -> String {
    let words = row.set.iter().map(|(key, value)| match key.as_str() {
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
