//! `tailwater list`.

use std::fmt::Write;

use base::setting::Key;
use claims::{self, catalogue};
use plan::flow_trace;
use plan::graph::BUILTINS as BUILTINS_OF_GRAPHS;
use plan::keys::{TopologyKind, WorkloadKind, all_keys};
use scenario::{BUILTINS, Overrides, Problems, Scenario, Source};

use clap::ValueEnum;

use crate::args::{Listed, START};

/// First steps, shown if the program is called without arguments.
pub(crate) fn guide() -> String {
    format!(
        "Tailwater simulates, explains and compares the cures for TCP incast.\n\n{START}\n\n\
         `tailwater list` tells what there is to choose from, and `tailwater --help` lists all commands.\n"
    )
}

/// The lists there are.
fn lists() -> String {
    let lists = Listed::value_variants().iter();
    let lists = lists.filter_map(ValueEnum::to_possible_value);
    let lists: Vec<(String, String)> = lists
        .map(|list| {
            let help = list.get_help().map(ToString::to_string);
            (
                format!("tailwater list {}", list.get_name()),
                help.unwrap_or_default(),
            )
        })
        .collect();
    answer::pairs(
        lists
            .iter()
            .map(|(name, help)| (name.as_str(), help.as_str())),
    )
}

/// The text of a list, or of the list of lists.
pub(crate) fn list(what: Option<Listed>) -> Result<String, Problems> {
    let Some(what) = what else {
        return Ok(lists());
    };
    Ok(match what {
        Listed::Papers => papers()?,
        Listed::Models => {
            let models = claims::model::MODELS.iter();
            answer::pairs(models.map(|model| (model.name, model.help)))
        }
        Listed::Schemes => {
            let summary = |scheme: &'static schemes::Scheme| (scheme.name, scheme.summary);
            answer::pairs(schemes::all().iter().copied().map(summary))
        }
        Listed::Scenarios => {
            let load = |name| Scenario::load(Source::find(name)?, &Overrides::default());
            let scenarios = BUILTINS
                .iter()
                .map(|builtin| Ok((builtin.name, load(builtin.name)?)))
                .collect::<Result<Vec<_>, Problems>>()?;
            answer::pairs(
                scenarios
                    .iter()
                    .map(|(name, scenario)| (*name, scenario.title().unwrap_or(""))),
            )
        }
        Listed::Keys => keys(),
        Listed::Topologies => topologies(),
        Listed::Workloads => {
            let kinds = WorkloadKind::CHOICES.iter().copied();
            let sizes = distributions::NAMED
                .iter()
                .map(|named| (named.name, named.help));
            let traces = flow_trace::BUILTINS.iter();
            let traces = traces.map(|trace| (trace.name, trace.help));
            format!(
                "Kinds, for workload.kind:\n{}\nMeasured sizes, for workload.size:\n{}\n\
                 Flows one by one, for workload.trace with workload.kind = \"trace\":\n{}",
                answer::pairs(kinds),
                answer::pairs(sizes),
                answer::pairs(traces)
            )
        }
    })
}

/// Every kind of network and every graph.
fn topologies() -> String {
    let graphs: Vec<_> = BUILTINS_OF_GRAPHS
        .iter()
        .map(|builtin| {
            let graph = builtin.graph();
            let (nodes, links) = (graph.nodes().len(), graph.links().len());
            let what = format!("{nodes} nodes, {links} links: {}", builtin.help);
            (builtin.name, what)
        })
        .collect();
    let graphs = graphs.iter().map(|(name, what)| (*name, what.as_str()));
    format!(
        "Kinds, for topology.kind:\n{}\nGraphs, for topology.graph with topology.kind = \"graph\":\n{}",
        answer::pairs(TopologyKind::CHOICES.iter().copied()),
        answer::pairs(graphs)
    )
}

/// Every paper with its experiments and its contents.
fn papers() -> Result<String, Problems> {
    let mut out = String::new();
    for name in catalogue::names() {
        let paper = catalogue::paper(name)?;
        let claims = paper.experiments.iter().map(|figure| figure.claims.len());
        if !out.is_empty() {
            out.push('\n');
        }
        let (figures, claims) = (paper.experiments.len(), claims.sum::<usize>());
        writeln!(
            out,
            "{name}  {} ({}, {})",
            paper.title,
            answer::words::counted(figures, "figure"),
            answer::words::counted(claims, "claim")
        )
        .expect("writing to a string succeeds");
        let rows: Vec<(String, String)> = paper
            .experiments
            .iter()
            .map(|figure| {
                let claims = answer::words::counted(figure.claims.len(), "claim");
                let what = format!("{}: {} ({claims})", figure.figure, figure.title);
                (format!("  {}", figure.id()), what)
            })
            .collect();
        let rows = rows.iter().map(|(id, what)| (id.as_str(), what.as_str()));
        out.push_str(&answer::pairs(rows));
        out.push_str(&contents(&paper.contents));
    }
    Ok(out)
}

/// Every figure, table, equation and algorithm of a paper with its state.
fn contents(items: &[claims::Item]) -> String {
    let rows: Vec<(String, String)> = items
        .iter()
        .map(|item| {
            let what = format!("{}; {}", item.title, item.state);
            (format!("  {}", item.name), what)
        })
        .collect();
    let rows = rows
        .iter()
        .map(|(name, what)| (name.as_str(), what.as_str()));
    answer::pairs(rows)
}

fn keys() -> String {
    let assignment = |key: &&'static Key| format!("{} = {}", key.name, key.default);
    let assignments: Vec<_> = all_keys().iter().map(assignment).collect();
    let first_sentences = all_keys().iter().map(|key| first_sentence(key.help));
    answer::pairs(assignments.iter().map(String::as_str).zip(first_sentences))
}

/// The first sentence of a description, up to a semicolon or a colon. A colon after a short label, as in "Requests: how
/// many flows ...", does not end it.
fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").unwrap_or(text.trim_end_matches('.').len());
    let sentence = &text[..end];
    let sentence = sentence.split(';').next().unwrap_or(sentence);
    let says = |(colon, _): &(usize, &str)| sentence[..*colon].split(' ').count() > LABEL;
    let colon = sentence.match_indices(": ").find(says);
    colon.map_or(sentence, |(colon, _)| &sentence[..colon])
}

/// The most words of a label before a colon: "Poisson arrivals".
const LABEL: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_papers_has_the_state_of_each_figure_and_equation() {
        let list = papers().unwrap_or_else(|_| panic!("the catalogue is correct"));
        let list = list.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in [
            "rcc/section5-completion",
            "Fig. 4",
            "a diagram; it has no results",
            "Eqs. 19 to 23",
            "judged in section5-completion",
            "Fig. 18",
            "defined in crates/core/schemes/src/rcc/assign.rs",
        ] {
            assert!(list.contains(line), "{line}\n{list}");
        }
    }

    #[test]
    fn no_description_of_a_key_is_cut_to_a_word() {
        for key in all_keys() {
            let sentence = first_sentence(key.help);
            let words = sentence.split(' ').count();
            assert!(
                words > LABEL || sentence == key.help.trim_end_matches('.'),
                "{}: {sentence}",
                key.name
            );
        }
        assert_eq!(
            first_sentence("Requests: how many of all; more. And so on."),
            "Requests: how many of all"
        );
        assert_eq!(
            first_sentence("The shape of the network: a star. It."),
            "The shape of the network"
        );
    }
}
