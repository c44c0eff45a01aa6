//! Shards as jobs of batch systems: planned, balanced, started again, and quarantined where a point kills them.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Output};
use std::thread;

use serde_json::Value;

use crate::workspace::Workspace;

#[test]
fn a_job_takes_the_files_of_its_scenario_with_it_and_runs_from_any_index() {
    let workspace = Workspace::new("planned_job");
    fs::create_dir(workspace.path("data")).expect("a folder for the test");
    let mut flows = "start_us,size_bytes,sender,receiver\n".to_owned();
    for flow in 0..40 {
        writeln!(flows, "{},20000,h{},h8", flow * 300, flow % 8).expect("a string");
    }
    let mut hosts = String::new();
    for host in 0..9 {
        writeln!(hosts, "h{host},{host}").expect("a string");
    }
    for (name, text) in [("flows.csv", flows), ("hosts.csv", hosts)] {
        fs::write(workspace.path("data").join(name), text).expect("a file for the test");
    }
    let sweep = "incast --scheme newreno,dctcp --seeds 3 --set workload.kind=trace \
        --set workload.trace=data/flows.csv --set workload.host_names=data/hosts.csv --set topology.hosts=9 \
        --set link.jitter=1us";
    workspace.answer(&format!("plan {sweep} --shards 3 --for slurm --out slurm"));
    workspace.answer(&format!(
        "plan {sweep} --shards 3 --for hyperqueue --out hq"
    ));
    workspace.answer(&format!(
        "plan {sweep} --shards 3 --for kubernetes --out pods"
    ));
    let text = fs::read_to_string(workspace.path("slurm/sweep.toml")).expect("a scenario");
    for line in ["trace = \"flows.csv\"", "host_names = \"hosts.csv\""] {
        assert!(text.contains(line), "{text}");
    }
    let job = fs::read_to_string(workspace.path("slurm/job.sbatch")).expect("a script");
    assert!(job.contains("#SBATCH --array=0-2\n"), "{job}");
    let job = fs::read_to_string(workspace.path("pods/job.yaml")).expect("a manifest");
    assert!(
        job.contains("completions: 3\n")
            && job.contains("\"flows.csv\": \"")
            && job.contains("\"hosts.csv\": \""),
        "{job}"
    );
    let again = workspace.refusal(&format!("plan {sweep} --shards 3 --for slurm --out slurm"));
    assert!(again.contains("slurm is not empty"), "{again}");

    // The file is no longer where the plan was made.
    fs::remove_dir_all(workspace.path("data")).expect("the folder of the test");
    workspace.copy("hq", "whole");
    whole(&workspace, "whole");
    for (folder, system) in [
        ("slurm", System::Slurm(0)),
        ("hq", System::HyperQueue),
        ("pods", System::Kubernetes),
    ] {
        run_job(&workspace, folder, system, 3);
    }
    workspace.copy("hq", "from-one");
    fs::remove_dir_all(workspace.path("from-one/run")).expect("a run folder");
    run_job(&workspace, "from-one", System::Slurm(1), 3);
    for folder in ["slurm", "hq", "pods", "from-one"] {
        workspace.assert_same(&format!("{folder}/run"), "whole/run");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn points_that_end_two_workers_are_quarantined_and_the_others_go_on() {
    let workspace = Workspace::new("quarantine");
    let sweep = "run incast --scheme newreno --set workload.senders=4,60000,8,100000,12 --set link.rate=10Gbps \
        --seeds 1 --trace off --quiet";
    // Estimates refuse such points; a wrong estimate is what a quarantine is for.
    let shard = |number: u32| {
        let words = format!("{sweep} --memory 99GB --jobs 1 --shard {number}/2 --out run");
        // A kilobyte is the unit of `ulimit -v`.
        let script = format!(
            "ulimit -v 200000; exec {} {words}",
            env!("CARGO_BIN_EXE_tailwater")
        );
        let mut command = Command::new("sh");
        let command = command
            .arg("-c")
            .arg(script)
            .current_dir(workspace.path(""));
        command.output().expect("a shell")
    };
    let mut ended = 0;
    for _ in 0..9 {
        let outputs = [1, 2].map(shard);
        let by_signal = |output: &&Output| output.status.code().is_none_or(|code| code >= 128);
        let now = outputs.iter().filter(by_signal).count();
        ended += now;
        if now == 0 {
            break;
        }
    }
    assert_eq!(ended, 4, "each of two points ends two workers");
    let output = workspace.output("merge run --format json");
    assert_eq!(output.status.code(), Some(1), "points have failed");
    let summary = workspace.json("run/summary.json");
    let failures = summary["failures"].as_array().expect("failures");
    let errors: Vec<&str> = failures
        .iter()
        .filter_map(|one| one["error"].as_str())
        .collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    for error in errors {
        assert!(
            error.starts_with("quarantined: it killed 2 workers (process "),
            "{error}"
        );
    }
    assert_eq!(summary["points"].as_array().map(Vec::len), Some(3));
    // A later shard leaves them alone.
    assert!(shard(1).status.code().is_some_and(|code| code < 128));
}

#[cfg(unix)]
#[test]
fn a_shard_that_is_asked_to_end_leaves_no_suspect() {
    let workspace = Workspace::new("asked_to_end");
    let words = "run incast --scheme newreno --set workload.senders=2000 --set workload.size=1MB --seeds 2 \
        --set workload.jitter=1us --quiet --shard 1/1 --out run";
    let mut child = workspace.command(words).spawn().expect("the command runs");
    let points = workspace.path("run/points");
    let begun = || {
        let entries = points.read_dir().into_iter().flatten();
        let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        names
            .filter(|name| name.to_string_lossy().ends_with(".attempts"))
            .count()
    };
    while begun() == 0 {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "it ended before it began"
        );
        thread::yield_now();
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.expect("kill").success());
    assert_eq!(child.wait().expect("a child").code(), Some(143));
    assert_eq!(begun(), 0, "the points are not the reason");
}

/// `cargo xtask trust shards` runs it.
#[test]
#[ignore = "cargo xtask trust shards runs it"]
#[expect(clippy::print_stdout, reason = "the figures are its result")]
fn a_thousand_points_by_every_system_have_equal_bytes_and_shards_take_equal_time() {
    let workspace = Workspace::new("thousand_points");
    let sweep = "incast --scheme newreno,dctcp,cubic,rcc,hscc --seeds 10 --set workload.senders=5..100:5 \
        --set workload.jitter=100us";
    workspace.answer(&format!(
        "plan {sweep} --shards 10 --for hyperqueue --out hq"
    ));
    for folder in ["whole", "from-zero", "from-one", "pods"] {
        workspace.copy("hq", folder);
    }
    let estimate: Value =
        serde_json::from_str(&workspace.answer(&format!("plan {sweep} --shards 10 --format json")))
            .expect("JSON");
    whole(&workspace, "whole");
    assert_eq!(workspace.json("whole/run/run.json")["runs"], 1000);
    let outputs = run_job(&workspace, "from-zero", System::Slurm(0), 10);
    println!(
        "CPU seconds of shards: {outputs:.2?}, expected {}",
        estimate["shards"][0]["processor_s"]
    );
    run_job(&workspace, "from-one", System::Slurm(1), 10);
    run_job(&workspace, "pods", System::Kubernetes, 10);
    if let Some(python) = testing::python(&["hyperqueue"]) {
        by_hyperqueue(&workspace, python, 10);
    }
    for folder in ["from-zero", "from-one", "pods", "hq"] {
        if workspace.path(&format!("{folder}/run")).exists() {
            workspace.assert_same(&format!("{folder}/run"), "whole/run");
        }
    }
    // Last, as other work on the machine may change times, but never bytes.
    let most = outputs.iter().copied().fold(0.0, f64::max);
    let least = outputs.iter().copied().fold(f64::MAX, f64::min);
    assert!(
        most < 1.1 * least,
        "shards took {least} to {most} s of CPU time"
    );
}

/// A batch system as a job sees it.
#[derive(Clone, Copy)]
enum System {
    /// With the first index of the array.
    Slurm(u32),
    HyperQueue,
    Kubernetes,
}

impl System {
    /// The variables of one of `count` jobs.
    fn variables(self, job: u32, count: u32) -> Vec<(&'static str, u32)> {
        match self {
            Self::Slurm(first) => vec![
                ("SLURM_ARRAY_TASK_ID", first + job),
                ("SLURM_ARRAY_TASK_MIN", first),
                ("SLURM_ARRAY_TASK_STEP", 1),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ],
            Self::HyperQueue => vec![("HQ_TASK_ID", job)],
            Self::Kubernetes => vec![("JOB_COMPLETION_INDEX", job)],
        }
    }
}

/// Runs every shard of the job in `folder`, merges them, and returns the seconds of CPU time of each.
fn run_job(workspace: &Workspace, folder: &str, system: System, count: u32) -> Vec<f64> {
    let root = workspace.path(folder);
    // The folder may be of a job that was written for another system.
    let script = match system {
        System::Kubernetes if root.join("job.yaml").exists() => container(&root.join("job.yaml")),
        _ if root.join("job.sbatch").exists() => "sh job.sbatch".to_owned(),
        _ => "sh job.sh".to_owned(),
    };
    let seconds = (0..count).map(|job| {
        let mut command = shell(&format!("{script}; status=$?; times; exit $status"));
        command.current_dir(&root);
        for (name, value) in system.variables(job, count) {
            command.env(name, value.to_string());
        }
        let output = command.output().expect("a shell");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaints}");
        cpu_seconds(&String::from_utf8_lossy(&output.stdout))
    });
    let seconds = seconds.collect();
    let merged = shell("tailwater merge run --quiet")
        .current_dir(&root)
        .output();
    assert!(merged.expect("a shell").status.success());
    seconds
}

/// The command of the container of a manifest, with results beside the scenario.
fn container(manifest: &std::path::Path) -> String {
    let text = fs::read_to_string(manifest).expect("a manifest");
    let args = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("args: ["));
    let args = args
        .and_then(|args| args.strip_suffix(']'))
        .expect("arguments");
    let args = args.split(", ").map(|word| word.trim_matches('"'));
    let args = args.map(|word| {
        if word.starts_with("/results/") {
            "run"
        } else {
            word
        }
    });
    format!("tailwater {}", args.collect::<Vec<_>>().join(" "))
}

/// The seconds of all children, in the last line that the `times` of a shell prints.
fn cpu_seconds(text: &str) -> f64 {
    let last = text.lines().last().expect("a line of times");
    let seconds = last.split_whitespace().map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    });
    seconds.sum::<Option<f64>>().expect("two times")
}

/// A shell that finds the command.
fn shell(script: &str) -> Command {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tailwater"));
    let folder = program.parent().expect("a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).env("PATH", path);
    command
}

/// Runs the whole sweep of a job in one process.
fn whole(workspace: &Workspace, folder: &str) {
    let run = shell("tailwater run sweep.toml --out run --quiet")
        .current_dir(workspace.path(folder))
        .output();
    assert!(run.expect("a shell").status.success());
}

/// Runs the job in the folder `hq` on a server and a worker of `HyperQueue`.
fn by_hyperqueue(workspace: &Workspace, mut python: Command, count: u32) {
    let script = format!(
        "import os\n\
         from hyperqueue import Job, LocalCluster\n\
         from hyperqueue.cluster import WorkerConfig\n\
         with LocalCluster() as cluster:\n\
         \x20   cluster.start_worker(WorkerConfig(cores=2))\n\
         \x20   client = cluster.client()\n\
         \x20   job = Job(max_fails=0)\n\
         \x20   for _ in range({count}):\n\
         \x20       job.program(['sh', 'job.sh'], cwd=os.getcwd(), env=dict(PATH=os.environ['PATH']))\n\
         \x20   client.wait_for_jobs([client.submit(job)])\n"
    );
    let path = shell("")
        .get_envs()
        .find_map(|(name, value)| (name == "PATH").then(|| value.map(ToOwned::to_owned)));
    python
        .arg("-c")
        .arg(script)
        .current_dir(workspace.path("hq"));
    python.env("PATH", path.flatten().expect("a path"));
    let output = python.output().expect("Python");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let merged = shell("tailwater merge run --quiet")
        .current_dir(workspace.path("hq"))
        .output();
    assert!(merged.expect("a shell").status.success());
}
