//! An axis of a figure in a paper.

use crate::figure::Axis;

/// An axis as in the paper.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GivenAxis {
    pub(super) label: String,
    /// None for one that fits.
    pub(super) unit: Option<String>,
    /// Both ends, in that unit; `None` if the data determine them.
    pub(super) range: Option<(f64, f64)>,
    pub(super) log: bool,
}

impl GivenAxis {
    /// The axis of a description. If the description has no label, `otherwise` gives one.
    pub(super) fn of(axis: &claims::PanelAxis, otherwise: impl FnOnce() -> String) -> Self {
        Self {
            label: axis.label.clone().unwrap_or_else(otherwise),
            unit: axis.unit.clone(),
            range: axis.range,
            log: axis.log,
        }
    }

    /// The axis, in a unit of this name.
    pub(super) fn axis(&self, unit: &str) -> Axis {
        Axis {
            log: self.log,
            range: self.range.filter(|range| !self.log || range.0 > 0.0),
            ..Axis::new(self.label.clone(), unit)
        }
    }
}
