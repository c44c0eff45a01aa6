//! Whether kernel and simulator agree on a scenario.
//!
//! If no timer expires, goodput and mean queue are compared as numbers. If one does, a few rounds decide every mean, so
//! distributions are compared. Rounds of one boot share their connections and so are not independent; therefore whole
//! boots are permuted, not rounds. The first round of a connection has another window than the rest and is judged
//! separately. Counts and the mean of rounds are compared by the interval of their ratio; a case that the interval does
//! not decide is open. If nothing is random, numbers are compared directly.

mod statistics;

use crate::answer::{Round, ScenarioRun};
use crate::list::{OracleScenario, OracleTraffic, PACKET, number};
use statistics::{LEVEL, Ratio, can_tell, mean, median, permuted, ratio_of_counts, ratio_of_means};

/// The answers of one side in a few numbers.
#[derive(Clone, Debug, Default)]
pub struct SideSummary {
    /// Payload over time of all boots together, in Mbit/s.
    pub goodput: f64,
    /// Median of the rounds after the first of each boot, in ms; without rounds the median goodput of boots.
    pub median: f64,
    /// Median of first rounds, in ms.
    pub first: f64,
    /// Mean queue in packets.
    pub queue: f64,
    /// Share of rounds in which a timer expired.
    pub timeout_rounds: f64,
    /// Mean over boots.
    pub timeouts: f64,
    /// Mean over boots.
    pub drops: f64,
    /// Mean over boots.
    pub marks: f64,
}

/// The result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComparisonResult {
    /// Both sides are the same within the band.
    Agrees,
    /// They are not.
    Differs,
    /// Too few events to tell.
    Open,
}

/// A comparison of both sides.
#[derive(Clone, Debug)]
pub struct Check {
    /// What is compared.
    pub what: &'static str,
    /// The numbers of both sides, or their distance.
    pub found: String,
    /// What follows from them.
    pub finding: ComparisonResult,
}

/// A scenario with both sides.
#[derive(Clone, Debug)]
pub struct ScenarioVerdict {
    /// Linux.
    pub theirs: SideSummary,
    /// The simulator.
    pub ours: SideSummary,
    /// Whether a timer expired in the kernel.
    pub timers: bool,
    /// All comparisons.
    pub checks: Vec<Check>,
}

impl ScenarioVerdict {
    /// In a word.
    pub fn word(&self) -> &'static str {
        let has = |finding| self.checks.iter().any(|check| check.finding == finding);
        if has(ComparisonResult::Differs) {
            "differs"
        } else if has(ComparisonResult::Open) {
            "open"
        } else {
            "agrees"
        }
    }
}

/// Compares the kernel's answers to a scenario with ours.
///
/// # Panics
/// If a side has no answer, or none in which every flow has carried data.
pub fn judge(
    scenario: &OracleScenario,
    theirs: &[ScenarioRun],
    ours: &[ScenarioRun],
) -> ScenarioVerdict {
    let silent = silent(theirs, ours);
    let (theirs, ours) = (&*begun(theirs), &*begun(ours));
    for side in [theirs, ours] {
        assert!(!side.is_empty(), "{}: no flow has begun", scenario.name);
    }
    let timers = theirs.iter().any(|answer| answer.timeouts() > 0);
    let sides = (side(scenario, theirs), side(scenario, ours));
    let mut checks = if scenario.exact || !timers {
        means(scenario, &sides, theirs, ours)
    } else {
        distributions(scenario, &sides, theirs, ours)
    };
    checks.extend(timeouts(theirs, ours));
    if scenario.starts() > 1 {
        checks.push(shares(theirs, ours));
    }
    checks.extend(silent);
    if !scenario.exact && !can_tell(theirs.len(), ours.len()) {
        // With so few boots, their error is unknown.
        for check in &mut checks {
            check.finding = ComparisonResult::Open;
        }
    }
    ScenarioVerdict {
        theirs: sides.0,
        ours: sides.1,
        timers,
        checks,
    }
}

/// The answers in which every flow has carried data. A flow whose SYN was lost waits for a second, longer than most
/// scenarios last, and shows nothing else. Other scenarios cover lost SYNs.
fn begun(answers: &[ScenarioRun]) -> Vec<ScenarioRun> {
    let has_begun = |answer: &&ScenarioRun| {
        let carried = answer.carried.as_ref();
        carried.is_none_or(|carried| carried.bytes.iter().all(|bytes| *bytes > 0))
    };
    answers.iter().filter(has_begun).cloned().collect()
}

/// Compares the numbers of left-out answers, if there are any: they must be few, or about equal shares.
fn silent(theirs: &[ScenarioRun], ours: &[ScenarioRun]) -> Option<Check> {
    let [(their, of_their), (our, of_our)] = [theirs, ours].map(|side| {
        let out = side.len() - begun(side).len();
        (out, number(out as u64) / number(side.len().max(1) as u64))
    });
    // Among a few answers two are many.
    let is_few = their.max(our) <= 2 && theirs.len().min(ours.len()) >= 10;
    (their.max(our) > 0).then(|| Check {
        what: "flows that do not begin",
        found: format!("{their} and {our}"),
        finding: if is_few || (of_their - of_our).abs() <= 0.2 {
            ComparisonResult::Agrees
        } else {
            ComparisonResult::Differs
        },
    })
}

/// Comparisons of means, for scenarios in which no timer expires or nothing is random.
fn means(
    scenario: &OracleScenario,
    sides: &(SideSummary, SideSummary),
    theirs: &[ScenarioRun],
    ours: &[ScenarioRun],
) -> Vec<Check> {
    let ratio = |value: &dyn Fn(&ScenarioRun) -> f64, bands: Bands| {
        let of = |side: &[ScenarioRun]| -> Vec<f64> { side.iter().map(value).collect() };
        let ratio = ratio_of_means(&of(theirs), &of(ours));
        let is_same = (1.0 / bands.same..=bands.same).contains(&ratio.found);
        let finding = match ratio.finding(bands) {
            // One or two boots do not show the error.
            ComparisonResult::Open if scenario.exact && is_same => ComparisonResult::Agrees,
            finding => finding,
        };
        (ratio.found, finding)
    };
    let check = |what, (found, finding)| Check {
        what,
        found: format!("{:+.1} %", 100.0 * (found - 1.0)),
        finding,
    };
    let goodput = |answer: &ScenarioRun| goodput(scenario, answer);
    let mut checks = vec![check("goodput", ratio(&goodput, GOODPUT))];
    if scenario.look > 0 {
        let queue = |answer: &ScenarioRun| answer.queue_mean;
        checks.push(check("mean queue", ratio(&queue, QUEUE)));
    }
    if scenario.exact {
        checks.push(within("median", sides.0.median, sides.1.median, 0.05));
        if matches!(scenario.kind, OracleTraffic::Incast { .. }) {
            checks.push(within(FIRST, sides.0.first, sides.1.first, 0.05));
        }
    }
    checks
}

/// Comparisons of distributions, for scenarios in which a timer expires at random.
fn distributions(
    scenario: &OracleScenario,
    sides: &(SideSummary, SideSummary),
    theirs: &[ScenarioRun],
    ours: &[ScenarioRun],
) -> Vec<Check> {
    let (their, our) = sides;
    let rounds = |answers: &[ScenarioRun]| -> Vec<Vec<f64>> {
        let of = |answer: &ScenarioRun| match &answer.carried {
            Some(_) => vec![goodput_of(answer)],
            None => between(&answer.rounds).map(|round| round.us).collect(),
        };
        answers.iter().map(of).collect()
    };
    let (their_rounds, our_rounds) = (rounds(theirs), rounds(ours));
    let chance = permuted(&their_rounds, &our_rounds);
    let means = |rounds: &[Vec<f64>]| -> Vec<f64> { rounds.iter().map(|one| mean(one)).collect() };
    let ratio = ratio_of_means(&means(&their_rounds), &means(&our_rounds));
    let names = if scenario.has_rounds() {
        ("round times", "mean round")
    } else {
        ("goodput of boots", "mean goodput")
    };
    let mut checks = vec![
        Check {
            what: names.0,
            found: if chance < 1e-4 {
                "p below 0.0001".to_owned()
            } else {
                format!("p {chance:.4}")
            },
            finding: if chance < LEVEL {
                ComparisonResult::Differs
            } else {
                ComparisonResult::Agrees
            },
        },
        Check {
            what: names.1,
            found: format!("{:+.0} %", 100.0 * (ratio.found - 1.0)),
            finding: ratio.finding(MEANS),
        },
        Check {
            // If about half of the rounds have a timeout, the median is random.
            finding: match within("median", their.median, our.median, 0.15).finding {
                ComparisonResult::Differs if chance >= LEVEL => ComparisonResult::Open,
                finding => finding,
            },
            ..within("median", their.median, our.median, 0.15)
        },
    ];
    if scenario.has_rounds() {
        checks.push(first_rounds(theirs, ours));
    }
    if scenario.extras.lose.is_none() {
        let drops = |answer: &ScenarioRun| number(answer.drops);
        checks.extend(counts("drops", theirs, ours, drops));
    }
    checks
}

/// Rounds between the first and, if there are more than two, the last of a boot. In the last round, connections close
/// with the answer here: the FIN of each waits at the port before the last segments of others. In the lab they close
/// later.
fn between(rounds: &[Round]) -> impl Iterator<Item = &Round> {
    let last = rounds.len().saturating_sub(1).max(2);
    rounds.iter().take(last).skip(1)
}

/// Rounds in which windows begin: one of each boot, some of them with a timeout.
fn first_rounds(theirs: &[ScenarioRun], ours: &[ScenarioRun]) -> Check {
    let first = |side: &[ScenarioRun]| -> Vec<Vec<f64>> {
        let of =
            |answer: &ScenarioRun| answer.rounds.iter().take(1).map(|round| round.us).collect();
        side.iter().map(of).collect()
    };
    let chance = permuted(&first(theirs), &first(ours));
    Check {
        what: "first rounds",
        found: format!("p {chance:.4}"),
        finding: if chance < LEVEL {
            ComparisonResult::Differs
        } else if chance < LEVEL_OF_FIRST {
            ComparisonResult::Open
        } else {
            ComparisonResult::Agrees
        },
    }
}

/// Timers that expired, and rounds in which one did.
fn timeouts(theirs: &[ScenarioRun], ours: &[ScenarioRun]) -> Vec<Check> {
    let all = |answer: &ScenarioRun| number(answer.timeouts());
    let rounds = |answer: &ScenarioRun| {
        let rounds = answer.rounds.iter();
        number(rounds.filter(|round| round.timeouts > 0).count() as u64)
    };
    let checks = [
        counts("timeouts", theirs, ours, all),
        counts("rounds with timeouts", theirs, ours, rounds),
    ];
    checks.into_iter().flatten().collect()
}

/// Compares a count of events; `None` if neither side has any.
fn counts(
    what: &'static str,
    theirs: &[ScenarioRun],
    ours: &[ScenarioRun],
    count: impl Fn(&ScenarioRun) -> f64,
) -> Option<Check> {
    let of = |side: &[ScenarioRun]| -> Vec<f64> { side.iter().map(&count).collect() };
    let (theirs, ours) = (of(theirs), of(ours));
    let least = theirs.iter().sum::<f64>().min(ours.iter().sum());
    let most = theirs.iter().sum::<f64>().max(ours.iter().sum());
    (most > 0.0).then(|| Check {
        what,
        found: format!("{} and {}", short(mean(&theirs)), short(mean(&ours))),
        finding: match ratio_of_counts(&theirs, &ours).finding(COUNTS) {
            ComparisonResult::Agrees if least < ENOUGH => ComparisonResult::Open,
            finding => finding,
        },
    })
}

/// How far a ratio may be from 1.
#[derive(Clone, Copy, Debug)]
struct Bands {
    /// Within this factor both sides are the same.
    same: f64,
    /// If the interval of a ratio exceeds this factor, the ratio is unknown.
    known: f64,
}

impl Ratio {
    /// Both sides agree if the ratio is within the band and its interval within the wider one. They differ if the
    /// interval is outside of the band.
    fn finding(self, bands: Bands) -> ComparisonResult {
        let is_within = |factor: f64, low: f64, high: f64| low >= 1.0 / factor && high <= factor;
        if self.low > bands.same || self.high < 1.0 / bands.same {
            ComparisonResult::Differs
        } else if is_within(bands.same, self.found, self.found)
            && is_within(bands.known, self.low, self.high)
        {
            ComparisonResult::Agrees
        } else {
            ComparisonResult::Open
        }
    }
}

/// How two flows finally share the port: the share of the first.
fn shares(theirs: &[ScenarioRun], ours: &[ScenarioRun]) -> Check {
    let share = |answers: &[ScenarioRun]| {
        let late = answers.iter().filter_map(|answer| answer.carried.as_ref());
        let late: Vec<f64> = late
            .map(|carried| number(carried.late_bytes[0]) / number(carried.late_bytes.iter().sum()))
            .collect();
        mean(&late)
    };
    let (theirs, ours) = (share(theirs), share(ours));
    Check {
        what: "share of the first flow",
        found: format!("{:.0} and {:.0} %", 100.0 * theirs, 100.0 * ours),
        finding: if (theirs - ours).abs() <= 0.1 {
            ComparisonResult::Agrees
        } else {
            ComparisonResult::Differs
        },
    }
}

fn within(what: &'static str, theirs: f64, ours: f64, band: f64) -> Check {
    let off = if (theirs - ours).abs() < 1e-9 {
        0.0
    } else {
        ours / theirs - 1.0
    };
    Check {
        what,
        found: format!("{:+.1} %", 100.0 * off),
        finding: if off.abs() <= band {
            ComparisonResult::Agrees
        } else {
            ComparisonResult::Differs
        },
    }
}

fn side(scenario: &OracleScenario, answers: &[ScenarioRun]) -> SideSummary {
    let counts =
        |of: &dyn Fn(&ScenarioRun) -> f64| mean(&answers.iter().map(of).collect::<Vec<f64>>());
    let goodputs = answers.iter().map(|answer| goodput(scenario, answer));
    let goodputs: Vec<f64> = goodputs.collect();
    let rounds = |skip: usize, take: usize| -> Vec<f64> {
        let rounds = answers
            .iter()
            .flat_map(|answer| answer.rounds.iter().skip(skip).take(take));
        rounds.map(|round| round.us / 1e3).collect()
    };
    let has_rounds = scenario.has_rounds();
    let harmonic =
        number(goodputs.len() as u64) / goodputs.iter().map(|one| 1.0 / one).sum::<f64>();
    SideSummary {
        goodput: if has_rounds {
            harmonic
        } else {
            mean(&goodputs)
        },
        median: if has_rounds {
            median(rounds(1, usize::MAX))
        } else {
            median(goodputs)
        },
        first: if has_rounds {
            median(rounds(0, 1))
        } else {
            0.0
        },
        queue: counts(&|one| one.queue_mean) / number(PACKET),
        timeout_rounds: counts(&timeout_rounds),
        timeouts: counts(&|one| number(one.timeouts())),
        drops: counts(&|one| number(one.drops)),
        marks: counts(&|one| number(one.marks)),
    }
}

/// Payload over the time of rounds, or over that of a flow without end, in Mbit/s.
fn goodput(scenario: &OracleScenario, answer: &ScenarioRun) -> f64 {
    if !scenario.has_rounds() {
        return goodput_of(answer);
    }
    let us: f64 = answer.rounds.iter().map(|round| round.us).sum();
    8.0 * number(scenario.round_bytes()) * number(answer.rounds.len() as u64) / us
}

/// In Mbit/s.
fn goodput_of(answer: &ScenarioRun) -> f64 {
    let carried = answer
        .carried
        .as_ref()
        .expect("flows without end carry bytes");
    8.0 * number(carried.bytes.iter().sum()) / carried.seconds / 1e6
}

fn timeout_rounds(answer: &ScenarioRun) -> f64 {
    let with = answer
        .rounds
        .iter()
        .filter(|round| round.timeouts > 0)
        .count();
    number(with as u64) / number(answer.rounds.len().max(1) as u64)
}

/// A number with three digits or so.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

const FIRST: &str = "median of first rounds";
/// Where timers expire.
const MEANS: Bands = Bands {
    same: 1.2,
    known: 1.5,
};
/// Of events.
const COUNTS: Bands = MEANS;
/// Where no timer expires.
const GOODPUT: Bands = Bands {
    same: 1.02,
    known: 1.1,
};
/// Where no timer expires.
const QUEUE: Bands = Bands {
    same: 1.1,
    known: 1.3,
};
/// The probability below which first rounds are not called the same. There are only as many as boots.
const LEVEL_OF_FIRST: f64 = 0.01;
/// Fewer events than this on a side are not enough.
const ENOUGH: f64 = 10.0;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::list;

    /// Boots with these numbers of timeouts, each in a round of its own of 20.
    fn boots(timeouts: &[u64]) -> Vec<ScenarioRun> {
        let one = |timeouts: &u64| ScenarioRun {
            rounds: (0..20)
                .map(|round| {
                    let expired = round < *timeouts;
                    Round {
                        us: if expired {
                            209_000.0
                        } else {
                            9_000.0 + number(round)
                        },
                        timeouts: u64::from(expired),
                    }
                })
                .collect(),
            queue_mean: 1514.0,
            drops: 1000,
            counters: BTreeMap::from([("TCPTimeouts".to_owned(), *timeouts)]),
            ..ScenarioRun::default()
        };
        timeouts.iter().map(one).collect()
    }

    fn verdict(theirs: &[u64], ours: &[u64]) -> ScenarioVerdict {
        let all = list::all();
        let incast = all.iter().find(|one| one.name == "incast-16x64k-reno");
        judge(incast.expect("it is listed"), &boots(theirs), &boots(ours))
    }

    fn finding(verdict: &ScenarioVerdict, what: &str) -> Option<ComparisonResult> {
        let check = verdict.checks.iter().find(|check| check.what == what);
        check.map(|check| check.finding)
    }

    #[test]
    fn few_timeouts_are_open_even_if_they_are_as_many() {
        // Of 20 boots with 20 rounds: 2 and 2, as 0.1 a boot; 10 and 4, as 0.5 and 0.2.
        let some = |count: usize| -> Vec<u64> { (0..20).map(|at| u64::from(at < count)).collect() };
        for (theirs, ours) in [(2, 2), (10, 4), (9, 9), (1, 0), (0, 2)] {
            let verdict = verdict(&some(theirs), &some(ours));
            assert_eq!(
                finding(&verdict, "timeouts"),
                Some(ComparisonResult::Open),
                "{theirs} {ours}"
            );
            assert_ne!(verdict.word(), "agrees");
        }
        // 20 and none do not go together.
        let verdict = verdict(&some(0), &some(20));
        assert_eq!(
            finding(&verdict, "timeouts"),
            Some(ComparisonResult::Differs)
        );
    }

    #[test]
    fn no_timeouts_on_either_side_agree() {
        let verdict = verdict(&[0; 20], &[0; 20]);
        assert_eq!(finding(&verdict, "timeouts"), None);
        assert_eq!((verdict.word(), verdict.timers), ("agrees", false));
    }

    #[test]
    fn enough_timeouts_agree_within_a_fifth() {
        // Five in each of 20 boots: 100 and 100, whose ratio is known within a factor of 1.32.
        let even = verdict(&[5; 20], &[5; 20]);
        assert_eq!(even.word(), "agrees", "{:?}", even.checks);
        // 100 and 110 are within a fifth, and 100 and 120 may be, but half as many again, too.
        let found = |ours: &[u64]| finding(&verdict(&[5; 20], ours), "timeouts");
        let with =
            |more: usize| -> Vec<u64> { (0..20).map(|at| 5 + u64::from(at < more)).collect() };
        assert_eq!(found(&with(10)), Some(ComparisonResult::Agrees));
        assert_eq!(found(&[6; 20]), Some(ComparisonResult::Open));
        assert_eq!(found(&[10; 20]), Some(ComparisonResult::Differs));
    }

    #[test]
    fn timeouts_that_come_in_a_few_boots_tell_less_than_as_many_in_all() {
        let bursts: Vec<u64> = (0..20).map(|at| if at < 5 { 20 } else { 0 }).collect();
        let found = finding(&verdict(&bursts, &bursts), "timeouts");
        assert_eq!(found, Some(ComparisonResult::Open));
    }

    // The last one differs in when connections close.
    #[test]
    fn round_times_are_those_between_the_first_round_and_the_last() {
        let theirs = boots(&[5; 20]);
        let with = |place: usize| {
            let mut ours = theirs.clone();
            for one in &mut ours {
                one.rounds[place].us = 50_000.0;
            }
            let incast = list::all().swap_remove(0);
            finding(&judge(&incast, &theirs, &ours), "round times")
        };
        assert_eq!(with(19), Some(ComparisonResult::Agrees));
        let two = &theirs[0].rounds[..2];
        assert_eq!(between(two).count(), 1);
        assert_eq!(
            [1, 3, 20].map(|count| between(&theirs[0].rounds[..count]).count()),
            [0, 1, 18]
        );
    }

    #[test]
    fn few_boots_are_open_where_chance_decides() {
        let few = verdict(&[5; 6], &[5; 6]);
        assert_eq!(finding(&few, "round times"), Some(ComparisonResult::Open));
    }

    #[test]
    fn where_chance_decides_nothing_two_boots_suffice() {
        let exact = &OracleScenario {
            exact: true,
            ..list::all().swap_remove(0)
        };
        let theirs = boots(&[20; 2]);
        assert_eq!(judge(exact, &theirs, &theirs).word(), "open");
        let theirs = boots(&[20; 4]);
        assert_eq!(judge(exact, &theirs, &theirs).word(), "agrees");
        // 3 % more time for each round.
        let mut ours = theirs.clone();
        for round in ours.iter_mut().flat_map(|one| &mut one.rounds) {
            round.us *= 1.03;
        }
        assert_eq!(judge(exact, &theirs, &ours).word(), "differs");
    }

    #[test]
    fn a_flow_that_never_began_tells_nothing() {
        let answer = |bytes: &[u64]| ScenarioRun {
            carried: Some(crate::answer::Carried {
                seconds: 0.5,
                bytes: bytes.to_vec(),
                late_seconds: 0.25,
                late_bytes: bytes.to_vec(),
            }),
            ..ScenarioRun::default()
        };
        let all = [answer(&[7, 7]), answer(&[7, 0]), ScenarioRun::default()];
        assert_eq!(begun(&all), [all[0].clone(), all[2].clone()]);
        // Unless many more of one side do not begin.
        let side = |silent: usize| {
            let mut side = vec![answer(&[7, 7]); 20];
            side[..silent].fill(answer(&[7, 0]));
            side
        };
        let agrees = |theirs, ours| {
            let check = silent(&side(theirs), &side(ours));
            check.map(|check| check.finding)
        };
        assert_eq!(
            [agrees(0, 0), agrees(1, 2), agrees(4, 6)],
            [
                None,
                Some(ComparisonResult::Agrees),
                Some(ComparisonResult::Agrees)
            ]
        );
        assert_eq!(
            [agrees(0, 5), agrees(9, 4)],
            [Some(ComparisonResult::Differs); 2]
        );
        let of_two = [answer(&[7, 7]), answer(&[7, 0])];
        let check = silent(&of_two, &of_two[..1]);
        assert_eq!(
            check.map(|check| check.finding),
            Some(ComparisonResult::Differs)
        );
    }
}
