//! Applies the head of a script to a host: the machine for a driver.

use base::{FlowId, HostId, Seq, Span};
use schemes::{FlowInfo, Sender};
use tcp::{Config, Endpoint, Identity};

use crate::kernel::{Changes, ScriptHost};
use crate::script::Script;
use crate::{Lacks, ScriptFailure};

/// An endpoint that is not connected and whose SYN has the number 0, and the required exactness of times.
pub(crate) struct Machine {
    pub(crate) config: Config,
    pub(crate) endpoint: Endpoint<Sender>,
    /// The allowed difference of a time.
    pub(crate) tolerance: Span,
    /// The period of the timestamp clock, if timestamps are compared.
    pub(crate) tick: Option<Span>,
    /// Whether every segment that leaves must be expected.
    pub(crate) strict: bool,
}

/// The machine from `host`, with the options and the first commands of `script`.
pub(crate) fn machine(script: &Script, host: &dyn ScriptHost) -> Result<Machine, ScriptFailure> {
    let mut changes = Changes {
        scheme: host.scheme().to_owned(),
        settings: host.settings(),
    };
    let mut tolerance_us = host.tolerance_us();
    let mut tick = host.is_strict().then_some(Span::from_millis(1));
    let mut first = 1;
    for (line, name, value) in &script.options {
        let unread = || ScriptFailure::lacks(*line, Lacks::Syntax, format!("--{name}={value}"));
        match name.as_str() {
            "tolerance_usecs" => tolerance_us = value.parse().map_err(|_| unread())?,
            "tcp_ts_tick_usecs" if value == "0" => tick = None,
            "tcp_ts_tick_usecs" if value == "1000" => tick = Some(Span::from_millis(1)),
            "tcp_ts_tick_usecs" => {
                return Err(ScriptFailure::lacks(*line, Lacks::Clock, value.as_str()));
            }
            "scheme" => changes.scheme.clone_from(value),
            key if key.contains('.') => changes.set(key, value),
            _ => return Err(unread()),
        }
        first = *line;
    }
    for (line, commands) in &script.setup {
        changes.command(host, *line, commands)?;
    }
    let settings: Vec<(&str, &str)> = changes
        .settings
        .iter()
        .map(|(key, text)| (key.as_str(), text.as_str()))
        .collect();
    let point = scenario::point(&changes.scheme, 1, &settings)
        .map_err(|problems| ScriptFailure::lacks(first, Lacks::Syntax, problems.to_string()))?;
    let group = &point.groups[0];
    let roles = group.roles();
    let config = sim::endpoint_config(&group.keys, &roles);
    let info = FlowInfo { size: None, config };
    let identity = Identity {
        flow: FlowId(0),
        local: HostId(0),
        remote: HostId(1),
        initial_seq: Seq(0),
    };
    Ok(Machine {
        config,
        endpoint: roles.make_endpoint(identity, config, &info, roles.make_sender(&info)),
        tolerance: Span::from_micros(tolerance_us),
        tick,
        strict: host.is_strict(),
    })
}
