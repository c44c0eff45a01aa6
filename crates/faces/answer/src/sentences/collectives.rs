//! How far collectives were from their ideal time, and which message held up the slowest most.

use results::{Row, Summary};
use sim::metrics::CollectiveMetrics;

use crate::words::{place, three_digits, time};

/// A sentence for the collective with the longest time over its ideal; a table has all.
pub(super) fn sentence(summary: &Summary) -> Option<String> {
    let over = |one: &CollectiveMetrics| one.slowest_us / one.ideal_us;
    let rows = summary.rows.iter();
    let all = rows.flat_map(|row| row.collectives.iter().map(move |one| (row, one)));
    let complete = all.filter(|(_, one)| one.held_up.is_some());
    let (row, one) = complete.max_by(|(_, one), (_, other)| over(one).total_cmp(&over(other)))?;
    told(row, one)
}

/// `The slowest collective, with dctcp, took 9.2 ms, 1.02 times its ideal 9.03 ms: step 3 of 14, ...`.
fn told(row: &Row, one: &CollectiveMetrics) -> Option<String> {
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
        "The slowest collective{group}, with {}{at}, took {}, {} times its ideal {}. Flow {} from host {} to host {} in step {} \
         of {} held it up most: {} where {} are ideal.",
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
