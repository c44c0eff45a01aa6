//! Simulates a point and stores its results.

use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use plan::PointSpec;
use record::Recording;
use record::pcap::Capture;
use record::perfetto::Perfetto;
use record::theatre::Theatre;
use record::trace::{Recorder, TracePlan};
use scenario::Scenario;
use sim::divided;
use sim::error::RunError;
use sim::metrics::Outcome;
use sim::run::{Limits, Watching};

use super::Keep;
use super::store::{Store, Unfinished};

/// Simulates a point and keeps its outcome in `kept`. In a run folder it also keeps its series and captures. All is
/// kept, or nothing. The same is kept for its `twins`, points of the same [essence](PointSpec::essence), without
/// simulating them.
///
/// Ends without a result if the simulation exceeds `limits` or a file cannot be written. The cost is measured by the
/// clocks of its threads; the clocks in `limits` are ignored.
///
/// # Panics
/// See [`sim::run::run`].
pub fn simulate_with(
    kept: &dyn Keep,
    point: &PointSpec,
    twins: &[&PointSpec],
    scenario: &Scenario,
    limits: Limits<'_>,
) -> Result<(), RunError> {
    let limits = Limits {
        clock: processor_time,
        wall: wall_time,
        ..limits
    };
    if let Some(store) = kept.store() {
        let files = store.files(point, scenario);
        let outcome = recorded(store, point, &files, limits)?;
        for twin in twins {
            let same = store.files(twin, scenario);
            let copied = files.copy_to(&same);
            copied.map_err(|error| store.unwritten(&error))?;
            store.keep_with(twin, scenario, outcome.clone(), &same)?;
        }
        return store.keep_with(point, scenario, outcome, &files);
    }
    let limits = Limits {
        recorded: false,
        ..limits
    };
    let watching = Watching {
        probe: None,
        breakdown: point.keys.trace.breakdown,
    };
    let outcome = divided::watch(limits, point, watching)?;
    for twin in twins {
        kept.keep(twin, scenario, Ok(outcome.clone()))?;
    }
    kept.keep(point, scenario, Ok(outcome))
}

/// Calls [`simulate_with`] for a point without twins.
///
/// # Panics
/// See [`sim::run::run`].
pub fn simulate(
    kept: &dyn Keep,
    point: &PointSpec,
    scenario: &Scenario,
    limits: Limits<'_>,
) -> Result<(), RunError> {
    simulate_with(kept, point, &[], scenario, limits)
}

/// The outcome of a point, with its files written.
fn recorded(
    store: &Store,
    point: &PointSpec,
    files: &Unfinished<'_>,
    limits: Limits<'_>,
) -> Result<Outcome, RunError> {
    let recording = || -> io::Result<Recording> {
        let plan = TracePlan::of(point);
        let series = plan.as_ref().map(|plan| {
            File::create(files.series()).and_then(|file| Recorder::new(plan, point, file))
        });
        let perfetto = plan.as_ref().filter(|plan| plan.has_perfetto());
        let perfetto = perfetto.map(|plan| {
            File::create(files.perfetto()).map(|file| Perfetto::new(plan, point, file))
        });
        let events = plan.as_ref().is_some_and(TracePlan::has_events);
        // A scene needs the order of events in the whole network, so threads cannot share the simulation.
        let plays = events && !divided::is_worth_while(point);
        let theatre = plays.then(|| (Theatre::new(point), files.theatre().to_owned()));
        let packets = files
            .places()
            .map(|places| Capture::new(places, point, files.captures()));
        Ok(Recording {
            series: series.transpose()?,
            packets: packets.transpose()?,
            perfetto: perfetto.transpose()?,
            theatre,
            breakdown: point.keys.trace.breakdown,
        })
    };
    let simulated = recording().and_then(|recording| recording.simulate(limits, point));
    simulated.map_err(|error| store.unwritten(&error))?
}

/// Processor time of this thread so far. Unlike wall-clock time, it does not grow while another process uses the
/// processor.
#[cfg(unix)]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// On this system no safe function reads a thread's clock.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    wall_time()
}

/// Time on the wall.
#[expect(
    clippy::disallowed_methods,
    reason = "only the cost of a run and the number of its threads follow"
)]
fn wall_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
