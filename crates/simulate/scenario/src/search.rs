//! A search chooses the values of a setting by bisection along one axis.
//!
//! A search begins with both ends of its range. If a goal is met at one end and missed at the other, it halves the
//! interval until two neighbouring steps differ, so a range of N steps takes 2 + log2(N) values. If the goal is missed
//! at both ends, it first tries a few values between them.

use std::collections::BTreeMap;
use std::fmt;

use crate::values::{self, Decimal};
use plan::metric::Unknown;

/// A range of values of one setting, in equal steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    key: String,
    low: u128,
    step: u128,
    /// The number of the last value; the first is 0.
    last: u64,
    decimals: u32,
    unit: String,
}

/// A range, and the indices of its values that have been chosen, in the order of choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The range.
    pub range: Search,
    /// Numbers of values.
    pub chosen: Vec<u64>,
}

impl Search {
    /// Reads `KEY=LOW..HIGH[:STEP]`. Without a step, the step is the place of the last digit written, or a smaller
    /// power of ten so that the range has at least a hundred steps.
    pub fn parse(text: &str) -> Result<Self, Unknown> {
        let wrong = |cause: &str| Unknown {
            cause: format!("{cause} in {text:?}"),
            remedy: "write KEY=LOW..HIGH or KEY=LOW..HIGH:STEP with units, as in \
                     switch.ecn_threshold=20KB..400KB"
                .to_owned(),
        };
        let (key, range) = text
            .split_once('=')
            .ok_or_else(|| wrong("there is no \"=\""))?;
        let (low, rest) = range
            .split_once("..")
            .ok_or_else(|| wrong("there is no \"..\""))?;
        let (high, step) = match rest.split_once(':') {
            Some((high, step)) => (high, Some(step.trim())),
            None => (rest, None),
        };
        let number =
            |text| Decimal::parse(text).ok_or_else(|| wrong("there is no range of numbers"));
        let (low, high) = (number(low.trim())?, number(high.trim())?);
        let step = step.map(number).transpose()?;
        let mut all = vec![low, high];
        all.extend(step);
        if !values::share_unit(&mut all) {
            return Err(wrong("the units do not measure the same thing"));
        }
        let mut numbers = all.into_iter();
        let (Some(low), Some(high), step) = (numbers.next(), numbers.next(), numbers.next()) else {
            return Err(wrong("there is no range of numbers"));
        };
        let all = [Some(&low), Some(&high), step.as_ref()];
        let decimals = all.iter().flatten().map(|number| number.decimals).max();
        let mut decimals = decimals.unwrap_or_default();
        if step.is_none() {
            let steps = |decimals| high.scaled(decimals).saturating_sub(low.scaled(decimals));
            // A count has no fractions.
            while !low.unit.is_empty() && (1..FEWEST).contains(&steps(decimals)) {
                decimals += 1;
            }
        }
        let (first, end) = (low.scaled(decimals), high.scaled(decimals));
        let step = step.map_or(1, |step| step.scaled(decimals));
        if first >= end {
            return Err(wrong("the range ends before it begins"));
        }
        if step == 0 || step > end - first {
            return Err(wrong("the step does not lie between 0 and the range"));
        }
        Ok(Self {
            key: key.trim().to_owned(),
            low: first,
            step,
            last: u64::try_from((end - first) / step).unwrap_or(u64::MAX),
            decimals,
            unit: low.unit.to_owned(),
        })
    }

    /// The setting.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The text of a value.
    pub fn value(&self, number: u64) -> String {
        let digits = self.low + u128::from(number.min(self.last)) * self.step;
        values::write(digits, self.decimals, &self.unit)
    }

    /// The index of the value to try next, given whether the tried values meet the goals; `None` when the search has
    /// ended.
    pub fn next(&self, known: &BTreeMap<u64, bool>) -> Option<u64> {
        let ends = [0, self.last];
        if let Some(end) = ends.into_iter().find(|end| !known.contains_key(end)) {
            return Some(end);
        }
        let between = |low: u64, high: u64| (high - low > 1).then(|| low + (high - low) / 2);
        let met = || known.iter().filter(|(_, met)| **met).map(|(at, _)| *at);
        let missed = || known.iter().filter(|(_, met)| !**met).map(|(at, _)| *at);
        match (known[&0], known[&self.last]) {
            (true, true) => None,
            (true, false) => {
                let first = missed().next()?;
                between(met().take_while(|at| *at < first).last()?, first)
            }
            (false, _) => match met().next() {
                Some(first) => between(missed().take_while(|at| *at < first).last()?, first),
                None => self.looks().find(|at| !known.contains_key(at)),
            },
        }
    }

    /// Values between the ends, each in the middle of a gap: the half, the quarters, the eighths.
    fn looks(&self) -> impl Iterator<Item = u64> {
        let parts = [2_u64, 4, 8].into_iter();
        let looks = parts.flat_map(|parts| (1..parts).step_by(2).map(move |part| (part, parts)));
        looks
            .map(|(part, parts)| {
                let at = u128::from(self.last) * u128::from(part) / u128::from(parts);
                u64::try_from(at).unwrap_or(self.last)
            })
            .take(LOOKS)
    }
}

impl Searched {
    /// Both ends of a range.
    pub fn begin(range: Search) -> Self {
        let chosen = vec![0, range.last];
        Self { range, chosen }
    }

    /// The chosen values as an argument: `KEY=A,B,C`.
    pub(crate) fn setting(&self) -> String {
        let values: Vec<_> = self.chosen.iter().map(|at| self.range.value(*at)).collect();
        format!("{}={}", self.range.key, values.join(","))
    }
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Search {
            key,
            step,
            decimals,
            unit,
            last,
            ..
        } = &self.range;
        let (low, high) = (self.range.value(0), self.range.value(*last));
        let step = values::write(*step, *decimals, unit);
        write!(f, "{key}={low}..{high}:{step}")
    }
}

/// Values tried between two ends that both miss a goal.
const LOOKS: usize = 7;
/// The least number of steps of a range without a given step.
const FEWEST: u128 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a search among the steps of `text`, and the number of values that it tries.
    fn run(text: &str, meets: impl Fn(u64) -> bool) -> (Option<String>, usize) {
        let search = Search::parse(text).unwrap();
        let mut known = BTreeMap::new();
        while let Some(at) = search.next(&known) {
            assert_eq!(known.insert(at, meets(at)), None, "{at} is tried twice");
        }
        let met = known.iter().find(|(_, met)| **met);
        (met.map(|(at, _)| search.value(*at)), known.len())
    }

    #[test]
    fn the_smallest_value_of_380_steps_takes_at_most_12() {
        for first in 1..=380 {
            let (found, tried) = run("switch.ecn_threshold=20KB..400KB", |at| at >= first);
            assert_eq!(found, Some(format!("{}KB", 20 + first)));
            assert!(tried <= 12, "{tried} at {first}");
        }
    }

    #[test]
    fn a_goal_that_is_met_at_low_values_is_followed_to_the_last_of_them() {
        let search = Search::parse("a.b=1ms..200ms").unwrap();
        let mut known = BTreeMap::new();
        while let Some(at) = search.next(&known) {
            known.insert(at, at <= 77);
        }
        assert_eq!((known[&77], known[&78]), (true, false));
    }

    #[test]
    fn values_between_two_ends_that_miss_are_looked_at() {
        let (found, tried) = run("a.b=0KB..800KB", |at| (290..=310).contains(&at));
        assert_eq!(found.as_deref(), Some("290KB"));
        assert!(tried <= 2 + 7 + 7, "{tried}");
        assert_eq!(run("a.b=0KB..800KB", |_| false), (None, 9));
        assert_eq!(run("a.b=0KB..800KB", |_| true), (Some("0KB".into()), 2));
    }

    #[test]
    fn steps_are_as_fine_as_the_digits_written_and_never_few() {
        let ends = |text: &str| {
            let search = Search::parse(text).unwrap();
            (search.last, search.value(1))
        };
        assert_eq!(ends("a.b=20KB..400KB"), (380, "21KB".into()));
        assert_eq!(ends("a.b=1MB..2MB"), (100, "1.01MB".into()));
        assert_eq!(ends("a.b=0.5ms..2.5ms"), (200, "0.51ms".into()));
        assert_eq!(ends("a.b=2..20"), (18, "3".into()));
        assert_eq!(ends("a.b=64KB..256KB:64KB"), (3, "128KB".into()));
        // Units may differ.
        assert_eq!(ends("a.b=64KB..4MB:64KB"), (61, "128KB".into()));
        assert_eq!(ends("a.b=100us..1ms:0.1ms"), (9, "200us".into()));
        for wrong in [
            "a.b",
            "a.b=1",
            "a.b=2..1",
            "a.b=1KB..2ms",
            "a.b=10pkt..2MB",
            "a.b=1..5:9",
            "a.b=x..y",
        ] {
            assert!(Search::parse(wrong).is_err(), "{wrong}");
        }
    }
}
