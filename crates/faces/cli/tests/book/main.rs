//! The commands that the book and README.md tell the reader to type work, and print what the pages show.
//!
//! A fenced block `console` is a terminal. The commands behind `$ ` run one after the other, in a folder that is new
//! for each page. The lines after a command are its expected output; without such lines its output is not compared. A
//! line `...` stands for any lines, `...` inside a line for any text, and at the end of the last line for all the rest.
//! A block whose language is followed by `file=NAME` is saved under that name. A terminal's language may be followed by
//! `status=2`, the exit status of all its commands, and by `needs=NAME`: a program or, as `python:duckdb+pandas`,
//! Python packages without which it is skipped. Commands that cannot be run are in `sh` blocks.
//!
//! `INSTA_UPDATE=always` writes the output of the commands into the pages, as it does with snapshots.

mod output;
mod page;
mod prose;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use page::{Page, Step, Terminal};

#[test]
fn the_commands_of_the_book_print_what_it_shows() {
    if testing::tool("sh").is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    let root = root.expect("this crate lies two folders below the root");
    let pages = [pages(&root.join("docs")), vec![root.join("README.md")]].concat();
    // Each page has a folder of its own, so that no page waits for another one.
    let next = AtomicUsize::new(0);
    let follow_some = || {
        let mut done = Vec::new();
        while let Some(path) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let name = path.strip_prefix(root).expect("it lies below the root");
            let name = name.display().to_string();
            let (folder, path) = (folder_of(&name), path.clone());
            // Skipped terminals are reported under the name of the thread.
            let thread = thread::Builder::new().name(name.clone());
            let run = thread.spawn(move || follow(&path, &folder));
            let ran = run.expect("a thread starts").join();
            let (ran, errors) = ran.unwrap_or_else(|_| (0, vec!["it failed".to_owned()]));
            let errors = errors.iter().map(|error| format!("{name}: {error}"));
            let errors: Vec<_> = errors.collect();
            done.push((name, ran, errors));
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done: Vec<_> = thread::scope(|scope| {
        let followed: Vec<_> = (0..threads).map(|_| scope.spawn(follow_some)).collect();
        let followed = followed.into_iter();
        followed
            .flat_map(|thread| thread.join().expect("its pages cannot end it"))
            .collect()
    });
    done.sort();
    let commands: usize = done.iter().map(|(_, ran, _)| ran).sum();
    let wrong: Vec<_> = done.into_iter().flat_map(|(_, _, errors)| errors).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(commands > 10, "only {commands} commands ran");
}

#[test]
fn numbers_in_sentences_are_those_of_a_sample_of_their_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    let docs = root
        .expect("this crate lies two folders below the root")
        .join("docs");
    let mut wrong = Vec::new();
    for folder in ["guide", "concepts"] {
        for path in pages(&docs.join(folder)) {
            let text = fs::read_to_string(&path).expect("a page can be read");
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let name = path
                .strip_prefix(&docs)
                .expect("it lies below the folder")
                .display()
                .to_string();
            wrong.extend(
                prose::unheld(&lines)
                    .into_iter()
                    .map(|error| format!("{name}: {error}")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every page below `folder`, in order.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of pages") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// An empty folder for the commands of a page.
fn folder_of(page: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    let folder = folder.join(page.replace(['/', '\\'], "-"));
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("the folder of the last time goes");
    }
    fs::create_dir_all(&folder).expect("a new folder");
    folder
}

/// Follows a page in `folder`. Returns how many commands it ran, and what went wrong.
fn follow(path: &Path, folder: &Path) -> (usize, Vec<String>) {
    let mut page = Page::read(path);
    let (mut ran, mut wrong, mut changes) = (0, Vec::new(), Vec::new());
    for step in page.steps("console") {
        match step {
            Step::File { name, text } => {
                let saved = fs::write(folder.join(&name), text);
                saved.expect("the file can be written");
            }
            Step::Terminal(terminal) if terminal.needs.iter().all(|need| is_there(need)) => {
                for command in &terminal.commands {
                    ran += 1;
                    let (printed, status) = run(&command.line, folder);
                    let place = format!("line {}: $ {}", command.at + 1, command.line);
                    if status != terminal.status {
                        let expected = terminal.status;
                        wrong.push(format!(
                            "{place}\nexit status {status} and not {expected}\n{printed}"
                        ));
                    } else if !command.shown.is_empty()
                        && !output::matches(&command.shown, &printed)
                    {
                        let shown = command.shown.join("\n");
                        match output::update(&command.shown, &printed) {
                            Some(lines) if updates() => changes.push((command.clone(), lines)),
                            _ => wrong.push(format!("{place}\nshown\n{shown}\nprinted\n{printed}")),
                        }
                    }
                }
            }
            Step::Terminal(Terminal { .. }) => {}
        }
    }
    page.change(changes);
    (ran, wrong)
}

/// Whether snapshots are to be accepted.
fn updates() -> bool {
    env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

/// Whether the machine has what a terminal needs; if not, this is reported or refused.
fn is_there(need: &str) -> bool {
    match need.strip_prefix("python:") {
        Some(packages) => testing::python(&packages.split('+').collect::<Vec<_>>()).is_some(),
        None => testing::tool(need).is_some(),
    }
}

/// Everything that a command line prints, and its exit status.
fn run(line: &str, folder: &Path) -> (String, i32) {
    let line = CARGO_RUN.iter().fold(line.to_owned(), |line, cargo| {
        line.replace(cargo, "tailwater ")
    });
    // A command that would install the program for the user who runs this test.
    let line = line.replace("cargo install ", "true ");
    let tailwater = Path::new(env!("CARGO_BIN_EXE_tailwater"));
    let programs = tailwater.parent().expect("a program lies in a folder");
    let python = env::var_os("TAILWATER_PYTHON").map(PathBuf::from);
    let python = python.as_deref().and_then(Path::parent);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [programs].into_iter().chain(python).map(Path::to_owned);
    let path =
        env::join_paths(folders.chain(env::split_paths(&path))).expect("folders have no colon");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{line}")])
        .current_dir(folder)
        .env("PATH", path)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output();
    let output = output.expect("a shell starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (printed, output.status.code().unwrap_or(-1))
}

/// The beginnings of the command line in the first pages, before the command is installed.
const CARGO_RUN: [&str; 2] = ["cargo run --release -- ", "cargo run --release --quiet -- "];
