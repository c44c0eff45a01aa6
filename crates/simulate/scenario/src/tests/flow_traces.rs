use plan::flow_trace::BUILTINS;

use crate::{Overrides, Problems, Scenario, Source};

#[test]
fn traces_of_the_program_are_correct() {
    for builtin in BUILTINS {
        let trace = builtin.trace();
        assert!(trace.flows().len() > 100);
        assert!(builtin.help.starts_with(&trace.flows().len().to_string()));
    }
}

/// A folder with files, as CSV.
fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("tailwater-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

fn load(folder: &std::path::Path, workload: &str, sets: &[&str]) -> Result<Scenario, Problems> {
    let text = format!("schemes = \"newreno\"\n[workload]\nkind = \"trace\"\n{workload}");
    let name = folder.join("mine.toml").to_string_lossy().into_owned();
    let overrides = Overrides {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    Scenario::load(Source::new(name, text), &overrides)
}

fn starts(scenario: &Scenario) -> Vec<u64> {
    let trace = scenario.points()[0].groups[0].keys.workload.trace.content();
    let flows = trace.flows().iter();
    flows.map(|flow| flow.start.as_ps() / 1_000_000).collect()
}

#[test]
fn a_law_of_receivers_is_refused_where_they_open_connections() {
    let rows = "start_us,size_bytes,sender,receiver,request_bytes\n10000,1000,1,0,100\n";
    let folder = folder("asked", &[("flows.csv", rows)]);
    let trace = "trace = \"flows.csv\"\n";
    assert!(load(&folder, trace, &[]).is_ok());
    let text = format!("schemes = \"rcc\"\n[workload]\nkind = \"trace\"\n{trace}");
    let name = folder.join("mine.toml").to_string_lossy().into_owned();
    let refused = Scenario::load(Source::new(name, text), &Overrides::default()).err();
    let told = format!("{refused:?}");
    assert!(told.contains("here the receivers open them"), "{told}");
    std::fs::remove_dir_all(folder).unwrap();
}

const COLLECTED: &str =
    "ts,bytes,src,dst\n1700000000.5,1000,10.0.0.1,10.0.0.2\n1700007200,5000,10.0.0.3,10.0.0.2\n";

#[test]
fn columns_are_a_table_or_a_text() {
    let folder = folder("columns", &[("flows.csv", COLLECTED)]);
    let table = "trace = \"flows.csv\"\n[workload.columns]\nstart = \"ts in s\"\nsize = \"bytes\"\nsender = \"src\"\n\
                 receiver = \"dst\"\n";
    let from_table = load(&folder, table, &[]).unwrap();
    assert_eq!(starts(&from_table), [10_000, 7_199_510_000]);
    let set = "workload.columns=start=ts in s+size=bytes+sender=src+receiver=dst";
    let from_text = load(&folder, "trace = \"flows.csv\"\n", &[set]).unwrap();
    assert_eq!(starts(&from_text), starts(&from_table));
    let one = load(&folder, table, &["workload.columns.size=octets"])
        .err()
        .unwrap();
    let remedy = one.0[0].remedy().unwrap();
    assert!(
        remedy.contains("as in workload.columns=\"size=NAME\""),
        "{remedy}"
    );
    // The written scenario reads back, and lists the hosts' names.
    let resolved = from_table.resolved();
    assert!(resolved.contains("host 2 is 10.0.0.3"), "{resolved}");
    let again = Source::new(folder.join("again.toml").to_string_lossy(), resolved);
    assert_eq!(
        starts(&Scenario::load(again, &Overrides::default()).unwrap()),
        starts(&from_table)
    );
    assert_eq!(from_table.notes().len(), 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_window_and_shorter_gaps_are_settings_that_can_be_swept() {
    let folder = folder("windows", &[("flows.csv", COLLECTED)]);
    let columns =
        "trace = \"flows.csv\"\ncolumns = \"start=ts in s+size=bytes+sender=src+receiver=dst\"\n";
    let part = load(
        &folder,
        columns,
        &["workload.window=1h..", "workload.start=2ms"],
    )
    .unwrap();
    assert_eq!(starts(&part), [3_599_502_000]);
    let short = load(&folder, columns, &["workload.max_gap=1s,2s"]).unwrap();
    assert_eq!(short.points().len(), 2);
    assert_eq!(starts(&short), [10_000, 1_010_000]);
    let wrong = load(&folder, columns, &["workload.window=3h.."])
        .err()
        .unwrap();
    assert!(
        wrong.0[0]
            .to_string()
            .contains("no flow starts in workload.window"),
        "{}",
        wrong.0[0]
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_argument_replaces_the_trace_of_the_file_before_that_is_read() {
    let good = "start_us,size_bytes,sender,receiver\n7,1,0,1\n";
    let folder = folder("replaced", &[("good.csv", good), ("bad.csv", "nonsense\n")]);
    let good = format!(
        "workload.trace={}",
        folder.join("good.csv").to_string_lossy()
    );
    for own in ["bad.csv", "missing.csv"] {
        let own = format!("trace = \"{own}\"\n");
        assert_eq!(starts(&load(&folder, &own, &[&good]).unwrap()), [7]);
        let refused = load(&folder, &own, &[]).err().unwrap();
        assert!(
            refused.0[0]
                .to_string()
                .starts_with("wrong value for workload.trace"),
            "{}",
            refused.0[0]
        );
        // The error points at the value.
        assert!(refused.0[0].spot().is_some());
    }
    // An unused trace is not read.
    let unused = load(
        &folder,
        "trace = \"missing.csv\"\n",
        &["workload.kind=incast"],
    );
    assert!(unused.is_ok());
    std::fs::remove_dir_all(folder).unwrap();
}
