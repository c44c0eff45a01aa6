//! The answer to a run in sentences.

mod bound;
mod cause;
mod collectives;
mod faults;
mod goals;
mod measure;
mod open;
mod over_time;
mod parts;
mod pauses;
mod rounds;
mod search;
mod sweep;
mod ties;
mod timers;
mod unchanged;

pub use parts::drops;

use base::cast::real;
use results::{Ranking, RankingMeasure, Row, RunInfo, Shared, Summary};

use crate::words::{SHOWN, amount, averaged, place, rounded, time};

/// The answer to a sweep in sentences: unfinished flows, the leaders with their margins, and the reasons.
///
/// The best scheme is compared with the next best, never with the worst, and over all points. If the runs do not
/// distinguish the schemes, the answer says so.
pub fn of_run(summary: &Summary) -> Vec<String> {
    let measure = RankingMeasure::of(summary);
    let groups = summary.groups();
    let rankings: Vec<Ranking<'_>> = groups
        .filter_map(|group| Ranking::of(summary, group, measure))
        .collect();
    let mut sentences = Vec::new();
    sentences.extend(incomplete(summary, "flows_unfinished", "Unfinished"));
    sentences.extend(incomplete(summary, "flows_failed", "Failed"));
    sentences.extend(absent(summary));
    sentences.extend(pauses::sentences(summary));
    sentences.extend(faults::sentences(summary));
    sentences.extend(goals::sentences(summary));
    // The values of a search were chosen to answer one question.
    let compared = summary.search.is_none();
    if compared {
        sentences.extend(sweep::sentences(summary, &rankings));
        sentences.extend(ties::sentences(summary, &rankings));
    }
    sentences.extend(rounds::sentences(summary, &rankings));
    sentences.extend(collectives::sentence(summary));
    // The reason why rows miss the goals says more than the reason why a scheme is behind.
    let goals = summary.goals.as_ref();
    if compared && goals.is_none_or(|goals| goals::cause(summary, goals).is_none()) {
        let timers = cause::sentence(&rankings);
        sentences.extend(timers.or_else(|| parts::sentence(&rankings)));
    }
    sentences.extend(unchanged::sentences(summary));
    sentences.extend(over_time::sentence(summary));
    sentences.extend(until(summary));
    sentences
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
    if !summary.random {
        return Some("One seed is all there is to run: nothing here is random.".to_owned());
    }
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

/// Rows in which flows with an end did not complete, so that other numbers only cover the rest: because the simulation
/// stopped too early, or because connections gave up.
fn incomplete(summary: &Summary, metric: &str, what: &str) -> Option<String> {
    let started = |row: &Row| -> f64 {
        let metrics = ["flows_completed", "flows_unfinished", "flows_failed"];
        metrics.map(|metric| row.value(metric)).iter().sum()
    };
    let groups = summary.groups().flat_map(|group| {
        let most = group.iter().map(started).fold(0.0, f64::max);
        group.iter().map(move |row| (row, most))
    });
    let rows = groups.filter_map(|(row, most)| {
        let left = row.value(metric);
        (left > 0.0).then(|| {
            let place = place(row);
            let at = if place.is_empty() { "" } else { " at " };
            let flows = started(row);
            // Flows that wait for others, such as those of the next round, do not start before the others end.
            let fewer = if flows < most {
                let fewer = averaged(most - flows, "flow");
                format!(" ({fewer} fewer than of others had started)")
            } else {
                String::new()
            };
            let (left, flows) = (rounded(left), rounded(flows));
            format!(
                "{left} of {flows} flows of {}{at}{place}{fewer}",
                row.scheme
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
    let more = match u32::try_from(rows.len().saturating_sub(SHOWN)) {
        Ok(0) | Err(_) => String::new(),
        Ok(more) => format!("; and {}", averaged(more.into(), "more row")),
    };
    (!rows.is_empty()).then(|| format!("{what}: {shown}{more}."))
}

/// Groups or size classes without a single flow: sentences on the others do not cover them.
fn absent(summary: &Summary) -> Option<String> {
    let is_absent = |row: &&Row, group: &str| {
        let packets = row.estimate(Some(group), "packets");
        packets.is_some_and(|packets| packets.mean == Some(0.0))
    };
    let groups = summary.rows.first()?.groups.keys();
    let absent = groups.filter_map(|group| {
        let rows = summary.rows.iter();
        let absent = rows.filter(|row| is_absent(row, group)).count();
        match (absent, summary.rows.len()) {
            (0, _) => None,
            (some, all) if some == all => Some(format!("No flow of {group} started.")),
            (some, all) => Some(format!(
                "No flow of {group} started in {some} of {all} rows."
            )),
        }
    });
    let absent: Vec<String> = absent.collect();
    (!absent.is_empty()).then(|| absent.join(" "))
}

/// The cost of a sweep, in one line.
pub fn cost(info: &RunInfo) -> String {
    let hops = real(info.packet_hops);
    let per_hop = if hops > 0.0 {
        format!("{:.0}", info.cpu_us * 1e3 / hops)
    } else {
        "-".into()
    };
    let before = match info.runs_before {
        0 => String::new(),
        before => format!(" ({before} of them before)"),
    };
    let shared = shared(&info.shared);
    format!(
        "Cost: {} simulated in {}{before}; {} of wall time on {}; {} packet-hops at {per_hop} ns each.{shared}",
        time(info.simulated_us),
        averaged(real(info.runs as u64), "run"),
        time(info.wall_us),
        averaged(real(info.jobs as u64), "thread"),
        amount(hops),
    )
}

/// How simulations shared threads.
fn shared(shared: &Shared) -> String {
    let mut said = Vec::new();
    if shared.runs > 0 {
        let runs = averaged(real(shared.runs), "run");
        let windows = averaged(real(shared.windows), "window");
        let waited = 100.0 * shared.waited_us / shared.threads_us.max(1.0);
        said.push(format!(
            " {} threads shared {runs}: they waited for each other after {windows}, {waited:.0} % of their time.",
            shared.threads
        ));
    }
    if let Some(obstacle) = &shared.obstacle {
        said.push(format!(" --threads had no effect where {obstacle}."));
    }
    said.concat()
}

#[cfg(test)]
mod tests;
