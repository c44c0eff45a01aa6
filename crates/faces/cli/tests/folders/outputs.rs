//! Output that is written with `-o` reaches the file or device that the name leads to.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};
use std::thread;

use crate::workspace::Workspace;

const RUN: &str = "run incast --scheme newreno --set workload.senders=2 --trace off --out folder";

/// Every command that takes `-o`, and how its output ends.
const COMMANDS: [(&str, &str); 7] = [
    ("export folder flows", "\n"),
    ("export folder --as-trace", "\n"),
    ("report folder", "</html>"),
    ("report folder --explore", "</html>"),
    ("report folder folder", "</html>"),
    ("plot folder --figure fct-cdf", "</svg>"),
    ("model rwndq", "</svg>"),
];

#[test]
fn every_command_writes_to_streams_and_adds_nothing() {
    let workspace = Workspace::new("outputs-to-streams");
    workspace.answer(RUN);
    let fifo = workspace.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    symlink("fifo", workspace.path("link")).expect("a link");
    for (command, end) in COMMANDS {
        let whole = workspace.answer(&format!("{command} -o /dev/stdout"));
        let trimmed = whole.trim_end_matches('\n');
        let ends = if end == "\n" {
            whole.ends_with(end)
        } else {
            trimmed.ends_with(end)
        };
        assert!(ends && whole.len() > 50, "{command}: {whole}");
        let reader = thread::spawn({
            let fifo = fifo.clone();
            move || fs::read_to_string(fifo).expect("text")
        });
        let told = workspace.answer(&format!("{command} -o link"));
        assert_eq!(reader.join().expect("a reader"), whole, "{command}");
        assert_eq!(told, "", "{command}");
        let kind = |name: &str| fs::symlink_metadata(workspace.path(name)).expect("it is there");
        assert!(kind("fifo").file_type().is_fifo(), "{command}");
        assert!(kind("link").is_symlink(), "{command}");
        // Text that a shell appends to a file comes after what is there.
        fs::write(workspace.path("log"), "before\n").expect("a file");
        let log = OpenOptions::new().append(true).open(workspace.path("log"));
        let mut appending = workspace.command(&format!("{command} -o /dev/stdout"));
        let status = appending
            .stdout(Stdio::from(log.expect("the file")))
            .status();
        assert!(status.expect("the command runs").success(), "{command}");
        let log = fs::read_to_string(workspace.path("log")).expect("text");
        assert_eq!(log, format!("before\n{whole}"), "{command}");
    }
}

#[test]
fn every_command_names_the_file_that_it_cannot_write() {
    let workspace = Workspace::new("outputs-that-fail");
    workspace.answer(RUN);
    for (command, end) in COMMANDS {
        let ending = if end == "</svg>" { ".svg" } else { "" };
        for file in [format!("nowhere/out{ending}"), "/dev/full".to_owned()] {
            let output = workspace.output(&format!("{command} -o {file}"));
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(
                text.contains(&format!("cannot write {file}: ")),
                "{command}: {text}"
            );
            assert!(!output.status.success(), "{command}");
        }
    }
}

#[test]
fn the_rows_of_one_simulation_are_exported_alone() {
    let workspace = Workspace::new("outputs-of-a-point");
    workspace.answer(
        "run incast --scheme newreno --seeds 3 --set workload.senders=2 --trace queue --out folder",
    );
    for table in ["flows", "ports", "series"] {
        let all = workspace.answer(&format!("export folder {table}"));
        let (head, rows) = all.split_once('\n').expect("names of columns");
        let mut parts = format!("{head}\n");
        for point in 0..3 {
            let part = workspace.answer(&format!("export folder {table} --point {point}"));
            let own = part
                .strip_prefix(&format!("{head}\n"))
                .expect("the same columns");
            assert!(
                own.lines().all(|row| row.starts_with(&format!("{point},"))),
                "{part}"
            );
            parts.push_str(own);
        }
        assert_eq!(parts, format!("{head}\n{rows}"), "{table}");
        let told = workspace.refusal(&format!("export folder {table} --point 3"));
        assert!(
            told.contains("no simulation 3") && told.contains("from 0 to 2"),
            "{told}"
        );
    }
}

#[test]
fn a_report_carries_the_page_that_simulates_its_run() {
    let workspace = Workspace::new("outputs-explored");
    workspace.answer(
        "run incast --scheme dctcp,rcc --set workload.senders=4,6 --trace off --out folder",
    );
    let plain = workspace.answer("report folder -o /dev/stdout");
    let report = workspace.answer("report folder --explore -o /dev/stdout");
    assert!(!plain.contains("id=\"explore"));
    assert!(report.contains("<button type=\"button\" id=\"explore\">"));
    let carried = report.split("id=\"explored\">").nth(1).expect("a page");
    let carried = carried.split("</script>").next().expect("it ends");
    let carried: String = serde_json::from_str(carried).expect("a text");
    // Its last line seals the file of the folder.
    let scenario = fs::read_to_string(workspace.path("folder/scenario.toml")).expect("a scenario");
    let (scenario, _) = scenario.split_once("# checksum").expect("a seal");
    fs::write(workspace.path("scenario.toml"), scenario).expect("a file");
    let page = workspace.answer("explore scenario.toml -o /dev/stdout");
    assert!(
        carried == page,
        "the page of `explore` with the scenario of the run"
    );
    let refusal = workspace.refusal("report folder folder --explore");
    assert!(refusal.contains("name one folder"), "{refusal}");
}
