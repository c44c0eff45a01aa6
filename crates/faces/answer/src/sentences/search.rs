//! The points that a search along one axis tried, and its result.

use results::{GoalState, Goals, Summary, TriedValues};

use crate::words::{averaged, list, pronoun, shown};

/// The result of a search for a scheme.
pub(super) fn sentence(summary: &Summary, goals: &Goals, scheme: &str) -> Option<String> {
    let tried = TriedValues::of(summary, goals, scheme)?;
    let (axis, it) = (tried.axis, pronoun(goals));
    let of = if summary.schemes.len() > 1 {
        format!(" for {scheme}")
    } else {
        String::new()
    };
    let all = listed(&tried);
    let value = |at: usize| tried.values[at].0;
    let Some((first, last)) = tried.met() else {
        let open = (0..tried.values.len()).find(|at| tried.standing(*at) == GoalState::Open);
        let open = open.map_or_else(String::new, |at| format!(": {}", not_met(&tried, at)));
        return Some(format!(
            "None of {all} of {axis} that were tried meets {it}{of}{open}."
        ));
    };
    // A search does not try values beyond the limit.
    let again = (last + 1..tried.values.len()).find(|at| tried.standing(*at) == GoalState::Met);
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
            not_met(&tried, first - 1)
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
        let not = not_met(&tried, last + 1);
        format!("{met}: {not}; {all} were tried{again}.")
    } else {
        format!(
            "Both ends of the range of {axis} meet {it}{of}: {} and {}; nothing between them was tried.",
            value(first),
            value(last)
        )
    })
}

/// `60 misses it (fct_p99 = 5.2 ms)`, or that it is open.
fn not_met(tried: &TriedValues<'_>, at: usize) -> String {
    let (value, judged) = tried.values[at];
    let missed = tried.goals.goals.iter().zip(&judged.verdicts);
    let mut missed = missed.filter(|(_, verdict)| verdict.standing == judged.standing);
    let why = missed.next().and_then(|(goal, verdict)| {
        let text = shown(&goal.metric, verdict.value?, goal.threshold);
        Some(format!("{} = {text}", goal.subject()))
    });
    let it = pronoun(tried.goals);
    match (judged.standing, why) {
        (GoalState::Open, Some(why)) => {
            format!("{value} is open ({why}; its 95 % interval contains the threshold)")
        }
        (GoalState::Open, None) => {
            format!("{value} is open (too few values for a percentile)")
        }
        (_, Some(why)) => format!("{value} misses {it} ({why})"),
        (_, None) => format!("{value} misses {it}"),
    }
}

/// The tried values, if they are few.
fn listed(tried: &TriedValues<'_>) -> String {
    let number = f64::from(u32::try_from(tried.values.len()).unwrap_or(u32::MAX));
    let values: Vec<&str> = tried.values.iter().map(|(value, _)| *value).collect();
    if values.len() > LISTED {
        return averaged(number, "value");
    }
    format!("{} ({})", averaged(number, "value"), list(&values))
}

/// The most values that are listed; more would bury the answer.
const LISTED: usize = 12;
