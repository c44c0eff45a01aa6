//! A scenario on real stacks and, with the network as it was found, in the simulator.
//!
//! Results are told as lines of the [`protocol`], in the order in which they are known; nothing here speaks to people.

use std::io;
use std::iter;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use machine::{Sysctl, clock, interrupt};
use protocol::{
    BedLine, CaptureLine, EmulationLine, FlowRow, Instead, Line, LinuxRun, PointLine, Results,
    Settings, SkippedLine, TwinLine, UpLine,
};
use scenario::workload::Plan;
use scenario::{PointSpec, Problems, Scenario};

use crate::bed::Bed;
use crate::linux::alone::{self, Unknown};
use crate::linux::along;
use crate::linux::calibrate::{self, RateChoice, Unfit};
use crate::linux::cell::{self, Arm, Cell};
use crate::linux::lan::{Lan, Speed};
use crate::linux::measure::{self, Run};
use crate::linux::paths;
use crate::linux::starts::Starts;
use crate::linux::traffic::Work;
use crate::linux::twin::{self, Found};

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Order {
    /// How fast the links are.
    pub rate: RateChoice,
    /// What the user asks of every host besides.
    pub sysctls: Vec<Sysctl>,
    /// How often every scheme runs.
    pub runs: NonZeroU32,
    /// Whether the twins are simulated.
    pub simulate: bool,
    /// The run folder, if there is one: traces of starts go there, which twins replay.
    pub folder: Option<PathBuf>,
    /// Whether packets of the first run of every scheme go there, too.
    pub captures: bool,
    /// How much is told of every run.
    pub detail: Detail,
}

/// How much is told of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, ValueEnum)]
pub enum Detail {
    /// Its metrics.
    Metrics,
    /// Every flow, too.
    Flows,
    /// The queue, what is read and the losses over time, too.
    Series,
}

/// Why it was not done.
#[derive(Debug)]
pub enum Failure {
    /// Linux cannot have the scenario.
    Problems(Problems),
    /// The machine lacks something, or refused.
    Machine(String),
    /// A simulation failed, or a file.
    Failed(String),
    /// The input was wrong, which has been said.
    Refused,
    /// A signal was heard.
    Interrupted,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted if interrupt::heard().is_some() => Self::Interrupted,
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
                Self::Machine(error.to_string())
            }
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl From<Unknown> for Failure {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Problems(problems) => problems.into(),
            Unknown::Failed(why) => Self::Failed(why),
        }
    }
}

impl From<tun::Failure> for Failure {
    fn from(failure: tun::Failure) -> Self {
        match failure {
            tun::Failure::Problems(problems) => problems.into(),
            tun::Failure::Io(error) => error.into(),
        }
    }
}

/// Runs every point of `scenario`, whose seeds are the runs, and tells each result.
///
/// # Errors
/// If Linux cannot have the scenario, or the machine refuses. The network is removed all the same.
pub fn emulate(
    scenario: &Scenario,
    order: &Order,
    tell: &mut dyn FnMut(Line),
) -> Result<(), Failure> {
    // Nothing is made if any part of the scenario is refused.
    let cells = cell::all(scenario)?;
    tell(begins(scenario, order));
    for cell in &cells {
        for (point, reason) in &cell.left_out {
            tell(skipped(point, reason.clone()));
        }
        run_cell(cell, order, tell)?;
    }
    Ok(())
}

/// The first line of an emulation.
pub(crate) fn begins(scenario: &Scenario, order: &Order) -> Line {
    Line::Emulation(EmulationLine {
        scenario: scenario.name().to_owned(),
        runs: order.runs.get(),
        version: sim::VERSION.to_owned(),
    })
}

/// The line of a scheme that does not run.
pub(crate) fn skipped(point: &PointSpec, reason: String) -> Line {
    Line::Skipped(SkippedLine {
        scheme: point.scheme.clone(),
        set: set(point),
        reason,
    })
}

/// Makes the network of the first point of `scenario` and leaves it. Returns what it is.
///
/// # Errors
/// As [`emulate`].
pub fn up(scenario: &Scenario, rate: RateChoice, sysctls: &[Sysctl]) -> Result<UpLine, Failure> {
    let point = &scenario.points()[0];
    let bed = bed(point, sysctls)?;
    let lan = Lan::up(&bed, calibrate::planned(&bed))?;
    let speed = fit(calibrate::speed(&bed, &lan, &Plan::of(point), rate))?;
    let nodes = lan.namespaces().iter().map(|node| node.name().to_owned());
    let nodes: Vec<_> = nodes.collect();
    let run = lan.keep()?;
    Ok(UpLine {
        run,
        nodes,
        rate_bps: speed.real,
    })
}

/// Runs the schemes of a cell in turn, so that what disturbs the machine disturbs all of them, and then their twins.
fn run_cell(cell: &Cell<'_>, order: &Order, tell: &mut dyn FnMut(Line)) -> Result<(), Failure> {
    let Some(first) = cell.arms.first() else {
        return Ok(());
    };
    let network = Network::make(first.points[0], order)?;
    tell(Line::Bed(describe(cell, order, &network)));
    let alone = cell.arms.iter().map(|arm| match &order.folder {
        Some(folder) if order.detail >= Detail::Flows => {
            alone::completions_us(arm, (&network.bed, &network.found), folder)
        }
        _ => Ok(Vec::new()),
    });
    let alone = alone.collect::<Result<Vec<_>, _>>()?;
    let mut late = Vec::new();
    let mut starts: Vec<Vec<Option<Starts>>> = vec![Vec::new(); cell.arms.len()];
    for run in 0..order.runs.get() {
        for ((arm, alone), starts) in cell.arms.iter().zip(&alone).zip(&mut starts) {
            let ran = network.run(arm, run, order, alone)?;
            ran.capture
                .map(Line::Capture)
                .into_iter()
                .for_each(&mut *tell);
            tell(Line::Point(Box::new(ran.point)));
            late.extend(ran.late_us);
            starts.push(ran.starts);
        }
    }
    // The simulator would take the cores from the kernel.
    let (bed, found) = network.removed(late);
    if !order.simulate {
        return Ok(());
    }
    for ((arm, starts), alone) in cell.arms.iter().zip(starts).zip(&alone) {
        let starts = starts.into_iter().collect::<Option<Vec<_>>>();
        let twin = Twin::of(arm, (&bed, &found), starts.unwrap_or_default(), order)?;
        tell(Line::Twin(twin.line()));
        for run in 0..twin.runs() {
            interrupt::check()?;
            tell(Line::Point(Box::new(twin.run(run, order, alone)?)));
        }
    }
    Ok(())
}

/// The network of a cell.
struct Network {
    bed: Bed,
    lan: Lan,
    found: Found,
}

impl Network {
    /// Makes it, and finds how fast it can be.
    fn make(first: &PointSpec, order: &Order) -> Result<Self, Failure> {
        let bed = bed(first, &order.sysctls)?;
        let lan = Lan::up(&bed, calibrate::planned(&bed))?;
        let plan = Plan::of(first);
        let speed = fit(calibrate::speed(&bed, &lan, &plan, order.rate))?;
        let (rtt_us, links) = calibrate::round_trip(&bed, &lan, &plan)?;
        let found = Found {
            speed,
            rtt_us,
            links,
            spread_us: 0.0,
        };
        Ok(Self { bed, lan, found })
    }

    /// Removes it from the machine. Its runs started late by these times on average.
    fn removed(self, mut late_us: Vec<f64>) -> (Bed, Found) {
        late_us.sort_by(f64::total_cmp);
        let mut found = self.found;
        // Lateness uniform in [0, s] has mean s/2.
        found.spread_us = 2.0 * late_us.get(late_us.len() / 2).copied().unwrap_or(0.0);
        (self.bed, found)
    }

    /// One run of one scheme, whose flows take these times alone.
    fn run(
        &self,
        arm: &Arm<'_>,
        run: u32,
        order: &Order,
        alone: &[Option<f64>],
    ) -> Result<Ran, Failure> {
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
            control: arm.stack.control,
            nodelay: point.keys.tcp.nodelay,
            laws: &arm.stack.laws,
            tos: &arm.stack.tos,
            limit,
            capture: capture.as_deref(),
            over_time: order.detail == Detail::Series,
        };
        let done = measure::run(&self.bed, &self.lan, self.found.speed, &work)?;
        let results = Results::Linux {
            metrics: Box::new(done.metrics()),
            live: Box::new(self.judged(&done, arm.stack.control)),
        };
        let mut line = point_line(point, run, results, done.completions_us());
        if order.detail >= Detail::Flows {
            line.flows = Some(with_alone(done.flows(), alone));
            line.ended_us = Some(clock::micros(done.traffic.ended));
        }
        if order.detail == Detail::Series {
            done.along().add_to(&mut line);
        }
        Ok(Ran {
            capture: done.captured.map(|captured| CaptureLine {
                scheme: point.scheme.clone(),
                set: set(point),
                file: name,
                packets: captured.packets,
                lost: captured.lost.into(),
                left_out: captured.left_out,
            }),
            point: line,
            late_us: done.facts().start_lateness_mean_us,
            starts: Starts::of(&plan, &done.traffic.flows),
        })
    }

    /// What was measured of a run besides its metrics, and whether it is valid.
    fn judged(&self, done: &Run, control: &str) -> LinuxRun {
        let counts = done.told.counts.iter();
        let counts = counts.map(|(fate, packets)| ((*fate).to_owned(), *packets));
        LinuxRun {
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
struct Ran {
    capture: Option<CaptureLine>,
    point: PointLine,
    /// By how much its flows started late on average.
    late_us: Option<f64>,
    starts: Option<Starts>,
}

/// The bed of a point with these settings of its hosts besides.
fn bed(point: &PointSpec, sysctls: &[Sysctl]) -> Result<Bed, Problems> {
    let mut bed = Bed::of(point)?.with(sysctls);
    bed.watched = paths::busiest(&bed, &Plan::of(point).connections);
    Ok(bed)
}

fn fit(speed: Result<Speed, Unfit>) -> Result<Speed, Failure> {
    speed.map_err(|unfit| match unfit {
        Unfit::Failed(error) => error.into(),
        unfit @ Unfit::TooFast(..) => {
            Failure::Machine(format!("{unfit}; leave out --rate, or give a lower one"))
        }
    })
}

/// The network of a cell, with everything that its schemes have otherwise than the scenario says.
fn describe(cell: &Cell<'_>, order: &Order, network: &Network) -> BedLine {
    let Network { bed, found, .. } = network;
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
    different.extend(order.sysctls.iter().map(|setting| Instead {
        key: setting.name(),
        instead: format!(
            "{}, as asked for; the twin has no such setting",
            setting.value
        ),
    }));
    let (nodes, hosts) = (bed.topology.nodes().len(), bed.topology.hosts().len());
    let count = |nodes| u32::try_from(nodes).unwrap_or(u32::MAX);
    BedLine {
        set: set(cell.arms[0].points[0]),
        kernel: calibrate::kernel(),
        hosts: count(hosts),
        switches: count(nodes - hosts),
        rate_bps: found.speed.real,
        scenario_rate_bps: found.speed.planned,
        burst_bytes: Some((found.speed.burst * bed.packet_bytes()).into()),
        rtt_us: found.rtt_us,
        different,
    }
}

/// The simulation beside a scheme. If every start was recorded and the workload is an incast, each run replays its own
/// starts; otherwise runs are seeds, or one if nothing is drawn.
struct Twin<'a> {
    arm: &'a Arm<'a>,
    scenario: Scenario,
    folder: &'a Path,
    /// The starts that it replays, one for each run, and their files.
    starts: Vec<Starts>,
    traces: Vec<String>,
}

impl<'a> Twin<'a> {
    fn of(
        arm: &'a Arm<'a>,
        network: (&Bed, &Found),
        mut starts: Vec<Starts>,
        order: &'a Order,
    ) -> Result<Self, Failure> {
        let point = arm.points[0];
        let folder = order.folder.as_deref().unwrap_or(Path::new(""));
        if order.folder.is_none() || !twin::is_incast(point) {
            starts.clear();
        }
        let mut traces = Vec::new();
        for (run, starts) in starts.iter().enumerate() {
            let name = format!("starts-{}-{}-{}.csv", arm.number, point.scheme, run + 1);
            let written = starts.write(&folder.join(&name));
            written.map_err(|error| Failure::Failed(format!("cannot write {name}: {error}")))?;
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

    fn line(&self) -> TwinLine {
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
    fn runs(&self) -> usize {
        self.scenario.points().len()
    }

    /// Simulates one run, whose flows take these times alone.
    fn run(&self, run: usize, order: &Order, alone: &[Option<f64>]) -> Result<PointLine, Failure> {
        let simulated = &self.scenario.points()[run];
        let (outcome, along) = match order.detail {
            Detail::Series => {
                along::simulate(simulated).map(|(outcome, along)| (outcome, Some(along)))
            }
            _ => sim::run::run(simulated).map(|outcome| (outcome, None)),
        }
        .map_err(|error| Failure::Failed(error.to_string()))?;
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

/// The line of a run of `point`, without single flows and series.
pub(crate) fn point_line(
    point: &PointSpec,
    run: u32,
    results: Results,
    fct_us: Vec<f64>,
) -> PointLine {
    PointLine {
        scheme: point.scheme.clone(),
        seed: point.seed,
        run,
        set: set(point),
        results,
        fct_us,
        flows: None,
        ended_us: None,
        queue: None,
        arrivals: None,
        losses: None,
    }
}

/// Rows of flows with the times that they take alone, if these are known.
fn with_alone(rows: impl Iterator<Item = FlowRow>, alone: &[Option<f64>]) -> Vec<FlowRow> {
    let alone = alone.iter().copied().chain(iter::repeat(None));
    rows.zip(alone)
        .map(|(row, alone_us)| FlowRow { alone_us, ..row })
        .collect()
}

/// The settings of a point that have several values.
pub(crate) fn set(point: &PointSpec) -> Settings {
    point.set.iter().cloned().collect()
}

/// What is unfinished after this is told as unfinished.
const LONGEST: Duration = Duration::from_mins(2);
