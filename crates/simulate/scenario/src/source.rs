//! Texts from which scenarios are read, with the names that messages use.

use crate::argument::Argument;

/// A text and the name under which messages mention it.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    others: &'static [&'static str],
    argument: Option<Argument>,
}

impl Source {
    /// `text` under the name of its file.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            others: &[],
            argument: None,
        }
    }

    /// `text`, which the caller gave as this argument.
    pub fn of_argument(argument: Argument, text: impl Into<String>) -> Self {
        Self {
            argument: Some(argument),
            ..Self::new(argument.name(), text)
        }
    }

    /// Allows the top-level keys with these names, which another program reads.
    #[must_use]
    pub const fn shared(mut self, others: &'static [&'static str]) -> Self {
        self.others = others;
        self
    }

    /// Whether another program reads the top-level key `name`.
    pub(crate) fn is_of_others(&self, name: &str) -> bool {
        self.others.contains(&name)
    }

    /// The argument that it is, if it is no file.
    pub(crate) const fn argument(&self) -> Option<Argument> {
        self.argument
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}
