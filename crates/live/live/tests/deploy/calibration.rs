//! How often the predictions of trials hold: the whole command, in networks that are drawn.

mod network;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::thread;

use serde_json::Value;

use crate::Ends;
use crate::bed::{Bed, PORT, SWITCH, program};
use network::DrawnNetwork;

/// `TAILWATER_TRIALS` is the number of trials, `TAILWATER_SEED` the first seed, and `TAILWATER_KEEP` a folder in which
/// the trials stay.
#[test]
#[ignore = "takes half an hour: cargo xtask trust calibration"]
fn of_50_trials_in_drawn_networks_70_to_90_percent_of_the_intervals_hold() {
    let Some(bed) = Bed::new() else { return };
    let tailwater = Path::new(program()).with_file_name("tailwater");
    assert!(tailwater.is_file(), "cargo build -p tailwater comes first");
    let (trials, first) = (number("TAILWATER_TRIALS", 50), number("TAILWATER_SEED", 1));
    let kept = std::env::var_os("TAILWATER_KEEP").map(PathBuf::from);
    let folder = kept
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(bed.namespace("calibration")));
    fs::create_dir_all(&folder).expect("a folder");
    let begin = machine::clock::now();
    let (mut predicted, mut held, mut without) = (0, 0, 0);
    for seed in first..first + trials {
        let network = DrawnNetwork::of(seed);
        let out = folder.join(seed.to_string());
        let outcome = Outcome::of(&trial(&bed, &tailwater, &network, &out));
        say(&format!("{seed}: {network}: {outcome}"));
        match outcome {
            Outcome::Settled { holds, .. } => {
                predicted += 1;
                held += u64::from(holds);
            }
            Outcome::WithoutPrediction(_) => without += 1,
        }
    }
    say(&format!(
        "{held} of {predicted} intervals of 80 % hold, {without} trials without a prediction, in {:.0} s",
        begin.elapsed().as_secs_f64()
    ));
    if kept.is_none() {
        fs::remove_dir_all(folder).expect("the folder goes");
    }
    bed.holds_nothing();
    // With fewer, chance decides.
    if trials >= 50 {
        let share = 100 * held / predicted.max(1);
        assert!((70..=90).contains(&share), "{share} % hold");
    }
}

/// The fate of a prediction.
enum Outcome {
    Settled {
        ratio: f64,
        interval: (f64, f64),
        found: f64,
        found_interval: (f64, f64),
        holds: bool,
    },
    /// Why there is nothing to compare.
    WithoutPrediction(String),
}

impl Outcome {
    fn of(output: &Output) -> Self {
        let complained = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let last = complained.lines().last().unwrap_or_default();
            return Self::WithoutPrediction(format!("{}: {last}", output.status));
        }
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let (expected, result) = (&told["plan"]["expected"], &told["result"]);
        let Some(ratio) = expected["ratio"].as_f64() else {
            return Self::WithoutPrediction(format!("{}", told["plan"]["unexpected"]));
        };
        let Some(found) = result["ratio"].as_f64() else {
            return Self::WithoutPrediction(format!("{}", result["verdict"]));
        };
        Self::Settled {
            ratio,
            interval: pair(&expected["interval"]).expect("an interval"),
            found,
            found_interval: pair(&result["interval"]).expect("an interval"),
            holds: result["holds"].as_bool().expect("a comparison"),
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Settled {
                ratio,
                interval: (low, high),
                found,
                found_interval: (least, most),
                holds,
            } => {
                let word = if *holds { "holds" } else { "DOES NOT HOLD" };
                write!(
                    f,
                    "predicted {ratio:.3} (80 %: {low:.3} to {high:.3}), found {found:.3} (97 %: {least:.3} to {most:.3}): {word}"
                )
            }
            Self::WithoutPrediction(why) => write!(f, "nothing to compare: {why}"),
        }
    }
}

/// Runs the command while flows pass the port.
fn trial(bed: &Bed, tailwater: &Path, network: &DrawnNetwork, out: &Path) -> Output {
    network.set_up(bed);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        network.send(bed, scope, &over);
        let _until = Ends(&over);
        let output = Command::new(tailwater)
            .args(["trial", network.law, "--dev", PORT])
            .args(["--netns", &bed.namespace(SWITCH), "--periods", "12"])
            .args(["--of", &format!("{}s", network.period_s())])
            .args(["--seed", &network.seed.to_string()])
            // The guard would end trials whose law does harm, and their effects would stay unknown.
            .args(["--guard", &format!("{} > +1000%", network.measure)])
            .args(network.sets())
            .args(["--format", "json", "--out"])
            .arg(out)
            .output();
        output.expect("the command starts")
    })
}

fn pair(value: &Value) -> Option<(f64, f64)> {
    Some((value[0].as_f64()?, value[1].as_f64()?))
}

fn number(variable: &str, usual: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(usual, |text| text.parse().expect("a number"))
}

/// Says what was measured.
fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("somebody reads");
}
