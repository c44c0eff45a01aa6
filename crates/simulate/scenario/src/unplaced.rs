//! Hints about links of a graph without a delay in its file, before they are simulated.

use crate::problem::Problem;
use base::Ordered as _;
use plan::PointSpec;
use plan::keys::TopologyKind;

/// A hint for each file that lacks delays.
pub(super) fn links(points: &[PointSpec]) -> Vec<Problem> {
    let said = points.iter().filter_map(of_point).into_set();
    let problem = |(message, has_weights): (String, bool)| {
        let weights = if has_weights {
            "their weights count as lengths or delays with topology.weight=km or =ms; "
        } else {
            ""
        };
        Problem::warning(message).help(format!(
            "{weights}set topology.missing_delay to another time, or to \"off\" to refuse such files, or give the file delays, \
             lengths or coordinates"
        ))
    };
    said.into_iter().map(problem).collect()
}

/// The hint for a point, and whether all links in the hint have weights.
fn of_point(point: &PointSpec) -> Option<(String, bool)> {
    let topology = &point.keys.topology;
    if topology.kind != TopologyKind::Graph {
        return None;
    }
    let graph = topology.network();
    let unplaced: Vec<usize> = graph.unplaced(&point.keys).collect();
    let (count, all) = (unplaced.len(), graph.links().len());
    let has_weights = unplaced
        .iter()
        .all(|link| graph.links()[*link].weight.is_some());
    let delay = topology.missing_delay.0.filter(|_| count > 0)?;
    let name = point.text("topology.graph");
    let have = if count == 1 { "has" } else { "have" };
    let message = format!(
        "{count} of the {all} links of {name} {have} neither a delay nor a length, and their ends no coordinates: each takes \
         topology.missing_delay = {delay}"
    );
    Some((message, has_weights))
}
