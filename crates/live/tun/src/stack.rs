//! A scheme of the simulator as one side of real connections.

use std::sync::Arc;

use base::FlowId;
use base::{HostId, Seq};
use scenario::{Problem, Problems};
use schemes::{Bundle, FlowInfo, Role, Roles, Sender};
use tcp::{Config, Endpoint, Identity};

use super::low::LowRule;

/// Whether these are roles of a sender, so that the kernel can be the other side.
fn is_of_senders<'a>(roles: impl Iterator<Item = &'a Role>) -> bool {
    let mut sends = false;
    for role in roles {
        match role {
            Role::Sender | Role::SendOrder => sends = true,
            // A queue with priorities helps a sender, but is not required.
            Role::Queue => {}
            _ => return false,
        }
    }
    sends
}

/// Makes the endpoints of a scheme.
pub(crate) struct Stack {
    pub(crate) scheme: String,
    roles: Roles,
    config: Config,
    shared: Arc<Config>,
    /// The rule for ACKs of data of low priority, if there is any.
    pub(crate) rule: LowRule,
}

impl Stack {
    /// The scheme with this name, with settings as `key=value`.
    ///
    /// # Errors
    /// If it does not exist, a setting is wrong, or the scheme needs more than its sender.
    pub(crate) fn of(scheme: &str, sets: &[String]) -> Result<Self, Problems> {
        let pairs = sets
            .iter()
            .map(|set| set.split_once('=').unwrap_or((set, "")));
        let pairs: Vec<_> = pairs
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let point = scenario::point(scheme, 1, &pairs)?;
        let bundle = Bundle::parse(scheme).expect("the scenario has read it");
        let parts = bundle.parts();
        if !is_of_senders(parts.iter().flat_map(|part| part.roles)) {
            let what =
                format!("{scheme} is more than a sender, and the other side is the kernel's TCP");
            let all = schemes::all().iter();
            let all = all.filter(|scheme| is_of_senders(scheme.roles.iter()));
            let names: Vec<&str> = all.map(|scheme| scheme.name).collect();
            let (last, first) = names.split_last().expect("the plain one");
            let help = format!(
                "schemes that need only a sender are {} and {last}",
                first.join(", ")
            );
            return Err(Problem::new(what).help(help).into());
        }
        let group = &point.groups[0];
        let roles = group.roles();
        let mut config = sim::endpoint_config(&group.keys, &roles);
        // The kernel uses timestamps only if both sides offer them, and endpoints keep no record with RC3.
        config.timestamps = false;
        Ok(Self {
            scheme: scheme.to_owned(),
            roles,
            config,
            shared: Arc::new(config),
            rule: LowRule::default(),
        })
    }

    /// The same with another rule.
    pub(crate) fn with_rule(mut self, rule: LowRule) -> Self {
        self.rule = rule;
        self
    }

    /// A closed endpoint with this initial sequence number.
    pub(crate) fn endpoint(&self, initial: Seq) -> Endpoint<Sender> {
        let identity = Identity {
            flow: FlowId(0),
            local: HostId(0),
            remote: HostId(1),
            initial_seq: initial,
        };
        let info = FlowInfo {
            size: None,
            config: self.config,
        };
        let sender = self.roles.make_sender(&info);
        self.roles
            .make_endpoint(identity, Arc::clone(&self.shared), &info, sender)
    }

    /// Whether data is also sent at low priorities.
    pub(crate) const fn has_low_priorities(&self) -> bool {
        self.config.low_priority.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_of_senders_are_taken_and_others_refused() {
        for scheme in ["newreno", "cubic", "rc3"] {
            let stack = Stack::of(scheme, &[]).expect(scheme);
            assert_eq!(stack.has_low_priorities(), scheme == "rc3");
        }
        for scheme in ["rcc", "xcp", "hscc", "dctcp", "red", "nonsense"] {
            assert!(Stack::of(scheme, &[]).is_err(), "{scheme}");
        }
        let stack = Stack::of("newreno", &["tcp.initial_window=3".to_owned()]).unwrap();
        assert_eq!(stack.config.initial_window, 3);
    }
}
