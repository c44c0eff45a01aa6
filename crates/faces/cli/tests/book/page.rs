//! A page of the book: its fenced blocks, and the steps that a reader follows.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A page in its file.
pub(crate) struct Page {
    path: PathBuf,
    lines: Vec<String>,
}

/// A step that a block asks of the reader.
pub(crate) enum Step {
    /// Save the text as a file.
    File { name: String, text: String },
    /// Type commands.
    Terminal(Terminal),
}

/// A block of commands.
pub(crate) struct Terminal {
    /// A requirement of the machine.
    pub(crate) needs: Vec<String>,
    /// The exit status of every command.
    pub(crate) status: i32,
    pub(crate) commands: Vec<Typed>,
}

/// A command and what the page shows of its output.
#[derive(Clone)]
pub(crate) struct Typed {
    /// Index of its first line on the page.
    pub(crate) at: usize,
    /// Index of the first line that is shown, whether or not there is one.
    from: usize,
    /// The command, without the prompt.
    pub(crate) line: String,
    pub(crate) shown: Vec<String>,
}

impl Page {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a page can be read");
        Self {
            path: path.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    /// The blocks with something to do, in order; terminals are blocks in this language.
    pub(crate) fn steps(&self, terminal: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = 0;
        while at < self.lines.len() {
            let line = &self.lines[at];
            at += 1;
            let Some(info) = line.strip_prefix("```") else {
                continue;
            };
            let end = self.lines[at..].iter().position(|line| line == "```");
            let end = at + end.expect("a fence is closed");
            steps.extend(self.step(terminal, info, at..end));
            at = end + 1;
        }
        steps
    }

    /// The block between two fences, of which the first says `info`.
    fn step(&self, terminal: &str, info: &str, lines: Range<usize>) -> Option<Step> {
        let mut words = info.split(' ');
        let language = words.next();
        let attributes: Vec<(&str, &str)> = words
            .map(|word| word.split_once('=').expect("an attribute is NAME=VALUE"))
            .collect();
        let values = |name: &str| -> Vec<String> {
            let of_name = attributes.iter().filter(|(key, _)| *key == name);
            of_name.map(|(_, value)| (*value).to_owned()).collect()
        };
        if let Some(name) = values("file").pop() {
            let text = self.lines[lines.clone()].join("\n") + "\n";
            return Some(Step::File { name, text });
        }
        let commands = self.commands(lines);
        if language != Some(terminal) || commands.is_empty() {
            return None;
        }
        let status = values("status").pop();
        let status = status.map(|status| status.parse().expect("an exit status is a number"));
        Some(Step::Terminal(Terminal {
            needs: values("needs"),
            status: status.unwrap_or(0),
            commands,
        }))
    }

    fn commands(&self, lines: Range<usize>) -> Vec<Typed> {
        let mut commands: Vec<Typed> = Vec::new();
        for (at, text) in self.lines[lines.clone()].iter().enumerate() {
            let at = lines.start + at;
            let continued = |typed: &Typed| typed.shown.is_empty() && typed.line.ends_with('\\');
            if let Some(line) = text.strip_prefix("$ ") {
                commands.push(Typed {
                    at,
                    from: at + 1,
                    line: line.to_owned(),
                    shown: Vec::new(),
                });
            } else if let Some(typed) = commands.last_mut().filter(|typed| continued(typed)) {
                typed.line.extend(["\n", text]);
                typed.from = at + 1;
            } else if let Some(typed) = commands.last_mut() {
                typed.shown.push(text.clone());
            }
        }
        commands
    }

    /// Replaces the shown outputs of commands, and writes the page if there are any changes.
    pub(crate) fn change(&mut self, changes: Vec<(Typed, Vec<String>)>) {
        if changes.is_empty() {
            return;
        }
        // From the end, so that the line numbers of the remaining changes stay valid.
        for (typed, lines) in changes.into_iter().rev() {
            let shown = typed.from..typed.from + typed.shown.len();
            self.lines.splice(shown, lines);
        }
        let text = self.lines.join("\n") + "\n";
        fs::write(&self.path, text).expect("the page can be written");
    }
}
