//! Claims of a paper, and possible explanations of claims that do not reproduce.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::leaf;
use super::measure::{Measure, Weight};
use super::unit::Level;

/// Swept settings with the values at which something is judged or drawn. A key without an entry stands for all of its
/// values.
pub type At = Vec<(String, Vec<String>)>;

/// A claim of a paper that a run can confirm or refute.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name, unique within the experiment.
    pub id: String,
    /// The paper's statement, in our words.
    pub says: String,
    /// The place of the statement in the paper, as in `§6.2, Fig. 5(a)`.
    pub place: String,
    /// How it is judged.
    pub kind: ClaimKind,
    /// Values of swept settings at which it is judged.
    pub at: At,
    /// Values of swept settings that the claim excepts.
    pub except: At,
    /// The reason why it cannot be tested, if so. Our number is still shown.
    pub untestable: Option<String>,
    /// The reason why it is a check of ours and not the paper's statement, if so. It has a verdict but is not counted
    /// among the paper's claims.
    pub own: Option<String>,
    /// The part of the paper's sentence that a weaker claim leaves out. A weaker claim is counted separately.
    pub weaker: Option<String>,
}

/// How a claim is judged.
#[derive(Clone, Debug)]
pub enum ClaimKind {
    /// A number to compare.
    Number(Box<Number>),
    /// An order between schemes.
    Order(Box<OrderClaim>),
    /// A qualitative shape.
    Shape(Box<ShapeClaim>),
}

/// One side of a comparison: a measure of a scheme.
#[derive(Clone, PartialEq, Debug)]
pub struct Operand {
    /// The label of the scheme.
    pub scheme: String,
    /// The measure.
    pub measure: Measure,
    /// Values of swept settings, in addition to the claim's.
    pub at: At,
    /// The figure of the same paper whose runs are measured; `None` for the experiment's own runs.
    pub run: Option<String>,
    /// Its name in results.
    pub label: String,
}

/// A number that the paper states.
#[derive(Clone, Debug)]
pub struct Number {
    /// The operand that is measured.
    pub of: Operand,
    /// The operand with which it is compared.
    pub against: Option<Operand>,
    /// How the two are combined to one number.
    pub compare: Compare,
    /// How the values at the points of the axes are combined to one number.
    pub average: Average,
    /// Compares the averages, instead of averaging the comparisons at each point.
    pub of_averages: bool,
    /// The paper's value, in `unit`; two for a range.
    pub paper: (f64, f64),
    /// Its unit, as in `ms`; `%` for reductions and increases.
    pub unit: String,
    /// The allowed error, as a share of the paper's value or of the near end of its range; for a reduction or a share
    /// above one half, as a share of the remainder.
    pub tolerance: f64,
    /// The allowed error in a unit of its own, if a share makes no sense.
    pub within: Option<Level>,
    /// The rank of the scheme in the paper, which is checked if the number does not hold.
    pub rank: Option<Rank>,
}

/// How two measures are combined to one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compare {
    /// There is only one.
    #[default]
    #[serde(skip)]
    Value,
    /// How many per cent it is lower than the other.
    Reduction,
    /// How many per cent it is higher than the other.
    Increase,
    /// It over the other.
    Ratio,
    /// It less the other.
    Difference,
}

/// How the values at the points of the axes are combined to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Average {
    /// Their mean.
    #[default]
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Their sum.
    Sum,
}

/// An order that the paper states.
#[derive(Clone, Debug)]
pub struct OrderClaim {
    /// What is ordered.
    pub rank: Rank,
    /// Judges this average over all values of the axes instead of each value.
    pub average: Option<Average>,
}

/// A place in an order.
#[derive(Clone, Debug)]
pub enum Rank {
    /// One is the lowest, or this many are below it.
    Lowest {
        /// Which.
        of: Operand,
        /// All it is compared with.
        among: Vec<Operand>,
        /// Its place, from 1.
        place: usize,
    },
    /// One is the highest, or this many are above it.
    Highest {
        /// Which.
        of: Operand,
        /// All it is compared with.
        among: Vec<Operand>,
        /// Its place, from 1.
        place: usize,
    },
    /// All of them in ascending order.
    Sorted(Vec<Operand>),
}

/// A shape in a plot or in the text of the paper.
#[derive(Clone, Debug)]
pub struct ShapeClaim {
    /// Which shape.
    pub shape: ShapeKind,
    /// What has it: each of them.
    pub of: Vec<Operand>,
    /// The axis along which the shape extends; `None` if there is only one.
    pub x: Option<String>,
    /// Judges this average over all values of the axes instead of each value.
    pub average: Option<Average>,
    /// The allowed deviation as a share; its meaning depends on the shape.
    pub tolerance: f64,
}

/// A shape.
#[derive(Clone, Debug)]
pub enum ShapeKind {
    /// No value is further from the mean of all than the tolerance.
    Constant,
    /// Each value is above the one before. Dips within the tolerance of the whole rise are ignored.
    Rising,
    /// The same downwards.
    Falling,
    /// The greatest value lies inside, with both ends below it by more than the tolerance, and at this
    /// value of the axis if one is given.
    Peak(Option<String>),
    /// The least value lies inside, with both ends above it by more than the tolerance.
    Valley(Option<String>),
    /// Every value is above the level, less the tolerance.
    Above(Level),
    /// Every value is below the level, plus the tolerance. A queue that is always below its limit has never been full.
    Below(Level),
    /// Every value is within the tolerance of the level.
    Near(Level),
    /// At some value of the axis the level is reached, less the tolerance.
    Reaches(Level),
    /// All operands are equal within the tolerance of the greatest, or within the level.
    Equal(Option<Level>),
    /// Each is greater than the other at every value, by this factor.
    Greater {
        /// The other.
        than: Operand,
        /// How many times.
        factor: f64,
    },
    /// Each is less than the other at every value, by this factor.
    Less {
        /// The other.
        than: Operand,
        /// How many times.
        factor: f64,
    },
}

/// A change of an experiment's settings or measures: another reading of the paper, or a supposed cause of claims that
/// do not reproduce. All claims about the changed runs are judged with it, because a change that explains one claim may
/// break another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentChange {
    /// Its name, unique within the experiment.
    #[serde(default, deserialize_with = "leaf::id")]
    pub id: String,
    /// The supposition, in one sentence.
    pub says: String,
    /// Settings by full key with their texts. The scenario runs again with all of them.
    #[serde(default, deserialize_with = "leaf::settings")]
    pub set: Vec<(String, String)>,
    /// The only values of swept settings at which it is tried, if all values would take too long.
    #[serde(default, deserialize_with = "leaf::at")]
    pub at: At,
    /// The weight of each value of a series. Without settings, the same runs are measured again.
    pub weight: Option<Weight>,
    /// The end that decides when a flow is complete, if it is not the receiver. Without settings, the same runs are
    /// measured again.
    pub clock: Option<Clock>,
    /// Whether reductions, ratios and the like compare averages, for all claims. Without settings, the same runs are
    /// measured again.
    pub of_averages: Option<bool>,
    /// The changed schemes, which are the only ones to run again; empty for all.
    #[serde(default)]
    pub schemes: Vec<String>,
}

/// The end that decides when a flow is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Its receiver, when the last byte is in order.
    Receiver,
    /// Its sender, when the ACK of the last byte has arrived.
    Sender,
}

impl ExperimentChange {
    /// The schemes to run again; empty for all. These are the changed schemes, and the schemes with which claims about
    /// them compare flow by flow.
    pub fn runs<'a>(&'a self, claims: impl Iterator<Item = &'a Claim>) -> BTreeSet<&'a str> {
        let own = |scheme: &String| self.schemes.contains(scheme);
        let operands = claims.flat_map(|claim| claim.kind.operands());
        let changed = operands.filter(|operand| own(&operand.scheme));
        let others = changed.flat_map(|operand| operand.measure.other_schemes());
        let schemes = self.schemes.iter().map(String::as_str);
        schemes.chain(others).collect()
    }

    /// The part of the claim on which this cause is tried: the values of `at`. `None` if the cause changes no scheme of
    /// the claim, or if the claim is about other values, or about several of them together.
    pub fn tried_on(&self, claim: &Claim) -> Option<Claim> {
        let operands = claim.kind.operands();
        let changes = |operand: &&Operand| self.schemes.contains(&operand.scheme);
        if !self.schemes.is_empty() && !operands.iter().any(changes) {
            return None;
        }
        let mut narrowed = claim.clone();
        for (key, tried) in &self.at {
            let mut own = operands.iter().flat_map(|operand| &operand.at);
            if own.any(|(other, _)| other == key) {
                return None;
            }
            let of = |at: &At| at.iter().find(|(other, _)| other == key).cloned();
            let (named, excepted) = (of(&claim.at), of(&claim.except));
            let mut values = tried.clone();
            if let Some((_, excepted)) = excepted {
                values.retain(|value| !excepted.contains(value));
            }
            match named {
                Some((_, named)) if named.iter().all(|value| values.contains(value)) => {
                    values = named;
                }
                _ if claim.kind.is_of_all_values() => return None,
                Some((_, named)) => values.retain(|value| named.contains(value)),
                None => {}
            }
            if values.is_empty() {
                return None;
            }
            narrowed.at.retain(|(other, _)| other != key);
            narrowed.at.push((key.clone(), values));
        }
        Some(narrowed)
    }

    /// The measure that replaces a claim's `measure`.
    pub fn measured(&self, measure: &Measure) -> Measure {
        let weighted = self.weight.map(|weight| measure.weighted(weight));
        let measure = weighted.unwrap_or_else(|| measure.clone());
        match self.clock {
            Some(Clock::Sender) => measure.told_by_senders(),
            _ => measure,
        }
    }

    /// Whether it changes nothing: such a reading names the experiment's own scenario and measures.
    pub fn is_base(&self) -> bool {
        self.set.is_empty()
            && self.weight.is_none()
            && self.clock.is_none()
            && self.of_averages.is_none()
    }

    /// The change, as `KEY = VALUE` or in words.
    pub fn change(&self) -> String {
        let settings = self
            .set
            .iter()
            .map(|(key, value)| format!("{key} = {value}"));
        let weight = self.weight.map(|weight| {
            let counts = match weight {
                Weight::Time => "values of a series count as long as they last",
                Weight::Change => "values of a series count once each",
            };
            counts.to_owned()
        });
        let clock = self.clock.map(|clock| {
            let ends = match clock {
                Clock::Receiver => "flows complete with their last byte at the receiver",
                Clock::Sender => "flows complete with the ACK of their last byte at the sender",
            };
            ends.to_owned()
        });
        let averages = self.of_averages.map(|of_averages| {
            let compared = if of_averages {
                "averages over the axes are compared"
            } else {
                "what is compared at each point is averaged"
            };
            compared.to_owned()
        });
        let at = self.at.iter();
        let at = at.map(|(key, values)| format!("only at {key} = {}", values.join(", ")));
        let changes = settings
            .chain(weight)
            .chain(clock)
            .chain(averages)
            .chain(at);
        changes.collect::<Vec<_>>().join(", ")
    }
}

impl ClaimKind {
    /// Whether it concerns all values along the axes together, so that a part of them says nothing.
    fn is_of_all_values(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Order(order) => order.average.is_some(),
            Self::Shape(shape) => {
                let along = matches!(
                    shape.shape,
                    ShapeKind::Constant
                        | ShapeKind::Rising
                        | ShapeKind::Falling
                        | ShapeKind::Peak(_)
                        | ShapeKind::Valley(_)
                        | ShapeKind::Reaches(_)
                );
                along || shape.average.is_some()
            }
        }
    }

    /// Its name in files and results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Order(_) => "order",
            Self::Shape(_) => "shape",
        }
    }

    /// All operands that are measured for it.
    pub fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Number(number) => {
                let both = [&number.of].into_iter().chain(&number.against);
                both.chain(number.rank.iter().flat_map(Rank::operands))
                    .collect()
            }
            Self::Order(order) => order.rank.operands(),
            Self::Shape(shape) => shape.of.iter().chain(shape.shape.than()).collect(),
        }
    }
}

impl ShapeKind {
    /// The operand with which each is compared, if there is one.
    pub(super) fn than(&self) -> Option<&Operand> {
        match self {
            Self::Greater { than, .. } | Self::Less { than, .. } => Some(than),
            _ => None,
        }
    }
}

impl Rank {
    /// All that are ordered.
    fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Lowest { of, among, .. } | Self::Highest { of, among, .. } => {
                [of].into_iter().chain(among).collect()
            }
            Self::Sorted(all) => all.iter().collect(),
        }
    }
}
