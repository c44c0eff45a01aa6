//! Who leads at which points of a sweep.

use super::standing::{Measure, Standing};
use super::timers::Timers;
use super::words::{counted, list, percent, place, rate, rounded, span};
use crate::goals::magnitude;
use crate::row::Row;
use crate::summary::Summary;

/// One sentence about all points, and what is open.
pub(super) fn sentences(summary: &Summary, standings: &[Standing<'_>]) -> Vec<String> {
    let Some(first) = standings.first() else {
        return vec!["No scheme has a result.".into()];
    };
    if summary.schemes.len() == 1 {
        let several = standings.len() > 1 && summary.seeds == 1;
        let open = open(summary, standings).filter(|_| several);
        return std::iter::once(alone(standings)).chain(open).collect();
    }
    let clusters = clusters(standings);
    let mut sentences = match (standings, clusters.as_slice()) {
        ([only], _) => vec![capital(&single(only))],
        (_, [_]) => vec![everywhere(standings)],
        (_, few) if few.len() <= CLAUSES => vec![changing(standings, few)],
        _ => vec![counts(summary, standings)],
    };
    if clusters.len() > CLAUSES || (clusters.len() > 1 && summary.axes.len() > 1) {
        sentences.extend(worst(summary, standings));
    }
    let compared = !first.behind.is_empty() || first.leaders.len() > 1;
    sentences.extend(open(summary, standings).filter(|_| compared));
    sentences
}

/// One point, or the only one with results.
fn single(standing: &Standing<'_>) -> String {
    let at = at(standing.leaders[0]);
    let by = match standing.measure {
        Measure::Tail => "at the 99th percentile",
        Measure::Goodput => "in goodput",
        Measure::Queue => "in the mean queue",
    };
    let Some(winner) = standing.winner() else {
        let next = standing.behind.first().map_or_else(String::new, |next| {
            let shown = standing.measure.shown(next);
            format!("; {} follows with {shown}", next.scheme)
        });
        return format!(
            "{at}nothing to choose between {} {by}: {}{next}.",
            list(&standing.names()),
            range(standing)
        );
    };
    let name = &winner.scheme;
    let best = match standing.measure {
        _ if standing.leads_by_flows() => "completes the most flows".to_owned(),
        Measure::Tail => format!("is fastest {by}"),
        Measure::Goodput => "carries most".to_owned(),
        Measure::Queue => "keeps the shortest queue".to_owned(),
    };
    format!("{at}{name} {best}: {}.", detail(standing, winner))
}

/// The same schemes lead at every point.
fn everywhere(standings: &[Standing<'_>]) -> String {
    let (first, count) = (&standings[0], standings.len());
    let by_flows = standings.iter().all(Standing::leads_by_flows);
    let (best, by) = match first.measure {
        Measure::Tail if by_flows => ("completes the most flows", ""),
        Measure::Tail => ("is fastest", "at the 99th percentile"),
        Measure::Goodput => ("carries most", "in goodput"),
        Measure::Queue => ("keeps the shortest queue", "on average"),
    };
    let Some(winner) = first.winner() else {
        let names = list(&first.names());
        let points = if count == 2 {
            "either point".to_owned()
        } else {
            format!("any of {count} points")
        };
        return format!("Nothing to choose between {names} {by} at {points}.");
    };
    let margins = standings
        .iter()
        .filter_map(|standing| Some((standing.margin()?, standing)));
    let mut margins: Vec<_> = margins.collect();
    margins.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let lead = |margin: f64| first.measure.lead(margin);
    let than = |(margin, standing): &(f64, &Standing<'_>)| {
        let next = &standing.behind[0].scheme;
        let place = place(standing.leaders[0]);
        format!("{} than {next} at {place}", lead(*margin))
    };
    let by_how_much = match margins.as_slice() {
        [] => String::new(),
        [least, .., most] if lead(least.0) != lead(most.0) => {
            format!(", from {} to {}", than(least), than(most))
        }
        [least, ..] => format!(", {} than the next best", lead(least.0)),
    };
    let points = if count == 2 {
        "both points".to_owned()
    } else {
        format!("all {count} points")
    };
    let name = &winner.scheme;
    let by = match (first.measure, by) {
        (Measure::Goodput, _) | (_, "") => String::new(),
        (_, by) => format!(" {by}"),
    };
    format!("{name} {best}{by} at {points}{by_how_much}.")
}

/// Points at which the same schemes lead.
struct Cluster<'a> {
    names: Vec<&'a str>,
    /// Places in the sweep.
    points: Vec<usize>,
}

/// In the order in which they appear.
fn clusters<'a>(standings: &[Standing<'a>]) -> Vec<Cluster<'a>> {
    let mut clusters: Vec<Cluster<'a>> = Vec::new();
    for (point, standing) in standings.iter().enumerate() {
        let mut names = standing.names();
        names.sort_unstable();
        match clusters.iter_mut().find(|cluster| cluster.names == names) {
            Some(cluster) => cluster.points.push(point),
            None => clusters.push(Cluster {
                names,
                points: vec![point],
            }),
        }
    }
    clusters
}

/// A clause for each change of the leaders.
fn changing(standings: &[Standing<'_>], clusters: &[Cluster<'_>]) -> String {
    let measure = standings[0].measure;
    let clauses = clusters.iter().map(|cluster| {
        let places = places(standings, &cluster.points);
        let of: Vec<_> = cluster
            .points
            .iter()
            .map(|point| &standings[*point])
            .collect();
        let Some(winner) = of[0].winner() else {
            let names = list(&of[0].names());
            let values = match of.as_slice() {
                [one] => format!(" ({})", range(one)),
                _ => String::new(),
            };
            return format!("nothing to choose between {names} at {places}{values}");
        };
        let best = if of.iter().all(|standing| standing.leads_by_flows()) {
            "completes the most flows"
        } else {
            leading(measure)
        };
        format!("{} {best} at {places}{}", winner.scheme, details(&of))
    });
    let clauses: Vec<_> = clauses.collect();
    format!("By the {}: {}.", measured(measure), clauses.join("; "))
}

/// What several points with the same single leader have in common, in brackets.
fn details(standings: &[&Standing<'_>]) -> String {
    if let [one] = standings {
        return format!(" ({})", detail(one, one.leaders[0]));
    }
    let margins = standings.iter().filter_map(|standing| standing.margin());
    let margins: Vec<_> = margins.collect();
    if margins.len() < standings.len() {
        return String::new();
    }
    let measure = standings[0].measure;
    let shown = |ratio| percent(measure.share(ratio));
    let least = shown(margins.iter().copied().fold(f64::INFINITY, f64::min));
    let most = shown(margins.iter().copied().fold(0.0, f64::max));
    let range = if least == most {
        least
    } else {
        format!("{least} to {most}")
    };
    format!(" ({range} {} than the next best)", measure.direction())
}

/// `10 to 40 senders`; along several axes how many points there are.
fn places(standings: &[Standing<'_>], points: &[usize]) -> String {
    let row = |point: usize| standings[point].leaders[0];
    if let [point] = points {
        return place(row(*point));
    }
    if row(0).set.len() > 1 {
        return format!("{} of {} points", points.len(), standings.len());
    }
    // Words have no order that a span could follow.
    let counts = |point: &usize| {
        let (_, value) = &row(*point).set[0];
        magnitude(value).is_some()
    };
    if !points.iter().all(counts) {
        let values: Vec<String> = points.iter().map(|point| place(row(*point))).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        return list(&values);
    }
    let spans = points.chunk_by(|one, next| next - one == 1);
    let spans = spans.map(|chunk| span(row(chunk[0]), row(chunk[chunk.len() - 1])));
    spans.collect::<Vec<_>>().join(" and ")
}

/// At how many points each scheme leads alone.
fn counts(summary: &Summary, standings: &[Standing<'_>]) -> String {
    let measure = standings[0].measure;
    let mut wins = wins(summary, standings);
    let tied = standings.len() - wins.iter().map(|(count, _)| count).sum::<usize>();
    if tied == standings.len() {
        return format!(
            "By the {} there is nothing to choose between the best at any of {tied} points.",
            measured(measure)
        );
    }
    let tied = match tied {
        0 => String::new(),
        tied => format!("; at {tied} there is nothing to choose between the best"),
    };
    let (measured, best) = (measured(measure), leading(measure));
    let (most, name) = wins.remove(0);
    let others = wins.iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, name)| format!(", {name} at {count}"));
    format!(
        "By the {measured} {name} {best} at {most} of {} points{}{tied}.",
        standings.len(),
        others.collect::<String>()
    )
}

/// How often each scheme is the only leader, the most frequent first.
fn wins<'a>(summary: &'a Summary, standings: &[Standing<'_>]) -> Vec<(usize, &'a str)> {
    let wins = summary.schemes.iter().map(|scheme| {
        let own = standings.iter().filter(|standing| {
            let winner = standing.winner();
            winner.is_some_and(|winner| winner.scheme == *scheme)
        });
        (own.count(), scheme.as_str())
    });
    let mut wins: Vec<_> = wins.collect();
    wins.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    wins
}

/// Where the scheme that leads most often loses most.
fn worst(summary: &Summary, standings: &[Standing<'_>]) -> Option<String> {
    let (count, name) = wins(summary, standings)[0];
    if count == 0 {
        return None;
    }
    let measure = standings[0].measure;
    let losses = standings.iter().filter_map(|standing| {
        let own = standing.behind.iter().find(|row| row.scheme == name)?;
        let ratio = measure.cost(own) / measure.cost(standing.leaders[0]);
        Some((ratio, *own, standing.leaders[0]))
    });
    let (_, own, leader) = losses.max_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
    Some(format!(
        "{name} loses most at {}: {} against {} of {}.",
        place(own),
        measure.shown(own),
        measure.shown(leader),
        leader.scheme
    ))
}

/// What more seeds would tell.
fn open(summary: &Summary, standings: &[Standing<'_>]) -> Option<String> {
    if !summary.random || summary.until.is_some() {
        return None;
    }
    if summary.seeds == 1 {
        return Some(
            "One seed only: --seeds 10 tells what of this is chance, --until 5% runs as many as \
             needed."
                .into(),
        );
    }
    let uncertain = standings.iter().any(|standing| standing.uncertain);
    uncertain.then(|| {
        format!(
            "{} seeds are not enough to tell them apart; --until 5% runs as many as needed.",
            summary.seeds
        )
    })
}

/// How one scheme does by itself.
fn alone(standings: &[Standing<'_>]) -> String {
    let measure = standings[0].measure;
    let rows = || standings.iter().map(|standing| standing.leaders[0]);
    let by_value = |a: &&Row, b: &&Row| measure.value(a).total_cmp(&measure.value(b));
    let (Some(least), Some(most)) = (rows().min_by(by_value), rows().max_by(by_value)) else {
        return String::new();
    };
    let name = &least.scheme;
    let complete =
        rows().all(|row| row.value("flows_unfinished") + row.value("flows_failed") <= 0.0);
    let flows = if complete { "flows" } else { "completed flows" };
    match (measure, standings.len()) {
        (Measure::Tail, 1) => {
            let mut counts = Timers::of(least, None).counts();
            counts.push(counted(least.value("drops"), "drop"));
            let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
            let (within, counts) = (measure.shown(least), list(&counts));
            format!("{name} completes 99 % of its {flows} within {within}, with {counts}.")
        }
        (Measure::Tail, _) => format!(
            "{name} completes 99 % of its {flows} within {} at {} and within {} at {}.",
            measure.shown(least),
            place(least),
            measure.shown(most),
            place(most),
        ),
        (_, 1) => format!(
            "{name} carries {} with a mean queue of {}.",
            goodput(least),
            Measure::Queue.shown(least)
        ),
        (..) => format!(
            "{name} carries {} with a mean queue of {} at {} and {} with {} at {}.",
            goodput(least),
            Measure::Queue.shown(least),
            place(least),
            goodput(most),
            Measure::Queue.shown(most),
            place(most),
        ),
    }
}

/// What a single leader has, and the next best beside it.
fn detail(standing: &Standing<'_>, winner: &Row) -> String {
    let shown = |row: &Row| match standing.measure {
        Measure::Tail => standing.measure.shown(row),
        Measure::Goodput => {
            let queue = Measure::Queue.shown(row);
            format!("{} with a mean queue of {queue}", goodput(row))
        }
        Measure::Queue => format!("{} at {}", standing.measure.shown(row), goodput(row)),
    };
    let Some(next) = standing.behind.first() else {
        return shown(winner);
    };
    if standing.leads_by_flows() {
        let flows = |row: &Row| {
            let left = row.value("flows_unfinished") + row.value("flows_failed");
            let completed = row.value("flows_completed");
            (rounded(completed), rounded(completed + left))
        };
        let ((ours, all), (theirs, _)) = (flows(winner), flows(next));
        return format!("{ours} of {all}, {} {theirs}", next.scheme);
    }
    let (value, name) = (shown(winner), &next.scheme);
    let ratio = standing.measure.cost(next) / standing.measure.cost(winner);
    let less = match standing.measure {
        Measure::Tail if ratio >= 2.0 => format!("{ratio:.1} times as fast as {name}"),
        Measure::Goodput if ratio >= 2.0 => format!("{ratio:.1} times as much as {name}"),
        measure => format!("{} than {name}", measure.lead(ratio)),
    };
    format!("{value}, {less} ({}{})", shown(next), interval(standing))
}

/// The interval of the difference to the next best.
fn interval(standing: &Standing<'_>) -> String {
    let amount = |value| standing.measure.amount(value);
    standing.interval.map_or_else(String::new, |(low, high)| {
        format!(
            "; the 95 % interval of the difference is {} to {}",
            amount(low),
            amount(high)
        )
    })
}

/// The values of several leaders.
fn range(standing: &Standing<'_>) -> String {
    let values = standing.leaders.iter();
    let by_value = |a: &&&Row, b: &&&Row| {
        let value = |row| standing.measure.value(row);
        value(a).total_cmp(&value(b))
    };
    let (least, most) = (values.clone().min_by(by_value), values.max_by(by_value));
    let shown =
        |row: Option<&&Row>| row.map_or_else(String::new, |row| standing.measure.shown(row));
    let (least, most) = (shown(least), shown(most));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

fn at(row: &Row) -> String {
    match place(row) {
        place if place.is_empty() => place,
        place => format!("at {place} "),
    }
}

const fn measured(measure: Measure) -> &'static str {
    match measure {
        Measure::Tail => "99th percentile",
        Measure::Goodput => "goodput",
        Measure::Queue => "mean queue",
    }
}

const fn leading(measure: Measure) -> &'static str {
    match measure {
        Measure::Tail => "is fastest",
        Measure::Goodput => "carries most",
        Measure::Queue => "has the shortest",
    }
}

fn goodput(row: &Row) -> String {
    let bits = row.value("goodput_bps");
    if bits.is_nan() {
        "unknown goodput".into()
    } else {
        rate(bits)
    }
}

/// A sentence that begins with a scheme's name keeps the name as it is typed.
fn capital(text: &str) -> String {
    let word = ["nothing ", "at "]
        .iter()
        .any(|word| text.starts_with(word));
    if word {
        text[..1].to_uppercase() + &text[1..]
    } else {
        text.to_owned()
    }
}

/// Changes of the leaders that are told one by one; more are counted.
const CLAUSES: usize = 3;
