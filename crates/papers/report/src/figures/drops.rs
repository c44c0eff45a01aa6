//! Dropped packets by cause, as stacked bars.

use results::Row;

use super::scales::same_scale;
use super::stacked::Stacked;
use super::swept::{Multiples, Sweep};
use crate::data::Data;
use crate::figure::Figure;

/// Every combination of settings as a figure.
pub(super) fn all(data: &Data<'_>) -> Vec<Figure> {
    let panels = views(data).into_iter();
    let panels = panels.flat_map(|view| view.panels.into_iter().rev());
    panels.map(|(_, figure)| figure).collect()
}

/// The only view; `None` if no drop has a counted cause, because then all drops are of full queues or queue
/// disciplines.
pub(crate) fn views(data: &Data<'_>) -> Vec<Multiples> {
    let is_counted = |row: &Row| CAUSES.iter().any(|(column, ..)| row.value(column) > 0.0);
    if !data.rows().any(|(_, row)| is_counted(row)) {
        return Vec::new();
    }
    let sweep = Sweep::of(data, None);
    let rests = sweep.rests.iter();
    let panels = rests.filter_map(|rest| {
        let figure = STACKED.figure(data, (&sweep, rest), &by_cause)?;
        Some((sweep.label(data, rest), figure))
    });
    let mut panels: Vec<_> = panels.collect();
    same_scale(&mut panels);
    vec![Multiples {
        place: STACKED.place,
        title: STACKED.title,
        choice: String::new(),
        panels,
    }]
}

/// The drops by cause; the first part has the drops without a counted cause.
fn by_cause(row: &Row) -> Option<Vec<f64>> {
    let mean = |metric: &str| row.metrics.get(metric)?.mean;
    let counted = CAUSES.iter();
    let counted = counted.map(|(column, ..)| mean(column).unwrap_or(0.0));
    let counted: Vec<f64> = counted.collect();
    let rest = mean("drops")? - counted.iter().sum::<f64>();
    Some([rest.max(0.0)].into_iter().chain(counted).collect())
}

/// Columns of causes, each with its name in the legend, its colour and its opacity.
const CAUSES: [(&str, &str, (usize, u8)); 8] = [
    ("drops_pool", "shared buffer full", (1, 100)),
    ("drops_threshold", "share of the buffer full", (0, 100)),
    ("drops_headroom", "headroom full", (3, 100)),
    ("drops_link_down", "link down", (4, 100)),
    ("drops_restart", "switch restarted", (2, 100)),
    ("drops_host_gone", "host gone", (5, 100)),
    ("drops_lossy", "random loss", (4, 45)),
    ("drops_corrupt", "damaged", (5, 45)),
];

const STACKED: Stacked<'static> = Stacked {
    place: "drop-causes",
    title: "Dropped packets by cause",
    choice: "",
    label: "Dropped packets",
    unit: "",
    caption: "Packets that were dropped, by what they were dropped for. With several seeds the bars are means.",
    parts: &PARTS,
};

const PARTS: [(&str, (usize, u8)); 9] = {
    let mut parts = [("queue full or discipline", (6, 100)); 9];
    let mut index = 0;
    while index < CAUSES.len() {
        parts[index + 1] = (CAUSES[index].1, CAUSES[index].2);
        index += 1;
    }
    parts
};
