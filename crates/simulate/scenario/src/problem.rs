//! Errors in a scenario and their places.

use std::fmt;
use std::ops::Range;

use base::shown;
use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

use super::argument::{Argument, Help};
use super::source::Source;

/// One mistake in a scenario file or a command line: the place, the cause and the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    message: String,
    severity: Severity,
    help: Option<Help>,
    place: Option<LabelledSource>,
    no_room: bool,
}

/// All mistakes; never empty.
#[derive(Clone, Debug)]
pub struct Problems(pub Vec<Problem>);

#[derive(Clone, Debug, PartialEq)]
struct LabelledSource {
    source: NamedSource<String>,
    /// The argument that the source is, if it is no file.
    argument: Option<Argument>,
    labels: Vec<LabeledSpan>,
}

/// A place in a text, for people and for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot<'a> {
    /// The name of the text: of a file, or of an argument.
    pub name: &'a str,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, in characters from 1.
    pub column: usize,
    /// The line.
    pub text: &'a str,
    /// The error at this place, in a few words.
    pub says: &'a str,
}

impl Problems {
    /// `value`, or the problems if there are any.
    pub fn unless<T>(problems: Vec<Problem>, value: T) -> Result<T, Self> {
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(Self(problems))
        }
    }
}

impl Problem {
    /// A mistake described by one sentence without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            severity: Severity::Error,
            help: None,
            place: None,
            no_room: false,
        }
    }

    /// A hint about something that is allowed but probably not intended.
    pub fn warning(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::new(message)
        }
    }

    /// Marks that the cause is a full disk or a limit on file size, not a mistake in the input.
    #[must_use]
    pub fn for_lack_of_room(self) -> Self {
        Self {
            no_room: true,
            ..self
        }
    }

    /// Whether the cause is lack of room for a file.
    pub fn is_no_room(&self) -> bool {
        self.no_room
    }

    /// Points at a range of `source` and says what was expected there.
    #[must_use]
    pub fn at(mut self, source: &Source, range: Range<usize>, label: impl Into<String>) -> Self {
        let label = label.into();
        // Lines around the place are printed in full, and the printer counts columns in 16 bits.
        if source.text().lines().any(|line| line.len() > LONGEST) {
            let before = &source.text().as_bytes()[..range.start.min(source.text().len())];
            let line = before.split(|byte| *byte == b'\n').count();
            let column = before.rsplit(|byte| *byte == b'\n').next();
            let column = column.map_or(0, <[u8]>::len) + 1;
            let place = format!("{}, line {line}, byte {column}: {label}", source.name());
            self.message = format!("{} ({place})", self.message);
            return self;
        }
        // Nothing can be underlined after the last character, so the last character is underlined.
        let end = source.text().len();
        let range = if range.is_empty() && range.start == end {
            end.saturating_sub(1)..end
        } else {
            range
        };
        let place = self.place.get_or_insert_with(|| LabelledSource {
            source: NamedSource::new(source.name(), source.text().to_owned()),
            argument: source.argument(),
            labels: Vec::new(),
        });
        // A diagnostic shows one source. A place in another source is left to the message.
        if place.source.name() == source.name() {
            place
                .labels
                .push(LabeledSpan::new_with_span(Some(label), range));
        }
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Help>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The problem in the words of a caller. `name` returns the caller's name for each argument; if the argument is the
    /// place of the problem, `name` also gets its text, so that a caller with one name for all settings may ignore it.
    /// Control characters in quoted files and arguments are removed.
    #[must_use]
    pub fn worded(&self, name: &dyn Fn(Argument, Option<&str>) -> String) -> Self {
        let mut worded = self.clone();
        worded.message = shown::seen(&self.message).into_owned();
        worded.help = self.help.as_ref().map(|help| {
            let help = help.worded(name).to_string();
            Help::from(shown::seen(&help).into_owned())
        });
        if let Some(place) = &mut worded.place {
            let text = place.source.inner();
            let called = match place.argument {
                Some(argument) => name(argument, Some(text)),
                None => shown::seen(place.source.name()).into_owned(),
            };
            place.source = NamedSource::new(called, shown::masked(text).into_owned());
            for label in &mut place.labels {
                label.set_label(label.label().map(|label| shown::seen(label).into_owned()));
            }
        }
        worded
    }

    /// The place; `None` if the problem concerns no text.
    pub fn spot(&self) -> Option<Spot<'_>> {
        let place = self.place.as_ref()?;
        let label = place.labels.first()?;
        let text = place.source.inner();
        let before = text.get(..label.offset()).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Some(Spot {
            name: place.source.name(),
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
            text: text[start..].lines().next().unwrap_or_default(),
            says: label.label().unwrap_or_default(),
        })
    }

    /// The remedy.
    pub fn remedy(&self) -> Option<String> {
        self.help.as_ref().map(ToString::to_string)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place
            .as_ref()
            .map(|place| &place.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        Some(Box::new(place.labels.iter().cloned()))
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<_> = self
            .0
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        f.write_str(&messages.join("; "))
    }
}

impl std::error::Error for Problems {}

/// The longest line, in bytes, that is printed with its error.
const LONGEST: usize = 4096;
