//! Counts claims by verdict, and computes the deviation of numbers as a whole.

use std::fmt;

use serde::Serialize;

use super::judged::{Judged, Standing};
use super::verdict::Verdict;
use super::words::digits;
use crate::ClaimKind;
use base::cast;

/// The number of claims of a paper for each verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// By verdict, in the order of [`Verdict::ALL`]: the paper's claims that are not counted elsewhere, by the reading
    /// of the text.
    pub verdicts: [usize; Verdict::ALL.len()],
    /// The same claims by the published code, for figures in which it differs from the text.
    pub by_code: [usize; Verdict::ALL.len()],
    /// Claims with another verdict under any other reading of the paper.
    pub by_others: usize,
    /// Claims of the paper whose verdict changes with the order of events at equal times.
    pub order: usize,
    /// Claims that are weaker than the paper's statement, by verdict.
    pub weaker: [usize; Verdict::ALL.len()],
    /// Checks of our own.
    pub own: usize,
    /// Claims that are counted with another paper.
    pub elsewhere: usize,
}

impl Counts {
    /// Counts claims.
    pub fn of<'a>(claims: impl Iterator<Item = &'a Judged>) -> Self {
        let mut counts = Self::default();
        for judged in claims {
            match judged.standing {
                Standing::Counted if judged.hangs_on_order() => counts.order += 1,
                Standing::Counted => counts.add(judged),
                Standing::Weaker(_) => counts.weaker[judged.finding.verdict as usize] += 1,
                Standing::Own(_) => counts.own += 1,
                Standing::CountedIn(_) => counts.elsewhere += 1,
            }
        }
        counts
    }

    fn add(&mut self, judged: &Judged) {
        let verdict = judged.finding.verdict;
        self.verdicts[verdict as usize] += 1;
        self.by_code[judged.verdict_by(CODE) as usize] += 1;
        let mut others = judged.readings.iter().filter(|read| read.name != CODE);
        self.by_others += usize::from(others.any(|read| read.finding.verdict != verdict));
    }

    /// The paper's claims that are counted here.
    pub fn claims(&self) -> usize {
        self.verdicts.iter().sum()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let shown = |verdicts: [usize; Verdict::ALL.len()]| {
            let verdicts = Verdict::ALL.iter().zip(verdicts);
            let shown =
                verdicts.filter(|(verdict, count)| *count > 0 || **verdict == Verdict::Reproduced);
            let shown: Vec<_> = shown
                .map(|(verdict, count)| format!("{count} {verdict}"))
                .collect();
            shown.join(", ")
        };
        let claims = plural(self.claims(), "claim");
        write!(f, "{claims}: {}", shown(self.verdicts))?;
        if self.by_code != self.verdicts {
            write!(f, "; by the published code {}", shown(self.by_code))?;
        }
        if self.by_others > 0 {
            write!(f, "; {} otherwise by another reading", self.by_others)?;
        }
        if self.order > 0 {
            let claims = plural(self.order, "more claim");
            write!(f, "; {claims} hanging on the order of events")?;
        }
        if self.weaker != [0; Verdict::ALL.len()] {
            write!(f, "; in a weaker form {}", shown(self.weaker))?;
        }
        if self.own > 0 {
            write!(f, "; beside them {} of our own", plural(self.own, "check"))?;
        }
        if self.elsewhere > 0 {
            write!(
                f,
                "; {} counted with another paper",
                plural(self.elsewhere, "claim")
            )?;
        }
        Ok(())
    }
}

/// The reading of the published code.
const CODE: &str = "code";

/// The deviation of a figure's numbers as a whole: ours over the paper's.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bias {
    /// Their median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// The mean of the absolute values of their natural logarithms, which is the same for twice the paper's number and
    /// for half of it. For small differences it is the mean relative difference. `None` if a ratio is not positive.
    pub difference: Option<f64>,
    /// The number of numbers.
    pub numbers: usize,
    /// The difference with each cause.
    pub causes: Vec<CauseShift>,
}

/// A cause that moves the numbers of a figure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CauseShift {
    /// The change, as `KEY = VALUE` or in words.
    pub set: String,
    /// The difference of all numbers, with the moved ones at their new values.
    pub difference: f64,
}

impl Bias {
    /// For the counted claims about single numbers other than 0; `None` without any.
    pub fn of(claims: &[Judged]) -> Option<Self> {
        let ratios = claims.iter();
        Self::of_ratios(ratios.filter_map(|judged| ratio(judged, judged.finding.value)))
    }

    /// Adds a cause: `moved` has our numbers with it. Claims without a moved number keep theirs.
    pub fn add_cause(
        &mut self,
        claims: &[Judged],
        set: String,
        moved: impl Fn(&Judged) -> Option<f64>,
    ) {
        let ratios = claims.iter();
        let ratios =
            ratios.filter_map(|judged| ratio(judged, moved(judged).or(judged.finding.value)));
        let moved = Self::of_ratios(ratios).and_then(|moved| moved.difference);
        if moved.map(digits) != self.difference.map(digits) {
            let shift = moved.map(|difference| CauseShift { set, difference });
            self.causes.extend(shift);
        }
    }

    fn of_ratios(ratios: impl Iterator<Item = f64>) -> Option<Self> {
        let mut ratios: Vec<f64> = ratios.collect();
        ratios.sort_by(f64::total_cmp);
        let (least, greatest) = (*ratios.first()?, *ratios.last()?);
        let middle = ratios.len() / 2;
        let median = if ratios.len() % 2 == 1 {
            ratios[middle]
        } else {
            f64::midpoint(ratios[middle - 1], ratios[middle])
        };
        Some(Self {
            median,
            least,
            greatest,
            difference: difference(&ratios),
            numbers: ratios.len(),
            causes: Vec::new(),
        })
    }
}

/// The mean of the absolute logarithms, if all ratios are positive.
fn difference(ratios: &[f64]) -> Option<f64> {
    let logs = ratios.iter().map(|ratio| libm::log(*ratio).abs());
    let positive = ratios.iter().all(|ratio| *ratio > 0.0);
    positive.then(|| logs.sum::<f64>() / cast::count(ratios.len()))
}

/// Our number over the paper's.
fn ratio(judged: &Judged, ours: Option<f64>) -> Option<f64> {
    let ClaimKind::Number(number) = &judged.claim.kind else {
        return None;
    };
    let (low, high) = number.paper;
    let counts = judged.standing == Standing::Counted && low >= high && low != 0.0;
    ours.filter(|_| counts).map(|ours| ours / low)
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, least, greatest] = [self.median, self.least, self.greatest].map(digits);
        let plural = if self.numbers == 1 { "" } else { "s" };
        write!(
            f,
            "{median} times the paper's in the median of {} number{plural}",
            self.numbers
        )?;
        if self.numbers > 1 {
            write!(f, ", {least} to {greatest}")?;
        }
        if let Some(difference) = self.difference {
            let mean = if self.numbers > 1 { "mean " } else { "" };
            write!(f, "; {mean}|ln(ours/paper)| {}", digits(difference))?;
        }
        for CauseShift { set, difference } in &self.causes {
            write!(f, "; {} with {set}", digits(*difference))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_means_of_factors() {
        let bias =
            |ratios: &[f64]| Bias::of_ratios(ratios.iter().copied()).map(|bias| bias.to_string());
        assert_eq!(bias(&[]), None);
        for (ratios, text) in [
            (
                &[0.9][..],
                "0.9 times the paper's in the median of 1 number; |ln(ours/paper)| 0.105",
            ),
            // ln 2 is 0.693; twice and half deviate equally.
            (
                &[2.0, 1.0, 0.5],
                "1 times the paper's in the median of 3 numbers, 0.5 to 2; mean |ln(ours/paper)| 0.462",
            ),
            // No factor leads from the paper's number to 0.
            (
                &[1.2, 0.0],
                "0.6 times the paper's in the median of 2 numbers, 0 to 1.2",
            ),
        ] {
            assert_eq!(bias(ratios).as_deref(), Some(text));
        }
    }
}
