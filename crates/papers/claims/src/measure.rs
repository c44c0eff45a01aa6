//! The measures of claims and plots.

use plan::series;
use serde::{Deserialize, Serialize};

use super::columns::{self, GOODPUT, SEGMENTS, THROUGHPUT, flow_columns, port_columns, unit_of};
use super::leaf;
use super::model::{self, PaperEquation};
use super::unit::{Dimension, Level};

/// A number of every simulation, or a distribution or series if it has no statistic.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// The column it is made from.
    pub of: Of,
    /// The statistic over the column's values. `None` for a metric or a model, which are one number, and for a CDF or a
    /// plot over time, which draw all values.
    pub statistic: Option<Statistic>,
    /// If set, the measure is not the number itself. It is the share by which the number is lower than the number of
    /// this scheme at the same values of swept settings and with the same seed.
    pub reduction_from: Option<String>,
}

/// A name from a list of the program: of metrics, columns, series, events or equations.
pub type Name = &'static str;

/// Where values come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Of {
    /// A metric of `summary.json`.
    Metric(#[serde(deserialize_with = "columns::metric")] Name),
    /// A column of `flows.parquet`: one value for each flow.
    Flows {
        /// Its name; `throughput_bps`, `goodput_bps` and `segments` are computed from others.
        #[serde(deserialize_with = "columns::flow_column")]
        column: Name,
        /// Only these flows.
        #[serde(default)]
        chosen: ChosenFlows,
        /// The weight of each flow.
        #[serde(default)]
        weight: FlowWeight,
        /// Instead of one value for each flow, this statistic of the flows of each sending host.
        each_sender: Option<Box<Statistic>>,
    },
    /// A column of `ports.parquet`: one value for each port.
    Ports {
        /// Its name.
        #[serde(deserialize_with = "columns::port_column")]
        column: Name,
        /// Only these ports.
        #[serde(default, rename = "port")]
        place: PortSelector,
    },
    /// A column of `series.parquet`: a value over time for each port, flow or host.
    Series {
        /// Its name.
        #[serde(deserialize_with = "columns::quantity")]
        column: Name,
        /// Only these ports. If the column is about ports, the default is the bottleneck.
        #[serde(default, rename = "port")]
        place: PortSelector,
        /// Only flows of this group.
        group: Option<String>,
        /// Only this flow.
        flow: Option<u32>,
        /// Only this host.
        host: Option<u32>,
        /// Only this stretch of time.
        #[serde(default)]
        during: Stretch,
        /// Replaces values by means over this many microseconds; `None` for the values as recorded.
        #[serde(default, rename = "window", deserialize_with = "leaf::microseconds")]
        window_us: Option<f64>,
        /// The statistic over several ports, flows or hosts.
        #[serde(default)]
        across: Statistic,
        /// What its values count for.
        #[serde(default)]
        weight: Weight,
        /// If set, the measure is the distance of the statistic from the same statistic of this other column.
        #[serde(default, deserialize_with = "columns::other_quantity")]
        apart_from: Option<Name>,
    },
    /// Events of flows: the times between consecutive events of the same flow, or the number of events.
    Events {
        /// The kinds of events that count.
        #[serde(rename = "column", deserialize_with = "columns::events")]
        kinds: Vec<Name>,
        /// Only events of flows of this group.
        group: Option<String>,
    },
    /// An equation of a paper, from the settings of the simulation.
    Model {
        /// Its name.
        #[serde(rename = "column", deserialize_with = "columns::equation")]
        name: Name,
        /// The size of the flow in the equation; `None` if the equation has no flow, or takes the sizes on a plot's
        /// axis.
        #[serde(default, deserialize_with = "leaf::one_size")]
        size: Option<Level>,
    },
}

/// Flows.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChosenFlows {
    /// Only flows of this group.
    pub group: Option<String>,
    /// Only flows of these sizes.
    #[serde(rename = "size")]
    pub sizes: Option<FlowSizes>,
    /// Only flows that completed in this cluster.
    pub cluster: Option<Cluster>,
    /// Only flows that start no earlier than the begin of this stretch and complete by its end.
    pub during: Option<Stretch>,
    /// Only flows that also complete (within the stretch, if there is one) under each of these schemes: the flows with
    /// the same numbers, at the same values of swept settings and with the same seed.
    pub common_to: Vec<String>,
}

/// How much each flow counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowWeight {
    /// Once.
    #[default]
    #[serde(rename = "flows")]
    Flow,
    /// Each flow counts as often as it has bytes of payload, so that a mean is a mean over bytes. Flows without end
    /// have no weight and are left out.
    Bytes,
}

/// Sizes of flows; flows without end are larger than any.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FlowSizes {
    /// The smallest, exclusive.
    pub above: Level,
    /// The largest size, inclusive; `None` for no upper bound.
    pub up_to: Option<Level>,
}

impl Measure {
    /// A statistic of a column's values, or the values themselves.
    pub fn new(of: Of, statistic: Option<Statistic>) -> Self {
        Self {
            of,
            statistic,
            reduction_from: None,
        }
    }

    /// The same measure for flows of other sizes, or for an equation at the largest of these sizes.
    #[must_use]
    pub fn of_sizes(&self, new: &FlowSizes) -> Self {
        let mut measure = self.clone();
        match &mut measure.of {
            Of::Flows { chosen, .. } => chosen.sizes = Some(new.clone()),
            Of::Model { size, .. } => size.clone_from(&new.up_to),
            _ => {}
        }
        measure
    }

    /// The lower bound of its values: 0 for counts, times, lengths and rates. There is none for reductions, equations
    /// and errors that roles report, which may be negative.
    pub fn least(&self) -> f64 {
        let signed = match &self.of {
            Of::Metric(_) | Of::Flows { .. } | Of::Ports { .. } | Of::Events { .. } => false,
            Of::Series {
                column, apart_from, ..
            } => apart_from.is_some() || column.contains("error"),
            Of::Model { .. } => true,
        };
        if signed || self.reduction_from.is_some() {
            f64::NEG_INFINITY
        } else {
            0.0
        }
    }

    /// The upper bound of its values. Shares and Jain's index are at most 1; so are reductions of values that are not
    /// negative.
    pub fn greatest(&self) -> f64 {
        match self.statistic {
            _ if self.reduction_from.is_some() => 1.0,
            Some(Statistic::Share { .. } | Statistic::Jain) => 1.0,
            _ => f64::INFINITY,
        }
    }

    /// The same measure of a series, with another weight for its values.
    #[must_use]
    pub fn weighted(&self, new: Weight) -> Self {
        let mut measure = self.clone();
        if let Of::Series { weight, .. } = &mut measure.of {
            *weight = new;
        }
        measure
    }

    /// The same measure with completion times that end at the sender, with the ACK of the last byte.
    #[must_use]
    pub fn told_by_senders(&self) -> Self {
        let mut measure = self.clone();
        if let Of::Flows { column, .. } = &mut measure.of
            && *column == "fct_us"
        {
            *column = "acknowledged_us";
        }
        measure
    }
}

/// Ports.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PortSelector {
    /// The node of the port, as in `switch 2`; `switch` is any switch.
    #[serde(deserialize_with = "leaf::node")]
    pub from: Option<String>,
    /// The node at the other end of its wire, as in `host 0`.
    #[serde(deserialize_with = "leaf::node")]
    pub to: Option<String>,
    /// Only the bottleneck, whose queue the metrics describe.
    pub bottleneck: bool,
}

/// Flows whose completions follow each other closely: one step of a CDF.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Two completions further apart than this are in different clusters.
    #[serde(rename = "gap", deserialize_with = "leaf::gap")]
    pub gap_us: f64,
    /// Its number, from 1 in the order of time.
    #[serde(rename = "cluster")]
    pub number: usize,
}

/// The weight of each value of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// As long as it lasts.
    #[default]
    Time,
    /// Each value counts once, however long it lasts, as in a list with a line for each change.
    Change,
}

/// A stretch of simulated time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Stretch {
    /// Its begin; `None` for the first start of a flow.
    pub from: Option<Moment>,
    /// Its end; `None` for the last completion of a flow, or the end of the simulation if no flow completes.
    pub to: Option<Moment>,
}

/// A point in simulated time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Moment {
    /// This many microseconds after the begin of the simulation.
    At(f64),
    /// After this share of `run.duration`, or of the simulated time if it is unlimited.
    Share(f64),
}

/// A statistic of many values. Values of a series are weighted by how long they last.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Statistic {
    /// The mean.
    #[default]
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum.
    Sum,
    /// How many there are.
    Count,
    /// The mean of the squared distances from the mean.
    Variance,
    /// The standard deviation: the root of the variance.
    Deviation,
    /// The least value that this per cent of the values do not exceed.
    Percentile(#[serde(deserialize_with = "leaf::percent")] f64),
    /// One statistic less another, as in `p99 - p1`.
    Difference(Box<Self>, Box<Self>),
    /// The share of the values below `below` or above `above`; for a series, the share of the time.
    Share {
        /// The upper bound, exclusive.
        below: Option<Level>,
        /// The lower bound, exclusive.
        above: Option<Level>,
    },
    /// The number of clusters of values. Values further apart than `gap` are in different clusters.
    Clusters {
        /// The gap.
        gap: Level,
    },
    /// How often a series falls below `below` after it was at or above it.
    Dips {
        /// The level.
        below: Level,
    },
    /// How often a series rises above `above` after it was below `below`.
    Oscillations {
        /// The lower level.
        below: Level,
        /// The upper level.
        above: Level,
    },
    /// The last value of a series minus the first: the increase of a counter.
    Change,
    /// Jain's index of fairness: the square of the sum over the number times the sum of squares.
    Jain,
}

impl Measure {
    /// A metric of the summary.
    pub fn metric(name: &'static str) -> Self {
        Self::new(Of::Metric(name), None)
    }

    /// A series of everything in a column, from the first start to the last completion.
    pub fn series(column: &'static str) -> Self {
        let of = Of::Series {
            column,
            place: PortSelector::default(),
            group: None,
            flow: None,
            host: None,
            during: Stretch::default(),
            window_us: None,
            across: Statistic::Mean,
            weight: Weight::Time,
            apart_from: None,
        };
        Self::new(of, None)
    }

    /// Whether it gives one number for each simulation, rather than a distribution or a series.
    pub fn is_number(&self) -> bool {
        self.statistic.is_some() || matches!(self.of, Of::Metric(_) | Of::Model { .. })
    }

    /// Whether it needs data recorded over time.
    pub const fn is_over_time(&self) -> bool {
        matches!(self.of, Of::Series { .. } | Of::Events { .. })
    }

    /// Whether it is an equation about a flow whose size is not given.
    pub fn needs_size(&self) -> bool {
        match &self.of {
            Of::Model { name, size: None } => {
                model::find(name).is_some_and(PaperEquation::takes_size)
            }
            _ => false,
        }
    }

    /// Other schemes whose simulations it reads.
    pub fn other_schemes(&self) -> impl Iterator<Item = &str> {
        let common: &[String] = match &self.of {
            Of::Flows { chosen, .. } => &chosen.common_to,
            _ => &[],
        };
        let all = self.reduction_from.iter().chain(common);
        all.map(String::as_str)
    }

    /// The column it is made from, or the name of the equation.
    pub fn column(&self) -> &'static str {
        match &self.of {
            Of::Metric(name) | Of::Model { name, .. } => name,
            Of::Flows { column, .. } | Of::Ports { column, .. } | Of::Series { column, .. } => {
                column
            }
            Of::Events { kinds, .. } => kinds.first().copied().unwrap_or_default(),
        }
    }

    /// The unit of the column's values, as `explain results` has it.
    pub fn column_unit(&self) -> &'static str {
        let name = self.column();
        match &self.of {
            Of::Metric(_) => {
                let found = sim::columns::METRICS
                    .iter()
                    .find(|column| column.name == name);
                found.map_or("", |column| column.unit)
            }
            Of::Model { .. } => model::find(name).map_or("", |model| model.unit),
            Of::Flows { .. } if [THROUGHPUT, GOODPUT].contains(&name) => "bit/s",
            Of::Flows { .. } if name == SEGMENTS => "segments",
            Of::Events { .. } => "us",
            Of::Flows { .. } => unit_of(flow_columns(), name),
            Of::Ports { .. } => unit_of(port_columns(), name),
            Of::Series { .. } => {
                let found = series::all().iter().find(|known| known.name == name);
                found.map_or("", |quantity| quantity.unit)
            }
        }
    }

    /// The unit of its values: the column's unit, unless the statistic is a count.
    pub fn unit(&self) -> &'static str {
        match self.value_dimension() {
            Dimension::TimeSquared => "us²",
            dimension if dimension != self.dimension() => "",
            _ if self.statistic.as_ref().is_some_and(Statistic::counts) => "",
            _ => self.column_unit(),
        }
    }

    /// The dimension of the column's values.
    pub fn dimension(&self) -> Dimension {
        Dimension::of(self.column_unit())
    }

    /// The dimension of its own values.
    pub fn value_dimension(&self) -> Dimension {
        let each = match &self.of {
            Of::Flows { each_sender, .. } => each_sender.as_deref(),
            _ => None,
        };
        if self.reduction_from.is_some() {
            return Dimension::Share;
        }
        match (&self.statistic, each) {
            (Some(Statistic::Share { .. }), _) => Dimension::Share,
            (Some(statistic), _) if statistic.counts() => Dimension::Count,
            (_, Some(each)) if each.counts() => Dimension::Count,
            (Some(Statistic::Variance), _) | (_, Some(Statistic::Variance)) => {
                self.dimension().squared()
            }
            _ => self.dimension(),
        }
    }
}

impl Statistic {
    /// Whether it is a count, which has no unit.
    fn counts(&self) -> bool {
        match self {
            Self::Count
            | Self::Share { .. }
            | Self::Clusters { .. }
            | Self::Dips { .. }
            | Self::Oscillations { .. }
            | Self::Jain => true,
            Self::Difference(a, _) => a.counts(),
            Self::Mean
            | Self::Min
            | Self::Max
            | Self::Sum
            | Self::Variance
            | Self::Deviation
            | Self::Percentile(_)
            | Self::Change => false,
        }
    }
}
