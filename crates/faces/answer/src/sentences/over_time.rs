//! Metrics over the whole time of a run that say less than they seem to: because of idle time, or of a few late flows.

use results::{Row, Summary};

use crate::words::{averaged, percent, place, rate};

/// Whether goodput, and perhaps the queue over time, mainly show idle time or a few late flows.
pub(super) fn sentence(summary: &Summary) -> Option<String> {
    if summary.is_mostly_idle() {
        let most = summary.rows.iter().map(|row| row.value("active"));
        let active = percent(most.fold(0.0, f64::max));
        return Some(format!(
            "Flows were under way for {active} of the time, so goodput and the queue over time say little and \
             are not shown; --columns all shows them."
        ));
    }
    let late = summary.rows.iter().filter(|row| row.has_stragglers(None));
    let late: Vec<&Row> = late.collect();
    let ratio = |row: &Row| row.value("goodput_p50_bps") / row.value("goodput_bps");
    let row = late.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let at = match place(row) {
        place if place.is_empty() => place,
        place => format!(" at {place}"),
    };
    let more = match u32::try_from(late.len() - 1) {
        Ok(0) | Err(_) => String::new(),
        Ok(more) => format!("; so it is in {}", averaged(more.into(), "more row")),
    };
    Some(format!(
        "The goodput of {}{at} is mostly the wait of a few flows for timers: {}, but {} until half of them were \
         complete{more}.",
        row.scheme,
        rate(row.value("goodput_bps")),
        rate(row.value("goodput_p50_bps"))
    ))
}
