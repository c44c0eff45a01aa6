//! The answer of a boot of the kernel, or of a seed of the simulator, to a scenario.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::list::number;

/// One run of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenarioRun {
    /// Of an incast, its rounds.
    pub rounds: Vec<Round>,
    /// For flows without end: the arrived bytes.
    pub carried: Option<Carried>,
    /// Mean queue at the port in bytes, the packet in service included.
    pub queue_mean: f64,
    /// Packets dropped at the port.
    pub drops: u64,
    /// Packets marked there.
    pub marks: u64,
    /// Counters of TCP by the names of the kernel, all hosts together.
    pub counters: BTreeMap<String, u64>,
}

/// One round of an incast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// From the first request to the last byte, in us.
    pub us: f64,
    /// Retransmission timers that expired.
    pub timeouts: u64,
}

/// Payload that arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// How long the scenario took, in s.
    pub seconds: f64,
    /// Bytes of each flow.
    pub bytes: Vec<u64>,
    /// The part of this time in which the late bytes arrived, in s.
    pub late_seconds: f64,
    /// Bytes of each flow in that part.
    pub late_bytes: Vec<u64>,
}

/// An answer as the guest prints it.
#[derive(Deserialize)]
pub(crate) struct Raw {
    pub(crate) name: String,
    #[serde(default)]
    rounds: Vec<(u64, u64)>,
    seconds: Option<f64>,
    #[serde(default)]
    bytes: Vec<u64>,
    #[serde(default)]
    late_seconds: f64,
    #[serde(default)]
    late_bytes: Vec<u64>,
    queue_mean: f64,
    drops: u64,
    marks: u64,
    tx: BTreeMap<String, u64>,
    rx: BTreeMap<String, u64>,
}

/// Counters that show which mechanism acted, among all counters of the kernel.
pub const COUNTERS: [&str; 22] = [
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPLossProbeRecovery",
    "TcpRetransSegs",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPLostRetransmit",
    "TCPSackRecovery",
    "TCPSpuriousRTOs",
    "TCPDSACKRecv",
    "TCPDSACKUndo",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPLossUndo",
    "TCPSACKReorder",
    "TCPHystartTrainDetect",
    "TCPHystartDelayDetect",
    "TcpDelayedACKs",
    "TCPSynRetrans",
    "TCPRenoRecovery",
    "TCPRenoFailures",
    "TCPChallengeACK",
];

impl From<Raw> for ScenarioRun {
    fn from(raw: Raw) -> Self {
        let mut counters = BTreeMap::new();
        for (name, count) in raw.tx.into_iter().chain(raw.rx) {
            if COUNTERS.contains(&&*name) {
                *counters.entry(name).or_default() += count;
            }
        }
        let round = |(ns, timeouts)| Round {
            us: number(ns) / 1e3,
            timeouts,
        };
        Self {
            rounds: raw.rounds.into_iter().map(round).collect(),
            carried: raw.seconds.map(|seconds| Carried {
                seconds,
                bytes: raw.bytes,
                late_seconds: raw.late_seconds,
                late_bytes: raw.late_bytes,
            }),
            queue_mean: raw.queue_mean.round(),
            drops: raw.drops,
            marks: raw.marks,
            counters,
        }
    }
}

impl ScenarioRun {
    /// A counter; 0 if it did not change.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Retransmission timers that expired.
    pub fn timeouts(&self) -> u64 {
        self.counter("TCPTimeouts")
    }
}

/// Answers by the name of the scenario.
pub type Answers = BTreeMap<String, Answered>;

/// The kernel's answers to a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// [`Scenario::definition`](crate::list::OracleScenario::definition) of the scenario at the time of the answers.
    pub definition: u64,
    /// An answer of each boot, by the number of the boot.
    pub boots: BTreeMap<u32, ScenarioRun>,
}

impl Answered {
    /// The answers, in the order of boots.
    pub fn all(&self) -> Vec<ScenarioRun> {
        self.boots.values().cloned().collect()
    }
}

/// One line of the data: lists are joined by spaces.
#[derive(Serialize, Deserialize)]
struct Line {
    scenario: String,
    definition: String,
    boot: u32,
    round_us: String,
    round_timeouts: String,
    seconds: Option<f64>,
    bytes: String,
    late_seconds: Option<f64>,
    late_bytes: String,
    queue_mean_bytes: f64,
    drops: u64,
    marks: u64,
    counters: String,
}

/// Reads the data of `path`.
pub fn read(path: &Path) -> Result<Answers> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_path(path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let mut answers = Answers::new();
    for line in reader.deserialize() {
        let line: Line = line.with_context(|| format!("in {}", path.display()))?;
        let of_file = || format!("in {}", path.display());
        let (boot, definition) = (line.boot, u64::from_str_radix(&line.definition, 16));
        let (name, answer) = line.answer().with_context(of_file)?;
        let answered: &mut Answered = answers.entry(name).or_default();
        answered.definition = definition.with_context(of_file)?;
        answered.boots.insert(boot, answer);
    }
    Ok(answers)
}

/// The data as a text, `origin` in its comments.
pub fn write(answers: &Answers, origin: &str) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (name, answered) in answers {
        for (boot, answer) in &answered.boots {
            writer.serialize(Line::of(name, answered.definition, *boot, answer))?;
        }
    }
    let table = String::from_utf8(writer.into_inner()?)?;
    let comments: Vec<String> = origin.lines().map(|line| format!("# {line}\n")).collect();
    Ok(comments.concat() + &table)
}

impl Line {
    fn of(name: &str, definition: u64, boot: u32, answer: &ScenarioRun) -> Self {
        let carried = answer.carried.as_ref();
        let counters = answer.counters.iter();
        Self {
            scenario: name.to_owned(),
            definition: format!("{definition:016x}"),
            boot,
            round_us: joined(answer.rounds.iter().map(|round| format!("{:.1}", round.us))),
            round_timeouts: joined(answer.rounds.iter().map(|round| round.timeouts)),
            seconds: carried.map(|carried| carried.seconds),
            bytes: carried.map_or_else(String::new, |carried| joined(&carried.bytes)),
            late_seconds: carried.map(|carried| carried.late_seconds),
            late_bytes: carried.map_or_else(String::new, |carried| joined(&carried.late_bytes)),
            queue_mean_bytes: answer.queue_mean,
            drops: answer.drops,
            marks: answer.marks,
            counters: joined(counters.map(|(name, count)| format!("{name}={count}"))),
        }
    }

    fn answer(self) -> Result<(String, ScenarioRun)> {
        let us: Vec<f64> = split(&self.round_us)?;
        let timeouts: Vec<u64> = split(&self.round_timeouts)?;
        let rounds = us.into_iter().zip(timeouts);
        let mut counters = BTreeMap::new();
        for text in self.counters.split_whitespace() {
            let (name, count) = text.split_once('=').context("a counter has a value")?;
            counters.insert(name.to_owned(), count.parse()?);
        }
        let carried = match self.seconds {
            Some(seconds) => Some(Carried {
                seconds,
                bytes: split(&self.bytes)?,
                late_seconds: self.late_seconds.context("late_seconds")?,
                late_bytes: split(&self.late_bytes)?,
            }),
            None => None,
        };
        let answer = ScenarioRun {
            rounds: rounds
                .map(|(us, timeouts)| Round { us, timeouts })
                .collect(),
            carried,
            queue_mean: self.queue_mean_bytes,
            drops: self.drops,
            marks: self.marks,
            counters,
        };
        Ok((self.scenario, answer))
    }
}

fn joined(values: impl IntoIterator<Item = impl ToString>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    values.join(" ")
}

fn split<T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    text: &str,
) -> Result<Vec<T>> {
    let values = text.split_whitespace().map(|value| Ok(value.parse()?));
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_read_as_they_were_written() {
        let raw = r#"{"name": "a", "rounds": [[2276000, 0], [5611500, 2]], "queue_mean": 1.2, "drops": 3, "marks": 4,
            "tx": {"TCPTimeouts": 2, "TcpOutSegs": 9}, "rx": {"DelayedACKs": 7}}"#;
        let raw: Raw = serde_json::from_str(raw).unwrap();
        let incast = ScenarioRun::from(raw);
        assert_eq!(
            incast.rounds[1],
            Round {
                us: 5611.5,
                timeouts: 2
            }
        );
        assert_eq!((incast.timeouts(), incast.counter("TcpOutSegs")), (2, 0));
        let stream = ScenarioRun {
            carried: Some(Carried {
                seconds: 2.0,
                bytes: vec![5, 6],
                late_seconds: 1.0,
                late_bytes: vec![2, 3],
            }),
            ..ScenarioRun::default()
        };
        let answered = |definition, boots: Vec<(u32, ScenarioRun)>| Answered {
            definition,
            boots: boots.into_iter().collect(),
        };
        let answers = Answers::from([
            // The second boot failed.
            (
                "a".to_owned(),
                answered(7, vec![(1, incast.clone()), (3, incast)]),
            ),
            ("b".to_owned(), answered(u64::MAX, vec![(1, stream)])),
        ]);
        let text = write(&answers, "Linux").unwrap();
        let path = std::env::temp_dir().join(format!("oracle-{}.csv", std::process::id()));
        std::fs::write(&path, &text).unwrap();
        let again = read(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again.unwrap(), answers);
        assert!(
            text.starts_with("# Linux\nscenario,definition,boot,round_us,"),
            "{text}"
        );
    }
}
