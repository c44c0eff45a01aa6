//! The outcome of pauses of switches: a deadlock, losses all the same, or no pause at all.

use base::Sort as _;
use base::cast::count;
use results::{Row, Summary};

use crate::words::{amount, averaged, bytes, list, named, rounded};

/// Sentences that a user of lossless switches must read before any other result.
pub(super) fn sentences(summary: &Summary) -> Vec<String> {
    let sentences = [
        deadlock(summary),
        lossy(summary),
        bystanders(summary),
        unused(summary),
    ];
    sentences.into_iter().flatten().collect()
}

/// The first deadlock with its cycle, and the number of deadlocks.
fn deadlock(summary: &Summary) -> Option<String> {
    let stuck = || {
        summary
            .points
            .iter()
            .filter(|point| !point.deadlock.is_empty())
    };
    let first = stuck().next()?;
    let row = summary.rows.get(first.row as usize)?;
    let all = summary.points.len();
    let often = match stuck().count() {
        number if number == all => "in every run".to_owned(),
        number => format!(
            "in {} of {} runs",
            amount(count(number)),
            amount(count(all))
        ),
    };
    Some(format!(
        "Deadlock {often}, first with {}: {}. Each is paused by packets that wait at the next, for good.",
        named(row),
        first.deadlock
    ))
}

/// Lossless packets that were lost.
fn lossy(summary: &Summary) -> Option<String> {
    let lost = |row: &&Row| row.value("drops_headroom") > 0.0;
    let most = summary.rows.iter().filter(lost).max_by(|one, other| {
        let lost = |row: &Row| row.value("drops_headroom");
        lost(one).total_cmp(&lost(other))
    })?;
    Some(format!(
        "Not lossless: {} packets of {} came in after a pause and found switch.pfc_headroom full.",
        amount(most.value("drops_headroom")),
        named(most)
    ))
}

/// Connections that waited for pauses although the port that they went on to was idle, in the row with most of them,
/// and their groups.
fn bystanders(summary: &Summary) -> Option<String> {
    let held = |row: &&Row| row.value("pfc_victims") > 0.0;
    let rows: Vec<&Row> = summary.rows.iter().filter(held).collect();
    let most = rows.iter().rev().max_by(|one, other| {
        let held = |row: &Row| row.value("pfc_victims");
        held(one).total_cmp(&held(other))
    })?;
    let groups = most.groups.keys().filter_map(|group| {
        let held = most.estimate(Some(group), "pfc_victims")?.mean?;
        (held > 0.0).then(|| format!("{} of {group}", rounded(held)))
    });
    let groups: Vec<String> = groups.collect();
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let groups = match list(&groups) {
        groups if groups.is_empty() => groups,
        groups => format!(" ({groups})"),
    };
    let most_of_all = if rows.len() > 1 {
        ", the most of all rows"
    } else {
        ""
    };
    Some(format!(
        "Pauses of {} held up {} although nothing waited at the port that they went on to{groups}{most_of_all}.",
        named(most),
        averaged(most.value("pfc_victims"), "connection"),
    ))
}

/// Rows without a pause, and how close they came to one.
fn unused(summary: &Summary) -> Option<String> {
    let unused = |row: &&Row| row.value("pfc_pauses").abs() < f64::EPSILON;
    let mut rows: Vec<&Row> = summary.rows.iter().filter(unused).collect();
    let margin = |row: &&Row| row.value("pfc_margin_bytes");
    rows.order_by(|one, other| margin(one).total_cmp(&margin(other)));
    let nearest = rows.first()?;
    let missed = bytes(margin(nearest));
    Some(match rows.len() {
        1 => format!(
            "PFC never paused with {}: the threshold was missed by {missed}.",
            named(nearest)
        ),
        _ if rows.len() == summary.rows.len() => format!(
            "PFC never paused: the threshold was missed by {missed} with {}, elsewhere by more.",
            named(nearest)
        ),
        _ => {
            let names: Vec<String> = rows.iter().map(|row| named(row)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!(
                "PFC never paused with {}: the threshold was missed by at least {missed}.",
                list(&names)
            )
        }
    })
}
