//! Lines of the protocol that both beds write.

use std::iter;

use plan::PointSpec;
use protocol::{EmulationLine, FlowRow, Line, PointLine, Results, Settings, SkippedLine};
use scenario::Scenario;

use crate::order::Order;

/// The first line of an emulation.
pub(crate) fn begins(scenario: &Scenario, order: &Order) -> Line {
    Line::Emulation(EmulationLine {
        scenario: scenario.name().to_owned(),
        runs: order.runs.get(),
        version: sim::VERSION.to_owned(),
    })
}

/// The line of a scheme that does not run.
pub(crate) fn skipped(point: &PointSpec, reason: String) -> Line {
    Line::Skipped(SkippedLine {
        scheme: point.scheme.clone(),
        set: set(point),
        reason,
    })
}

/// The line of a run of `point`, without single flows and series.
pub(crate) fn point_line(
    point: &PointSpec,
    run: u32,
    results: Results,
    fct_us: Vec<f64>,
) -> PointLine {
    PointLine {
        scheme: point.scheme.clone(),
        seed: point.seed,
        run,
        set: set(point),
        results,
        fct_us,
        flows: None,
        ended_us: None,
        queue: None,
        arrivals: None,
        losses: None,
    }
}

/// Rows of flows with the times that they take alone, if these are known.
pub(crate) fn with_alone(
    rows: impl Iterator<Item = FlowRow>,
    alone: &[Option<f64>],
) -> Vec<FlowRow> {
    let alone = alone.iter().copied().chain(iter::repeat(None));
    rows.zip(alone)
        .map(|(row, alone_us)| FlowRow { alone_us, ..row })
        .collect()
}

/// The settings of a point that have several values.
pub(crate) fn set(point: &PointSpec) -> Settings {
    point.set.iter().cloned().collect()
}
