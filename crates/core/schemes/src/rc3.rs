//! RC3: the rest of a flow is sent at once, at priorities below those of all TCP flows.
//!
//! A connection runs its ordinary loop at priority 0 from the first byte on. What its window does not allow
//! yet goes out beside it, once, from the last segment backwards, at low priorities that get lower the further
//! a segment is from the end. Ports serve priorities strictly and push low packets out for higher ones, so that the
//! second loop takes only what would be idle. Its data is acknowledged at its priority; the ordinary loop sends
//! what has not arrived, and stops when it meets what has. The loop itself is in `tcp` (`LowPriority`).
//!
//! | symbol | field | default | source |
//! |---|---|---|---|
//! | low priorities | `rc3.levels` | 3 | RC3 §5.1.1 |
//! | packets at priority 1 | `rc3.first` | 40 | RC3 §2.2, §5.1.1 |
//! | growth per priority | `rc3.growth` | 10 | RC3 §2.2 |
//! | ends of priorities | `rc3.limits` | sums: 40, 440, 4440 | RC3 §2.2 and its simulation; "powers" is the kernel's, §4.2.1 |
//! | copies passed by TCP | `rc3.withdraw` | stay in the NIC | RC3's simulation |
//! | segments per TSO burst | `rc3.tso` | 1 | RC3 §4.2.3: up to 43 |
//! | routers without priorities | `rc3.plain_routers` | none | RC3 §6: 20 and 50 % |
//! | and their hosts | `rc3.plain_hosts` | have priorities | ambiguous in RC3 §6 |
//!
//! The paper's runs have MSS 1460, an initial window of 4, a least timeout of 200 ms, buffers of one product of bandwidth and
//! delay, an unlimited receive window: `tcp.*`, `switch.buffer`. The receive window does not hold back the
//! second loop, and data beyond a receiver's buffer is lost.
//!
//! Deviations: an acknowledgement beyond everything sent at priority 0, not only beyond the next segment,
//! counts as one that jumped ahead (they differ after a timeout); a low copy that completes a stream whose FIN
//! has come is acknowledged by the application's own close; evidence of loss is what has arrived of
//! the data sent at priority 0, as copies of the rest say nothing about it. With TSO, batches end where bursts do (PSH).
//!
//! Open in the paper: which packet is pushed out (the newest of the lowest priority that is lower than the
//! arriving packet's), how an acknowledgement that jumped ahead changes the window (as one ordinary
//! acknowledgement, also when it comes again), and what a write without end does (nothing at low priority).
//!
//! Cost: O(levels) per segment.

use base::setting::{SettingError, Settings};
use base::{Count, DataSize, Fraction, SizeUnit};
use fabric::Strict;
use tcp::LowPriority;

use crate::registry::linux::{self, Linux};
use crate::registry::{Misfit, PlainSwitches, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "rc3",
    summary: "The rest of a flow at once at low priorities, from its end, beside ordinary TCP",
    how: "A connection runs its ordinary TCP at the highest priority. Beside it, from the first moment, it \
          sends the rest of the flow once, from the last segment backwards, at lower priorities: the \
          further from the end, the lower. Switches serve priorities strictly and push low packets out for \
          higher ones, so these packets take only bandwidth that nobody else uses. When the ordinary TCP \
          meets what has arrived that way, the flow is complete. Slow start then costs a flow nothing on \
          an empty path, while flows of others see no difference.",
    reference: "Mittal, Sherry, Ratnasamy, Shenker, NSDI 2014",
    roles: &[Role::SendOrder, Role::Queue],
    keys: Params::KEYS,
    gauges: &[tcp::SSTHRESH],
    linux: Linux {
        lacks: linux::ONE_PRIORITY,
        ..Linux::NOTHING
    },
    build: &build,
    ..Scheme::PLAIN
};

base::settings! {
    /// Parameters of RC3.
    pub struct Params in "rc3" {
        /// Number of low priorities; what is further from the end than the last one reaches has the last one.
        pub levels: Count = "3",
        /// Segments of a write that have priority 1, counted from its end.
        pub first: DataSize = "40pkt",
        /// How many times more segments each further priority has.
        pub growth: Count = "10",
        /// Whether priorities end at the sums of their segments, 40, 440, 4440 ("sums"), or at 40, 400, 4000 ("powers").
        pub limits: PriorityLimits = "sums",
        /// Whether low copies that have not left the host are withdrawn once TCP has sent the same data or it has been acknowledged.
        pub withdraw: bool = "false",
        /// Segments that a host hands over at a time at low priority, with the priority of the lowest of them, and that the receiver acknowledges together: segmentation and receive offload.
        pub tso: Count = "1",
        /// Share of the switches that have no priorities: they queue everything first come, first served, and drop what does not fit. Which ones is drawn from the seed.
        pub plain_routers: Fraction = "0",
        /// Whether the network cards of hosts at such switches have no priorities either.
        pub plain_hosts: bool = "false",
        /// Whether switches without priorities forward packets of low priority, or drop them as the border of a network
        /// would.
        pub border: Border = "forward",
    }
}

base::choices! {
    /// Where priorities end.
    pub enum PriorityLimits {
        /// At the sum of their segments and those of higher ones.
        Sums = "sums",
        /// At their own segments, those of higher ones included.
        Powers = "powers",
    }
}

base::choices! {
    /// The fate of packets of low priority at switches without priorities.
    pub enum Border {
        /// They queue with the others.
        Forward = "forward",
        /// They are dropped.
        Drop = "drop",
    }
}

impl Params {
    fn misfits(&self) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        if self.first.unit != SizeUnit::Packet {
            misfits.push(Misfit {
                keys: &["rc3.first"],
                message: "priorities count segments, not bytes".into(),
                remedy: "write it as in rc3.first = \"40pkt\"".into(),
            });
        }
        if self.levels.0 > MAX_LEVELS {
            misfits.push(Misfit {
                keys: &["rc3.levels"],
                message: format!(
                    "a code point has 6 bits, so there are no {} low priorities",
                    self.levels.0
                ),
                remedy: format!("set rc3.levels to {MAX_LEVELS} or less"),
            });
        }
        misfits
    }
}

/// RFC 2474 §3: code points have 6 bits, of which priority 0 has one value.
const MAX_LEVELS: u32 = 63;

fn build(text: &crate::ParamTexts<'_>) -> Result<Roles, SettingError> {
    let params = Params::read(text)?;
    let levels = u8::try_from(params.levels.0).unwrap_or(u8::MAX);
    Ok(Roles {
        low_priority: Some(LowPriority {
            first: u32::try_from(params.first.amount).unwrap_or(u32::MAX),
            growth: params.growth.0,
            levels,
            added_up: params.limits == PriorityLimits::Sums,
            withdraw: params.withdraw,
            burst: u16::try_from(params.tso.0).unwrap_or(u16::MAX),
        }),
        priorities: Some(Strict {
            classes: levels.saturating_add(1),
            push_out: true,
        }),
        priorities_at_hosts: true,
        plain_switches: PlainSwitches {
            share: params.plain_routers.0,
            hosts: params.plain_hosts,
            drop_low: params.border == Border::Drop,
        },
        random: params.plain_routers.0 > 0.0 && params.plain_routers.0 < 1.0,
        misfits: params.misfits(),
        ..Roles::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(changed: (&str, &str)) -> Roles {
        let text = |key: &str| {
            let own = Params::KEYS.iter().find(|own| own.name == key);
            let default = own.expect("a key of RC3").default;
            let text = if key == changed.0 { changed.1 } else { default };
            text.to_owned()
        };
        build(&text).expect("correct texts")
    }

    // Clauses: RC3-2.2-levels
    #[test]
    fn ports_have_a_class_more_than_low_priorities() {
        let roles = roles(("rc3.levels", "4"));
        let strict = roles.priorities.expect("priorities");
        assert_eq!((strict.classes, strict.push_out), (5, true));
        assert_eq!(roles.low_priority.expect("a second loop").levels, 4);
    }

    #[test]
    fn segments_are_not_bytes_and_code_points_have_six_bits() {
        assert_eq!(roles(("rc3.first", "10pkt")).misfits, []);
        assert_eq!(roles(("rc3.first", "40KB")).misfits[0].keys, ["rc3.first"]);
        assert_eq!(roles(("rc3.levels", "64")).misfits[0].keys, ["rc3.levels"]);
    }
}
