//! The network of a cell on this machine: it is made, measured, used for runs, and removed.

use std::time::Duration;

use machine::{Sysctl, clock, kernel};
use plan::PointSpec;
use plan::workload::Plan;
use protocol::{Instead, LinuxRun, Results, UpLine};
use scenario::Scenario;

use crate::calibrate::{self, RateChoice};
use crate::cell::{Arm, Cell};
use crate::error::EmulateError;
use crate::lan::{Lan, Running};
use crate::measure::{self, Run, with_alone};
use crate::order::{Detail, Order};
use crate::report::{CaptureReport, NetworkReport, RunReport};
use crate::starts::Starts;
use crate::testbed::Testbed;
use crate::traffic::Work;
use crate::twin::Calibration;

/// The network of a cell.
pub(crate) struct Network {
    pub(crate) bed: Testbed,
    lan: Lan,
    pub(crate) found: Calibration,
    /// Settings from the user.
    sysctls: Vec<Sysctl>,
}

impl Network {
    /// Makes it and finds its highest speed.
    pub(crate) fn make(first: &PointSpec, order: &Order) -> Result<Self, EmulateError> {
        let bed = Testbed::with_sysctls(first, &order.sysctls)?;
        let (lan, found) = calibrate::network(&bed, &Plan::of(first), order.rate)?;
        Ok(Self {
            bed,
            lan,
            found,
            sysctls: order.sysctls.clone(),
        })
    }

    /// Removes it from the machine. `late_us` has the mean start lateness of each run.
    pub(crate) fn removed(self, mut late_us: Vec<f64>) -> (Testbed, Calibration) {
        late_us.sort_by(f64::total_cmp);
        let mut found = self.found;
        // Lateness uniform in [0, s] has mean s/2.
        found.spread_us = 2.0 * late_us.get(late_us.len() / 2).copied().unwrap_or(0.0);
        (self.bed, found)
    }

    /// One run of one scheme; its flows would take these times alone.
    pub(crate) fn run<'a>(
        &self,
        arm: &Arm<'a>,
        run: u32,
        order: &Order,
        alone: &[Option<f64>],
    ) -> Result<Ran<'a>, EmulateError> {
        let point = arm.points[run as usize % arm.points.len()];
        let plan = Plan::of(point);
        let duration = point.keys.run.duration.0;
        let limit = duration.map_or(LONGEST, clock::duration).min(LONGEST);
        let name = format!("capture-{}-{}.pcapng", arm.number, point.scheme);
        let folder = order.folder.as_ref().filter(|_| order.captures && run == 0);
        let capture = folder.map(|folder| folder.join(&name));
        let work = Work {
            connections: &plan.connections,
            flows: &plan.flows,
            barriers: &plan.barriers,
            dependencies: &plan.dependencies,
            control: arm.stack.control,
            nodelay: point.keys.tcp.nodelay,
            laws: &arm.stack.laws,
            tos: &arm.stack.tos,
            limit,
            capture: capture.as_deref(),
            over_time: order.detail == Detail::Series,
        };
        let network = Running {
            bed: &self.bed,
            lan: &self.lan,
            speed: self.found.speed,
        };
        let done = measure::run(network, &work)?;
        let results = Results::Linux {
            metrics: Box::new(done.metrics()),
            live: Box::new(self.judged(&done, arm.stack.control)),
        };
        let has_flows = order.detail >= Detail::Flows;
        Ok(Ran {
            report: RunReport {
                point,
                seed: point.seed,
                run,
                results,
                fct_us: done.completions_us(),
                flows: has_flows.then(|| with_alone(done.flows(), alone)),
                ended_us: has_flows.then(|| clock::micros(done.traffic.ended)),
                series: work.over_time.then(|| done.series()),
            },
            late_us: done.facts().start_lateness_mean_us,
            starts: Starts::of(&plan, &done.traffic.flows),
            capture: done.captured.map(|captured| CaptureReport {
                point,
                file: name,
                captured,
            }),
        })
    }

    /// The network of a cell, with all differences of its schemes from the scenario.
    pub(crate) fn describe<'a>(&self, cell: &Cell<'a>) -> NetworkReport<'a> {
        let Self { bed, found, .. } = self;
        let of_schemes = cell.arms.iter().flat_map(|arm| &arm.stack.different);
        let mut different: Vec<Instead> = Vec::new();
        for row in bed.different.iter().chain(of_schemes) {
            let row = Instead {
                key: row.key.to_owned(),
                instead: row.instead.clone(),
            };
            if !different.contains(&row) {
                different.push(row);
            }
        }
        different.extend(found.lateness_us.map(|late| Instead {
            key: "switch.burst_lateness".to_owned(),
            instead: format!(
                "packets that wait for tokens leave up to {late:.0} us late, at hosts as well"
            ),
        }));
        different.extend(self.sysctls.iter().map(|setting| Instead {
            key: setting.name(),
            instead: format!(
                "{}, as asked for; the twin has no such setting",
                setting.value
            ),
        }));
        let (nodes, hosts) = (bed.topology.nodes().len(), bed.topology.hosts().len());
        let count = |nodes| u32::try_from(nodes).unwrap_or(u32::MAX);
        NetworkReport {
            point: cell.arms[0].points[0],
            hosts: count(hosts),
            switches: count(nodes - hosts),
            rate_bps: found.speed.real,
            scenario_rate_bps: found.speed.planned,
            burst_bytes: Some((found.speed.burst * bed.packet_bytes()).into()),
            rtt_us: found.rtt_us,
            different,
        }
    }

    /// The other measurements of a run, and whether it is valid.
    fn judged(&self, done: &Run, control: &str) -> LinuxRun {
        let counts = done.told.counts.iter();
        let counts = counts.map(|(fate, packets)| ((*fate).to_owned(), *packets));
        LinuxRun {
            kernel: kernel::version(),
            rate_bps: self.found.speed.real,
            rtt_us: Some(self.found.rtt_us),
            control: Some(control.to_owned()),
            loss_probes: Some(done.loss_probes()),
            ports: Some(counts.collect()),
            ..done.facts().judged()
        }
    }
}

/// A run on Linux.
pub(crate) struct Ran<'a> {
    pub(crate) capture: Option<CaptureReport<'a>>,
    pub(crate) report: RunReport<'a>,
    /// The mean lateness of its flows' starts.
    pub(crate) late_us: Option<f64>,
    pub(crate) starts: Option<Starts>,
}

/// Makes the network of the first point of `scenario`, leaves it, and returns its description.
///
/// # Errors
/// If Linux cannot run the scenario, or the machine refuses.
pub fn up(
    scenario: &Scenario,
    rate: RateChoice,
    sysctls: &[Sysctl],
) -> Result<UpLine, EmulateError> {
    let point = &scenario.points()[0];
    let bed = Testbed::with_sysctls(point, sysctls)?;
    let (lan, speed) = calibrate::at_speed(&bed, &Plan::of(point), rate)?;
    let nodes = lan.namespaces().iter().map(|node| node.name().to_owned());
    let nodes: Vec<_> = nodes.collect();
    let run = lan.keep()?;
    Ok(UpLine {
        run,
        nodes,
        rate_bps: speed.real,
    })
}

/// Flows that take longer are reported as unfinished.
const LONGEST: Duration = Duration::from_mins(2);
