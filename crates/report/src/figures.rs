//! Which figures a run has.

mod distribution;
mod flows;
mod swept;
mod time;

use crate::data::Data;
use crate::figure::Figure;

/// Every figure, in the order of the report; views of one chart follow each other.
pub(crate) fn all(data: &Data<'_>) -> Vec<Figure> {
    let mut figures = swept::completion(data);
    figures.extend(distribution::all(data));
    figures.extend(time::queue(data));
    figures.extend(swept::counts(data));
    figures.extend(flows::all(data));
    figures.extend(time::others(data));
    figures.retain(|figure| !figure.is_empty());
    figures
}
