//! Runs for measuring: the recorded data, the scenario, and the values of measures seed by seed.

mod flows;
mod series;
mod subject;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use base::Ordered as _;
use base::cast;
use results::statistics::Estimate;
use results::{Cell, Folder, Recorded};
use scenario::{Overrides, Problem, Problems, Scenario, Source};

use super::claim::At;
use super::measure::{Measure, Of, PortSelector, Statistic};
use super::model;
use super::sample::WeightedSample;
use super::unit::Dimension;
pub use subject::Subject;

/// A run with all data for measuring it. Values are computed once for each measure.
pub struct MeasuredRun {
    run: Rc<dyn Recorded>,
    scenario: Scenario,
    /// See [`MeasuredRun::spans`].
    spans: OnceCell<Spans>,
    values: RefCell<Vec<(Measure, Rc<MeasureValues>)>>,
    /// Measures that will be needed.
    expected: RefCell<Vec<Measure>>,
}

/// The first start and the last completion (or the end) of each point, in microseconds.
type Spans = BTreeMap<u32, (f64, f64)>;

/// The values of a measure: one for each row and seed; `NaN` for a missing value.
#[derive(Debug)]
pub struct MeasureValues {
    rows: Vec<Vec<f64>>,
    /// Below which none lies.
    least: f64,
}

impl MeasureValues {
    /// One value for each seed of the row, in the order of the seeds.
    pub fn per_seed(&self, row: usize) -> &[f64] {
        &self.rows[row]
    }

    /// Their mean and its 95 % interval.
    pub fn estimate(&self, row: usize) -> Estimate {
        Estimate::of(self.rows[row].iter().copied()).between(self.least, f64::INFINITY)
    }
}

impl MeasuredRun {
    /// Opens a run folder that is complete.
    pub fn open(path: &Path) -> Result<Self, Problems> {
        let name = path.join("scenario.toml").display().to_string();
        Self::of(Rc::new(Folder::open(path)?), name)
    }

    /// A run; messages use this name for its scenario.
    pub fn of(run: Rc<dyn Recorded>, name: String) -> Result<Self, Problems> {
        let scenario = Source::new(name, run.scenario_text());
        let scenario = Scenario::load(scenario, &Overrides::default())?;
        Ok(Self {
            run,
            scenario,
            spans: OnceCell::new(),
            values: RefCell::default(),
            expected: RefCell::default(),
        })
    }

    /// The recorded run.
    pub fn run(&self) -> &dyn Recorded {
        &*self.run
    }

    /// The simulated experiment.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The rows of a scheme at these values of swept settings, in the order of the sweep: indices in
    /// [`Summary::rows`](results::Summary::rows).
    pub fn rows(&self, scheme: &str, at: &[&At]) -> Vec<usize> {
        let rows = self.run.summary().rows.iter().enumerate();
        let wanted = rows.filter(|(_, row)| {
            let mut conditions = at.iter().flat_map(|at| at.iter());
            row.scheme == scheme
                && conditions.all(|(key, texts)| {
                    let value = row.setting(key);
                    value.is_none_or(|value| texts.iter().any(|text| text == value))
                })
        });
        wanted.map(|(index, _)| index).collect()
    }

    /// Bytes of a full packet in the simulations of a row.
    pub fn packet_bytes(&self, row: usize) -> f64 {
        let points = &self.run.summary().rows[row].points;
        points.first().map_or(f64::NAN, |point| self.packet(*point))
    }

    /// The values of a measure with a statistic, a metric or a model for every row and seed.
    pub fn values(&self, measure: &Measure) -> Result<Rc<MeasureValues>, Problems> {
        let known = |values: &Vec<(Measure, Rc<MeasureValues>)>| {
            let found = values.iter().find(|(other, _)| other == measure);
            found.map(|(_, values)| Rc::clone(values))
        };
        if let Some(values) = known(&self.values.borrow()) {
            return Ok(values);
        }
        self.read_together(measure)?;
        if let Some(values) = known(&self.values.borrow()) {
            return Ok(values);
        }
        let by_point = self.by_point(measure)?;
        Ok(self.keep(measure, &by_point))
    }

    /// Announces measures that will be needed. Those that read the same table are then computed in one pass.
    pub fn expect<'m>(&self, measures: impl Iterator<Item = &'m Measure>) {
        let mut expected = self.expected.borrow_mut();
        for measure in measures {
            if !expected.contains(measure) {
                expected.push(measure.clone());
            }
        }
    }

    /// Computes the values of a measure of flows, and of all other announced measures of flows.
    fn read_together(&self, measure: &Measure) -> Result<(), Problems> {
        let is_of_flows =
            |other: &&Measure| matches!(other.of, Of::Flows { .. }) && other.statistic.is_some();
        if !is_of_flows(&measure) {
            return Ok(());
        }
        let expected = self.expected.borrow();
        let others = expected.iter().filter(is_of_flows);
        let others = others.filter(|other| *other != measure && !self.has(other));
        let all: Vec<&Measure> = [measure].into_iter().chain(others).collect();
        // Measures that only differ in their statistic share one sample.
        let mut distinct: Vec<&Measure> = Vec::new();
        for measure in &all {
            if distinct.iter().all(|other| other.of != measure.of) {
                distinct.push(measure);
            }
        }
        let mut values = vec![BTreeMap::new(); all.len()];
        self.all_flows(&distinct, &mut |place, point, sample| {
            let same = all.iter().zip(&mut values);
            for (measure, values) in same.filter(|(other, _)| other.of == distinct[place].of) {
                let statistic = measure.statistic.as_ref();
                let units = (measure.dimension(), self.packet(point));
                values.extend(statistic.map(|it| (point, sample.statistic(it, units))));
            }
        })?;
        for (measure, values) in all.iter().zip(&values) {
            self.keep(measure, values);
        }
        Ok(())
    }

    fn has(&self, measure: &Measure) -> bool {
        let values = self.values.borrow();
        values.iter().any(|(known, _)| known == measure)
    }

    /// Stores the values of a measure, given by point, as values of rows.
    fn keep(&self, measure: &Measure, by_point: &BTreeMap<u32, f64>) -> Rc<MeasureValues> {
        let rows = self.run.summary().rows.iter().map(|row| {
            let value = |point| by_point.get(point).copied().unwrap_or(f64::NAN);
            row.points.iter().map(value).collect()
        });
        let mut rows: Vec<Vec<f64>> = rows.collect();
        if let Some(baseline) = &measure.reduction_from {
            rows = self.reduced(&rows, baseline);
        }
        let values = Rc::new(MeasureValues {
            rows,
            least: measure.least(),
        });
        let entry = (measure.clone(), Rc::clone(&values));
        self.values.borrow_mut().push(entry);
        values
    }

    /// First start and last completion, or end, of each point, in microseconds.
    fn spans(&self) -> Result<&Spans, Problems> {
        if let Some(spans) = self.spans.get() {
            return Ok(spans);
        }
        let points = &self.run.summary().points;
        let mut spans: Spans = points
            .iter()
            .map(|point| (point.point, (f64::INFINITY, f64::NEG_INFINITY)))
            .collect();
        let columns = ["point", "start_us", "completion_us"];
        self.run.flow_cells(&columns, &mut |cells| {
            let Some(span) = spans.get_mut(&whole(cells[0]).unwrap_or(u32::MAX)) else {
                return;
            };
            span.0 = span.0.min(real(cells[1]).unwrap_or(f64::INFINITY));
            span.1 = span.1.max(real(cells[2]).unwrap_or(f64::NEG_INFINITY));
        })?;
        for point in points {
            let span = spans.entry(point.point).or_default();
            if !span.0.is_finite() {
                span.0 = 0.0;
            }
            if !span.1.is_finite() {
                span.1 = point.simulated_us;
            }
        }
        Ok(self.spans.get_or_init(|| spans))
    }

    /// The share by which the values of each row are below those of `baseline` at the same values of swept settings,
    /// seed by seed; `NaN` if that scheme was not run.
    fn reduced(&self, rows: &[Vec<f64>], baseline: &str) -> Vec<Vec<f64>> {
        let places = 0..rows.len();
        let reduced = places.map(|place| {
            let other = self.row_beside(place, baseline);
            let ours = rows[place].iter().enumerate();
            let each = ours.map(|(seed, value)| {
                let other = other.map_or(f64::NAN, |other| rows[other][seed]);
                (other - value) / other
            });
            each.collect()
        });
        reduced.collect()
    }

    /// The row of another scheme with the same values of swept settings as the row at `place`.
    fn row_beside(&self, place: usize, scheme: &str) -> Option<usize> {
        let rows = &self.run.summary().rows;
        let set = &rows[place].set;
        let mut all = rows.iter();
        all.position(|row| row.scheme == scheme && row.set == *set)
    }

    /// The distribution of a measure without a statistic, over all seeds of a row. It has all flows, all ports, or the
    /// values of a series weighted by how long each lasted.
    pub fn sample(&self, measure: &Measure, row: usize) -> Result<WeightedSample, Problems> {
        let points = &self.run.summary().rows[row].points;
        let points = points.iter().copied().into_set();
        let mut all = WeightedSample::default();
        if let Of::Series { during, weight, .. } = &measure.of {
            let stretches = self.stretches(*during)?;
            self.each_series(measure, &points, &mut |point, lines| {
                let stretch = stretches[&point];
                for steps in lines.values() {
                    all.extend(steps.sample(stretch, *weight));
                }
            })?;
        } else {
            self.each_sample(measure, &mut |point, sample| {
                if points.contains(&point) {
                    all.extend(sample);
                }
            })?;
        }
        all.sort();
        Ok(all)
    }

    fn packet(&self, point: u32) -> f64 {
        let point = self.scenario.points().get(point as usize);
        point.map_or(f64::NAN, |point| cast::real(point.keys.packet_bytes()))
    }

    fn by_point(&self, measure: &Measure) -> Result<BTreeMap<u32, f64>, Problems> {
        let points = &self.run.summary().points;
        let dimension = measure.dimension();
        let mut values = BTreeMap::new();
        match (&measure.of, &measure.statistic) {
            (Of::Metric(name), _) => {
                for point in points {
                    let columns = sim::columns::METRICS.iter();
                    let all = sim::columns::metric_values(&point.metrics);
                    let value = columns.zip(all).find(|(column, _)| column.name == *name);
                    values.extend(value.map(|(_, value)| (point.point, value)));
                }
            }
            (Of::Model { name, size }, _) => {
                for point in points {
                    let spec = &self.scenario.points()[point.point as usize];
                    let packet = self.packet(point.point);
                    let size = size.as_ref();
                    let size = size.and_then(|size| size.in_column(Dimension::Bytes, packet));
                    let value = model::find(name).and_then(|model| model.value(spec, size));
                    values.extend(value.map(|value| (point.point, value)));
                }
            }
            (
                Of::Series {
                    apart_from: Some(other),
                    ..
                },
                Some(_),
            ) => {
                return self.apart(measure, other);
            }
            (_, None) => {
                let problem = Problem::new("a measure without a statistic is not a number");
                return Err(problem.help("add statistic = \"mean\"").into());
            }
            (
                Of::Series {
                    during,
                    across,
                    weight,
                    ..
                },
                Some(statistic),
            ) => {
                let all = points.iter().map(|point| point.point).into_set();
                let stretches = self.stretches(*during)?;
                self.each_series(measure, &all, &mut |point, lines| {
                    let stretch = stretches[&point];
                    let packet = self.packet(point);
                    let each = lines.values().map(|steps| {
                        (
                            steps.statistic(statistic, (stretch, *weight), (dimension, packet)),
                            1.0,
                        )
                    });
                    let each = WeightedSample::new(each.filter(|(value, _)| !value.is_nan()));
                    values.insert(point, each.statistic(across, (dimension, packet)));
                })?;
            }
            (Of::Events { .. }, Some(Statistic::Count)) => {
                values.extend(self.event_counts(measure)?);
            }
            (Of::Flows { .. } | Of::Ports { .. } | Of::Events { .. }, Some(statistic)) => {
                self.each_sample(measure, &mut |point, sample| {
                    let value = sample.statistic(statistic, (dimension, self.packet(point)));
                    values.insert(point, value);
                })?;
            }
        }
        Ok(values)
    }

    /// The values of flows or ports, point by point.
    fn each_sample(
        &self,
        measure: &Measure,
        each: &mut dyn FnMut(u32, WeightedSample),
    ) -> Result<(), Problems> {
        // A point without any matching flow or port has an empty sample, because zero is a count, too.
        let points = self.run.summary().points.iter();
        let mut samples: BTreeMap<u32, Vec<(f64, f64)>> =
            points.map(|point| (point.point, Vec::new())).into_map();
        let mut add = |point: Cell<'_>, value: Option<f64>| {
            let point = whole(point).unwrap_or(u32::MAX);
            if let (Some(sample), Some(value)) = (samples.get_mut(&point), value) {
                sample.push((value, 1.0));
            }
        };
        match &measure.of {
            Of::Flows { .. } => return self.each_flows(measure, each),
            Of::Events { .. } => {
                return self.each_event(measure, &mut |point, times| {
                    let gaps = times.values().flat_map(|times| times.windows(2));
                    each(
                        point,
                        WeightedSample::new(gaps.map(|pair| (pair[1] - pair[0], 1.0))),
                    );
                });
            }
            Of::Ports { column, place } => {
                let columns = ["point", "from", "to", "bottleneck", column];
                self.run.port_cells(&columns, &mut |cells| {
                    if place.contains(text(cells[1]), text(cells[2]), cells[3]) {
                        add(cells[0], real(cells[4]));
                    }
                })?;
            }
            Of::Metric(_) | Of::Model { .. } | Of::Series { .. } => {}
        }
        for (point, values) in samples {
            each(point, WeightedSample::new(values));
        }
        Ok(())
    }
}

impl PortSelector {
    /// Whether a port belongs to the place.
    fn contains(&self, from: &str, to: &str, bottleneck: Cell<'_>) -> bool {
        let fits = |wanted: &Option<String>, name: &str| {
            let kind = name.split(' ').next().unwrap_or(name);
            let mut wanted = wanted.iter();
            wanted.all(|wanted| wanted == name || wanted == kind)
        };
        fits(&self.from, from)
            && fits(&self.to, to)
            && (!self.bottleneck || bottleneck == Cell::Bool(true))
    }
}

fn whole(cell: Cell<'_>) -> Option<u32> {
    match cell {
        Cell::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

fn real(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Int(value) => Some(cast::signed(value)),
        Cell::Double(value) => Some(value),
        Cell::Bool(value) => Some(f64::from(u8::from(value))),
        _ => None,
    }
}

fn text(cell: Cell<'_>) -> &str {
    match cell {
        Cell::Text(text) => text,
        _ => "",
    }
}
