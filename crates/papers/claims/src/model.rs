//! Equations of papers, for comparison with simulations.

use plan::PointSpec;
use plan::keys::WorkloadKind;
use theory::hscc::{Fluid, Increase, Linear};
use theory::{rc3, rcc};

use super::unit::{Dimension, Level};
use base::cast::real;

/// An equation of a paper.
#[derive(Debug)]
pub struct PaperEquation {
    /// Its name, as in `rcc.steady_queue`.
    pub name: &'static str,
    /// The unit of its value, as in columns of results.
    pub unit: &'static str,
    /// Its meaning, with the number of the equation.
    pub help: &'static str,
    /// How it is evaluated.
    value: Value,
}

/// How an equation is evaluated. The result is `None` if it does not apply.
#[derive(Debug)]
enum Value {
    /// For the settings of a point.
    OfPoint(fn(&PointSpec) -> Option<f64>),
    /// For the settings and a flow of this many bytes.
    OfFlow(fn(&PointSpec, f64) -> Option<f64>),
}

impl PaperEquation {
    /// Its value for the settings of a point and, if it is about a flow, for a flow of `size` bytes; `None` if it does
    /// not apply.
    pub fn value(&self, point: &PointSpec, size: Option<f64>) -> Option<f64> {
        match self.value {
            Value::OfPoint(value) => value(point),
            Value::OfFlow(value) => value(point, size?),
        }
    }

    /// Whether it has the size of a flow as a parameter.
    pub fn takes_size(&self) -> bool {
        matches!(self.value, Value::OfFlow(_))
    }
}

/// Every equation.
pub const MODELS: &[PaperEquation] = &[
    PaperEquation {
        name: "rcc.steady_queue",
        unit: "bytes",
        help: "Queue of RCC in the steady state, the packet in service included: what is in flight less what the links hold (RCC eq. 4).",
        value: Value::OfPoint(steady_queue),
    },
    PaperEquation {
        name: "rcc.pending_acks",
        unit: "ACKs",
        help: "ACKs that wait in RCC's buffer queue while all flows have data to send: those beyond the budget of packets in flight (RCC eq. 6).",
        value: Value::OfPoint(pending_acks),
    },
    PaperEquation {
        name: "rcc.ecn_amplitude",
        unit: "packets",
        help: "Height of the sawtooth of the queue while flows without the scheduler answer marks together (RCC section 5.2).",
        value: Value::OfPoint(|point| Some(ecn(point)?.amplitude())),
    },
    PaperEquation {
        name: "rcc.ecn_period",
        unit: "round trips",
        help: "Period of that sawtooth (RCC section 5.2).",
        value: Value::OfPoint(|point| Some(ecn(point)?.period())),
    },
    PaperEquation {
        name: "rcc.ecn_share",
        unit: "%",
        help: "Share of packets that are marked on that sawtooth (RCC section 5.2).",
        value: Value::OfPoint(|point| Some(ecn(point)?.alpha())),
    },
    PaperEquation {
        name: "rcc.ecn_longest_queue",
        unit: "bytes",
        help: "Longest queue of that sawtooth (RCC section 5.2).",
        value: Value::OfPoint(|point| Some(ecn(point)?.max_queue() * packet(point))),
    },
    PaperEquation {
        name: "rcc.ecn_shortest_queue",
        unit: "bytes",
        help: "Shortest queue of that sawtooth; below zero the link falls idle (RCC section 5.2).",
        value: Value::OfPoint(|point| Some(ecn(point)?.min_queue() * packet(point))),
    },
    PaperEquation {
        name: "rcc.ideal_completion",
        unit: "us",
        help: "Completion time of the last of equal flows whose packets fill the receiver's link without a pause (RCC section 5.3).",
        value: Value::OfPoint(ideal_completion),
    },
    PaperEquation {
        name: "hscc.equilibrium_queue",
        unit: "bytes",
        help: "Queue at which HSCC's fluid model stands still; none if it clamps flows for ever (HSCC eq. 2).",
        value: Value::OfPoint(|point| {
            let still = hscc(point)?.equilibrium().ok()?;
            Some(still.queue * packet(point))
        }),
    },
    PaperEquation {
        name: "hscc.eigenvalue",
        unit: "1/s",
        help: "Real part of the dominant eigenvalue of HSCC's fluid model, whose probabilities follow the queue with a delay; stable below 0 (HSCC eq. 3).",
        value: Value::OfPoint(|point| Some(hscc_near_equilibrium(point)?.dominant().re)),
    },
    PaperEquation {
        name: "hscc.eigenvalue_held",
        unit: "1/s",
        help: "The same with probabilities that stay as they are, which is below 0 for any settings (HSCC eq. 3).",
        value: Value::OfPoint(|point| Some(hscc_near_equilibrium(point)?.held().dominant().re)),
    },
    PaperEquation {
        name: "rc3.reduction",
        unit: "%",
        help: "By how much RC3 shortens the completion time of a flow of some size, on a path of two links between switches each way that other flows load (RC3 section 3).",
        value: Value::OfFlow(|point, size| {
            let (path, packets) = path(point, size);
            Some(path.reduction(packets))
        }),
    },
    PaperEquation {
        name: "rc3.completion",
        unit: "us",
        help: "Completion time of such a flow under RC3 (RC3 section 3).",
        value: Value::OfFlow(|point, size| {
            let (path, packets) = path(point, size);
            Some(1e6 * path.rc3(packets))
        }),
    },
    PaperEquation {
        name: "rc3.tcp_completion",
        unit: "us",
        help: "Completion time of such a flow under TCP (RC3 section 3).",
        value: Value::OfFlow(|point, size| {
            let (path, packets) = path(point, size);
            Some(1e6 * path.tcp(packets))
        }),
    },
];

/// HSCC's fluid model for long flows over a star, with TCP's own increase of windows.
fn hscc(point: &PointSpec) -> Option<Fluid> {
    let buffer = Level::parse(point.text("switch.buffer"))?;
    let buffer = buffer.in_column(Dimension::Bytes, packet(point))?;
    Some(Fluid {
        rate: rate(point),
        rtt: 4.0 * point.keys.link.delay.as_secs(),
        flows: f64::from(point.keys.workload.senders.0),
        buffer: buffer / packet(point),
        low: point.text("hscc.alpha1").parse().ok()?,
        high: point.text("hscc.alpha2").parse().ok()?,
        increase: Increase::Corrected,
    })
}

/// HSCC eq. 3: the model near its equilibrium, if it has one.
fn hscc_near_equilibrium(point: &PointSpec) -> Option<Linear> {
    let fluid = hscc(point)?;
    let still = fluid.equilibrium().ok()?;
    Some(Linear::of(&fluid, &still))
}

/// The equation called `name`.
pub fn find(name: &str) -> Option<&'static PaperEquation> {
    MODELS.iter().find(|model| model.name == name)
}

/// RCC eq. 4: queue = `queue_maxsize` - C × RTT, with the round trip of empty queues.
fn steady_queue(point: &PointSpec) -> Option<f64> {
    let keys = &point.keys;
    // From a host to the switch, from the switch to the other host, and back.
    let round_trip = 4.0 * keys.link.delay.as_secs();
    let queue = rcc::steady_queue(budget(point)?, rate(point), round_trip);
    Some(queue * packet(point))
}

/// RCC eq. 6.
fn pending_acks(point: &PointSpec) -> Option<f64> {
    let senders = f64::from(point.keys.workload.senders.0);
    Some(rcc::pending_acks(senders, budget(point)?))
}

/// RCC §5.2.
fn ecn(point: &PointSpec) -> Option<rcc::EcnSawtooth> {
    let keys = &point.keys;
    let threshold = Level::parse(point.text("switch.ecn_threshold"))?;
    let threshold = threshold.in_column(Dimension::Bytes, packet(point))?;
    Some(rcc::EcnSawtooth {
        rate: rate(point),
        rtt: 4.0 * keys.link.delay.as_secs(),
        threshold: threshold / packet(point),
        flows: f64::from(keys.workload.senders.0),
    })
}

/// RCC §5.3.
fn ideal_completion(point: &PointSpec) -> Option<f64> {
    let senders = f64::from(point.keys.workload.senders.0);
    let mss = f64::from(point.keys.tcp.mss.0);
    // A size in packets is a size of payload.
    let size = Level::parse(point.text("workload.size"))?;
    let size = size.in_column(Dimension::Bytes, mss)?;
    Some(1e6 * rcc::ideal_completion(senders, size, mss, rate(point)))
}

/// RC3 §3: the part of a host's link that the other flows leave, and a flow of `size` bytes in packets.
///
/// The round trip is over two links between switches each way: with 10 ms each, the paper's 40 ms. The paper's network
/// has 1.978 of them between two hosts, and its model leaves out the links of hosts.
fn path(point: &PointSpec, size: f64) -> (rc3::Path, f64) {
    let keys = &point.keys;
    let load = match keys.workload.kind {
        WorkloadKind::Poisson => keys.workload.load.0,
        _ => 0.0,
    };
    let delay = keys.bottleneck.delay.0.unwrap_or(keys.link.delay);
    let path = rc3::Path {
        rate: rate(point) * (1.0 - load),
        rtt: 4.0 * delay.as_secs(),
        initial_window: f64::from(keys.tcp.initial_window.0),
    };
    (path, libm::ceil(size / f64::from(keys.tcp.mss.0)))
}

/// The budget of packets in flight.
fn budget(point: &PointSpec) -> Option<f64> {
    let budget = Level::parse(point.text("rcc.max_queue"))?;
    let budget = budget.in_column(Dimension::Bytes, packet(point))?;
    Some(budget / packet(point))
}

/// Full packets that a host's link brings it in a second.
fn rate(point: &PointSpec) -> f64 {
    real(point.keys.link.to_hosts().as_bps()) / 8.0 / packet(point)
}

/// Bytes of a full packet.
fn packet(point: &PointSpec) -> f64 {
    real(point.keys.packet_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Overrides, Scenario, Source};

    // Clauses: RCC-eq4
    #[test]
    fn the_steady_queue_is_that_of_the_paper() {
        // 40 packets in flight, 160 us at 83,333 packets/s: 26.7 packets of 1500 bytes.
        let scenario = Scenario::builtin("incast");
        let queue = steady_queue(&scenario.points()[0]).unwrap();
        assert!((queue / 1500.0 - 26.67).abs() < 0.01, "{queue}");
    }

    #[test]
    fn what_waits_and_how_long_it_takes_follow_from_the_scenario() {
        // 40, 10 and 100 senders of 32 KiB: (N + 1) × 32,768 bytes at 1,448 bytes per 12 us.
        let overrides = Overrides {
            sets: vec!["workload.senders=10,40,100".to_owned()],
            ..Overrides::default()
        };
        let source = Source::builtin("incast").unwrap();
        let scenario = Scenario::load(source, &overrides).unwrap();
        let point = |senders: u32| {
            let mut points = scenario.points().iter();
            points.find(|point| point.keys.workload.senders.0 == senders)
        };
        let hundred = point(100).unwrap();
        assert_eq!(pending_acks(hundred), Some(60.0));
        assert_eq!(pending_acks(point(10).unwrap()), Some(0.0));
        // 160/3 packets on the path and up to the threshold, from 40 flows.
        let sawtooth = ecn(point(40).unwrap()).unwrap();
        assert!((sawtooth.amplitude() - 0.5 * (40.0_f64 * 160.0 / 3.0).sqrt()).abs() < 1e-9);
        // K + N / 2 = 60 packets, less the height.
        let longest = find("rcc.ecn_longest_queue").unwrap();
        let longest = longest.value(point(40).unwrap(), None).unwrap();
        assert!((longest / 1500.0 - 60.0).abs() < 1e-9, "{longest}");
        let shortest = find("rcc.ecn_shortest_queue").unwrap();
        let shortest = shortest.value(point(40).unwrap(), None).unwrap();
        assert!(((longest - shortest) / 1500.0 - sawtooth.amplitude()).abs() < 1e-9);
        // Windows of (160/3) / 10 packets: a share of one over their root.
        let share = find("rcc.ecn_share")
            .unwrap()
            .value(point(10).unwrap(), None)
            .unwrap();
        assert!((share - (30.0_f64 / 160.0).sqrt()).abs() < 1e-9, "{share}");
        let us = ideal_completion(hundred).unwrap();
        assert!((us - 101.0 * 32_768.0 / 1448.0 * 12.0).abs() < 1e-6, "{us}");
    }

    // Clauses: HSCC-eq2, HSCC-eq3
    #[test]
    fn hsccs_fluid_model_follows_from_the_scenario() {
        // `tailwater model hscc` with 36 flows, 183 packets, 1 Gbit/s and 100 us; and with 126 flows, of which one
        // segment each keeps the queue above the upper threshold.
        let text = "schemes = [\"hscc\"]\n[link]\nrate = \"1Gbps\"\ndelay = \"25us\"\n[switch]\nbuffer = \"183pkt\"\n\
                    [workload]\nkind = \"incast\"\nsenders = [36, 126]\nsize = \"1MB\"\n";
        let scenario = Scenario::load(Source::new("hscc.toml", text), &Overrides::default());
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        let value =
            |name: &str, point: usize| find(name).unwrap().value(&scenario.points()[point], None);
        let queue = value("hscc.equilibrium_queue", 0).unwrap();
        assert!((queue / 1500.0 - 65.76).abs() < 0.01, "{queue}");
        let with_delay = value("hscc.eigenvalue", 0).unwrap();
        assert!((with_delay + 133.8).abs() < 0.1, "{with_delay}");
        let held = value("hscc.eigenvalue_held", 0).unwrap();
        assert!((held + 617.0).abs() < 0.1, "{held}");
        assert_eq!(value("hscc.equilibrium_queue", 1), None);
        assert_eq!(value("hscc.eigenvalue", 1), None);
    }

    #[test]
    fn what_rc3_saves_follows_from_the_settings_and_the_size_of_a_flow() {
        // 40 ms, i = 4, A = 0.7 Gbit/s / 12,000 bit. 5 packets: RC3 60 ms + 5/A = 60.086 ms, TCP 100 ms +
        // 1/A = 100.017 ms. Two of the sizes of Fig. 7.
        let text = "schemes = [\"newreno\"]\n[link]\nrate = \"1Gbps\"\ndelay = \"1ms\"\n\
                    [bottleneck]\ndelay = \"10ms\"\n[tcp]\ninitial_window = 4\n\
                    [workload]\nkind = \"poisson\"\nload = 0.3\nsize = \"100KB\"\n";
        let load = |sets: &[&str]| {
            let overrides = Overrides {
                sets: sets.iter().map(|set| (*set).to_owned()).collect(),
                ..Overrides::default()
            };
            Scenario::load(Source::new("rc3.toml", text), &overrides).unwrap()
        };
        let busy = load(&[]);
        let value = |scenario: &Scenario, name: &str, size| {
            let model = find(name).unwrap();
            assert!(model.takes_size());
            model.value(&scenario.points()[0], Some(size)).unwrap()
        };
        let packet = 12_000.0 / 0.7e9;
        let rc3 = value(&busy, "rc3.completion", 7300.0);
        assert!((rc3 - 1e6 * (0.06 + 5.0 * packet)).abs() < 1e-6, "{rc3}");
        let tcp = value(&busy, "rc3.tcp_completion", 7300.0);
        assert!((tcp - 1e6 * (0.1 + packet)).abs() < 1e-6, "{tcp}");
        let gain = value(&busy, "rc3.reduction", 7300.0);
        assert!((gain - (1.0 - rc3 / tcp)).abs() < 1e-12);
        assert!((100.0 * gain - 39.937_384_526).abs() < 0.013, "{gain}");
        assert!(value(&busy, "rc3.reduction", 4.0 * 1460.0).abs() < 1e-12);
        // Without other flows the whole link is left. A size that no flow has gives no value.
        let alone = load(&["workload.kind=incast"]);
        let rc3 = value(&alone, "rc3.completion", 7300.0);
        assert!((rc3 - 60_060.0).abs() < 1e-6, "{rc3}");
        let model = find("rc3.reduction").unwrap();
        assert_eq!(model.value(&alone.points()[0], None), None);
        assert!(!find("rcc.steady_queue").unwrap().takes_size());
    }
}
