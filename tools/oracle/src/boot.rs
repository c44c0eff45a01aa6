//! Boots of the kernel: each runs scenarios that share their links, once, or several times each if many answers are asked
//! for.

use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Serialize;
use twox_hash::XxHash64;

use crate::answer::{Answered, Answers, Raw};
use crate::kernel::Kernel;
use crate::list::{self, OracleScenario, Rig};

/// The guest's programs.
const LAB: &str = include_str!("../guest/lab.py");
const INIT: &str = include_str!("../guest/init.sh");
const CAPTURE: &str = include_str!("../guest/capture.py");
/// Longest time that a boot may take, in s: about ten times the longest seen.
const PATIENCE: u32 = 3600;

/// The number of answers to each scenario that have a boot of their own, with new links and a new kernel.
const ALONE: u32 = 20;
/// The number of further answers to a scenario in one boot. New connections make them independent, because metrics of
/// old ones are not kept. A boot takes as long as ten answers to a scenario with few segments.
const SHARED: u32 = 10;

/// Answers that a boot still has to give.
pub struct Boot<'a> {
    number: u32,
    rig: Rig,
    /// Scenarios with the numbers of the answers, in the order in which they run.
    answers: Vec<(&'a OracleScenario, u32)>,
    /// The folder for the segments that senders receive and send, if they are captured. The answers of such a boot are
    /// not kept, because capturing copies every packet.
    streams: Option<PathBuf>,
}

/// What the guest reads.
#[derive(Serialize)]
struct Plan<'a> {
    boot: u32,
    #[serde(flatten)]
    rig: Rig,
    scenarios: Vec<&'a OracleScenario>,
}

/// The boots for answers that are neither committed nor stored yet, at most `most` for each scenario.
pub fn missing<'a>(
    kernel: &Kernel,
    scenarios: &[&'a OracleScenario],
    committed: &Answers,
    most: u32,
) -> Vec<Boot<'a>> {
    let mut rigs: Vec<Rig> = scenarios.iter().map(|scenario| scenario.rig).collect();
    rigs.sort_unstable();
    rigs.dedup();
    let last = scenarios
        .iter()
        .map(|scenario| scenario.answers.min(most))
        .max();
    let is_missing = |(scenario, answer): &(&OracleScenario, u32)| {
        *answer <= scenario.answers.min(most)
            && !is_committed(scenario, committed, *answer)
            && !place(kernel, scenario, *answer).exists()
    };
    let mut boots = Vec::new();
    for number in (1..).take_while(|boot| *answers_of(*boot).start() <= last.unwrap_or(0)) {
        for rig in &rigs {
            let own = scenarios.iter().filter(|scenario| scenario.rig == *rig);
            let answers = own.flat_map(|scenario| answers_of(number).map(|one| (*scenario, one)));
            let answers: Vec<(&OracleScenario, u32)> = answers.filter(is_missing).collect();
            if !answers.is_empty() {
                boots.push(Boot {
                    number,
                    rig: *rig,
                    answers,
                    streams: None,
                });
            }
        }
    }
    boots
}

/// The numbers of the answers that a boot gives to a scenario, the first boot being 1.
fn answers_of(boot: u32) -> RangeInclusive<u32> {
    match boot.checked_sub(ALONE + 1) {
        None => boot..=boot,
        Some(later) => ALONE + later * SHARED + 1..=ALONE + (later + 1) * SHARED,
    }
}

/// The boots that capture the segments of senders in these scenarios into folders below `folder`, for folders that do
/// not exist yet. The number of a boot is the scenario's index in the whole list, independent of the selection.
pub fn capturing<'a>(scenarios: &'a [OracleScenario], folder: &Path) -> Vec<Boot<'a>> {
    let all = list::all();
    let number = |name: &str| (1..).zip(&all).find(|(_, one)| one.name == name);
    let one = |scenario: &'a OracleScenario| Boot {
        number: number(&scenario.name).map_or(0, |(number, _)| number),
        // The time at which a packet has left an end can be computed from its arrival at the switch.
        rig: Rig {
            jitter: 0,
            ..scenario.rig
        },
        answers: vec![(scenario, 1)],
        streams: Some(folder.join(&scenario.name)),
    };
    let is_absent = |boot: &Boot<'_>| boot.streams.as_ref().is_some_and(|place| !place.exists());
    scenarios.iter().map(one).filter(is_absent).collect()
}

/// The answers to a scenario: from this machine's boots and, if there are none, the committed ones.
pub fn stored(
    kernel: &Kernel,
    scenario: &OracleScenario,
    committed: &Answers,
    most: u32,
) -> Result<Answered> {
    let mut answered = Answered {
        definition: scenario.definition(),
        ..Answered::default()
    };
    for number in 1..=scenario.answers.min(most) {
        let place = place(kernel, scenario, number);
        if place.exists() {
            let raw: Raw = serde_json::from_str(&fs::read_to_string(&place)?)
                .with_context(|| format!("{} is no answer of a boot", place.display()))?;
            answered.boots.insert(number, raw.into());
        } else if is_committed(scenario, committed, number) {
            let answer = committed[&scenario.name].boots[&number].clone();
            answered.boots.insert(number, answer);
        }
    }
    Ok(answered)
}

/// Whether the committed data has the answer with this number to the current definition of the scenario.
fn is_committed(scenario: &OracleScenario, committed: &Answers, answer: u32) -> bool {
    let answered = committed.get(&scenario.name);
    answered.is_some_and(|answered| {
        answered.definition == scenario.definition() && answered.boots.contains_key(&answer)
    })
}

/// The path of an answer. Its name contains the scenario, its definition and the number of the answer.
fn place(kernel: &Kernel, scenario: &OracleScenario, answer: u32) -> PathBuf {
    let name = format!(
        "{}-{:016x}-{answer}.json",
        scenario.name,
        scenario.definition()
    );
    kernel.folder.join("answers").join(name)
}

/// Writes an answer completely or not at all.
fn keep(place: &Path, answer: &str) -> Result<()> {
    let unfinished = place.with_extension("part");
    fs::write(&unfinished, answer)?;
    fs::rename(&unfinished, place)?;
    Ok(())
}

impl Boot<'_> {
    /// Its number and scenarios, for people.
    pub fn title(&self) -> String {
        let runs = self
            .answers
            .chunk_by(|one, other| one.0.name == other.0.name);
        let runs = runs.map(|run| match run {
            [(scenario, _)] => scenario.name.clone(),
            run => format!("{} x{}", run[0].0.name, run.len()),
        });
        format!(
            "boot {}: {}",
            self.number,
            runs.collect::<Vec<_>>().join(" ")
        )
    }

    /// Boots and stores each answer when it comes, so answers of a failed boot are kept.
    pub fn run(&self, kernel: &Kernel) -> Result<()> {
        let answers = kernel.folder.join("answers");
        let own = kernel
            .folder
            .join("boots")
            .join(format!("{}-{:x}", self.number, self.hash()));
        for folder in [&answers, &own] {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // An incomplete capture of a failed boot must not count as complete.
        let part = self.streams.as_ref().map(|folder| {
            let mut name = folder.clone().into_os_string();
            name.push(".part");
            PathBuf::from(name)
        });
        if let Some(part) = &part {
            if part.exists() {
                fs::remove_dir_all(part)?;
            }
            fs::create_dir_all(part)?;
        }
        let (status, text) = self.boot(kernel, &own, part.as_deref())?;
        let given = text.lines();
        let given = given.filter_map(|line| line.trim().strip_prefix("ANSWER "));
        let mut count = 0;
        for (line, (scenario, number)) in given.zip(&self.answers) {
            let raw: Raw = serde_json::from_str(line)?;
            ensure!(raw.name == scenario.name, "an answer to another scenario");
            count += 1;
            if self.streams.is_none() {
                keep(&place(kernel, scenario, *number), line)?;
            }
        }
        if count < self.answers.len() {
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(12)..].join("\n");
            bail!(
                "{} answers of {} ({status}); the guest's console ends so:\n{last}",
                count,
                self.answers.len()
            );
        }
        ensure!(text.contains("LAB-END"), "the guest did not end by itself");
        if let (Some(part), Some(folder)) = (&part, &self.streams) {
            fs::rename(part, folder)?;
        }
        fs::remove_dir_all(&own)?;
        Ok(())
    }

    /// Runs the guest with the files in `own` and captures into `streams`. Returns its exit and its output.
    fn boot(
        &self,
        kernel: &Kernel,
        own: &Path,
        streams: Option<&Path>,
    ) -> Result<(ExitStatus, String)> {
        let plan = Plan {
            boot: self.number,
            rig: self.rig,
            scenarios: self.answers.iter().map(|(scenario, _)| *scenario).collect(),
        };
        fs::write(own.join("plan.json"), serde_json::to_string(&plan)?)?;
        fs::write(own.join("lab.py"), LAB)?;
        let init = own.join("init.sh");
        fs::write(&init, INIT)?;
        fs::set_permissions(&init, fs::Permissions::from_mode(0o755))?;
        let console = own.join("console");
        let capture = own.join("capture.py");
        fs::write(&capture, CAPTURE)?;
        let streams = streams.into_iter().flat_map(|folder| {
            [
                format!("LAB_CAPTURE={}", capture.display()),
                format!("LAB_STREAMS={}", folder.display()),
            ]
        });
        let status = Command::new("timeout")
            .arg(PATIENCE.to_string())
            .args(["nice", "-n", "10"])
            .arg(kernel.program())
            .args([
                "mem=1G",
                "rootfstype=hostfs",
                "root=/dev/root",
                "rootflags=/",
                "ro",
            ])
            .args(["time-travel=inf-cpu", "time-travel-start=1000000000"])
            .args(["con=null", "con0=null,fd:1", "quiet"])
            .arg(format!("init={}", init.display()))
            .arg(format!("LAB_PROGRAM={}", own.join("lab.py").display()))
            .arg(format!("LAB_PLAN={}", own.join("plan.json").display()))
            .args(streams)
            .env("TMPDIR", "/dev/shm")
            .stdin(Stdio::null())
            .stdout(fs::File::create(&console)?)
            .stderr(Stdio::null())
            .status()
            .context("the kernel did not start")?;
        let text = String::from_utf8_lossy(&fs::read(&console)?).into_owned();
        Ok((status, text))
    }

    fn hash(&self) -> u64 {
        XxHash64::oneshot(0, self.title().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_one_boot_and_later_ones_share_theirs() {
        let all: Vec<u32> = (1..=24).flat_map(answers_of).collect();
        assert_eq!(all, (1..=60).collect::<Vec<_>>());
        assert_eq!((answers_of(20), answers_of(21)), (20..=20, 21..=30));
    }
}
