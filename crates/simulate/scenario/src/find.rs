//! Finds the text of a scenario, built into the program or in a file.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::problem::{Problem, Problems};
use super::source::Source;
use plan::suggest;

/// A scenario that comes with the program.
pub struct BuiltinScenario {
    /// Its name.
    pub name: &'static str,
    /// Its TOML text.
    pub text: &'static str,
}

/// The scenarios that come with the program.
pub const BUILTINS: &[BuiltinScenario] = &[
    BuiltinScenario {
        name: "incast",
        text: include_str!("../scenarios/incast.toml"),
    },
    BuiltinScenario {
        name: "random-incast",
        text: include_str!("../scenarios/random-incast.toml"),
    },
    BuiltinScenario {
        name: "shared-buffer",
        text: include_str!("../scenarios/shared-buffer.toml"),
    },
    BuiltinScenario {
        name: "collateral",
        text: include_str!("../scenarios/collateral.toml"),
    },
    BuiltinScenario {
        name: "collective",
        text: include_str!("../scenarios/collective.toml"),
    },
    BuiltinScenario {
        name: "long-flows",
        text: include_str!("../scenarios/long-flows.toml"),
    },
    BuiltinScenario {
        name: "trace",
        text: include_str!("../scenarios/trace.toml"),
    },
];

impl Source {
    /// The built-in scenario called `name`.
    pub fn builtin(name: &str) -> Option<Self> {
        let found = BUILTINS.iter().find(|builtin| builtin.name == name)?;
        Some(Self::new(format!("{name}.toml (built in)"), found.text))
    }

    /// The scenario that a user means by `word`: the path of a file, the name of a built-in scenario, or `-` for
    /// standard input.
    pub fn find(word: &str) -> Result<Self, Problems> {
        if word == "-" {
            return Self::read("stdin", io::stdin().lock());
        }
        let is_path = word.contains(['/', '\\']) || word.to_ascii_lowercase().ends_with(".toml");
        if !is_path && let Some(builtin) = Self::builtin(word) {
            return Ok(builtin);
        }
        if is_path || Path::new(word).exists() {
            return Self::open(word);
        }
        let names: Vec<_> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        let nearest = suggest::did_you_mean(word, names.iter().copied());
        let problem = Problem::new(format!("there is no scenario {word:?}")).help(format!(
            "{nearest}built-in scenarios: {}; a file of your own is named by its path, as in ./my.toml",
            names.join(", ")
        ));
        Err(problem.into())
    }

    fn open(path: &str) -> Result<Self, Problems> {
        let start = "`tailwater show incast > my.toml` writes one to start from";
        let refuse = |message: String, help: String| Problem::new(message).help(help).into();
        let metadata = fs::metadata(path).map_err(|error| {
            let cause = cause(&error);
            refuse(
                format!("cannot read {path}: {cause}"),
                format!("check the path; {start}"),
            )
        })?;
        if metadata.is_dir() {
            return Err(refuse(
                format!("{path} is a directory, not a scenario file"),
                format!("name a .toml file in it; {start}"),
            ));
        }
        let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
        Self::read(path, file)
    }

    /// The contents of `file`, with `path` as their name.
    fn read(path: &str, file: impl Read) -> Result<Self, Problems> {
        // Devices and pipes have no known length, so reading stops at the largest size of a scenario.
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(path, &error))?;
        if bytes.len() as u64 > MAX_FILE {
            let message = format!("{path} has more than {MAX_FILE} bytes, too many for a scenario");
            let help = "a scenario is a TOML file of a few kilobytes; check the path";
            return Err(Problem::new(message).help(help).into());
        }
        Self::decode(path, bytes)
    }

    fn decode(path: &str, bytes: Vec<u8>) -> Result<Self, Problems> {
        if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
            let message = format!("{path} is a binary file: byte {at} is zero, which no text has");
            let help = "a scenario is a TOML text file; check the path";
            return Err(Problem::new(message).help(help).into());
        }
        String::from_utf8(bytes)
            .map(|text| Self::new(path, text))
            .map_err(|error| {
                let valid = error.utf8_error().valid_up_to();
                let before = &error.as_bytes()[..valid];
                let line = before.split(|byte| *byte == b'\n').count();
                let start = before.rsplit(|byte| *byte == b'\n').next();
                let column = start.map_or(0, <[u8]>::len) + 1;
                let message = format!("{path}:{line}:{column}: this byte is not UTF-8 text");
                let help = "save the file as UTF-8 and run it again";
                Problem::new(message).help(help).into()
            })
    }
}

fn unreadable(path: &str, error: &io::Error) -> Problems {
    let problem = Problem::new(format!("cannot read {path}: {}", cause(error)));
    problem.help("check the permissions of the file").into()
}

/// The system's reason, in words that are the same on all systems.
fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// Scenarios have some kilobytes; a larger file must be of another kind.
const MAX_FILE: u64 = 4 << 20;
