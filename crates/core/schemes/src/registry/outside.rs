//! The list of all schemes, to which other crates add theirs.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use base::setting::SettingError;

use super::{Role, Roles, Scheme};
use crate::BUILT_IN;

/// Whose code a scheme is: results of different code are never mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The package.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// A hash of its sources.
    pub hash: u64,
}

/// Why a scheme is not registered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RegistrationError {
    /// The text is no name.
    Name(&'static str),
    /// It does not say whose code it is.
    NoOrigin(&'static str),
    /// A scheme of other code has the name.
    Taken(&'static str),
    /// A parameter is neither in the scheme's own table nor one of another scheme.
    Key {
        /// The scheme.
        scheme: &'static str,
        /// The full name of the parameter.
        key: &'static str,
    },
    /// The default of a parameter is wrong.
    Default {
        /// The scheme.
        scheme: &'static str,
        /// What is wrong.
        error: SettingError,
    },
    /// It fills a role that it does not declare.
    Role {
        /// The scheme.
        scheme: &'static str,
        /// The role.
        role: Role,
    },
    /// Another scheme traces a number by the same name in another unit.
    Gauge {
        /// The scheme.
        scheme: &'static str,
        /// The name of the number.
        gauge: &'static str,
    },
}

/// Every registered scheme: those of this crate, then those from outside in the order of their
/// registration.
pub fn all() -> &'static [&'static Scheme] {
    *LIST.read().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a scheme from outside this crate, for scenarios that are read from now on.
///
/// A scheme that the same package registered under this name before is replaced. Each registration
/// takes a few hundred bytes that are never given back.
pub fn register(scheme: Scheme) -> Result<(), RegistrationError> {
    let mut list = LIST.write().unwrap_or_else(PoisonError::into_inner);
    check(&scheme, *list)?;
    let place = list.iter().position(|other| other.name == scheme.name);
    if place.is_some_and(|place| list[place].origin == scheme.origin) {
        return Ok(());
    }
    let mut longer = list.to_vec();
    let scheme: &'static Scheme = Box::leak(Box::new(scheme));
    match place {
        Some(place) => longer[place] = scheme,
        None => longer.push(scheme),
    }
    *list = longer.leak();
    Ok(())
}

/// A value computed from all schemes, and computed again when another scheme is registered.
///
/// Reading costs a lock and a comparison. The value of a shorter list is never freed: someone may still
/// use it.
pub struct Derived<T: 'static> {
    make: fn() -> T,
    made: RwLock<Option<(&'static [&'static Scheme], &'static T)>>,
}

impl<T: Sync> Derived<T> {
    /// A value that `make` makes from [`all`].
    pub const fn new(make: fn() -> T) -> Self {
        let made = RwLock::new(None);
        Self { make, made }
    }

    /// The value for the schemes that are registered now.
    pub fn get(&self) -> &'static T {
        let current = all();
        let made = *self.made.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((list, value)) = made
            && std::ptr::eq(list, current)
        {
            return value;
        }
        let value: &'static T = Box::leak(Box::new((self.make)()));
        let mut made = self.made.write().unwrap_or_else(PoisonError::into_inner);
        *made = Some((current, value));
        value
    }
}

static LIST: RwLock<&'static [&'static Scheme]> = RwLock::new(BUILT_IN);

fn check(scheme: &Scheme, list: &[&'static Scheme]) -> Result<(), RegistrationError> {
    let name = scheme.name;
    if !is_name(name) {
        return Err(RegistrationError::Name(name));
    }
    let origin = scheme.origin.ok_or(RegistrationError::NoOrigin(name))?;
    let other = list.iter().find(|other| other.name == name);
    let package = other.map(|other| other.origin.map(|origin| origin.package));
    if package.is_some_and(|package| package != Some(origin.package)) {
        return Err(RegistrationError::Taken(name));
    }
    let others = || list.iter().filter(|other| other.name != name);
    let is_foreign = |key: &&str| {
        !key.strip_prefix(name)
            .is_some_and(|key| key.starts_with('.'))
    };
    let known = || others().flat_map(|other| other.keys);
    for key in scheme.keys.iter().map(|key| key.name).filter(is_foreign) {
        if !known().any(|other| other.name == key) {
            return Err(RegistrationError::Key { scheme: name, key });
        }
    }
    for gauge in scheme.gauges {
        let mut theirs = others().flat_map(|other| other.gauges);
        if theirs.any(|other| other.name == gauge.name && other.unit != gauge.unit) {
            let gauge = gauge.name;
            return Err(RegistrationError::Gauge {
                scheme: name,
                gauge,
            });
        }
    }
    let default = |text: &str| {
        let mut keys = scheme.keys.iter().chain(known());
        let key = keys.find(|key| key.name == text);
        key.map_or_else(String::new, |key| key.default.to_owned())
    };
    let roles = (scheme.build)(&default).map_err(|error| RegistrationError::Default {
        scheme: name,
        error,
    })?;
    undeclared(scheme, &roles).map_or(Ok(()), |role| {
        Err(RegistrationError::Role { scheme: name, role })
    })
}

/// A role that `scheme` fills with its defaults and does not declare.
fn undeclared(scheme: &Scheme, roles: &Roles) -> Option<Role> {
    let mut filled = roles.filled().into_iter();
    filled.find(|role| !scheme.roles.contains(role))
}

/// A name is a word of scenarios, where `+` and `,` join names, and a table of settings.
fn is_name(text: &str) -> bool {
    let rest =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(rest)
}

impl fmt::Display for Origin {
    /// As in `my-scheme 0.1.0+89abcdef01234567`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}+{:016x}", self.package, self.version, self.hash)
    }
}

impl fmt::Display for RegistrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                f,
                "{name:?} cannot name a scheme: a name begins with a lowercase letter and has \
                 lowercase letters, digits, \"-\" and \"_\""
            ),
            Self::NoOrigin(name) => write!(
                f,
                "scheme {name} has no `origin`, so its results could be mixed with results of other code: set `origin`"
            ),
            Self::Taken(name) => write!(f, "a scheme called {name} exists: choose another name"),
            Self::Key { scheme, key } => write!(
                f,
                "scheme {scheme} has a parameter {key} without the name of the scheme: call it {scheme}.SOMETHING"
            ),
            Self::Default { scheme, error } => {
                let SettingError { key, error } = error;
                write!(f, "scheme {scheme} has a wrong default for {key}: {error}")
            }
            Self::Role { scheme, role } => write!(
                f,
                "scheme {scheme} decides {role}, but its roles do not list it: add {role:?} to its roles"
            ),
            Self::Gauge { scheme, gauge } => write!(
                f,
                "scheme {scheme} traces {gauge} in a different unit than other schemes: rename it"
            ),
        }
    }
}

impl std::error::Error for RegistrationError {}

#[cfg(test)]
mod tests {
    use tcp::Gauge;

    use super::*;

    const ORIGIN: Origin = Origin {
        package: "outside",
        version: "1.0.0",
        hash: 1,
    };
    const OUTSIDE: Scheme = Scheme {
        name: "outside",
        origin: Some(ORIGIN),
        ..Scheme::PLAIN
    };

    base::settings! {
        /// Parameters of another scheme.
        pub struct Wrong in "outside" {
            /// Not a number.
            pub window: base::Count = "many",
        }
    }

    #[test]
    fn a_registered_scheme_stands_behind_the_others_and_makes_lists_anew() {
        static NAMES: Derived<Vec<&str>> =
            Derived::new(|| all().iter().map(|scheme| scheme.name).collect());
        let before = NAMES.get();
        assert!(!before.contains(&"outside"));
        register(OUTSIDE).expect("a new name");
        assert_eq!(NAMES.get().last(), Some(&"outside"));
        assert_eq!(NAMES.get()[..before.len()], before[..]);
        // Once more changes nothing, other code of the same package takes its place.
        let list = all();
        register(OUTSIDE).expect("the same again");
        assert!(std::ptr::eq(list, all()));
        let newer = Origin { hash: 2, ..ORIGIN };
        let scheme = Scheme {
            origin: Some(newer),
            ..OUTSIDE
        };
        register(scheme).expect("the same package");
        assert_eq!(all().len(), list.len());
        assert_eq!(all().last().and_then(|scheme| scheme.origin), Some(newer));
    }

    #[test]
    fn a_scheme_that_would_be_confused_with_another_is_refused() {
        let refused = |scheme: &Scheme| check(scheme, BUILT_IN).expect_err("a refusal");
        let named = |name| Scheme { name, ..OUTSIDE };
        for name in ["", "Upper", "a+b", "a,b", "2d", "a.b", "a b"] {
            assert_eq!(refused(&named(name)), RegistrationError::Name(name));
        }
        assert_eq!(refused(&named("rcc")), RegistrationError::Taken("rcc"));
        let nameless = Scheme {
            origin: None,
            ..OUTSIDE
        };
        assert_eq!(refused(&nameless), RegistrationError::NoOrigin("outside"));
        let theirs = Scheme {
            origin: Some(Origin {
                package: "another",
                ..ORIGIN
            }),
            ..OUTSIDE
        };
        let taken = check(&theirs, &[&OUTSIDE]).expect_err("another package");
        assert_eq!(taken, RegistrationError::Taken("outside"));
    }

    #[test]
    fn a_scheme_whose_entry_is_wrong_is_refused() {
        use base::setting::Settings;

        let refused = |scheme: Scheme| check(&scheme, BUILT_IN).expect_err("a refusal");
        let scheme = "outside";
        let keys = Wrong::KEYS;
        assert!(matches!(
            refused(Scheme {
                keys,
                build: &|text| Wrong::read(text).map(|_| Roles::default()),
                ..OUTSIDE
            }),
            RegistrationError::Default { scheme: "outside", error } if error.key == "outside.window"
        ));
        let key = "outside.window";
        let name = "inside";
        let foreign = Scheme {
            name,
            keys,
            ..OUTSIDE
        };
        assert_eq!(
            refused(foreign),
            RegistrationError::Key { scheme: name, key }
        );
        let silent = Scheme {
            build: &|_| {
                Ok(Roles {
                    ecn: Some(tcp::EcnMode::Classic),
                    ..Roles::default()
                })
            },
            ..OUTSIDE
        };
        let role = Role::Marks;
        assert_eq!(refused(silent), RegistrationError::Role { scheme, role });
        let gauges = &[Gauge {
            name: "alpha",
            unit: "bytes",
            help: "In another unit than DCTCP's.",
        }];
        let gauge = Scheme { gauges, ..OUTSIDE };
        assert_eq!(
            refused(gauge),
            RegistrationError::Gauge {
                scheme,
                gauge: "alpha"
            }
        );
    }
}
