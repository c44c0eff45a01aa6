//! The command: reads arguments, calls the libraries, prints the answer.
//!
//! Standard output carries the answer and nothing else, standard error the progress and what is
//! wrong. Exit status 0: done, 1: a run failed or, where asked for, a claim, 2: the input was wrong,
//! 128 + signal: a signal ended it.

mod args;
mod clock;
mod explain;
mod export;
mod finished;
mod list;
mod merge;
mod model;
mod output;
mod plot;
mod progress;
mod render;
mod report;
mod reproduce;
mod run;
mod show;
mod simulate;
mod text;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use output::Stop;

fn main() -> ExitCode {
    // A broken invariant is a defect of this program: one line says where, without a backtrace.
    std::panic::set_hook(Box::new(|panic| {
        // Some readers of files panic where these are damaged, which is told otherwise.
        if record::guard::is_reading() {
            return;
        }
        let line = panic.to_string().replace('\n', " ");
        output::complain(&format!("internal error: {line}; please report it"));
    }));
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Merge(args) => merge::merge(&args),
        Command::Export(args) => export::export(&args),
        Command::List { what } => list::list(what).and_then(|text| output::answer(&text)),
        Command::Show(args) => show::show(&args),
        Command::Explain { word } => explain::explain(&word).and_then(|text| output::answer(&text)),
        Command::Report(args) => report::report(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Model(args) => model::model(&args),
        Command::Completions { shell } => completions(shell),
        Command::Man { command } => manual(command.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed) => ExitCode::from(1),
        Err(Stop::WrongInput(problems)) => {
            output::problems(&problems.0);
            ExitCode::from(2)
        }
        Err(Stop::NoRoom(problems)) => {
            output::problems(&problems.0);
            ExitCode::from(1)
        }
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Stop> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tailwater", &mut text);
    output::answer(&String::from_utf8_lossy(&text))
}

fn manual(name: Option<&str>) -> Result<(), Stop> {
    let mut command = Cli::command();
    command.build();
    let page = match name {
        None => command,
        Some(name) => command.find_subcommand(name).cloned().ok_or_else(|| {
            explain::unknown(
                name,
                "command",
                command_names(&command),
                "`tailwater --help` lists all commands",
            )
        })?,
    };
    let mut text = Vec::new();
    let rendered = clap_mangen::Man::new(page).render(&mut text);
    rendered.expect("writing to memory succeeds");
    output::answer(&String::from_utf8_lossy(&text))
}

fn command_names(command: &clap::Command) -> Vec<&str> {
    command
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect()
}
