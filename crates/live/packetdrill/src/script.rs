//! Parses the lines of a script: times, calls, segments, commands and assertions.

use base::Span;

use crate::segment::ScriptSegment;
use crate::{Lacks, ScriptFailure};

/// A script that was read.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// `--name=value` at the head, with its line.
    pub options: Vec<(usize, String, String)>,
    /// Commands before the first event, with their lines: they prepare the machine.
    pub setup: Vec<(usize, String)>,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// An event or an expectation at a time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Line of the script, counted from 1.
    pub line: usize,
    /// When.
    pub time: When,
    /// What.
    pub action: Action,
}

/// The time of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Since the beginning.
    At(Span),
    /// Since the event before.
    After(Span),
    /// `+a~+b`: between two times after the previous event.
    Between(Span, Span),
    /// `*`: whenever it happens.
    Any,
}

/// The kind of an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// The application makes a system call: `write(4, ..., 1000) = 1000`.
    Call {
        /// Name of the call.
        name: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// The expected return value.
        result: String,
    },
    /// A segment of the peer arrives.
    Inject(ScriptSegment),
    /// A segment leaves.
    Expect(ScriptSegment),
    /// A command of the shell.
    Command(String),
    /// Python: assertions.
    Assert(String),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// The first line that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self, ScriptFailure> {
        let mut reader = Reader { text, place: 0 };
        let mut script = Self::default();
        while reader.skip_blank() {
            reader.read_one(&mut script)?;
        }
        Ok(script)
    }
}

/// A position in the text of a script.
struct Reader<'t> {
    text: &'t str,
    place: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.place..]
    }

    fn line(&self) -> usize {
        1 + self.text[..self.place].matches('\n').count()
    }

    fn unread(&self, what: &str) -> ScriptFailure {
        let line = self.rest().lines().next().unwrap_or_default();
        ScriptFailure::lacks(self.line(), Lacks::Syntax, format!("{what}: {line:?}"))
    }

    /// Skips white space and comments. Returns whether anything follows.
    fn skip_blank(&mut self) -> bool {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.place += blank;
            let rest = self.rest();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                return !rest.is_empty();
            };
            self.place += comment;
        }
    }

    fn read_one(&mut self, script: &mut Script) -> Result<(), ScriptFailure> {
        let line = self.line();
        if self.rest().starts_with("--") {
            let word = self.until(char::is_whitespace);
            let (name, value) = word[2..].split_once('=').unwrap_or((&word[2..], ""));
            script
                .options
                .push((line, name.to_owned(), value.to_owned()));
            return Ok(());
        }
        if self.rest().starts_with('`') {
            let command = self.between("`", "`")?;
            script.setup.push((line, command.to_owned()));
            return Ok(());
        }
        let time = self.time()?;
        self.skip_spaces();
        let action = self.action()?;
        script.events.push(Event { line, time, action });
        Ok(())
    }

    /// `0.1`, `+.1`, `+.3~+.31`, `*`; for `0...0.1`, the time of a blocking call, its beginning.
    fn time(&mut self) -> Result<When, ScriptFailure> {
        if self.rest().starts_with('*') {
            self.place += 1;
            return Ok(When::Any);
        }
        let relative = self.rest().starts_with('+');
        let first = self.seconds()?;
        if self.rest().starts_with('~') {
            self.place += 1;
            let last = self.seconds()?;
            return Ok(When::Between(first, last));
        }
        self.skip_spaces();
        if self.rest().starts_with("...") {
            self.place += 3;
            self.skip_spaces();
            self.seconds()?;
        }
        Ok(if relative {
            When::After(first)
        } else {
            When::At(first)
        })
    }

    /// A number of seconds, with or without a plus sign.
    fn seconds(&mut self) -> Result<Span, ScriptFailure> {
        let rest = self.rest();
        let number = rest.strip_prefix('+').unwrap_or(rest);
        // `0...0.1` is a range: its dots are no decimal points.
        let range = number.find("...").unwrap_or(number.len());
        let decimal = |letter: char| letter.is_ascii_digit() || letter == '.';
        let end = number[..range]
            .find(|letter| !decimal(letter))
            .unwrap_or(range);
        let (whole, part) = number[..end]
            .split_once('.')
            .unwrap_or((&number[..end], ""));
        if whole.is_empty() && part.is_empty() {
            return Err(self.unread("a time is expected"));
        }
        let ps = format!("{whole}{part:0<12}").parse();
        let ps = ps.map_err(|_| self.unread("a time is expected"))?;
        self.place += rest.len() - number.len() + end;
        Ok(Span::from_ps(ps))
    }

    fn action(&mut self) -> Result<Action, ScriptFailure> {
        let rest = self.rest();
        if rest.starts_with('`') {
            return Ok(Action::Command(self.between("`", "`")?.to_owned()));
        }
        if rest.starts_with("%{") {
            return Ok(Action::Assert(self.between("%{", "}%")?.to_owned()));
        }
        if rest.starts_with(['<', '>']) {
            let outgoing = rest.starts_with('>');
            self.place += 1;
            let text = self.until_end_of_line();
            let segment = ScriptSegment::parse(text).map_err(|what| self.unread(&what))?;
            return Ok(if outgoing {
                Action::Expect(segment)
            } else {
                Action::Inject(segment)
            });
        }
        self.call()
    }

    /// `name(argument, ...) = result`; the arguments may extend over several lines.
    fn call(&mut self) -> Result<Action, ScriptFailure> {
        let name = self.until(|letter| !letter.is_alphanumeric() && letter != '_');
        if name.is_empty() || !self.rest().starts_with('(') {
            return Err(self.unread("an event is expected"));
        }
        let inside = self.inside()?;
        self.skip_spaces();
        if !self.rest().starts_with('=') {
            return Err(self.unread("the result of a call is expected"));
        }
        self.place += 1;
        let result = self.until_end_of_line().trim().to_owned();
        Ok(Action::Call {
            name: name.to_owned(),
            arguments: arguments(inside),
            result,
        })
    }

    /// The text between an opening bracket here and its closing bracket.
    fn inside(&mut self) -> Result<&'t str, ScriptFailure> {
        let rest = self.rest();
        let mut depth = 0;
        for (place, letter) in rest.char_indices() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.place += place + 1;
                return Ok(&rest[1..place]);
            }
        }
        Err(self.unread("a bracket is not closed"))
    }

    fn between(&mut self, open: &str, close: &str) -> Result<&'t str, ScriptFailure> {
        let rest = &self.rest()[open.len()..];
        let Some(end) = rest.find(close) else {
            return Err(self.unread(&format!("{close} is missing")));
        };
        self.place += open.len() + end + close.len();
        Ok(&rest[..end])
    }

    fn until(&mut self, ends: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(ends).unwrap_or(rest.len());
        self.place += end;
        &rest[..end]
    }

    /// The rest of the line without a comment.
    fn until_end_of_line(&mut self) -> &'t str {
        let line = self.until(|letter| letter == '\n');
        line.split("//").next().unwrap_or(line)
    }

    fn skip_spaces(&mut self) {
        self.until(|letter| letter != ' ' && letter != '\t');
    }
}

/// The arguments between the brackets of a call, separated by commas outside of inner brackets.
fn arguments(inside: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0;
    for letter in inside.chars() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(letter);
        }
    }
    found
        .iter()
        .map(|argument| argument.trim().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    #[test]
    fn events_have_times_of_every_kind() {
        let script = Script::parse(
            "--tolerance_usecs=50 // a comment\n`sysctl -q a=1`\n\
             0 close(3) = 0\n+.1 close(3) = 0\n+.3~+.31 > . 1:1(0) ack 1\n* > . 1:1(0) ack 1\n\
             +0...0.010 connect(3, ..., ...) = 0\n",
        )
        .unwrap();
        assert_eq!(
            script.options,
            [(1, "tolerance_usecs".to_owned(), "50".to_owned())]
        );
        assert_eq!(script.setup, [(2, "sysctl -q a=1".to_owned())]);
        let times: Vec<When> = script.events.iter().map(|event| event.time).collect();
        assert_eq!(
            times,
            [
                When::At(ms(0)),
                When::After(ms(100)),
                When::Between(ms(300), ms(310)),
                When::Any,
                When::After(ms(0)),
            ]
        );
        assert_eq!(script.events[4].line, 7);
    }

    #[test]
    fn a_call_may_go_over_lines_and_has_arguments_in_brackets() {
        let text = "0 sendmsg(4, {a(...)=...,\n b=[{..., 3}]}, 0) = 3 // three\n+0 %{ x = 1\n}%";
        let script = Script::parse(text).unwrap();
        let Action::Call {
            name,
            arguments,
            result,
        } = &script.events[0].action
        else {
            panic!("a call");
        };
        assert_eq!((name.as_str(), result.as_str()), ("sendmsg", "3"));
        assert_eq!(arguments.len(), 3);
        assert!(matches!(&script.events[1].action, Action::Assert(text) if text == " x = 1\n"));
    }

    #[test]
    fn what_is_not_read_is_named_with_its_line() {
        let failure = Script::parse("0 close(3) = 0\n\nsoon close(3) = 0").unwrap_err();
        assert_eq!(
            failure.to_string(),
            "line 3: syntax that is not read: a time is expected: \"soon close(3) = 0\""
        );
        assert!(Script::parse("0 close(3").is_err());
        assert!(Script::parse("0 %{ assert 1").is_err());
    }
}
