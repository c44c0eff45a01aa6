//! The simulations of a scheme beside its runs on Linux.

use std::iter;
use std::path::Path;

use protocol::{PointLine, Results, TwinLine};
use scenario::Scenario;

use crate::along;
use crate::cell::Arm;
use crate::error::EmulateError;
use crate::lines::{point_line, set, with_alone};
use crate::measure;
use crate::order::{Detail, Order};
use crate::starts::Starts;
use crate::testbed::Bed;
use crate::twin::{self, Found};

/// The simulation beside a scheme. If every start was recorded and the workload is an incast, each run replays its own
/// starts; otherwise runs are seeds, or one if nothing is drawn.
pub(crate) struct Simulations<'a> {
    arm: &'a Arm<'a>,
    scenario: Scenario,
    folder: &'a Path,
    /// The starts that it replays, one for each run, and their files.
    starts: Vec<Starts>,
    traces: Vec<String>,
}

impl<'a> Simulations<'a> {
    pub(crate) fn of(
        arm: &'a Arm<'a>,
        network: (&Bed, &Found),
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
        let scenario = twin::of(point, &arm.stack, network, (folder, &traces), order.runs)?;
        Ok(Self {
            arm,
            scenario,
            folder,
            starts,
            traces,
        })
    }

    pub(crate) fn line(&self) -> TwinLine {
        let point = self.arm.points[0];
        TwinLine {
            scheme: point.scheme.clone(),
            set: set(point),
            file: format!("twin-{}-{}.toml", self.arm.number, point.scheme),
            toml: twin::text(&self.scenario, self.folder),
            starts: self.traces.clone(),
        }
    }

    /// How often it runs.
    pub(crate) fn runs(&self) -> usize {
        self.scenario.points().len()
    }

    /// Simulates one run, whose flows take these times alone.
    pub(crate) fn run(
        &self,
        run: usize,
        order: &Order,
        alone: &[Option<f64>],
    ) -> Result<PointLine, EmulateError> {
        let simulated = &self.scenario.points()[run];
        let (outcome, along) = match order.detail {
            Detail::Series => {
                along::simulate(simulated).map(|(outcome, along)| (outcome, Some(along)))
            }
            _ => sim::run::run(simulated).map(|outcome| (outcome, None)),
        }
        .map_err(|error| EmulateError::Failed(error.to_string()))?;
        let starts = self.starts.get(run);
        // Completion times are from the start of a flow, not from its first bytes.
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
        let results = Results::Simulated {
            metrics: Box::new(metrics),
        };
        let number = u32::try_from(run).unwrap_or(u32::MAX);
        let mut line = point_line(self.arm.points[0], number, results, fct);
        line.seed = simulated.seed;
        if order.detail >= Detail::Flows {
            let rows = both().map(|(flow, lead)| measure::simulated_row(flow, *lead));
            line.flows = Some(with_alone(rows, alone));
            line.ended_us = Some(outcome.cost.simulated_us);
        }
        if let Some(along) = along {
            along.add_to(&mut line);
        }
        Ok(line)
    }
}
