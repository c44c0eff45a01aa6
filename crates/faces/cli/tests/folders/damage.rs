//! A run folder in which a bit has flipped is refused, or the bit does not matter.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::workspace::{Random, Workspace};

#[test]
fn a_flipped_bit_in_a_complete_folder_is_refused_or_does_not_matter() {
    let workspace = Workspace::new("flipped_complete");
    workspace.answer(&format!("{SWEEP} --out folder"));
    let commands = [
        "report folder -o page.html".to_owned(),
        "merge folder --quiet".to_owned(),
        "export folder flows -o flows.csv".to_owned(),
        "export folder series -o series.csv".to_owned(),
        "plot folder --figure fct-mean -o figure.svg".to_owned(),
        format!("{SWEEP} --resume --out folder"),
    ];
    let products = ["page.html", "flows.csv", "series.csv", "figure.svg"];
    let products = || products.map(|name| fs::read(workspace.path(name)).ok());
    for command in &commands {
        workspace.answer(command);
    }
    let (whole, expected) = (workspace.all_files("folder"), products());
    let mut refused = BTreeMap::new();
    let mut random = Random(7);
    for (name, bytes) in whole.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        for _ in 0..4 {
            let bit = random.below(bytes.len() * 8);
            for command in &commands {
                flip(&workspace.path("folder").join(name), bytes, bit);
                let output = workspace.output(command);
                let text = String::from_utf8_lossy(&output.stderr);
                let case = format!("{command} with bit {bit} of {name}: {text}");
                match output.status.code() {
                    Some(2) => {
                        let text = text.split_whitespace().collect::<String>();
                        assert!(text.contains(name) && text.contains("help:"), "{case}");
                        assert!(!text.contains("cannotwrite"), "{case}");
                        *refused.entry(name).or_insert(0) += 1;
                    }
                    code => assert_eq!(code, Some(0), "{case}"),
                }
                assert!(!text.contains("internal error"), "{case}");
                assert_eq!(products(), expected, "{case}");
                fs::write(workspace.path("folder").join(name), bytes).expect("a file");
                assert_eq!(workspace.all_files("folder"), whole, "{case}");
            }
        }
    }
    // Every command reads the files that describe the run; a resumed run reads all.
    for name in ["summary.json", "run.json", "scenario.toml"] {
        assert_eq!(refused[&name.to_owned()], 4 * 6, "{name}");
    }
    assert_eq!(
        refused[&"pcap/point-000000-bottleneck.pcapng".to_owned()],
        4 * 3
    );
    assert!(!refused.contains_key(&"report.html".to_owned()));
}

#[test]
fn a_flipped_bit_in_a_shard_is_simulated_again_or_refused() {
    let workspace = Workspace::new("flipped_shard");
    workspace.answer(&format!("{SWEEP} --out whole"));
    workspace.answer(&format!("{SWEEP} --shard 1/1 --out shard"));
    let shard = workspace.all_files("shard");
    let mut random = Random(11);
    let (mut again, mut refused) = (0, 0);
    for (name, bytes) in shard.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        for _ in 0..2 {
            let bit = random.below(bytes.len() * 8);
            for command in [
                "merge folder --quiet",
                &format!("{SWEEP} --resume --out folder"),
            ] {
                workspace.copy("shard", "folder");
                flip(&workspace.path("folder").join(name), bytes, bit);
                let output = workspace.output(command);
                let text = String::from_utf8_lossy(&output.stderr);
                let case = format!("{command} with bit {bit} of {name}: {text}");
                assert!(!text.contains("internal error"), "{case}");
                if output.status.code() == Some(0) {
                    workspace.assert_same("folder", "whole");
                    again += 1;
                } else {
                    assert_eq!(output.status.code(), Some(2), "{case}");
                    assert!(
                        text.contains("damaged") || text.contains("there: "),
                        "{case}"
                    );
                    refused += 1;
                }
            }
        }
    }
    assert!(again > 20 && refused > 20, "{again} {refused}");
}

fn flip(path: &Path, whole: &[u8], bit: usize) {
    let mut bytes = whole.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    fs::write(path, bytes).expect("a file of the test");
}

/// 2 numbers of senders x 2 schemes.
const SWEEP: &str = "run incast --scheme newreno,dctcp --set workload.senders=2,3 \
     --set workload.size=4KB --seeds 1 --trace queue,events --pcap --quiet";
