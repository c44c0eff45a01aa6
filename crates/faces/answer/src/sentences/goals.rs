//! Which rows meet the goals, where, and why the others do not.

use base::cast::real;
use results::{Demand, GoalState, GoalVerdict, Goals, JudgedRow, Region, Row, Summary, samples};

use super::bound;
use super::open;
use super::parts;
use super::search;
use super::timers::{self, Timers};
use crate::words::{averaged, list, named, percent, pronoun, rate, shown, time};

/// The goals' verdict on a sweep; empty without goals.
pub(super) fn sentences(summary: &Summary) -> Vec<String> {
    let Some(goals) = &summary.goals else {
        return Vec::new();
    };
    let mut sentences: Vec<String> = bound::sentence(summary, goals).into_iter().collect();
    sentences.push(count(summary, goals));
    if summary.search.is_some() {
        let schemes = summary.schemes.iter();
        sentences.extend(schemes.filter_map(|scheme| search::sentence(summary, goals, scheme)));
    } else {
        sentences.extend(regions(summary, goals));
        sentences.extend(smallest(summary, goals));
    }
    sentences.extend(cause(summary, goals));
    sentences.extend(open::sentences(summary, goals));
    sentences
}

/// How many rows meet them, and the best row, or the nearest if none does.
fn count(summary: &Summary, goals: &Goals) -> String {
    let named = match goals.goals.as_slice() {
        [one] => one.goal.clone(),
        several => {
            let all = several.iter().map(|goal| goal.goal.as_str());
            let all: Vec<_> = all.collect();
            let number = if all.len() == 2 { "both" } else { "all" };
            format!("{number} of {}", list(&all))
        }
    };
    let (is, best) = match most_loaded(summary, goals) {
        Some(judged) => ("the greatest load that meets", Some(judged)),
        None => ("the best", goals.ranked().next()),
    };
    let best = best.map(|judged| described(summary, goals, judged));
    let best = best.unwrap_or_default();
    let best_is = if is == "the best" {
        format!("{is} is {best}")
    } else {
        format!("{is} {} is {best}", pronoun(goals))
    };
    match (goals.met(), goals.rows.len()) {
        (0, 1) if goals.rows[0].standing == GoalState::Open => {
            format!("Whether {named} is met is open: {best}.")
        }
        (0, 1) => format!("{named} is not met: {best}."),
        (0, _) if goals.rows.iter().any(|row| row.standing == GoalState::Open) => {
            format!("No row meets {named} for certain; the nearest is {best}.")
        }
        (0, _) => format!("No row meets {named}; the nearest is {best}."),
        (1, 1) => format!("{named} is met: {best}."),
        (1, all) => format!("1 of {all} rows meets {named}: {best}."),
        (2, 2) => format!("Both rows meet {named}; {best_is}."),
        (met, all) if met == all => {
            format!("All {all} rows meet {named}; {best_is}.")
        }
        (met, all) => format!("{met} of {all} rows meet {named}; {best_is}."),
    }
}

/// If the sweep is along a load: the best of the rows with the greatest load among those that meet the goals. The least
/// load is easy for every scheme.
fn most_loaded<'a>(summary: &Summary, goals: &'a Goals) -> Option<&'a JudgedRow> {
    let axis = summary.axes.iter().find(|axis| results::is_load(axis))?;
    let load = |judged: &JudgedRow| {
        let row = &summary.rows[judged.row as usize];
        row.setting(axis).and_then(results::magnitude)
    };
    let met = || goals.ranked().filter(|judged| judged.is_met());
    let loads = met().filter_map(load);
    let most = loads.fold(f64::NEG_INFINITY, f64::max);
    let differ = met().any(|judged| load(judged).is_some_and(|load| load < most));
    // Ranked rows are sorted from the best on.
    met()
        .find(|judged| load(judged).is_some_and(|load| load >= most))
        .filter(|_| differ)
}

/// A row with the value of each goal: `dctcp at 40 senders (reads.fct_p99 is 3.2 ms)`.
fn described(summary: &Summary, goals: &Goals, judged: &JudgedRow) -> String {
    let row = &summary.rows[judged.row as usize];
    let values = goals.goals.iter().zip(&judged.verdicts);
    let values = values.map(|(goal, verdict)| {
        let value = match verdict.value {
            Some(value) => format!(
                "{} is {}",
                goal.subject(),
                shown(&goal.metric, value, goal.threshold)
            ),
            None => format!("{} has no value{}", goal.subject(), few(row, goal)),
        };
        let completions = goal.metric.starts_with("fct_") && verdict.left > 0.0;
        let missed = verdict.standing == GoalState::Missed;
        let left = if completions && missed {
            format!(", and {} did not complete", averaged(verdict.left, "flow"))
        } else {
            String::new()
        };
        let of = goal.group.as_deref();
        let half = row.estimate(of, "goodput_p50_bps");
        let half = half.and_then(|half| half.mean);
        let half = half.filter(|_| goal.metric == "goodput_bps" && row.has_stragglers(of));
        let half = half.map_or_else(String::new, |half| {
            format!(", but {} until half of the flows were complete", rate(half))
        });
        value + &beyond(goal, verdict) + &half + &left
    });
    let values: Vec<_> = values.collect();
    format!("{} ({})", named(row), values.join("; "))
}

/// Why a percentile has no value because of too few flows: `: 40 flows are too few, and the slowest took 3.0 ms`.
fn few(row: &Row, goal: &Demand) -> String {
    let of = goal.group.as_deref();
    if !samples::are_too_few(row, of, &goal.metric) {
        return String::new();
    }
    let (kind, noun) = goal.kind();
    let number = averaged(samples::of(row, of, &goal.metric), noun);
    let slowest = row.estimate(of, &format!("{kind}_max_us"));
    let slowest = slowest.and_then(|slowest| slowest.mean).map(time);
    let slowest = slowest.map_or_else(String::new, |slowest| {
        format!(", and the slowest took {slowest}")
    });
    format!(": {number} are too few{slowest}")
}

/// By how much of its threshold a goal is missed: `, 21 % above`; or that it is open.
fn beyond(goal: &Demand, verdict: &GoalVerdict) -> String {
    if verdict.standing == GoalState::Open && verdict.value.is_some() {
        return ", open".to_owned();
    }
    let missed = verdict.standing == GoalState::Missed && goal.threshold > 0.0;
    let Some(value) = verdict.value.filter(|_| missed) else {
        return String::new();
    };
    let share = percent((value / goal.threshold - 1.0).abs());
    match value - goal.threshold {
        more if more > 0.0 => format!(", {share} above"),
        less if less < 0.0 => format!(", {share} below"),
        _ => String::new(),
    }
}

/// Where they are met: `dctcp with switch.buffer = 512KB at any tcp.min_rto`.
fn regions(summary: &Summary, goals: &Goals) -> Option<String> {
    let met = goals.met();
    if met < 2 || met == goals.rows.len() {
        return None;
    }
    let told: Vec<_> = goals
        .regions
        .iter()
        .map(|region| area(summary, region))
        .collect();
    let more = match told.len().saturating_sub(REGIONS) {
        0 => String::new(),
        more => format!("; and {}", averaged(real(more as u64), "more region")),
    };
    let few: Vec<_> = told.into_iter().take(REGIONS).collect();
    Some(format!("Met by {}{more}.", few.join("; ")))
}

fn area(summary: &Summary, region: &Region) -> String {
    let fixed = region.values.iter().map(|(axis, values)| {
        let values: Vec<_> = values.iter().map(String::as_str).collect();
        match values.as_slice() {
            [] => String::new(),
            [one] => format!("{axis} = {one}"),
            [most @ .., last] => format!("{axis} = {} or {last}", most.join(", ")),
        }
    });
    let fixed: Vec<_> = fixed.collect();
    let fixed: Vec<_> = fixed.iter().map(String::as_str).collect();
    let free = summary.axes.iter();
    let free = free.filter(|axis| region.values.iter().all(|(name, _)| name != *axis));
    let free: Vec<_> = free.map(String::as_str).collect();
    let with = if fixed.is_empty() { "" } else { " with " };
    let at = if free.is_empty() { "" } else { " at any " };
    format!("{}{with}{}{at}{}", region.scheme, list(&fixed), list(&free))
}

/// The smallest values that meet the goals, a sentence for each axis; and the greatest ones, if greater values miss the
/// goals.
fn smallest(summary: &Summary, goals: &Goals) -> Vec<String> {
    let met = goals.met();
    if met == 0 || met == goals.rows.len() {
        return Vec::new();
    }
    let it = pronoun(goals);
    let sentence = |axis: &String| {
        let own = goals
            .smallest
            .iter()
            .filter(|smallest| smallest.axis == *axis);
        let told = own.filter_map(|smallest| {
            let some = smallest.some.as_ref()?;
            let mut notes = Vec::new();
            match &smallest.every {
                Some(every) if summary.axes.len() > 1 && every == some => {
                    notes.push("at any other settings".to_owned());
                }
                Some(every) if summary.axes.len() > 1 => {
                    notes.push(format!("{every} at any other settings"));
                }
                _ => {}
            }
            match &smallest.greatest {
                Some(greatest) if greatest == some => {
                    notes.push(format!("larger values miss {it}"));
                }
                Some(greatest) => notes.push(format!("up to {greatest}")),
                None => {}
            }
            let of = if summary.schemes.len() > 1 {
                format!(" for {}", smallest.scheme)
            } else {
                String::new()
            };
            let notes = if notes.is_empty() {
                String::new()
            } else {
                format!(" ({})", notes.join("; "))
            };
            Some(format!("{some}{of}{notes}"))
        });
        let told: Vec<_> = told.collect();
        (!told.is_empty()).then(|| format!("Smallest {axis} that meets {it}: {}.", told.join(", ")))
    };
    summary.axes.iter().filter_map(sentence).collect()
}

/// The difference between rows that miss the goals and rows that meet them: timers if they show, else the part of
/// completion times with the largest increase.
pub(super) fn cause(summary: &Summary, goals: &Goals) -> Option<String> {
    let kinds = ["fct_", "round_", "flows_late"];
    let about = |goal: &&Demand| kinds.iter().any(|kind| goal.metric.starts_with(kind));
    let goal = goals.goals.iter().find(about)?;
    let rows = |met: bool| -> Vec<&Row> {
        let judged = goals.rows.iter().filter(|judged| judged.is_met() == met);
        judged
            .map(|judged| &summary.rows[judged.row as usize])
            .collect()
    };
    let (good, bad) = (rows(true), rows(false));
    if bad.is_empty() || goals.rows.len() < 2 {
        return None;
    }
    // An open row does not miss its goals.
    let open = goals
        .rows
        .iter()
        .any(|judged| judged.standing == GoalState::Open);
    let it = Missed {
        it: pronoun(goals),
        open,
    };
    // Incomplete flows have no parts, and are the reason why their row misses.
    let complete = |judged: &JudgedRow| judged.verdicts.iter().all(|verdict| verdict.left <= 0.0);
    let told = goals.rows.iter().all(complete);
    let parted = || parted(goal, it, (&good, &bad)).filter(|_| told);
    timed(goal, it, (&good, &bad)).or_else(parted)
}

/// Whether flows waited for timers in rows that miss the goals.
fn timed(goal: &Demand, it: Missed, (good, bad): (&[&Row], &[&Row])) -> Option<String> {
    let of = goal.group.as_deref();
    let waited = bad.iter().filter_map(|row| {
        let timers = Timers::of(row, of);
        timers
            .show(row, of, goal.kind().0)
            .then_some((timers, row.waits?))
    });
    let waited: Vec<_> = waited.collect();
    if waited.is_empty() {
        return None;
    }
    let whose = goal
        .group
        .as_ref()
        .map_or("their flows".to_owned(), |group| {
            format!("the flows of {group}")
        });
    let miss = match (waited.len(), bad.len()) {
        (told, all) if told == all => format!("{} {whose} waited", it.missing(all)),
        (told, all) => format!("In {told} of {all} rows that {} {whose} waited", it.many()),
    };
    let timers: f64 = good.iter().map(|row| Timers::of(row, of).all()).sum();
    let meet = match (good.len(), timers) {
        (0, _) => String::new(),
        (all, none) if none <= 0.0 => format!(", {} for none", meeting(all, it.it)),
        (all, some) => {
            let sum = if all > 1 { " in all" } else { "" };
            let some = averaged(some, "timer");
            format!(", {} for {some}{sum}", meeting(all, it.it))
        }
    };
    Some(format!("{miss} for {}{meet}.", timers::kinds(&waited)))
}

/// Which part of the slowest flows' time has the largest increase in rows that miss the goals.
fn parted(goal: &Demand, it: Missed, (good, bad): (&[&Row], &[&Row])) -> Option<String> {
    let told = parts::difference(bad, good, goal.group.as_deref())?;
    let of = goal
        .group
        .as_ref()
        .map_or_else(String::new, |group| format!(" of {group}"));
    let meet = told.good.map_or_else(String::new, |time| {
        format!(", {} {time}", meeting(good.len(), it.it))
    });
    Some(format!(
        "{} the slowest flows{of} spent {} {} ({} of their time){meet}.",
        it.missing(bad.len()),
        told.bad,
        told.words,
        told.share
    ))
}

/// The rows that do not meet the goals.
#[derive(Clone, Copy)]
struct Missed {
    /// The name for the goals.
    it: &'static str,
    /// Whether some of the rows are open.
    open: bool,
}

impl Missed {
    /// The verb for several rows.
    fn many(self) -> String {
        let verb = if self.open { "do not meet" } else { "miss" };
        format!("{verb} {}", self.it)
    }

    /// The number of rows, or that it is all of them.
    fn missing(self, rows: usize) -> String {
        let verb = if self.open { "does not meet" } else { "misses" };
        match rows {
            1 => format!("In the row that {verb} {}", self.it),
            2 => format!("In both rows that {}", self.many()),
            all => format!("In all {all} rows that {}", self.many()),
        }
    }
}

fn meeting(rows: usize, it: &str) -> String {
    match rows {
        1 => format!("in the row that meets {it}"),
        2 => format!("in both that meet {it}"),
        all => format!("in the {all} that meet {it}"),
    }
}

/// The most regions that are listed; more would bury the answer.
const REGIONS: usize = 5;
