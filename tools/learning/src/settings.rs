//! The definition of an environment: agents, decisions, times, and observations.

use base::{Quantity, Span};
use scenario::{Problem, Problems, Source};

/// The relation of agents to a simulation.
#[derive(Clone, PartialEq, Debug)]
pub struct EnvironmentSettings {
    /// Who decides.
    pub agents: Agents,
    /// What a decision sets.
    pub act: Act,
    /// The time from one decision to the next.
    pub interval: DecisionInterval,
    /// The features that an agent sees, in this order.
    pub observe: Vec<Feature>,
    /// The reward of a step: the sum of terms, each times its weight.
    pub reward: Vec<(Term, f64)>,
    /// Steps after which an episode is truncated.
    pub max_steps: Option<u64>,
    /// The largest window, in segments; `None`: the window that fills the wires and the buffer of the bottleneck.
    pub max_window: Option<f64>,
}

/// The time from one decision to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecisionInterval {
    /// The longest round trip of the network without queues.
    RoundTrip,
    /// A fixed one.
    Fixed(Span),
}

/// Makes an enum of words that users write, each with its meaning.
macro_rules! words {
    ($(#[$documentation:meta])* $name:ident, $what:literal: $($(#[doc = $help:literal])+ $variant:ident = $word:literal),+ $(,)?) => {
        $(#[$documentation])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[doc = $help])+ $variant,)+
        }

        impl $name {
            /// All of them, in the order in which lists show them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// What users call it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// What it means, as a sentence.
            pub const fn help(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($help),+).trim_ascii(),)+
                }
            }

            /// The one that users call so.
            ///
            /// # Errors
            /// Names all of them.
            pub fn parse(word: &str) -> Result<Self, Problems> {
                let found = Self::ALL.iter().find(|one| one.name() == word);
                found.copied().ok_or_else(|| unknown($what, word, Self::ALL.iter().map(|one| one.name())))
            }
        }
    };
}

words! {
    /// Who decides.
    Agents, "agents":
    /// One agent for every connection, in the place of its sender.
    Flow = "flow",
    /// One agent for every receiving host, for all connections to it.
    Host = "host",
    /// One agent at the bottleneck's port, for all connections.
    Port = "port",
}

words! {
    /// What a decision sets.
    Act, "act":
    /// The window, in segments.
    Window = "window",
    /// The rate, as a share of the link of the sending host.
    Rate = "rate",
    /// The window, as a multiple of the one before.
    Factor = "factor",
}

words! {
    /// What an agent sees. Counts are those of the last step; an agent of several connections sees their sum,
    /// unless it is a mean.
    Feature, "observe":
    /// Window in segments, or those that a rate sends in a round trip: the mean of flows that run, 0 without any.
    Window = "window",
    /// Segments sent and not acknowledged.
    InFlight = "in_flight",
    /// Segments written by applications and not acknowledged.
    Remaining = "remaining",
    /// Payload acknowledged in the step, as a share of what the receiving host's link can carry in it.
    Goodput = "goodput",
    /// Mean round trip in the step over the one without queues; without a sample the one before, at first 1.
    Rtt = "rtt",
    /// Share of the bytes acknowledged in the step whose ACKs carried an ECN echo.
    Marks = "marks",
    /// Losses in the step that ACKs told of.
    Losses = "losses",
    /// Retransmission timers that expired in the step.
    Timeouts = "timeouts",
    /// Bytes that wait at the port, as a share of its buffer, which without a bound is a bandwidth-delay product.
    Queue = "queue",
    /// Packets that the port dropped in the step.
    Drops = "drops",
    /// Flows that run.
    Active = "active",
    /// Time since the oldest flow that runs has started, in round trips without queues; 0 without any.
    Age = "age",
}

words! {
    /// What a step came to, over all connections: what rewards are made of.
    Term, "reward":
    /// Payload acknowledged, as a share of what the links of the receiving hosts can carry in the step.
    Goodput = "goodput",
    /// Time that flows took, each from its start to its completion, in steps.
    FlowTime = "flow_time",
    /// Mean round trip over the one without queues, less 1; 0 without a sample.
    Delay = "delay",
    /// Bytes that wait at the bottleneck at the end of the step, as a share of its buffer.
    Queue = "queue",
    /// Packets dropped in front of receiving hosts and at the bottleneck.
    Drops = "drops",
    /// Losses that ACKs told of.
    Losses = "losses",
    /// Retransmission timers that expired.
    Timeouts = "timeouts",
    /// Flows that were complete.
    Completed = "completed",
}

words! {
    /// When an environment begins its next episode, by the names of Gymnasium.
    Autoreset, "autoreset":
    /// In the step behind the last of an episode, whose decisions are ignored.
    NextStep = "NextStep",
    /// In the last step of an episode: what is seen then is the beginning of the next.
    SameStep = "SameStep",
    /// When it is told to.
    Disabled = "Disabled",
}

impl DecisionInterval {
    /// "rtt" or a time.
    ///
    /// # Errors
    /// Says so.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        if text == "rtt" {
            return Ok(Self::RoundTrip);
        }
        let span = Span::parse(text).ok().filter(|span| *span > Span::ZERO);
        span.map(Self::Fixed).ok_or_else(|| {
            let help = "\"rtt\", or a time with its unit, as in \"100us\"";
            wrong("interval", text).help(help).into()
        })
    }
}

impl EnvironmentSettings {
    /// Fails for settings that contradict each other or have no meaning.
    pub(crate) fn check(&self) -> Result<(), Problems> {
        let mut problems = Vec::new();
        if self.observe.is_empty() {
            let problem = Problem::new("observe names nothing");
            problems.push(problem.help(format!(
                "any of {}",
                listed(Feature::ALL.iter().map(|one| one.name()))
            )));
        }
        for (place, feature) in self.observe.iter().enumerate() {
            if self.observe[..place].contains(feature) {
                let problem = wrong("observe", feature.name());
                problems.push(problem.help("name each feature once"));
            }
        }
        if self
            .max_window
            .is_some_and(|most| !(1.0..=LARGEST).contains(&most))
        {
            let problem = Problem::new("max_window is no window");
            problems.push(problem.help("give a number of segments from 1 to 1,000,000"));
        }
        if self.max_steps == Some(0) {
            let problem = Problem::new("max_steps is 0");
            problems.push(problem.help("give a number of steps of at least 1"));
        }
        for (term, weight) in &self.reward {
            if !weight.is_finite() {
                let problem = wrong("reward", term.name());
                problems.push(problem.help("weights are finite numbers"));
            }
        }
        Problems::unless(problems, ())
    }
}

/// An error for a text that is no value of an argument.
fn wrong(argument: &str, text: &str) -> Problem {
    let source = Source::new(argument, text);
    Problem::new(format!("{argument} cannot be {text:?}")).at(&source, 0..text.len(), "wrong value")
}

fn unknown(argument: &str, word: &str, names: impl Iterator<Item = &'static str>) -> Problems {
    wrong(argument, word).help(listed(names)).into()
}

/// Words as a list in a sentence.
fn listed(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.map(|name| format!("{name:?}")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The largest allowed window, in segments: far beyond every buffer.
const LARGEST: f64 = 1e6;
