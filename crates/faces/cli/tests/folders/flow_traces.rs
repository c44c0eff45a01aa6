//! A trace that is written from a run reproduces the result of that run.

use std::fs;

use serde_json::Value;

use crate::workspace::Workspace;

/// 2,000 flows at random times between 20 hosts.
const POISSON: &str = "--scheme dctcp --seed 7 --set topology.hosts=20 --set workload.kind=poisson \
     --set workload.senders=1 --set workload.flows=2000 --set workload.size=pareto(20KB,1.2,500KB) --trace off";

#[test]
fn the_trace_of_2000_flows_gives_the_result_of_the_plan_that_wrote_it() {
    let workspace = Workspace::new("trace-of-a-plan");
    let plan = run(&workspace, &format!("incast {POISSON} --out plan"));
    workspace.answer("export plan --as-trace -o flows.csv");
    let text = fs::read_to_string(workspace.path("flows.csv")).expect("a trace");
    assert_eq!(text.lines().count(), 2001);
    assert!(text.starts_with("start_us,size_bytes,sender,receiver\n"));
    let again = "incast --scheme dctcp --seed 7 --set workload.senders=1 --set topology.hosts=20 --set workload.kind=trace \
                 --trace off --set workload.trace=";
    // A table of flows has the columns of a trace, and more.
    for trace in ["flows.csv", "plan/flows.parquet"] {
        let traced = run(&workspace, &format!("{again}{trace} --no-save"));
        assert_eq!(traced["digest"], plan["digest"], "{trace}");
        for metric in ["fct_p99_us", "fct_mean_us", "drops", "timeouts"] {
            assert_eq!(
                traced["metrics"][metric], plan["metrics"][metric],
                "{trace}"
            );
        }
    }
}

#[test]
fn connections_and_groups_come_back_from_a_trace() {
    let workspace = Workspace::new("trace-of-groups");
    let scenario = "schemes = \"newreno\"\n[topology]\nhosts = 8\n[workload]\nconnection = \"persistent\"\n\
        [group.a.workload]\nkind = \"poisson\"\nflows = 60\nsize = \"20KB\"\n\
        [group.b.workload]\nkind = \"poisson\"\nflows = 40\nsize = \"2KB\"\n";
    fs::write(workspace.path("plan.toml"), scenario).expect("a file");
    let plan = run(&workspace, "plan.toml --out plan");
    workspace.answer("export plan --as-trace -o flows.csv");
    let text = fs::read_to_string(workspace.path("flows.csv")).expect("a trace");
    assert!(text.starts_with("start_us,open_us,size_bytes,sender,receiver,connection,group\n"));
    let traced = "schemes = \"newreno\"\n[topology]\nhosts = 8\n[workload]\nconnection = \"persistent\"\n\
        kind = \"trace\"\ntrace = \"flows.csv\"\n[group.a]\n[group.b]\n";
    fs::write(workspace.path("traced.toml"), traced).expect("a file");
    let again = run(&workspace, "traced.toml --no-save");
    assert_eq!(again["digest"], plan["digest"]);
    assert_eq!(again["groups"], plan["groups"]);
}

#[test]
fn the_command_that_an_export_prints_gives_the_run_again() {
    let workspace = Workspace::new("trace-that-is-the-run");
    for (folder, plan) in (0..).zip([
        "incast --scheme dctcp,newreno --set workload.senders=3,4 --set topology.kind=dumbbell \
         --set workload.connection=persistent --set workload.receivers=2",
        "incast --scheme newreno,dctcp --set workload.senders=3,4 --set topology.kind=dumbbell \
         --set workload.kind=pairs --set workload.epochs=2 --set workload.epoch_interval=5ms",
    ]) {
        workspace.answer(&format!("run {plan} --out {folder}"));
        let summary = workspace.json(&format!("{folder}/summary.json"));
        for point in [0, 3] {
            let export = format!("export {folder} --as-trace --point {point} -o flows.csv");
            let output = workspace.output(&export);
            let told = String::from_utf8_lossy(&output.stderr);
            let command = told.split_once("again: tailwater ").expect("a command").1;
            let again = workspace.answer(&format!("{command} --no-save --format json --quiet"));
            let again: Value = serde_json::from_str(&again).expect("JSON");
            let digest = &summary["points"][point]["digest"];
            assert_eq!(again["points"][0]["digest"], *digest, "{plan}: {command}");
        }
    }
}

#[test]
fn a_trace_that_is_not_the_run_is_asked_for() {
    let workspace = Workspace::new("trace-that-is-not-the-run");
    workspace.answer("run incast --scheme newreno --set workload.rounds=2 --out plan");
    let refusal = workspace.refusal("export plan --as-trace");
    assert!(refusal.contains("only flows wait for flows"), "{refusal}");
    assert!(refusal.contains("--inexact"), "{refusal}");
    let text = workspace.answer("export plan --as-trace --inexact");
    assert_eq!(text.lines().count(), 21);
}

#[test]
fn a_replay_has_the_times_of_rounds() {
    let workspace = Workspace::new("trace-of-rounds");
    let plan = "incast --scheme newreno --set workload.senders=6 --set workload.receivers=2 --trace off --out plan";
    let plan = run(&workspace, plan);
    let telling = [
        "round_p50_us",
        "round_p99_us",
        "round_max_us",
        "rounds_completed",
    ];
    let rounds = |run: &Value| telling.map(|metric| run["metrics"][metric].clone());
    assert_eq!(plan["metrics"]["rounds_completed"], 2);
    let output = workspace.output("export plan --as-trace -o flows.csv");
    let told = String::from_utf8_lossy(&output.stderr);
    let command = told
        .split_once("again: tailwater run ")
        .expect("a command")
        .1;
    let again = run(
        &workspace,
        &format!("{command} --no-save --goal round_p99<1s"),
    );
    assert_eq!(rounds(&again), rounds(&plan));
    // In a trace, rounds that wait for each other start at the times at which they did in the run.
    workspace.answer("run incast --scheme newreno --set workload.rounds=3 --set workload.senders=4 --out waiting");
    workspace.answer("export waiting --as-trace --inexact -o flows.csv");
    let waiting = workspace.json("waiting/summary.json");
    let again = run(
        &workspace,
        "trace --scheme newreno --no-save --set workload.trace=flows.csv",
    );
    let rounds = |run: &Value| run["metrics"]["rounds_completed"].clone();
    assert_eq!(rounds(&again), rounds(&waiting["points"][0]));
}

#[test]
fn a_connection_opens_when_its_trace_says() {
    let workspace = Workspace::new("trace-of-openings");
    let fct = |name: &str, text: &str| {
        fs::write(workspace.path(name), text).expect("a file");
        let words = format!(
            "incast --scheme newreno --no-save --set workload.kind=trace --set workload.trace={name}"
        );
        let run = run(&workspace, &words);
        run["metrics"]["fct_mean_us"].as_f64().expect("a time")
    };
    let without = fct(
        "without.csv",
        "start_us,size_bytes,sender,receiver\n9000,1000,1,0\n",
    );
    let early = fct(
        "early.csv",
        "start_us,open_us,size_bytes,sender,receiver\n9000,8000,1000,1,0\n",
    );
    let at_once = fct(
        "at-once.csv",
        "start_us,open_us,size_bytes,sender,receiver\n9000,9000,1000,1,0\n",
    );
    assert_eq!(without.to_bits(), at_once.to_bits());
    // A SYN and its answer cross two links of 5 us and more each.
    assert!(early + 20.0 < without, "{early} and {without}");
}

#[test]
fn a_malformed_line_is_named_by_file_and_line() {
    let workspace = Workspace::new("trace-with-a-mistake");
    let text = "start_us,size_bytes,sender,receiver\n10,1000,1,0\n20,1 KB,2,0\n";
    fs::write(workspace.path("flows.csv"), text).expect("a file");
    let run = "run trace --no-save --set workload.trace=flows.csv";
    let refusal = workspace.refusal(run);
    assert!(
        refusal.contains("flows.csv, line 3: size_bytes is a whole number above 0"),
        "{refusal}"
    );
    fs::write(workspace.path("flows.csv"), text.replace("1 KB", "1000")).expect("a file");
    let refusal = workspace.refusal(&format!("{run} --set topology.hosts=2"));
    assert!(
        refusal.contains("the trace names host 2, and the network has 2 hosts"),
        "{refusal}"
    );
    let refusal = workspace.refusal(&format!("{run} --set run.duration=5us"));
    assert!(
        refusal.contains("before the first flow of the trace"),
        "{refusal}"
    );
    let refusal = workspace.refusal("run trace --no-save --set workload.trace=other.csv");
    assert!(
        refusal.contains("other.csv: there is no such file"),
        "{refusal}"
    );
}

#[test]
fn another_content_of_a_trace_is_another_scenario() {
    let workspace = Workspace::new("trace-that-changes");
    let trace = |size: u32| {
        let text = format!("start_us,size_bytes,sender,receiver\n10,{size},1,0\n");
        fs::write(workspace.path("flows.csv"), text).expect("a file");
    };
    trace(1000);
    let run = "run trace --scheme newreno --set workload.trace=flows.csv --out folder";
    workspace.answer(run);
    trace(2000);
    let refusal = workspace.refusal(&format!("{run} --resume"));
    assert!(refusal.contains("results of another scenario"), "{refusal}");
}

#[test]
fn flows_without_end_and_points_that_are_not_there_make_no_trace() {
    let workspace = Workspace::new("trace-of-endless-flows");
    workspace.answer("run long-flows --scheme newreno --set run.duration=20ms --out folder");
    let refusal = workspace.refusal("export folder --as-trace");
    assert!(
        refusal.contains("flows without end have no size"),
        "{refusal}"
    );
    let refusal = workspace.refusal("export folder --as-trace --point 3");
    assert!(refusal.contains("numbered from 0 to 0"), "{refusal}");
}

#[test]
fn records_of_a_collector_run_as_they_are_and_the_output_says_what_was_done() {
    let workspace = Workspace::new("trace-of-a-collector");
    // Two hours of idle time lie between two flows.
    let text = "ts;bytes;src;dst\n1700000000.25;100000;10.0.0.7;10.0.0.1\n1700007200;2.0e5;10.0.0.8;10.0.0.1\n";
    fs::write(workspace.path("flows.csv"), text).expect("a file");
    let scenario = "schemes = \"newreno\"\n[workload]\nkind = \"trace\"\ntrace = \"flows.csv\"\nmax_gap = \"1s\"\n\
        [workload.columns]\nstart = \"ts in s\"\nsize = \"bytes\"\nsender = \"src\"\nreceiver = \"dst\"\n";
    fs::write(workspace.path("mine.toml"), scenario).expect("a file");
    let notes = [
        "flows.csv: 3 hosts have names and are numbered in the order of their first appearance: 10.0.0.7 is host 0, \
         10.0.0.8 host 2",
        "flows.csv: the first flow starts at 2023-11-14 22:13:20 UTC, which is put at 10ms of the simulation",
        "flows.csv: 1 time of more than 1 s without a start is shortened to that, by 2 h together",
    ];
    let json = workspace.answer("run mine.toml --no-save --format json --flows --quiet");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["notes"], serde_json::json!(notes));
    let flows = json["points"][0]["flows"].as_array();
    assert_eq!(flows.map(Vec::len), Some(2));
    let table = workspace.answer("run mine.toml --out folder --quiet");
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let summary = workspace.json("folder/summary.json");
    let page = fs::read_to_string(workspace.path("folder/report.html")).expect("a report");
    for note in notes {
        assert!(table.contains(note), "{table}");
        assert!(page.contains(note), "{note}");
    }
    assert_eq!(summary["notes"], serde_json::json!(notes));
}

#[test]
fn a_flow_after_199_days_is_the_flow_of_the_first_day() {
    let workspace = Workspace::new("trace-of-half-a-year");
    // 199 days in microseconds; the clock of the simulation ends after 213.
    let text = "start_us,size_bytes,sender,receiver\n10000,300000,1,0\n17193600010000,300000,1,0\n";
    fs::write(workspace.path("flows.csv"), text).expect("a file");
    for scheme in ["newreno", "rcc", "hscc"] {
        let words = format!(
            "run trace --scheme {scheme} --no-save --set workload.trace=flows.csv --set link.jitter=0s --format json --quiet --flows"
        );
        let json: Value = serde_json::from_str(&workspace.answer(&words)).expect("JSON");
        let flows = json["points"][0]["flows"].as_array().expect("flows").iter();
        let times: Vec<f64> = flows
            .map(|flow| flow["fct_us"].as_f64().expect("a time"))
            .collect();
        let [first, last] = times[..] else {
            panic!("two flows")
        };
        // Results have real numbers: 17 digits of the time of day.
        assert!((first - last).abs() < 0.01, "{scheme}: {first} and {last}");
    }
    let later = text.replace("17193600010000", "17300000000000");
    fs::write(workspace.path("later.csv"), later).expect("a file");
    let refusal = workspace.refusal("run trace --no-save --set workload.trace=later.csv");
    let refusal = refusal
        .split_whitespace()
        .filter(|word| *word != "|")
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        refusal.contains("beyond the limit of 200 days"),
        "{refusal}"
    );
}

/// The only point of a run, as JSON.
fn run(workspace: &Workspace, words: &str) -> Value {
    let text = workspace.answer(&format!("run {words} --format json --quiet"));
    let mut answer: Value = serde_json::from_str(&text).expect("JSON");
    answer["points"][0].take()
}
