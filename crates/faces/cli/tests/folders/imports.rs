//! Files of other programs become traces that run.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::workspace::Workspace;

const NFDUMP: &str = "firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n\
    2024-05-01 10:00:00.000,0.010,TCP,10.0.0.2,80,10.0.0.1,4000,20,21040,1\n\
    2024-05-01 10:00:00.002,0.010,TCP,10.0.0.3,80,10.0.0.1,4001,20,21040,1\n\
    2024-05-01 10:00:00.002,0.010,TCP,10.0.0.1,4001,10.0.0.3,80,10,520,1\n\
    2024-05-01 10:00:00.003,0.010,UDP,10.0.0.9,53,10.0.0.1,53,1,80,1\n";

#[test]
fn flow_records_become_a_trace_that_the_printed_command_runs() {
    let workspace = Workspace::new("import-of-records");
    fs::write(workspace.path("monday.csv"), NFDUMP).expect("a file");
    let answer = workspace.answer("import monday.csv");
    for part in [
        "Read 4 records: 2 flows between 3 hosts with 40 KB, the largest 20 KB.",
        "They start at 2024-05-01 10:00:00 UTC and later, within 2 ms",
        "Skipped: 1 of other protocols than TCP.",
        "Skipped: 1 of headers alone, such as acknowledgements.",
    ] {
        assert!(answer.contains(part), "{answer}");
    }
    let next = answer.lines().last().expect("a command").trim();
    let words = next.strip_prefix("tailwater ").expect("a command of ours");
    assert_eq!(words, "run trace --set workload.trace=monday.flows.csv");
    let json = workspace.answer(&format!(
        "{words} --scheme newreno --no-save --format json --quiet --flows"
    ));
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let flows = json["points"][0]["flows"].as_array().expect("flows").iter();
    let starts: Vec<_> = flows
        .map(|flow| flow["start_us"].as_f64().expect("a time"))
        .collect();
    assert_eq!(starts, [10_000.0, 12_000.0]);
    // A file is replaced only if it is named.
    let refusal = workspace.refusal("import monday.csv");
    assert!(
        refusal.contains("monday.flows.csv is there already"),
        "{refusal}"
    );
    workspace.answer("import monday.csv -o monday.flows.csv");
}

#[test]
fn a_capture_of_a_run_gives_its_flows_again() {
    let workspace = Workspace::new("import-of-a-capture");
    let run = "run incast --scheme newreno --set workload.senders=6 --set workload.jitter=1ms --seed 3 --quiet";
    workspace.answer(&format!("{run} --pcap --out folder"));
    let mut captures = fs::read_dir(workspace.path("folder/pcap")).expect("captures");
    let capture = captures
        .next()
        .expect("a capture")
        .expect("its name")
        .path();
    let answer = workspace.answer(&format!("import {} -o flows.parquet", capture.display()));
    assert!(
        answer.contains("6 flows between 7 hosts with 196.61 KB, the largest 32.77 KB"),
        "{answer}"
    );
    let again = "run trace --scheme newreno --set workload.trace=flows.parquet --no-save --format json --quiet --flows";
    let json: Value = serde_json::from_str(&workspace.answer(again)).expect("JSON");
    let flows = json["points"][0]["flows"].as_array().expect("flows").iter();
    let sizes: Vec<_> = flows.map(|flow| flow["size_bytes"].as_u64()).collect();
    assert_eq!(sizes, [Some(32768); 6]);
}

#[test]
fn files_of_other_simulators_are_told_by_their_content() {
    let workspace = Workspace::new("import-of-simulators");
    fs::write(
        workspace.path("a"),
        "2\n2 1 3 100 20000 2\n3 1 3 100 1000000000000 2.001\n",
    )
    .expect("a file");
    fs::write(
        workspace.path("b"),
        "Nodes 4\nConnections 2\n0->3 start 0 size 2000\n1->3 start 0 size 0\n",
    )
    .expect("a file");
    let hpcc = workspace.answer("import a -o a.csv");
    assert!(
        hpcc.contains("Read 2 flows") && hpcc.contains("run.duration"),
        "{hpcc}"
    );
    let text = fs::read_to_string(workspace.path("a.csv")).expect("a trace");
    assert_eq!(text.lines().nth(2), Some("11000.000000,1000000000000,3,1"));
    let htsim = workspace.answer("import b -o b.csv");
    assert!(
        htsim.contains("Skipped: 1 without an end, of size 0."),
        "{htsim}"
    );
    let sized = workspace.answer("import b -o b.csv --size 5MB");
    assert!(
        sized.contains("2 flows between 3 hosts with 5 MB"),
        "{sized}"
    );
}

#[test]
fn what_is_no_such_file_is_told_what_is_read() {
    let workspace = Workspace::new("import-of-nonsense");
    for (name, content) in [
        ("empty", &b""[..]),
        ("text", b"hello\nworld\n"),
        ("one", b"1\n0 1 3 100 5 2\n"),
        ("nfcapd", &[0x0c, 0xa5, 1, 0, 0, 0]),
        ("cut.pcap", &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0]),
        ("few.csv", b"ts,sa,da,pr\n1,2,3,TCP\n"),
    ] {
        fs::write(workspace.path(name), content).expect("a file");
    }
    let says = |words: &str, part: &str| {
        let refusal = workspace.refusal(words);
        let refusal = refusal
            .split_whitespace()
            .filter(|word| *word != "|")
            .collect::<Vec<_>>()
            .join(" ");
        assert!(refusal.contains(part), "{words}: {refusal}");
    };
    says("import empty", "its format is not supported");
    says("import text", "a connection matrix of htsim (.cm)");
    says("import nfcapd", "`nfdump -r FILE -o json > flows.json`");
    says(
        "import cut.pcap",
        "cut.pcap: it ends before the first packet",
    );
    says(
        "import few.csv --from csv",
        "line 1: no column has the size of a flow",
    );
    says("import missing", "missing: it cannot be read");
    says("import one -o flows.txt", "a trace is .csv or .parquet");
}

/// A ring of four ranks, with 6 steps. In each step a rank sends a quarter to its neighbour when it has received the
/// previous one.
const RING: &str = "name = \"ring\"\nschemes = [\"newreno\"]\n[workload]\nkind = \"collective\"\nranks = 4\nsize = \"80KB\"\n";

fn ring_as_matrix() -> String {
    let mut text = "Nodes 4\nConnections 24\nTriggers 24\n".to_owned();
    for number in 0..24 {
        let (step, from) = (number / 4, number % 4);
        // The neighbour's message one step earlier calls the trigger that has its number.
        let start = match step {
            0 => "start 0".to_owned(),
            _ => format!("trigger {}", (step - 1) * 4 + (from + 3) % 4 + 1),
        };
        let (to, id) = ((from + 1) % 4, number + 1);
        writeln!(
            text,
            "{from}->{to} id {id} {start} size 20000 recv_done_trigger {id}"
        )
        .expect("a text");
    }
    for id in 1..=24 {
        writeln!(text, "trigger id {id} oneshot").expect("a text");
    }
    text
}

fn ring_as_goal() -> String {
    let mut text = "num_ranks 4\n".to_owned();
    for rank in 0..4 {
        let (next, before) = ((rank + 1) % 4, (rank + 3) % 4);
        writeln!(text, "rank {rank} {{").expect("a text");
        for step in 0..6 {
            writeln!(text, "s{step}: send 20000b to {next} tag {step}").expect("a text");
            writeln!(text, "r{step}: recv 20000b from {before} tag {step}").expect("a text");
            if step > 0 {
                writeln!(text, "s{step} requires r{}", step - 1).expect("a text");
            }
        }
        text += "}\n";
    }
    text
}

#[test]
fn one_ring_from_the_generator_and_from_files_is_the_same_simulation() {
    let workspace = Workspace::new("import-of-rings");
    for (name, text) in [
        ("ring.toml", RING.to_owned()),
        ("ring.cm", ring_as_matrix()),
        ("ring.goal", ring_as_goal()),
    ] {
        fs::write(workspace.path(name), text).expect("a file");
    }
    let digest = |words: &str| {
        let line = format!("{words} --seed 1 --seeds 1 --no-save --format json --quiet");
        let json: Value = serde_json::from_str(&workspace.answer(&line)).expect("JSON");
        json["points"][0]["digest"]
            .as_str()
            .expect("a digest")
            .to_owned()
    };
    let generated = digest("run ring.toml");
    workspace.answer("run ring.toml --seed 1 --seeds 1 --out ring --quiet");
    let exported = workspace.answer("export ring --as-trace");
    let rows: Vec<&str> = exported.lines().filter(|line| line.contains(',')).collect();
    fs::write(workspace.path("ring.csv"), rows.join("\n") + "\n").expect("a file");
    for file in ["ring.cm", "ring.goal"] {
        let answer = workspace.answer(&format!("import {file} -o {file}.csv"));
        assert!(
            answer.contains("Flows that wait for others: 20."),
            "{answer}"
        );
    }
    for trace in ["ring.csv", "ring.cm.csv", "ring.goal.csv"] {
        let sets = format!("--set workload.kind=trace --set workload.trace={trace}");
        assert_eq!(
            digest(&format!("run ring.toml {sets}")),
            generated,
            "{trace}"
        );
    }
}

#[test]
fn topologies_and_distributions_become_scenarios() {
    let workspace = Workspace::new("import-of-networks");
    let topology = "6 3 5\n4 5 3\n0 4 25000000000.0 1us 0\n1 4 25000000000.0 1us 0\n2 5 25000000000.0 1us 0\n\
                    4 3 100000000000.0 5us 0\n5 3 100000000000.0 5us 0\n";
    for (name, text) in [
        ("racks.txt", topology),
        (
            "tiny.topo",
            "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 1\nTier 1\n\
             Downlink_speed_Gbps 100\nRadix_Down 2\n",
        ),
        ("mix.txt", "0 0\n1000 50\n30000 100\n"),
        ("flows.txt", "2\n0 2 3 100 5000 2\n1 2 3 100 5000 2\n"),
    ] {
        fs::write(workspace.path(name), text).expect("a file");
    }
    workspace.answer("import flows.txt -o flows.csv");
    for (file, says) in [
        ("racks.txt", "HPCC simulator (nodes, switches, links)"),
        ("tiny.topo", "htsim (.topo)"),
    ] {
        let answer = workspace.answer(&format!("import {file} -o net.toml"));
        assert!(
            answer
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(says),
            "{answer}"
        );
        let run = "run net.toml --set workload.kind=trace --set workload.trace=flows.csv --scheme newreno --no-save --format json --quiet";
        let json: Value = serde_json::from_str(&workspace.answer(run)).expect("JSON");
        assert_eq!(json["points"][0]["metrics"]["flows_completed"], 2);
    }
    workspace.answer("import mix.txt");
    let text = fs::read_to_string(workspace.path("mix.toml")).expect("a scenario");
    assert!(
        text.contains("size = \"empirical(1B 0, 1000B 0.5, 30000B 1)\""),
        "{text}"
    );
    workspace.answer(
        "run mix.toml --scheme newreno --seeds 1 --set workload.flows=50 --no-save --quiet",
    );
    let refusal = workspace.refusal("import mix.txt");
    assert!(refusal.contains("mix.toml is there already"), "{refusal}");
}
