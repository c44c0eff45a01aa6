//! The table of collectives.

use results::Row;
use sim::metrics::{CollectiveMetrics, HeldUp};

use crate::data::Data;
use crate::units;

/// The collectives of every row and group.
pub(super) struct Collectives {
    pub(super) rows: Vec<CollectiveRow>,
    /// Whether groups tell them apart.
    pub(super) grouped: bool,
    /// Whether they are few enough to be shown at once.
    pub(super) open: bool,
}

pub(super) struct CollectiveRow {
    pub(super) place: String,
    pub(super) scheme: String,
    pub(super) group: String,
    pub(super) mean: String,
    pub(super) over_ideal: String,
    pub(super) slowest: String,
    pub(super) step: String,
    pub(super) flow: String,
    pub(super) hosts: String,
    pub(super) took: String,
    pub(super) ideal: String,
}

/// All collectives; empty where there are none.
pub(super) fn table(data: &Data<'_>) -> Collectives {
    let mut rows = Vec::new();
    for (run, row) in data.rows() {
        let of_row = row.collectives.iter();
        rows.extend(of_row.map(|one| line(row, one, data.label(&row.scheme, run))));
    }
    Collectives {
        grouped: rows.iter().any(|row: &CollectiveRow| !row.group.is_empty()),
        open: rows.len() <= 12,
        rows,
    }
}

fn line(row: &Row, one: &CollectiveMetrics, scheme: String) -> CollectiveRow {
    let time = |us: f64| units::amount("round_max_us", us, us);
    let known = |value: f64, text: &dyn Fn(f64) -> String| match value {
        value if value.is_finite() => text(value),
        _ => String::new(),
    };
    let held = one.held_up.as_ref();
    let of_held = |text: &dyn Fn(&HeldUp) -> String| held.map_or_else(String::new, text);
    CollectiveRow {
        place: units::short_place(&row.set),
        scheme,
        group: one.group.clone(),
        mean: known(one.mean_us, &time),
        over_ideal: known(one.over_ideal(), &|over| format!("{over:.2}")),
        slowest: known(one.slowest_us, &time),
        step: of_held(&|held| format!("{} of {}", held.step + 1, held.steps)),
        flow: of_held(&|held| held.flow.to_string()),
        hosts: of_held(&|held| format!("{} to {}", held.sender, held.receiver)),
        took: of_held(&|held| time(held.took_us)),
        ideal: of_held(&|held| time(held.ideal_us)),
    }
}
