//! A point that fails leaves the others whole and is reported with the command that repeats it.

use results::{Access, Store};
use scenario::{Overrides, Scenario, Source};

use crate::workspace::Workspace;

#[test]
fn a_failed_point_is_reported_and_runs_again_with_resume() {
    let workspace = Workspace::new("failed_point");
    workspace.answer(&format!("{SWEEP} --out whole"));
    workspace.answer(&format!("{SWEEP} --shard 1/1 --out folder"));
    // No scenario is known to fail, so the test writes a failure into the shard.
    fail(&workspace, "folder", 7, "bytes went missing");

    let output = workspace.output("merge folder");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{answer}");
    let summary = workspace.json("folder/summary.json");
    let failures = summary["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0]["error"], "bytes went missing");
    let command = failures[0]["reproduce"].as_str().expect("a command");
    let all = answer.into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(all.contains("bytes went missing"), "{all}");
    assert!(all.contains(command), "{all}");

    // The others are those of the whole run.
    let whole = workspace.json("whole/summary.json");
    let points = summary["points"].as_array().expect("points");
    let mut expected = whole["points"].as_array().expect("points").clone();
    let failed = expected.remove(7);
    assert_eq!(*points, expected);
    assert_eq!(failed["point"], failures[0]["point"]);

    // The command simulates exactly this point.
    let words = command.strip_prefix("tailwater ").expect("our command");
    let mut again = workspace.command(&format!("{words} --no-save --format json --quiet"));
    let output = again.current_dir(workspace.path("folder")).output();
    let output = output.expect("the command runs");
    let again: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again["points"].as_array().map(Vec::len), Some(1));
    assert_eq!(again["points"][0]["digest"], failed["digest"]);

    let answer = workspace.answer(&format!("{SWEEP} --resume --out folder"));
    assert!(answer.contains("(7 of them before)"), "{answer}");
    workspace.assert_same("folder", "whole");
}

#[test]
fn a_success_in_one_shard_is_not_replaced_by_a_failure_in_another() {
    let workspace = Workspace::new("failure_and_success");
    workspace.answer(&format!("{SWEEP} --out whole"));
    for folder in ["one", "two"] {
        workspace.answer(&format!("{SWEEP} --shard 1/1 --out {folder}"));
    }
    fail(&workspace, "one", 0, "a full disk");
    fail(&workspace, "two", 2, "a full disk");
    workspace.answer("merge one two --out merged");
    workspace.assert_same("merged", "whole");
}

/// Turns a point of a folder into a failed one.
fn fail(workspace: &Workspace, folder: &str, point: usize, error: &str) {
    let folder = workspace.path(folder);
    let file = folder.join("scenario.toml");
    let source = Source::find(&file.to_string_lossy()).expect("a file");
    let scenario = Scenario::load(source, &Overrides::default()).expect("a scenario");
    let store = Store::open(&folder, &scenario, None, Access::Shard).expect("a folder of it");
    let failed = Err(error.to_owned());
    let kept = store.keep(&scenario.points()[point], &scenario, &failed);
    kept.expect("room on disk");
}

/// 2 numbers of senders x 2 schemes x 2 seeds.
const SWEEP: &str = "run incast --scheme newreno,dctcp --set workload.senders=8,12 \
     --set workload.jitter=100us --seeds 2 --quiet";
