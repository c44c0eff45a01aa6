//! Processes that start into one folder at the same time: one wins, and nobody loses anything.

use std::process::{Child, Output, Stdio};

use crate::workspace::Workspace;

#[test]
fn of_several_scenarios_in_one_folder_one_is_run_and_the_others_are_refused() {
    let workspace = Workspace::new("races_of_scenarios");
    for (number, sweep) in SWEEPS.iter().enumerate() {
        workspace.answer(&format!("{sweep} --out expected-{number}"));
    }
    for race in 0..100 {
        let count = if race % 2 == 0 { 2 } else { 4 };
        let resume = if race % 4 < 2 { "" } else { "--resume" };
        let folder = format!("race-{race}");
        let runners = (0..count).map(|number| {
            start(
                &workspace,
                &format!("{} {resume} --out {folder}", SWEEPS[number]),
            )
        });
        let outputs = ends(runners.collect());
        let winners: Vec<usize> = (0..count)
            .filter(|number| succeeded(&outputs[*number]))
            .collect();
        assert_eq!(winners.len(), 1, "{outputs:?}");
        workspace.assert_same(&folder, &format!("expected-{}", winners[0]));
    }
}

#[test]
fn of_several_that_resume_one_sweep_one_ends_it_and_the_others_are_refused() {
    let workspace = Workspace::new("races_of_resumes");
    let sweep = SWEEPS[0];
    workspace.answer(&format!("{sweep} --out expected"));
    workspace.answer(&format!("{sweep} --shard 1/2 --out half"));
    for race in 0..30 {
        workspace.copy("half", "race");
        let runners =
            (0..2 + race % 2).map(|_| start(&workspace, &format!("{sweep} --resume --out race")));
        let outputs = ends(runners.collect());
        // A process that comes when the folder is complete finds it so.
        assert!(outputs.iter().any(succeeded), "{outputs:?}");
        workspace.assert_same("race", "expected");
    }
}

#[test]
fn shards_of_two_scenarios_in_one_folder_are_kept_apart() {
    let workspace = Workspace::new("races_of_shards");
    for (number, sweep) in SWEEPS.iter().enumerate() {
        workspace.answer(&format!("{sweep} --out expected-{number}"));
    }
    for race in 0..20 {
        let folder = format!("race-{race}");
        let runners = [(0, 1), (1, 1), (0, 2), (1, 2)].map(|(sweep, shard)| {
            start(
                &workspace,
                &format!("{} --shard {shard}/2 --out {folder}", SWEEPS[sweep]),
            )
        });
        let outputs = ends(runners.into());
        let won: Vec<bool> = outputs.iter().map(succeeded).collect();
        assert!(
            won == [true, false, true, false] || won == [false, true, false, true],
            "{outputs:?}"
        );
        workspace.answer(&format!("merge {folder} --quiet"));
        workspace.assert_same(&folder, &format!("expected-{}", usize::from(!won[0])));
    }
}

#[test]
fn a_folder_that_somebody_works_in_is_not_read_and_not_cleared() {
    let workspace = Workspace::new("busy_folder");
    workspace.answer(&format!("{} --out folder", SWEEPS[0]));
    let lock = std::fs::File::open(workspace.path("folder/.lock")).expect("a lock");
    lock.lock().expect("nobody else has it");
    for command in ["report folder", "export folder flows", "merge folder"] {
        let refusal = workspace.refusal(command);
        assert!(
            refusal.contains("another process works in folder"),
            "{refusal}"
        );
    }
    lock.unlock().expect("it was ours");
    lock.lock_shared().expect("nobody else has it");
    workspace.answer("report folder");
    let refusal = workspace.refusal(&format!("{} --resume --out folder", SWEEPS[0]));
    assert!(
        refusal.contains("another process works in folder"),
        "{refusal}"
    );
}

fn start(workspace: &Workspace, words: &str) -> Child {
    let mut command = workspace.command(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command runs")
}

fn ends(children: Vec<Child>) -> Vec<Output> {
    let ends = children
        .into_iter()
        .map(|child| child.wait_with_output().expect("a child"));
    ends.collect()
}

/// Whether a command succeeded; otherwise it was refused, and says why.
fn succeeded(output: &Output) -> bool {
    let text = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => true,
        Some(2) => {
            let reasons = ["another process", "is not empty", "another scenario"];
            assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
            false
        }
        _ => panic!("{}: {text}", output.status),
    }
}

/// Four scenarios of six points each.
const SWEEPS: [&str; 4] = [
    "run incast --scheme newreno,dctcp --set workload.senders=2,3,4 --set workload.size=4KB --quiet",
    "run incast --scheme newreno,dctcp --set workload.senders=2,3,5 --set workload.size=4KB --quiet",
    "run incast --scheme newreno,rcc --set workload.senders=2,3,4 --set workload.size=4KB --quiet",
    "run incast --scheme newreno,dctcp --set workload.senders=2,3,4 --set workload.size=5KB --quiet",
];
