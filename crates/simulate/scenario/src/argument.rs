//! What a caller says beside a scenario, and texts that mention it.

use std::fmt;

/// Something that a run is told beside its scenario.
///
/// A library does not know what its caller calls these: a command line has flags, a notebook has arguments.
/// So a text of a library mentions them as such, and the caller puts in the names with
/// [`Problem::worded`](crate::Problem::worded).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// One setting, as `KEY=VALUE`.
    Set,
    /// What results are judged by.
    Goals,
    /// The list of schemes.
    Schemes,
    /// A setting and the range that is searched.
    Search,
    /// The first seed.
    Seed,
    /// How many seeds to run.
    Seeds,
    /// Which quantities to record over time.
    Trace,
    /// How many orders of simultaneous events to run.
    Ties,
    /// Where to capture packets.
    Captures,
    /// The run folder.
    Folder,
    /// To keep no run folder.
    NoFolder,
    /// To go on where an earlier run ended.
    Resume,
    /// Steps that one simulation may take.
    Steps,
    /// Memory that simulations may take.
    Memory,
    /// Room on disk that series may take.
    Disk,
}

impl Argument {
    /// Its name where the caller gives it none.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "settings",
            Self::Goals => "goals",
            Self::Schemes => "schemes",
            Self::Search => "search",
            Self::Seed => "seed",
            Self::Seeds => "seeds",
            Self::Trace => "trace",
            Self::Ties => "ties",
            Self::Captures => "captures",
            Self::Folder => "folder",
            Self::NoFolder => "no folder",
            Self::Resume => "resume",
            Self::Steps => "steps",
            Self::Memory => "memory",
            Self::Disk => "disk",
        }
    }
}

/// What to do about a problem, in words among which arguments stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Help(Vec<HelpPart>);

#[derive(Clone, Debug, PartialEq)]
enum HelpPart {
    Text(String),
    Argument(Argument),
}

impl Help {
    /// The same, with an argument behind it.
    #[must_use]
    pub fn argument(mut self, argument: Argument) -> Self {
        self.0.push(HelpPart::Argument(argument));
        self
    }

    /// The same, with more text behind it.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(HelpPart::Text(text.into()));
        self
    }

    /// The same in the words of a caller, who calls each argument what `name` says.
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
