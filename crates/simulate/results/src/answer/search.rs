//! What a search along one axis tried, what it found, and what it infers.

use scenario::search::Search;

use super::words::{counted, list, pronoun, shown};
use crate::goals::{Goals, Judged, Standing, magnitude};
use crate::summary::Summary;

/// The values that were tried with one scheme, the smallest first.
struct Tried<'a> {
    axis: &'a str,
    /// The range that was searched, if it can be read.
    range: Option<Search>,
    goals: &'a Goals,
    values: Vec<(&'a str, &'a Judged)>,
}

impl<'a> Tried<'a> {
    fn of(summary: &'a Summary, goals: &'a Goals, scheme: &str) -> Option<Self> {
        let axis = summary.axes.first()?;
        let own = goals.rows.iter().filter_map(|judged| {
            let row = &summary.rows[judged.row as usize];
            let value = row.setting(axis).filter(|_| row.scheme == scheme)?;
            Some((magnitude(value)?, value, judged))
        });
        let mut values: Vec<_> = own.collect();
        values.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        Some(Self {
            axis,
            range: summary
                .search
                .as_deref()
                .and_then(|range| Search::parse(range).ok()),
            goals,
            values: values
                .into_iter()
                .map(|(_, value, judged)| (value, judged))
                .collect(),
        })
    }

    fn standing(&self, at: usize) -> Standing {
        self.values[at].1.standing
    }

    /// The first value that meets the goals, and the last of those behind it without one between them that does not.
    fn met(&self) -> Option<(usize, usize)> {
        let is_met = |at: &usize| self.standing(*at) == Standing::Met;
        let first = (0..self.values.len()).find(is_met)?;
        let last = (first..self.values.len()).take_while(is_met).last()?;
        Some((first, last))
    }

    /// Places of the values at which the goals begin or cease to be met: those on both sides of the limit.
    fn limits(&self) -> Vec<usize> {
        match self.met() {
            Some((first, _)) if first > 0 => vec![first - 1, first],
            Some((_, last)) if last + 1 < self.values.len() => vec![last, last + 1],
            _ => Vec::new(),
        }
    }

    /// `60 misses it (fct_p99 = 5.2 ms)`, or that it is open.
    fn not_met(&self, at: usize) -> String {
        let (value, judged) = self.values[at];
        let missed = self.goals.goals.iter().zip(&judged.verdicts);
        let mut missed = missed.filter(|(_, verdict)| verdict.standing == judged.standing);
        let why = missed.next().and_then(|(goal, verdict)| {
            let text = shown(&goal.metric, verdict.value?, goal.threshold);
            Some(format!("{} = {text}", goal.subject()))
        });
        let it = pronoun(self.goals);
        match (judged.standing, why) {
            (Standing::Open, Some(why)) => {
                format!("{value} is open ({why}; its 95 % interval contains the threshold)")
            }
            (Standing::Open, None) => {
                format!("{value} is open (too few values for a percentile)")
            }
            (_, Some(why)) => format!("{value} misses {it} ({why})"),
            (_, None) => format!("{value} misses {it}"),
        }
    }

    /// Which values were tried, if they are few.
    fn listed(&self) -> String {
        let number = f64::from(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        let values: Vec<&str> = self.values.iter().map(|(value, _)| *value).collect();
        if values.len() > LISTED {
            return counted(number, "value");
        }
        format!("{} ({})", counted(number, "value"), list(&values))
    }

    /// Whether every step of the range from one tried value to another was tried.
    fn is_complete(&self, first: usize, last: usize) -> bool {
        let Some(range) = &self.range else {
            return false;
        };
        let (from, to) = (self.values[first].0, self.values[last].0);
        let steps = (0..STEPS).map(|number| range.value(number));
        let between = steps
            .skip_while(|value| value != from)
            .take(last - first + 1);
        between.last().is_some_and(|end| end == to)
    }
}

/// What a search found for a scheme.
pub(super) fn sentence(summary: &Summary, goals: &Goals, scheme: &str) -> Option<String> {
    let tried = Tried::of(summary, goals, scheme)?;
    let (axis, it) = (tried.axis, pronoun(goals));
    let of = if summary.schemes.len() > 1 {
        format!(" for {scheme}")
    } else {
        String::new()
    };
    let all = tried.listed();
    let value = |at: usize| tried.values[at].0;
    let Some((first, last)) = tried.met() else {
        let open = (0..tried.values.len()).find(|at| tried.standing(*at) == Standing::Open);
        let open = open.map_or_else(String::new, |at| format!(": {}", tried.not_met(at)));
        return Some(format!(
            "None of {all} of {axis} that were tried meets {it}{of}{open}."
        ));
    };
    // Beyond the limit a search does not look again.
    let again = (last + 1..tried.values.len()).find(|at| tried.standing(*at) == Standing::Met);
    let again = again.map_or_else(String::new, |at| {
        format!(
            "; but {} meets {it} again, so there are several limits",
            value(at)
        )
    });
    let end = tried.values.len() - 1;
    Some(if first > 0 {
        let larger = if last == end && tried.is_complete(first, last) {
            String::new()
        } else {
            ", those between them are inferred".to_owned()
        };
        format!(
            "The smallest {axis} that meets {it}{of} is {}: {}; {all} were tried{larger}{again}.",
            value(first),
            tried.not_met(first - 1)
        )
    } else if last < end {
        let met = if first == last {
            format!("Of {axis} only {} meets {it}{of}", value(first))
        } else if tried.is_complete(first, last) {
            let (first, last) = (value(first), value(last));
            format!("Every {axis} from {first} to {last} meets {it}{of}")
        } else {
            let (from, to) = (value(first), value(last));
            format!(
                "{axis} from {from} to {to} meets {it}{of} at each of the {} values that were tried, and those \
                 between them are inferred",
                last - first + 1
            )
        };
        let not = tried.not_met(last + 1);
        format!("{met}: {not}; {all} were tried{again}.")
    } else {
        format!(
            "Both ends of the range of {axis} meet {it}{of}: {} and {}; nothing between them was tried.",
            value(first),
            value(last)
        )
    })
}

/// Places of the rows of a search, those next to the limits of the schemes first; then the others, the nearest first.
pub fn nearest(summary: &Summary) -> Vec<u32> {
    let Some(goals) = &summary.goals else {
        return Vec::new();
    };
    let mut rows: Vec<(usize, u32)> = Vec::new();
    for scheme in &summary.schemes {
        let Some(tried) = Tried::of(summary, goals, scheme) else {
            continue;
        };
        let limits = tried.limits();
        let far = |at: usize| limits.iter().map(|limit| limit.abs_diff(at)).min();
        let own = tried.values.iter().enumerate();
        rows.extend(own.map(|(at, (_, judged))| (far(at).unwrap_or(at), judged.row)));
    }
    rows.sort_unstable();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Steps of a range that are looked at; of longer ranges not every step was tried.
const STEPS: u64 = 100_000;
/// Values that are listed; more would bury the answer.
const LISTED: usize = 12;
