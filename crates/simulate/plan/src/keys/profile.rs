//! Named sets of settings: whose TCP the endpoints speak.

use std::collections::BTreeSet;

use base::{Ordered as _, Sort as _};
use schemes::Derived;

base::choices! {
    /// Whose TCP the endpoints speak.
    pub enum Profile {
        /// TCP of the RFCs and of published simulations: every setting has the default that its description names.
        Paper = "paper",
        /// TCP of Linux 6.12 with 250 ticks a second, with timestamps, SACK and its own timers.
        Linux = "linux",
    }
}

impl Profile {
    /// The settings that differ from their defaults, by full name: of TCP, the network, and schemes.
    pub fn settings(self) -> Vec<(&'static str, &'static str)> {
        let mut all = match self {
            Self::Paper => Vec::new(),
            Self::Linux => LINUX.iter().chain(of_schemes()).copied().collect(),
        };
        all.order();
        all
    }
}

/// The settings that follow from timestamps, so that a full packet has 1500 bytes (RFC 7323 §3.2, appendix A).
pub const STAMPED: &[(&str, &str)] = &[("net.header_bytes", "52"), ("tcp.mss", "1448")];

/// The value of a setting under `linux`, if it differs from the default, which is the value under `paper`.
pub fn of_linux(name: &str) -> Option<&'static str> {
    let mut all = LINUX.iter().chain(STAMPED).chain(of_schemes());
    all.find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Whether a profile may set this key, directly, by its consequences, or through a scheme that depends on the profile.
pub fn sets(name: &str) -> bool {
    static SET: Derived<BTreeSet<&str>> = Derived::new(|| {
        let of_linux = LINUX.iter().chain(STAMPED).chain(of_schemes());
        let rested_on = schemes::all().iter().flat_map(|scheme| scheme.tcp);
        of_linux.chain(rested_on).map(|(own, _)| *own).into_set()
    });
    SET.get().contains(name)
}

/// The scheme settings in Linux that differ from the schemes' papers.
fn of_schemes() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    schemes::all()
        .iter()
        .flat_map(|scheme| scheme.linux.settings)
}

/// Linux 6.12.
const LINUX: &[(&str, &str)] = &[
    ("link.jitter", "auto"),
    ("net.sack_bytes", "true"),
    ("tcp.after_syn_loss", "linux"),
    ("tcp.clock_granularity", "4ms"),
    ("tcp.delayed_ack", "2"),
    ("tcp.delayed_ack_below_rto", "true"),
    ("tcp.dsack", "true"),
    ("tcp.frto", "true"),
    ("tcp.idle_window", "halves"),
    ("tcp.keep_scoreboard", "true"),
    ("tcp.loss_detection", "rack-linux"),
    ("tcp.max_rto", "120s"),
    ("tcp.nodelay", "false"),
    ("tcp.quick_acks", "16"),
    ("tcp.receive_window", "grows"),
    ("tcp.recovery", "prr"),
    ("tcp.retries_by_time", "true"),
    ("tcp.rto_estimator", "linux"),
    ("tcp.sack_delay", "1ms"),
    ("tcp.sack_delay_slack", "100us"),
    ("tcp.send_buffer", "auto"),
    ("tcp.small_queues", "true"),
    ("tcp.ssthresh_of", "window"),
    ("tcp.syn_ack_retries", "5"),
    ("tcp.syn_linear_timeouts", "4"),
    ("tcp.tail_loss_probe", "linux"),
    ("tcp.timer", "wheel"),
    ("tcp.timer_slack", "2ms"),
    ("tcp.timestamps", "true"),
    ("tcp.undo", "true"),
    ("tcp.window_growth", "delivery"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::key;

    #[test]
    fn schemes_rest_on_settings_that_a_profile_may_change() {
        // A different value of a scheme would be written as a default.
        for (name, text) in schemes::all().iter().flat_map(|scheme| scheme.tcp) {
            let key = key(name).unwrap_or_else(|| panic!("{name} is a setting"));
            assert_eq!((key.check)(text), Ok(()), "{name}");
            assert!(sets(name), "{name}");
        }
    }

    #[test]
    fn a_profile_names_settings_once_and_gives_them_correct_values_that_differ() {
        let settings = Profile::Linux.settings();
        for (name, text) in settings.iter().chain(STAMPED) {
            let key = key(name).unwrap_or_else(|| panic!("{name} is a setting"));
            assert_eq!((key.check)(text), Ok(()), "{name}");
            assert_ne!(key.default, *text, "{name}");
        }
        assert!(settings.is_sorted_by(|a, b| a.0 < b.0));
    }
}
