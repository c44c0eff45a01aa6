//! Data of figures, read from runs in one pass each and with bounded memory.

mod slowdowns;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use base::Ordered as _;
use base::Quantity;
use base::Sort as _;
use plan::keys::SizeClasses;
use record::trace::SeriesRow;
use results::{Folder, Recorded, Row, Summary};
use scenario::Problems;
use sim::metrics::FlowRecord;

use crate::palette::Palette;
use crate::thin::Thinned;
use crate::units;
pub(crate) use slowdowns::{Bin, Slowdowns};

/// The data of one run, or of several side by side.
pub(crate) struct Data<'a> {
    pub(crate) runs: Vec<Run<'a>>,
    pub(crate) palette: Palette,
    /// The swept setting on the horizontal axis of metrics; `None` for the first one with numbers.
    pub(crate) x: Option<String>,
}

/// One run folder.
pub(crate) struct Run<'a> {
    /// The name of the folder, made unique.
    pub(crate) name: String,
    pub(crate) summary: &'a Summary,
    /// Completion times of the drawn combinations, by index in [`Summary::rows`] and group or class. The name of all
    /// flows is empty.
    pub(crate) distributions: BTreeMap<(usize, String), Distribution>,
    /// Slowdowns of the drawn combinations, by index in [`Summary::rows`].
    pub(crate) slowdowns: BTreeMap<usize, Slowdowns>,
    /// The simulations that are drawn over time, by number.
    pub(crate) details: BTreeMap<u32, Detail>,
    /// For every simulation drawn over time, the flow that completed last, and its completion time in microseconds.
    pub(crate) slowest: BTreeMap<u32, (u32, f64)>,
    /// Both ends of the port that metrics call the bottleneck.
    pub(crate) bottleneck: Option<String>,
    /// Every setting, as the program wrote it.
    settings: &'a str,
}

/// Completion times of a row, over all its seeds.
#[derive(Default)]
pub(crate) struct Distribution {
    /// Completion times in microseconds, ascending.
    pub(crate) fct_us: Vec<f64>,
    /// Flows, complete or not.
    pub(crate) flows: usize,
}

/// One simulation over time.
#[derive(Default)]
pub(crate) struct Detail {
    /// Place of its row in [`Summary::rows`].
    pub(crate) row: usize,
    /// Whether only the queue of the bottleneck is drawn, as in runs with many simulations.
    queue_only: bool,
    /// The first flows.
    pub(crate) flows: Vec<FlowRecord>,
    /// Flows there are.
    pub(crate) all_flows: usize,
    /// The port whose queue the metrics describe.
    pub(crate) bottleneck: Option<u32>,
    /// By quantity, then by port, flow or host.
    pub(crate) series: BTreeMap<String, BTreeMap<Subject, Thinned>>,
    /// Events of flows: time in microseconds, flow, name.
    pub(crate) events: Vec<(f64, u32, String)>,
}

/// The subject of a series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Subject {
    Port(u32),
    Flow(u32),
    Host(u32),
}

/// The most combinations of swept values for which distributions and series are drawn.
const COMBINATIONS: usize = 36;

/// The most simulations whose flows and windows are drawn one by one.
const SIMULATIONS: usize = 12;

/// The most flows drawn as bars, and the most lines of one quantity; more cannot be told apart.
pub(crate) const FLOWS: usize = 400;
const SUBJECTS: usize = 100;

/// Events that are drawn.
const DRAWN_EVENTS: [&str; 3] = ["drop", "timeout", "syn_timeout"];

/// The most events drawn in one picture.
const EVENTS: usize = 4000;

impl<'a> Data<'a> {
    /// Reads the data that is drawn for `folders`.
    pub(crate) fn read(folders: &[&'a Folder]) -> Result<Self, Problems> {
        let names = names(folders);
        let folders = folders.iter().map(|folder| *folder as &dyn Recorded);
        Self::of(folders.zip(names))
    }

    /// Data of runs, each with its name.
    pub(crate) fn of(
        runs: impl Iterator<Item = (&'a dyn Recorded, String)>,
    ) -> Result<Self, Problems> {
        let runs = runs.map(|(run, name)| Run::read(run, name));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let schemes = runs.iter().map(|run| run.summary.schemes.iter());
        let schemes: Vec<Vec<&str>> = schemes
            .map(|all| all.map(String::as_str).collect())
            .collect();
        let palette = Palette::of_runs(&schemes);
        Ok(Self {
            runs,
            palette,
            x: None,
        })
    }

    /// The label of lines of this scheme and run.
    pub(crate) fn label(&self, scheme: &str, run: usize) -> String {
        if self.runs.len() == 1 {
            scheme.to_owned()
        } else {
            format!("{scheme} ({})", self.runs[run].name)
        }
    }

    /// Every row of every run with the number of the run.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (usize, &'a Row)> {
        let runs = self.runs.iter().enumerate();
        runs.flat_map(|(run, data)| data.summary.rows.iter().map(move |row| (run, row)))
    }

    /// Whether all runs are mostly idle.
    pub(crate) fn is_mostly_idle(&self) -> bool {
        self.runs.iter().all(|run| run.summary.is_mostly_idle())
    }
}

impl<'a> Run<'a> {
    fn read(folder: &'a dyn Recorded, name: String) -> Result<Self, Problems> {
        let summary = folder.summary();
        let mut run = Self {
            name,
            summary,
            distributions: BTreeMap::new(),
            slowdowns: BTreeMap::new(),
            details: BTreeMap::new(),
            slowest: BTreeMap::new(),
            bottleneck: None,
            settings: folder.scenario_text(),
        };
        run.choose();
        run.read_flows(folder)?;
        folder.ports(&mut |point, port| {
            if port.bottleneck && run.bottleneck.is_none() {
                run.bottleneck = Some(format!("{} to {}", port.from, port.to));
            }
            if port.bottleneck
                && let Some(detail) = run.details.get_mut(&point)
            {
                detail.bottleneck = Some(port.port);
            }
        })?;
        folder.series(&mut |row| {
            if let Some(detail) = run.details.get_mut(&row.point) {
                detail.add(row);
            }
        })?;
        Ok(run)
    }

    /// Chooses the combinations of swept values to draw, by the number of the first row.
    fn choose(&mut self) {
        let group = self.summary.schemes.len().max(1);
        let groups = self.summary.rows.len() / group;
        let few = groups * group <= SIMULATIONS;
        for chosen in evenly(groups, COMBINATIONS) {
            let last = chosen + 1 == groups;
            for row in chosen * group..(chosen + 1) * group {
                let all = (row, String::new());
                self.distributions.insert(all, Distribution::default());
                let first = self.summary.rows[row].points.first();
                let detail = Detail {
                    row,
                    queue_only: !few && !last,
                    ..Detail::default()
                };
                self.details.extend(first.map(|point| (*point, detail)));
            }
        }
    }

    fn read_flows(&mut self, folder: &dyn Recorded) -> Result<(), Problems> {
        let rows = self.summary.rows.iter().enumerate();
        let row_of: BTreeMap<u32, usize> = rows
            .flat_map(|(index, row)| row.points.iter().map(move |point| (*point, index)))
            .into_map();
        let classes = self.classes();
        folder.flows(&mut |point, flow| {
            if let Some(row) = row_of.get(&point) {
                self.add(*row, flow, &classes);
            }
            if let Some(detail) = self.details.get_mut(&point) {
                detail.all_flows += 1;
                if let Some(fct_us) = flow.fct_us.get() {
                    let slowest = self
                        .slowest
                        .entry(point)
                        .or_insert((flow.connection, fct_us));
                    if fct_us > slowest.1 {
                        *slowest = (flow.connection, fct_us);
                    }
                }
                if !detail.queue_only && detail.flows.len() < FLOWS {
                    detail.flows.push(flow.clone());
                }
            }
        })?;
        for distribution in self.distributions.values_mut() {
            distribution.fct_us.order_by(f64::total_cmp);
        }
        Ok(())
    }

    /// Names of the size classes, with their bounds in bytes: above the first and up to the second.
    fn classes(&self) -> Vec<(String, u64, u64)> {
        let classes = self.shared("run.classes").map(SizeClasses::parse);
        let mss = self.shared("tcp.mss").and_then(|text| text.parse().ok());
        let classes = classes.and_then(Result::ok).unwrap_or_default();
        classes.all(mss.unwrap_or_default())
    }

    /// Adds a flow to the distributions of a row, if the row is drawn.
    fn add(&mut self, row: usize, flow: &FlowRecord, classes: &[(String, u64, u64)]) {
        let Some(all) = self.distributions.get_mut(&(row, String::new())) else {
            return;
        };
        all.flows += 1;
        all.fct_us.extend(flow.fct_us.get());
        if let (Some(size), Some(slowdown)) = (flow.size_bytes, flow.slowdown.get()) {
            self.slowdowns.entry(row).or_default().add(size, slowdown);
        }
        let size = flow.size_bytes.unwrap_or(u64::MAX);
        let class = classes
            .iter()
            .find(|(_, above, upto)| size > *above && size <= *upto);
        let group = (!flow.group.is_empty()).then_some(&flow.group);
        for name in group.into_iter().chain(class.map(|(name, ..)| name)) {
            let own = self.distributions.entry((row, name.clone())).or_default();
            own.flows += 1;
            own.fct_us.extend(flow.fct_us.get());
        }
    }

    /// The simulations whose flows are drawn one by one. These are all of a small run, else the first seeds of the last
    /// combination. That is the hardest one of a growing sweep, so it comes first.
    pub(crate) fn close_ups(&self) -> Vec<&Detail> {
        let group = self.summary.schemes.len();
        let all = if self.details.len() <= SIMULATIONS {
            self.details.len()
        } else {
            group.min(SIMULATIONS)
        };
        let skipped = self.details.len() - all;
        let mut details: Vec<_> = self.details.values().skip(skipped).collect();
        details.order_by_key(|detail| (Reverse(detail.row / group.max(1)), detail.row));
        details
    }

    /// Whether losses and timeouts of this simulation were recorded, if there were any.
    pub(crate) fn has_events(&self, detail: &Detail) -> bool {
        let series = self.shared("trace.series").unwrap_or("auto");
        let names = |name| series.split(',').any(|word| word.trim() == name);
        // A recording has events if anything happened.
        let anything = !detail.events.is_empty() || !detail.series.is_empty();
        names("events") || names("auto") && anything
    }

    /// Says which combinations are drawn one by one, if not all are.
    pub(crate) fn shown(&self) -> String {
        let group = self.summary.schemes.len().max(1);
        let (all, shown) = (
            self.summary.rows.len() / group,
            self.distributions
                .keys()
                .filter(|(_, of)| of.is_empty())
                .count()
                / group,
        );
        if shown == all {
            return String::new();
        }
        format!(" Shown are {shown} of {all} combinations, evenly spread over the sweep.")
    }

    /// A setting in bytes, if it is the same in all these rows.
    pub(crate) fn bytes_of(&self, key: &str, rows: &[&Row]) -> Option<f64> {
        let number = |key| self.shared(key).and_then(|text| text.parse::<f64>().ok());
        let packet = number("tcp.mss").unwrap_or(0.0) + number("net.header_bytes").unwrap_or(0.0);
        let constant = self.shared(key);
        let mut values = rows.iter().map(|row| row.setting(key).or(constant));
        let first = values.next().flatten()?;
        let same = values.all(|value| value == Some(first));
        same.then(|| units::bytes(first, packet)).flatten()
    }

    /// The value of a key that all groups and schemes share, if the settings give one.
    fn shared(&self, key: &str) -> Option<&'a str> {
        let (table, name) = key.split_once('.')?;
        let mut lines = self.settings.lines();
        lines.find(|line| {
            line.strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
                == Some(table)
        })?;
        let own = lines.take_while(|line| !line.starts_with('['));
        let values = own.filter_map(|line| line.split_once(" = "));
        let mut values = values.filter(|(found, _)| *found == name);
        values.next().map(|(_, value)| value.trim_matches('"'))
    }

    /// The row of a simulation.
    pub(crate) fn row(&self, detail: &Detail) -> &'a Row {
        &self.summary.rows[detail.row]
    }
}

impl Detail {
    /// Adds a row of a series file.
    fn add(&mut self, row: &SeriesRow<'_>) {
        if let (Some(event), Some(flow)) = (row.event, row.flow) {
            if DRAWN_EVENTS.contains(&event) && self.events.len() < EVENTS {
                self.events.push((row.time_us, flow, event.to_owned()));
            }
            return;
        }
        let port = row.port.map(Subject::Port);
        let subject = port
            .or(row.flow.map(Subject::Flow))
            .or(row.host.map(Subject::Host));
        let Some(subject) = subject else { return };
        for (name, value) in row.values {
            if self.queue_only && (port.is_none() || port != self.bottleneck.map(Subject::Port)) {
                continue;
            }
            if !self.series.contains_key(*name) {
                self.series.insert((*name).to_owned(), BTreeMap::new());
            }
            let Some(lines) = self.series.get_mut(*name) else {
                continue;
            };
            // The bottleneck is kept even if there are too many ports.
            let known = lines.contains_key(&subject)
                || port.is_some() && port == self.bottleneck.map(Subject::Port);
            if known || lines.len() < SUBJECTS {
                lines
                    .entry(subject)
                    .or_insert_with(Thinned::new)
                    .push(row.time_us, *value);
            }
        }
    }

    /// The earliest time of any event, from which charts count.
    pub(crate) fn start_us(&self) -> f64 {
        let starts = self.flows.iter().map(|flow| flow.start_us);
        let start = starts.fold(f64::INFINITY, f64::min);
        if start.is_finite() { start } else { 0.0 }
    }
}

/// Up to `most` numbers below `count`, evenly spread, with the first and the last.
fn evenly(count: usize, most: usize) -> BTreeSet<usize> {
    if count <= most {
        return (0..count).into_set();
    }
    (0..most)
        .map(|index| index * (count - 1) / (most - 1))
        .into_set()
}

/// The names of the folders, or their paths where names are equal.
fn names(folders: &[&Folder]) -> Vec<String> {
    let name = |folder: &&Folder| {
        let path = folder.path().canonicalize();
        let path = path.as_deref().unwrap_or(folder.path());
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let names: Vec<String> = folders.iter().map(name).collect();
    if names.iter().collect::<BTreeSet<_>>().len() == names.len() {
        return names;
    }
    let path = |folder: &&Folder| folder.path().display().to_string();
    folders.iter().map(path).collect()
}

/// The settings of a row without the scheme, in words.
pub(crate) fn place(row: &Row) -> String {
    units::place(&row.set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_combinations_include_both_ends() {
        let all = |count, most| evenly(count, most).into_iter().collect::<Vec<_>>();
        assert_eq!(all(3, 12), [0, 1, 2]);
        assert_eq!(all(100, 4), [0, 33, 66, 99]);
        assert!(all(0, 4).is_empty());
    }
}
