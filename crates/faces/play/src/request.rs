//! Requests of the page.

use std::num::NonZeroU32;

use scenario::{Overrides, Problems, Scenario, Source};
use serde::{Deserialize, Serialize};

/// The task.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageTask {
    /// To simulate, on one seed.
    Run(PageRequest),
    /// To simulate, and to give the scenes of the first losses.
    Play(PageRequest),
    /// To simulate what a figure of a paper shows, on one seed, and to draw a panel of it.
    Draw {
        /// The runs.
        run: PageRequest,
        /// The panel.
        panel: Panel,
    },
    /// To say which version of the simulator this is.
    Version,
}

/// A scenario, and what is said over its head: the arguments of `tailwater run`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PageRequest {
    /// The name of the scenario in the command.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Schemes and variants; empty: the scenario's.
    pub schemes: Vec<String>,
    /// Settings with their texts; several values, as in `10,20`, make a sweep.
    pub sets: Vec<(String, String)>,
    /// The seed; none: the scenario's.
    pub seed: Option<u64>,
    /// Goals of the results.
    pub goals: Vec<String>,
    /// Seconds that a run may take before the page asks whether it is wanted.
    pub patience_s: Option<f64>,
    /// Whether the answer has every metric of every simulation, with all digits.
    pub numbers: bool,
}

/// A panel of a paper's figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panel {
    /// Its name, as in `fig5a-1`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The bytes of its [`claims::Plot`].
    pub plot: Vec<u8>,
    /// All schemes of the figure; the colour of a scheme follows from its place here.
    pub schemes: Vec<String>,
}

impl PageRequest {
    /// The scenario.
    pub(crate) fn scenario(&self) -> Result<Scenario, Problems> {
        self.traced(None)
    }

    /// The scenario without anything recorded over time.
    pub(crate) fn untraced(&self) -> Result<Scenario, Problems> {
        self.traced(Some("off".to_owned()))
    }

    fn traced(&self, trace: Option<String>) -> Result<Scenario, Problems> {
        let source = Source::new(&self.name, &self.text).shared(&claims::KEYS);
        let sets = self.sets.iter();
        let overrides = Overrides {
            schemes: (!self.schemes.is_empty()).then(|| self.schemes.join(",")),
            sets: sets.map(|(key, text)| format!("{key}={text}")).collect(),
            seed: self.seed,
            seeds: Some(NonZeroU32::MIN),
            goals: self.goals.clone(),
            trace,
            ..Overrides::default()
        };
        Scenario::load(source, &overrides)
    }

    /// The command that gives the same numbers.
    pub(crate) fn command(&self, scenario: &Scenario) -> String {
        let mut words = ["tailwater", "run", &self.name].map(str::to_owned).to_vec();
        let mut argument = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
        if !self.schemes.is_empty() {
            argument("--scheme", self.schemes.join(","));
        }
        for (key, text) in &self.sets {
            argument("--set", format!("{key}={text}"));
        }
        argument("--seed", scenario.points()[0].seed.to_string());
        argument("--seeds", "1".to_owned());
        let words = words.iter().map(|word| answer::words::quoted(word));
        words.collect::<Vec<String>>().join(" ")
    }
}
