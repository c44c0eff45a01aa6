//! A run, from settings to the parts of a page.

use std::num::NonZeroUsize;
use std::rc::Rc;

use base::cast;
use claims::{Measure, MeasuredRun, Plot};
use plan::PointSpec;
use plan::work::Work;
use results::{Recorded as _, RunInMemory};
use scenario::{Problem, Problems, Scenario, limits};
use serde_json::{Value, json};
use sim::memory;
use sim::run::Limits;

use crate::fault::{answered, fault, faults};
use crate::request::{PageRequest, Panel};

/// Simulates every point of a request, or says why not.
pub(crate) fn run(request: &PageRequest) -> Value {
    answered(simulated(request))
}

/// The scenes of every point of a request.
pub(crate) fn play(request: &PageRequest) -> Value {
    answered(played(request))
}

/// A panel of a paper's figure from the runs of a request.
pub(crate) fn draw(request: &PageRequest, panel: &Panel) -> Value {
    answered(drawn(request, panel))
}

fn drawn(request: &PageRequest, panel: &Panel) -> Result<Value, Problems> {
    let plot = Plot::of_bytes(&panel.plot);
    let plot = plot.ok_or_else(|| Problem::new("this program cannot read panels of the page"))?;
    // Nothing is recorded over time that the panel does not show.
    let scenario = if plot.measures().any(Measure::is_over_time) {
        request.scenario()?
    } else {
        request.untraced()?
    };
    if let Some(asks) = asks(request, &scenario)? {
        return Ok(asks);
    }
    let run = RunInMemory::simulate(&scenario, limits_of(request));
    let failed = run.summary().failures.len();
    let run = MeasuredRun::of(Rc::new(run), request.name.clone())?;
    let figure = report::panel(&plot, (&panel.name, &panel.title), &panel.schemes, &run)?;
    Ok(json!({ "charts": report::chart(&figure), "failed": failed }))
}

fn played(request: &PageRequest) -> Result<Value, Problems> {
    let scenario = request.scenario()?;
    if let Some(asks) = asks(request, &scenario)? {
        return Ok(asks);
    }
    let run = RunInMemory::play(&scenario, limits_of(request));
    let scenes = report::scenes(&run)?;
    let scenes = scenes.into_iter().map(|scene| {
        let (flow, words) = scene.slowest.unzip();
        json!({ "name": scene.name, "slow": flow, "slowest": words, "start": scene.start_ns, "text": scene.text })
    });
    Ok(json!({ "scenes": scenes.collect::<Vec<_>>() }))
}

/// Refuses what would not fit or not end; the question whether a long run is wanted.
fn asks(request: &PageRequest, scenario: &Scenario) -> Result<Option<Value>, Problems> {
    let points: Vec<&PointSpec> = scenario.points().iter().collect();
    limits::check_steps(&points, true, limits::MOST_STEPS)?;
    memory::fit(&points, NonZeroUsize::MIN, MEMORY)
        .map_err(|large| limits::too_large(points[large.index], large.needed, large.available))?;
    let expected_s = expected_s(&points);
    let is_long = request.patience_s.is_some_and(|most| expected_s > most);
    Ok(is_long.then(|| json!({ "asks_s": expected_s })))
}

fn simulated(request: &PageRequest) -> Result<Value, Problems> {
    let scenario = request.scenario()?;
    if let Some(asks) = asks(request, &scenario)? {
        return Ok(asks);
    }
    let run = RunInMemory::simulate(&scenario, limits_of(request));
    let finished = run.finished();
    let summary = run.summary();
    let failures = summary.failures.iter();
    let failures: Vec<Value> = failures
        .map(|failed| json!({ "scheme": summary.rows[failed.row as usize].scheme, "error": failed.error }))
        .collect();
    let digests: Vec<Value> = finished
        .points()
        .map(|(point, result)| {
            let row = &summary.rows[point.row as usize];
            json!({ "scheme": row.scheme, "seed": point.seed, "set": row.set,
                "digest": format!("{:016x}", result.digest) })
        })
        .collect();
    let parts = match report::fragments(&run, &answer::SENTENCES) {
        Ok(parts) => parts,
        Err(error) => return Ok(json!({ "problems": faults(&Problems::from(error)) })),
    };
    let warnings: Vec<_> = scenario.warnings().iter().map(fault).collect();
    let mut answer = json!({
        "sentences": parts.sentences,
        "table": parts.table,
        "charts": parts.charts,
        "warnings": warnings,
        "failures": failures,
        "digests": digests,
        "goals_met": summary.goals.as_ref().map(|goals| goals.rows.iter().all(results::JudgedRow::is_met)),
        "hops": summary.points.iter().map(|point| point.packet_hops).sum::<u64>(),
        "command": request.command(&scenario),
        // The first line names the version, which may differ between a page and the program inside it.
        "toml": run.scenario_text().split_once('\n').map_or("", |(_, text)| text),
    });
    if request.numbers {
        let points = summary.points.iter();
        let metrics = points.map(|point| sim::columns::metric_values(&point.metrics));
        answer["metrics"] = json!(metrics.collect::<Vec<_>>());
    }
    Ok(answer)
}

/// Seconds that all points are expected to take here.
pub(crate) fn expected_s(points: &[&PointSpec]) -> f64 {
    let steps = points.iter().map(|point| Work::of(point, true).steps());
    steps.sum::<f64>() / cast::real(STEPS_PER_SECOND)
}

/// Limits of a simulation. A page that asks before long runs does not let one run on that takes far longer than expected, as
/// where every packet is lost and timers go on.
fn limits_of(request: &PageRequest) -> Limits<'static> {
    let patience = request.patience_s;
    let steps = patience.map(|most| cast::whole(most * cast::real(STEPS_PER_SECOND) * BEYOND));
    Limits {
        steps: steps.map_or(limits::MOST_STEPS, |most| most.min(limits::MOST_STEPS)),
        memory: MEMORY,
        ..Limits::NONE
    }
}

/// Packets cross this many links a second in a page: 60 to 100 % of a native program's.
const STEPS_PER_SECOND: u64 = 6_000_000;
/// A run ends after this many times the longest that is not asked about.
const BEYOND: f64 = 20.0;
/// Bytes that simulations may take: pages have 4 GB, and phones much less.
const MEMORY: u64 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_takes_far_longer_than_expected_ends() {
        let all_lost = PageRequest {
            name: "lost".to_owned(),
            text: "schemes = [\"rdtcp\"]\nworkload.senders = 60\nbottleneck.loss = 1\n".to_owned(),
            patience_s: Some(0.02),
            ..PageRequest::default()
        };
        let answer = run(&all_lost);
        let error = answer["failures"][0]["error"].as_str().unwrap_or_default();
        assert!(error.contains("ended after 2400000 steps"), "{answer}");
    }
}
