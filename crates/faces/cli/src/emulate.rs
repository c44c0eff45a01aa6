//! `tailwater emulate`: the privileged program runs the scenario, and this one prints the results.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use answer::emulation::Emulation;
use protocol::{Line, PointLine};
use scenario::{Overrides, Problem, Problems, Scenario, Source};

use crate::args::Format;
use crate::args::emulate::{EmulateArgs, EmulateCommand, NetworkArgs};
use crate::output::{self, Stop};
use crate::privileged;

/// Runs a scenario on real stacks, or runs the subcommand.
pub(crate) fn emulate(args: &EmulateArgs) -> Result<(), Stop> {
    match (&args.command, &args.network) {
        (Some(EmulateCommand::Up(network)), _) => up(args, network),
        (Some(EmulateCommand::Down), _) => {
            let lines = privileged::call(&args.given, vec!["down".into()], &mut |_| ())?;
            let removed = lines.iter().map(|line| match line {
                Line::Down(down) => down.removed.len(),
                _ => 0,
            });
            let removed: usize = removed.sum();
            output::answer(&format!(
                "removed {}\n",
                answer::words::counted(removed, "namespace")
            ))
        }
        (Some(EmulateCommand::Exec { node, command }), _) => {
            let mut words: Vec<OsString> = vec!["exec".into(), node.into(), "--".into()];
            words.extend_from_slice(command);
            privileged::pass(&args.given, &words)
        }
        (Some(EmulateCommand::Serve(serve)), _) => crate::serve::serve(&args.given, serve),
        (Some(EmulateCommand::Fetch(fetch)), _) => crate::serve::fetch(&args.given, fetch),
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
    words.extend(args.pcap.then(|| "--pcap".into()));
    words.extend(["--out".into(), folder.clone().into()]);
    let mut seen = 0;
    let lines = privileged::call(&args.given, words, &mut |line| {
        if let (Line::Point(point), false) = (line, args.quiet) {
            seen += 1;
            tell_run(seen, point);
        }
    })?;
    let emulated = Emulation::of(lines)?;
    let page = folder.join(api::REPORT);
    report::write_live(&answer::emulation::page(&emulated), &page).map_err(Problems::from)?;
    let answer = match args.format {
        Format::Table => {
            let files = format!(
                "Files: {}, to look at: {}\n",
                folder.display(),
                page.display()
            );
            answer::emulation::table(&emulated) + &files
        }
        Format::Json => answer::emulation::json(&emulated),
        Format::Csv => answer::emulation::csv(&emulated),
    };
    output::answer(&answer)
}

/// Reports that a run has ended.
pub(crate) fn tell_run(number: usize, point: &PointLine) {
    let (world, scheme) = (point.runs_on().name(), &point.scheme);
    output::complain(&format!("run {number}: {world} {scheme}"));
}

fn up(args: &EmulateArgs, network: &NetworkArgs) -> Result<(), Stop> {
    load(network, NonZeroU32::MIN)?;
    let mut words: Vec<OsString> = vec!["up".into()];
    words.extend(network_words(network));
    let lines = privileged::call(&args.given, words, &mut |_| ())?;
    let mut answer = String::new();
    for line in &lines {
        if let Line::Up(up) = line {
            for node in &up.nodes {
                answer.push_str(node);
                answer.push('\n');
            }
        }
    }
    answer.push_str(
        "`tailwater emulate exec h0 -- COMMAND` runs there, `tailwater emulate down` ends it\n",
    );
    output::answer(&answer)
}

/// Loads the scenario to report errors with their places; the other program reads it again.
fn load(network: &NetworkArgs, runs: NonZeroU32) -> Result<Scenario, Problems> {
    let overrides = Overrides {
        schemes: (!network.scheme.is_empty()).then(|| network.scheme.join(",")),
        sets: network.sets.clone(),
        seed: network.seed,
        seeds: Some(runs),
        ..Overrides::default()
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
    for setting in &network.sysctls {
        add("--sysctl", setting);
    }
    words
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
