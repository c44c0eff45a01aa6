//! The program beside this one, which does what needs privileges and prints JSON lines.
//!
//! `tailwater-live` is looked for beside this program, then on the search path, as Git finds its
//! subcommands.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use scenario::{Problem, Problems};
use serde_json::Value;

use crate::output::{self, Stop};
use crate::progress;
use crate::watch::{listen, watched};

/// Runs it and returns what it told; `see` is told of each line at once. `given` is the command of the user.
pub(crate) fn call(
    given: &[String],
    words: Vec<OsString>,
    see: &mut (dyn FnMut(&Value) + Send),
) -> Result<Vec<Value>, Stop> {
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

fn read(child: &mut Child, see: &mut dyn FnMut(&Value)) -> io::Result<Vec<Value>> {
    let mut lines = Vec::new();
    let stdout = child.stdout.take().into_iter();
    for line in stdout.flat_map(|out| BufReader::new(out).lines()) {
        let value = serde_json::from_str(&line?)?;
        see(&value);
        lines.push(value);
    }
    Ok(lines)
}

/// Lets the other program remove its network, which takes a moment.
fn interrupt(id: u32) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process, test_kill_process};
        use std::time::Duration;

        let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else {
            return;
        };
        kill_process(pid, Signal::TERM).unwrap_or(());
        for _ in 0..500 {
            if test_kill_process(pid).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    #[cfg(not(unix))]
    let _: u32 = id;
}

/// What the exit status of the other program means for this one.
fn ended(given: &[String], status: ExitStatus, lines: &[Value]) -> Result<(), Stop> {
    let told = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
    let what = |line: &Value| line["what"].as_str().unwrap_or_default().to_owned();
    match status.code() {
        Some(0) => Ok(()),
        Some(2) => {
            let problem = |line: &Value| {
                let problem = Problem::new(line["message"].as_str().unwrap_or_default());
                match line["help"].as_str() {
                    Some(help) => problem.help(help),
                    None => problem,
                }
            };
            Err(Stop::WrongInput(Problems(
                told("problem").map(problem).collect(),
            )))
        }
        Some(3) => {
            for line in told("lacks") {
                output::complain(&format!("this needs {}", what(line)));
                if line["privileges"] == true {
                    let command = progress::command(given, &[]);
                    output::complain(&format!("sudo {command}"));
                }
            }
            Err(Stop::Lacking)
        }
        // Whoever presses Ctrl-C tells both programs, and the other one may be gone before this one hears of it.
        Some(code @ 129..=255) => {
            output::complain(&format!("{PROGRAM} was interrupted"));
            Err(Stop::Interrupted(u8::try_from(code).unwrap_or(u8::MAX)))
        }
        Some(_) => {
            for line in told("failed") {
                output::complain(&what(line));
            }
            Err(Stop::Failed)
        }
        // Killed, and not asked to end.
        None => {
            output::complain(&format!("{PROGRAM}: {status}"));
            Err(Stop::Failed)
        }
    }
}

/// The other program: beside this one, else on the search path.
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
