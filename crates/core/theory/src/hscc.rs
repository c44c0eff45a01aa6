//! HSCC's fluid model (HSCC §V, eqs. 1 to 3) and the throughput of a burst (§II-A).
//!
//! Each of N flows has a window w and shares a queue q. A flow is clamped to one packet per round trip
//! with probability Pu and loses a packet with probability Pl; `tau = RTT + q / C`.
//!
//! ```text
//! (1)  dw/dt = ((1 - Pu) g + Pu / w * g) * w(t - tau) / tau(t - tau) - w Pl / 2 * w(t - tau) / tau(t - tau)
//!      dq/dt = (1 - Pu) N w / tau + Pu N / tau - C
//!      Pu = kappa Pl, kappa = (1 - alpha2) M / N, both delayed by tau
//! ```
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | C, RTT | `hscc.rate`, `hscc.rtt` | 1 Gbit/s, 100 us | §VI, test bed |
//! | N | `hscc.flows` | 36 | §II-A |
//! | M | `hscc.buffer` | 183 packets: with the path 287 kB | §VI |
//! | alpha1, alpha2 | `hscc.alpha1`, `hscc.alpha2` | 0.25, 0.5 | §IV |
//! | B, n, m, RTO | `hscc.size`, `hscc.rounds`, `hscc.timeouts`, `hscc.rto` | 500 KB, 17, 1, 200 ms | §II-A |
//!
//! Deviations: g, what an ACK adds to a window, is printed as 1/tau, which is no number of packets; TCP
//! adds 1/w, which is the corrected model. Both are solved, the printed one for a unit of time
//! (`hscc.unit`), on which its result depends; the only natural one is the round trip.
//!
//! Open in the paper: what M is (the buffer: then kappa is how many packets of each flow fit above the
//! upper threshold), and how Pl follows the queue. Here it rises between the thresholds
//! ([`Fluid::loss`]). With the probabilities as inputs both
//! eigenvalues have negative real parts whatever the settings; with probabilities that follow the queue,
//! as the switch makes them, the delay decides. Both verdicts are given.

mod fluid;
mod linear;
mod map;
mod throughput;

pub use fluid::{Equilibrium, Fluid, Increase, NoEquilibrium};
pub use linear::Linear;
pub use map::{MapCell, map};
pub use throughput::{Burst, waiting_rounds};

use base::setting::Settings;
use base::{Count, Fraction, OrAuto, Rate, Span, WireSize};

use crate::answer::{
    Answer, AnswerCell, AnswerTable, Chart, ChartAxis, Curve, CurveShape, Model, NoAnswer, columns,
};
use crate::dde;

base::settings! {
    /// Settings of the model.
    pub struct Parameters in "hscc" {
        /// Rate of the bottleneck.
        pub rate: Rate = "1Gbps",
        /// Round trip with an empty queue.
        pub rtt: Span = "100us",
        /// Buffer of the bottleneck.
        pub buffer: WireSize = "183pkt",
        /// Lower threshold as a share of the buffer: there the clamp begins in the fluid model.
        pub alpha1: Fraction = "0.25",
        /// Upper threshold: there every flow is clamped.
        pub alpha2: Fraction = "0.5",
        /// Long flows of the fluid model, and answers of the burst.
        pub flows: Count = "36",
        /// Bytes of a packet on the wire.
        pub packet: Count = "1500",
        /// Unit of time in which equation 1 is read as it is printed; auto: the round trip with an empty
        /// queue. The result depends on it.
        pub unit: OrAuto<Span> = "auto",
        /// How long to integrate the fluid model.
        pub duration: Span = "100ms",
        /// Size of an answer of the burst.
        pub size: WireSize = "500KB",
        /// Round trips that an answer takes beside the time of its bytes.
        pub rounds: Count = "17",
        /// Timeouts that an answer sits out.
        pub timeouts: Count = "1",
        /// How long a timeout takes.
        pub rto: Span = "200ms",
    }
}

/// The registry entry.
pub const MODEL: Model = Model {
    name: "hscc",
    summary: "HSCC's fluid model: equilibrium, eigenvalues, stability map; throughput of a burst",
    source: "HSCC sections II-A and V",
    keys: Parameters::KEYS,
    answer: |text| answer(&Parameters::read(text)?),
};

impl Fluid {
    /// The corrected model for these settings.
    pub fn new(parameters: &Parameters) -> Self {
        let packet = u64::from(parameters.packet.0);
        let buffer = parameters.buffer.in_bytes(packet);
        Self {
            rate: crate::number::bits(parameters.rate) / 8.0 / base::cast::real(packet),
            rtt: parameters.rtt.as_secs(),
            flows: f64::from(parameters.flows.0),
            buffer: base::cast::real(buffer) / base::cast::real(packet),
            low: parameters.alpha1.0,
            high: parameters.alpha2.0,
            increase: Increase::Corrected,
        }
    }
}

impl Burst {
    /// The burst of these settings.
    pub fn new(parameters: &Parameters) -> Self {
        let packet = u64::from(parameters.packet.0);
        Self {
            bytes: base::cast::real(parameters.size.in_bytes(packet)),
            flows: f64::from(parameters.flows.0),
            rate: crate::number::bits(parameters.rate) / 8.0,
            rounds: f64::from(parameters.rounds.0),
            rtt: parameters.rtt.as_secs(),
            timeouts: f64::from(parameters.timeouts.0),
            rto: parameters.rto.as_secs(),
        }
    }
}

fn answer(parameters: &Parameters) -> Result<Answer, NoAnswer> {
    check(parameters)?;
    let corrected = Fluid::new(parameters);
    let unit = parameters.unit.0.unwrap_or(parameters.rtt);
    let printed = Fluid {
        increase: Increase::Printed(unit.as_secs()),
        ..corrected
    };
    let readings = [("corrected", corrected), ("as printed", printed)];
    let mut charts = motion(&readings, parameters.duration.as_secs());
    charts.push(map::chart(&corrected));
    let burst = Burst::new(parameters);
    charts.push(response(&burst));
    Ok(Answer {
        tables: vec![
            equilibria(&readings),
            eigenvalues(&readings),
            throughputs(&burst),
        ],
        notes: notes(&corrected),
        charts,
    })
}

/// Eq. 2 for both readings of eq. 1.
fn equilibria(readings: &[(&str, Fluid)]) -> AnswerTable {
    let rows = readings.iter().map(|(label, fluid)| {
        let still = fluid.equilibrium();
        let number =
            |of: fn(&Equilibrium) -> f64| AnswerCell::Number(still.as_ref().map_or(f64::NAN, of));
        let cells = vec![
            number(|still| still.window),
            number(|still| still.queue),
            number(|still| still.rtt * 1e6),
            number(|still| still.clamped * 100.0),
            number(|still| still.lost * 100.0),
            AnswerCell::from(match still {
                Ok(_) => "yes",
                Err(NoEquilibrium::ClampedForEver) => "no: clamped for ever",
                Err(NoEquilibrium::TooLittleLoss) => "no: too little loss",
            }),
        ];
        ((*label).to_owned(), cells)
    });
    AnswerTable {
        name: "equilibrium",
        case: "equation 1",
        columns: columns([
            ("window", "packets"),
            ("queue", "packets"),
            ("round trip", "us"),
            ("clamped", "%"),
            ("lost", "%"),
            ("stands still", ""),
        ]),
        rows: rows.collect(),
    }
}

/// Eq. 3: dominant eigenvalues under different assumptions.
fn eigenvalues(readings: &[(&str, Fluid)]) -> AnswerTable {
    let mut rows = Vec::new();
    for (label, fluid) in readings {
        let Ok(still) = fluid.equilibrium() else {
            continue;
        };
        let linear = Linear::of(fluid, &still);
        for (what, root) in [
            ("probabilities held", linear.held().dominant()),
            ("without the delay", linear.undelayed()),
            ("with the delay", linear.dominant()),
        ] {
            let turns = root.im.abs() > 1e-9 * root.re.abs();
            let period = if turns {
                std::f64::consts::TAU / root.im.abs()
            } else {
                f64::NAN
            };
            let verdict = if root.re < 0.0 {
                "Hurwitz"
            } else {
                "not Hurwitz"
            };
            let cells = vec![
                root.re.into(),
                root.im.abs().into(),
                (1e3 / root.re.abs()).into(),
                (1e3 * period).into(),
                verdict.into(),
            ];
            rows.push((format!("{label}, {what}"), cells));
        }
    }
    AnswerTable {
        name: "eigenvalues",
        case: "equation 3",
        columns: columns([
            ("real part", "1/s"),
            ("imaginary part", "1/s"),
            ("time constant", "ms"),
            ("period", "ms"),
            ("verdict", ""),
        ]),
        rows,
    }
}

/// §II-A.
fn throughputs(burst: &Burst) -> AnswerTable {
    let timely = Burst {
        timeouts: 0.0,
        ..*burst
    };
    let many = burst.timeouts;
    let late = format!("{many} timeout{}", if many > 1.0 { "s" } else { "" });
    let rows = [("no timeout".to_owned(), timely), (late, *burst)].map(|(label, burst)| {
        let cells = [
            burst.time() * 1e3,
            burst.throughput() * 8.0 / 1e6,
            burst.utilisation() * 100.0,
        ];
        (label, cells.map(AnswerCell::from).to_vec())
    });
    AnswerTable {
        name: "throughput",
        case: "burst",
        columns: columns([
            ("completion", "ms"),
            ("throughput of a flow", "Mbps"),
            ("link used", "%"),
        ]),
        rows: rows.to_vec(),
    }
}

/// Both readings of eq. 1 from an empty queue and windows of 10 packets.
fn motion(readings: &[(&str, Fluid)], duration: f64) -> Vec<Chart> {
    let (mut queues, mut windows) = (Vec::new(), Vec::new());
    for (label, fluid) in readings {
        let step = fluid.rtt / STEPS;
        let steps = crate::number::whole(duration / step);
        let line = dde::solve(fluid, [10.0, 0.0], step, steps);
        let every = steps.div_ceil(POINTS).max(1);
        let bound = WILD * (fluid.rate * fluid.rtt + fluid.buffer);
        let points = |part: usize| {
            let states = line.states.iter().enumerate().step_by(every);
            // Windows beyond all bounds are no longer solved, and end the curve.
            let states = states.take_while(|(_, state)| state[0] < bound);
            let points =
                states.map(|(place, state)| (base::cast::count(place) * step * 1e3, state[part]));
            points.collect::<Vec<_>>()
        };
        queues.push(Curve::line(*label, points(1)));
        windows.push(Curve::line(*label, points(0)));
    }
    if let Some((_, fluid)) = readings.first()
        && let Ok(still) = fluid.equilibrium()
    {
        let level = |value: f64| Curve {
            label: "equilibrium, corrected".into(),
            shape: CurveShape::Reference,
            points: vec![(0.0, value), (duration * 1e3, value)],
        };
        queues.push(level(still.queue));
        windows.push(level(still.window));
    }
    let time = ChartAxis::new("Time", "ms");
    vec![
        Chart {
            name: "queue",
            title: "Queue by HSCC's fluid model",
            caption: "Equation (1) from an empty queue and windows of 10 packets.".into(),
            x: time,
            y: ChartAxis::new("Queue", "packets"),
            curves: queues,
        },
        Chart {
            name: "window",
            title: "Window of a flow by HSCC's fluid model",
            caption: "Equation (1) from an empty queue and windows of 10 packets.".into(),
            x: time,
            y: ChartAxis::new("Window", "packets").log(),
            curves: windows,
        },
    ]
}

/// Throughput of the burst against the number of flows.
fn response(burst: &Burst) -> Chart {
    let most = (2.0 * burst.flows).max(10.0);
    let curves = [0.0, 1.0, 2.0].map(|timeouts| {
        let points = (0_u32..=100).map(|place| {
            let flows = 1.0 + f64::from(place) / 100.0 * (most - 1.0);
            let burst = Burst {
                flows,
                timeouts,
                ..*burst
            };
            (flows, burst.utilisation() * 100.0)
        });
        let label = match timeouts {
            0.0 => "no timeout, rho*".to_owned(),
            1.0 => "1 timeout".to_owned(),
            many => format!("{many} timeouts"),
        };
        Curve::line(label, points.collect())
    });
    Chart {
        name: "throughput",
        title: "Throughput of a burst by HSCC's formulas",
        caption:
            "What N answers use of the link: N B / (m RTO + n tau + B N / C) of C (section II-A)."
                .into(),
        x: ChartAxis::new("Flows", ""),
        y: ChartAxis::new("Link used", "%"),
        curves: curves.to_vec(),
    }
}

fn notes(fluid: &Fluid) -> Vec<String> {
    let mut notes = vec![format!(
        "kappa = {:.3}; the path holds {:.1} packets, the thresholds are at {:.1} and {:.1}.",
        fluid.kappa(),
        fluid.rate * fluid.rtt,
        fluid.low * fluid.buffer,
        fluid.high * fluid.buffer
    )];
    match fluid.equilibrium() {
        Ok(still) => {
            let linear = Linear::of(fluid, &still);
            let sentence = if linear.dominant().re < 0.0 {
                "With the delay, and probabilities that follow the queue, the equilibrium is stable."
            } else {
                "With the probabilities held, and without the delay, the equilibrium is stable. With the \
                 delay and probabilities that follow the queue it is not: queue and windows keep swinging \
                 around it (figure queue)."
            };
            notes.push(sentence.into());
        }
        Err(NoEquilibrium::ClampedForEver) => notes.push(format!(
            "One packet of each of {} flows per round trip keeps the queue above the upper threshold: the \
             port never leaves its CBR mode.",
            fluid.flows
        )),
        Err(NoEquilibrium::TooLittleLoss) => notes.push(
            "Even every packet lost would not hold these flows back: the model has no equilibrium.".into(),
        ),
    }
    notes
}

/// Settings for which the equations mean something.
fn check(parameters: &Parameters) -> Result<(), NoAnswer> {
    if parameters.rtt.as_ps() == 0 {
        let message = "a round trip of 0 has no window";
        return Err(NoAnswer::new(
            "hscc.rtt",
            message,
            "the test bed of the paper has 100us",
        ));
    }
    let fluid = Fluid::new(parameters);
    if fluid.buffer < 1.0 {
        let message = "the buffer holds no packet";
        return Err(NoAnswer::new(
            "hscc.buffer",
            message,
            "the test bed of the paper has 183pkt",
        ));
    }
    if fluid.high >= 1.0 {
        let message = "the upper threshold is the whole buffer, above which nothing fits";
        return Err(NoAnswer::new(
            "hscc.alpha2",
            message,
            "choose less than 1; the paper has 0.5",
        ));
    }
    if fluid.low >= fluid.high {
        let message = "hscc.alpha1 is not below hscc.alpha2";
        let help = "raise hscc.alpha2 or lower hscc.alpha1; the paper has 0.5 and 0.25";
        return Err(NoAnswer::new("hscc.alpha1", message, help).with("hscc.alpha2"));
    }
    if parameters.unit.0.is_some_and(|unit| unit.as_ps() == 0) {
        let message = "a unit of time of 0 measures nothing";
        return Err(NoAnswer::new("hscc.unit", message, "choose 1s, or auto"));
    }
    let steps = parameters.duration.as_secs() / fluid.rtt * STEPS;
    if !(1.0..=MOST_STEPS).contains(&steps) {
        let message = "the duration is not from a fraction of a round trip to 50,000 of them";
        return Err(NoAnswer::new(
            "hscc.duration",
            message,
            "choose a duration in between",
        ));
    }
    Ok(())
}

/// Steps of the integration in a round trip without a queue. With this number the error does not show in a figure.
const STEPS: f64 = 20.0;

/// Some ten megabytes.
const MOST_STEPS: f64 = 1e6;

/// A window of this many full paths and buffers means nothing.
const WILD: f64 = 100.0;

/// Points of a curve that a figure can tell apart.
const POINTS: usize = 2000;

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(sets: &[(&str, &str)]) -> Result<Answer, NoAnswer> {
        (MODEL.answer)(&|name: &str| {
            let set = sets.iter().find(|(key, _)| *key == name);
            set.map_or(Parameters::default_text(name), |(_, value)| value)
                .to_owned()
        })
    }

    #[test]
    fn the_defaults_are_the_test_bed() {
        // C RTT + M: 8.33 + 183 packets of 1500 bytes are 287 kB.
        let fluid = Fluid::new(&Parameters::defaults());
        let bytes = (fluid.rate * fluid.rtt + fluid.buffer) * 1500.0;
        assert!((bytes - 287e3).abs() < 500.0, "{bytes}");
        // kappa = 0.5 * 183 / 36.
        assert!((fluid.kappa() - 91.5 / 36.0).abs() < 1e-12);
    }

    #[test]
    fn an_answer_has_its_tables_and_charts_whatever_the_verdict() {
        for sets in [&[][..], &[("hscc.flows", "630")], &[("hscc.flows", "1")]] {
            let answer = answered(sets).unwrap();
            assert_eq!(answer.tables.len(), 3);
            assert_eq!(answer.charts.len(), 4);
        }
        let clamped = answered(&[("hscc.flows", "630")]).unwrap();
        assert!(
            clamped.notes[1].contains("never leaves"),
            "{:?}",
            clamped.notes
        );
    }

    #[test]
    fn settings_without_meaning_are_refused() {
        for (key, value) in [
            ("hscc.rtt", "0s"),
            ("hscc.buffer", "1B"),
            ("hscc.alpha1", "0.6"),
            ("hscc.alpha2", "1"),
            ("hscc.unit", "0s"),
            ("hscc.duration", "1000s"),
            ("hscc.flows", "0"),
        ] {
            assert_eq!(answered(&[(key, value)]).unwrap_err().key, key);
        }
    }
}
