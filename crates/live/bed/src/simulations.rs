//! The simulations of a scheme beside its runs on Linux.

use std::iter;
use std::path::Path;

use protocol::Results;
use scenario::Scenario;

use crate::cell::Arm;
use crate::error::EmulateError;
use crate::measure::{self, with_alone};
use crate::order::{Detail, Order};
use crate::report::{RunReport, TwinReport};
use crate::series;
use crate::starts::Starts;
use crate::testbed::Testbed;
use crate::twin::{self, Calibration, Original, Traces};

/// The simulation of a scheme, for comparison with its runs on Linux. If every start was recorded and the workload is
/// an incast, each run replays its own starts. Otherwise runs are seeds, or a single one if nothing is random.
pub(crate) struct Simulations<'a> {
    arm: &'a Arm<'a>,
    scenario: Scenario,
    folder: &'a Path,
    /// The starts to replay, one for each run, and their files.
    starts: Vec<Starts>,
    traces: Vec<String>,
}

impl<'a> Simulations<'a> {
    pub(crate) fn of(
        arm: &'a Arm<'a>,
        bed: &Testbed,
        found: &Calibration,
        mut starts: Vec<Starts>,
        order: &'a Order,
    ) -> Result<Self, EmulateError> {
        let point = arm.points[0];
        let folder = order.folder.as_deref().unwrap_or(Path::new(""));
        if order.folder.is_none() || !twin::is_incast(point) {
            starts.clear();
        }
        let mut traces = Vec::new();
        for (run, starts) in starts.iter().enumerate() {
            let name = format!("starts-{}-{}-{}.csv", arm.number, point.scheme, run + 1);
            let written = starts.write(&folder.join(&name));
            written
                .map_err(|error| EmulateError::Failed(format!("cannot write {name}: {error}")))?;
            traces.push(name);
        }
        let original = Original {
            point,
            stack: &arm.stack,
            bed,
            found,
        };
        let names = &traces;
        let scenario = twin::of(original, Traces { folder, names }, order.runs)?;
        Ok(Self {
            arm,
            scenario,
            folder,
            starts,
            traces,
        })
    }

    /// Its scenario.
    pub(crate) fn describe(&self) -> TwinReport<'a> {
        let point = self.arm.points[0];
        TwinReport {
            point,
            file: format!("twin-{}-{}.toml", self.arm.number, point.scheme),
            toml: twin::text(&self.scenario, self.folder),
            starts: self.traces.clone(),
        }
    }

    /// How often it runs.
    pub(crate) fn runs(&self) -> usize {
        self.scenario.points().len()
    }

    /// Simulates one run; its flows would take these times alone.
    pub(crate) fn run(
        &self,
        run: usize,
        detail: Detail,
        alone: &[Option<f64>],
    ) -> Result<RunReport<'a>, EmulateError> {
        let simulated = &self.scenario.points()[run];
        let (outcome, series) = match detail {
            Detail::Series => {
                series::simulate(simulated).map(|(outcome, series)| (outcome, Some(series)))
            }
            _ => sim::run::run(simulated).map(|outcome| (outcome, None)),
        }
        .map_err(|error| EmulateError::Failed(error.to_string()))?;
        let starts = self.starts.get(run);
        // Completion times count from the start of a flow, not from its first bytes.
        let leads = starts.into_iter().flat_map(Starts::leads_us);
        let leads: Vec<f64> = leads
            .chain(iter::repeat(0.0))
            .take(outcome.flows.len())
            .collect();
        let both = || outcome.flows.iter().zip(&leads);
        let fct = both().filter_map(|(flow, lead)| Some(flow.fct_us.get()? + lead));
        let mut fct: Vec<f64> = fct.collect();
        fct.sort_by(f64::total_cmp);
        let mut metrics = outcome.metrics.clone();
        if starts.is_some() {
            measure::set_completions(&mut metrics, &fct);
        }
        let rows = both().map(|(flow, lead)| measure::simulated_row(flow, *lead));
        let has_flows = detail >= Detail::Flows;
        Ok(RunReport {
            point: self.arm.points[0],
            seed: simulated.seed,
            run: u32::try_from(run).unwrap_or(u32::MAX),
            results: Results::Simulated {
                metrics: Box::new(metrics),
            },
            fct_us: fct,
            flows: has_flows.then(|| with_alone(rows, alone)),
            ended_us: has_flows.then_some(outcome.cost.simulated_us),
            series,
        })
    }
}
