//! Limits that a machine or a person sets: steps of a simulation, and bytes of series.

use std::sync::Arc;

use base::cast::{real, whole};
use plan::PointSpec;
use plan::keys::TraceInterval;
use plan::words::{self, count};
use plan::work::Work;

use crate::{Argument, Help, Problem, Problems};

/// The most steps of one simulation unless the user allows more: an hour or a few.
pub const MOST_STEPS: u64 = 40_000_000_000;

/// Refuses the points if one of them would take more than `limit` steps.
pub fn check_steps(points: &[&PointSpec], recorded: bool, limit: u64) -> Result<(), Problems> {
    let mut before = None;
    for point in points {
        // The seeds of a row take the same number of steps.
        let row = (Arc::as_ptr(&point.keys), Arc::as_ptr(&point.groups));
        if before.replace(row) == Some(row) {
            continue;
        }
        let work = Work::of(point, recorded);
        let steps = work.steps();
        if steps.is_nan() || steps > real(limit) {
            let (what, key) = work.largest();
            return Err(Problem::new(format!(
                "a simulation of {} would take about {} steps, mostly {what}; {} are allowed",
                point.scheme,
                count(steps),
                count(real(limit))
            ))
            .help(
                Help::from(format!("change {}, or allow more with ", set(point, key)))
                    .argument(Argument::Steps)
                    .text("; ten million take about a second"),
            )
            .into());
        }
    }
    Ok(())
}

/// The error of a point that needs `needed` bytes of memory when `available` bytes are free.
pub fn too_large(point: &PointSpec, needed: u64, available: u64) -> Problem {
    let problem = Problem::new(format!(
        "a simulation of {} senders needs about {} of memory; {} is available",
        point.groups[0].keys.workload.senders.0,
        words::bytes(needed),
        words::bytes(available)
    ));
    let help = "simulate fewer senders or smaller windows (tcp.receive_buffer), use a larger machine, or insist with ";
    problem.help(Help::from(help).argument(Argument::Memory))
}

/// Refuses the points if their series together would take more than `limit` bytes.
pub fn check_series(points: &[&PointSpec], limit: u64) -> Result<(), Problems> {
    let mut bytes = 0.0;
    let traced = |point: &&&PointSpec| point.keys.trace.interval != TraceInterval::Auto;
    for point in points.iter().filter(traced) {
        let work = Work::of(point, true);
        // Each point has its own series file, and at the end a common file holds all series again.
        bytes += work.series_bytes() * 2.0;
        if bytes.is_nan() || bytes > real(limit) {
            return Err(Problem::new(format!(
                "series would take about {} on disk; {} is available",
                words::bytes(whole(bytes)),
                words::bytes(limit)
            ))
            .help(
                Help::from(format!(
                    "change {}, record less (trace.ports, trace.flows, trace.series), or insist with ",
                    set(point, work.series_key())
                ))
                .argument(Argument::Disk),
            )
            .into());
        }
    }
    Ok(())
}

/// The point's setting as `key = value`.
fn set(point: &PointSpec, key: &str) -> String {
    match key
        .strip_prefix("group.")
        .and_then(|rest| rest.split_once('.'))
    {
        Some((name, own)) => {
            let group = point.groups.iter().find(|group| *group.name == *name);
            let text = group.map_or("", |group| &group.texts[own]);
            format!("{key} = {text}")
        }
        None => format!("{key} = {}", point.text(key)),
    }
}
