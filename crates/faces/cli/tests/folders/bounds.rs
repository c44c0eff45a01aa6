//! Work and files that exceed a run's limits, and that a run without files leaves nothing behind.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::workspace::Workspace;

#[test]
fn values_that_never_finish_are_refused_with_the_key_that_has_them() {
    let workspace = Workspace::new("endless");
    for (scheme, sets, key) in [
        ("rwndq", "rwndq.interval=3ps", "rwndq.interval = 3ps"),
        ("rcc", "link.rate=1bps", "rcc.min_rto = 10ms"),
        (
            "newreno",
            "workload.rounds=4294967295 --set workload.connection=persistent",
            "workload.rounds = 4294967295",
        ),
        (
            "newreno",
            "workload.size=4000000000GB",
            "workload.size = 4000000000GB",
        ),
        ("newreno", "trace.interval=1ps", "trace.interval = 1ps"),
    ] {
        let words =
            format!("run incast --scheme {scheme} --set {sets} --out folder --disk 1000000GB");
        let refusal = workspace.refusal(&words);
        let text = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("change {key}")), "{words}: {text}");
        assert!(text.contains("--work STEPS"), "{words}: {text}");
        assert!(!workspace.path("folder").exists(), "{words}");
    }
}

#[test]
fn more_work_is_allowed_by_a_flag_and_less_work_too() {
    let workspace = Workspace::new("allowed");
    let run = "run incast --scheme rwndq --set rwndq.interval=100ns --no-save --quiet";
    workspace.answer(run);
    let refusal = workspace.refusal(&format!("{run} --work 1e6"));
    assert!(refusal.contains("rwndq.interval = 100ns"), "{refusal}");
}

#[test]
fn a_simulation_that_takes_more_steps_than_expected_is_ended() {
    let workspace = Workspace::new("longer");
    // Nine of ten packets are lost, so each is sent many times.
    let run = "run incast --scheme newreno --set bottleneck.loss=0.9 --no-save --quiet --set tcp.retries=1000";
    let output = workspace.output(&format!("{run} --set workload.size=1MB --work 1.5e6"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("ended after 1500000 steps"), "{text}");
}

#[test]
fn series_that_do_not_fit_on_the_disk_are_refused() {
    let workspace = Workspace::new("series");
    let run = "run incast --scheme newreno --set trace.interval=1us --out folder";
    let refusal = workspace.refusal(&format!("{run} --disk 1MB"));
    let text = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("series would take about"), "{text}");
    assert!(text.contains("trace.interval = 1us"), "{text}");
    workspace.answer(&format!("{run} --disk 10GB"));
}

#[test]
fn without_files_nothing_is_written_even_if_the_process_is_killed() {
    let workspace = Workspace::new("no_files");
    let temporary = workspace.path("temporary");
    fs::create_dir_all(&temporary).expect("a folder");
    let run = "run incast --no-save --quiet --set trace.interval=1ns --trace queue,cwnd";
    let empty = || fs::read_dir(&temporary).expect("a folder").count() == 0;
    let spawn = |words: &str| {
        let mut command = workspace.command(words);
        command.env("TMPDIR", &temporary).stdout(Stdio::null());
        command.spawn().expect("the command runs")
    };
    assert!(spawn(run).wait().expect("a child").success());
    assert!(empty());
    let mut killed = spawn(&format!("{run} --set workload.size=100GB --work 1e15"));
    sleep(Duration::from_millis(300));
    assert!(empty());
    killed.kill().expect("a child that was not waited for");
    killed.wait().expect("a child");
    assert!(empty());
    let entries = fs::read_dir(workspace.path(".")).expect("a folder");
    assert_eq!(entries.count(), 1, "only the temporary folder is there");
}

#[test]
fn flows_are_printed_without_files_as_with_them() {
    let workspace = Workspace::new("flows_without_files");
    let run = "run incast --set workload.senders=4 --format json --flows --quiet";
    let flows = |words: &str| {
        let answer = workspace.answer(words);
        let value: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        let points = value["points"].as_array().expect("points").iter();
        points
            .map(|point| point["flows"].clone())
            .collect::<Vec<_>>()
    };
    let without = flows(&format!("{run} --no-save"));
    assert_eq!(without[0].as_array().map(Vec::len), Some(4));
    assert_eq!(without, flows(&format!("{run} --out folder")));
    assert_eq!(without, flows(&format!("{run} --out folder --resume")));
}

#[test]
fn a_shard_answers_in_the_format_asked_for() {
    let workspace = Workspace::new("shard_formats");
    let run = "run incast --set workload.senders=4,8 --shard 1/2 --out folder --quiet";
    let answer = workspace.answer(&format!("{run} --format json"));
    let value: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(
        (&value["points"], &value["finished"]),
        (&6.into(), &3.into())
    );
    let answer = workspace.answer(&format!("{run} --format csv"));
    assert_eq!(answer, "points,finished\n6,3\n");
}

#[test]
fn random_arrivals_that_bring_no_flow_are_an_error() {
    let workspace = Workspace::new("no_flow");
    let run = "run incast --no-save --scheme newreno --set workload.kind=poisson";
    let refusal = workspace.refusal(&format!("{run} --set workload.load=1e-300"));
    assert!(refusal.contains("no flow ever arrives"), "{refusal}");
    // A tenth of a flow is expected, and these seeds bring none.
    let rare = "--set workload.load=0.0001 --set workload.duration=100us --seeds 3";
    let output = workspace.output(&format!("{run} {rare}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("no flow starts before the simulation ends"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_no_scenario() {
    let refusal = Workspace::new("endless_file").refusal("run /dev/zero");
    assert!(refusal.contains("too many for a scenario"), "{refusal}");
}
