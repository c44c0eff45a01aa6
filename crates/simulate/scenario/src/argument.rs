//! Arguments that a caller gives besides a scenario, and texts that mention them.

use std::fmt;

base::names! {
    /// An argument of a run besides its scenario.
    ///
    /// A library does not know the caller's names for arguments: a command line has flags, a notebook has keyword
    /// arguments. So a text of a library mentions arguments by this type, and the caller inserts its names with
    /// [`Problem::worded`](crate::Problem::worded).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Argument {
        /// One setting, as `KEY=VALUE`.
        Set = "settings",
        /// The goals that results have to meet.
        Goals = "goals",
        /// The list of schemes.
        Schemes = "schemes",
        /// A setting and the range that is searched.
        Search = "search",
        /// The first seed.
        Seed = "seed",
        /// How many seeds to run.
        Seeds = "seeds",
        /// Which quantities to record over time.
        Trace = "trace",
        /// How many orders of simultaneous events to run.
        Ties = "ties",
        /// Where to capture packets.
        Captures = "captures",
        /// The run folder.
        Folder = "folder",
        /// To keep no run folder.
        NoFolder = "no folder",
        /// To go on where an earlier run ended.
        Resume = "resume",
        /// Steps that one simulation may take.
        Steps = "steps",
        /// Memory that simulations may take.
        Memory = "memory",
        /// Room on disk that series may take.
        Disk = "disk",
    }
}

/// The remedy for a problem: text with arguments in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Help(Vec<HelpPart>);

#[derive(Clone, Debug, PartialEq)]
enum HelpPart {
    Text(String),
    Argument(Argument),
}

impl Help {
    /// Appends an argument.
    #[must_use]
    pub fn argument(mut self, argument: Argument) -> Self {
        self.0.push(HelpPart::Argument(argument));
        self
    }

    /// Appends more text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(HelpPart::Text(text.into()));
        self
    }

    /// The text in the words of a caller, whose name for each argument `name` returns.
    pub(crate) fn worded(&self, name: &dyn Fn(Argument, Option<&str>) -> String) -> Self {
        let words = self.0.iter().map(|part| match part {
            HelpPart::Text(text) => text.clone(),
            HelpPart::Argument(argument) => name(*argument, None),
        });
        Self(vec![HelpPart::Text(words.collect())])
    }
}

impl<T: Into<String>> From<T> for Help {
    fn from(text: T) -> Self {
        Self(vec![HelpPart::Text(text.into())])
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            HelpPart::Text(text) => f.write_str(text),
            HelpPart::Argument(argument) => write!(f, "`{}`", argument.name()),
        })
    }
}
