//! Settings of hosts' links, and values that follow from them.

use base::{OrAuto, Rate, Span};

base::settings! {
    /// Every link between a host and its switch.
    pub struct Link in "link" {
        /// Rate of every link between a host and its switch, in both directions unless link.down_rate says otherwise.
        pub rate: Rate = "1Gbps",
        /// Propagation delay of every such link, one way.
        pub delay: Span = "40us",
        /// Longest time that a packet which a host has sent waits at the end of this link: a random time below it, uniform and in order. "auto" is a twenty-fifth of the time that a full packet takes on the link. With "0s" senders keep step to the picosecond, and the same ones find room in a full queue again and again (Floyd and Jacobson, "On Traffic Phase Effects", 1992): such a result hangs on the order of simultaneous events. Real hosts are never that regular.
        pub jitter: OrAuto<Span> = "0s",
        /// Rate of these links from the switch to the host; "auto" is link.rate. With a lower one, the links to receivers are the bottleneck even where hosts send to one receiver each.
        pub down_rate: OrAuto<Rate> = "auto",
    }
}

impl Link {
    /// The upper bound of the jitter, if a full packet has this many bytes.
    pub fn jitter(&self, packet_bytes: u64) -> Span {
        let automatic = self.rate.serialisation(packet_bytes) / AUTOMATIC_JITTER;
        self.jitter.0.unwrap_or(automatic)
    }

    /// Rate of a host's link towards the host.
    pub fn to_hosts(&self) -> Rate {
        self.down_rate.0.unwrap_or(self.rate)
    }
}

/// The automatic link.jitter is the time of a packet divided by this. `docs/concepts/phase.md` shows its effects.
const AUTOMATIC_JITTER: u64 = 25;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Keys, key};

    #[test]
    fn automatic_jitter_is_a_share_of_a_packets_time_on_the_link() {
        let link = |rate: &str, jitter: &str| {
            let text = |name: &str| match name {
                "link.rate" => rate.to_owned(),
                "link.jitter" => jitter.to_owned(),
                name => key(name).unwrap().default.to_owned(),
            };
            Keys::read(&text).unwrap().link.jitter(1500)
        };
        // 12 us and 1.2 us over 25.
        assert_eq!(link("1Gbps", "auto"), Span::from_nanos(480));
        assert_eq!(link("10Gbps", "auto"), Span::from_nanos(48));
        assert_eq!(link("1Gbps", "3us"), Span::from_micros(3));
        assert_eq!(link("1Gbps", "0s"), Span::ZERO);
    }
}
