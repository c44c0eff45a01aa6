//! RWNDQ's difference equations (RWNDQ §III, eqs. 1 to 3).
//!
//! One window W, that of all flows together, moves every M samples by the sum of the samples' distances
//! from the target; the queue Q integrates what half a round trip ago was allowed to be sent, less what
//! the link takes. Lengths are in packets, times in seconds.
//!
//! ```text
//! (1)  W(t + M T) = W(t) + beta(t)           or + 2 packets per flow in slow start
//! (2)  beta = M - (sum of Q over M samples) / (alpha B), over M
//! (3)  Q(t) = [Q(t - T) + T / RTT * W(t - RTT / 2) - C T]+
//! ```
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | C | `rwndq.rate` | 10 Gbit/s | §IV |
//! | RTT | `rwndq.rtt` | 100 us | §IV |
//! | B | `rwndq.buffer` | 83 packets | §IV |
//! | alpha | `rwndq.target` | 0.2 | §IV |
//! | T, M | `rwndq.interval`, `rwndq.samples` | 50 us, 10 | §IV |
//!
//! Deviations: eq. 2 as printed lacks the 1 of which the mean is subtracted and the number of samples
//! it is divided by, which Alg. 1 l. 21 has; with a constant RTT, as eq. 3 is printed, the queue ends in a
//! limit cycle from empty to 43 packets, so that the round trip of eq. 3 is taken to grow with the queue
//! (`rwndq.growing_rtt`), as a round trip does: Fig. 1 then comes out.
//!
//! Open in the paper: which W counts at the instant of an update. Here it is the one in force before:
//! what arrives in the interval that ends at t left with it.

use base::setting::Settings;
use base::{Count, Fraction, Rate, Span, WireSize};

use crate::answer::{
    Answer, AnswerCell, AnswerTable, Chart, ChartAxis, Curve, CurveShape, Model, NoAnswer, columns,
};
use base::cast::{count, real};

use crate::number::{ROUNDING, whole};

base::settings! {
    /// Settings of the model.
    pub struct Parameters in "rwndq" {
        /// Rate of the bottleneck.
        pub rate: Rate = "10Gbps",
        /// Round trip with an empty queue.
        pub rtt: Span = "100us",
        /// Buffer of the bottleneck.
        pub buffer: WireSize = "83pkt",
        /// Target of the queue as a share of the buffer.
        pub target: Fraction = "0.2",
        /// Time between two samples of the queue.
        pub interval: Span = "50us",
        /// Samples from one change of the window to the next.
        pub samples: Count = "10",
        /// Flows, of which each gains two packets per update in slow start.
        pub flows: Count = "1",
        /// Whether windows begin in slow start; both are drawn and this one is compared with a simulation.
        pub slow_start: bool = "true",
        /// Whether the round trip includes the queueing delay; false is equation 3 as printed.
        pub growing_rtt: bool = "true",
        /// Bytes of a packet on the wire.
        pub packet: Count = "1500",
        /// How long to compute.
        pub duration: Span = "200ms",
    }
}

/// The registry entry.
pub const MODEL: Model = Model {
    name: "rwndq",
    summary: "RWNDQ's difference equations (1) to (3): the queue and the window over time",
    source: "RWNDQ section III-B",
    keys: Parameters::KEYS,
    answer: |text| answer(&Parameters::read(text)?),
};

/// Equations (1) to (3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// C in packets/s.
    pub rate: f64,
    /// RTT without a queue in s.
    pub rtt: f64,
    /// alpha B in packets.
    pub target: f64,
    /// T in s.
    pub interval: f64,
    /// M.
    pub samples: u32,
    /// How many flows gain two packets per update in slow start.
    pub flows: f64,
    /// Whether they begin so.
    pub slow_start: bool,
    /// Whether the round trip includes the queueing delay.
    pub growing_rtt: bool,
}

/// The state after a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledState {
    /// Time in s.
    pub time: f64,
    /// Q in packets.
    pub queue: f64,
    /// W in packets.
    pub window: f64,
}

/// What a solution comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolutionSummary {
    /// When the queue first reaches the target, in s; NaN if never.
    pub reached: f64,
    /// Longest queue in packets.
    pub longest: f64,
    /// From when on the queue stays within 1 % of its last value, in s; NaN if it does not settle.
    pub settled: f64,
    /// Mean, least and greatest queue of the second half, in packets.
    pub mean: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

impl Loop {
    /// The equations for these settings.
    pub fn new(parameters: &Parameters) -> Self {
        let packet = f64::from(parameters.packet.0);
        Self {
            rate: crate::number::bits(parameters.rate) / 8.0 / packet,
            rtt: parameters.rtt.as_secs(),
            target: parameters.target.0 * buffer(parameters),
            interval: parameters.interval.as_secs(),
            samples: parameters.samples.0,
            flows: f64::from(parameters.flows.0),
            slow_start: parameters.slow_start,
            growing_rtt: parameters.growing_rtt,
        }
    }

    /// Samples until `duration` has passed. The window begins at the target (Alg. 1 l. 3, §III-A).
    pub fn run(&self, duration: f64) -> Vec<SampledState> {
        let mut windows = vec![self.target];
        let (mut queue, mut sum, mut slow_start) = (0.0_f64, 0.0, self.slow_start);
        let mut samples = Vec::new();
        let steps = whole(duration / self.interval);
        for step in 1..=steps {
            let time = count(step) * self.interval;
            let rtt = if self.growing_rtt {
                self.rtt + queue / self.rate
            } else {
                self.rtt
            };
            // Windows are constant between samples; wanted is the one in force just before `past`.
            let past = (time - self.rtt / 2.0) / self.interval;
            let before = whole((libm::ceil(past - ROUNDING) - 1.0).max(0.0));
            let arrived = self.interval / rtt * windows[before];
            queue = (queue + arrived - self.rate * self.interval).max(0.0);
            sum += 1.0 - queue / self.target;
            let mut window = windows[step - 1];
            if step % whole(f64::from(self.samples)) == 0 {
                if slow_start {
                    window += 2.0 * self.flows;
                    slow_start = queue < self.target;
                } else {
                    window += sum / f64::from(self.samples);
                }
                // No flow's window falls below one packet.
                window = window.max(self.flows);
                sum = 0.0;
            }
            windows.push(window);
            samples.push(SampledState {
                time,
                queue,
                window,
            });
        }
        samples
    }

    /// What `samples` come to.
    pub fn summary(&self, samples: &[SampledState]) -> SolutionSummary {
        let nothing = f64::NAN;
        let Some(last) = samples.last() else {
            return SolutionSummary {
                reached: nothing,
                longest: nothing,
                settled: nothing,
                mean: nothing,
                least: nothing,
                greatest: nothing,
            };
        };
        let half = &samples[samples.len() / 2..];
        let queues = || half.iter().map(|sample| sample.queue);
        let mean = queues().sum::<f64>() / count(half.len());
        let (least, greatest) = (
            queues().fold(f64::INFINITY, f64::min),
            queues().fold(0.0, f64::max),
        );
        let within = |sample: &SampledState| (sample.queue - last.queue).abs() <= 0.01 * last.queue;
        let from = samples.iter().rposition(|sample| !within(sample));
        let from = from.map_or(0, |place| place + 1);
        // What is still on its way at the end has not settled.
        let settles = last.queue > 0.0 && from < samples.len() / 2;
        // From below it is approached for ever; that rounding ends there is no arrival.
        let above = self.target * (1.0 + ROUNDING);
        let reached = samples.iter().find(|sample| sample.queue >= above);
        let longest = samples.iter().map(|sample| sample.queue);
        SolutionSummary {
            reached: reached.map_or(nothing, |sample| sample.time),
            longest: longest.fold(0.0, f64::max),
            settled: if settles { samples[from].time } else { nothing },
            mean,
            least,
            greatest,
        }
    }
}

/// The buffer in packets.
fn buffer(parameters: &Parameters) -> f64 {
    let packet = u64::from(parameters.packet.0);
    real(parameters.buffer.in_bytes(packet)) / real(packet)
}

fn answer(parameters: &Parameters) -> Result<Answer, NoAnswer> {
    check(parameters)?;
    let chosen = Loop::new(parameters);
    let duration = parameters.duration.as_secs();
    let variants = [true, false].map(|slow_start| Loop {
        slow_start,
        ..chosen
    });
    let mut table = AnswerTable {
        name: "queue",
        case: "windows begin",
        columns: columns([
            ("target reached", "ms"),
            ("settled", "ms"),
            ("longest queue", "pkt"),
            ("mean", "pkt"),
            ("least", "pkt"),
            ("greatest", "pkt"),
        ]),
        rows: Vec::new(),
    };
    let (mut queues, mut windows) = (Vec::new(), Vec::new());
    for variant in variants {
        let samples = variant.run(duration);
        let summary = variant.summary(&samples);
        let label = if variant.slow_start {
            "with slow start"
        } else {
            "without slow start"
        };
        let cells = [
            summary.reached * 1e3,
            summary.settled * 1e3,
            summary.longest,
            summary.mean,
            summary.least,
            summary.greatest,
        ];
        table
            .rows
            .push((label.to_owned(), cells.map(AnswerCell::from).to_vec()));
        let points = |of: fn(&SampledState) -> f64| {
            let points = samples.iter().map(|sample| (sample.time * 1e3, of(sample)));
            points.collect()
        };
        queues.push(Curve::line(label, points(|sample| sample.queue)));
        windows.push(Curve::line(label, points(|sample| sample.window)));
    }
    let level = |value: f64, label: &str| Curve {
        label: label.to_owned(),
        shape: CurveShape::Reference,
        points: vec![(0.0, value), (duration * 1e3, value)],
    };
    queues.push(level(chosen.target, "target"));
    windows.push(level(
        chosen.rate * chosen.rtt + chosen.target,
        "path and target",
    ));
    Ok(Answer {
        tables: vec![table],
        notes: notes(parameters, &chosen),
        charts: charts(queues, windows),
    })
}

fn charts(queues: Vec<Curve>, windows: Vec<Curve>) -> Vec<Chart> {
    let time = ChartAxis::new("Time", "ms");
    vec![
        Chart {
            name: "queue",
            title: "Queue by RWNDQ's difference equations",
            caption: "Equations (1) to (3), as Fig. 1 of the paper draws them.".into(),
            x: time,
            y: ChartAxis::new("Queue", "packets"),
            curves: queues,
        },
        Chart {
            name: "window",
            title: "Window of all flows by RWNDQ's difference equations",
            caption: "Settled, it holds what the path holds and the target.".into(),
            x: time,
            y: ChartAxis::new("Window", "packets"),
            curves: windows,
        },
    ]
}

fn notes(parameters: &Parameters, chosen: &Loop) -> Vec<String> {
    let mut notes = vec![format!(
        "Mean, least and greatest queue are those of the second half; settled is what stays within 1 % of \
         the end. The target is {:.1} packets, the path holds {:.1}; the window moves every {:.3} ms.",
        chosen.target,
        chosen.rate * chosen.rtt,
        chosen.interval * f64::from(chosen.samples) * 1e3
    )];
    if !parameters.growing_rtt {
        notes.push(
            "Equation (3) as printed has a constant round trip: a longer queue does not slow the senders \
             down, nothing damps the loop, and it ends in a limit cycle."
                .into(),
        );
    }
    notes
}

/// Settings for which the equations mean something.
fn check(parameters: &Parameters) -> Result<(), NoAnswer> {
    if parameters.interval.as_ps() == 0 {
        let message = "the samples have no time between them";
        return Err(NoAnswer::new(
            "rwndq.interval",
            message,
            "the paper has 50us",
        ));
    }
    if parameters.rtt.as_ps() == 0 {
        let message = "a round trip of 0 has no window";
        return Err(NoAnswer::new("rwndq.rtt", message, "the paper has 100us"));
    }
    if Loop::new(parameters).target <= 0.0 {
        let message = "the target is an empty queue, of which no queue is a share";
        return Err(NoAnswer::new(
            "rwndq.target",
            message,
            "the paper has 0.2 of 83pkt",
        ));
    }
    let steps = parameters.duration.as_ps() / parameters.interval.as_ps();
    if !(1..=MOST_STEPS).contains(&steps) {
        let message = format!("{steps} samples of rwndq.interval are not from 1 to {MOST_STEPS}");
        return Err(NoAnswer::new(
            "rwndq.duration",
            message,
            "choose a duration in between",
        ));
    }
    Ok(())
}

/// Some ten megabytes.
const MOST_STEPS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> Loop {
        Loop::new(&Parameters::defaults())
    }

    fn summary(equations: &Loop, duration: f64) -> SolutionSummary {
        equations.summary(&equations.run(duration))
    }

    // Clauses: RWNDQ-eq1
    #[test]
    fn figure_1_settles_at_the_target_with_and_without_slow_start() {
        // B = 83 packets, alpha = 0.2: 16.6. Slow start gains 2 packets per 500 us from 16.6 on; path and
        // target, 83.3 + 16.6, are full after 42 updates, 21 ms, and the queue overshoots a little.
        let with = summary(&paper(), 1.0);
        assert!((with.reached - 21.2e-3).abs() < 0.05e-3, "{with:?}");
        assert!((with.longest - 19.3).abs() < 0.05, "{with:?}");
        assert!((with.least - 16.6).abs() < 0.005 && (with.greatest - 16.6).abs() < 0.005);
        let without = Loop {
            slow_start: false,
            ..paper()
        };
        let without = summary(&without, 1.0);
        assert!((without.mean - 16.6).abs() < 0.005, "{without:?}");
        assert!(without.longest < 16.6 + 1e-9, "from below: {without:?}");
        assert!(without.reached.is_nan(), "{without:?}");
        assert!(without.settled > 1.5 * with.settled, "{without:?} {with:?}");
    }

    // Clauses: RWNDQ-eq3
    #[test]
    fn a_constant_round_trip_ends_in_a_limit_cycle() {
        // From empty to 43 packets with a mean of 16.5, whether it began in slow start or not.
        for slow_start in [true, false] {
            let literal = Loop {
                slow_start,
                growing_rtt: false,
                ..paper()
            };
            let cycle = summary(&literal, 1.0);
            assert!(cycle.settled.is_nan());
            assert!(cycle.least.abs() < 1e-9, "{cycle:?}");
            assert!((cycle.greatest - 43.0).abs() < 0.5, "{cycle:?}");
            assert!((cycle.mean - 16.5).abs() < 0.1, "{cycle:?}");
        }
    }

    // Clauses: RWNDQ-eq2, RWNDQ-eq3
    #[test]
    fn the_fixed_point_solves_the_equations() {
        // Independently of the iteration: eq. 2 is zero where Q = alpha B, and eq. 3 stands still where
        // W / (RTT + Q / C) = C, so W = C RTT + Q.
        let equations = Loop {
            target: 30.0,
            rtt: 250e-6,
            ..paper()
        };
        let last = *equations.run(2.0).last().unwrap();
        assert!((last.queue - 30.0).abs() < 1e-6, "{last:?}");
        let path = equations.rate * equations.rtt;
        assert!((last.window - path - 30.0).abs() < 1e-6, "{last:?}");
    }

    #[test]
    fn more_flows_shorten_slow_start() {
        let five = Loop {
            flows: 5.0,
            ..paper()
        };
        // 10 packets per update: (83.3 + 16.6 - 16.6) / 10 = 8.3 updates, 4.5 ms with the delay.
        let reached = summary(&five, 0.2).reached;
        assert!((4.0e-3..5.1e-3).contains(&reached), "{reached}");
    }

    #[test]
    fn settings_without_meaning_are_refused() {
        let set = |key: &'static str, value: &'static str| {
            let read = |name: &str| {
                let text = if name == key {
                    value
                } else {
                    Parameters::default_text(name)
                };
                text.to_owned()
            };
            (MODEL.answer)(&read).map(|_| ())
        };
        for (key, value) in [
            ("rwndq.interval", "0s"),
            ("rwndq.rtt", "0s"),
            ("rwndq.target", "0"),
            ("rwndq.duration", "0s"),
            ("rwndq.duration", "1000s"),
            ("rwndq.rate", "10"),
        ] {
            assert_eq!(set(key, value).unwrap_err().key, key);
        }
        assert_eq!(set("rwndq.buffer", "125KB"), Ok(()));
    }
}
