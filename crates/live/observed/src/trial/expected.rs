//! The effect that a trial is expected to find, with the interval that holds it in 80 of 100 trials.
//!
//! The model is simulated with the flows that were observed, without and with the law. Its effect is the ratio of the
//! measure in both. The trial finds another one, for three reasons, and [`ExpectedEffect::of`] draws from all of them:
//!
//! 1. *The observation was short.* Another one of the same length would have had other flows, and so would the model.
//!    Flows that overlap belong together, as those of a round, so whole episodes of flows are drawn again with
//!    replacement (a bootstrap of blocks: Künsch, "The jackknife and the bootstrap for general stationary observations",
//!    Annals of Statistics 17, 1989).
//! 2. *The trial is short.* Each of its periods has few episodes. They are drawn from those of 1: with the law from the
//!    model, without it from the observation, which varies as the periods will. This also gives percentiles of few flows
//!    the bias that they will have in the trial.
//! 3. *The model errs.* Without the law its errors are known, those of the median and of the 99th percentile. The error of
//!    its ratio is taken to have the same variance, which is known from these two values alone, so it follows Student's t
//!    with two degrees of freedom.
//!
//! Errors that both states share would cancel in the ratio. Counting on that, by the correlation of the flows' times in both
//! models, makes intervals too narrow: in the series of the guide 23 of 36 held, where 28 hold of those without it.

use serde::{Deserialize, Serialize};

use base::cast::{count, index, whole};
use engine::random::Stream;

use super::connections::SeenConnections;
use super::measure::{SHORTEST_S, TrialMeasure};
use super::shape::TrialShape;
use crate::numbers::percentile;
use crate::rounds::FlowTiming;
use crate::seen::Flow;

/// An effect that was predicted: the measure with the law over the same without it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedEffect {
    /// The ratio: half of the trials are expected to find a larger one.
    pub ratio: f64,
    /// Trials are expected to find ratios in this interval in 80 of 100 cases.
    pub interval: (f64, f64),
}

/// Completion times of the same flows, in the order of their starts.
#[derive(Clone, Copy, Debug)]
pub struct ModelledFlows<'a> {
    /// The flows that were observed.
    pub flows: &'a [Flow],
    /// Their times in the model of today.
    pub today: &'a [FlowTiming],
    /// Their times in the model with the law.
    pub law: &'a [FlowTiming],
    /// For how many seconds they were observed.
    pub seconds: f64,
}

impl ExpectedEffect {
    /// The effect on a measure in a trial of this shape. `None` if the lists of flows have different lengths, if fewer than
    /// five flows were seen from their beginning on, or if a model has no finite value of the measure.
    #[must_use]
    pub fn of(
        modelled: &ModelledFlows<'_>,
        shape: &TrialShape,
        measure: TrialMeasure,
        seed: u64,
    ) -> Option<Self> {
        let counted_s = modelled.seconds - shape.settle_s;
        let episodes = Episodes::of(modelled.flows, counted_s)?;
        let times = |all: &[FlowTiming]| {
            let times: Vec<_> = all.iter().map(|one| one.fct_s).collect();
            (times.len() == modelled.flows.len()).then(|| episodes.sorted(&times))
        };
        let observed: Vec<_> = modelled.flows.iter().map(FlowTiming::from).collect();
        let states = States {
            observed: times(&observed)?,
            today: times(modelled.today)?,
            law: times(modelled.law)?,
        };
        let of_period_s = shape.period_s - 2.0 * shape.settle_s;
        let share = of_period_s / counted_s.max(of_period_s);
        let each = index(whole((count(episodes.sizes.len()) * share).round()).max(1));
        let pairs = shape.periods / 2;
        let errs = states.errs(episodes.sizes.len());
        let mut random = Stream::new(seed, "expected", 0);
        let (mut by_chance, mut all) = (Vec::new(), Vec::new());
        for _ in 0..draws(observed.len(), pairs) {
            let world = episodes.drawn(&mut random);
            let effect = states.effect(&world, (pairs, each), measure, &mut random);
            by_chance.push(effect);
            all.push(effect + errs * student(&mut random));
        }
        let mut bound = |share| libm::exp(percentile(&mut all, share));
        let (low, high) = (bound(OUTSIDE), bound(1.0 - OUTSIDE));
        let ratio = libm::exp(percentile(&mut by_chance, 0.5));
        let is_finite = low > 0.0 && high.is_finite();
        is_finite.then_some(Self {
            ratio,
            interval: (low, high),
        })
    }

    /// Whether the interval has this ratio.
    #[must_use]
    pub fn has(&self, ratio: f64) -> bool {
        (self.interval.0..=self.interval.1).contains(&ratio)
    }
}

/// Flows that overlap in time, or follow each other where most overlap.
struct Episodes {
    /// The episode of each flow; `None` for flows that a trial would not count.
    places: Vec<Option<usize>>,
    /// The number of counted flows of each episode.
    sizes: Vec<usize>,
}

impl Episodes {
    /// A trial does not count flows whose connections opened before it watched, and those that begin shortly before the
    /// end, since long ones would be missing.
    fn of(flows: &[Flow], end_s: f64) -> Option<Self> {
        let mut connections = SeenConnections::default();
        let counts: Vec<bool> = flows
            .iter()
            .map(|flow| connections.opened(flow).is_some() && flow.start_s < end_s)
            .collect();
        let all = counts.iter().filter(|counts| **counts).count();
        let (mut episode, mut over_s) = (0, 0.0_f64);
        let mut apart: Vec<usize> = Vec::new();
        for flow in flows {
            if flow.start_s > over_s {
                episode += 1;
            }
            over_s = over_s.max(flow.start_s + flow.fct_s);
            apart.push(episode);
        }
        let mut found = Self::new(&counts, &apart);
        if found.sizes.len() < LEAST_EPISODES {
            // Traffic without gaps: parts of equal numbers of flows.
            let mut before = 0;
            let parts: Vec<usize> = counts
                .iter()
                .map(|counts| {
                    let part = before * LEAST_EPISODES / all.max(1);
                    before += usize::from(*counts);
                    part
                })
                .collect();
            found = Self::new(&counts, &parts);
        }
        (all >= LEAST_FLOWS).then_some(found)
    }

    /// The counted flows of each of these parts, without parts that have none.
    fn new(counts: &[bool], parts: &[usize]) -> Self {
        let mut places = Vec::new();
        let mut sizes = Vec::new();
        let mut last = None;
        for (counts, part) in counts.iter().zip(parts) {
            if !counts {
                places.push(None);
                continue;
            }
            if last != Some(part) {
                sizes.push(0);
                last = Some(part);
            }
            let place = sizes.len() - 1;
            sizes[place] += 1;
            places.push(Some(place));
        }
        Self { places, sizes }
    }

    /// The counted ones of these times.
    fn sorted(&self, times_s: &[f64]) -> SortedTimes {
        let all = times_s.iter().zip(&self.places);
        let counted = all.filter_map(|(time_s, place)| Some((*time_s, (*place)?)));
        let mut ascending: Vec<_> = counted.collect();
        ascending.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        SortedTimes {
            ascending,
            sizes: self.sizes.clone(),
        }
    }

    /// Episodes drawn with replacement, as many as there are.
    fn drawn(&self, random: &mut Stream) -> Vec<usize> {
        let all = self.sizes.len();
        (0..all).map(|_| index(random.below(all as u64))).collect()
    }
}

/// The counted times of one state.
struct SortedTimes {
    /// In ascending order, each with the episode of its flow.
    ascending: Vec<(f64, usize)>,
    /// The number of flows of each episode.
    sizes: Vec<usize>,
}

impl SortedTimes {
    /// The logarithm of the measure, if each episode comes this often.
    fn log(&self, measure: TrialMeasure, often: &[usize]) -> f64 {
        let Self { ascending, sizes } = self;
        let flows = sizes.iter().zip(often).map(|(size, often)| size * often);
        let flows: usize = flows.sum();
        let value_s = if let Some(share) = measure.share() {
            let rank = index(whole((share * count(flows)).ceil())).clamp(1, flows.max(1));
            // From the nearer end.
            if 2 * rank > flows {
                nth(ascending.iter().rev(), flows.max(1) - rank + 1, often)
            } else {
                nth(ascending.iter(), rank, often)
            }
        } else {
            let all = ascending.iter().filter(|(_, place)| often[*place] > 0);
            let sum: f64 = all
                .map(|(time_s, place)| time_s * count(often[*place]))
                .sum();
            sum / count(flows.max(1))
        };
        libm::log(value_s.max(SHORTEST_S))
    }
}

/// The time with this rank, counted from 1, if each episode comes this often; 0 if there are fewer.
fn nth<'a>(mut times: impl Iterator<Item = &'a (f64, usize)>, rank: usize, often: &[usize]) -> f64 {
    let mut passed = 0;
    let at = times.find(|(_, place)| {
        passed += often[*place];
        passed >= rank
    });
    at.map_or(0.0, |(time_s, _)| *time_s)
}

/// Completion times of the same flows: as observed, in the model of today, and in the model with the law.
struct States {
    observed: SortedTimes,
    today: SortedTimes,
    law: SortedTimes,
}

impl States {
    /// The standard deviation of the logarithm of the model's error.
    fn errs(&self, episodes: usize) -> f64 {
        let all = vec![1; episodes];
        let square = |measure| {
            let error = self.observed.log(measure, &all) - self.today.log(measure, &all);
            error * error
        };
        (f64::midpoint(square(TrialMeasure::P50), square(TrialMeasure::P99))).sqrt()
    }

    /// The logarithm of the effect that a trial finds whose pairs of periods have this many episodes `each`, drawn from
    /// these of the world.
    fn effect(
        &self,
        world: &[usize],
        (pairs, each): (u32, usize),
        measure: TrialMeasure,
        random: &mut Stream,
    ) -> f64 {
        let episodes = world.len();
        let all = often(world.iter().copied(), episodes);
        let mut period = || {
            let any = |_| world[index(random.below(episodes as u64))];
            often((0..each).map(any), episodes)
        };
        let mut sum = 0.0;
        for _ in 0..pairs {
            sum += self.law.log(measure, &period()) - self.observed.log(measure, &period());
        }
        // The ratio is the model's: an error that it has in both states leaves it as it is.
        sum / f64::from(pairs) + self.observed.log(measure, &all) - self.today.log(measure, &all)
    }
}

/// How often each episode comes among these.
fn often(drawn: impl Iterator<Item = usize>, episodes: usize) -> Vec<usize> {
    let mut often = vec![0; episodes];
    for episode in drawn {
        often[episode] += 1;
    }
    often
}

/// A number that follows Student's t with two degrees of freedom, by the inverse of its distribution.
fn student(random: &mut Stream) -> f64 {
    let share = random.unit().max(f64::EPSILON);
    (2.0 * share - 1.0) / (2.0 * share * (1.0 - share)).sqrt()
}

/// How many trials are drawn: fewer with many flows, so that they take some seconds at most.
fn draws(flows: usize, pairs: u32) -> u64 {
    let each = count(flows.max(1)) * f64::from(2 * pairs + 2);
    whole(STEPS / each).clamp(FEWEST_DRAWS, MOST_DRAWS)
}

/// An interval of 80 % leaves out 10 % on both sides.
const OUTSIDE: f64 = 0.1;
/// With fewer episodes there is not much to draw from.
const LEAST_EPISODES: usize = 8;
/// Fewer flows have no measure.
const LEAST_FLOWS: usize = 5;
/// With 1,000 trials, the bounds are those of 78 to 82 % of them.
const MOST_DRAWS: u64 = 1_000;
/// With 200 trials, the bounds are those of 75 to 85 %.
const FEWEST_DRAWS: u64 = 200;
/// Times that are looked at. Without optimisation, ten million take about a tenth of a second.
const STEPS: f64 = 1e8;

#[cfg(test)]
mod tests;
