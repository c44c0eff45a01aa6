//! Other programs read the tables, and their results agree with the summary.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::workspace::Workspace;

#[test]
fn duckdb_pandas_and_polars_find_the_percentiles_of_the_summary() {
    let Some(python) = testing::python(&["duckdb", "pandas", "pyarrow", "polars", "numpy"]) else {
        return;
    };
    let workspace = Workspace::new("columns");
    workspace.answer(&format!("{SWEEP} --out folder"));
    let found = run(python, &workspace, "readers.py");
    let summary = workspace.json("folder/summary.json");
    let points = summary["points"].as_array().expect("points");
    assert_eq!(points.len(), 8);
    for reader in ["duckdb", "pandas", "polars"] {
        let found = &found[reader];
        for point in points {
            let number = point["point"].to_string();
            let row = usize::try_from(point["row"].as_u64().expect("a row")).expect("small");
            let (scheme, p99) = (&found["p99"][&number][0], &found["p99"][&number][1]);
            assert_eq!(*scheme, summary["rows"][row]["scheme"], "{reader}");
            assert_eq!(*p99, point["metrics"]["fct_p99_us"], "{reader} {number}");
        }
        assert_eq!(found["p99"].as_object().map(serde_json::Map::len), Some(8));
        // Per combination of scheme and seed 4 + 8 flows and 10 + 18 ports.
        assert_eq!(found["flows"], 4 * (40 + 80), "{reader}");
        assert_eq!(found["ports"], 4 * (2 * 41 + 2 * 81), "{reader}");
        assert!(found["series"].as_u64() > Some(1000), "{reader}: {found}");
        assert_eq!(found["drops"], sum(points, "drops"), "{reader}");
        assert_eq!(found["timeouts"], sum(points, "timeouts"), "{reader}");
    }
    assert_eq!(found["duckdb"]["series"], found["polars"]["series"]);
    assert_eq!(found["pandas"]["series"], found["polars"]["series"]);
    assert_eq!(found["duckdb"]["columns"], found["polars"]["columns"]);
    assert_eq!(found["pandas"]["columns"], found["polars"]["columns"]);
    // Every table begins with the same columns: settings, under the names that they have everywhere.
    for (table, next) in [("columns", "flow"), ("series_columns", "time_us")] {
        let columns = found["polars"][table].as_array().expect("names").iter();
        let columns: Vec<_> = columns.filter_map(Value::as_str).collect();
        let leading = [
            "point",
            "scheme",
            "seed",
            "workload.senders",
            "workload.jitter",
        ];
        assert_eq!(columns[..6], [&leading[..], &[next]].concat(), "{table}");
    }
    // Samples of one setting are chosen without a join: half of the points have 40 senders.
    for reader in ["duckdb", "pandas", "polars"] {
        assert_eq!(found[reader]["points_of_40"], 4, "{reader}");
        // A setting with a unit is a number; for times it is in us.
        assert_eq!(
            found[reader]["jitter"],
            serde_json::json!([100.0]),
            "{reader}"
        );
    }
}

#[test]
fn exported_tables_have_the_rows_of_the_summary() {
    let workspace = Workspace::new("export");
    workspace.answer(&format!("{SWEEP} --out folder"));
    let summary = workspace.json("folder/summary.json");
    let points = summary["points"].as_array().expect("points");
    let text = workspace.answer("export folder flows");
    workspace.answer("export folder flows -o flows.csv");
    let file = std::fs::read_to_string(workspace.path("flows.csv")).expect("a file");
    assert_eq!(text, file);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().expect("a line of names").clone();
    let column = |name: &str| names.iter().position(|found| found == name).expect(name);
    let (point, fct) = (column("point"), column("fct_us"));
    let mut times: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for record in reader.records() {
        let record = record.expect("a record");
        let number = record[point].parse().expect("a number");
        let time = record[fct].parse().expect("every flow completes");
        times.entry(number).or_default().push(time);
    }
    for (point, times) in points.iter().zip(times.values_mut()) {
        times.sort_by(f64::total_cmp);
        // Nearest rank: the smallest value that 99 % of all do not exceed.
        let rank = (times.len() * 99).div_ceil(100);
        assert_eq!(point["metrics"]["fct_p99_us"], times[rank - 1]);
    }
    assert_eq!(times.len(), points.len());
    for (table, rows) in [("flows", 480), ("ports", 976)] {
        let text = workspace.answer(&format!("export folder {table}"));
        assert_eq!(text.lines().count(), rows + 1, "{table}");
    }
    let refusal = workspace.refusal("export folder flow");
    assert!(refusal.contains("flows, ports, series"), "{refusal}");
}

/// The sum of a metric over all points.
fn sum(points: &[Value], metric: &str) -> u64 {
    let values = points.iter().map(|point| &point["metrics"][metric]);
    values.map(|value| value.as_u64().expect("a count")).sum()
}

/// The output of the script, as JSON.
fn run(mut python: Command, workspace: &Workspace, script: &str) -> Value {
    let script = format!("{}/tests/folders/{script}", env!("CARGO_MANIFEST_DIR"));
    python.arg(script).arg(workspace.path("folder"));
    let output = python.output().expect("Python runs");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Two numbers of senders, two schemes and two seeds. The flows are many enough that the 99th percentile is not always
/// the largest value.
const SWEEP: &str = "run incast --scheme newreno,dctcp --set workload.senders=40,80 \
     --set workload.jitter=100us --seeds 2 --trace queue,events --quiet";
