//! Measures flows and their events from the tables of a run.

use std::collections::{BTreeMap, BTreeSet};

use base::Ordered as _;
use base::Sort as _;
use base::cast;
use results::Cell;
use scenario::Problems;

use super::super::columns::{DERIVED, GOODPUT, SEGMENTS, THROUGHPUT};
use super::super::measure::{ChosenFlows, Cluster, FlowWeight, Measure, Of, Statistic};
use super::super::sample::WeightedSample;
use super::super::unit::{Dimension, Level};
use super::{MeasuredRun, real, text, whole};

/// Times in microseconds, ascending, flow by flow.
type Times = BTreeMap<u32, Vec<f64>>;

/// Numbers of flows by point.
type Numbers = BTreeMap<u32, BTreeSet<u32>>;

/// The value of a flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Its number within its simulation.
    number: u32,
    value: f64,
    weight: f64,
    /// The sending host.
    sender: u32,
    completion_us: Option<f64>,
}

/// The flows of a measure, and the column read from each.
struct Pick<'m> {
    column: &'static str,
    chosen: &'m ChosenFlows,
    weight: FlowWeight,
    each_sender: Option<&'m Statistic>,
    /// That of the column.
    dimension: Dimension,
    /// The index of its column among the columns read.
    source: usize,
    /// For each point the stretch in which its flows must start and complete; empty without such a condition.
    stretches: BTreeMap<u32, (f64, f64)>,
    /// Its flows of the current point or, if other schemes matter, of all points so far.
    flows: BTreeMap<u32, Vec<Flow>>,
    /// The numbers of flows that complete, if other schemes matter.
    complete: Numbers,
}

impl MeasuredRun {
    /// The values of a column for the chosen flows, or for each of their senders, point by point.
    pub(super) fn each_flows(
        &self,
        measure: &Measure,
        each: &mut dyn FnMut(u32, WeightedSample),
    ) -> Result<(), Problems> {
        self.all_flows(&[measure], &mut |_, point, sample| each(point, sample))
    }

    /// Reads several measures of flows in one pass over the table. `each` gets the index of the measure, the point and
    /// the values. Unless other schemes matter, only the flows of one point are in memory.
    pub(super) fn all_flows(
        &self,
        measures: &[&Measure],
        each: &mut dyn FnMut(usize, u32, WeightedSample),
    ) -> Result<(), Problems> {
        let mut sources = Vec::new();
        let picks = measures
            .iter()
            .filter_map(|measure| self.pick(measure, &mut sources));
        let mut picks: Vec<Pick<'_>> = picks.collect();
        let columns = columns(&picks, &sources);
        let mut left = self.points().into_set();
        let mut current: Option<(u32, f64)> = None;
        self.run.flow_cells(&columns, &mut |cells| {
            let point = whole(cells[0]).unwrap_or(u32::MAX);
            if let Some((last, _)) = current.filter(|(last, _)| *last != point) {
                current = None;
                if left.remove(&last) {
                    self.finish(&mut picks, last, each);
                }
            }
            let at = *current.get_or_insert_with(|| (point, self.packet(point)));
            for pick in &mut picks {
                self.take(pick, at, cells);
            }
        })?;
        for point in left {
            self.finish(&mut picks, point, each);
        }
        for (place, pick) in picks.iter_mut().enumerate() {
            if pick.chosen.common_to.is_empty() {
                continue;
            }
            for point in self.points() {
                let mut flows = pick.flows.remove(&point).unwrap_or_default();
                let common = self.common(point, &pick.chosen.common_to, &pick.complete);
                flows.retain(|flow| common.contains(&flow.number));
                each(place, point, self.sampled(pick, point, flows));
            }
        }
        Ok(())
    }

    /// The flows and values that a measure needs; `None` if it does not measure flows. A column that no other measure
    /// reads is added to `sources`.
    fn pick<'m>(&self, measure: &'m Measure, sources: &mut Vec<&'static str>) -> Option<Pick<'m>> {
        let Of::Flows {
            column,
            chosen,
            weight,
            each_sender,
        } = &measure.of
        else {
            return None;
        };
        let source = if DERIVED.contains(column) {
            "fct_us"
        } else {
            column
        };
        let place = sources.iter().position(|known| *known == source);
        let place = place.unwrap_or_else(|| {
            sources.push(source);
            sources.len() - 1
        });
        Some(Pick {
            column,
            chosen,
            weight: *weight,
            each_sender: each_sender.as_deref(),
            dimension: measure.dimension(),
            source: COMMON.len() + place,
            stretches: self.flow_stretches(chosen),
            flows: BTreeMap::new(),
            complete: Numbers::new(),
        })
    }

    /// Adds a flow if it is chosen and has a value. Other schemes are considered later.
    fn take(&self, pick: &mut Pick<'_>, (point, packet): (u32, f64), cells: &[Cell<'_>]) {
        let [_, group, sender, size, completion, _, start, flow, ..] = cells else {
            return;
        };
        let (size, completion_us) = (real(*size), real(*completion));
        let inside = pick.stretches.get(&point).is_none_or(|(from, to)| {
            real(*start).is_some_and(|start| start >= *from)
                && completion_us.is_some_and(|end| end <= *to)
        });
        if !inside || !pick.chosen.contains(text(*group), size, packet) {
            return;
        }
        let number = whole(*flow).unwrap_or(u32::MAX);
        if !pick.chosen.common_to.is_empty() && completion_us.is_some() {
            pick.complete.entry(point).or_default().insert(number);
        }
        let source = real(cells[pick.source]);
        let value = match pick.column {
            // Payload over the completion time, in bits per second.
            THROUGHPUT => size.zip(source).map(|(bytes, us)| bytes * 8e6 / us),
            GOODPUT => self.goodput(point, cells),
            SEGMENTS => size.map(|bytes| libm::ceil(bytes / self.segment(point))),
            _ => source,
        };
        let weight = match pick.weight {
            FlowWeight::Flow => Some(1.0),
            FlowWeight::Bytes => size,
        };
        if let Some((value, weight)) = value.zip(weight) {
            pick.flows.entry(point).or_default().push(Flow {
                number,
                value,
                weight,
                sender: whole(*sender).unwrap_or(u32::MAX),
                completion_us,
            });
        }
    }

    /// Hands over the flows of a finished point, unless other schemes matter.
    fn finish(
        &self,
        picks: &mut [Pick<'_>],
        point: u32,
        each: &mut dyn FnMut(usize, u32, WeightedSample),
    ) {
        for (place, pick) in picks.iter_mut().enumerate() {
            if pick.chosen.common_to.is_empty() {
                let flows = pick.flows.remove(&point).unwrap_or_default();
                each(place, point, self.sampled(pick, point, flows));
            }
        }
    }

    /// The values of flows of a point, or of each of their senders.
    fn sampled(&self, pick: &Pick<'_>, point: u32, mut flows: Vec<Flow>) -> WeightedSample {
        if let Some(cluster) = &pick.chosen.cluster {
            flows = cluster.of(flows);
        }
        let Some(statistic) = pick.each_sender else {
            let values = flows.iter().map(|flow| (flow.value, flow.weight));
            return WeightedSample::new(values);
        };
        let mut senders: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
        for flow in flows {
            let values = senders.entry(flow.sender).or_default();
            values.push((flow.value, flow.weight));
        }
        let units = (pick.dimension, self.packet(point));
        let values = senders.into_values();
        let values = values.map(|flows| WeightedSample::new(flows).statistic(statistic, units));
        WeightedSample::new(values.map(|value| (value, 1.0)))
    }

    fn points(&self) -> impl Iterator<Item = u32> {
        self.run.summary().points.iter().map(|point| point.point)
    }

    /// For each point, in microseconds, the stretch in which flows must start and complete; empty without such a
    /// condition.
    fn flow_stretches(&self, chosen: &ChosenFlows) -> BTreeMap<u32, (f64, f64)> {
        let Some(during) = chosen.during else {
            return BTreeMap::new();
        };
        let open = (f64::NEG_INFINITY, f64::INFINITY);
        let points = self.points();
        points
            .map(|point| (point, self.within(point, during, open)))
            .into_map()
    }

    /// The flows of a point that complete in it and under each of these schemes, at the same values of swept settings
    /// and with the same seed. Empty if one of the schemes was not run.
    fn common(&self, point: u32, schemes: &[String], complete: &Numbers) -> BTreeSet<u32> {
        let rows = &self.run.summary().rows;
        let find = |row: usize| rows[row].points.iter().position(|other| *other == point);
        let place = (0..rows.len()).find_map(|row| Some((row, find(row)?)));
        let (Some((row, seed)), Some(own)) = (place, complete.get(&point)) else {
            return BTreeSet::new();
        };
        let mut common = own.clone();
        for scheme in schemes {
            let other = self.row_beside(row, scheme);
            let other = other.and_then(|other| rows[other].points.get(seed));
            let other = other.and_then(|other| complete.get(other));
            common.retain(|flow| other.is_some_and(|other| other.contains(flow)));
        }
        common
    }

    /// Payload of a flow that arrived over the time from its start to its completion, or to the end
    /// of the simulation, in bits per second.
    fn goodput(&self, point: u32, cells: &[Cell<'_>]) -> Option<f64> {
        let end = real(cells[4]).or_else(|| {
            let points = &self.run.summary().points;
            let found = points.iter().find(|other| other.point == point);
            found.map(|point| point.simulated_us)
        })?;
        let us = end - real(cells[6])?;
        (us > 0.0).then_some(real(cells[5])? * 8e6 / us)
    }

    /// The number of matching events at every point.
    pub(super) fn event_counts(&self, measure: &Measure) -> Result<BTreeMap<u32, f64>, Problems> {
        let mut counts = BTreeMap::new();
        self.each_event(measure, &mut |point, times| {
            let count: usize = times.values().map(Vec::len).sum();
            counts.insert(point, cast::count(count));
        })?;
        Ok(counts)
    }

    /// Times of the matching events of every point.
    pub(super) fn each_event(
        &self,
        measure: &Measure,
        each: &mut dyn FnMut(u32, &Times),
    ) -> Result<(), Problems> {
        let Of::Events { kinds, group } = &measure.of else {
            return Ok(());
        };
        let members = group
            .as_ref()
            .map(|group| self.members(group))
            .transpose()?;
        let points = self.run.summary().points.iter();
        let mut events: BTreeMap<u32, Times> = points
            .map(|point| (point.point, BTreeMap::new()))
            .into_map();
        self.run.series(&mut |row| {
            let Some((event, flow)) = row.event.zip(row.flow) else {
                return;
            };
            let mut members = members.iter();
            if kinds.contains(&event)
                && members.all(|members| members.contains(&(row.point, flow)))
                && let Some(flows) = events.get_mut(&row.point)
            {
                flows.entry(flow).or_default().push(row.time_us);
            }
        })?;
        for (point, mut flows) in events {
            for times in flows.values_mut() {
                times.order_by(f64::total_cmp);
            }
            each(point, &flows);
        }
        Ok(())
    }

    /// Flows of all points that belong to a group.
    pub(super) fn members(&self, group: &str) -> Result<BTreeSet<(u32, u32)>, Problems> {
        let mut flows = BTreeSet::new();
        let columns = ["point", "flow", "group"];
        self.run.flow_cells(&columns, &mut |cells| {
            if belongs(text(cells[2]), group) {
                flows.extend(whole(cells[0]).zip(whole(cells[1])));
            }
        })?;
        Ok(flows)
    }

    /// Bytes of payload of a full segment.
    fn segment(&self, point: u32) -> f64 {
        let point = self.scenario.points().get(point as usize);
        point.map_or(f64::NAN, |point| f64::from(point.keys.tcp.mss.0))
    }
}

/// The columns to read: those of all measures, and those of [`COMMON`] that any measure needs, in that order.
fn columns(picks: &[Pick<'_>], sources: &[&'static str]) -> Vec<&'static str> {
    let any = |needs: &dyn Fn(&Pick<'_>) -> bool| picks.iter().any(needs);
    let goodput = any(&|pick| pick.column == GOODPUT);
    let during = any(&|pick| pick.chosen.during.is_some());
    let common = any(&|pick| !pick.chosen.common_to.is_empty());
    let size = any(&|pick| {
        let derived = [THROUGHPUT, SEGMENTS].contains(&pick.column);
        derived || pick.weight == FlowWeight::Bytes || pick.chosen.sizes.is_some()
    });
    let needed = [
        true,
        any(&|pick| pick.chosen.group.is_some()),
        any(&|pick| pick.each_sender.is_some()),
        size,
        goodput || during || common || any(&|pick| pick.chosen.cluster.is_some()),
        goodput,
        goodput || during,
        common,
    ];
    let names = COMMON.into_iter().zip(needed);
    let names = names.map(|(name, needed)| if needed { name } else { NO_COLUMN });
    names.chain(sources.iter().copied()).collect()
}

/// Columns by which flows are chosen, or from which values are computed.
const COMMON: [&str; 8] = [
    "point",
    "group",
    "sender",
    "size_bytes",
    "completion_us",
    "received_bytes",
    "start_us",
    "flow",
];

/// Stands for a column that no measure needs: all its cells are null.
const NO_COLUMN: &str = "";

impl ChosenFlows {
    /// Whether a flow of this group and size matches, if a full packet has this many bytes.
    fn contains(&self, group: &str, size: Option<f64>, packet: f64) -> bool {
        let mut groups = self.group.iter();
        let mut sizes = self.sizes.iter();
        let bytes = |level: &Level| {
            level
                .in_column(Dimension::Bytes, packet)
                .unwrap_or(f64::NAN)
        };
        // A flow without end has no size: it is larger than any.
        let size = size.unwrap_or(f64::INFINITY);
        groups.all(|wanted| belongs(group, wanted))
            && sizes.all(|sizes| {
                let mut up_to = sizes.up_to.iter();
                size > bytes(&sizes.above) && up_to.all(|most| size <= bytes(most))
            })
    }
}

impl Cluster {
    /// The flows whose completions are in this cluster.
    fn of(&self, mut flows: Vec<Flow>) -> Vec<Flow> {
        flows.retain(|flow| flow.completion_us.is_some());
        let completion = |flow: &Flow| flow.completion_us.unwrap_or(f64::NAN);
        flows.order_by(|a, b| completion(a).total_cmp(&completion(b)));
        let mut number = 1;
        let mut last = f64::INFINITY;
        flows.retain(|flow| {
            if completion(flow) - last > self.gap_us {
                number += 1;
            }
            last = completion(flow);
            number == self.number
        });
        flows
    }
}

/// Whether the group `name` matches `wanted`, which may end with `*`.
fn belongs(name: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == wanted,
    }
}
