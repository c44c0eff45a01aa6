//! The line of one run.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim::metrics::Metrics;

use crate::LowAcks;
use crate::nullable::nullable;

/// Settings by key, in the order of the scenario.
pub type Settings = IndexMap<String, String>;

/// One run of one scheme. Times are in microseconds from the start of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unsorted")]
pub struct PointLine {
    /// The scheme.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// The number of the run among those of the scheme under these settings.
    pub run: u32,
    /// The settings that differ between networks.
    pub set: Settings,
    /// The results, by where it ran.
    #[serde(flatten)]
    pub results: Results,
    /// Completion times of the flows that completed, the shortest first.
    pub fct_us: Vec<f64>,
    /// Every flow in the order of the plan, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<FlowRow>>,
    /// The end of the run, if every flow was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_us: Option<f64>,
    /// The bytes that wait at the bottleneck from a time on, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Vec<(f64, u64)>>,
    /// The bytes that the receiver of a connection read until a time, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Vec<(f64, u32, u64)>>,
    /// When the sender of a connection noticed a loss, if that was asked for and Linux told it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub losses: Option<Vec<(f64, u32, LossKind)>>,
}

/// The results of a run, by where it ran.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "world", rename_all = "lowercase")]
pub enum Results {
    /// On real stacks.
    Linux {
        /// The simulator's metrics as far as they can be measured.
        metrics: Box<LinuxMetrics>,
        /// Other measurements, and whether the run is valid.
        live: Box<LinuxRun>,
    },
    /// In the simulator.
    Simulated {
        /// Its metrics.
        metrics: Box<Metrics>,
    },
}

/// Where a point runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RunsOn {
    /// On real stacks.
    #[serde(rename = "linux")]
    Linux,
    /// In the simulator.
    #[serde(rename = "simulated")]
    Simulator,
}

/// The simulator's [`Metrics`] as far as Linux tells them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "described in `sim::columns`, for people and machines alike"
)]
pub struct LinuxMetrics {
    #[serde(deserialize_with = "nullable")]
    pub goodput_bps: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub timeouts: Option<u64>,
    #[serde(default)]
    pub tail_timeouts: Option<u64>,
    #[serde(deserialize_with = "nullable")]
    pub syn_timeouts: Option<u64>,
    #[serde(deserialize_with = "nullable")]
    pub timeout_rate: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub retransmissions: Option<u64>,
    #[serde(default)]
    pub after_timeout: Option<u64>,
    #[serde(deserialize_with = "nullable")]
    pub packets: Option<u64>,
    #[serde(deserialize_with = "nullable")]
    pub fairness: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub drops: Option<u64>,
    #[serde(default)]
    pub marks: Option<u64>,
    #[serde(default)]
    pub threshold_crossings: Option<u64>,
    #[serde(default)]
    pub queue_mean_bytes: Option<f64>,
    #[serde(default)]
    pub queue_p5_bytes: Option<u64>,
    #[serde(default)]
    pub queue_p50_bytes: Option<u64>,
    #[serde(default)]
    pub queue_p95_bytes: Option<u64>,
    #[serde(default)]
    pub queue_max_bytes: Option<u64>,
    pub flows_completed: u64,
    pub flows_failed: u64,
    pub flows_unfinished: u64,
    #[serde(deserialize_with = "nullable")]
    pub fct_mean_us: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub fct_p50_us: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub fct_p95_us: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub fct_p99_us: Option<f64>,
    #[serde(deserialize_with = "nullable")]
    pub fct_max_us: Option<f64>,
}

/// Measurements of a run on Linux besides its metrics, and whether it is valid. Fields that a bed lacks are null.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinuxRun {
    /// The release of the kernel.
    pub kernel: String,
    /// The rate of the fastest link, in bits per second.
    pub rate_bps: u64,
    /// The round-trip time of the idle network.
    #[serde(default)]
    pub rtt_us: Option<f64>,
    /// The congestion control of the senders, as the kernel calls it.
    #[serde(default)]
    pub control: Option<String>,
    /// Whether the run says something about TCP; else it says something about the machine.
    pub valid: bool,
    /// Why it is not valid.
    pub reasons: Vec<String>,
    /// Tail loss probes, which the simulator's senders do not have by default.
    #[serde(default)]
    pub loss_probes: Option<u64>,
    /// Packets that met each fate at programs in the kernel.
    #[serde(default)]
    pub ports: Option<BTreeMap<String, u64>>,
    /// How late first bytes were written, less the time that their connection took to open: the 99th percentile.
    #[serde(default)]
    pub start_lateness_p99_us: Option<f64>,
    /// How late flows started on average.
    #[serde(default)]
    pub start_lateness_mean_us: Option<f64>,
    /// The share of the time of all cores that work took, without processes of low priority.
    pub busy_share: f64,
    /// The throughput over the rate of the link while packets waited; null if hardly any did.
    #[serde(default)]
    pub rate_share: Option<f64>,
    /// The share of segments that senders saw reordered.
    #[serde(default)]
    pub reordered_share: Option<f64>,
    /// Reads with other bytes than were sent.
    #[serde(default)]
    pub corrupted: Option<u64>,
    /// The slots in which windows were decided, for a scheme that decides them in user space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<SlotLengths>,
    /// Fast recoveries, for our TCP at the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_recoveries: Option<u64>,
    /// How ACKs were classed, for our TCP with low priorities at the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_acks: Option<LowAcks>,
}

/// The slots in which user space decided windows.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotLengths {
    /// The length that was planned.
    pub planned_us: f64,
    /// The number of slots.
    pub count: u64,
    /// Their mean length.
    pub mean_us: f64,
    /// The 99th percentile of their lengths.
    pub p99_us: f64,
    /// Segments that the law did not hear of, for want of room.
    pub untold: u64,
}

/// A flow, written as an array. What is not known is null.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(into = "FlowArray")]
pub struct FlowRow {
    /// Its start.
    pub start_us: Option<f64>,
    /// When its last byte was read.
    pub completion_us: Option<f64>,
    /// Bytes that were read.
    pub received: u64,
    /// Segments with data, those sent again included.
    pub packets: Option<u32>,
    /// Segments sent again.
    pub retransmissions: Option<u32>,
    /// Retransmission timers that expired.
    pub timeouts: Option<u32>,
    /// Timers of its SYN that expired.
    pub syn_timeouts: Option<u32>,
    /// How long it takes alone in the network. Absent in lines of earlier versions.
    #[serde(default)]
    pub alone_us: Option<f64>,
}

/// The fields of [`FlowRow`] in their order.
type FlowArray = (
    Option<f64>,
    Option<f64>,
    u64,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<u32>,
    Option<f64>,
);

/// How a sender noticed a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LossKind {
    /// By ACKs: a fast recovery begins.
    #[serde(rename = "fast_retransmit")]
    FastRetransmit,
    /// By a timer.
    #[serde(rename = "timeout")]
    Timeout,
}

impl PointLine {
    /// Where it ran.
    #[must_use]
    pub const fn runs_on(&self) -> RunsOn {
        match self.results {
            Results::Linux { .. } => RunsOn::Linux,
            Results::Simulated { .. } => RunsOn::Simulator,
        }
    }

    /// Its measurements on Linux besides its metrics.
    #[must_use]
    pub fn live(&self) -> Option<&LinuxRun> {
        match &self.results {
            Results::Linux { live, .. } => Some(live),
            Results::Simulated { .. } => None,
        }
    }

    /// Forgets every flow and what happened over time, by which claims are judged: both are long.
    pub fn forget_details(&mut self) {
        self.flows = None;
        self.queue = None;
        self.arrivals = None;
        self.losses = None;
    }
}

impl RunsOn {
    /// Its name, as lines have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Simulator => "simulated",
        }
    }
}

impl From<FlowRow> for FlowArray {
    fn from(flow: FlowRow) -> Self {
        (
            flow.start_us,
            flow.completion_us,
            flow.received,
            flow.packets,
            flow.retransmissions,
            flow.timeouts,
            flow.syn_timeouts,
            flow.alone_us,
        )
    }
}

/// A point before it is known whose metrics it has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unsorted {
    world: RunsOn,
    scheme: String,
    seed: u64,
    run: u32,
    set: Settings,
    metrics: Value,
    live: Option<Box<LinuxRun>>,
    fct_us: Vec<f64>,
    flows: Option<Vec<FlowRow>>,
    ended_us: Option<f64>,
    queue: Option<Vec<(f64, u64)>>,
    arrivals: Option<Vec<(f64, u32, u64)>>,
    losses: Option<Vec<(f64, u32, LossKind)>>,
}

impl TryFrom<Unsorted> for PointLine {
    type Error = String;

    fn try_from(point: Unsorted) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| format!("metrics: {error}");
        let results = match (point.world, point.live) {
            (RunsOn::Linux, Some(live)) => Results::Linux {
                metrics: serde_json::from_value(point.metrics).map_err(wrong)?,
                live,
            },
            (RunsOn::Simulator, None) => Results::Simulated {
                metrics: serde_json::from_value(point.metrics).map_err(wrong)?,
            },
            // Whether a run on Linux is valid is never left open.
            (RunsOn::Linux, None) => return Err("missing field `live`".to_owned()),
            (RunsOn::Simulator, Some(_)) => {
                return Err("`live` is about a run on Linux, and this one is simulated".to_owned());
            }
        };
        Ok(Self {
            scheme: point.scheme,
            seed: point.seed,
            run: point.run,
            set: point.set,
            results,
            fct_us: point.fct_us,
            flows: point.flows,
            ended_us: point.ended_us,
            queue: point.queue,
            arrivals: point.arrivals,
            losses: point.losses,
        })
    }
}
