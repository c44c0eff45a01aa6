//! The privileged program, which prints JSON lines.
//!
//! `tailwater-live` is searched beside this program, then on the search path, as Git finds its subcommands.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use protocol::Line;
use scenario::{Problem, Problems};

use crate::output::{self, Stop};
use crate::progress;
use crate::watch::{listen, watched};

/// Runs it and returns its lines; `see` gets each line at once. `given` is the user's command.
pub(crate) fn call(
    given: &[String],
    words: Vec<OsString>,
    see: &mut (dyn FnMut(&Line) + Send),
) -> Result<Vec<Line>, Stop> {
    listen();
    let mut command = Command::new(program()?);
    command.args(words).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let id = child.id();
    let (lines, status) = watched(
        None,
        || (),
        || interrupt(id),
        || {
            let lines = read(&mut child, see);
            if lines.is_err() {
                // Nobody reads the rest of its output.
                terminate(id);
            }
            (lines, child.wait())
        },
    );
    let lines = lines.map_err(|error| failed(&error))?;
    ended(given, status.map_err(|error| failed(&error))?, &lines)?;
    Ok(lines)
}

/// Runs it with the input and output of this program.
pub(crate) fn pass(given: &[String], words: &[OsString]) -> Result<(), Stop> {
    let status = Command::new(program()?).args(words).status();
    ended(given, status.map_err(|error| failed(&error))?, &[])
}

fn read(child: &mut Child, see: &mut dyn FnMut(&Line)) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let stdout = child.stdout.take().into_iter();
    for (text, number) in stdout.flat_map(|out| BufReader::new(out).lines()).zip(1..) {
        let line = Line::read(&text?).map_err(|error| another_version(number, &error))?;
        see(&line);
        lines.push(line);
    }
    Ok(lines)
}

/// An unreadable line was written by another version of the program.
fn another_version(number: u32, error: &protocol::Unreadable) -> io::Error {
    io::Error::other(format!(
        "line {number} of its output cannot be read: {error}; its version differs from this program's: build both from the \
         same sources"
    ))
}

/// Gives the other program a moment to remove its network.
fn interrupt(id: u32) {
    terminate(id);
    #[cfg(unix)]
    if let Some(pid) = pid(id) {
        for _ in 0..500 {
            if rustix::process::test_kill_process(pid).is_err() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Asks the other program to end.
fn terminate(id: u32) {
    #[cfg(unix)]
    if let Some(pid) = pid(id) {
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap_or(());
    }
    #[cfg(not(unix))]
    let _: u32 = id;
}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
}

/// Translates the exit status of the other program.
fn ended(given: &[String], status: ExitStatus, lines: &[Line]) -> Result<(), Stop> {
    match status.code() {
        Some(0) => Ok(()),
        Some(2) => {
            let problem = |line: &Line| {
                let Line::Problem(line) = line else {
                    return None;
                };
                let problem = Problem::new(&line.message);
                Some(match &line.help {
                    Some(help) => problem.help(help),
                    None => problem,
                })
            };
            let problems = lines.iter().filter_map(problem);
            Err(Stop::WrongInput(Problems(problems.collect())))
        }
        Some(3) => {
            for line in lines {
                let Line::Lacks(line) = line else {
                    continue;
                };
                output::complain(&format!("this needs {}", line.what));
                if line.privileges {
                    let command = progress::command(given, &[]);
                    output::complain(&format!("sudo {command}"));
                }
            }
            Err(Stop::Lacking)
        }
        // Ctrl-C reaches both programs, and the other one may end before this one handles it.
        Some(code @ 129..=255) => {
            output::complain(&format!("{PROGRAM} was interrupted"));
            Err(Stop::Interrupted(u8::try_from(code).unwrap_or(u8::MAX)))
        }
        Some(_) => {
            for line in lines {
                if let Line::Failed(line) = line {
                    output::complain(&line.what);
                }
            }
            Err(Stop::Failed)
        }
        // It was killed, not asked to end.
        None => {
            output::complain(&format!("{PROGRAM}: {status}"));
            Err(Stop::Failed)
        }
    }
}

/// The path of the other program: beside this one, else on the search path.
fn program() -> Result<PathBuf, Stop> {
    let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
    let own = env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(env::split_paths(&path));
    let mut files = folders.map(|folder| folder.join(OsStr::new(&name)));
    files.find(|file| file.is_file()).ok_or_else(|| {
        output::complain(&format!(
            "{PROGRAM} is neither beside this program nor on the search path; build it with\n\
             cargo build --release -p {PROGRAM}"
        ));
        Stop::Lacking
    })
}

fn failed(error: &io::Error) -> Stop {
    output::complain(&format!("{PROGRAM}: {error}"));
    Stop::Failed
}

const PROGRAM: &str = "tailwater-live";

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The lines read from a program that prints these lines.
    fn read_of(lines: &str) -> io::Result<Vec<Line>> {
        let mut command = Command::new("printf");
        let mut child = command
            .args(["%s", lines])
            .stdout(Stdio::piped())
            .spawn()
            .expect("printf starts");
        let read = read(&mut child, &mut |_| ());
        child.wait().expect("printf ends");
        read
    }

    #[test]
    fn a_line_of_another_version_is_named_with_its_number_and_its_key() {
        let first = "{\"type\":\"note\",\"text\":\"one\"}\n";
        assert_eq!(read_of(first).expect("a line").len(), 1);
        let second = first.replace("text", "txt");
        let error = read_of(&(first.to_owned() + &second)).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("line 2 of its output cannot be read: note: unknown field `txt`"),
            "{error}"
        );
    }
}
