//! The page of a run folder.

use protocol::{ClaimLine, PointLine, Results, RunsOn, Settings};
use report::{LiveClaim, LiveNetwork, LivePage, LiveScheme};

use super::runs::{Emulation, WORLDS, settings};
use super::table::{SHOWN, captured_text, pairs, title, validity};

/// What stands on it.
pub fn page(emulated: &Emulation) -> LivePage {
    let scale = emulated.claims.first().map(|claim| claim.scale.clone());
    LivePage {
        name: emulated.about.scenario.clone(),
        columns: SHOWN.iter().map(|shown| shown.column).collect(),
        networks: emulated
            .sets()
            .into_iter()
            .map(|set| network(emulated, set))
            .collect(),
        claims: emulated.claims.iter().map(claim).collect(),
        scale: scale.unwrap_or_default(),
        files: files(emulated),
        version: format!("tailwater {}", emulated.about.version),
    }
}

fn network(emulated: &Emulation, set: &Settings) -> LiveNetwork {
    let bed = emulated.bed(set);
    let different = bed.into_iter().flat_map(|bed| &bed.different);
    LiveNetwork {
        title: bed.map_or_else(String::new, |bed| title(emulated, bed)),
        place: settings(set).collect::<Vec<_>>().join(", "),
        // No run is invalid if no scheme runs.
        is_valid: bed.is_none() || emulated.is_valid(set),
        verdict: bed.map_or_else(String::new, |_| validity(emulated, set)),
        schemes: emulated
            .first_runs(set)
            .map(|row| of_scheme(emulated, row))
            .collect(),
        left_out: emulated
            .left_out(set)
            .map(|row| (row.scheme.clone(), row.reason.clone()))
            .collect(),
        different: different
            .map(|row| (row.key.clone(), row.instead.clone()))
            .collect(),
    }
}

fn of_scheme(emulated: &Emulation, row: &PointLine) -> LiveScheme {
    let times = |world| {
        let points = emulated.points(world, row);
        let mut times: Vec<f64> = points.flat_map(|point| &point.fct_us).copied().collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let flows = |world| {
        let counts = emulated.points(world, row).map(flows);
        usize::try_from(counts.sum::<u64>()).unwrap_or(usize::MAX)
    };
    LiveScheme {
        name: row.scheme.clone(),
        estimates: pairs(emulated, row),
        fct_us: WORLDS.map(times),
        flows: WORLDS.map(flows),
    }
}

/// All flows of a run, complete or not.
fn flows(point: &PointLine) -> u64 {
    let all = match &point.results {
        Results::Linux { metrics, .. } => [
            metrics.flows_completed,
            metrics.flows_failed,
            metrics.flows_unfinished,
        ],
        Results::Simulated { metrics } => [
            metrics.flows_completed,
            metrics.flows_failed,
            metrics.flows_unfinished,
        ],
    };
    all.iter().sum()
}

fn claim(line: &ClaimLine) -> LiveClaim {
    LiveClaim {
        says: format!("{} ({})", line.says, line.r#where),
        paper: line.paper.clone(),
        found: WORLDS.map(|world| match world {
            RunsOn::Linux => line.linux.text.clone(),
            RunsOn::Simulator => line.simulated.text.clone(),
        }),
        verdict: line.verdict.clone(),
        reason: line.reason.clone(),
    }
}

/// Files beside the page.
fn files(emulated: &Emulation) -> Vec<(String, String)> {
    let mut files = vec![(
        protocol::FILE.to_owned(),
        "every run with all numbers, as JSON lines".to_owned(),
    )];
    files.extend(emulated.twins.iter().map(|twin| {
        let text = format!(
            "the scenario that was simulated for {}, which tailwater run reads",
            twin.scheme
        );
        (twin.file.clone(), text)
    }));
    let captures = emulated.captures.iter();
    files.extend(captures.map(|capture| (capture.file.clone(), captured_text(capture))));
    files
}
