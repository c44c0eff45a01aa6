//! Whether timers show why a scheme is behind.

use super::standing::{Measure, Standing};
use super::words::{counted, place, rounded, set_time};
use crate::row::Row;

/// What timers cost, at the last point where they tell the leader from the next best, or a scheme that
/// is alone, if they are long enough to be seen in the tail.
pub(super) fn sentence(standings: &[Standing<'_>]) -> Option<String> {
    let told = standings.iter().rev().find_map(|standing| {
        if standing.measure != Measure::Tail {
            return None;
        }
        let leader = standing.leaders[0];
        match standing.behind.first() {
            Some(next) if standing.winner().is_some() => {
                let more = timers(next) > timers(leader);
                (more && shows(next)).then_some((*next, Some(leader)))
            }
            None if standing.leaders.len() == 1 => shows(leader).then_some((leader, None)),
            _ => None,
        }
    });
    let (row, leader) = told?;
    let at = match place(row) {
        place if place.is_empty() => place,
        place => format!("At {place} "),
    };
    let beside = leader.map_or_else(String::new, |leader| {
        let waits = match timers(leader) {
            none if none <= 0.0 => "for none".to_owned(),
            some => format!("for {}", rounded(some)),
        };
        format!(", {} {waits}", leader.scheme)
    });
    Some(format!("{at}{} {}{beside}.", row.scheme, waits(row)))
}

/// Timers of the handshake and of data that expired in a run.
fn timers(row: &Row) -> f64 {
    row.value("timeouts") + handshakes(row)
}

/// Timers of the handshake.
fn handshakes(row: &Row) -> f64 {
    row.value("syn_timeouts")
}

/// Whether so many flows waited for a timer, and so long, that the 99th percentile is one of them.
fn shows(row: &Row) -> bool {
    let Some(waits) = row.waits else {
        return false;
    };
    let wait = if row.value("timeouts") > 0.0 {
        waits.rto_us
    } else {
        waits.syn_rto_us
    };
    timers(row) >= 0.01 * row.value("flows_completed") && row.value("fct_p99_us") >= wait
}

/// "waited for 2 retransmission timers of at least 200 ms for lost last segments".
fn waits(row: &Row) -> String {
    let (data, syns) = (row.value("timeouts"), handshakes(row));
    let waits = row.waits.expect("a cause shows only where waits are known");
    let mut parts = Vec::new();
    if data > 0.0 {
        let timers = counted(data, "retransmission timer");
        // A few lost tails among many timers are not what shows.
        let tail = match row.value("tail_timeouts") {
            all if all >= data => " for lost last segments".to_owned(),
            most if most * 2.0 >= data => {
                format!(", {} of them for lost last segments", rounded(most))
            }
            _ => String::new(),
        };
        let least = set_time(waits.rto_us);
        parts.push(format!("{timers} of at least {least}{tail}"));
    }
    if syns > 0.0 {
        let timers = counted(syns, "handshake timer");
        // The timer of a packet that is lost again is twice as long.
        let least = if syns > 1.0 { "at least " } else { "" };
        parts.push(format!("{timers} of {least}{}", set_time(waits.syn_rto_us)));
    }
    format!("waited for {}", parts.join(" and for "))
}
