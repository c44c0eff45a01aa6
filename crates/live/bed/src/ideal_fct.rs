//! The time that every flow of a point takes alone: in a twin without losses whose flows never overlap.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use plan::PointSpec;
use plan::workload::Plan;

use crate::cell::Arm;
use crate::error::EmulateError;
use crate::testbed::Testbed;
use crate::twin::{self, Calibration, Original};
use base::cast::real;

/// Completion times alone in microseconds, in the order of the plan. `None` if no deadline needs them, if flows wait
/// for others, or if a group or a flow without end has no trace.
///
/// # Errors
/// If the trace cannot be written to `folder`, or the simulation fails.
pub(crate) fn completions_us(
    arm: &Arm<'_>,
    bed: &Testbed,
    found: &Calibration,
    folder: &Path,
) -> Result<Vec<Option<f64>>, EmulateError> {
    let point = arm.points[0];
    let Some(csv) = trace(point, found) else {
        return Ok(Vec::new());
    };
    let original = Original {
        point,
        stack: &arm.stack,
        bed,
        found,
    };
    let name = format!("alone-{}-{}.csv", arm.number, point.scheme);
    let path = folder.join(&name);
    let failed = |error: &dyn std::fmt::Display| EmulateError::Failed(format!("{name}: {error}"));
    fs::write(&path, csv).map_err(|error| failed(&error))?;
    let twin = twin::without_losses(original, folder, &name)?;
    let outcome = sim::run::run(&twin.points()[0]).map_err(|error| failed(&error))?;
    fs::remove_file(&path).map_err(|error| failed(&error))?;
    let flows = outcome.flows.iter();
    Ok(flows.map(|flow| flow.fct_us.get()).collect())
}

/// The flows of a point one after another, each long after the end of the previous one.
fn trace(point: &PointSpec, found: &Calibration) -> Option<String> {
    let mut groups = point.groups.iter();
    let is_asked =
        groups.all(|group| group.name.is_empty() && group.keys.workload.deadline.0.is_some());
    let plan = Plan::of(point);
    if !is_asked || !plan.barriers.is_empty() || !plan.dependencies.is_empty() {
        return None;
    }
    let mut csv = "start_us,size_bytes,sender,receiver\n".to_owned();
    let mut start_us = 0.0;
    for flow in &plan.flows {
        let connection = &plan.connections[flow.connection as usize];
        let (sender, receiver) = (connection.sender.0, connection.receiver.0);
        let size = flow.size?;
        writeln!(csv, "{start_us:.3},{size},{sender},{receiver}")
            .expect("a string takes everything");
        start_us += longest_us(size, found);
    }
    Some(csv)
}

/// An upper bound of the time of a flow of this size on an idle link.
fn longest_us(size: u64, found: &Calibration) -> f64 {
    let bits = real(size) * 8.0;
    2.0 * bits * 1e6 / real(found.speed.real) + REST_US
}

/// Time for round trips of slow start, and for the connection to close.
const REST_US: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lan::Speed;
    use crate::stack::Stack;
    use scenario::{Overrides, Scenario, Source};

    const FOUND: Calibration = Calibration {
        speed: Speed {
            real: 100_000_000,
            planned: 1_000_000_000,
            burst: 1,
        },
        rtt_us: 40.0,
        links: 2,
        lateness_us: None,
        spread_us: 0.0,
    };

    fn point(more: &str) -> Scenario {
        let text = format!(
            "schemes = [\"newreno\"]\nswitch.buffer = \"5pkt\"\nswitch.ecn_threshold = \"off\"\n\
             run.duration = \"15ms\"\n\
             [workload]\nkind = \"incast\"\nsenders = 3\nsize = \"500KB\"\n{more}"
        );
        Scenario::load(Source::new("alone", text), &Overrides::default()).unwrap()
    }

    #[test]
    fn a_flow_alone_has_the_whole_link_and_loses_nothing() {
        let scenario = point("deadline = \"1ms\"");
        let points = scenario.points().iter().collect();
        let bed = Testbed::of(&scenario.points()[0]).unwrap();
        let stack = Stack::of(&scenario.points()[0], &bed, &["reno".to_owned()]).unwrap();
        let number = std::process::id() as usize;
        let arm = Arm {
            number,
            points,
            stack,
        };
        let alone = completions_us(&arm, &bed, &FOUND, &std::env::temp_dir()).unwrap();
        // 346 packets of 1,514 bytes take 41.9 ms over 100 Mbit/s; three flows together take three times as long.
        assert_eq!(alone.len(), 3);
        for time in alone {
            let time = time.expect("it completes");
            assert!((41_000.0..50_000.0).contains(&time), "{time} us");
        }
    }

    #[test]
    fn nobody_asks_without_a_deadline() {
        assert!(trace(&point("").points()[0], &FOUND).is_none());
        let asked = point("deadline = \"1ms\"");
        let csv = trace(&asked.points()[0], &FOUND).unwrap();
        assert!(csv.contains("\n1080000.000,500000,"), "{csv}");
    }
}
