//! Whether kernel and simulator agree on a scenario.
//!
//! Where no timer expires, their goodput and mean queue are compared as numbers. Where one does, a few rounds decide
//! every mean, so distributions are compared: rounds of one boot share their connections and their luck, which is why
//! whole boots are permuted, not rounds. The first round of a connection has another window than the rest and is judged
//! by itself.

use engine::random::Stream;

use crate::answer::Answer;
use crate::list::{Kind, PACKET, Scenario, number};

/// What the answers of one side come to.
#[derive(Clone, Debug, Default)]
pub struct Side {
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

/// A comparison that a scenario passes or fails.
#[derive(Clone, Debug)]
pub struct Check {
    /// What is compared.
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// Whether it lies in the band.
    pub agrees: bool,
}

/// A scenario with both sides.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Linux.
    pub theirs: Side,
    /// The simulator.
    pub ours: Side,
    /// Whether a timer expired in the kernel.
    pub timers: bool,
    /// Whether there are too few boots to tell distributions apart.
    pub open: bool,
    /// All comparisons.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match (self.checks.iter().all(|check| check.agrees), self.open) {
            (false, _) => "differs",
            (true, true) => "open",
            (true, false) => "agrees",
        }
    }
}

/// Compares the kernel's answers to a scenario with ours.
///
/// # Panics
/// If a side has no answer, or none in which every flow has carried something.
pub fn judge(scenario: &Scenario, theirs: &[Answer], ours: &[Answer]) -> Verdict {
    let silent = silent(theirs, ours);
    let (theirs, ours) = (&*begun(theirs), &*begun(ours));
    for side in [theirs, ours] {
        assert!(!side.is_empty(), "{}: no flow has begun", scenario.name);
    }
    let timers = theirs.iter().any(|answer| answer.timeouts() > 0);
    let sides = (side(scenario, theirs), side(scenario, ours));
    let mut checks = if timers {
        distributions(scenario, &sides, theirs, ours)
    } else {
        means(&sides)
    };
    if !scenario.is_incast() && scenario.starts() > 1 {
        checks.push(shares(theirs, ours));
    }
    checks.extend(silent);
    Verdict {
        theirs: sides.0,
        ours: sides.1,
        timers,
        open: timers && !can_tell(theirs.len(), ours.len()),
        checks,
    }
}

/// The answers in which every flow has carried something: one whose SYN was lost waits for a second, which is longer
/// than most scenarios last, and tells of nothing else.
fn begun(answers: &[Answer]) -> Vec<Answer> {
    let has_begun = |answer: &&Answer| {
        let carried = answer.carried.as_ref();
        carried.is_none_or(|carried| carried.bytes.iter().all(|bytes| *bytes > 0))
    };
    answers.iter().filter(has_begun).cloned().collect()
}

/// How many answers of each side are left out, if any are: few, or about as large a share.
fn silent(theirs: &[Answer], ours: &[Answer]) -> Option<Check> {
    let [(their, of_their), (our, of_our)] = [theirs, ours].map(|side| {
        let out = side.len() - begun(side).len();
        (out, number(out as u64) / number(side.len().max(1) as u64))
    });
    // Of a few answers two are many.
    let is_few = their.max(our) <= 2 && theirs.len().min(ours.len()) >= 10;
    (their.max(our) > 0).then(|| Check {
        what: "flows that do not begin",
        found: format!("{their} and {our}"),
        agrees: is_few || (of_their - of_our).abs() <= 0.2,
    })
}

/// Whether this many boots and seeds can be told apart at all: the least chance is one arrangement of all.
fn can_tell(theirs: usize, ours: usize) -> bool {
    let arrangements = (1..=theirs as u64).fold(1.0, |product, boot| {
        product * number(ours as u64 + boot) / number(boot)
    });
    LEVEL * arrangements > 2.0
}

fn means((theirs, ours): &(Side, Side)) -> Vec<Check> {
    vec![
        within("goodput", theirs.goodput, ours.goodput, 0.02),
        within("mean queue", theirs.queue, ours.queue, 0.1),
    ]
}

fn distributions(
    scenario: &Scenario,
    sides: &(Side, Side),
    theirs: &[Answer],
    ours: &[Answer],
) -> Vec<Check> {
    let (their, our) = sides;
    let rounds = |answers: &[Answer]| -> Vec<Vec<f64>> {
        let of = |answer: &Answer| match &answer.carried {
            Some(_) => vec![goodput_of(answer)],
            None => answer.rounds.iter().skip(1).map(|round| round.us).collect(),
        };
        answers.iter().map(of).collect()
    };
    let is_incast = scenario.is_incast();
    let chance = permuted(&rounds(theirs), &rounds(ours));
    let mut checks = vec![
        Check {
            what: if is_incast {
                "round times"
            } else {
                "goodput of boots"
            },
            found: if chance < 1e-4 {
                "p below 0.0001".to_owned()
            } else {
                format!("p {chance:.4}")
            },
            agrees: chance >= LEVEL,
        },
        within("median", their.median, our.median, 0.15),
    ];
    if is_incast {
        checks.push(within(
            "median of first rounds",
            their.first,
            our.first,
            0.15,
        ));
        let shares = spread(theirs, timeout_rounds);
        checks.push(near("rounds with timeouts", shares, our.timeout_rounds));
    }
    checks.push(near(
        "drops",
        spread(theirs, |one| number(one.drops)),
        our.drops,
    ));
    checks.push(near(
        "timeouts",
        spread(theirs, |one| number(one.timeouts())),
        our.timeouts,
    ));
    checks
}

/// How two flows share the port in the end: the share of the first.
fn shares(theirs: &[Answer], ours: &[Answer]) -> Check {
    let share = |answers: &[Answer]| {
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
        agrees: (theirs - ours).abs() <= 0.1,
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
        agrees: off.abs() <= band,
    }
}

/// Least, mean and largest value over boots.
type Spread = (f64, f64, f64);

fn near(what: &'static str, (least, theirs, most): Spread, ours: f64) -> Check {
    let off = (ours - theirs).abs();
    Check {
        what,
        found: format!("{} and {}", short(theirs), short(ours)),
        agrees: off <= 0.2 * theirs || (least <= ours && ours <= most),
    }
}

fn spread(answers: &[Answer], value: impl Fn(&Answer) -> f64) -> Spread {
    let values: Vec<f64> = answers.iter().map(value).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    (least, mean(&values), most)
}

fn side(scenario: &Scenario, answers: &[Answer]) -> Side {
    let counts = |of: &dyn Fn(&Answer) -> f64| mean(&answers.iter().map(of).collect::<Vec<f64>>());
    let goodputs: Vec<f64> = match &scenario.kind {
        Kind::Incast { senders, size, .. } => {
            let bits = 8.0 * number(u64::from(*senders) * size);
            let goodput = |answer: &Answer| {
                let us: f64 = answer.rounds.iter().map(|round| round.us).sum();
                bits * number(answer.rounds.len() as u64) / us
            };
            answers.iter().map(goodput).collect()
        }
        Kind::Stream(_) => answers.iter().map(goodput_of).collect(),
    };
    let rounds = |skip: usize, take: usize| -> Vec<f64> {
        let rounds = answers
            .iter()
            .flat_map(|answer| answer.rounds.iter().skip(skip).take(take));
        rounds.map(|round| round.us / 1e3).collect()
    };
    let is_incast = scenario.is_incast();
    let harmonic =
        number(goodputs.len() as u64) / goodputs.iter().map(|one| 1.0 / one).sum::<f64>();
    Side {
        goodput: if is_incast { harmonic } else { mean(&goodputs) },
        median: if is_incast {
            median(rounds(1, usize::MAX))
        } else {
            median(goodputs)
        },
        first: if is_incast { median(rounds(0, 1)) } else { 0.0 },
        queue: counts(&|one| one.queue_mean) / number(PACKET),
        timeout_rounds: counts(&timeout_rounds),
        timeouts: counts(&|one| number(one.timeouts())),
        drops: counts(&|one| number(one.drops)),
        marks: counts(&|one| number(one.marks)),
    }
}

/// In Mbit/s.
fn goodput_of(answer: &Answer) -> f64 {
    let carried = answer
        .carried
        .as_ref()
        .expect("flows without end carry bytes");
    8.0 * number(carried.bytes.iter().sum()) / carried.seconds / 1e6
}

fn timeout_rounds(answer: &Answer) -> f64 {
    let with = answer
        .rounds
        .iter()
        .filter(|round| round.timeouts > 0)
        .count();
    number(with as u64) / number(answer.rounds.len().max(1) as u64)
}

/// How likely the distributions of two sides are at least this far apart if both are the same: the share of
/// permutations of whole boots with as large a Kolmogorov-Smirnov distance, which counts itself as one.
fn permuted(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let mut values: Vec<(f64, usize)> = Vec::new();
    for (boot, rounds) in a.iter().chain(b).enumerate() {
        values.extend(rounds.iter().map(|value| (*value, boot)));
    }
    values.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let boots = a.len() + b.len();
    let mut is_first: Vec<bool> = (0..boots).map(|boot| boot < a.len()).collect();
    let sizes: Vec<usize> = a.iter().chain(b).map(Vec::len).collect();
    let found = distance(&values, &is_first, &sizes);
    let mut draws = Stream::new(1, "permutations", 0);
    let mut as_far = 1;
    for _ in 0..PERMUTATIONS {
        for place in (1..boots).rev() {
            let other = draws.below(place as u64 + 1);
            is_first.swap(place, usize::try_from(other).expect("a place"));
        }
        if distance(&values, &is_first, &sizes) >= found - 1e-12 {
            as_far += 1;
        }
    }
    number(as_far) / number(PERMUTATIONS + 1)
}

/// The largest difference between the two distribution functions of sorted values.
fn distance(values: &[(f64, usize)], is_first: &[bool], sizes: &[usize]) -> f64 {
    let total = |first: bool| -> f64 {
        let own = is_first
            .iter()
            .zip(sizes)
            .filter(|(is_first, _)| **is_first == first);
        number(own.map(|(_, size)| *size as u64).sum())
    };
    let (a, b) = (total(true), total(false));
    let (mut at, mut most) = (0.0_f64, 0.0_f64);
    for (index, (value, boot)) in values.iter().enumerate() {
        at += if is_first[*boot] { 1.0 / a } else { -1.0 / b };
        // Equal values make one step.
        let is_step = values.get(index + 1).is_none_or(|next| next.0 > *value);
        if is_step {
            most = most.max(at.abs());
        }
    }
    most
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / number(values.len() as u64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[half - 1], values[half])
    } else {
        values[half]
    }
}

/// A number with three digits or so.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Chance below which distributions are told apart.
const LEVEL: f64 = 1e-3;
/// A chance of 1e-3 is told to within a tenth of it or so.
const PERMUTATIONS: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Boots of equal rounds.
    fn boots(values: &[f64]) -> Vec<Vec<f64>> {
        values.iter().map(|value| vec![*value; 20]).collect()
    }

    #[test]
    fn a_boot_counts_once_however_many_rounds_it_has() {
        // Two boots on each side can be arranged in six ways, of which two are as far apart as possible.
        let chance = permuted(&boots(&[1.0, 2.0]), &boots(&[3.0, 4.0]));
        assert!((chance - 1.0 / 3.0).abs() < 0.02, "{chance}");
        // Ten on each side: 2 of 184,756.
        let low: Vec<f64> = (0..10).map(f64::from).collect();
        let high: Vec<f64> = (10..20).map(f64::from).collect();
        assert!(permuted(&boots(&low), &boots(&high)) < 1e-3);
        let mixed: Vec<f64> = (0..10).map(|at| f64::from(at) + 0.5).collect();
        assert!(permuted(&boots(&low), &boots(&mixed)) > 0.9);
    }

    #[test]
    fn a_flow_that_never_began_tells_nothing() {
        let answer = |bytes: &[u64]| Answer {
            carried: Some(crate::answer::Carried {
                seconds: 0.5,
                bytes: bytes.to_vec(),
                late_seconds: 0.25,
                late_bytes: bytes.to_vec(),
            }),
            ..Answer::default()
        };
        let all = [answer(&[7, 7]), answer(&[7, 0]), Answer::default()];
        assert_eq!(begun(&all), [all[0].clone(), all[2].clone()]);
        // Unless many more of one side do not begin.
        let side = |silent: usize| {
            let mut side = vec![answer(&[7, 7]); 20];
            side[..silent].fill(answer(&[7, 0]));
            side
        };
        let agrees = |theirs, ours| {
            let check = silent(&side(theirs), &side(ours));
            check.map(|check| check.agrees)
        };
        assert_eq!(
            [agrees(0, 0), agrees(1, 2), agrees(4, 6)],
            [None, Some(true), Some(true)]
        );
        assert_eq!([agrees(0, 5), agrees(9, 4)], [Some(false); 2]);
        let of_two = [answer(&[7, 7]), answer(&[7, 0])];
        let check = silent(&of_two, &of_two[..1]);
        assert_eq!(check.map(|check| check.agrees), Some(false));
    }

    #[test]
    fn few_boots_tell_nothing() {
        // Two of 924 arrangements of 6 and 6, of 3432 of 7 and 7; two of 1771 of 3 and 20, of 10,626 of 4 and 20.
        assert!(!can_tell(2, 20) && !can_tell(3, 20) && can_tell(4, 20));
        assert!(!can_tell(6, 6) && can_tell(7, 7));
    }

    #[test]
    fn the_distance_of_distributions_is_that_of_kolmogorov_and_smirnov() {
        let values = [(1.0, 0), (2.0, 1), (2.0, 0), (3.0, 1)];
        // After 1 it is 1/2, at 2 both sides take a step.
        let found = distance(&values, &[true, false], &[2, 2]);
        assert!((found - 0.5).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_mean_agrees_within_a_fifth_or_inside_the_range_of_boots() {
        let agrees = |ours| near("drops", (5.0, 10.0, 11.0), ours).agrees;
        assert!(agrees(12.0) && agrees(8.0) && agrees(5.0));
        assert!(!agrees(4.9) && !agrees(12.1));
        assert!(near("timeouts", (0.0, 0.0, 0.0), 0.0).agrees);
        assert!(!near("timeouts", (0.0, 0.0, 0.0), 0.1).agrees);
    }
}
