//! Priority-based flow control: what a switch pauses, and how much may still come.

use base::cast::{real, whole};
use base::{Rate, Span};

/// How switches pause the nodes before them (IEEE 802.1Qbb). Queues of lossless classes have no bound of their own: what is
/// counted is how much came in by each port.
#[derive(Clone, PartialEq, Debug)]
pub struct PfcConfig {
    /// The classes that are paused and not dropped: a bit for each, that of class 0 lowest.
    pub lossless: u64,
    /// How many bytes of a class one port may bring in before the class is paused there.
    pub xoff: Xoff,
    /// How far below that threshold a paused class has to be before it is resumed, in bytes.
    pub resume: u64,
    /// Room for what still comes in when a class is paused, for each port and class; `None`: what the link needs by
    /// [`headroom`], and a packet more, with which the port crosses the threshold.
    pub headroom: Option<u64>,
    /// Bytes of a full packet.
    pub packet_bytes: u64,
}

/// The threshold at which a class is paused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Xoff {
    /// Bytes.
    Static(u64),
    /// This many times what the shared buffer of the switch has free.
    Dynamic(f64),
}

/// How many bytes may still come in over a link after a pause was decided (IEEE 802.1Qbb, annex O): the frame waits for a full
/// packet, both directions of the wire are full, the other end takes the time that the standard allows it for its answer, and has
/// just begun a full packet. To the nearest byte.
pub fn headroom(rate: Rate, round_trip: Span, packet_bytes: u64) -> u64 {
    let wire = real(rate.as_bps()) / 8.0 * round_trip.as_secs();
    2 * packet_bytes + whole((wire + response(rate)).round())
}

/// The time that the other end has for its answer (IEEE 802.3, 31B.3.7), in bytes: quanta of 512 bits. A rate between two of the
/// standard has that of the faster one; above the fastest the time stays the same.
fn response(rate: Rate) -> f64 {
    let found = RESPONSE.iter().find(|(most, _)| rate.as_bps() <= *most);
    let (fastest, longest) = RESPONSE[RESPONSE.len() - 1];
    found.map_or_else(
        || QUANTUM * longest * real(rate.as_bps()) / real(fastest),
        |(_, quanta)| QUANTUM * quanta,
    )
}

/// Bit/s, and quanta.
const RESPONSE: [(u64, f64); 8] = [
    (1_000_000_000, 2.0),
    (10_000_000_000, 67.0),
    (25_000_000_000, 80.0),
    (40_000_000_000, 118.0),
    (50_000_000_000, 147.0),
    (100_000_000_000, 394.0),
    (200_000_000_000, 453.0),
    (400_000_000_000, 905.0),
];
/// Bytes.
const QUANTUM: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// A cable there and back, at 198,000 km/s.
    fn cable(metres: u64) -> Span {
        Span::from_ps(2 * metres * 1_000_000 / 198)
    }

    #[test]
    fn headroom_is_that_of_the_standard() {
        let gbps = |gbps: u64| Rate::from_bps(gbps * 1_000_000_000);
        assert_eq!(headroom(gbps(10), cable(40), 1500), 7793);
        assert_eq!(headroom(gbps(100), cable(300), 1500), 66_095);
        // 3,000 bytes, no wire, two quanta; 800 Gbit/s has twice the bytes of 400.
        assert_eq!(headroom(gbps(1), Span::ZERO, 1500), 3128);
        assert_eq!(headroom(gbps(800), Span::ZERO, 1500), 3000 + 2 * 905 * 64);
    }
}
