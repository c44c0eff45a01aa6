//! A sweep simulates equal points once and keeps the result for each of them.

use serde_json::Value;

use crate::workspace::Workspace;

#[test]
fn rows_that_cannot_differ_are_run_once() {
    let workspace = Workspace::new("twins");
    let run = "run incast --scheme newreno,dctcp --set workload.senders=20 --set workload.jitter=100us \
               --set dctcp.g=0.0625,0.125,0.25 --seeds 2 --format json --quiet";
    workspace.answer(&format!("{run} --out together"));
    // Each alone, without another point to copy from.
    for weight in ["0.0625", "0.125", "0.25"] {
        let alone = run.replace("0.0625,0.125,0.25", weight);
        workspace.answer(&format!("{alone} --out {weight}"));
    }
    let together = workspace.json("together/summary.json");
    let mut newreno = Vec::new();
    for point in together["points"].as_array().expect("points") {
        let row = &together["rows"]
            [usize::try_from(point["row"].as_u64().expect("a row")).expect("small")];
        let set = row["set"].as_array().expect("settings");
        let weight = set.iter().find(|pair| pair[0] == "dctcp.g");
        let weight = weight.and_then(|pair| pair[1].as_str()).expect("a weight");
        let alone = workspace.json(&format!("{weight}/summary.json"));
        let same = same(
            &alone,
            row["scheme"].as_str().expect("a scheme"),
            &point["seed"],
        );
        for what in ["digest", "metrics"] {
            assert_eq!(point[what], same[what], "{row}");
        }
        if row["scheme"] == "newreno" {
            newreno.push((point["seed"].clone(), point["metrics"].clone()));
        }
    }
    assert_eq!(newreno.len(), 6);
    assert!(newreno.iter().all(|(seed, metrics)| {
        let first = newreno.iter().find(|(other, _)| other == seed);
        first.is_some_and(|(_, first)| first == metrics)
    }));
    // Series are there for every row, including copied ones.
    let series = workspace.answer("export together series");
    let points: std::collections::BTreeSet<&str> = series
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect();
    assert_eq!(points.len(), 6, "the first seed of each row");
}

fn same<'a>(summary: &'a Value, scheme: &str, seed: &Value) -> &'a Value {
    let points = summary["points"].as_array().expect("points");
    let found = points.iter().find(|point| {
        let row = usize::try_from(point["row"].as_u64().expect("a row")).expect("small");
        summary["rows"][row]["scheme"] == scheme && point["seed"] == *seed
    });
    found.expect("the same point")
}
