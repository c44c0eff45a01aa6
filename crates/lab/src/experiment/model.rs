//! Equations of papers that a simulation can be compared with.

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
pub const MODELS: &[Model] = &[Model {
    name: "rcc.steady_queue",
    unit: "bytes",
    help: "Queue of RCC in the steady state, the packet in service included: what is in flight less what the links hold (RCC eq. 4).",
    value: steady_queue,
}];

/// The equation called `name`.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

/// RCC eq. 4: queue = `queue_maxsize` - C × RTT, with the round trip of empty queues.
#[expect(clippy::cast_precision_loss, reason = "a packet has a few kilobytes")]
fn steady_queue(point: &PointSpec) -> Option<f64> {
    let keys = &point.keys;
    let packet = keys.packet_bytes() as f64;
    let budget = Level::parse(point.text("rcc.max_queue"))?;
    let budget = budget.in_column(Dimension::Bytes, packet)?;
    // From a host to the switch, from the switch to the other host, and back.
    let round_trip = 4.0 * keys.link.delay.as_secs();
    let rate = keys.link.rate.as_bps() as f64 / 8.0;
    Some((budget - rate * round_trip).max(0.0))
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
}
