//! How a figure is drawn.

use serde::{Deserialize, Serialize};

use super::claim::At;
use super::leaf;
use super::measure::{FlowSizes, Measure};
use super::unit::Level;

/// One panel of a figure.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// What is drawn.
    pub kind: PlotKind,
    /// The subject, as in `(a) Mean queue`; empty if the figure's title says it.
    #[serde(default)]
    pub title: String,
    /// How to read it, in sentences; empty if the axes say it.
    #[serde(default)]
    pub caption: String,
    /// The horizontal axis.
    #[serde(default)]
    pub x: PanelAxis,
    /// The vertical axis.
    #[serde(default)]
    pub y: PanelAxis,
    /// Values of swept settings at which it is drawn; settings not listed are on the axis or give lines of their own.
    #[serde(default, deserialize_with = "leaf::at")]
    pub at: At,
    /// The schemes drawn, in order; empty for all of the scenario.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Lines: each is drawn for each scheme.
    pub lines: Vec<PanelLine>,
    /// The figure of the same paper whose runs it shows; `None` for its own experiment's runs.
    pub run: Option<String>,
    /// The points of the paper's own figure, by scheme, in the units of the axes.
    #[serde(default, deserialize_with = "leaf::points")]
    pub paper: Vec<(String, Vec<(f64, f64)>)>,
}

/// The content of a panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlotKind {
    /// A measure over the values of a swept setting, with the interval over the seeds.
    #[default]
    Sweep,
    /// The distribution of a measure without a statistic: of flows, or of a series over time.
    Cdf,
    /// A series over simulated time, of the first seed.
    Time,
    /// One bar for each scheme, in groups by line or by value of an axis.
    Bars,
}

/// An axis of a panel.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelAxis {
    /// The swept setting on the horizontal axis of a sweep; `None` if there is only one.
    pub key: Option<String>,
    /// The label without the unit; `None` if the setting or the measure gives it.
    pub label: Option<String>,
    /// The unit; `None` for a fitting one.
    pub unit: Option<String>,
    /// Both ends in that unit, if the data should not determine them.
    #[serde(default, deserialize_with = "leaf::range")]
    pub range: Option<(f64, f64)>,
    /// Logarithmic rather than linear.
    #[serde(default)]
    pub log: bool,
    /// Sizes of flows in place of a swept setting, ascending. Each place shows flows larger than the size before and up
    /// to this one.
    #[serde(default, deserialize_with = "leaf::sizes")]
    pub sizes: Vec<Level>,
}

impl Plot {
    /// This panel in bytes, for [`Plot::of_bytes`] of the same version.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("memory does not fail")
    }

    /// A panel from its bytes; `None` if another version wrote them.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// All measures of its lines.
    pub fn measures(&self) -> impl Iterator<Item = &Measure> {
        let lines = self.lines.iter();
        lines
            .flat_map(|line| [Some(&line.measure), line.low.as_ref(), line.high.as_ref()])
            .flatten()
    }
}

impl PanelAxis {
    /// The sizes of the flows at each place of its axis.
    pub fn size_classes(&self) -> Vec<FlowSizes> {
        let zero = Level {
            value: 0.0,
            unit: "B".to_owned(),
        };
        let before = [&zero].into_iter().chain(&self.sizes);
        let classes = before.zip(&self.sizes).map(|(above, up_to)| FlowSizes {
            above: above.clone(),
            up_to: Some(up_to.clone()),
        });
        classes.collect()
    }
}

/// A line of the panel, drawn for each scheme.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelLine {
    /// The measure.
    pub measure: Measure,
    /// The lower end of the bar at each point, such as a percentile; `None` for the interval over seeds.
    pub low: Option<Measure>,
    /// Its upper end.
    pub high: Option<Measure>,
    /// The label that distinguishes it from other lines of the panel; empty if there is only one.
    #[serde(default)]
    pub label: String,
    /// The schemes for which it is drawn; empty for all schemes of the panel.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// Values of swept settings at which it is drawn, in addition to the panel's.
    #[serde(default, deserialize_with = "leaf::at")]
    pub at: At,
}

impl PanelLine {
    /// The same line for flows of these sizes.
    #[must_use]
    pub fn of_sizes(&self, sizes: &FlowSizes) -> Self {
        let of = |measure: &Measure| measure.of_sizes(sizes);
        Self {
            measure: of(&self.measure),
            low: self.low.as_ref().map(of),
            high: self.high.as_ref().map(of),
            ..self.clone()
        }
    }
}
