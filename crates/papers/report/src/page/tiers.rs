//! The table of tiers of ports.

use crate::data::Data;
use crate::units;
use base::cast::real;

/// The tiers of ports of every row.
pub(super) struct Tiers {
    pub(super) rows: Vec<TierRow>,
    /// Whether they are few enough to be shown at once.
    pub(super) open: bool,
}

pub(super) struct TierRow {
    pub(super) place: String,
    pub(super) scheme: String,
    pub(super) tier: String,
    pub(super) drops: String,
    pub(super) worst: String,
    pub(super) worst_drops: String,
    pub(super) queue: String,
    /// Whether a new row of the sweep begins here.
    pub(super) first: bool,
}

/// Every tier of every row.
pub(super) fn table(data: &Data<'_>) -> Tiers {
    let mut rows = Vec::new();
    for (run, row) in data.rows() {
        for (index, tier) in row.tiers.iter().enumerate() {
            let queue = real(tier.worst_queue_max_bytes) / 1e3;
            rows.push(TierRow {
                place: units::short_place(&row.set),
                scheme: data.label(&row.scheme, run),
                tier: tier.tier.clone(),
                drops: units::number(tier.drops, 3),
                worst: tier.worst.clone(),
                worst_drops: units::number(tier.worst_drops, 3),
                queue: format!("{} KB", units::number(queue, 3)),
                first: index == 0,
            });
        }
    }
    Tiers {
        open: rows.len() <= 8,
        rows,
    }
}
