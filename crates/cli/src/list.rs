//! `tailwater list`.

use base::setting::Key;
use lab::keys::{TopologyKind, WorkloadKind, all_keys};
use lab::scenario::{BUILTINS, Scenario};
use lab::workload;

use crate::args::Listed;
use crate::text;

/// The text of a list.
pub(crate) fn list(what: Listed) -> String {
    match what {
        Listed::Schemes => {
            let summary = |scheme: &'static schemes::Scheme| (scheme.name, scheme.summary);
            text::pairs(schemes::all().iter().map(summary))
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
        Listed::Topologies => text::pairs(TopologyKind::CHOICES.iter().copied()),
        Listed::Workloads => {
            let kinds = WorkloadKind::CHOICES.iter().copied();
            let sizes = workload::NAMED.iter().map(|named| (named.name, named.help));
            format!(
                "Kinds, for workload.kind:\n{}\nMeasured sizes, for workload.size:\n{}",
                text::pairs(kinds),
                text::pairs(sizes)
            )
        }
    }
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
