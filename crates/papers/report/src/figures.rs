//! Which figures a run has.

pub(crate) mod causes;
pub(crate) mod distribution;
pub(crate) mod drops;
pub(crate) mod flows;
pub(crate) mod scales;
pub(crate) mod slowdown;
mod stacked;
pub(crate) mod swept;
pub(crate) mod time;

use crate::data::Data;
use crate::figure::Figure;

/// Every figure, in the order of the report; views of one chart follow each other.
///
/// A single row has nothing to be compared with: its report shows the course of the run, and leaves single numbers to
/// the table.
pub(crate) fn all(data: &Data<'_>) -> Vec<Figure> {
    let alone = data.rows().count() == 1;
    let mut figures = Vec::new();
    if alone {
        figures.extend(flows::all(data));
        figures.extend(causes::all(data));
        figures.extend(drops::all(data));
        figures.extend(time::queue(data));
        figures.extend(time::others(data));
        figures.extend(distribution::all(data));
        figures.extend(slowdown::all(data));
    } else {
        figures.extend(swept::completion(data));
        figures.extend(causes::all(data));
        figures.extend(distribution::all(data));
        figures.extend(slowdown::all(data));
        figures.extend(time::queue(data));
        figures.extend(swept::counts(data));
        figures.extend(drops::all(data));
        figures.extend(flows::all(data));
        figures.extend(time::others(data));
    }
    figures.retain(|figure| !figure.is_empty());
    figures
}
