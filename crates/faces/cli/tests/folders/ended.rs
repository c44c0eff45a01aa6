//! Events that end a sweep early. The message says what is done and how to go on.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::workspace::Workspace;

#[test]
fn an_interrupted_sweep_tells_what_is_done_and_goes_on_from_there() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        if is_ignored(number) {
            // A shell that starts the tests in the background ignores Ctrl-C for them, and `nohup` ignores SIGHUP.
            continue;
        }
        let workspace = Workspace::new(&format!("interrupted_{signal}"));
        let words = format!("{MANY} --out folder");
        let output = signalled(&workspace, &words, signal, &|| parts(&workspace) > 3);
        let (answer, complaints) = texts(&output);
        assert_eq!(output.status.code(), Some(128 + number), "{complaints}");
        assert!(complaints.contains("interrupted: done "), "{complaints}");
        assert!(
            complaints.contains(" of 1,200; go on with: "),
            "{complaints}"
        );
        assert!(complaints.contains("--out folder --resume"), "{complaints}");
        assert!(
            answer.contains("newreno") && answer.contains("Cost: "),
            "{answer}"
        );
    }
}

#[test]
fn an_interrupted_sweep_that_is_resumed_is_that_of_an_undisturbed_one() {
    let workspace = Workspace::new("interrupted_resumed");
    let sweep = "run incast --scheme newreno,rcc --set workload.senders=8..40:1 --quiet";
    workspace.answer(&format!("{sweep} --out whole"));
    let words = format!("{sweep} --jobs 1 --out folder");
    signalled(&workspace, &words, "TERM", &|| parts(&workspace) > 3);
    workspace.answer(&format!("{sweep} --resume --out folder"));
    workspace.assert_same("folder", "whole");
}

#[test]
fn a_single_long_simulation_is_not_waited_for() {
    let workspace = Workspace::new("interrupted_point");
    // Hours of work, and timers of switches that are no events.
    let long = "run incast --scheme rwndq --set workload.size=100GB --no-save --quiet --work 1e18";
    for words in [long.to_owned(), format!("{long} --set rwndq.interval=1ns")] {
        let running = || {
            sleep(Duration::from_millis(300));
            true
        };
        let output = signalled(&workspace, &words, "TERM", &running);
        let (answer, complaints) = texts(&output);
        assert_eq!(output.status.code(), Some(143), "{complaints}");
        assert!(complaints.starts_with("interrupted"), "{complaints}");
        assert_eq!(answer, "");
    }
}

#[test]
fn what_the_process_was_started_to_ignore_does_not_end_it() {
    let workspace = Workspace::new("nohup");
    let mut shell = Command::new("sh");
    let run = format!(
        "trap '' HUP; '{}' run incast --quiet --out folder & kill -HUP $!; wait $!",
        env!("CARGO_BIN_EXE_tailwater")
    );
    shell.args(["-c", &run]).current_dir(workspace.path("."));
    let output = shell.output().expect("a shell");
    assert_eq!(output.status.code(), Some(0), "{}", texts(&output).1);
    assert!(workspace.path("folder/summary.json").exists());
}

#[test]
fn interrupted_papers_tell_how_far_each_figure_has_come() {
    let workspace = Workspace::new("interrupted_papers");
    let words = "reproduce rcc/fig5a --seeds 500 --jobs 1 --out folder --quiet";
    let begun = || {
        let points = workspace.path("folder/rcc/fig5a/points");
        fs::read_dir(points).is_ok_and(|points| points.count() > 3)
    };
    let output = signalled(&workspace, words, "TERM", &begun);
    let (answer, complaints) = texts(&output);
    assert_eq!(output.status.code(), Some(143), "{complaints}");
    assert!(complaints.contains("interrupted: done "), "{complaints}");
    assert!(complaints.contains("go on with: "), "{complaints}");
    assert!(answer.contains("folder/rcc/fig5a"), "{answer}");
}

#[test]
fn a_figure_that_is_done_has_its_verdicts_while_another_is_run() {
    let workspace = Workspace::new("interrupted_figure");
    fs::create_dir(workspace.path("mine")).expect("a folder for the test");
    let write = |file: &str, text: &str| {
        fs::write(workspace.path("mine").join(file), text).expect("a file for the test");
    };
    write("paper.toml", "title = \"A paper\"\ncitation = \"2017\"\n");
    let figure = |senders: u32, size: &str| {
        format!(
            "title = \"Drops\"\nfigure = \"Fig.\"\nscale = \"one seed\"\nschemes = [\"newreno\"]\n\
             workload = {{ senders = {senders}, size = \"{size}\" }}\n\
             [[claim]]\nid = \"no-drops\"\nkind = \"number\"\nsays = \"nothing is dropped\"\n\
             where = \"Fig.\"\nmeasure = \"drops\"\nof = \"newreno\"\npaper = 0\n"
        )
    };
    write("fig1.toml", &figure(2, "10KB"));
    write("fig2.toml", &figure(40, "10GB"));
    let words = "reproduce ./mine --jobs 1 --no-report --out folder --work 1e15";
    let begun = || workspace.path("folder/mine/fig2/scenario.toml").exists();
    let output = signalled(&workspace, words, "TERM", &begun);
    let complaints = texts(&output).1;
    let verdict = "mine/fig1: 1 claim: 1 reproduced\n  reproduced  no-drops: 0 (paper: 0)\n";
    assert!(complaints.contains(verdict), "{complaints}");
    assert!(
        complaints.contains("interrupted: done 1 of 2; go on with: "),
        "{complaints}"
    );
}

#[test]
fn a_full_disk_ends_the_sweep_at_once_and_loses_nothing_that_is_done() {
    let workspace = Workspace::new("full_disk");
    // 1000 flows do not fit into a file of 64 KiB, 8 and 16 do.
    let sweep = "run incast --scheme newreno --set workload.senders=8,16,1000,8000 --trace off";
    let output = limited(&workspace, 64, &format!("{sweep} --jobs 1 --out folder"));
    let (answer, complaints) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{complaints}");
    assert!(
        complaints.contains("done 2 of 4; go on with: "),
        "{complaints}"
    );
    assert!(complaints.contains("--out folder --resume"), "{complaints}");
    assert!(!complaints.contains("panicked"), "{complaints}");
    assert!(
        answer.contains("At 16 senders") || answer.contains("16"),
        "{answer}"
    );
    // The fourth simulation was not begun: its result could not be kept.
    assert_eq!(parts(&workspace), 2);
    let answer = workspace.answer(&format!("{sweep} --resume --out folder"));
    assert!(answer.contains("(2 of them before)"), "{answer}");
}

#[test]
fn the_answer_comes_before_files_that_find_no_room() {
    let workspace = Workspace::new("full_at_the_end");
    // Every point fits, but the table of all flows does not.
    let sweep = "run incast --scheme newreno,rcc --set workload.senders=100..120:1 --trace off";
    let output = limited(&workspace, 64, &format!("{sweep} --out folder"));
    let (answer, complaints) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{complaints}");
    assert!(answer.contains("Cost: "), "{answer}");
    assert!(
        complaints.contains("every simulation is kept; go on with: "),
        "{complaints}"
    );
    workspace.answer(&format!("{sweep} --out whole"));
    workspace.answer(&format!("{sweep} --resume --out folder"));
    workspace.assert_same("folder", "whole");
}

/// Runs the command and sends it a signal as soon as `ready` says so. A run that ends before the signal is repeated, at
/// most twice; one that succeeds in spite of it is repeated once.
fn signalled(workspace: &Workspace, words: &str, signal: &str, ready: &dyn Fn() -> bool) -> Output {
    let mut unheard = 0;
    for _ in 0..3 {
        let mut command = workspace.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        // Its handlers are there as soon as it runs, on a busy machine not at once.
        while child.try_wait().expect("a child").is_none() && !(hears(child.id()) && ready()) {
            sleep(Duration::from_millis(1));
        }
        if child.try_wait().expect("a child").is_none() {
            let kill = Command::new("kill")
                .args([&format!("-{signal}"), &child.id().to_string()])
                .status();
            assert!(kill.expect("kill").success(), "nobody waited for it");
            unheard += 1;
        }
        let output = child.wait_with_output().expect("a child");
        if !output.status.success() {
            return output;
        }
        assert!(unheard < 2, "{words}: it does not hear {signal}");
        fs::remove_dir_all(workspace.path("folder")).expect("a folder of results");
    }
    panic!("{words}: no signal ends it");
}

/// Whether this process, and so every child, was started to ignore a signal.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Runs the command where no file may have more than this many KiB.
fn limited(workspace: &Workspace, kib: u32, words: &str) -> Output {
    // A process that ignores the signal gets an error from the write instead.
    let run = format!(
        "trap '' XFSZ; ulimit -f {}; exec '{}' {words}",
        kib * 2,
        env!("CARGO_BIN_EXE_tailwater")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &run]).current_dir(workspace.path("."));
    shell.output().expect("a shell")
}

/// Whether a process has a handler for SIGTERM.
fn hears(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    let Ok(status) = status else {
        // Elsewhere than on Linux half a second is enough on most machines.
        sleep(Duration::from_millis(500));
        return true;
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> 14 & 1 == 1)
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Finished points in the folder.
fn parts(workspace: &Workspace) -> usize {
    let entries = fs::read_dir(workspace.path("folder/points"))
        .into_iter()
        .flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(".part"))
        .filter(|name| !name.to_string_lossy().starts_with('.'))
        .count()
}

/// Enough simulations for some seconds.
const MANY: &str = "run incast --scheme newreno,dctcp,rcc --set workload.senders=40 \
     --set workload.jitter=100us --seeds 400 --jobs 1";
