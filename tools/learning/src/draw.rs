//! Settings that are drawn for every episode.

use base::cast::integer;
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

/// The distribution of a drawn value.
#[derive(Clone, PartialEq, Debug)]
pub enum From {
    /// Numbers with the same unit between two bounds.
    Range {
        /// The bounds, both inclusive.
        bounds: (f64, f64),
        /// The unit, as in texts of settings; may be empty.
        unit: String,
        /// Whether numbers are whole.
        whole: bool,
        /// Whether logarithms are uniform instead of the numbers themselves.
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
    /// The simulation, if no setting is drawn.
    fixed: Option<PointSpec>,
}

impl Template {
    /// Checks the scenario at both ends of the drawn ranges.
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
            // Each setting has its own stream, so that other drawn settings do not change it.
            let mut stream = Stream::new(seed, &draw.key, 0);
            draw.at(&mut stream)
        };
        self.load(&draw, seed)
    }

    /// The simulation with every drawn setting at its upper end.
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

    /// The value at this share of the way from the lower to the upper end.
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
                // Each whole number is equally likely; the upper end itself belongs to the last one.
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

/// The reason why a scenario has several simulations.
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

/// A number with six digits. Settings are parsed exactly, and few have more digits.
fn digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before = integer(libm::log10(number.abs()).floor()) + 1;
    let text = format!(
        "{number:.*}",
        usize::try_from((6 - before).clamp(0, 12)).unwrap_or(0)
    );
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
