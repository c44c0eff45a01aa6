//! A run as a report reads it, from disk or from memory.

use plan::PointSpec;
use record::theatre::Theatre;
use record::trace::{Recorder, Series, SeriesRow, TracePlan};
use scenario::{Problems, Scenario};
use sim::error::RunError;
use sim::metrics::{FlowRecord, Outcome, PortRecord};
use sim::probe::Probe;
use sim::run::{self, Limits, Watching};
use tables::Cell;

use super::columns;
use super::finished::Finished;
use super::folder::Folder;
use super::identity;
use super::info::RunInfo;
use super::point_result::PointResult;
use super::summary::Summary;

/// A run that is complete.
pub trait Recorded {
    /// All numbers except those of single flows and ports.
    fn summary(&self) -> &Summary;

    /// All settings, in the text that the program wrote.
    fn scenario_text(&self) -> &str;

    /// Calls `each` with every flow and its point, in order.
    fn flows(&self, each: &mut dyn FnMut(u32, &FlowRecord)) -> Result<(), Problems>;

    /// Calls `each` with every port and its point, in order.
    fn ports(&self, each: &mut dyn FnMut(u32, &PortRecord)) -> Result<(), Problems>;

    /// Calls `each` with the cells of these columns for every flow: `point` or columns of
    /// [`flow_fields`](super::flow_fields). A column that the run lacks is null.
    fn flow_cells(&self, columns: &[&str], each: Cells<'_>) -> Result<(), Problems>;

    /// Calls `each` with the cells of every port, in these columns of [`port_fields`](super::port_fields).
    fn port_cells(&self, columns: &[&str], each: Cells<'_>) -> Result<(), Problems>;

    /// Calls `each` with every recorded sample and event, if there are any.
    fn series(&self, each: &mut dyn FnMut(&SeriesRow<'_>)) -> Result<(), Problems>;

    /// The scene of a simulation for a page to play, as JSON; `None` if nothing was dropped or no scene was recorded.
    fn theatre(&self, point: u32, seed: u64) -> Result<Option<String>, Problems>;
}

/// Takes the cells of a row.
type Cells<'a> = &'a mut dyn FnMut(&[Cell<'_>]);

impl Recorded for Folder {
    fn summary(&self) -> &Summary {
        self.summary()
    }

    fn scenario_text(&self) -> &str {
        self.scenario_text()
    }

    fn flows(&self, each: &mut dyn FnMut(u32, &FlowRecord)) -> Result<(), Problems> {
        self.flows(each)
    }

    fn ports(&self, each: &mut dyn FnMut(u32, &PortRecord)) -> Result<(), Problems> {
        self.ports(each)
    }

    fn flow_cells(&self, columns: &[&str], each: Cells<'_>) -> Result<(), Problems> {
        self.cells("flows", columns, each)
    }

    fn port_cells(&self, columns: &[&str], each: Cells<'_>) -> Result<(), Problems> {
        self.cells("ports", columns, each)
    }

    fn series(&self, each: &mut dyn FnMut(&SeriesRow<'_>)) -> Result<(), Problems> {
        self.series(each)
    }

    fn theatre(&self, point: u32, seed: u64) -> Result<Option<String>, Problems> {
        self.theatre(point, seed)
    }
}

/// A run in memory, with the flows, ports and series that a run folder would have. For small runs: O(flows).
#[derive(Debug)]
pub struct RunInMemory {
    finished: Finished,
    scenario: String,
    /// One for each point.
    points: Vec<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    flows: Vec<FlowRecord>,
    ports: Vec<PortRecord>,
    series: Option<Series>,
    scene: Option<String>,
}

impl RunInMemory {
    /// Simulates every point of `scenario` on this thread and keeps its series.
    ///
    /// ```
    /// use results::{Recorded, RunInMemory};
    /// use scenario::{Overrides, Scenario, Source};
    /// use sim::run::Limits;
    ///
    /// let source = Source::new("small.toml", "schemes = [\"dctcp\"]\nworkload.senders = 4\n");
    /// let scenario = Scenario::load(source, &Overrides::default())?;
    /// let run = RunInMemory::simulate(&scenario, Limits::NONE);
    /// let mut flows = 0;
    /// run.flows(&mut |_, _| flows += 1)?;
    /// assert_eq!((run.summary().rows.len(), flows), (1, 4));
    /// # Ok::<(), scenario::Problems>(())
    /// ```
    ///
    /// # Panics
    /// See [`sim::run::run`].
    pub fn simulate(scenario: &Scenario, limits: Limits<'_>) -> Self {
        Self::of(scenario, |number, point| with_series(number, point, limits))
    }

    /// Simulates every point of `scenario` on this thread and keeps its scene, without series and causes.
    ///
    /// # Panics
    /// See [`sim::run::run`].
    pub fn play(scenario: &Scenario, limits: Limits<'_>) -> Self {
        Self::of(scenario, |_, point| with_scene(point, limits))
    }

    fn of(
        scenario: &Scenario,
        mut simulate: impl FnMut(u32, &PointSpec) -> Result<(PointResult, Kept), RunError>,
    ) -> Self {
        let mut points = Vec::new();
        let mut results = Vec::new();
        for (number, point) in (0..).zip(scenario.points()) {
            let (result, kept) = match simulate(number, point) {
                Ok((result, kept)) => (Ok(result), kept),
                Err(error) => (Err(error.to_string()), Kept::default()),
            };
            results.push(result);
            points.push(kept);
        }
        Self {
            finished: Finished {
                summary: Summary::new(scenario, &results),
                results,
                info: RunInfo::default(),
                of: None,
            },
            scenario: identity::text(scenario, None),
            points,
        }
    }

    /// Its numbers.
    pub const fn finished(&self) -> &Finished {
        &self.finished
    }
}

/// Runs a point, with its series if it records any.
fn with_series(
    number: u32,
    point: &PointSpec,
    limits: Limits<'_>,
) -> Result<(PointResult, Kept), RunError> {
    let plan = TracePlan::of(point);
    let series = plan.as_ref().map(|plan| Series::new(plan, number));
    let recorder = plan.as_ref().zip(series.as_ref());
    let mut recorder = recorder.map(|(plan, series)| Recorder::in_memory(plan, point, series));
    let probe = recorder.as_mut().map(|own| own as &mut dyn Probe);
    let watching = Watching {
        probe,
        breakdown: point.keys.trace.breakdown,
    };
    let outcome = run::watched(limits, point, watching);
    // The remaining rows go to memory, so that this cannot fail.
    let kept = recorder.map_or(Ok(()), Recorder::finish);
    kept.map_err(|error| RunError::Storage(error.to_string()))?;
    outcome.map(|outcome| kept_of(outcome, series, None))
}

/// Runs a point, with its scene if it dropped something.
fn with_scene(point: &PointSpec, limits: Limits<'_>) -> Result<(PointResult, Kept), RunError> {
    let mut theatre = Theatre::new(point);
    let watching = Watching {
        probe: Some(&mut theatre),
        breakdown: false,
    };
    let outcome = run::watched(limits, point, watching)?;
    Ok(kept_of(outcome, None, theatre.scene()))
}

fn kept_of(outcome: Outcome, series: Option<Series>, scene: Option<String>) -> (PointResult, Kept) {
    let result = PointResult::from(&outcome);
    let kept = Kept {
        flows: outcome.flows,
        ports: outcome.ports,
        series,
        scene,
    };
    (result, kept)
}

impl Recorded for RunInMemory {
    fn summary(&self) -> &Summary {
        &self.finished.summary
    }

    fn scenario_text(&self) -> &str {
        &self.scenario
    }

    fn flows(&self, each: &mut dyn FnMut(u32, &FlowRecord)) -> Result<(), Problems> {
        for (number, point) in (0..).zip(&self.points) {
            point.flows.iter().for_each(|flow| each(number, flow));
        }
        Ok(())
    }

    fn ports(&self, each: &mut dyn FnMut(u32, &PortRecord)) -> Result<(), Problems> {
        for (number, point) in (0..).zip(&self.points) {
            point.ports.iter().for_each(|port| each(number, port));
        }
        Ok(())
    }

    fn flow_cells(&self, columns: &[&str], each: Cells<'_>) -> Result<(), Problems> {
        let flows = self.points.iter().map(|point| &point.flows[..]);
        columns::rows(flows, columns, each);
        Ok(())
    }

    fn port_cells(&self, columns: &[&str], each: Cells<'_>) -> Result<(), Problems> {
        let ports = self.points.iter().map(|point| &point.ports[..]);
        columns::rows(ports, columns, each);
        Ok(())
    }

    fn series(&self, each: &mut dyn FnMut(&SeriesRow<'_>)) -> Result<(), Problems> {
        for series in self.points.iter().filter_map(|point| point.series.as_ref()) {
            series.each(each);
        }
        Ok(())
    }

    fn theatre(&self, point: u32, _seed: u64) -> Result<Option<String>, Problems> {
        let kept = self.points.get(point as usize);
        Ok(kept.and_then(|kept| kept.scene.clone()))
    }
}
