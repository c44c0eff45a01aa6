//! `tailwater emulate`, which starts the program that has the privileges.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::{left, machine};

/// The program beside the one that is tested, if it is built.
fn tailwater(words: &[&str]) -> Option<Command> {
    let program = Path::new(env!("CARGO_BIN_EXE_tailwater-live")).with_file_name("tailwater");
    if !program.is_file() {
        testing::skipped("tailwater is not built beside tailwater-live");
        return None;
    }
    let mut command = Command::new(program);
    command.args(words).stdout(Stdio::piped());
    Some(command)
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tailwater-{name}-{}", std::process::id()))
}

/// A long comparison in a process group of its own, once a run is over, and the process that it started.
fn under_way(out: &Path) -> Option<(Child, u32)> {
    let out = out.to_str().expect("a plain path");
    let words = [
        "emulate", "incast", "--scheme", "newreno", "--runs", "500", "--no-sim",
    ];
    let mut command = tailwater(&words)?;
    command.args([
        "--set",
        "workload.senders=2",
        "--rate",
        "10Mbps",
        "--out",
        out,
    ]);
    let mut child = command
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    assert!(first.starts_with("run 1"), "{first}");
    thread::spawn(move || lines.for_each(drop));
    let id = child.id();
    let file = format!("/proc/{id}/task/{id}/children");
    let children = fs::read_to_string(file).expect("the process runs");
    let other = children.trim().parse().expect("one child");
    Some((child, other))
}

#[test]
fn ctrl_c_ends_both_programs_and_leaves_no_namespace() {
    let Some(_machine) = machine() else { return };
    // A terminal tells all processes of a command, `kill` one of them.
    for sign in ["-", ""] {
        let out = folder("interrupted");
        let Some((mut child, other)) = under_way(&out) else {
            return;
        };
        assert!(!left(other).is_empty());
        let whom = format!("{sign}{}", child.id());
        let killed = Command::new("kill").args(["-INT", "--", &whom]).status();
        assert!(killed.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(left(other), [""; 0]);
        assert!(!Path::new(&format!("/proc/{other}")).exists());
        fs::remove_dir_all(out).unwrap();
    }
}

#[test]
fn a_comparison_leaves_a_page_that_can_be_written_again() {
    let Some(_machine) = machine() else { return };
    let out = folder("compared");
    let name = out.to_str().unwrap();
    let words = [
        "emulate",
        "incast",
        "--scheme",
        "newreno,rcc",
        "--runs",
        "2",
        "--out",
        name,
    ];
    let Some(mut command) = tailwater(&words) else {
        return;
    };
    command.args(["--set", "workload.senders=2", "--rate", "20Mbps", "--quiet"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() == Some(3) {
        testing::skipped("this machine is too busy to hold the rate");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(said.contains("only the simulator has rcc"), "{said}");
    let page = out.join("report.html");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("newreno, Linux"), "no chart of both worlds");
    assert!(out.join("twin-1-newreno.toml").is_file());
    fs::remove_file(&page).unwrap();
    let again = tailwater(&["report", name]).unwrap().output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&again.stdout),
        format!("{}\n", page.display())
    );
    assert_eq!(fs::read_to_string(&page).unwrap(), text);
    fs::remove_dir_all(out).unwrap();
}
