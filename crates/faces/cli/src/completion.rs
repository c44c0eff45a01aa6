//! Words that a shell completes: the arguments of the command line that are not flags.

use claims::catalogue;
use clap::builder::PossibleValuesParser;
use plan::keys::{all_keys, group};
use scenario::BUILTINS;

/// `command` with all possible names for its arguments, for completions only; other values are valid as well.
pub(crate) fn with_names(command: clap::Command) -> clap::Command {
    let schemes = names(schemes::all().iter().map(|scheme| scheme.name));
    let keys: Vec<String> = all_keys()
        .iter()
        .map(|key| format!("{}=", key.name))
        .collect();
    let command = positionals()
        .iter()
        .fold(command, |command, (name, arg, values)| {
            with(command, name, arg, values)
        });
    ["run", "show", "emulate", "explore"]
        .iter()
        .fold(command, |command, name| {
            let command = with(command, name, "scheme", &schemes);
            with(command, name, "sets", &keys)
        })
}

/// Additional lines for fish, whose generator only completes flags.
pub(crate) fn for_fish() -> String {
    let lines = positionals().into_iter().map(|(command, _, values)| {
        let seen = format!("__fish_seen_subcommand_from {command}");
        format!(
            "complete -c tailwater -n \"{seen}\" -a \"{}\"\n",
            values.join(" ")
        )
    });
    lines.collect()
}

/// Commands whose first argument is a name, that argument, and the possible names.
fn positionals() -> [(&'static str, &'static str, Vec<String>); 5] {
    [
        ("run", "scenario", scenarios()),
        ("show", "scenario", scenarios()),
        ("explore", "scenario", scenarios()),
        ("explain", "word", explained()),
        ("reproduce", "what", papers()),
    ]
}

/// Everything that `explain` knows.
fn explained() -> Vec<String> {
    let schemes = schemes::all().iter().map(|scheme| scheme.name);
    let keys = all_keys().iter().map(|key| key.name);
    let groups = all_keys().iter().map(|key| group(key.name));
    let metrics = sim::columns::METRICS.iter().map(|column| column.name);
    let mut all = names(
        schemes
            .chain(keys)
            .chain(groups)
            .chain(metrics)
            .chain(explain::notions())
            .chain([
                "results",
                "flows.parquet",
                "ports.parquet",
                "series.parquet",
            ]),
    );
    all.extend(papers());
    all.sort();
    all.dedup();
    all
}

fn scenarios() -> Vec<String> {
    let mut all = names(BUILTINS.iter().map(|builtin| builtin.name));
    all.extend(papers().into_iter().filter(|name| name.contains('/')));
    all
}

/// Papers and figures.
fn papers() -> Vec<String> {
    let figures = |paper: &&'static str| {
        let figures = catalogue::figures(paper).into_iter();
        let figures = figures.map(move |figure| format!("{paper}/{figure}"));
        [(*paper).to_owned()]
            .into_iter()
            .chain(figures)
            .collect::<Vec<_>>()
    };
    catalogue::names().iter().flat_map(figures).collect()
}

fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    all.map(str::to_owned).collect()
}

fn with(command: clap::Command, name: &str, arg: &str, values: &[String]) -> clap::Command {
    let values = PossibleValuesParser::new(values.to_vec());
    command.mut_subcommand(name, |command| {
        command.mut_arg(arg, |arg| arg.value_parser(values))
    })
}
