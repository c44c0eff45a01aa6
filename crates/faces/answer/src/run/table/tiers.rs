//! The tiers of ports of the most telling row, as a table below the answer.

use results::{Row, Summary, Tier};

use super::column::{bytes, count};
use crate::layout;
use base::cast::real;

/// The tiers of a row.
pub(super) struct Tiers {
    /// Which row it is.
    pub(super) title: String,
    /// A line for each tier, with its worst port, below a header.
    pub(super) lines: String,
}

/// `None` in a network with a single tier of switches.
pub(super) fn tiers(summary: &Summary) -> Option<Tiers> {
    let row = results::worst_tiers(summary)?;
    let header = ["tier", "drops", "worst port", "its drops", "its queue max"].map(str::to_owned);
    let lines: Vec<Vec<String>> = [header]
        .into_iter()
        .chain(row.tiers.iter().map(line))
        .map(Vec::from)
        .collect();
    // All but the names are numbers.
    let lines = layout::aligned(&lines, "  ", |column| ![0, 2].contains(&column));
    Some(Tiers {
        title: title(summary, row),
        lines,
    })
}

/// Which row it is, and why it was chosen.
fn title(summary: &Summary, row: &Row) -> String {
    let set = row
        .set
        .iter()
        .map(|(key, value)| format!("{key} = {value}"));
    let at: Vec<String> = set.collect();
    let at = match at.join(", ") {
        at if at.is_empty() => at,
        at => format!(" at {at}"),
    };
    let means = if summary.seeds > 1 {
        "; drops of the worst port of each seed, on average"
    } else {
        ""
    };
    if summary.rows.len() == 1 {
        return format!("Ports by tier{means}:");
    }
    let lossy = row.tiers.iter().any(|tier| tier.drops > 0.0);
    let why = if lossy {
        "most drops"
    } else {
        "the longest queue"
    };
    format!(
        "Ports by tier in the row with {why}, {}{at}{means}:",
        row.scheme
    )
}

fn line(tier: &Tier) -> [String; 5] {
    let queue = real(tier.worst_queue_max_bytes);
    [
        tier.tier.clone(),
        count(tier.drops),
        tier.worst.clone(),
        count(tier.worst_drops),
        bytes(queue),
    ]
}
