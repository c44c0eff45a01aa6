//! Cases in which rounds and flows give different answers, or the slowest and the percentile do.
//!
//! Nearly all flows may be in time while most rounds are not, because a round waits for its slowest flow. A reader who
//! waits for rounds must know this.

use results::{
    Demand, GoalState, Goals, JudgedRow, Ranking, RankingMeasure, Row, Summary, magnitude,
};

use crate::words::{averaged, capital, place, shown, time};

/// The answer for rounds, and the slowest of all flows or rounds if it is far from the others.
pub(super) fn sentences(summary: &Summary, rankings: &[Ranking<'_>]) -> Vec<String> {
    let about_rounds = match &summary.goals {
        Some(goals) => by_goals(summary, goals),
        None => by_rank(summary, rankings),
    };
    let slowest = slowest(summary, about_rounds.is_some());
    about_rounds.into_iter().chain(slowest).collect()
}

/// For goals on the times of flows, the result for rounds; for goals on the times of rounds, the result for flows.
fn by_goals(summary: &Summary, goals: &Goals) -> Option<String> {
    let demands = || goals.goals.iter().enumerate();
    let of_flows =
        demands().filter_map(|(number, goal)| flows_hide(summary, goals, (number, goal)));
    let of_rounds =
        demands().filter_map(|(number, goal)| flows_would(summary, goals, (number, goal)));
    of_flows.chain(of_rounds).next()
}

/// Rows that meet a goal on the times of flows although the same percentile of their rounds misses it.
fn flows_hide(
    summary: &Summary,
    goals: &Goals,
    (number, goal): (usize, &Demand),
) -> Option<String> {
    let statistic = goal.metric.strip_prefix("fct_")?;
    let of_rounds = match statistic {
        "p50_us" | "p99_us" | "p999_us" | "max_us" => format!("round_{statistic}"),
        _ => "round_p99_us".to_owned(),
    };
    let asked = goals.goals.iter().any(|other| other.metric == of_rounds);
    if asked || !goal.comparison.starts_with('<') {
        return None;
    }
    let of = goal.group.as_deref();
    let met = |judged: &&JudgedRow| judged.verdicts[number].standing == GoalState::Met;
    let met = goals.rows.iter().filter(met);
    let met: Vec<&Row> = met
        .map(|judged| &summary.rows[judged.row as usize])
        .collect();
    let hides = |row: &&&Row| row.has_rounds(of) && value(row, of, &of_rounds) > goal.threshold;
    let hidden: Vec<&Row> = met.iter().filter(hides).copied().collect();
    let row = last(summary, &hidden)?;
    let other = goal.goal.replacen(
        goal.metric.trim_end_matches("_us"),
        of_rounds.trim_end_matches("_us"),
        1,
    );
    let rows = share(
        hidden.len(),
        met.len(),
        "that meet",
        "that meets",
        &goal.goal,
    );
    let miss = if hidden.len() == 1 { "misses" } else { "miss" };
    let times = beside((row, of), [&goal.metric, &of_rounds], goal.threshold);
    Some(format!(
        "A round waits for its slowest flow: {rows} {miss} {other}. {}.",
        capital(&times),
    ))
}

/// Rows that miss a goal on the times of rounds, although their flows alone would meet it.
fn flows_would(
    summary: &Summary,
    goals: &Goals,
    (number, goal): (usize, &Demand),
) -> Option<String> {
    let statistic = goal.metric.strip_prefix("round_")?;
    if !goal.comparison.starts_with('<') {
        return None;
    }
    let of = goal.group.as_deref();
    let of_flows = format!("fct_{statistic}");
    let missed = |judged: &&JudgedRow| judged.verdicts[number].standing == GoalState::Missed;
    let missed = goals.rows.iter().filter(missed);
    let all = missed.clone().count();
    let missed = missed.map(|judged| &summary.rows[judged.row as usize]);
    let would = |row: &&Row| row.has_rounds(of) && value(row, of, &of_flows) < goal.threshold;
    let rows: Vec<&Row> = missed.filter(would).collect();
    let row = last(summary, &rows)?;
    let other = goal.goal.replacen("round_", "fct_", 1);
    let rows = share(rows.len(), all, "that miss", "that misses", &goal.goal);
    let times = beside((row, of), [&of_flows, &goal.metric], goal.threshold);
    Some(format!(
        "A round waits for its slowest flow: {rows} would meet {other}. {}.",
        capital(&times),
    ))
}

/// `4 of the 11 rows that meet fct_p99 < 5ms`.
fn share(some: usize, all: usize, several: &str, single: &str, goal: &str) -> String {
    match (some, all) {
        (_, 1) => format!("the row {single} {goal}"),
        (2, 2) => format!("both rows {several} {goal}"),
        (some, all) if some == all => format!("all {all} rows {several} {goal}"),
        (some, all) => format!("{some} of the {all} rows {several} {goal}"),
    }
}

/// Without goals: another scheme has the faster rounds, or rounds take much longer than flows.
fn by_rank(summary: &Summary, rankings: &[Ranking<'_>]) -> Option<String> {
    let tails = || {
        rankings
            .iter()
            .filter(|it| it.measure == RankingMeasure::Tail)
    };
    let metric = "round_p99_us";
    let other = tails().rev().find_map(|ranking| {
        let winner = ranking.winner().filter(|row| row.has_rounds(None))?;
        let rival = ranking.behind.iter().min_by(|a, b| {
            let [a, b] = [a, b].map(|row| value(row, None, metric));
            a.total_cmp(&b)
        })?;
        faster(rival, winner, summary.random).then_some((winner, *rival))
    });
    if let Some((winner, rival)) = other {
        let at = at(winner);
        return Some(format!(
            "Rounds tell otherwise than flows: {at}the 99th percentile of the rounds is {} for {} and {} for {}.",
            told((rival, None), metric, f64::NAN),
            rival.scheme,
            told((winner, None), metric, f64::NAN),
            winner.scheme,
        ));
    }
    let ratio =
        |(row, of): &(&Row, Option<&str>)| value(row, *of, metric) / value(row, *of, "fct_p99_us");
    let leaders = tails().flat_map(|ranking| ranking.leaders.iter().copied());
    let apart = leaders
        .flat_map(scopes)
        .filter(|scope| ratio(scope) > APART);
    let scope = apart.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    Some(format!(
        "Rounds take longer than flows, for each waits for its slowest: {}.",
        beside(scope, ["fct_p99_us", metric], f64::NAN)
    ))
}

/// A row with its groups that have rounds, or with all flows if there are no groups.
fn scopes(row: &Row) -> impl Iterator<Item = (&Row, Option<&str>)> {
    let groups = row.groups.keys().map(|group| Some(group.as_str()));
    let groups = groups.filter(|group| row.rounds(*group) > 0.0);
    let mut scopes: Vec<_> = groups.collect();
    if scopes.is_empty() {
        scopes.push(None);
    }
    let scopes = scopes.into_iter().map(move |of| (row, of));
    scopes.filter(|(row, of)| row.has_rounds(*of))
}

/// The flow, or the round, that took more than ten times as long as the 99th percentile.
fn slowest(summary: &Summary, about_rounds: bool) -> Option<String> {
    let kinds = [
        ("flow", "fct_p99_us", "fct_max_us"),
        ("round", "round_p99_us", "round_max_us"),
    ];
    let candidates = kinds.into_iter().flat_map(|(noun, percentile, max)| {
        let groups = |row: &'_ Row| -> Vec<Option<String>> {
            let groups = row.groups.keys().cloned().map(Some);
            std::iter::once(None).chain(groups).collect()
        };
        summary.rows.iter().flat_map(move |row| {
            groups(row).into_iter().filter_map(move |of| {
                let [most, tail] =
                    [max, percentile].map(|metric| value(row, of.as_deref(), metric));
                (most.is_finite() && most > FAR * tail).then_some((noun, row, of, [most, tail]))
            })
        })
    });
    // A sentence about rounds covers their slowest flows, too.
    let candidates =
        candidates.filter(|(_, row, of, _)| !about_rounds || !row.has_rounds(of.as_deref()));
    let (noun, row, of, [most, tail]) =
        candidates.max_by(|(.., a), (.., b)| (a[0] / a[1]).total_cmp(&(b[0] / b[1])))?;
    let group = of
        .as_ref()
        .map_or_else(String::new, |of| format!("{of} with "));
    // The mean of the slowest of several seeds is the time of no flow.
    let worst = worst(summary, row, (noun, of.as_deref()));
    let took = if row.points.len() > 1 {
        format!(
            "took {} on average over the seeds and {} at most",
            time(most),
            time(worst)
        )
    } else {
        format!("took {}", time(most))
    };
    Some(capital(&format!(
        "{}the slowest {noun} of {group}{} {took}, {:.0} times the 99th percentile ({}).",
        at(row),
        row.scheme,
        most / tail,
        time(tail),
    )))
}

/// The longest time of a flow or round of a row in any seed.
fn worst(summary: &Summary, row: &Row, (noun, of): (&str, Option<&str>)) -> f64 {
    let points = summary.points.iter();
    let own = points.filter(|point| row.points.contains(&point.point));
    let longest = own.filter_map(|point| {
        let [flow, round] = match of {
            None => [point.metrics.fct_max_us, point.metrics.round_max_us],
            Some(of) => {
                let group = point.groups.iter().find(|group| group.group == of)?;
                [group.fct_max_us, group.round_max_us]
            }
        };
        Some(if noun == "round" { round } else { flow })
    });
    longest.fold(0.0, f64::max)
}

/// "at 59 senders the 99th percentile is 4.9 ms for flows of dctcp, and 1.02 s for its 20 rounds": metrics of flows and
/// of rounds. They are written so that they differ from `threshold` unless they equal it.
fn beside(
    (row, of): (&Row, Option<&str>),
    [of_flows, of_rounds]: [&str; 2],
    threshold: f64,
) -> String {
    let statistic = match of_flows.trim_start_matches("fct_") {
        "p50_us" => "the median".to_owned(),
        "p95_us" => "the 95th percentile".to_owned(),
        "p99_us" => "the 99th percentile".to_owned(),
        "p999_us" => "the 99.9th percentile".to_owned(),
        "p9999_us" => "the 99.99th percentile".to_owned(),
        "max_us" => "the longest time".to_owned(),
        _ => "the mean".to_owned(),
    };
    let group = of.map_or_else(String::new, |of| format!("{of} with "));
    let rounds = averaged(row.rounds(of), "round");
    let same = of_flows.trim_start_matches("fct_") == of_rounds.trim_start_matches("round_");
    let of_rounds_is = if same {
        String::new()
    } else {
        format!("the {} ", of_rounds.trim_end_matches("_us"))
    };
    format!(
        "{}{statistic} is {} for flows of {group}{}, and {of_rounds_is}{} for its {rounds}",
        at(row),
        told((row, of), of_flows, threshold),
        row.scheme,
        told((row, of), of_rounds, threshold),
    )
}

/// A time in words, or that it never ended.
fn told((row, of): (&Row, Option<&str>), metric: &str, threshold: f64) -> String {
    match value(row, of, metric) {
        time if time.is_infinite() => "without end".to_owned(),
        value => shown(metric, value, threshold),
    }
}

/// A time; infinite if it never ended in a run, and `NaN` if there is none.
fn value(row: &Row, of: Option<&str>, metric: &str) -> f64 {
    match row.estimate(of, metric) {
        Some(estimate) if estimate.mean.is_none() && estimate.runs > 0 => f64::INFINITY,
        Some(estimate) => estimate.mean.unwrap_or(f64::NAN),
        None => f64::NAN,
    }
}

/// Whether the rounds of `rival` are certainly faster, and by more than a few percent.
fn faster(rival: &Row, winner: &Row, random: bool) -> bool {
    let metric = "round_p99_us";
    let ahead = value(rival, None, metric) < CLEARLY * value(winner, None, metric);
    let interval = |row: &Row| {
        row.estimate(None, metric)
            .and_then(|it| it.low.zip(it.high))
    };
    let apart = match (interval(rival), interval(winner)) {
        (Some((_, high)), Some((low, _))) => high < low,
        // A round of the winner that never ended has no interval.
        _ => !random || value(winner, None, metric).is_infinite(),
    };
    ahead && apart
}

/// The row with the largest value of the first setting, or else the last one.
fn last<'a>(summary: &Summary, rows: &[&'a Row]) -> Option<&'a Row> {
    let size = |row: &Row| {
        let axis = summary.axes.first()?;
        row.setting(axis).and_then(magnitude)
    };
    let rows = rows.iter().copied();
    rows.max_by(|a, b| {
        let [a, b] = [a, b].map(|row| size(row).unwrap_or(0.0));
        a.total_cmp(&b)
    })
}

/// "at 59 senders ", or nothing.
fn at(row: &Row) -> String {
    match place(row) {
        place if place.is_empty() => place,
        place => format!("at {place} "),
    }
}

/// The factor between the times of rounds and flows from which it is mentioned.
const APART: f64 = 2.0;
/// The factor between the slowest and the 99th percentile from which it is mentioned.
const FAR: f64 = 10.0;
/// Rounds of another scheme are clearly faster if they take less than this share of the time.
const CLEARLY: f64 = 0.95;
