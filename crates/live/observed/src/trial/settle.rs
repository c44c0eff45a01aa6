//! The result of a trial.

use serde::{Deserialize, Serialize};

use base::cast::{count, index, real, whole};
use engine::random::Stream;

use super::expected::ExpectedEffect;
use super::plan::{TrialPeriod, TrialPlan};
use crate::numbers::percentile;

/// A flow of a trial. It has no addresses.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialFlow {
    /// When it began, in seconds since watching began.
    pub start_s: f64,
    /// Seconds until its last byte.
    pub fct_s: f64,
    /// Payload.
    pub bytes: u64,
    /// When its connection opened; none if that was before it was watched, or long ago.
    pub opened_s: Option<f64>,
}

/// How a trial ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialEnd {
    /// Why it ended early, if it did.
    pub stopped: Option<String>,
    /// Whether the guard ended it.
    pub by_guard: bool,
    /// ACKs whose window the law lowered.
    pub rewritten: u64,
    /// Packets that the law marked.
    pub marked: u64,
    /// Flows and events that did not fit.
    pub lost: u64,
    /// Whether the law is gone from the device.
    pub detached: bool,
}

/// The verdict of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialVerdict {
    /// Too few periods have enough flows.
    #[default]
    Undecided,
    /// The guard took the law away.
    Guarded,
    /// The measure is smaller with the law.
    Better,
    /// It is larger.
    Worse,
    /// Chance explains the difference.
    NoDifference,
}

base::names! {
    /// The verdict on a prediction, by the rules for numbers of papers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Agreement {
        /// The effect lies in the predicted interval of 80 %.
        Reproduced = "reproduced",
        /// Its sign is the predicted one, and it is within a factor of 2.
        Partly = "partly reproduced",
        /// Neither.
        NotReproduced = "not reproduced",
    }
}

impl Agreement {
    fn of(expected: ExpectedEffect, ratio: f64) -> Self {
        let factor = (ratio / expected.ratio).max(expected.ratio / ratio);
        if expected.has(ratio) {
            Self::Reproduced
        } else if factor <= 2.0 && (ratio < 1.0) == (expected.ratio < 1.0) {
            Self::Partly
        } else {
            Self::NotReproduced
        }
    }
}

/// Flows of all periods of one kind.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TrialArm {
    /// Periods with enough flows.
    pub periods: u64,
    /// Flows that count.
    pub flows: u64,
    /// Their measure, together.
    pub value_s: Option<f64>,
    /// Flows that do not count, because they began near a switch or were not over at the next one.
    pub near_switch: u64,
    /// Flows that do not count, because their connections opened before their period.
    pub old: u64,
}

/// Whether the effect differs between the halves of periods.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CarryOver {
    /// The effect in second halves over that in first halves.
    pub ratio: f64,
    /// The probability that chance makes one as large.
    pub p: f64,
}

/// The result of a trial.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TrialResult {
    /// The verdict.
    pub verdict: TrialVerdict,
    /// Pairs of periods that were compared.
    pub pairs: u64,
    /// The measure with the law over the same without it: the geometric mean of pairs.
    pub ratio: Option<f64>,
    /// Its interval of 97 %, which leaves out 1 if the effect is called.
    pub interval: Option<(f64, f64)>,
    /// The probability that coins alone make an effect as large as this one.
    pub p: Option<f64>,
    /// With the law.
    pub on: TrialArm,
    /// Without it.
    pub off: TrialArm,
    /// The measure after the trial.
    pub after_s: Option<f64>,
    /// Whether the effect changes within a period.
    pub carry_over: Option<CarryOver>,
    /// Whether the measure with the law meets the goal, and whether that without it does.
    pub goal: Option<(bool, bool)>,
    /// Whether the effect lies in the predicted interval of 80 %.
    pub holds: Option<bool>,
    /// Whether the prediction came true.
    pub agreement: Option<Agreement>,
    /// Whether the law changed any packet.
    pub acted: bool,
}

/// The flows of one period.
#[derive(Default)]
struct Sorted {
    /// Completion times that count, of the first and of the second half.
    halves: [Vec<f64>; 2],
    near_switch: u64,
    old: u64,
}

impl TrialPlan {
    /// Finds the effect of the law from the flows of these periods.
    #[must_use]
    pub fn settle(
        &self,
        periods: &[TrialPeriod],
        flows: &[TrialFlow],
        end: &TrialEnd,
    ) -> TrialResult {
        let sorted = self.sorted(periods, flows);
        let of = |sorted: &Sorted| self.value(&mut sorted.halves.concat());
        let values = self.by_number(periods, &sorted, &of);
        let pairs = self.differences(&values);
        let arm = |on| self.arm(periods, &sorted, on);
        let mut settled = TrialResult {
            pairs: pairs.len() as u64,
            on: arm(true),
            off: arm(false),
            after_s: self.after(periods, &sorted),
            acted: end.rewritten + end.marked > 0,
            ..TrialResult::default()
        };
        if pairs.len() >= LEAST_PAIRS {
            let (ratio, interval) = (libm::exp(mean(&pairs)), interval(&pairs, self.seed));
            settled.ratio = Some(ratio);
            settled.interval = Some((libm::exp(interval.0), libm::exp(interval.1)));
            settled.p = Some(chance(&pairs, self.seed));
            settled.carry_over = self.carry_over(periods, &sorted);
            settled.holds = self.expected.map(|expected| expected.has(ratio));
            settled.agreement = self.expected.map(|expected| Agreement::of(expected, ratio));
        }
        let values = settled.on.value_s.zip(settled.off.value_s);
        settled.goal = self.goal.zip(values).map(|(goal, (on, off))| {
            let meets = |value: f64| value < goal.below_s;
            (meets(on), meets(off))
        });
        settled.verdict = match (settled.p, settled.ratio) {
            _ if end.by_guard => TrialVerdict::Guarded,
            (Some(p), Some(ratio)) if p <= ALPHA => {
                if ratio < 1.0 {
                    TrialVerdict::Better
                } else {
                    TrialVerdict::Worse
                }
            }
            (Some(_), _) => TrialVerdict::NoDifference,
            (None, _) => TrialVerdict::Undecided,
        };
        settled
    }

    /// Why the law must be removed, if so: in the last two periods with it, the measure is worse than without it by
    /// more than the guard allows. The measure without it includes all flows without the law: before the trial, and in
    /// the periods so far.
    #[must_use]
    pub fn guarded(&self, periods: &[TrialPeriod], flows: &[TrialFlow]) -> Option<String> {
        let sorted = self.sorted(periods, flows);
        let value = |sorted: &Sorted| self.value(&mut sorted.halves.concat());
        let of = |on: bool| {
            let all = periods.iter().zip(&sorted);
            let all = all.filter(move |(period, _)| period.on == on);
            all.filter_map(|(_, sorted)| value(sorted))
        };
        let without: Vec<f64> = std::iter::once(self.before_s)
            .chain(of(false))
            .map(libm::log)
            .collect();
        let without = libm::exp(mean(&without));
        let with: Vec<f64> = of(true).collect();
        let [.., one, other] = with[..] else {
            return None;
        };
        let bound = without * (1.0 + self.guard.worse);
        (one > bound && other > bound).then(|| {
            format!(
                "{} was {:.1} and {:.1} ms in the last two periods with {}, and {:.1} ms without it: more than {:.0} % worse",
                self.measure,
                one * 1e3,
                other * 1e3,
                self.law,
                without * 1e3,
                self.guard.worse * 100.0
            )
        })
    }

    /// The flows of each period.
    fn sorted(&self, periods: &[TrialPeriod], flows: &[TrialFlow]) -> Vec<Sorted> {
        let mut all: Vec<Sorted> = periods.iter().map(|_| Sorted::default()).collect();
        for flow in flows {
            // Periods follow each other.
            let place = periods.partition_point(|period| period.end_s <= flow.start_s);
            let Some(period) = periods.get(place).filter(|one| one.begin_s <= flow.start_s) else {
                continue;
            };
            let sorted = &mut all[place];
            let counts = period.begin_s + self.shape.settle_s..period.end_s - self.shape.settle_s;
            if flow
                .opened_s
                .is_none_or(|opened_s| opened_s < period.begin_s)
            {
                sorted.old += 1;
            } else if !counts.contains(&flow.start_s) || flow.start_s + flow.fct_s > period.end_s {
                sorted.near_switch += 1;
            } else {
                let is_late = flow.start_s >= f64::midpoint(counts.start, counts.end);
                sorted.halves[usize::from(is_late)].push(flow.fct_s);
            }
        }
        all
    }

    /// The measure of a period, if it has enough flows.
    fn value(&self, times_s: &mut [f64]) -> Option<f64> {
        let value = self.measure.of(times_s);
        value.filter(|_| times_s.len() >= LEAST_FLOWS)
    }

    /// One number for each period of the schedule, by its index.
    fn by_number(
        &self,
        periods: &[TrialPeriod],
        sorted: &[Sorted],
        of: &dyn Fn(&Sorted) -> Option<f64>,
    ) -> Vec<Option<f64>> {
        let mut values = vec![None; self.schedule.len()];
        for (period, sorted) in periods.iter().zip(sorted) {
            if let Some(value) = values.get_mut(index(period.number.into())) {
                *value = of(sorted);
            }
        }
        values
    }

    /// For each pair of neighbours with two numbers, the logarithm of the ratio of the number with the law to the other
    /// one.
    fn differences(&self, values: &[Option<f64>]) -> Vec<f64> {
        let pairs = values.chunks_exact(2).zip(self.schedule.chunks_exact(2));
        let difference = |(values, on): (&[Option<f64>], &[bool])| {
            let (first, second) = (libm::log(values[0]?), libm::log(values[1]?));
            Some(if on[0] {
                first - second
            } else {
                second - first
            })
        };
        pairs.filter_map(difference).collect()
    }

    /// Tests whether a period has an effect on the next one: then the effect grows or falls within a period.
    fn carry_over(&self, periods: &[TrialPeriod], sorted: &[Sorted]) -> Option<CarryOver> {
        let growth = |sorted: &Sorted| {
            let [first, second] = &sorted.halves;
            let (first, second) = (
                self.value(&mut first.clone())?,
                self.value(&mut second.clone())?,
            );
            Some(second / first)
        };
        let pairs = self.differences(&self.by_number(periods, sorted, &growth));
        (pairs.len() >= LEAST_PAIRS).then(|| CarryOver {
            ratio: libm::exp(mean(&pairs)),
            p: chance(&pairs, self.seed),
        })
    }

    fn arm(&self, periods: &[TrialPeriod], sorted: &[Sorted], on: bool) -> TrialArm {
        let of_trial = |period: &TrialPeriod| index(period.number.into()) < self.schedule.len();
        let mut arm = TrialArm::default();
        let mut times = Vec::new();
        for (period, sorted) in periods.iter().zip(sorted) {
            if period.on != on || !of_trial(period) {
                continue;
            }
            let mut own = sorted.halves.concat();
            arm.periods += u64::from(self.value(&mut own).is_some());
            arm.near_switch += sorted.near_switch;
            arm.old += sorted.old;
            times.extend(own);
        }
        arm.flows = times.len() as u64;
        arm.value_s = self.measure.of(&mut times);
        arm
    }

    /// The measure behind the last period of the schedule.
    fn after(&self, periods: &[TrialPeriod], sorted: &[Sorted]) -> Option<f64> {
        let mut all = periods.iter().zip(sorted);
        let (_, after) =
            all.find(|(period, _)| index(period.number.into()) >= self.schedule.len())?;
        self.value(&mut after.halves.concat())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values.len().max(1))
}

/// The probability that coins alone make a mean as far from zero as that of these pairs: each coin changes the sign of
/// its pair. If there are few pairs, all outcomes of the coins are counted, otherwise [`DRAWS`] of them.
fn chance(pairs: &[f64], seed: u64) -> f64 {
    let found = pairs.iter().sum::<f64>().abs() * (1.0 - 1e-12);
    let with_signs = |signs: u64| -> f64 {
        let signed = pairs.iter().enumerate();
        signed
            .map(|(place, pair)| {
                if signs >> place & 1 == 1 {
                    -pair
                } else {
                    *pair
                }
            })
            .sum()
    };
    let all = ways(pairs.len(), seed, 0);
    let as_large = all
        .iter()
        .filter(|signs| with_signs(**signs).abs() >= found);
    real(as_large.count() as u64) / count(all.len())
}

/// The interval that belongs to this test, of 1 - [`ALPHA`]: means of subsets of the pairs part the line into parts that are equally
/// likely to hold the effect (Hartigan, "Using subsample values as typical values", JASA 64, 1969).
fn interval(pairs: &[f64], seed: u64) -> (f64, f64) {
    let of = |subset: &u64| -> f64 {
        let chosen = pairs.iter().enumerate();
        let chosen = chosen.filter(|(place, _)| subset >> place & 1 == 1);
        let chosen: Vec<f64> = chosen.map(|(_, pair)| *pair).collect();
        mean(&chosen)
    };
    // The first one is the empty subset, which has no mean.
    let subsets = ways(pairs.len(), seed, 1);
    let mut means: Vec<f64> = subsets.iter().skip(1).map(of).collect();
    // A part is between two means: those beyond the outermost ones are parts, too.
    let low = percentile(&mut means, ALPHA / 2.0);
    let place = whole((real(means.len() as u64) * (1.0 - ALPHA / 2.0)).floor());
    (
        low,
        means
            .get(index(place))
            .or(means.last())
            .copied()
            .unwrap_or(low),
    )
}

/// Subsets of this many elements as bits; the empty one comes first.
fn ways(things: usize, seed: u64, purpose: u64) -> Vec<u64> {
    if things <= MOST_COUNTED {
        return (0..1 << things).collect();
    }
    let mut coins = Stream::new(seed, "settle", purpose);
    let mask = (1 << things) - 1;
    let drawn = (1..DRAWS).map(|_| coins.bits() & mask);
    std::iter::once(0).chain(drawn).collect()
}

/// An effect is called if chance makes one as large in at most this share of trials, and intervals hold the others.
///
/// The promise is that of 200 trials of a law without effect at most ten, 5 %, are called. The test of coins is exact:
/// with a level of 5 % ten are called on average, and more than ten in 39 of 100 such series. With one of 32, six are
/// called on average, and more than ten in 5 of 100 series. It is also the smallest level that six pairs can reach: all
/// their coins agree in two of 64 ways.
pub const ALPHA: f64 = 1.0 / 32.0;
/// Fewer pairs agree by chance too often.
const LEAST_PAIRS: usize = 6;
/// A period with fewer flows has no measure.
const LEAST_FLOWS: usize = 5;
/// With more pairs not all outcomes are counted, which are 16,384 for this many.
const MOST_COUNTED: usize = 14;
/// The number of outcomes drawn instead: a probability of 3 % is right to 0.2 %. The actual outcome is among them, so
/// the test is exact with draws, too.
const DRAWS: u64 = 20_000;
