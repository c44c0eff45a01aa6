//! The power of few boots: distributions that differ, and means whose ratio is known well enough.

use engine::random::Stream;

use crate::list::number;

/// Whether this many boots and seeds can be told apart at all: the least probability is that of one arrangement among
/// all.
pub(super) fn can_tell(theirs: usize, ours: usize) -> bool {
    let arrangements = (1..=theirs as u64).fold(1.0, |product, boot| {
        product * number(ours as u64 + boot) / number(boot)
    });
    LEVEL * arrangements > 2.0
}

/// The ratio of two means over boots, ours over the kernel's, with the interval in which it lies at 95 %.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) low: f64,
    pub(super) found: f64,
    pub(super) high: f64,
}

/// The ratio of two counts. Its error is that of boots, which differ from each other, and at least that of independent
/// events, because two boots may have equal counts by chance. Half an event is added on each side, so that no side is
/// 0.
pub(super) fn ratio_of_counts(theirs: &[f64], ours: &[f64]) -> Ratio {
    let per_boot = |side: &[f64]| (side.iter().sum::<f64>() + 0.5) / number(side.len() as u64);
    let error = |side: &[f64]| squared_error(side).max(1.0 / (side.iter().sum::<f64>() + 0.5));
    interval(
        per_boot(theirs),
        per_boot(ours),
        error(theirs) + error(ours),
    )
}

/// The ratio of two means of times, whose error is that of boots alone.
pub(super) fn ratio_of_means(theirs: &[f64], ours: &[f64]) -> Ratio {
    let error = squared_error(theirs) + squared_error(ours);
    interval(mean(theirs), mean(ours), error)
}

/// The logarithm of a ratio is nearly normal where the ratio itself is not.
fn interval(theirs: f64, ours: f64, squared_error: f64) -> Ratio {
    let (found, factor) = (
        ours / theirs,
        libm::exp(SIGMAS_OF_95 * squared_error.sqrt()),
    );
    Ratio {
        low: found / factor,
        found,
        high: found * factor,
    }
}

/// The squared relative standard error of a mean over boots.
fn squared_error(values: &[f64]) -> f64 {
    let (count, mean) = (number(values.len() as u64), mean(values));
    if values.len() < 2 || mean <= 0.0 {
        return 0.0;
    }
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    squares.sum::<f64>() / (count - 1.0) / count / (mean * mean)
}

/// The probability that the distributions of two sides are at least this far apart if both are the same: the share of
/// permutations of whole boots with at least this Kolmogorov-Smirnov distance. The actual arrangement counts as one of
/// them. Times within a thousandth of each other count as equal: enough answers tell any two programs apart.
pub(super) fn permuted(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let mut values: Vec<(f64, usize)> = Vec::new();
    for (boot, rounds) in a.iter().chain(b).enumerate() {
        values.extend(rounds.iter().map(|value| (*value, boot)));
    }
    values.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let boots = a.len() + b.len();
    let mut is_first: Vec<bool> = (0..boots).map(|boot| boot < a.len()).collect();
    let sizes: Vec<usize> = a.iter().chain(b).map(Vec::len).collect();
    let equal = last_equal(&values);
    let found = distance(&values, &equal, &is_first, &sizes);
    let mut draws = Stream::new(1, "permutations", 0);
    let mut as_far = 1;
    for _ in 0..PERMUTATIONS {
        for place in (1..boots).rev() {
            let other = draws.below(place as u64 + 1);
            is_first.swap(place, usize::try_from(other).expect("a place"));
        }
        if distance(&values, &equal, &is_first, &sizes) >= found - 1e-12 {
            as_far += 1;
        }
    }
    number(as_far) / number(PERMUTATIONS + 1)
}

/// For each of these sorted values, the place of the last value that counts as equal to it.
fn last_equal(values: &[(f64, usize)]) -> Vec<usize> {
    let mut last = 0;
    let of = |(value, _): &(f64, usize)| {
        let most = value * (1.0 + SAME_TIME);
        while values.get(last + 1).is_some_and(|next| next.0 <= most) {
            last += 1;
        }
        last
    };
    values.iter().map(of).collect()
}

/// The largest difference between the two distribution functions of sorted values. Those of one side may lie as much higher
/// as `equal` says.
fn distance(values: &[(f64, usize)], equal: &[usize], is_first: &[bool], sizes: &[usize]) -> f64 {
    let total = |first: bool| -> f64 {
        let own = is_first
            .iter()
            .zip(sizes)
            .filter(|(is_first, _)| **is_first == first);
        number(own.map(|(_, size)| *size as u64).sum())
    };
    let steps = [1.0 / total(true), 1.0 / total(false)];
    // Both functions at the current value and at the last one that counts as equal.
    let (mut here, mut beyond) = ([0.0_f64; 2], [0.0_f64; 2]);
    let (mut most, mut reached) = (0.0_f64, 0);
    let side = |place: usize| usize::from(!is_first[values[place].1]);
    for (place, last) in equal.iter().enumerate() {
        here[side(place)] += steps[side(place)];
        while reached <= *last {
            beyond[side(reached)] += steps[side(reached)];
            reached += 1;
        }
        most = most.max(here[0] - beyond[1]).max(here[1] - beyond[0]);
    }
    most
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / number(values.len() as u64)
}

pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[half - 1], values[half])
    } else {
        values[half]
    }
}

/// The probability below which distributions are called different.
pub(super) const LEVEL: f64 = 1e-3;
/// Times that differ by at most this share count as equal: a twentieth of the band of goodput where no timer expires.
const SAME_TIME: f64 = 1e-3;
/// Enough to estimate a probability of 1e-3 to within about a tenth of it.
const PERMUTATIONS: u64 = 20_000;

/// Standard errors on either side of a normal mean that hold 95 % of it.
const SIGMAS_OF_95: f64 = 1.96;

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
    fn few_boots_tell_nothing() {
        // Two of 924 arrangements of 6 and 6, of 3432 of 7 and 7; two of 1771 of 3 and 20, of 10,626 of 4 and 20.
        assert!(!can_tell(2, 20) && !can_tell(3, 20) && can_tell(4, 20));
        assert!(!can_tell(6, 6) && can_tell(7, 7));
    }

    #[test]
    fn the_distance_of_distributions_is_that_of_kolmogorov_and_smirnov() {
        let values = [(1.0, 0), (2.0, 1), (2.0, 0), (3.0, 1)];
        // After 1 it is 1/2, at 2 both sides take a step.
        let of = |values: &[(f64, usize)]| {
            distance(values, &last_equal(values), &[true, false], &[2, 2])
        };
        let found = of(&values);
        assert!((found - 0.5).abs() < 1e-12, "{found}");
        // A thousandth is no difference, and two thousandths are one.
        let apart = |by: f64| [(1.0, 0), (1.0, 0), (1.0 + by, 1), (1.0 + by, 1)];
        assert!(of(&apart(0.0009)) < 1e-12);
        assert!((of(&apart(0.002)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_ratio_is_that_of_independent_events_or_wider() {
        // 50 events on each side in 10 boots: exp(1.96 sqrt(2 / 50.5)) = 1.477.
        let even = ratio_of_counts(&[5.0; 10], &[5.0; 10]);
        assert!((even.found - 1.0).abs() < 1e-12 && (even.high - 1.477).abs() < 1e-3);
        assert!((even.low * even.high - 1.0).abs() < 1e-12, "{even:?}");
        // The same events in two of ten boots: mean 5, variance 1000 / 9 of a boot, 4 / 9 of the squared mean.
        let mut bursts = [0.0; 10];
        bursts[..2].fill(25.0);
        let uneven = ratio_of_counts(&bursts, &bursts);
        let error = (2.0_f64 * 4.0 / 9.0).sqrt();
        assert!(
            (libm::log(uneven.high) - 1.96 * error).abs() < 1e-9,
            "{uneven:?}"
        );
    }

    #[test]
    fn the_ratio_of_a_side_without_events_is_bounded() {
        let none = ratio_of_counts(&[0.0; 20], &[1.0; 20]);
        assert!(
            (none.found - 41.0).abs() < 1e-9 && none.low > 2.4,
            "{none:?}"
        );
        let few = ratio_of_counts(&[0.0; 20], &[0.1; 20]);
        assert!(few.low < 1.0 && few.high > 1.0, "{few:?}");
    }
}
