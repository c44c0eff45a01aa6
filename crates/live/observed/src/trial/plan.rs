//! The plan, decided before anything acts.

use serde::{Deserialize, Serialize};

use super::expected::ExpectedEffect;
use super::measure::{TrialGoal, TrialGuard, TrialMeasure};
use super::shape::TrialShape;

/// Everything about a trial that is decided before it begins. Its hash is printed, so that nobody can change it
/// afterwards.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialPlan {
    /// The version of the program that made it.
    pub version: String,
    /// The law.
    pub law: String,
    /// Its settings, as `KEY=VALUE`.
    pub sets: Vec<String>,
    /// Room of the queue in bytes, if it was given.
    pub buffer: Option<u64>,
    /// The device.
    pub device: String,
    /// The name of its network namespace; empty for that of the command.
    pub netns: String,
    /// Periods and their length.
    pub shape: TrialShape,
    /// The seed of the coins.
    pub seed: u64,
    /// Whether the law acts in each period: of two neighbours, in one.
    pub schedule: Vec<bool>,
    /// The number that is compared.
    pub measure: TrialMeasure,
    /// The bound for it with the law.
    pub goal: Option<TrialGoal>,
    /// When the law is taken away early.
    pub guard: TrialGuard,
    /// Whether those flows are judged that leave by the device, or those that come in.
    pub leaves: bool,
    /// Flows in that direction that were observed before the trial.
    pub flows_before: u64,
    /// The measure before the trial.
    pub before_s: f64,
    /// The model's effect, if the model fits.
    pub expected: Option<ExpectedEffect>,
    /// Why there is none, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unexpected: Option<Unexpected>,
    /// The analysis, in words.
    pub analysis: String,
}

/// Why no effect of a law is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unexpected {
    /// The model of this traffic does not have the law: its senders would not notice it.
    NotModelled,
    /// The model of today differs from what was seen.
    DoesNotFit,
    /// Too few flows were seen from their beginning on, or some do not end in the model.
    TooFew,
}

/// A period that is over.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialPeriod {
    /// Its index in the schedule. One past the last is the time after the trial.
    pub number: u32,
    /// Whether the law acted.
    pub on: bool,
    /// When it began, in seconds since watching began.
    pub begin_s: f64,
    /// When it ended.
    pub end_s: f64,
}
