//! Flows and their events, measured from the tables of a run.

use std::collections::{BTreeMap, BTreeSet};

use base::cast;
use results::Cell;
use scenario::Problems;

use super::super::columns::{DERIVED, GOODPUT, SEGMENTS, THROUGHPUT};
use super::super::measure::{Chosen, Cluster, FlowWeight, Measure, Of};
use super::super::sample::Sample;
use super::super::unit::{Dimension, Level};
use super::{Measured, real, text, whole};

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

impl Measured {
    /// The values of a column of those flows that are chosen, or of each of their senders, point by
    /// point.
    pub(super) fn each_flows(
        &self,
        measure: &Measure,
        each: &mut dyn FnMut(u32, Sample),
    ) -> Result<(), Problems> {
        let Of::Flows {
            column,
            chosen,
            weight,
            each_sender,
        } = &measure.of
        else {
            return Ok(());
        };
        let (flows, complete) = self.chosen_flows(column, chosen, *weight)?;
        for (point, mut flows) in flows {
            if !chosen.common_to.is_empty() {
                let common = self.common(point, &chosen.common_to, &complete);
                flows.retain(|flow| common.contains(&flow.number));
            }
            if let Some(cluster) = &chosen.cluster {
                flows = cluster.of(flows);
            }
            let Some(statistic) = each_sender else {
                let values = flows.iter().map(|flow| (flow.value, flow.weight));
                each(point, Sample::new(values));
                continue;
            };
            let mut senders: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
            for flow in flows {
                let values = senders.entry(flow.sender).or_default();
                values.push((flow.value, flow.weight));
            }
            let units = (measure.dimension(), self.packet(point));
            let values = senders.into_values();
            let values = values.map(|flows| Sample::new(flows).statistic(statistic, units));
            each(point, Sample::new(values.map(|value| (value, 1.0))));
        }
        Ok(())
    }

    /// By point the flows that are chosen and have a value, whatever happens to them under other
    /// schemes, and the numbers of those that complete, if other schemes matter.
    fn chosen_flows(
        &self,
        column: &str,
        chosen: &Chosen,
        weight: FlowWeight,
    ) -> Result<(BTreeMap<u32, Vec<Flow>>, Numbers), Problems> {
        let points = self.folder.summary().points.iter();
        let mut flows: BTreeMap<u32, Vec<Flow>> =
            points.map(|point| (point.point, Vec::new())).collect();
        let mut complete = Numbers::new();
        let stretches = self.flow_stretches(chosen);
        let source = if DERIVED.contains(&column) {
            "fct_us"
        } else {
            column
        };
        let columns = [
            "point",
            "group",
            source,
            "sender",
            "size_bytes",
            "completion_us",
            "received_bytes",
            "start_us",
            "flow",
        ];
        self.folder.cells("flows", &columns, &mut |cells| {
            let point = whole(cells[0]).unwrap_or(u32::MAX);
            let Some(flows) = flows.get_mut(&point) else {
                return;
            };
            let (size, completion_us) = (real(cells[4]), real(cells[5]));
            let number = whole(cells[8]).unwrap_or(u32::MAX);
            let inside = stretches.get(&point).is_none_or(|(from, to)| {
                real(cells[7]).is_some_and(|start| start >= *from)
                    && completion_us.is_some_and(|end| end <= *to)
            });
            if !inside || !chosen.contains(text(cells[1]), size, self.packet(point)) {
                return;
            }
            if !chosen.common_to.is_empty() && completion_us.is_some() {
                complete.entry(point).or_default().insert(number);
            }
            let value = match column {
                // Payload over the completion time, in bits per second.
                THROUGHPUT => size.zip(real(cells[2])).map(|(bytes, us)| bytes * 8e6 / us),
                GOODPUT => self.goodput(point, cells),
                SEGMENTS => size.map(|bytes| libm::ceil(bytes / self.segment(point))),
                _ => real(cells[2]),
            };
            let weight = match weight {
                FlowWeight::Flow => Some(1.0),
                FlowWeight::Bytes => size,
            };
            if let Some((value, weight)) = value.zip(weight) {
                flows.push(Flow {
                    number,
                    value,
                    weight,
                    sender: whole(cells[3]).unwrap_or(u32::MAX),
                    completion_us,
                });
            }
        })?;
        Ok((flows, complete))
    }

    /// By point, in microseconds, the stretch in which flows start and complete; none if that does not
    /// matter.
    fn flow_stretches(&self, chosen: &Chosen) -> BTreeMap<u32, (f64, f64)> {
        let Some(during) = chosen.during else {
            return BTreeMap::new();
        };
        let points = self.folder.summary().points.iter().map(|point| point.point);
        let open = (f64::NEG_INFINITY, f64::INFINITY);
        points
            .map(|point| (point, self.within(point, during, open)))
            .collect()
    }

    /// The flows of a point that are complete there and under each of these schemes, at the same values
    /// of swept settings and with the same seed. There is none if a scheme was not run.
    fn common(&self, point: u32, schemes: &[String], complete: &Numbers) -> BTreeSet<u32> {
        let rows = &self.folder.summary().rows;
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
        let end = real(cells[5]).or_else(|| {
            let points = &self.folder.summary().points;
            let found = points.iter().find(|other| other.point == point);
            found.map(|point| point.simulated_us)
        })?;
        let us = end - real(cells[7])?;
        (us > 0.0).then_some(real(cells[6])? * 8e6 / us)
    }

    /// How many of the events that are meant there are at every point.
    pub(super) fn event_counts(&self, measure: &Measure) -> Result<BTreeMap<u32, f64>, Problems> {
        let mut counts = BTreeMap::new();
        self.each_event(measure, &mut |point, times| {
            let count: usize = times.values().map(Vec::len).sum();
            counts.insert(point, cast::count(count));
        })?;
        Ok(counts)
    }

    /// Times of the events that are meant for every point.
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
        let points = self.folder.summary().points.iter();
        let mut events: BTreeMap<u32, Times> =
            points.map(|point| (point.point, BTreeMap::new())).collect();
        self.folder.series(&mut |row| {
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
                times.sort_by(f64::total_cmp);
            }
            each(point, &flows);
        }
        Ok(())
    }

    /// Flows of all points that belong to a group.
    pub(super) fn members(&self, group: &str) -> Result<BTreeSet<(u32, u32)>, Problems> {
        let mut flows = BTreeSet::new();
        let columns = ["point", "flow", "group"];
        self.folder.cells("flows", &columns, &mut |cells| {
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

impl Chosen {
    /// Whether a flow of this group and size is meant, where a full packet has this many bytes.
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
        flows.sort_by(|a, b| completion(a).total_cmp(&completion(b)));
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

/// Whether the group called `name` is meant by `wanted`, which may end with `*`.
fn belongs(name: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == wanted,
    }
}
