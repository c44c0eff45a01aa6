//! How far collectives were from their ideal time, and which message held the slowest one up.

use results::{Row, Summary};
use sim::metrics::CollectiveMetrics;

use crate::words::{place, three_digits, time};

/// A sentence for each of the first rows with collectives.
pub(super) fn sentences(summary: &Summary) -> Vec<String> {
    let rows = summary.rows.iter();
    let all = rows.flat_map(|row| row.collectives.iter().map(move |one| (row, one)));
    let told = all.filter_map(|(row, one)| sentence(row, one));
    told.take(MOST).collect()
}

/// `The slowest collective of dctcp took 9.2 ms, 1.02 times its ideal 9.03 ms: step 3 of 14, ...`.
fn sentence(row: &Row, one: &CollectiveMetrics) -> Option<String> {
    let held = one.held_up.as_ref()?;
    let at = match place(row) {
        at if at.is_empty() => at,
        at => format!(" at {at}"),
    };
    let group = match one.group.as_str() {
        "" => String::new(),
        group => format!(" in {group}"),
    };
    Some(format!(
        "The slowest collective{group} of {}{at} took {}, {} times its ideal {}. Flow {} from host {} to host {} in step {} of {} \
         held it up most: {} where {} are ideal.",
        row.scheme,
        time(one.slowest_us),
        three_digits(one.slowest_us / one.ideal_us),
        time(one.ideal_us),
        held.flow,
        held.sender,
        held.receiver,
        held.step + 1,
        held.steps,
        time(held.took_us),
        time(held.ideal_us),
    ))
}

/// Rows that are told of; the table and the page have all.
const MOST: usize = 6;
