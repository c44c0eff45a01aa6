//! Memory is estimated before a run, and does not grow with the number of points.

use crate::workspace::Workspace;

#[test]
fn a_run_that_cannot_fit_is_refused_with_its_estimate_and_leaves_nothing() {
    let workspace = Workspace::new("refused_for_memory");
    let run = "run incast --set workload.senders=2000 --out folder --quiet";
    let refusal = workspace.refusal(&format!("{run} --memory 10MB"));
    let text = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("a simulation of 2000 senders needs about"),
        "{text}"
    );
    assert!(
        text.contains("MB of memory; 10.0 MB is available"),
        "{text}"
    );
    assert!(text.contains("--memory SIZE"), "{text}");
    assert!(!workspace.path("folder").exists(), "nothing is begun");
    workspace.answer(&format!("{run} --memory 1GB"));
}

#[test]
fn fewer_simulations_run_at_a_time_if_memory_allows_only_some() {
    let workspace = Workspace::new("fewer_jobs");
    // Each needs about 20 MB of which the program is 8.
    let run = "run incast --set workload.senders=1000 --set tcp.min_rto=10ms,20ms";
    let output = workspace.output(&format!("{run} --jobs 4 --memory 50MB --out few"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("of 4 simulations at a time"), "{text}");
    let jobs = &workspace.json("few/run.json")["jobs"];
    assert!(jobs.as_u64().is_some_and(|jobs| jobs < 4), "{jobs}");
    workspace.answer(&format!("{run} --jobs 4 --memory 4GB --out many"));
    assert_eq!(workspace.json("many/run.json")["jobs"], 4);
    workspace.assert_same("few", "many");
}

/// A point leaves its metrics in memory, and its flows and ports on disk.
#[cfg(target_os = "linux")]
#[test]
fn a_thousand_points_take_little_more_memory_than_a_hundred() {
    let workspace = Workspace::new("bounded_memory");
    let hundred = peak(&workspace, "--set workload.jitter=100us --seeds 100");
    let seeds = peak(&workspace, "--set workload.jitter=100us --seeds 1000");
    let rows = peak(&workspace, "--set workload.jitter=1us..1000us:1us");
    // Beside the metrics, two tables fill the buffers of a row group.
    assert!(seeds < hundred + (10 << 20), "{hundred} {seeds}");
    // A row is summarised, compared, printed and drawn, as a seed is not.
    assert!(rows < hundred + 1000 * (44 << 10), "{hundred} {rows}");
}

/// The largest resident set of a sweep over `what`.
#[cfg(target_os = "linux")]
fn peak(workspace: &Workspace, what: &str) -> u64 {
    use std::fs;
    use std::process::Stdio;
    use std::thread::sleep;
    use std::time::Duration;

    let run = format!(
        "run incast --scheme newreno --set workload.senders=16 --set workload.size=16KB {what} \
         --jobs 2 --quiet --no-save"
    );
    let mut command = workspace.command(&run);
    let mut child = command.stdout(Stdio::null()).spawn().expect("a child");
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        let status = fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        sleep(Duration::from_millis(1));
    }
    assert!(child.wait().expect("a child").success());
    assert!(peak > 0, "it was never seen");
    peak
}
