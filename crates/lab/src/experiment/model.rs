//! Equations of papers that a simulation can be compared with.

use theory::rcc;

use super::unit::{Dimension, Level};
use crate::scenario::PointSpec;

/// An equation of a paper.
#[derive(Debug)]
pub struct Model {
    /// Its name, as in `rcc.steady_queue`.
    pub name: &'static str,
    /// The unit of its value, as columns of results have it.
    pub unit: &'static str,
    /// What it says, with the number of the equation.
    pub help: &'static str,
    /// Its value for the settings of a point; none where it does not apply.
    pub value: fn(&PointSpec) -> Option<f64>,
}

/// Every equation.
pub const MODELS: &[Model] = &[
    Model {
        name: "rcc.steady_queue",
        unit: "bytes",
        help: "Queue of RCC in the steady state, the packet in service included: what is in flight less what the links hold (RCC eq. 4).",
        value: steady_queue,
    },
    Model {
        name: "rcc.pending_acks",
        unit: "ACKs",
        help: "ACKs that wait in RCC's buffer queue while all flows have data to send: those beyond the budget of packets in flight (RCC eq. 6).",
        value: pending_acks,
    },
    Model {
        name: "rcc.ecn_amplitude",
        unit: "packets",
        help: "Height of the sawtooth of the queue while flows without the scheduler answer marks together (RCC section 5.2).",
        value: |point| Some(ecn(point)?.amplitude()),
    },
    Model {
        name: "rcc.ecn_period",
        unit: "round trips",
        help: "Period of that sawtooth (RCC section 5.2).",
        value: |point| Some(ecn(point)?.period()),
    },
    Model {
        name: "rcc.ideal_completion",
        unit: "us",
        help: "Completion time of the last of equal flows whose packets fill the receiver's link without a pause.",
        value: ideal_completion,
    },
];

/// The equation called `name`.
pub fn find(name: &str) -> Option<&'static Model> {
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
fn ecn(point: &PointSpec) -> Option<rcc::Ecn> {
    let keys = &point.keys;
    let threshold = Level::parse(point.text("switch.ecn_threshold"))?;
    let threshold = threshold.in_column(Dimension::Bytes, packet(point))?;
    Some(rcc::Ecn {
        rate: rate(point),
        rtt: 4.0 * keys.link.delay.as_secs(),
        threshold: threshold / packet(point),
        flows: f64::from(keys.workload.senders.0),
    })
}

/// RCC §6.1.
fn ideal_completion(point: &PointSpec) -> Option<f64> {
    let senders = f64::from(point.keys.workload.senders.0);
    let mss = f64::from(point.keys.tcp.mss.0);
    // A size in packets is one of payload.
    let size = Level::parse(point.text("workload.size"))?;
    let size = size.in_column(Dimension::Bytes, mss)?;
    Some(1e6 * rcc::ideal_completion(senders, size, mss, rate(point)))
}

/// The budget of packets in flight.
fn budget(point: &PointSpec) -> Option<f64> {
    let budget = Level::parse(point.text("rcc.max_queue"))?;
    let budget = budget.in_column(Dimension::Bytes, packet(point))?;
    Some(budget / packet(point))
}

/// Full packets that a host's link brings it in a second.
#[expect(clippy::cast_precision_loss, reason = "a rate has fewer than 53 bits")]
fn rate(point: &PointSpec) -> f64 {
    point.keys.link.to_hosts().as_bps() as f64 / 8.0 / packet(point)
}

/// Bytes of a full packet.
#[expect(clippy::cast_precision_loss, reason = "a packet has a few kilobytes")]
fn packet(point: &PointSpec) -> f64 {
    point.keys.packet_bytes() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn the_steady_queue_is_that_of_the_paper() {
        // 40 packets in flight, 160 us at 83,333 packets/s: 26.7 packets of 1500 bytes.
        let scenario = Scenario::builtin("incast");
        let queue = steady_queue(&scenario.points()[0]).unwrap();
        assert!((queue / 1500.0 - 26.67).abs() < 0.01, "{queue}");
    }

    #[test]
    fn what_waits_and_how_long_it_takes_follow_from_the_scenario() {
        // 40, 10 and 100 senders of 32 KiB: (N + 1) × 32,768 bytes at 1,446 bytes per 12 us.
        let scenario = Scenario::builtin("incast");
        let point = |senders: u32| {
            let mut points = scenario.points().iter();
            points.find(|point| point.keys.workload.senders.0 == senders)
        };
        let hundred = point(100).unwrap();
        assert_eq!(pending_acks(hundred), Some(60.0));
        assert_eq!(pending_acks(point(10).unwrap()), Some(0.0));
        // 160/3 packets in the path and up to the threshold, of 40 flows.
        let sawtooth = ecn(point(40).unwrap()).unwrap();
        assert!((sawtooth.amplitude() - 0.5 * (40.0_f64 * 160.0 / 3.0).sqrt()).abs() < 1e-9);
        let us = ideal_completion(hundred).unwrap();
        assert!((us - 101.0 * 32_768.0 / 1446.0 * 12.0).abs() < 1e-6, "{us}");
    }
}
