//! Merged shards equal the unsharded run.

use std::fs;

use crate::workspace::Workspace;

#[test]
fn two_shards_merged_equal_the_unsharded_run() {
    let workspace = Workspace::new("two_shards");
    workspace.answer(&format!("{SWEEP} --out whole"));
    workspace.answer(&format!("{SWEEP} --shard 1/2 --out one"));
    workspace.answer(&format!("{SWEEP} --shard 2/2 --out two"));
    let merged = workspace.answer("merge one two --out merged");
    workspace.assert_same("merged", "whole");
    let files = workspace.files("merged");
    assert!(files.contains_key("series.parquet"));
    assert!(files.contains_key("pcap/point-000011-bottleneck.pcapng"));
    let table = |text: &str| text.split("Cost: ").next().map(str::to_owned);
    let resumed = workspace.answer(&format!("{SWEEP} --out whole --resume"));
    assert_eq!(table(&merged), table(&resumed), "the same answer");
    // First into the first of them, then once more, as after an interruption.
    workspace.answer("merge one two");
    workspace.assert_same("one", "whole");
    workspace.answer("merge one two");
    workspace.assert_same("one", "whole");
}

#[test]
fn three_shards_may_fill_one_folder_at_a_time() {
    let workspace = Workspace::new("three_shards");
    workspace.answer(&format!("{SWEEP} --out whole"));
    let shards = [1, 2, 3].map(|shard| {
        let mut command = workspace.command(&format!("{SWEEP} --shard {shard}/3 --out shared"));
        command.spawn().expect("the command runs")
    });
    for mut shard in shards {
        assert!(shard.wait().expect("a child").success());
    }
    workspace.answer("merge shared");
    workspace.assert_same("shared", "whole");
}

#[test]
fn an_incomplete_merge_says_what_is_missing_and_loses_nothing() {
    let workspace = Workspace::new("incomplete_merge");
    workspace.answer(&format!("{SWEEP} --out whole"));
    for shard in [1, 2, 3] {
        workspace.answer(&format!("{SWEEP} --shard {shard}/3 --out shard-{shard}"));
    }
    let refusal = workspace.refusal("merge shard-1 shard-3 --out merged");
    assert!(refusal.contains("4 of 12 points are in none"), "{refusal}");
    // Neither the merged folder nor the shards are lost.
    workspace.answer("merge shard-2 --out merged");
    workspace.assert_same("merged", "whole");
    workspace.answer("merge shard-2 shard-1 shard-3");
    workspace.assert_same("shard-2", "whole");
}

#[test]
fn points_that_no_shard_ran_are_run_without_a_shard() {
    let workspace = Workspace::new("rest_of_shards");
    workspace.answer(&format!("{SWEEP} --out whole"));
    workspace.answer(&format!("{SWEEP} --shard 1/2 --out rest"));
    workspace.answer(&format!("{SWEEP} --resume --out rest"));
    workspace.assert_same("rest", "whole");
}

#[test]
fn shards_of_another_scenario_or_version_are_refused() {
    let workspace = Workspace::new("foreign_shards");
    workspace.answer(&format!("{SWEEP} --shard 1/2 --out one"));
    workspace.answer(&format!("{SWEEP} --seed 7 --shard 2/2 --out two"));
    let refusal = workspace.refusal("merge one two --out merged");
    assert!(refusal.contains("another scenario or version"), "{refusal}");
    assert!(refusal.contains("there: seed = 7"), "{refusal}");
    assert!(!workspace.path("merged").exists(), "nothing is begun");

    workspace.answer(&format!("{SWEEP} --shard 2/2 --out three"));
    let scenario = workspace.path("three/scenario.toml");
    let text = fs::read_to_string(&scenario).expect("a scenario");
    let other = text.replacen("# tailwater ", "# tailwater 9.", 1);
    fs::write(&scenario, other).expect("a file for the test");
    let refusal = workspace.refusal("merge one three --out merged");
    assert!(refusal.contains("# tailwater 9."), "{refusal}");

    fs::create_dir(workspace.path("empty")).expect("a folder for the test");
    let refusal = workspace.refusal("merge one empty");
    assert!(refusal.contains("empty is no run folder"), "{refusal}");
}

/// 3 numbers of senders x 2 schemes x 2 seeds.
const SWEEP: &str = "run incast --scheme newreno,dctcp --set workload.senders=4,8,12 \
     --set workload.jitter=100us --seeds 2 --trace queue,events --pcap --quiet";
