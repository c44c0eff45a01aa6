//! The page of a run folder.

use report::{LiveClaim, LiveNetwork, LivePage, LiveScheme};
use serde_json::Value;

use crate::{
    Emulated, SHOWN, WORLDS, different, invalid, pairs, scheme, settings, title, validity, word,
};

/// What stands on it.
pub fn page(emulated: &Emulated) -> LivePage {
    LivePage {
        name: emulated.scenario().to_owned(),
        columns: SHOWN.iter().map(|shown| shown.column).collect(),
        networks: emulated
            .sets()
            .into_iter()
            .map(|set| network(emulated, set))
            .collect(),
        claims: emulated.of_kind("claim").map(claim).collect(),
        scale: (emulated.of_kind("claim").next())
            .map_or_else(String::new, |claim| word(claim, "scale").to_owned()),
        files: files(emulated),
        version: format!(
            "tailwater {}",
            emulated.about("version").as_str().unwrap_or_default()
        ),
    }
}

fn network(emulated: &Emulated, set: &Value) -> LiveNetwork {
    let bed = emulated.of_kind("bed").find(|bed| bed["set"] == *set);
    let owned = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
    let rows = emulated.rows(set);
    let (left_out, ran): (Vec<&Value>, _) =
        rows.into_iter().partition(|row| row["type"] == "skipped");
    LiveNetwork {
        title: bed.map_or_else(String::new, |bed| title(emulated, bed)),
        place: settings(set).collect::<Vec<_>>().join(", "),
        is_valid: invalid(emulated, set).next().is_none(),
        verdict: bed.map_or_else(String::new, |_| validity(emulated, set)),
        schemes: ran
            .into_iter()
            .map(|row| of_scheme(emulated, row))
            .collect(),
        left_out: left_out
            .into_iter()
            .map(|row| owned((scheme(row), word(row, "reason"))))
            .collect(),
        different: bed.into_iter().flat_map(different).map(owned).collect(),
    }
}

fn of_scheme(emulated: &Emulated, row: &Value) -> LiveScheme {
    let times = |world| {
        let points = emulated.points(world, row);
        let times = points.flat_map(|point| point["fct_us"].as_array().into_iter().flatten());
        let mut times: Vec<f64> = times.filter_map(Value::as_f64).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let flows = |world| {
        let counts = emulated
            .points(world, row)
            .flat_map(|point| FATES.map(|fate| point["metrics"][fate].as_u64().unwrap_or(0)));
        usize::try_from(counts.sum::<u64>()).unwrap_or(usize::MAX)
    };
    LiveScheme {
        name: scheme(row).to_owned(),
        estimates: pairs(emulated, row),
        fct_us: WORLDS.map(times),
        flows: WORLDS.map(flows),
    }
}

fn claim(line: &Value) -> LiveClaim {
    LiveClaim {
        says: format!("{} ({})", word(line, "says"), word(line, "where")),
        paper: word(line, "paper").to_owned(),
        found: WORLDS.map(|world| word(&line[world], "text").to_owned()),
        verdict: word(line, "verdict").to_owned(),
        reason: word(line, "reason").to_owned(),
    }
}

/// Files beside the page.
fn files(emulated: &Emulated) -> Vec<(String, String)> {
    let mut files = vec![(
        crate::LINES.to_owned(),
        "every run with all numbers, as JSON lines".to_owned(),
    )];
    let named = |kind, what: fn(&Value) -> String| {
        let lines = emulated.of_kind(kind);
        lines.map(move |line| (word(line, "file").to_owned(), what(line)))
    };
    files.extend(named("twin", |line| {
        format!(
            "the scenario that was simulated for {}, which tailwater run reads",
            scheme(line)
        )
    }));
    files.extend(named("capture", crate::captured_text));
    files
}

/// What becomes of flows.
const FATES: [&str; 3] = ["flows_completed", "flows_failed", "flows_unfinished"];
