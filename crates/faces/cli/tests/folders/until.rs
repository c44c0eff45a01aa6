//! `--until` adds seeds until the interval is narrow enough or there are as many as allowed.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::workspace::Workspace;

#[test]
fn seeds_are_added_until_the_interval_is_as_narrow_as_asked_for() {
    let workspace = Workspace::new("until_reached");
    let text = workspace.answer(&format!("{SWEEP} --until 5% --max-seeds 60 --out until"));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let summary = workspace.json("until/summary.json");
    let until = &summary["until"];
    let seeds = summary["seeds"].as_u64().expect("a number");
    assert!(seeds > 5 && seeds < 60, "more than at first: {seeds}");
    assert_eq!(until["reached"], true);
    assert_eq!(until["target"], 0.05);
    let widest = until["widest"].as_f64().expect("a number");
    assert!(widest <= 0.05, "{until}");
    assert!((widest - widest_half_width(&summary)).abs() < 1e-12);
    assert!(
        text.contains(&format!("Stopped at {seeds} seeds")),
        "{text}"
    );
    assert!(text.contains("within the ±5.0 % asked for"), "{text}");

    // With the same seeds from the start, it would have stopped at the same place.
    assert_same_but_until(&workspace, seeds);
    let fewer = workspace.answer(&format!("{SWEEP} --seeds 5 --out fewer --format json"));
    let fewer: Value = serde_json::from_str(&fewer).expect("JSON");
    assert!(fewer.get("until").is_none());
    assert!(widest_half_width(&workspace.json("fewer/summary.json")) > 0.05);
}

#[test]
fn seeds_are_added_up_to_the_bound_and_that_is_said() {
    let workspace = Workspace::new("until_bound");
    let sweep = format!("{SWEEP} --until 0.1% --max-seeds 7 --out until");
    let text = workspace.answer(&format!("{sweep} --format json"));
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    let summary = workspace.json("until/summary.json");
    assert_eq!(answer["until"], summary["until"]);
    let until = &summary["until"];
    assert_eq!(until["reached"], false);
    assert_eq!(until["bound"], 7);
    assert_eq!(until["metric"], "fct_p99_us");
    assert!(until["widest"].as_f64().expect("a number") > 0.001);
    assert_same_but_until(&workspace, 7);
    // When run again, it says so in words; with another request, it does not mix.
    let text = workspace.answer(&format!("{sweep} --resume"));
    assert!(text.contains("Stopped at the bound of 7 seeds"), "{text}");
    let other = sweep.replace("0.1%", "5%");
    let refusal = workspace.refusal(&format!("{other} --resume"));
    assert!(refusal.contains("of another precision"), "{refusal}");
}

#[test]
fn one_seed_has_no_interval_to_wait_for() {
    let workspace = Workspace::new("until_one");
    let refusal = workspace.refusal(&format!("{SWEEP} --until 5% --max-seeds 1 --out until"));
    assert!(refusal.contains("--max-seeds"), "{refusal}");
    assert!(!workspace.path("until").exists());
}

/// Half the width of the 95 % interval of the 99th percentile divided by its mean: the largest of all rows, from the
/// values of the points.
fn widest_half_width(summary: &Value) -> f64 {
    let mut rows: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in summary["points"].as_array().expect("points") {
        let value = point["metrics"]["fct_p99_us"].as_f64().expect("a number");
        let row = point["row"].as_u64().expect("a number");
        rows.entry(row).or_default().push(value);
    }
    let width = |values: &Vec<f64>| {
        let seeds = values.len();
        // Student's t for 95 %, two-sided, from a printed table.
        let t = match seeds {
            5 => 2.776_445,
            7 => 2.446_912,
            8 => 2.364_624,
            12 => 2.200_985,
            18 => 2.109_816,
            27 => 2.055_529,
            _ => panic!("no quantile for {seeds} seeds here"),
        };
        let count = base::cast::count(seeds);
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean));
        t * (squares.sum::<f64>() / (count - 1.0) / count).sqrt() / mean
    };
    rows.values().map(width).fold(0.0, f64::max)
}

/// The folder `until` equals that of a run of this many seeds, apart from what concerns `--until`.
fn assert_same_but_until(workspace: &Workspace, seeds: u64) {
    workspace.answer(&format!("{SWEEP} --seeds {seeds} --out plain"));
    let (until, plain) = (workspace.files("until"), workspace.files("plain"));
    let text = String::from_utf8(plain["scenario.toml"].clone()).expect("text");
    assert!(text.contains(&format!("\nseeds = {seeds}\n")), "{text}");
    let summaries = ["until", "plain"].map(|folder| {
        let mut summary = workspace.json(&format!("{folder}/summary.json"));
        let object = summary.as_object_mut().expect("an object");
        object.shift_remove("checksum").expect("one of its own");
        assert_eq!(object.shift_remove("until").is_some(), folder == "until");
        summary
    });
    assert_eq!(summaries[0], summaries[1]);
    // The report contains the sentence about --until.
    let same = |name: &&String| !["report.html", "summary.json"].contains(&name.as_str());
    for name in plain.keys().filter(same) {
        assert!(until[name] == plain[name], "{name} differs");
    }
    assert_eq!(until.len(), plain.len());
}

const SWEEP: &str = "run incast --scheme newreno,dctcp --set workload.senders=8,12 \
     --set workload.jitter=1ms --set tcp.initial_window=2 --quiet";
