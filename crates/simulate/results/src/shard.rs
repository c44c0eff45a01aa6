//! Divides a sweep among processes that do not communicate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use base::cast::whole;
use plan::keys::{Keys, TracedFlows, TracedSeries};
use plan::work::Work;
use plan::workload::Layout;
use plan::{Group, PointSpec};
use serde::Serialize;
use sim::memory;

/// One of several processes, which share the points of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which one, from 1 to `of`.
    number: u32,
    of: u32,
}

impl Shard {
    /// Shard `number`, from 1, of `of`; `None` if there is no such shard.
    ///
    /// ```
    /// use results::Shard;
    ///
    /// assert!(Shard::new(3, 3).is_some());
    /// assert!(Shard::new(0, 3).is_none() && Shard::new(4, 3).is_none());
    /// ```
    pub fn new(number: u32, of: u32) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// For each of `points`, true if this shard runs it. O(points).
    pub fn runs(self, points: &[PointSpec], captures: bool) -> Vec<bool> {
        let shards = divide(points, captures, self.of).into_iter();
        shards.map(|number| number == self.number).collect()
    }
}

/// The number of the shard, from 1 to `of`, that runs each of all `points` of a sweep.
///
/// Simulations are sorted from the longest to the shortest; each goes to the shard with the least work so far (Graham,
/// "Bounds on Multiprocessing Timing Anomalies", 1969). Points of the same [essence](PointSpec::essence) stay together:
/// without captures they are one simulation. The division depends on the points alone, so processes agree on it without
/// communication.
///
/// # Panics
/// If `of` is 0.
pub fn divide(points: &[PointSpec], captures: bool, of: u32) -> Vec<u32> {
    let firsts = first_twins(points, captures);
    let costs = processor_seconds(points);
    let own = |point: &&PointSpec| firsts[point.index] == point.index;
    let mut simulations: Vec<(Reverse<u64>, usize)> = points
        .iter()
        .filter(own)
        .map(|point| (Reverse(nanoseconds(costs[point.index])), point.index))
        .collect();
    simulations.sort_unstable();
    let mut loads: BinaryHeap<Reverse<(u64, u32)>> = (1..=of).map(|n| Reverse((0, n))).collect();
    let mut shards = vec![0; points.len()];
    for (Reverse(cost), index) in simulations {
        let mut least = loads.peek_mut().expect("there is a shard");
        let Reverse((load, number)) = &mut *least;
        shards[index] = *number;
        *load = load.saturating_add(cost);
    }
    firsts.into_iter().map(|first| shards[first]).collect()
}

/// The expected cost of one of several shards.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct ShardEstimate {
    /// Its number, from 1.
    pub shard: u32,
    /// Points of the sweep for which it has results.
    pub points: u64,
    /// Simulations that it runs for them.
    pub simulations: u64,
    /// Seconds of processor time.
    pub processor_s: f64,
    /// Bytes of memory with one simulation at a time.
    pub memory_bytes: u64,
    /// Bytes on disk until the shards are merged.
    pub disk_bytes: u64,
}

/// The expected cost of each of `of` shards, as [`divide`] makes them. O(points).
///
/// # Panics
/// If `of` is 0.
pub fn estimates(points: &[PointSpec], captures: bool, of: u32) -> Vec<ShardEstimate> {
    let empty = |shard| ShardEstimate {
        shard,
        ..ShardEstimate::default()
    };
    let mut all: Vec<ShardEstimate> = (1..=of).map(empty).collect();
    let (shards, firsts) = (divide(points, captures, of), first_twins(points, captures));
    let seconds = processor_seconds(points);
    for point in points {
        let own = &mut all[shards[point.index] as usize - 1];
        own.points += 1;
        own.disk_bytes = own.disk_bytes.saturating_add(disk_bytes(point));
        if firsts[point.index] == point.index {
            own.simulations += 1;
            own.processor_s += seconds[point.index];
            own.memory_bytes = own.memory_bytes.max(memory::estimate(point));
        }
    }
    all
}

/// Number of flows of a point, as expected from its settings.
pub fn expected_flows(point: &PointSpec) -> f64 {
    let layout = Layout::of(&point.keys, &point.groups);
    let groups = point.groups.iter();
    groups.map(|group| layout.expected_flows(group)).sum()
}

/// Bytes of a point's files until its sweep is complete.
fn disk_bytes(point: &PointSpec) -> u64 {
    let trace = &point.keys.trace;
    let flows = expected_flows(point);
    let series = match trace.series {
        TracedSeries::Off => 0.0,
        TracedSeries::Auto(_) | TracedSeries::Named(_) => {
            let sampled = Work::of(point, true).series_bytes();
            sampled + flows * SERIES_BYTES_PER_FLOW
        }
    };
    whole(BYTES_PER_POINT + flows * BYTES_PER_FLOW + series)
}

/// For each of these points, the index of the first point with the same outcome; for most points it is their own. With
/// captures, every point is a simulation of its own, because capture files carry the names of points. O(rows of
/// settings).
pub fn first_twins<'a>(
    points: impl IntoIterator<Item = &'a PointSpec>,
    captures: bool,
) -> Vec<usize> {
    let (mut rows, mut first) = (BTreeMap::new(), BTreeMap::new());
    let mut before = None;
    let first_of = |point: &PointSpec| {
        if captures {
            return point.index;
        }
        let row = match before {
            Some((same, row)) if same == row_of(point) => row,
            _ => {
                let next = rows.len();
                let row = *rows.entry(point.essence_but_seed()).or_insert(next);
                before = Some((row_of(point), row));
                row
            }
        };
        *first.entry((row, point.seed)).or_insert(point.index)
    };
    points.into_iter().map(first_of).collect()
}

/// Identifies the settings and flows that all seeds of a row share.
fn row_of(point: &PointSpec) -> (*const Keys, *const [Group]) {
    (Arc::as_ptr(&point.keys), Arc::as_ptr(&point.groups))
}

/// The expected processor time in seconds for each point on one core, including its file.
pub fn processor_seconds(points: &[PointSpec]) -> Vec<f64> {
    let mut before = None;
    let of = |point: &PointSpec| match before {
        Some((same, cost)) if same == row_of(point) => cost,
        _ => {
            let cost = processor_s(point);
            before = Some((row_of(point), cost));
            cost
        }
    };
    points.iter().map(of).collect()
}

fn processor_s(point: &PointSpec) -> f64 {
    let steps = Work::of(point, true).steps();
    let own = POINT_S + steps * STEP_S;
    if matches!(point.keys.trace.series, TracedSeries::Off) {
        return own;
    }
    let traced = match point.keys.trace.flows {
        TracedFlows::All => 1.0,
        TracedFlows::Auto => (AUTO_FLOWS / expected_flows(point)).min(1.0),
        TracedFlows::Numbers(_) => 0.0,
    };
    own + SERIES_S + steps * traced * RECORDED_STEP_S
}

/// Whole nanoseconds, whose sum does not depend on the order. Endless work counts as a century.
fn nanoseconds(seconds: f64) -> u64 {
    if seconds.is_finite() {
        whole((seconds * 1e9).min(ENDLESS_NS))
    } else {
        whole(ENDLESS_NS)
    }
}

/// The number of links that packets cross in a second of a simulation on one core: 154 million in 13.5 s in Fig. 3 of
/// RWNDQ (`tailwater reproduce rwndq/fig3 --seeds 4`).
pub const STEPS_PER_SECOND: f64 = 10e6;
/// From the processor time of `tailwater run incast --scheme newreno --set workload.senders=N --set
/// workload.jitter=1us..40us:1us --seeds 1 --jobs 1`, with N = 5, 20 and 100, with and without `--trace off`. The times
/// of: a simulation with its file, a step in short flows, the series of one seed, and a recorded step.
const POINT_S: f64 = 2.3e-3;
const STEP_S: f64 = 0.3e-6;
const SERIES_S: f64 = 1.5e-3;
const RECORDED_STEP_S: f64 = 1.6e-6;
/// The number of flows that are recorded unless all are asked for.
const AUTO_FLOWS: f64 = 200.0;
const ENDLESS_NS: f64 = 3e18;
/// From the file sizes of `tailwater run incast --scheme newreno --set workload.senders=1,10,100,1000 --seeds 1 --shard
/// 1/1`, rounded up. The sizes of: two files, whose blocks are larger than their contents; a flow with its host's port;
/// and series recorded at every change.
const BYTES_PER_POINT: f64 = 8192.0;
const BYTES_PER_FLOW: f64 = 300.0;
const SERIES_BYTES_PER_FLOW: f64 = 600.0;

#[cfg(test)]
mod tests {
    use scenario::{Overrides, Scenario, Source};

    use super::*;

    fn sweep(sets: &[&str], schemes: &str, seeds: u32) -> Scenario {
        let overrides = Overrides {
            schemes: Some(schemes.to_owned()),
            sets: sets.iter().map(|set| (*set).to_owned()).collect(),
            seeds: seeds.try_into().ok(),
            ..Overrides::default()
        };
        let source = Source::builtin("incast").expect("it is built in");
        Scenario::load(source, &overrides).expect("a scenario")
    }

    #[test]
    fn shards_of_points_that_differ_in_cost_take_about_the_same_time() {
        let sets = ["workload.senders=2..100:7", "workload.jitter=100us"];
        let scenario = sweep(&sets, "newreno,dctcp", 5);
        let points = scenario.points();
        for of in [1, 2, 7, 16] {
            let all = estimates(points, false, of);
            let sum: u64 = all.iter().map(|own| own.points).sum();
            assert_eq!(sum, points.len() as u64);
            let seconds = all.iter().map(|own| own.processor_s);
            let (most, least) = (
                seconds.clone().fold(0.0, f64::max),
                seconds.fold(f64::MAX, f64::min),
            );
            assert!(most < 1.05 * least, "{of} shards take {least} to {most} s");
        }
    }

    #[test]
    fn points_with_one_outcome_are_one_simulation_of_one_shard_unless_packets_are_captured() {
        let sets = ["dctcp.g=0.0625,0.125,0.25", "workload.senders=10"];
        let scenario = sweep(&sets, "newreno,dctcp", 1);
        let points = scenario.points();
        let newreno = |point: &&PointSpec| point.scheme == "newreno";
        let shards = divide(points, false, 4);
        let of_newreno: Vec<u32> = points
            .iter()
            .filter(newreno)
            .map(|p| shards[p.index])
            .collect();
        assert_eq!(of_newreno.len(), 3);
        assert!(of_newreno.iter().all(|shard| *shard == of_newreno[0]));
        let simulations = |captures| -> u64 {
            let all = estimates(points, captures, 4);
            all.iter().map(|own| own.simulations).sum()
        };
        assert_eq!((simulations(false), simulations(true)), (4, 6));
    }
}
