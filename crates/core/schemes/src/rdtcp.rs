//! RDTCP: the earlier description of RCC, by the same authors and with the same mechanism.
//!
//! The receiver assigns windows and holds ACKs back until the data in flight allows them, as in
//! [`rcc`], whose parameters are RDTCP's too; see there for the mechanism. What differs is
//! simpler here: the timer that sends lost ACKs again has one constant value and does not back off, one
//! ACK at a time gives a sample of the round trip, and a retransmitted ACK is given no passes in
//! advance. Where the network does not tell its threshold, the budget is what is in flight at the first
//! mark (`rcc.max_queue = "auto"`).
//!
//! | symbol | field | value here | source |
//! |---|---|---|---|
//! | `queue_maxsize` | `rcc.max_queue` | 40 packets, or `"auto"` | RDTCP |
//! | `RTO_min^r` | `rcc.min_rto` | 10 ms; `rcc.timer` is always `"constant"` | RDTCP |
//! | back-off | `rcc.max_backoff` | always 1 | none in RDTCP |
//! | expected sequence number and T1 | `rcc.history` | always `"single"` | RDTCP |
//! | PSH bonus | `rcc.push_bonus` | always 0 | none in RDTCP |
//!
//! Deviations: those of RCC. Algorithm 1 l. 7 lacks its comparison; it is RCC's, a window larger than the
//! flow is cut to the flow, where the line as printed would give every flow a window of its own size.
//!
//! Open in the paper: the largest number of passes (RCC's), and the congestion control, whose algorithm
//! is referred to and not printed (RCC's).

use base::setting::{SettingError, Settings};
use tcp::EcnMode;

use crate::rcc::{self, Params};
use crate::registry::{ParamTexts, Role, Roles, Scheme};

/// The registry entry.
pub const SCHEME: Scheme = Scheme {
    name: "rdtcp",
    summary: "RCC as first described: a constant receiver timer, and one round trip timed at once",
    how: "RDTCP is the earlier description of RCC. The receiver assigns windows and holds ACKs back until \
          the data in flight are below a budget. Its timer, which sends lost ACKs again, has one constant \
          value and does not back off. One ACK at a time gives a sample of the round trip. Where the \
          network does not tell its threshold, the budget is what was in flight at the first mark.",
    reference: "RDTCP: Receiver-oriented Datacenter TCP, 2015",
    roles: &[Role::Helper, Role::Receiver, Role::Marks],
    keys: rcc::SCHEME.keys,
    gauges: rcc::SCHEME.gauges,
    tcp: rcc::SCHEME.tcp,
    build: &|text| {
        let params = params(text)?;
        Ok(Roles {
            helper: Some(rcc::helper(&params)),
            misfits: rcc::misfit(&params).into_iter().collect(),
            receiver: Some(Box::new(move |host| rcc::receiver(&params, host))),
            ecn: Some(EcnMode::Unechoed),
            ..Roles::default()
        })
    },
    ..Scheme::PLAIN
};

/// RCC's parameters as RDTCP has them.
fn params(text: &ParamTexts<'_>) -> Result<Params, SettingError> {
    Params::read(&|key| {
        let fixed = FIXED.iter().find(|(name, _)| *name == key);
        fixed.map_or_else(|| text(key), |(_, value)| (*value).to_owned())
    })
}

/// Parameters of RCC that have one value here.
const FIXED: &[(&str, &str)] = &[
    ("rcc.timer", "constant"),
    ("rcc.max_backoff", "1"),
    ("rcc.history", "single"),
    ("rcc.push_bonus", "0"),
];

#[cfg(test)]
mod tests {
    use base::OrAuto;

    use super::*;
    use crate::rcc::TimerLaw;

    #[test]
    fn every_fixed_switch_is_a_key_of_rcc_and_changes_it() {
        for (name, value) in FIXED {
            assert_ne!(Params::default_text(name), *value, "{name}");
        }
    }

    #[test]
    fn the_timer_is_constant_and_the_rest_is_as_set() {
        let set = |key: &str| match key {
            "rcc.max_queue" => "auto".to_owned(),
            "rcc.timer" => "adaptive".to_owned(),
            _ => Params::default_text(key).to_owned(),
        };
        let params = params(&set).expect("correct texts");
        assert_eq!(params.max_queue, OrAuto(None));
        assert_eq!(
            (params.timer, params.max_backoff.0),
            (TimerLaw::Constant, 1)
        );
    }
}
