//! Every simulation ends, for all scenarios: by itself, or at a limit.

use std::fmt::Write as _;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use engine::random::Stream;
use plan::PointSpec;
use plan::keys::all_keys;
use scenario::{BUILTINS, Overrides, Scenario, Source, limits};
use sim::error::RunError;
use sim::run::{self, Limits, Watching};

#[test]
fn random_scenarios_end() {
    let (mut tried, mut refused, mut number) = (0, 0, FIRST);
    while tried < SCENARIOS {
        let drawn = Drawn::new(number);
        number += 1;
        if ends(&drawn) {
            tried += 1;
        } else {
            refused += 1;
        }
    }
    // Otherwise the test would say little about scenarios that run.
    assert!(refused < 20 * SCENARIOS, "{refused} refused");
}

/// Runs a scenario, unless it is refused. Returns whether it ran.
fn ends(drawn: &Drawn) -> bool {
    let (sender, receiver) = mpsc::channel();
    let own = drawn.clone();
    // A thread that hangs is left until the process ends.
    let thread = thread::spawn(move || sender.send(simulate(&own)));
    match receiver.recv_timeout(PATIENCE) {
        Ok(done) => done,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("does not end: {}", drawn.command()),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            drop(thread.join());
            panic!("panics: {}", drawn.command());
        }
    }
}

fn simulate(drawn: &Drawn) -> bool {
    let Some(point) = drawn.point() else {
        return false;
    };
    let is_small = limits::check_steps(&[&point], false, STEPS).is_ok();
    if !is_small || sim::memory::estimate(&point) > MEMORY {
        return false;
    }
    let limits = Limits {
        steps: STEPS,
        memory: MEMORY,
        recorded: false,
        ..Limits::NONE
    };
    let watching = Watching {
        probe: None,
        breakdown: drawn.breakdown,
    };
    match run::watch(limits, &point, watching) {
        Ok(_) | Err(RunError::Work { .. } | RunError::Memory { .. } | RunError::NoFlow) => true,
        Err(error) => panic!("{error}: {}", drawn.command()),
    }
}

/// A built-in scenario with some settings at random values.
#[derive(Clone, Debug)]
struct Drawn {
    base: &'static str,
    scheme: String,
    sets: Vec<String>,
    breakdown: bool,
}

impl Drawn {
    fn new(number: u64) -> Self {
        let mut stream = Stream::new(1, "scenarios that end", number);
        let base = of(&mut stream, BUILTINS).name;
        let scheme = of(&mut stream, schemes::all()).name.to_owned();
        let mut sets: Vec<String> = Vec::new();
        for _ in 0..=stream.below(MOST_SETTINGS) {
            let key = *of(&mut stream, all_keys());
            let words = (key.choices)().iter().map(|(word, _)| *word);
            let values: Vec<&str> = words
                .chain(VALUES.iter().copied())
                .filter(|text| (key.check)(text).is_ok())
                .collect();
            let begin = format!("{}=", key.name);
            if !values.is_empty() && !sets.iter().any(|set| set.starts_with(&begin)) {
                sets.push(begin + of::<&str>(&mut stream, &values));
            }
        }
        Self {
            base,
            scheme,
            sets,
            breakdown: stream.below(2) == 0,
        }
    }

    /// Its first point, unless a setting is refused.
    fn point(&self) -> Option<PointSpec> {
        let overrides = Overrides {
            schemes: Some(self.scheme.clone()),
            sets: self.sets.clone(),
            ..Overrides::default()
        };
        let source = Source::builtin(self.base)?;
        let scenario = Scenario::load(source, &overrides).ok()?;
        scenario.points().first().cloned()
    }

    fn command(&self) -> String {
        let mut text = format!(
            "tailwater run {} --no-save --scheme {}",
            self.base, self.scheme
        );
        for set in &self.sets {
            write!(text, " --set '{set}'").expect("text takes text");
        }
        text
    }
}

fn of<'a, T>(stream: &mut Stream, all: &'a [T]) -> &'a T {
    let index = stream.below(all.len() as u64);
    &all[usize::try_from(index).expect("it is in memory")]
}

/// Values of all kinds of settings, ends of their ranges included: each setting takes those that fit.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "0", "1", "2", "3", "8", "60", "1000", "65535", "0.001", "0.1", "0.5", "0.999", "1.0", "2.5",
    "0s", "1ps", "1ns", "7us", "40us", "1ms", "33ms", "1s", "1000s",
    "1bps", "1kbps", "1Mbps", "1Gbps", "40Gbps", "1Tbps",
    "0B", "1B", "100B", "1pkt", "3pkt", "80pkt", "32KiB", "1MB", "1GiB",
    "off", "auto", "unlimited", "never", "true", "false",
    "uniform(1B, 300KB)", "exponential(10KB)", "uniform(0s, 10ms)", "exponential(1ms)",
    "web-search", "data-mining", "rack", "internet2", "telstra", "syn", "syn-ack x2", "segment 2", "1Mbps..1Gbps",
];

const SCENARIOS: u32 = 300;
/// The number of the first scenario.
const FIRST: u64 = 0;
const MOST_SETTINGS: u64 = 6;
/// The most steps of a simulation, which take seconds.
const STEPS: u64 = 300_000;
const MEMORY: u64 = 100_000_000;
/// Hundreds of times as long.
const PATIENCE: Duration = Duration::from_mins(2);
