//! How schemes compose.

use std::fmt;

use base::setting::SettingError;

use super::{ParamTexts, Role, Roles, Scheme};

/// One scheme, or several that fill different roles: `"rcc"`, `"rcc+newreno"`.
#[derive(Clone)]
pub struct Bundle {
    parts: Vec<&'static Scheme>,
}

/// Why a text names no bundle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BundleError {
    /// No scheme has this name.
    Unknown {
        /// The name as written.
        name: String,
    },
    /// Two parts fill the same role.
    Conflict {
        /// The two schemes.
        schemes: (&'static str, &'static str),
        /// The role both fill.
        role: Role,
    },
}

impl Bundle {
    /// Reads names joined by `+`.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let mut parts: Vec<&'static Scheme> = Vec::new();
        for name in text.split('+').map(str::trim) {
            let scheme = crate::all().iter().find(|scheme| scheme.name == name);
            let scheme = scheme.ok_or_else(|| BundleError::Unknown {
                name: name.to_owned(),
            })?;
            for earlier in &parts {
                if let Some(role) = scheme
                    .roles
                    .iter()
                    .find(|role| earlier.roles.contains(role))
                {
                    let schemes = (earlier.name, scheme.name);
                    return Err(BundleError::Conflict {
                        schemes,
                        role: *role,
                    });
                }
            }
            parts.push(scheme);
        }
        Ok(Self { parts })
    }

    /// Whether any part needs switches that mark packets.
    pub fn needs_marking(&self) -> bool {
        self.parts.iter().any(|scheme| scheme.needs_marking)
    }

    /// The schemes of the bundle.
    pub fn parts(&self) -> &[&'static Scheme] {
        &self.parts
    }

    /// Makes the roles from the texts of all parameters.
    pub fn build(&self, text: &ParamTexts<'_>) -> Result<Roles, SettingError> {
        let mut roles = Roles::default();
        for scheme in &self.parts {
            let part = (scheme.build)(text)?;
            // A role in which a part only observes yields to that of the part that decides.
            let decides = |role| scheme.roles.contains(&role);
            fill(&mut roles.sender, part.sender, decides(Role::Sender));
            fill(&mut roles.helper, part.helper, decides(Role::Helper));
            fill(&mut roles.receiver, part.receiver, decides(Role::Receiver));
            fill(&mut roles.ecn, part.ecn, decides(Role::Marks));
            fill(&mut roles.host, part.host, decides(Role::Host));
            fill(&mut roles.queue, part.queue, decides(Role::Queue));
            fill(&mut roles.priorities, part.priorities, decides(Role::Queue));
            fill(&mut roles.hook, part.hook, decides(Role::Switch));
            fill(
                &mut roles.low_priority,
                part.low_priority,
                decides(Role::SendOrder),
            );
            if decides(Role::Queue) {
                roles.priorities_at_hosts = part.priorities_at_hosts;
                roles.plain_switches = part.plain_switches;
            }
            roles.of_hosts.extend(part.of_hosts);
            roles.shares_buffer = part.shares_buffer.or(roles.shares_buffer);
            roles.random |= part.random;
            roles.knows_way |= part.knows_way;
            roles.misfits.extend(part.misfits);
            roles.timers.extend(part.timers);
            roles.hold = part.hold.or(roles.hold);
            roles.initial_window = part.initial_window.or(roles.initial_window);
        }
        Ok(roles)
    }
}

/// A part that decides replaces a role that is filled already.
fn fill<T>(role: &mut Option<T>, part: Option<T>, decides: bool) {
    if part.is_some() && (decides || role.is_none()) {
        *role = part;
    }
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.parts).finish()
    }
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "no scheme is called {name:?}"),
            Self::Conflict {
                schemes: (first, second),
                role,
            } => {
                write!(
                    f,
                    "{first} and {second} cannot be combined: both decide {role}"
                )
            }
        }
    }
}

impl std::error::Error for BundleError {}
