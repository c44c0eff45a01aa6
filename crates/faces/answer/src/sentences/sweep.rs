//! The leaders at the points of a sweep.

use base::Sort as _;
use results::{Ranking, RankingMeasure, Row, Summary, magnitude};

use super::measure::InWords;
use super::timers::Timers;
use crate::words::{averaged, capital, list, percent, place, rate, rounded, span};

/// One sentence about all points, and what is open.
pub(super) fn sentences(summary: &Summary, rankings: &[Ranking<'_>]) -> Vec<String> {
    let Some(first) = rankings.first() else {
        return vec!["No scheme has a result.".into()];
    };
    if summary.schemes.len() == 1 {
        let several = rankings.len() > 1 && summary.seeds == 1;
        let open = open(summary, rankings).filter(|_| several);
        return std::iter::once(alone(rankings)).chain(open).collect();
    }
    let clusters = clusters(rankings);
    let mut sentences = match (rankings, clusters.as_slice()) {
        ([only], _) => vec![begun(&single(only))],
        (_, [_]) => vec![everywhere(rankings)],
        (_, few) if few.len() <= CLAUSES => vec![changing(rankings, few)],
        _ => vec![counts(summary, rankings)],
    };
    if clusters.len() > CLAUSES || (clusters.len() > 1 && summary.axes.len() > 1) {
        sentences.extend(worst(summary, rankings));
    }
    let compared = !first.behind.is_empty() || first.leaders.len() > 1;
    sentences.extend(open(summary, rankings).filter(|_| compared));
    sentences
}

/// One point, or the only one with results.
fn single(ranking: &Ranking<'_>) -> String {
    let at = at(ranking.leaders[0]);
    let by = match ranking.measure {
        RankingMeasure::Tail => "at the 99th percentile",
        RankingMeasure::Goodput => "in goodput",
        RankingMeasure::Queue => "in the mean queue",
    };
    let Some(winner) = ranking.winner() else {
        let next = ranking.behind.first().map_or_else(String::new, |next| {
            let shown = ranking.measure.shown(next);
            format!("; {} follows with {shown}", next.scheme)
        });
        return format!(
            "{at}nothing to choose between {} {by}: {}{next}.",
            list(&ranking.names()),
            range(ranking)
        );
    };
    let name = &winner.scheme;
    let best = match ranking.measure {
        _ if ranking.leads_by_flows() => "completes the most flows".to_owned(),
        RankingMeasure::Tail => format!("is fastest {by}"),
        RankingMeasure::Goodput => "carries most".to_owned(),
        RankingMeasure::Queue => "keeps the shortest queue".to_owned(),
    };
    format!("{at}{name} {best}: {}.", detail(ranking, winner))
}

/// The same schemes lead at every point.
fn everywhere(rankings: &[Ranking<'_>]) -> String {
    let (first, count) = (&rankings[0], rankings.len());
    let by_flows = rankings.iter().all(Ranking::leads_by_flows);
    let (best, by) = match first.measure {
        RankingMeasure::Tail if by_flows => ("completes the most flows", ""),
        RankingMeasure::Tail => ("is fastest", "at the 99th percentile"),
        RankingMeasure::Goodput => ("carries most", "in goodput"),
        RankingMeasure::Queue => ("keeps the shortest queue", "on average"),
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
    let margins = rankings
        .iter()
        .filter_map(|ranking| Some((ranking.margin()?, ranking)));
    let mut margins: Vec<_> = margins.collect();
    margins.order_by(|(a, _), (b, _)| a.total_cmp(b));
    let lead = |margin: f64| first.measure.lead(margin);
    let than = |(margin, ranking): &(f64, &Ranking<'_>)| {
        let next = &ranking.behind[0].scheme;
        let place = place(ranking.leaders[0]);
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
        (RankingMeasure::Goodput, _) | (_, "") => String::new(),
        (_, by) => format!(" {by}"),
    };
    format!("{name} {best}{by} at {points}{by_how_much}.")
}

/// Points with the same leaders.
struct Cluster<'a> {
    names: Vec<&'a str>,
    /// Places in the sweep.
    points: Vec<usize>,
}

/// Clusters in order of appearance.
fn clusters<'a>(rankings: &[Ranking<'a>]) -> Vec<Cluster<'a>> {
    let mut clusters: Vec<Cluster<'a>> = Vec::new();
    for (point, ranking) in rankings.iter().enumerate() {
        let mut names = ranking.names();
        names.order();
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
fn changing(rankings: &[Ranking<'_>], clusters: &[Cluster<'_>]) -> String {
    let measure = rankings[0].measure;
    let clauses = clusters.iter().map(|cluster| {
        let places = places(rankings, &cluster.points);
        let of: Vec<_> = cluster
            .points
            .iter()
            .map(|point| &rankings[*point])
            .collect();
        let Some(winner) = of[0].winner() else {
            let names = list(&of[0].names());
            let values = match of.as_slice() {
                [one] => format!(" ({})", range(one)),
                _ => String::new(),
            };
            return format!("nothing to choose between {names} at {places}{values}");
        };
        let best = if of.iter().all(|ranking| ranking.leads_by_flows()) {
            "completes the most flows"
        } else {
            leading(measure)
        };
        format!("{} {best} at {places}{}", winner.scheme, details(&of))
    });
    let clauses: Vec<_> = clauses.collect();
    format!("By the {}: {}.", measured(measure), clauses.join("; "))
}

/// Details that several points with the same single leader share, in brackets.
fn details(rankings: &[&Ranking<'_>]) -> String {
    if let [one] = rankings {
        return format!(" ({})", detail(one, one.leaders[0]));
    }
    let margins = rankings.iter().filter_map(|ranking| ranking.margin());
    let margins: Vec<_> = margins.collect();
    if margins.len() < rankings.len() {
        return String::new();
    }
    let measure = rankings[0].measure;
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

/// `10 to 40 senders`; the number of points if there are several axes.
fn places(rankings: &[Ranking<'_>], points: &[usize]) -> String {
    let row = |point: usize| rankings[point].leaders[0];
    if let [point] = points {
        return place(row(*point));
    }
    if row(0).set.len() > 1 {
        return format!("{} of {} points", points.len(), rankings.len());
    }
    // Words have no order, so they cannot form a span.
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
fn counts(summary: &Summary, rankings: &[Ranking<'_>]) -> String {
    let measure = rankings[0].measure;
    let mut wins = wins(summary, rankings);
    let tied = rankings.len() - wins.iter().map(|(count, _)| count).sum::<usize>();
    if tied == rankings.len() {
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
        rankings.len(),
        others.collect::<String>()
    )
}

/// How often each scheme is the only leader, the most frequent first.
fn wins<'a>(summary: &'a Summary, rankings: &[Ranking<'_>]) -> Vec<(usize, &'a str)> {
    let wins = summary.schemes.iter().map(|scheme| {
        let own = rankings.iter().filter(|ranking| {
            let winner = ranking.winner();
            winner.is_some_and(|winner| winner.scheme == *scheme)
        });
        (own.count(), scheme.as_str())
    });
    let mut wins: Vec<_> = wins.collect();
    wins.order_by_key(|(count, _)| std::cmp::Reverse(*count));
    wins
}

/// The point at which the scheme that leads most often loses most.
fn worst(summary: &Summary, rankings: &[Ranking<'_>]) -> Option<String> {
    let (count, name) = wins(summary, rankings)[0];
    if count == 0 {
        return None;
    }
    let measure = rankings[0].measure;
    let losses = rankings.iter().filter_map(|ranking| {
        let own = ranking.behind.iter().find(|row| row.scheme == name)?;
        let ratio = measure.cost(own) / measure.cost(ranking.leaders[0]);
        Some((ratio, *own, ranking.leaders[0]))
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

/// The differences that more seeds would show.
fn open(summary: &Summary, rankings: &[Ranking<'_>]) -> Option<String> {
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
    let uncertain = rankings.iter().any(|ranking| ranking.uncertain);
    uncertain.then(|| {
        format!(
            "{} seeds are not enough to tell them apart; --until 5% runs as many as needed.",
            summary.seeds
        )
    })
}

/// The results of a single scheme.
fn alone(rankings: &[Ranking<'_>]) -> String {
    let measure = rankings[0].measure;
    let rows = || rankings.iter().map(|ranking| ranking.leaders[0]);
    let by_value = |a: &&Row, b: &&Row| measure.value(a).total_cmp(&measure.value(b));
    let (Some(least), Some(most)) = (rows().min_by(by_value), rows().max_by(by_value)) else {
        return String::new();
    };
    let name = &least.scheme;
    let complete =
        rows().all(|row| row.value("flows_unfinished") + row.value("flows_failed") <= 0.0);
    let flows = if complete { "flows" } else { "completed flows" };
    match (measure, rankings.len()) {
        (RankingMeasure::Tail, 1) => {
            let mut counts = Timers::of(least, None).counts();
            counts.push(averaged(least.value("drops"), "drop"));
            let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
            let (within, counts) = (measure.shown(least), list(&counts));
            format!("{name} completes 99 % of its {flows} within {within}, with {counts}.")
        }
        (RankingMeasure::Tail, _) => format!(
            "{name} completes 99 % of its {flows} within {} at {} and within {} at {}.",
            measure.shown(least),
            place(least),
            measure.shown(most),
            place(most),
        ),
        (_, 1) => format!(
            "{name} carries {} with a mean queue of {}.",
            goodput(least),
            RankingMeasure::Queue.shown(least)
        ),
        (..) => format!(
            "{name} carries {} with a mean queue of {} at {} and {} with {} at {}.",
            goodput(least),
            RankingMeasure::Queue.shown(least),
            place(least),
            goodput(most),
            RankingMeasure::Queue.shown(most),
            place(most),
        ),
    }
}

/// The values of a single leader and of the next best.
fn detail(ranking: &Ranking<'_>, winner: &Row) -> String {
    let shown = |row: &Row| match ranking.measure {
        RankingMeasure::Tail => ranking.measure.shown(row),
        RankingMeasure::Goodput => {
            let queue = RankingMeasure::Queue.shown(row);
            format!("{} with a mean queue of {queue}", goodput(row))
        }
        RankingMeasure::Queue => format!("{} at {}", ranking.measure.shown(row), goodput(row)),
    };
    let Some(next) = ranking.behind.first() else {
        return shown(winner);
    };
    if ranking.leads_by_flows() {
        let flows = |row: &Row| {
            let left = row.value("flows_unfinished") + row.value("flows_failed");
            let completed = row.value("flows_completed");
            (rounded(completed), rounded(completed + left))
        };
        let ((ours, all), (theirs, _)) = (flows(winner), flows(next));
        return format!("{ours} of {all}, {} {theirs}", next.scheme);
    }
    let (value, name) = (shown(winner), &next.scheme);
    let ratio = ranking.measure.cost(next) / ranking.measure.cost(winner);
    let less = match ranking.measure {
        RankingMeasure::Tail if ratio >= 2.0 => format!("{ratio:.1} times as fast as {name}"),
        RankingMeasure::Goodput if ratio >= 2.0 => format!("{ratio:.1} times as much as {name}"),
        measure => format!("{} than {name}", measure.lead(ratio)),
    };
    format!("{value}, {less} ({}{})", shown(next), interval(ranking))
}

/// The interval of the difference to the next best.
fn interval(ranking: &Ranking<'_>) -> String {
    let amount = |value| ranking.measure.amount(value);
    ranking.interval.map_or_else(String::new, |(low, high)| {
        format!(
            "; the 95 % interval of the difference is {} to {}",
            amount(low),
            amount(high)
        )
    })
}

/// The values of several leaders.
fn range(ranking: &Ranking<'_>) -> String {
    let values = ranking.leaders.iter();
    let by_value = |a: &&&Row, b: &&&Row| {
        let value = |row| ranking.measure.value(row);
        value(a).total_cmp(&value(b))
    };
    let (least, most) = (values.clone().min_by(by_value), values.max_by(by_value));
    let shown = |row: Option<&&Row>| row.map_or_else(String::new, |row| ranking.measure.shown(row));
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

const fn measured(measure: RankingMeasure) -> &'static str {
    match measure {
        RankingMeasure::Tail => "99th percentile",
        RankingMeasure::Goodput => "goodput",
        RankingMeasure::Queue => "mean queue",
    }
}

const fn leading(measure: RankingMeasure) -> &'static str {
    match measure {
        RankingMeasure::Tail => "is fastest",
        RankingMeasure::Goodput => "carries most",
        RankingMeasure::Queue => "has the shortest",
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

/// A scheme's name at the beginning of a sentence keeps its spelling.
fn begun(text: &str) -> String {
    let word = ["nothing ", "at "]
        .iter()
        .any(|word| text.starts_with(word));
    if word { capital(text) } else { text.to_owned() }
}

/// The most changes of leaders that are listed one by one; more are averaged.
const CLAUSES: usize = 3;
