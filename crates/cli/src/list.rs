//! `tailwater list`.

use std::fmt::Write;

use base::setting::Key;
use claims::{self, catalogue};
use scenario::flow_trace;
use scenario::graph::BUILTINS as BUILTINS_OF_GRAPHS;
use scenario::keys::{TopologyKind, WorkloadKind, all_keys};
use scenario::law;
use scenario::{BUILTINS, Scenario};

use crate::args::Listed;
use crate::output::Stop;
use crate::text;

/// The text of a list.
pub(crate) fn list(what: Listed) -> Result<String, Stop> {
    Ok(match what {
        Listed::Papers => papers()?,
        Listed::Models => {
            let models = claims::model::MODELS.iter();
            text::pairs(models.map(|model| (model.name, model.help)))
        }
        Listed::Schemes => {
            let summary = |scheme: &'static schemes::Scheme| (scheme.name, scheme.summary);
            text::pairs(schemes::all().iter().copied().map(summary))
        }
        Listed::Scenarios => {
            let scenarios: Vec<_> = BUILTINS
                .iter()
                .map(|builtin| (builtin.name, Scenario::builtin(builtin.name)))
                .collect();
            text::pairs(
                scenarios
                    .iter()
                    .map(|(name, scenario)| (*name, scenario.title().unwrap_or(""))),
            )
        }
        Listed::Keys => keys(),
        Listed::Topologies => topologies(),
        Listed::Workloads => {
            let kinds = WorkloadKind::CHOICES.iter().copied();
            let sizes = law::NAMED.iter().map(|named| (named.name, named.help));
            let traces = flow_trace::BUILTINS.iter();
            let traces = traces.map(|trace| (trace.name, trace.help));
            format!(
                "Kinds, for workload.kind:\n{}\nMeasured sizes, for workload.size:\n{}\n\
                 Flows one by one, for workload.trace with workload.kind = \"trace\":\n{}",
                text::pairs(kinds),
                text::pairs(sizes),
                text::pairs(traces)
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
        text::pairs(TopologyKind::CHOICES.iter().copied()),
        text::pairs(graphs)
    )
}

/// Every paper with its figures.
fn papers() -> Result<String, Stop> {
    let mut out = String::new();
    for name in catalogue::names() {
        let paper = catalogue::paper(name)?;
        let claims = paper.experiments.iter().map(|figure| figure.claims.len());
        if !out.is_empty() {
            out.push('\n');
        }
        let (figures, claims) = (paper.experiments.len(), claims.sum());
        writeln!(
            out,
            "{name}  {} ({}, {})",
            paper.title,
            text::counted(figures, "figure"),
            text::counted(claims, "claim")
        )
        .expect("writing to a string succeeds");
        let rows: Vec<(String, String)> = paper
            .experiments
            .iter()
            .map(|figure| {
                let claims = text::counted(figure.claims.len(), "claim");
                let what = format!("{}: {} ({claims})", figure.figure, figure.title);
                (format!("  {}", figure.id()), what)
            })
            .collect();
        let rows = rows.iter().map(|(id, what)| (id.as_str(), what.as_str()));
        out.push_str(&text::pairs(rows));
    }
    Ok(out)
}

fn keys() -> String {
    let assignment = |key: &&'static Key| format!("{} = {}", key.name, key.default);
    let assignments: Vec<_> = all_keys().iter().map(assignment).collect();
    let first_sentences = all_keys().iter().map(|key| first_sentence(key.help));
    text::pairs(assignments.iter().map(String::as_str).zip(first_sentences))
}

fn first_sentence(text: &str) -> &str {
    let end = text.find([';', ':']).or_else(|| text.find(". "));
    end.map_or(text.trim_end_matches('.'), |end| &text[..end])
}
