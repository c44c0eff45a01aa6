//! The program behind `cargo xtask oracle linux`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it says what it does on standard error and prints results on standard output"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, bail};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use rayon::prelude::*;

use oracle::answer::{self, Answers};
use oracle::kernel::Kernel;
use oracle::list::OracleScenario;
use oracle::page::Reasons;
use oracle::question::Question;
use oracle::stream::receiver::Acknowledged;
use oracle::stream::sender::Replayed;
use oracle::stream::{ConnectionSide, Sent};
use oracle::walk::{self, Evidence, Names};
use oracle::{boot, compare, list, page, simulate};

/// Compares the simulator with the TCP of a Linux kernel in virtual time
///
/// Builds User-mode Linux once, runs a list of scenarios on it and in the simulator, and writes
/// docs/reference/oracle-linux.md. With `ask` it runs one scenario of the command line and writes nothing.
#[derive(Parser)]
#[command(
    bin_name = "cargo xtask oracle linux",
    args_conflicts_with_subcommands = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// The most answers of the kernel to each scenario: each of the first 20 has its own boot, ten of the others share one
    #[arg(long, value_name = "N", default_value_t = list::MOST_ANSWERS)]
    boots: u32,
    /// Run only scenarios whose name contains this text, print them and write no file
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Read the kernel's answers from the committed data, and boot no kernel
    #[arg(long)]
    stored: bool,
    /// Change a setting of the simulator, as KEY=VALUE; print the result and write no file
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The number of simultaneous boots; 0 boots no kernel and uses the existing answers
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Compare segment by segment: feed endpoints with the segments that both ends of the kernel's connections received,
    /// print whether they send and acknowledge the same, and keep the kernel's segments in this folder; with --stored read
    /// this folder and boot no kernel
    #[arg(long, value_name = "DIR")]
    streams: Option<PathBuf>,
    /// Write the page of the walk, docs/reference/linux.md
    #[arg(long)]
    walk: bool,
    /// Read the names of functions and settings from this tree of the kernel's sources, write tools/oracle/walk.toml, and
    /// fail for names without a row
    #[arg(long, value_name = "DIR", requires = "walk")]
    sources: Option<PathBuf>,
    /// The folder of the repository
    #[arg(long, value_name = "DIR", default_value = ".", hide = true)]
    root: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    Ask(Box<Question>),
}

/// The kernel's answers, which the page needs.
const DATA: &str = "tools/oracle/data/linux.csv";
/// Why scenarios differ.
const REASONS: &str = "tools/oracle/reasons.toml";
const PAGE: &str = "docs/reference/oracle-linux.md";
/// Rows of the walk, the kernel's names, and the page of both.
const ROWS: &str = "tools/oracle/walk";
const NAMES: &str = "tools/oracle/walk.toml";
const WALK: &str = "docs/reference/linux.md";

fn main() -> Result<()> {
    let cli = Cli::parse();
    if let Some(Command::Ask(question)) = &cli.command {
        return ask(question);
    }
    if cli.walk {
        return write_walk(&cli.root, cli.sources.as_deref());
    }
    let chosen = |scenario: &OracleScenario| {
        let only = cli.only.as_ref();
        only.is_none_or(|name| scenario.name.contains(name))
    };
    let scenarios: Vec<OracleScenario> = list::all().into_iter().filter(chosen).collect();
    if scenarios.is_empty() {
        bail!(
            "no scenario has {:?} in its name",
            cli.only.unwrap_or_default()
        );
    }
    if let Some(folder) = &cli.streams {
        return replay(&cli, &scenarios, folder);
    }
    let whole = cli.only.is_none() && cli.set.is_empty();
    let (theirs, release) = if cli.stored {
        stored(&cli, &scenarios)?
    } else {
        measured(&cli, &scenarios, whole)?
    };
    let rows = compare(scenarios, &theirs, &cli.set)?;
    let reasons: Reasons = toml_of(&cli)?;
    let page = page(&rows, &release, &reasons);
    if !whole {
        println!("{page}");
        return Ok(());
    }
    let path = cli.root.join(PAGE);
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote {PAGE}");
    Ok(())
}

/// Prints the answers of both sides to one scenario.
fn ask(question: &Question) -> Result<()> {
    let scenario = question.scenario().unwrap_or_else(|problem| {
        let mut command = Cli::command();
        command.error(ErrorKind::ValueValidation, problem).exit()
    });
    // What is wrong with the simulator's settings shows before anything boots.
    simulate(&scenario, 1, &question.set)?;
    for key in question.unknown_here() {
        eprintln!("net.ipv4.{key} has no setting here: only the kernel follows it");
    }
    let kernel = Kernel::get()?;
    let boots = boot::missing(&kernel, &[&scenario], &Answers::new(), question.boots);
    let failures = run_in_order(&boots, &kernel, question.jobs);
    if let Some(failure) = failures.first() {
        bail!("{failure}");
    }
    let answered = boot::stored(&kernel, &scenario, &Answers::new(), question.boots)?;
    let theirs = Answers::from([(scenario.name.clone(), answered)]);
    for row in compare(vec![scenario], &theirs, &question.set)? {
        println!("{}", page::alone(&row));
    }
    Ok(())
}

/// Writes the page of the walk, and before it the names of a tree of the kernel's sources.
fn write_walk(root: &Path, sources: Option<&Path>) -> Result<()> {
    let write = |file: &str, text: &str| {
        let path = root.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {file}");
        Ok::<_, anyhow::Error>(())
    };
    if let Some(tree) = sources {
        write(NAMES, &walk::sources::names(tree)?.written())?;
    }
    let names = Names::read(&root.join(NAMES))?;
    let groups = walk::read(&root.join(ROWS))?;
    let evidence = Evidence::of_repository(root)?;
    let mut wrong = walk::mistakes(&groups, &names, &evidence);
    let missing = walk::missing(&groups, &names);
    wrong.extend(missing.iter().map(|name| format!("no row has {name}")));
    if !wrong.is_empty() {
        bail!("\n  {}", wrong.join("\n  "));
    }
    write(WALK, &walk::page(&groups, &names, &evidence))
}

/// Boots for the streams that are not in `folder` yet, and holds endpoints against all of them.
fn replay(cli: &Cli, scenarios: &[OracleScenario], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let folder = folder.canonicalize()?;
    if !cli.stored {
        let kernel = Kernel::get()?;
        let boots = boot::capturing(scenarios, &folder);
        let failures = run_in_order(&boots, &kernel, cli.jobs);
        if let Some(failure) = failures.first() {
            bail!("{failure}");
        }
    }
    println!(
        "| scenario | senders | the same | segments | lost on links | the first that differs |"
    );
    println!("|---|---|---|---|---|---|");
    for scenario in scenarios {
        senders(cli, scenario, &streams_of(scenario, &folder, false)?)?;
    }
    println!();
    println!(
        "| scenario | receivers | acknowledgements | the same | ours | the first that differs |"
    );
    println!("|---|---|---|---|---|---|");
    for scenario in scenarios {
        receivers(cli, scenario, &streams_of(scenario, &folder, true)?)?;
    }
    Ok(())
}

/// The files of a scenario's senders, or of its receivers, if there are any.
fn streams_of(scenario: &OracleScenario, folder: &Path, receivers: bool) -> Result<Vec<PathBuf>> {
    let place = folder.join(&scenario.name);
    if !place.exists() {
        return Ok(Vec::new());
    }
    let files = fs::read_dir(&place)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> = files.collect::<Result<_, _>>()?;
    files.retain(|file| name(file).starts_with("rx-") == receivers);
    files.sort();
    Ok(files)
}

fn name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn senders(cli: &Cli, scenario: &OracleScenario, files: &[PathBuf]) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let told: Vec<Replayed> = files
        .par_iter()
        .map(|file| ConnectionSide::read(file)?.replay(scenario, &cli.set))
        .collect::<Result<_>>()?;
    let same = told.iter().filter(|one| one.differs.is_none()).count();
    let sum = |count: fn(&Replayed) -> usize| told.iter().map(count).sum::<usize>();
    let first = files.iter().zip(&told).find_map(|(file, one)| {
        let (theirs, ours) = one.differs?;
        let of = |sent: Option<Sent>| {
            sent.map_or("none".to_owned(), |sent| {
                format!(
                    "{} bytes from {} on at {} ns",
                    sent.payload, sent.offset, sent.ns
                )
            })
        };
        Some(format!(
            "{}: Linux {}, ours {}",
            name(file),
            of(theirs),
            of(ours)
        ))
    });
    println!(
        "| {} | {} | {same} | {} | {} | {} |",
        scenario.name,
        told.len(),
        sum(|one| one.segments),
        sum(|one| one.lost),
        first.unwrap_or_default(),
    );
    Ok(())
}

fn receivers(cli: &Cli, scenario: &OracleScenario, files: &[PathBuf]) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let told: Vec<Acknowledged> = files
        .par_iter()
        .map(|file| ConnectionSide::read(file)?.acknowledge(scenario, &cli.set))
        .collect::<Result<_>>()?;
    let sum = |count: fn(&Acknowledged) -> usize| told.iter().map(count).sum::<usize>();
    let first = files.iter().zip(&told).find_map(|(file, one)| {
        let ack = one.differs.as_ref()?;
        Some(format!(
            "{}: {} with {:?} at {} ns",
            name(file),
            ack.ack,
            ack.sack,
            ack.ns
        ))
    });
    println!(
        "| {} | {} | {} | {} | {} | {} |",
        scenario.name,
        told.len(),
        sum(|one| one.acks),
        sum(|one| one.same),
        sum(|one| one.ours),
        first.unwrap_or_default(),
    );
    Ok(())
}

fn toml_of(cli: &Cli) -> Result<Reasons> {
    let path = cli.root.join(REASONS);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("in {}", path.display()))
}

/// The committed answers to the scenarios as they are now, and the release in the first line of the data.
fn stored(cli: &Cli, scenarios: &[OracleScenario]) -> Result<(Answers, String)> {
    let path = cli.root.join(DATA);
    let mut answers = answer::read(&path)?;
    let text = fs::read_to_string(&path)?;
    let release = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix(ORIGIN));
    let release =
        release.with_context(|| format!("{} does not begin with its kernel", path.display()))?;
    answers.retain(|name, answered| {
        let mut known = scenarios.iter();
        known.any(|one| one.name == *name && one.definition() == answered.definition)
    });
    Ok((answers, release.to_owned()))
}

/// The answers of the kernel, which boots where some are missing; all of them become the committed data.
fn measured(cli: &Cli, scenarios: &[OracleScenario], whole: bool) -> Result<(Answers, String)> {
    let kernel = Kernel::get()?;
    // Answers of another kernel are no answers of this one.
    let committed = match stored(cli, scenarios) {
        Ok((answers, release)) if release == kernel.release => answers,
        _ => Answers::new(),
    };
    let references: Vec<&OracleScenario> = scenarios.iter().collect();
    let mut boots = boot::missing(&kernel, &references, &committed, cli.boots);
    eprintln!("{} boots are missing", boots.len());
    if cli.jobs == 0 {
        boots.clear();
    }
    let failures = run_in_order(&boots, &kernel, cli.jobs);
    // What was answered counts all the same, and the next run boots for the rest.
    for failure in &failures {
        eprintln!("{failure}");
    }
    let mut answers = Answers::new();
    for scenario in scenarios {
        let answered = boot::stored(&kernel, scenario, &committed, cli.boots)?;
        if !answered.boots.is_empty() {
            answers.insert(scenario.name.clone(), answered);
        }
    }
    if whole {
        let path = cli.root.join(DATA);
        let origin = format!("{}{}\n{ABOUT}", &ORIGIN[2..], kernel.release);
        fs::write(&path, answer::write(&answers, &origin)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        eprintln!("wrote {DATA}");
    }
    if !failures.is_empty() {
        bail!(
            "{} of {} boots failed; answers are kept, and the same command boots for the rest",
            failures.len(),
            boots.len()
        );
    }
    Ok((answers, kernel.release))
}

/// Runs boots, some at a time, the first ones first; returns what went wrong.
fn run_in_order(boots: &[boot::Boot<'_>], kernel: &Kernel, jobs: usize) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failures = Vec::new();
        while let Some(boot) = boots.get(next.fetch_add(1, Ordering::Relaxed)) {
            eprintln!("{}", boot.title());
            if let Err(error) = boot.run(kernel) {
                failures.push(format!("{}: {error:#}", boot.title()));
            }
        }
        failures
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ended
            .flat_map(|failures| failures.expect("a worker does not panic"))
            .collect()
    })
}

/// How the data begin.
const ORIGIN: &str = "# Answers of Linux ";
/// What they are.
const ABOUT: &str = "\
Measured by cargo xtask oracle linux: one line for each answer to a scenario; the first 20 have a boot each,
with the hash of the scenario's definition: an answer to a scenario that was changed since counts no more. Lists are joined by spaces: the time of each
round in us, the retransmission timeouts in it, payload bytes of each flow. Counters are those of all hosts together.";
