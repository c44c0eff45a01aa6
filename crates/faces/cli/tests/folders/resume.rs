//! Runs that `--resume` continues, and folders that it refuses to mix.

use std::fs;

use crate::workspace::Workspace;

#[test]
fn another_scenario_is_refused_with_the_line_that_differs() {
    let workspace = Workspace::new("resume_another");
    workspace.answer(&format!("{SWEEP} --seeds 3 --shard 1/2 --out folder"));
    for (change, line) in [
        ("--set tcp.min_rto=20ms", "here:"),
        ("--seed 7", "here:  seed = 7"),
        ("--trace queue", "here:"),
        ("--pcap", "# captures: bottleneck, 3 seeds"),
    ] {
        let refusal =
            workspace.refusal(&format!("{SWEEP} --seeds 3 {change} --resume --out folder"));
        assert!(refusal.contains("another scenario or version"), "{refusal}");
        assert!(refusal.contains(line), "{refusal}");
    }
    // None of these commands has touched the folder.
    workspace.answer(&format!("{SWEEP} --seeds 3 --out whole"));
    workspace.answer(&format!("{SWEEP} --seeds 3 --resume --out folder"));
    workspace.assert_same("folder", "whole");
}

#[test]
fn a_complete_folder_answers_again_and_keeps_its_files() {
    let workspace = Workspace::new("resume_complete");
    let sweep = format!("{SWEEP} --out folder --seeds");
    let first = workspace.answer(&format!("{sweep} 3"));
    let files = workspace.files("folder");
    let info = workspace.json("folder/run.json");
    assert_eq!(workspace.answer(&format!("{sweep} 3 --resume")), first);
    assert_eq!(workspace.files("folder"), files);
    assert_eq!(workspace.json("folder/run.json"), info);
    let refusal = workspace.refusal(&format!("{sweep} 4 --resume"));
    assert!(refusal.contains("finished run of 3 seeds"), "{refusal}");
}

#[test]
fn a_sweep_that_was_not_complete_may_get_more_seeds() {
    let workspace = Workspace::new("resume_more_seeds");
    workspace.answer(&format!("{SWEEP} --seeds 5 --out whole"));
    workspace.answer(&format!("{SWEEP} --seeds 3 --shard 1/2 --out folder"));
    workspace.answer(&format!("{SWEEP} --seeds 5 --resume --out folder"));
    workspace.assert_same("folder", "whole");
}

#[test]
fn a_folder_with_something_else_in_it_is_refused() {
    let workspace = Workspace::new("foreign_folder");
    fs::create_dir(workspace.path("folder")).expect("a folder for the test");
    fs::write(workspace.path("folder/thesis.tex"), "years of work").expect("a file");
    let refusal = workspace.refusal(&format!("{SWEEP} --seeds 3 --out folder"));
    assert!(refusal.contains("folder is not empty"), "{refusal}");
    let refusal = workspace.refusal(&format!("{SWEEP} --seeds 3 --out folder --resume"));
    assert!(refusal.contains("folder is no run folder"), "{refusal}");
    assert_eq!(
        fs::read_dir(workspace.path("folder"))
            .expect("it is there")
            .count(),
        1
    );
}

#[test]
fn parts_that_are_cut_damaged_or_foreign_are_simulated_again() {
    let workspace = Workspace::new("damaged_parts");
    workspace.answer(&format!("{SWEEP} --seeds 3 --out whole"));
    workspace.answer(&format!("{SWEEP} --seeds 3 --shard 1/1 --out folder"));
    let parts = fs::read_dir(workspace.path("folder/points")).expect("parts");
    let mut parts: Vec<_> = parts.map(|part| part.expect("a part").path()).collect();
    parts.retain(|path| path.extension().is_some_and(|ending| ending == "part"));
    parts.sort();
    assert_eq!(parts.len(), 18);
    let change = |part: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(&parts[part]).expect("a part");
        change(&mut bytes);
        fs::write(&parts[part], bytes).expect("a part");
    };
    change(0, &|bytes| bytes.truncate(bytes.len() / 2));
    change(1, &Vec::clear);
    change(2, &|bytes| bytes[8] ^= 1);
    // As a file system may leave it after a loss of power.
    change(3, &|bytes| bytes[25..].fill(0xff));
    fs::copy(&parts[5], &parts[4]).expect("the part of another point is as long");
    let answer = workspace.answer(&format!("{SWEEP} --seeds 3 --resume --out folder"));
    assert!(answer.contains("(13 of them before)"), "{answer}");
    workspace.assert_same("folder", "whole");
}

/// 3 numbers of senders x 2 schemes.
const SWEEP: &str = "run incast --scheme newreno,dctcp --set workload.senders=4,8,12 \
     --set workload.jitter=100us --set switch.buffer=96KB --quiet";
