//! The two streams: answers on standard output, everything else on standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use base::shown::{seen, seen_but_for_styles};
use miette::GraphicalTheme;
use scenario::{Argument, Problem, Problems};
use serde_json::Value;

/// Why the command ends early.
pub(crate) enum Stop {
    /// The input was wrong; nothing has run.
    WrongInput(Problems),
    /// A disk had no room for a file.
    NoRoom(Problems),
    /// Something failed and has been reported.
    Failed,
    /// The machine lacks something, which has been reported.
    Lacking,
    /// It ended early; this has been reported if necessary.
    Ended,
    /// A signal ended the other program with this exit status: 128 + signal.
    Interrupted(u8),
}

impl From<api::Error> for Stop {
    fn from(error: api::Error) -> Self {
        match error {
            api::Error::Problems(problems) => problems.into(),
            _ => Self::Ended,
        }
    }
}

impl From<Problems> for Stop {
    fn from(problems: Problems) -> Self {
        if problems.0.iter().any(Problem::is_no_room) {
            Self::NoRoom(problems)
        } else {
            Self::WrongInput(problems)
        }
    }
}

/// Writes the whole answer to standard output.
pub(crate) fn answer(text: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    let text = if styled(&out) {
        seen_but_for_styles(text).into()
    } else {
        seen(text)
    };
    ended(out.write_all(text.as_bytes()).and_then(|()| out.flush())).map_err(|error| {
        complain(&format!("cannot write to standard output: {error}"));
        Stop::Failed
    })
}

/// JSON for programs, formatted for people.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Reports the written file, unless it is a device or a stream, which would show this line, too.
pub(crate) fn wrote(path: &Path) -> Result<(), Stop> {
    if results::is_stream(path) {
        return Ok(());
    }
    answer(&format!("{}\n", path.display()))
}

/// A reader that closes early is no failure: `tailwater list keys | head -3`.
pub(crate) fn ended(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// One line on standard error; nobody may be reading it.
pub(crate) fn complain(line: &str) {
    say(&seen(line));
}

/// The same for a line with styles. Other control characters have no effect.
fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// Shows each problem with its place, cause and remedy.
pub(crate) fn problems(problems: &[Problem]) {
    let theme = if styled(&io::stderr()) {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::none()
    };
    let name = |argument, _: Option<&str>| flag(argument).to_owned();
    for line in api::problems::rendered(problems, theme, &name) {
        say(&line);
    }
}

/// The name of an argument on the command line.
const fn flag(argument: Argument) -> &'static str {
    match argument {
        Argument::Set => "--set",
        Argument::Goals => "--goal",
        Argument::Schemes => "--scheme",
        Argument::Search => "--search",
        Argument::Seed => "--seed",
        Argument::Seeds => "--seeds",
        Argument::Trace => "--trace",
        Argument::Ties => "--ties",
        Argument::Captures => "--pcap",
        Argument::Folder => "--out",
        Argument::NoFolder => "--no-save",
        Argument::Resume => "--resume",
        Argument::Steps => "--work STEPS",
        Argument::Memory => "--memory SIZE",
        Argument::Disk => "--disk SIZE",
    }
}

/// Why a simulation failed, with the flag that raises the exceeded limit.
pub(crate) fn failure(error: &str) -> String {
    api::problems::failure(error, &|argument| flag(argument).to_owned())
}

/// Whether a stream gets colours: if it is a terminal and the user has not disabled them (<https://no-color.org>).
pub(crate) fn styled(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The width of a table in columns: that of the terminal on standard output, or 80 without a terminal, but at most the
/// variable COLUMNS. So output into a pipe does not depend on the terminal's width.
pub(crate) fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    let terminal = size.map(|(width, _)| usize::from(width.0));
    let asked = std::env::var("COLUMNS").ok();
    columns(terminal, asked.as_deref())
}

fn columns(terminal: Option<usize>, asked: Option<&str>) -> usize {
    let most = terminal.unwrap_or(USUAL);
    let asked = asked.and_then(|text| text.parse().ok()).unwrap_or(most);
    most.min(asked).max(LEAST)
}

/// Columns if there is no terminal.
const USUAL: usize = 80;
/// The fewest columns in which a table has room for a scheme and one number.
const LEAST: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_wide_as_the_terminal_or_narrower_on_request() {
        assert_eq!(columns(Some(132), None), 132);
        assert_eq!(columns(Some(60), None), 60);
        assert_eq!(columns(None, None), 80);
        assert_eq!(columns(None, Some("60")), 60);
        assert_eq!(columns(Some(132), Some("60")), 60);
        // Output into a pipe does not depend on the terminal's width.
        assert_eq!(columns(None, Some("200")), 80);
        assert_eq!(columns(None, Some("wide")), 80);
        assert_eq!(columns(None, Some("1")), 40);
    }
}
