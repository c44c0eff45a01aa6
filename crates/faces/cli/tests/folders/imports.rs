//! Files of other programs become traces that run.

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
    // Nothing is replaced unless it is named.
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
    says("import empty", "it is none of the files that are read");
    says("import text", "a connection matrix of htsim (.cm)");
    says("import nfcapd", "`nfdump -r FILE -o json > flows.json`");
    says("import cut.pcap", "cut.pcap: it is damaged");
    says(
        "import few.csv --from csv",
        "line 1: no column tells the size of a flow",
    );
    says("import missing", "missing: it cannot be read");
    says("import text -o flows.txt", "a trace is .csv or .parquet");
}
