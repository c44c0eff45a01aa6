//! A sweep that is killed again and again ends in the folder of an undisturbed one.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::workspace::{Random, Workspace};

#[expect(clippy::print_stdout, reason = "what a failure is repeated with")]
#[test]
fn a_hundred_kills_lose_nothing_and_change_nothing() {
    let workspace = Workspace::new("a_hundred_kills");
    let start = now();
    workspace.answer(&format!("{SWEEP} --jobs 2 --out undisturbed"));
    let duration = start.elapsed();
    let mut random = Random(SEED);
    println!("seed {SEED:#x}, an undisturbed sweep takes {duration:?}");

    let (mut sweeps, mut starts) = (0, 0);
    let mut kills = [0; 3];
    // How many starts end before their kill depends on the other work of the machine.
    let is_enough = |kills: &[u32; 3]| {
        kills.iter().sum::<u32>() >= KILLS && kills.iter().all(|kills| *kills > 10)
    };
    while !is_enough(&kills) {
        starts += 1;
        assert!(starts <= 4 * KILLS, "{kills:?}");
        let folder = format!("killed-{sweeps}");
        let instant = Instants::ALL[random.below(3)];
        if ended_before_kill(&workspace, &folder, instant, duration, &mut random) {
            workspace.assert_same(&folder, "undisturbed");
            sweeps += 1;
        } else {
            kills[instant as usize] += 1;
        }
    }
    let last = format!("killed-{sweeps}");
    workspace.answer(&format!("{SWEEP} --resume --out {last}"));
    workspace.assert_same(&last, "undisturbed");
    println!("{kills:?} kills in {} sweeps", sweeps + 1);
}

/// When to kill.
#[derive(Clone, Copy)]
enum Instants {
    /// At any time that the whole sweep takes.
    Anywhere,
    /// Within the first tenth of it.
    Early,
    /// Once the tables are being written.
    Assembling,
}

impl Instants {
    const ALL: [Self; 3] = [Self::Anywhere, Self::Early, Self::Assembling];
}

/// Continues the sweep and kills it, unless it ends before.
fn ended_before_kill(
    workspace: &Workspace,
    folder: &str,
    instant: Instants,
    duration: Duration,
    random: &mut Random,
) -> bool {
    let words = format!("{SWEEP} --jobs 2 --resume --out {folder}");
    let mut command = workspace.command(&words);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the command runs");
    let wait = match instant {
        Instants::Anywhere => duration,
        Instants::Early => duration / 10,
        Instants::Assembling => {
            let begun = |name: &str| name.starts_with(".flows.parquet") || name == "flows.parquet";
            while child.try_wait().expect("a child").is_none()
                && !names(workspace, folder).iter().any(|name| begun(name))
            {
                sleep(Duration::from_micros(200));
            }
            duration / 10
        }
    };
    sleep(wait.mul_f64(random.fraction()));
    // SIGKILL on every Unix.
    child.kill().expect("a child that was not waited for");
    let status = child.wait().expect("a child");
    assert!(status.success() || status.code().is_none(), "{status}");
    status.success()
}

fn names(workspace: &Workspace, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(workspace.path(folder)).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let workspace = Workspace::new("threads");
    workspace.answer(&format!("{SWEEP} --jobs 1 --out one"));
    workspace.answer(&format!("{SWEEP} --jobs 2 --out two"));
    workspace.assert_same("two", "one");
    assert!(workspace.files("one").contains_key("series.parquet"));
}

#[expect(clippy::disallowed_methods, reason = "the test kills at instants")]
fn now() -> Instant {
    Instant::now()
}

/// 3 schemes x 4 numbers of senders x 5 seeds.
const SWEEP: &str = "run incast --scheme newreno,dctcp,rcc --set workload.senders=4,8,12,16 \
     --set workload.size=256KB --set workload.jitter=100us --seeds 5 --trace queue,events --quiet";
const KILLS: u32 = 100;
const SEED: u64 = 0x7461_696c_7761_7465;
