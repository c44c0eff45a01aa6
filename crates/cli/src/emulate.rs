//! `tailwater emulate`: the program beside this one does what needs privileges, and this one draws it.
//!
//! `tailwater-live` is looked for beside this program, then on the search path, as Git finds its
//! subcommands. It prints JSON lines.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use scenario::{Overrides, Problem, Problems, Scenario, Source};
use serde_json::Value;

use crate::args::Format;
use crate::args::emulate::{EmulateArgs, EmulateCommand, NetworkArgs};
use crate::output::{self, Stop};
use crate::render::live::{self, Emulated};
use crate::watch::{listen, watched};
use crate::{progress, text};

/// Runs a scenario on real stacks, or does what the subcommand says.
pub(crate) fn emulate(args: &EmulateArgs) -> Result<(), Stop> {
    match (&args.command, &args.network) {
        (Some(EmulateCommand::Up(network)), _) => up(args, network),
        (Some(EmulateCommand::Down), _) => {
            let lines = call(args, vec!["down".into()], &mut |_| ())?;
            let removed = lines.iter().filter_map(|line| line["removed"].as_array());
            let removed = removed.map(Vec::len).sum();
            output::answer(&format!(
                "removed {}\n",
                text::counted(removed, "namespace")
            ))
        }
        (Some(EmulateCommand::Exec { node, command }), _) => exec(args, node, command),
        (None, Some(network)) => compare(args, network),
        (None, None) => Err(Problems::from(Problem::new("no scenario is given")).into()),
    }
}

fn compare(args: &EmulateArgs, network: &NetworkArgs) -> Result<(), Stop> {
    let scenario = load(network, args.runs)?;
    let folder = args.out.clone().unwrap_or_else(|| free_folder(&scenario));
    let mut words: Vec<OsString> = vec!["emulate".into()];
    words.extend(network_words(network));
    words.extend(["--runs".into(), args.runs.to_string().into()]);
    words.extend(args.no_sim.then(|| "--no-sim".into()));
    words.extend(["--out".into(), folder.clone().into()]);
    let mut seen = 0;
    let lines = call(args, words, &mut |line| {
        if line["type"] == "point" && !args.quiet {
            seen += 1;
            let (world, scheme) = (&line["world"], &line["scheme"]);
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            output::complain(&format!("run {seen}: {} {}", word(world), word(scheme)));
        }
    })?;
    let emulated = Emulated::new(scenario.name(), args.runs.get(), lines);
    let answer = match args.format {
        Format::Table => {
            let files = format!("Files: {}\n", folder.display());
            live::table(&emulated) + &files
        }
        Format::Json => live::json(&emulated),
        Format::Csv => live::csv(&emulated),
    };
    output::answer(&answer)
}

fn up(args: &EmulateArgs, network: &NetworkArgs) -> Result<(), Stop> {
    load(network, NonZeroU32::MIN)?;
    let mut words: Vec<OsString> = vec!["up".into()];
    words.extend(network_words(network));
    let lines = call(args, words, &mut |_| ())?;
    let mut answer = String::new();
    for line in &lines {
        for node in line["nodes"].as_array().into_iter().flatten() {
            answer.push_str(node.as_str().unwrap_or_default());
            answer.push('\n');
        }
    }
    answer.push_str(
        "`tailwater emulate exec h0 -- COMMAND` runs there, `tailwater emulate down` ends it\n",
    );
    output::answer(&answer)
}

fn exec(args: &EmulateArgs, node: &str, command: &[OsString]) -> Result<(), Stop> {
    let mut child = Command::new(program()?);
    child.args(["exec", node, "--"]).args(command);
    let status = child.status().map_err(|error| failed(&error))?;
    ended(args, status, &[])
}

/// What is wrong with the scenario is told here, with its place; the other program reads it again.
fn load(network: &NetworkArgs, runs: NonZeroU32) -> Result<Scenario, Problems> {
    let overrides = Overrides {
        schemes: (!network.scheme.is_empty()).then(|| network.scheme.join(",")),
        sets: network.sets.clone(),
        seed: network.seed,
        seeds: Some(runs),
        trace: None,
    };
    Scenario::load(Source::find(&network.scenario)?, &overrides)
}

fn network_words(network: &NetworkArgs) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![network.scenario.clone().into()];
    let mut add = |name: &str, value: &str| words.extend([name.into(), value.into()]);
    for scheme in &network.scheme {
        add("--scheme", scheme);
    }
    for set in &network.sets {
        add("--set", set);
    }
    if let Some(seed) = network.seed {
        add("--seed", &seed.to_string());
    }
    add("--rate", &network.rate);
    words
}

/// Runs the other program and returns what it told; `see` is told of each line at once.
fn call(
    args: &EmulateArgs,
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
    ended(args, status.map_err(|error| failed(&error))?, &lines)?;
    Ok(lines)
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
fn ended(args: &EmulateArgs, status: ExitStatus, lines: &[Value]) -> Result<(), Stop> {
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
                    let command = progress::command(&args.given, &[]);
                    output::complain(&format!("sudo {command}"));
                }
            }
            Err(Stop::Lacking)
        }
        _ => {
            for line in told("failed") {
                output::complain(&what(line));
            }
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

fn free_folder(scenario: &Scenario) -> PathBuf {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let name = scenario.name().chars();
    let name: String = name.map(|c| if is_plain(c) { c } else { '-' }).collect();
    let folder = |number: u32| match number {
        1 => Path::new("results").join(format!("{name}-live")),
        number => Path::new("results").join(format!("{name}-live-{number}")),
    };
    let free = (1..u32::MAX).find(|number| !folder(*number).exists());
    folder(free.unwrap_or(1))
}

const PROGRAM: &str = "tailwater-live";
