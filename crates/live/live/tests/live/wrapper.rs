//! `tailwater emulate`, which starts the program that has the privileges.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::{is_too_busy, left, line, machine, run};

/// The program beside the one that is tested, if it is built.
fn tailwater() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_tailwater-live")).with_file_name("tailwater");
    if !program.is_file() {
        testing::skipped("tailwater is not built beside tailwater-live");
        return None;
    }
    Some(program)
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tailwater-{name}-{}", std::process::id()))
}

/// A long comparison in a process group of its own, once a run is over, and the process that it started. `ctrl_c` is
/// the reaction to Ctrl-C, an option of `env`: the shell that starts the tests may ignore it, and then all processes
/// below do, too.
fn under_way(out: &Path, ctrl_c: &str) -> Option<(Child, u32)> {
    let out = out.to_str().expect("a plain path");
    let mut command = testing::tool("env")?;
    command.arg(ctrl_c).arg(tailwater()?);
    command.args([
        "emulate", "incast", "--scheme", "newreno", "--runs", "500", "--no-sim",
    ]);
    command.args([
        "--set",
        "workload.senders=2",
        "--rate",
        "10Mbps",
        "--out",
        out,
    ]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    if is_too_busy(&first) {
        child.wait().expect("it ends");
        fs::remove_dir_all(out).expect("a folder");
        return None;
    }
    assert!(first.starts_with("run 1"), "{first}");
    thread::spawn(move || lines.for_each(drop));
    let id = child.id();
    let file = format!("/proc/{id}/task/{id}/children");
    let children = fs::read_to_string(file).expect("the process runs");
    let other = children.trim().parse().expect("one child");
    Some((child, other))
}

/// Sends a signal to a process, or to the group of one that is written as a negative number.
fn tell(signal: &str, whom: &str) {
    let killed = Command::new("kill").args([signal, "--", whom]).status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn ctrl_c_ends_both_programs_and_leaves_no_namespace() {
    let Some(_machine) = machine() else { return };
    // A terminal tells all processes of a command, `kill` one of them.
    for sign in ["-", ""] {
        let out = folder("interrupted");
        let Some((mut child, other)) = under_way(&out, "--default-signal=INT") else {
            return;
        };
        assert!(!left(other).is_empty());
        tell("-INT", &format!("{sign}{}", child.id()));
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(left(other), [""; 0]);
        assert!(!Path::new(&format!("/proc/{other}")).exists());
        fs::remove_dir_all(out).unwrap();
    }
}

/// A shell starts background processes in this way.
#[test]
fn ctrl_c_that_is_to_be_ignored_ends_neither_program() {
    let Some(_machine) = machine() else { return };
    let out = folder("ignored");
    let Some((mut child, other)) = under_way(&out, "--ignore-signal=INT") else {
        return;
    };
    let group = format!("-{}", child.id());
    tell("-INT", &group);
    thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    assert!(!left(other).is_empty());
    tell("-TERM", &group);
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert_eq!(left(other), [""; 0]);
    fs::remove_dir_all(out).unwrap();
}

/// The privileged program may be ended alone. The other one then reports it.
#[test]
fn the_end_of_the_privileged_program_is_told() {
    let Some(_machine) = machine() else { return };
    for (signal, status) in [("-TERM", 128 + 15), ("-KILL", 1)] {
        let out = folder("alone");
        let Some((mut child, other)) = under_way(&out, "--default-signal=INT") else {
            return;
        };
        tell(signal, &other.to_string());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{signal}");
        fs::remove_dir_all(out).unwrap();
    }
    assert!(run(&["down"]).0.status.success());
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
        "newreno,rdtcp",
        "--runs",
        "2",
        "--out",
        name,
    ];
    let Some(program) = tailwater() else { return };
    let mut command = Command::new(&program);
    command.args(words);
    command.args(["--set", "workload.senders=2", "--rate", "20Mbps", "--quiet"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if is_too_busy(&complaint) {
        fs::remove_dir_all(out).unwrap();
        return;
    }
    assert!(output.status.success(), "{complaint}");
    assert!(said.contains("only the simulator has rdtcp"), "{said}");
    let page = out.join("report.html");
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("newreno, Linux"), "no chart of both worlds");
    // The twins of both runs, with the starts of these, from any folder.
    assert!(out.join("starts-1-newreno-2.csv").is_file());
    let twin = out.join("twin-1-newreno.toml");
    let words = ["--no-save", "--quiet", "--format", "json"];
    let mut command = Command::new(&program);
    let run = command.arg("run").arg(twin).args(words).output().unwrap();
    let complaint = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{complaint}");
    let told: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let lines = fs::read_to_string(out.join("live.jsonl")).unwrap();
    let lines = lines.lines().map(line);
    let simulated = lines.filter(|line| line["world"] == "simulated");
    let drops = |points: Vec<serde_json::Value>| {
        let drops = points.iter().map(|point| point["metrics"]["drops"].clone());
        drops.collect::<Vec<_>>()
    };
    let again = told["points"].as_array().unwrap().clone();
    assert_eq!(again.len(), 2);
    assert_eq!(drops(again), drops(simulated.collect()));
    fs::remove_file(&page).unwrap();
    let again = Command::new(program).args(["report", name]).output();
    let again = again.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&again.stdout),
        format!("{}\n", page.display())
    );
    assert_eq!(fs::read_to_string(&page).unwrap(), text);
    fs::remove_dir_all(out).unwrap();
}

/// A figure of a few flows, scaled down: its order is judged by both worlds, and everything is in its folder.
#[test]
fn a_figure_is_judged_on_linux_beside_its_twin() {
    let Some(_machine) = machine() else { return };
    let Some(program) = tailwater() else { return };
    let paper = folder("paper");
    let out = folder("judged");
    let figure = "title = \"Sizes\"\nfigure = \"Fig. 1\"\nscale = \"1 seed\"\nschemes = [\"newreno\", \"rdtcp\"]\n\
        workload.senders = 2\nworkload.size = [\"10KB\", \"90KB\"]\n\
        [live]\nscale = \"slower links\"\nruns = 2\nclaims = [\"grows\", \"other\"]\n\
        [[claim]]\nid = \"grows\"\nkind = \"shape\"\nsays = \"times grow\"\nwhere = \"Fig. 1\"\n\
        measure = { flows = \"fct_us\", statistic = \"mean\" }\nshape = \"rising\"\nof = \"newreno\"\n\
        [[claim]]\nid = \"other\"\nkind = \"order\"\nsays = \"RCC is faster\"\nwhere = \"Fig. 1\"\n\
        measure = \"fct_mean_us\"\nlowest = \"rdtcp\"\n";
    fs::create_dir_all(&paper).unwrap();
    let file = paper.join("fig1.toml");
    fs::write(&file, figure).unwrap();
    let mut command = Command::new(program);
    command.arg("reproduce").arg(&file).arg("--out").arg(&out);
    command.args(["--live", "--rate", "20Mbps", "--quiet", "--format", "json"]);
    let output = command.output().unwrap();
    fs::remove_dir_all(&paper).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if is_too_busy(&complaint) {
        assert!(!out.exists(), "what was not run leaves no folder");
        return;
    }
    assert!(output.status.success(), "{complaint}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let claims = &told["claims"];
    // Nine times as many bytes take longer in any world.
    assert_eq!(claims[0]["simulated"]["verdict"], "reproduced", "{claims}");
    let verdict = claims[0]["verdict"].as_str().unwrap();
    assert!(["reproduced", "not valid"].contains(&verdict), "{claims}");
    assert_eq!(claims[1]["verdict"], "not testable", "{claims}");
    let scale = claims[0]["scale"].as_str().unwrap();
    assert!(
        scale.starts_with("slower links; 20 Mbit/s instead of"),
        "{scale}"
    );
    let name = paper.file_name().unwrap();
    let files = fs::read_dir(out.join(name).join("fig1")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    files.sort();
    for file in [
        "figure.toml",
        "live.jsonl",
        "report.html",
        "twin-1-newreno.toml",
    ] {
        assert!(files.contains(&file.into()), "{files:?}");
    }
    assert!(!files.contains(&"linux".into()), "{files:?}");
    fs::remove_dir_all(out).unwrap();
}
