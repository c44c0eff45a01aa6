//! Settings that every episode draws anew.

use engine::random::Stream;
use plan::PointSpec;
use scenario::{Overrides, Problem, Problems, Scenario, Source};

/// A setting that is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    /// Its key.
    pub key: String,
    /// What it is drawn from.
    pub from: From,
}

/// What values are drawn from.
#[derive(Clone, PartialEq, Debug)]
pub enum From {
    /// Numbers with the same unit between two bounds.
    Range {
        /// The bounds, both of which may be drawn.
        bounds: (f64, f64),
        /// The unit, as texts of settings have it; may be empty.
        unit: String,
        /// Whether numbers are whole.
        whole: bool,
        /// Whether their logarithms are even, and not the numbers themselves.
        log: bool,
    },
    /// One of several texts.
    Choice(Vec<String>),
}

/// A scenario with one simulation, whose drawn settings depend on the seed.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    source: Source,
    overrides: Overrides,
    draws: Vec<Draw>,
    /// The simulation, if nothing is drawn.
    fixed: Option<PointSpec>,
}

impl Template {
    /// Checks the scenario at both ends of what is drawn.
    pub(crate) fn new(
        source: Source,
        overrides: Overrides,
        draws: Vec<Draw>,
    ) -> Result<Self, Problems> {
        let mut template = Self {
            source,
            overrides,
            draws,
            fixed: None,
        };
        let first = template.load(&|draw| draw.end(0.0), 1)?;
        template.load(&|draw| draw.end(1.0), 1)?;
        template.fixed = template.draws.is_empty().then_some(first);
        Ok(template)
    }

    /// The simulation of a seed.
    pub(crate) fn point(&self, seed: u64) -> Result<PointSpec, Problems> {
        if let Some(point) = &self.fixed {
            return Ok(PointSpec {
                seed,
                ..point.clone()
            });
        }
        let draw = |draw: &Draw| {
            // Each setting has a stream of its own, so that another one changes none.
            let mut stream = Stream::new(seed, &draw.key, 0);
            draw.at(&mut stream)
        };
        self.load(&draw, seed)
    }

    /// The simulation with everything at the upper end.
    pub(crate) fn largest(&self) -> Result<PointSpec, Problems> {
        self.load(&|draw| draw.end(1.0), 1)
    }

    /// Whether simulations differ in more than their seed.
    pub(crate) fn is_drawn(&self) -> bool {
        !self.draws.is_empty()
    }

    fn load(&self, text: &dyn Fn(&Draw) -> String, seed: u64) -> Result<PointSpec, Problems> {
        let mut overrides = self.overrides.clone();
        overrides.seed = Some(seed);
        let drawn = self.draws.iter();
        overrides
            .sets
            .extend(drawn.map(|draw| format!("{}={}", draw.key, text(draw))));
        let scenario = Scenario::load(self.source.clone(), &overrides)?;
        match scenario.points() {
            [point] => Ok(point.clone()),
            points => {
                let problem = Problem::new(format!(
                    "an environment is one simulation, and this scenario has {}: of {}",
                    points.len(),
                    several(&scenario)
                ));
                let help = "name one scheme, and one value of each setting or what to draw it from";
                Err(problem.help(help).into())
            }
        }
    }
}

impl Draw {
    fn at(&self, stream: &mut Stream) -> String {
        match &self.from {
            From::Choice(texts) => {
                let place =
                    usize::try_from(stream.below(texts.len() as u64)).expect("below a length");
                texts[place].clone()
            }
            From::Range { .. } => self.end(stream.unit()),
        }
    }

    /// The value at this share of the way from the lower end to the upper end.
    fn end(&self, share: f64) -> String {
        match &self.from {
            From::Choice(texts) if share < 0.5 => texts[0].clone(),
            From::Choice(texts) => texts[texts.len() - 1].clone(),
            From::Range {
                bounds: (low, high),
                unit,
                whole: true,
                ..
            } => {
                // Each whole number is as likely as each other; the end itself belongs to the last.
                let number = (low + (share * (high - low + 1.0)).floor()).min(*high);
                format!("{number:.0}{unit}")
            }
            From::Range {
                bounds: (low, high),
                unit,
                log,
                ..
            } => {
                let number = if *log {
                    low * libm::pow(high / low, share)
                } else {
                    low + share * (high - low)
                };
                format!("{}{unit}", digits(number))
            }
        }
    }
}

/// What makes several simulations of a scenario.
fn several(scenario: &Scenario) -> String {
    let mut found = Vec::new();
    if scenario.schemes().len() > 1 {
        found.push(scenario.schemes().join(", "));
    }
    let (points, keys) = (scenario.points(), scenario.set_keys());
    let swept = keys.iter().filter(|key| {
        let text = points[0].text(key);
        points.iter().any(|point| point.text(key) != text)
    });
    found.extend(swept.map(|key| format!("values of {key}")));
    if scenario.seeds() > 1 {
        found.push(format!("{} seeds", scenario.seeds()));
    }
    found.join(", and of ")
}

/// A number with six digits: settings are read exactly, and few have more.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of digits"
)]
fn digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before = libm::log10(number.abs()).floor() as i32 + 1;
    let text = format!("{number:.*}", (6 - before).clamp(0, 12) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
