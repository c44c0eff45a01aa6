//! Draws a model over the queue of the simulator.

use ::report::Figure;
use base::cast::real;
use base::setting::Settings as _;
use base::{Rate, Span, Time};
use fabric::PortId;
use plan::PointSpec;
use record::trace::TracePlan;
use scenario::{Overrides, Problem, Problems, Scenario, Source};
use sim::probe::Probe;
use sim::run;
use theory::answer::{Answer, AnswerCell, Curve, CurveShape, Model};
use theory::rwndq::{self, Parameters};

use super::draw;
use super::settings::Settings;
use crate::output::{self, Stop};

/// Simulates the situation of the model and adds the resulting queue to its table and its figure.
pub(super) fn simulate(
    model: &Model,
    settings: &Settings<'_>,
    answer: &mut Answer,
    figures: &mut [Figure],
) -> Result<(), Stop> {
    if model.name != rwndq::MODEL.name {
        let message = format!("--simulate has nothing to run for {}", model.name);
        let help = "its equations do not describe the queue of one scenario; only `tailwater model rwndq` has --simulate";
        return Err(Problems::from(Problem::new(message).help(help)).into());
    }
    let parameters = Parameters::read(&|key| settings.text(key));
    let parameters = parameters
        .map_err(|error| Problem::new(error.error.message))
        .map_err(Problems::from)?;
    let scenario = scenario(&parameters)?;
    let queue = queue(&scenario.points()[0], &parameters)?;
    let half = parameters.duration.as_secs() / 2.0;
    let (mean, least, greatest) = queue.over(half);
    let cells = [f64::NAN, f64::NAN, queue.most, mean, least, greatest];
    if let Some(table) = answer.tables.first_mut() {
        let cells = cells.map(AnswerCell::from).to_vec();
        table.rows.push(("in the simulator".into(), cells));
    }
    answer.notes.push(format!(
        "Simulated: {} long flows under rwndq; least, greatest and drawn are means over {:.3} ms, and the \
         packet in service is not counted.",
        parameters.flows.0,
        queue.bin * 1e3
    ));
    let points = (1_u32..).map(f64::from).zip(&queue.means);
    let curve = Curve {
        label: "simulator".into(),
        shape: CurveShape::Line,
        points: points
            .map(|(bin, mean)| ((bin - 0.5) * queue.bin * 1e3, *mean))
            .collect(),
    };
    if let Some(figure) = figures.first_mut() {
        // Behind the model, which is smoother.
        figure.lines.insert(0, draw::line(&curve, SIMULATOR));
    }
    Ok(())
}

/// The dumbbell of the paper's §IV with these settings. The senders' links are a tenth faster than the bottleneck.
fn scenario(parameters: &Parameters) -> Result<Scenario, Stop> {
    let rate = parameters.rate.as_bps();
    let tenth = Span::from_ps(parameters.rtt.as_ps() / 10);
    // Twice two links of hosts and the link between the switches.
    let middle = Span::from_ps(parameters.rtt.as_ps() / 2 - 2 * tenth.as_ps());
    let text = format!(
        r#"name = "model"
schemes = ["rwndq"]
topology.kind = "dumbbell"
link = {{ rate = "{}", delay = "{tenth}" }}
bottleneck = {{ rate = "{}", delay = "{middle}" }}
switch = {{ buffer = "{}B", ecn_threshold = "off" }}
tcp = {{ mss = {}, min_rto = "2ms", initial_rto = "2ms", syn_rto = "2ms" }}
net.header_bytes = 40
workload = {{ kind = "pairs", senders = {}, size = "unlimited", start = "0s" }}
run.duration = "{}"
trace.series = "queue"
rwndq = {{ target = {:?}, interval = "{}", samples = {} }}
"#,
        Rate::from_bps(rate + rate / 10),
        parameters.rate,
        parameters.buffer.in_bytes(u64::from(parameters.packet.0)),
        parameters.packet.0.saturating_sub(40),
        parameters.flows.0,
        parameters.duration,
        parameters.target.0,
        parameters.interval,
        parameters.samples.0,
    );
    let source = Source::new("model.toml", text);
    Ok(Scenario::load(source, &Overrides::default())?)
}

/// Simulates a point and averages the queue of its bottleneck.
fn queue(point: &PointSpec, parameters: &Parameters) -> Result<Queue, Stop> {
    let plan = TracePlan::of(point);
    let port = plan.and_then(|plan| plan.ports().next());
    let mut queue = Queue {
        port: port.expect("the bottleneck is traced"),
        bin: parameters.duration.as_secs() / BINS,
        packet: f64::from(parameters.packet.0),
        means: Vec::new(),
        sum: 0.0,
        level: 0.0,
        since: 0.0,
        most: 0.0,
    };
    run::observe(point, &mut queue).map_err(|error| {
        output::complain(&format!("failed: {error}"));
        Stop::Failed
    })?;
    queue.pass(parameters.duration.as_secs());
    Ok(queue)
}

/// A queue over time as means over equal intervals, in packets.
struct Queue {
    port: PortId,
    /// Length of an interval in s.
    bin: f64,
    /// Bytes of a packet.
    packet: f64,
    means: Vec<f64>,
    /// The integral over the current interval, the current level, and its start.
    sum: f64,
    level: f64,
    since: f64,
    /// Longest queue at any time.
    most: f64,
}

impl Queue {
    /// Advances time at the current level.
    fn pass(&mut self, now: f64) {
        loop {
            let place = u32::try_from(self.means.len() + 1).unwrap_or(u32::MAX);
            let end = f64::from(place) * self.bin;
            if now < end {
                break;
            }
            self.sum += self.level * (end - self.since);
            self.means.push(self.sum / self.bin);
            (self.sum, self.since) = (0.0, end);
        }
        self.sum += self.level * (now - self.since);
        self.since = now;
    }

    /// Mean, least and greatest of the intervals from `start` on.
    fn over(&self, start: f64) -> (f64, f64, f64) {
        let places = (0_u32..).map(f64::from).zip(&self.means);
        let after = places.filter(|(place, _)| place * self.bin >= start - 1e-12);
        let means: Vec<f64> = after.map(|(_, mean)| *mean).collect();
        let count = f64::from(u32::try_from(means.len()).unwrap_or(u32::MAX));
        (
            means.iter().sum::<f64>() / count,
            means.iter().copied().fold(f64::INFINITY, f64::min),
            means.iter().copied().fold(0.0, f64::max),
        )
    }
}

impl Probe for Queue {
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if port != self.port {
            return;
        }
        self.pass(at.as_secs());
        let packets = real(waiting) / self.packet;
        self.level = packets;
        self.most = self.most.max(packets);
    }
}

/// Points of the curve: more than a column of a paper can show.
const BINS: f64 = 400.0;

/// Its place in the palette: light blue.
const SIMULATOR: usize = 5;
