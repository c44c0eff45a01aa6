//! Settings declared once: name, type, default and description beside the field that holds them.
//!
//! [`settings!`](crate::settings) turns a struct with defaults into a table of [`Key`]s, from which
//! the scenario reader, `explain`, completions and the documentation are made.
//!
//! ```
//! base::settings! {
//!     /// How a link behaves.
//!     pub struct Link in "link" {
//!         /// Bits per second of every link.
//!         pub rate: base::Rate = "1Gbps",
//!     }
//! }
//! use base::setting::Settings;
//! assert_eq!(Link::KEYS[0].name, "link.rate");
//! let link = Link::read(&|key: &str| Link::default_text(key).to_owned()).expect("defaults are valid");
//! assert_eq!(link.rate.to_string(), "1Gbps");
//! ```

use crate::quantity::{Quantity, QuantityError};

/// One documented setting.
#[derive(Clone, Copy)]
pub struct Key {
    /// Full name: `"tcp.min_rto"`.
    pub name: &'static str,
    /// What it means, as sentences.
    pub help: &'static str,
    /// The text of its default value.
    pub default: &'static str,
    /// What a correct text looks like.
    pub expected: fn() -> String,
    /// Every word that is a value, with its meaning; empty unless values are chosen from a few
    /// words.
    pub choices: fn() -> &'static [(&'static str, &'static str)],
    /// Whether a text is a correct value.
    pub check: fn(&str) -> Result<(), QuantityError>,
    /// Tells a text that is meant as the path of a file, if values may be paths.
    pub is_path: fn() -> Option<IsPath>,
}

/// Texts that a page never shows are left out of it: `tailwater explain` describes settings.
#[doc(hidden)]
pub const fn described(help: &'static str) -> &'static str {
    if cfg!(page) {
        return "";
    }
    help.trim_ascii()
}

/// Whether `text` is a correct value.
#[doc(hidden)]
pub fn check<T: Quantity>(text: &str) -> Result<(), QuantityError> {
    T::parse(text).map(drop)
}

/// Reads the setting called `key`.
#[doc(hidden)]
pub fn read<T: Quantity>(
    text: &dyn Fn(&str) -> String,
    key: &'static str,
) -> Result<T, SettingError> {
    T::parse(&text(key)).map_err(|error| SettingError { key, error })
}

/// Tells a path from other texts.
type IsPath = fn(&str) -> bool;

impl Key {
    /// Whether `text` is meant as the path of a file.
    pub fn names_file(&self, text: &str) -> bool {
        (self.is_path)().is_some_and(|is_path| is_path(text.trim()))
    }
}

/// A group of settings read together.
pub trait Settings: Sized {
    /// Every setting of the group, in the order of declaration.
    const KEYS: &'static [Key];

    /// Reads the group from texts by full key name. Fails with the key and what is wrong with its text.
    fn read(text: &dyn Fn(&str) -> String) -> Result<Self, SettingError>;

    /// The default of the setting called `name`.
    ///
    /// # Panics
    /// If the group has no such setting.
    fn default_text(name: &str) -> &'static str {
        Self::KEYS
            .iter()
            .find(|key| key.name == name)
            .expect("a key of this group")
            .default
    }

    /// The group with every setting at its default.
    ///
    /// # Panics
    /// If a declared default is not a correct value; a test of every group shows that none is.
    fn defaults() -> Self {
        Self::read(&|key| Self::default_text(key).to_owned())
            .expect("declared defaults are correct")
    }
}

/// A setting whose text is not a correct value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// Full name of the key.
    pub key: &'static str,
    /// What is wrong.
    pub error: QuantityError,
}

/// Declares a struct of settings and its table of keys. Field documentation becomes the description.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $group:literal {
            $( $(#[doc = $doc:literal])+ pub $field:ident : $type:ty = $default:literal ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
        }

        impl $crate::setting::Settings for $name {
            const KEYS: &'static [$crate::setting::Key] = &[
                $( $crate::setting::Key {
                    name: concat!($group, ".", stringify!($field)),
                    help: $crate::setting::described(concat!($($doc),+)),
                    default: $default,
                    expected: <$type as $crate::Quantity>::expected,
                    choices: <$type as $crate::Quantity>::choices,
                    check: $crate::setting::check::<$type>,
                    is_path: <$type as $crate::Quantity>::is_path,
                } ),*
            ];

            fn read(text: &dyn Fn(&str) -> String) -> Result<Self, $crate::setting::SettingError> {
                Ok(Self { $(
                    $field: $crate::setting::read(text, concat!($group, ".", stringify!($field)))?,
                )* })
            }
        }
    };
}

/// Declares an enum whose variants have names: a constant `ALL` with every variant in the order of declaration, a method
/// `name`, and `Display`, which writes the name.
#[macro_export]
macro_rules! names {
    (
        $(#[$meta:meta])*
        pub enum $enum:ident { $( $(#[$of_variant:meta])* $variant:ident = $name:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        pub enum $enum { $( $(#[$of_variant])* $variant ),+ }

        impl $enum {
            /// Every variant, in the order of declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name ),+ }
            }
        }

        impl ::core::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Declares an enum whose variants a user writes as words.
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $( $(#[doc = $doc])+ $variant ),+ }

        impl $name {
            /// Every word with its meaning, in the order of declaration.
            pub const CHOICES: &'static [(&'static str, &'static str)] =
                &[$( ($word, $crate::setting::described(concat!($($doc),+))) ),+];

            /// The word for it in scenarios.
            pub const fn word(self) -> &'static str {
                match self { $( Self::$variant => $word ),+ }
            }
        }

        impl $crate::Quantity for $name {
            fn expected() -> String {
                let words = [$( concat!("\"", $word, "\"") ),+];
                if words.len() == 1 { words[0].into() } else { format!("one of {}", words.join(", ")) }
            }

            fn parse(text: &str) -> Result<Self, $crate::QuantityError> {
                match text.trim() {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::QuantityError::expected(&Self::expected(), text)),
                }
            }

            fn choices() -> &'static [(&'static str, &'static str)] {
                Self::CHOICES
            }
        }
    };
}
