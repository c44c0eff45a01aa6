//! Times of rounds: in the answer, and equal in every file and format, and in a query over flows.

use std::collections::BTreeMap;

use crate::workspace::Workspace;

/// One lost packet of 3,000 costs a timer of 50 ms. One round of twenty waits for it, and one flow of 240.
const SCENARIO: &str = r#"
name = "reads"
schemes = ["dctcp"]
goals = ["fct_p99 < 6ms"]

[switch]
buffer = "4MB"
loss = 0.0002

[tcp]
min_rto = "50ms"

[workload]
kind = "incast"
size = "20KB"
senders = [8, 12]
rounds = 20
jitter = "20us"
"#;

const RUN: &str = "run reads.toml --quiet --seed 3 --seeds 1";

fn workspace(name: &str) -> Workspace {
    let workspace = Workspace::new(name);
    std::fs::write(workspace.path("reads.toml"), SCENARIO).expect("the scenario is written");
    workspace
}

/// The value of a column in every line of a CSV text.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = header.iter().position(|column| *column == name);
    let place = place.unwrap_or_else(|| panic!("no column {name}"));
    lines
        .map(|line| line[place].parse().unwrap_or(f64::NAN))
        .collect()
}

#[test]
fn times_of_rounds_are_those_that_a_query_over_flows_finds() {
    let workspace = workspace("rounds-query");
    let table = workspace.answer(&format!("{RUN} --out run"));
    workspace.answer("export run flows -o flows.csv");
    let flows = std::fs::read_to_string(workspace.path("flows.csv")).expect("the flows");
    let [points, rounds, starts, ends] =
        ["point", "round", "start_us", "completion_us"].map(|name| column(&flows, name));
    let mut took: BTreeMap<(u64, u64), (f64, f64)> = BTreeMap::new();
    for row in 0..points.len() {
        // Whole numbers, by their bits.
        let key = (points[row].to_bits(), rounds[row].to_bits());
        let (start, end) = took.entry(key).or_insert((f64::INFINITY, 0.0));
        (*start, *end) = (start.min(starts[row]), end.max(ends[row]));
    }
    let csv = workspace.answer(&format!("{RUN} --no-save --format csv"));
    let [most, tail] = ["round_max_us", "round_p99_us"].map(|name| column(&csv, name));
    let summary = workspace.json("run/summary.json");
    for (point, number) in [0.0_f64, 1.0].into_iter().enumerate() {
        let own = took.iter().filter(|((of, _), _)| *of == number.to_bits());
        let own: Vec<f64> = own.map(|(_, (start, end))| end - start).collect();
        assert_eq!(own.len(), 20);
        let slowest = own.iter().copied().fold(0.0, f64::max);
        assert!((most[point] - slowest).abs() < 1e-3, "{most:?} {slowest}");
        assert!((tail[point] - slowest).abs() < 1e-3);
        let row = &summary["rows"][point]["metrics"]["round_p99_us"]["mean"];
        assert!((row.as_f64().expect("a time") - slowest).abs() < 1e-3);
    }
    assert!(table.contains("round"), "{table}");
    let said = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(
            "A round waits for its slowest flow: 1 of the 2 rows that meet fct_p99 < 6ms misses \
             round_p99 < 6ms. At 12 senders the 99th percentile is 2.2 ms for flows of dctcp, and \
             52.1 ms for its 20 rounds."
        ),
        "{table}"
    );
}

#[test]
fn a_search_by_rounds_ends_where_one_by_flows_goes_on() {
    let workspace = workspace("rounds-search");
    let search = format!("{RUN} --no-save --search workload.senders=8..12 --format json");
    let met = |goal: &str| {
        let text = workspace.answer(&format!("{search} --goal {goal}"));
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let rows = value["goals"]["rows"].as_array().expect("verdicts").clone();
        let at_most = rows.iter().zip(value["rows"].as_array().expect("rows"));
        let at_most = at_most.filter(|(judged, _)| judged["standing"] == "met");
        let senders = at_most.map(|(_, row)| {
            let senders = row["set"][0][1].as_str().expect("a value");
            senders.parse::<u32>().expect("a number")
        });
        senders.max().expect("a row that meets the goal")
    };
    assert_eq!(met("fct_p99<6ms"), 12);
    assert!(met("round_p99<6ms") < 12);
}

#[test]
fn a_chosen_column_of_rounds_has_its_header_and_its_unit() {
    let workspace = workspace("rounds-columns");
    let columns = "--columns p99,p999,round_p99,rounds_unfinished,slowdown_p99";
    let table = workspace.answer(&format!("{RUN} --no-save {columns}"));
    for word in ["round", "p999", "slowdown", "unfinished"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    // 160 flows are too few for the percentile.
    let row = table
        .lines()
        .find(|line| line.trim_start().starts_with("8 "));
    assert!(row.expect("a row").contains(" - "), "{table}");
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
}
