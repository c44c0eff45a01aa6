//! Runs a scenario on real stacks and, with the measured network, in the simulator.
//!
//! Each step returns a value, which is reported as soon as it is known; nothing here prints.

use machine::interrupt;
use protocol::Line;
use scenario::Scenario;

use crate::cell::{self, Cell};
use crate::ideal_fct;
use crate::lines;
use crate::network::Network;
use crate::report::Report;
use crate::simulations::Simulations;
use crate::starts::Starts;

pub use crate::error::EmulateError;
pub use crate::network::up;
pub use crate::order::{Detail, Order};

/// Runs every point of `scenario`, whose seeds are the runs, and reports each result.
///
/// # Errors
/// If Linux cannot run the scenario, or the machine refuses. The network is removed all the same.
pub fn emulate(
    scenario: &Scenario,
    order: &Order,
    tell: &mut dyn FnMut(Line),
) -> Result<(), EmulateError> {
    // Nothing is set up if any part of the scenario is refused.
    let cells = cell::all(scenario)?;
    let report = &mut |report: Report<'_>| tell(lines::line(report));
    let runs = order.runs;
    report(Report::Begins { scenario, runs });
    for cell in cells {
        for (point, reason) in &cell.left_out {
            let reason = reason.clone();
            report(Report::LeftOut { point, reason });
        }
        run_cell(&cell, order, report)?;
    }
    Ok(())
}

/// Runs the schemes of a cell in turn, so that a disturbance of the machine affects all of them, and then their twins.
fn run_cell(
    cell: &Cell<'_>,
    order: &Order,
    report: &mut dyn FnMut(Report<'_>),
) -> Result<(), EmulateError> {
    let Some(first) = cell.arms.first() else {
        return Ok(());
    };
    let network = Network::make(first.points[0], order)?;
    report(Report::Network(network.describe(cell)));
    let alone = cell.arms.iter().map(|arm| match &order.folder {
        Some(folder) if order.detail >= Detail::Flows => {
            ideal_fct::completions_us(arm, &network.bed, &network.found, folder)
        }
        _ => Ok(Vec::new()),
    });
    let alone = alone.collect::<Result<Vec<_>, _>>()?;
    let mut late = Vec::new();
    let mut starts: Vec<Vec<Option<Starts>>> = vec![Vec::new(); cell.arms.len()];
    for run in 0..order.runs.get() {
        for ((arm, alone), starts) in cell.arms.iter().zip(&alone).zip(&mut starts) {
            let ran = network.run(arm, run, order, alone)?;
            if let Some(capture) = ran.capture {
                report(Report::Capture(capture));
            }
            report(Report::Run(Box::new(ran.report)));
            late.extend(ran.late_us);
            starts.push(ran.starts);
        }
    }
    // The simulator would take cores from the kernel, so the network is removed first.
    let (bed, found) = network.removed(late);
    if !order.simulate {
        return Ok(());
    }
    for ((arm, starts), alone) in cell.arms.iter().zip(starts).zip(&alone) {
        let starts = starts.into_iter().collect::<Option<Vec<_>>>();
        let twin = Simulations::of(arm, &bed, &found, starts.unwrap_or_default(), order)?;
        report(Report::Twin(twin.describe()));
        for run in 0..twin.runs() {
            interrupt::check()?;
            report(Report::Run(Box::new(twin.run(run, order.detail, alone)?)));
        }
    }
    Ok(())
}
