//! A series of any length in bounded memory.

/// The value that stands for a period in which the quantity changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keep {
    /// The largest value, including the one at the beginning of the period.
    Largest,
    /// The value at the end of the period.
    Last,
}

/// A step function that is exact while it has few steps, and becomes coarser with more.
///
/// Time is cut into equal periods of a power of two picoseconds; at first one picosecond. An entry holds the value for
/// its period and for the following ones up to the next entry. When there are too many entries, periods are made longer
/// until half of the allowed number is left. O(1) amortised.
#[derive(Clone, Debug)]
pub(super) struct Thin {
    keep: Keep,
    most: usize,
    /// A time's period is `time >> shift`.
    shift: u32,
    /// Closed periods in order of time. Each has another value than the one before.
    entries: Vec<(u64, f64)>,
    /// The period of the last change, and its value so far.
    open: Option<(u64, f64)>,
    /// The value after the last change.
    value: f64,
}

impl Thin {
    /// An empty function with at most `most` entries.
    pub(super) const fn new(keep: Keep, most: usize) -> Self {
        Self {
            keep,
            most,
            shift: 0,
            entries: Vec::new(),
            open: None,
            value: 0.0,
        }
    }

    /// Whether nothing has come.
    pub(super) const fn is_empty(&self) -> bool {
        self.open.is_none() && self.entries.is_empty()
    }

    /// The value is `value` from `time` on, in picoseconds. Times never decrease.
    #[inline(always)]
    #[expect(clippy::float_cmp, reason = "whether a value is the same as before")]
    pub(super) fn change(&mut self, time: u64, value: f64) {
        if value == self.value && self.open.is_some() {
            return;
        }
        let period = time >> self.shift;
        match &mut self.open {
            Some((open, stands)) if *open == period => {
                *stands = match self.keep {
                    Keep::Largest => stands.max(value),
                    Keep::Last => value,
                };
            }
            _ => self.open_period(period, time, value),
        }
        self.value = value;
    }

    #[inline(never)]
    fn open_period(&mut self, period: u64, time: u64, value: f64) {
        let mut stands = value;
        if self.open.is_some() {
            self.close(period);
            let begins_here = time == period << self.shift;
            if self.keep == Keep::Largest && !begins_here {
                stands = value.max(self.value);
            }
        }
        self.open = Some((period, stands));
        if self.entries.len() > self.most {
            // Periods shorter than the mean gap would not merge entries.
            let span = self.entries[self.entries.len() - 1].0 - self.entries[0].0;
            let bits = (span / self.most as u64).checked_ilog2().unwrap_or(0);
            self.coarsen(bits + 1);
            while self.entries.len() > self.most / 2 {
                self.coarsen(1);
            }
        }
    }

    /// Closes the open period and the unchanged ones after it, up to `next`.
    fn close(&mut self, next: u64) {
        if let Some((period, stands)) = self.open.take() {
            add(&mut self.entries, period, stands);
            if next > period + 1 {
                add(&mut self.entries, period + 1, self.value);
            }
        }
    }

    /// Makes periods `2^bits` times as long.
    fn coarsen(&mut self, bits: u32) {
        self.shift += bits;
        let open = self.open.take();
        let old = std::mem::take(&mut self.entries);
        self.entries.reserve(self.most + 2);
        let begins = |period: u64| period.trailing_zeros() >= bits;
        let (mut before, mut merged) = (None, None);
        let mut rest = old.as_slice();
        while let Some((period, value)) = rest.first().copied() {
            let coarse = period >> bits;
            let inside = rest.partition_point(|entry| entry.0 >> bits == coarse);
            let mut stands = if begins(period) {
                value
            } else {
                self.merge(before, value)
            };
            for (_, value) in &rest[1..inside] {
                stands = self.merge(Some(stands), *value);
            }
            add(&mut self.entries, coarse, stands);
            merged = Some((coarse, stands));
            let last = rest[inside - 1].1;
            rest = &rest[inside..];
            // A change in the next period includes the value before it in its own period.
            let later = |period: u64| period >> bits > coarse + 1;
            if rest.first().is_none_or(|next| later(next.0))
                && open.is_none_or(|open| later(open.0))
            {
                add(&mut self.entries, coarse + 1, last);
            }
            before = Some(last);
        }
        self.open = open.map(|(period, stands)| {
            let coarse = period >> bits;
            self.entries.pop_if(|entry| entry.0 == coarse);
            let first = match merged {
                Some((earlier, stands)) if earlier == coarse => Some(stands),
                _ => before.filter(|_| !begins(period)),
            };
            (coarse, self.merge(first, stands))
        });
    }

    fn merge(&self, first: Option<f64>, last: f64) -> f64 {
        match (self.keep, first) {
            (Keep::Largest, Some(first)) => first.max(last),
            _ => last,
        }
    }

    /// Every entry: the start of its period in picoseconds, and its value.
    pub(super) fn finish(mut self) -> impl Iterator<Item = (u64, f64)> {
        if let Some((period, stands)) = self.open.take() {
            add(&mut self.entries, period, stands);
            add(&mut self.entries, period + 1, self.value);
        }
        let shift = self.shift;
        self.entries
            .into_iter()
            .map(move |(period, value)| (period << shift, value))
    }
}

#[expect(clippy::float_cmp, reason = "whether a value is the same as before")]
fn add(entries: &mut Vec<(u64, f64)>, period: u64, value: f64) {
    if entries.last().is_none_or(|(_, last)| *last != value) {
        entries.push((period, value));
    }
}

/// Amounts per window of time, in bounded memory: when there are too many windows, their length doubles.
#[derive(Clone, Debug)]
pub(super) struct TimeWindows {
    most: usize,
    /// Length of a window, picoseconds.
    length: u64,
    /// Number of the first window.
    first: u64,
    amounts: Vec<u64>,
}

impl TimeWindows {
    /// Windows of `length` picoseconds; at most `most` of them.
    pub(super) const fn new(length: u64, most: usize) -> Self {
        Self {
            most,
            length,
            first: 0,
            amounts: Vec::new(),
        }
    }

    /// Whether nothing has come.
    pub(super) const fn is_empty(&self) -> bool {
        self.amounts.is_empty()
    }

    /// Adds `amount` at `time`. Times never decrease.
    #[inline]
    pub(super) fn add(&mut self, time: u64, amount: u64) {
        if self.amounts.is_empty() {
            self.first = time / self.length;
        }
        while time / self.length - self.first >= self.most as u64 {
            self.double();
        }
        let place = usize::try_from(time / self.length - self.first).expect("few windows");
        if place >= self.amounts.len() {
            self.amounts.resize(place + 1, 0);
        }
        self.amounts[place] += amount;
    }

    fn double(&mut self) {
        let mut halved = Vec::with_capacity(self.amounts.len() / 2 + 1);
        for (index, amount) in (self.first..).zip(&self.amounts) {
            let place = usize::try_from(index / 2 - self.first / 2).expect("few windows");
            if place == halved.len() {
                halved.push(0);
            }
            halved[place] += amount;
        }
        self.amounts = halved;
        self.first /= 2;
        self.length *= 2;
    }

    /// Every window with its start and its amount, and the length of all windows.
    pub(super) fn finish(self) -> (u64, impl Iterator<Item = (u64, u64)>) {
        let length = self.length;
        let windows = (self.first..).zip(self.amounts);
        (
            length,
            windows.map(move |(window, amount)| (window * length, amount)),
        )
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values are whole numbers")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The value at `time` of a step function.
    fn at(steps: &[(u64, f64)], time: u64) -> Option<f64> {
        let before = steps.iter().take_while(|step| step.0 <= time);
        before.last().map(|step| step.1)
    }

    #[test]
    fn few_changes_are_kept_as_they_are() {
        let mut thin = Thin::new(Keep::Largest, 8);
        let changes = [(10, 1.0), (12, 3.0), (12, 2.0), (40, 0.0)];
        for (time, value) in changes {
            thin.change(time, value);
        }
        // At 12 the value is 3 for no time. If a time has several values, the largest is kept.
        let expected = [(10, 1.0), (12, 3.0), (13, 2.0), (40, 0.0)];
        assert_eq!(thin.finish().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn windows_add_up_to_what_came() {
        let mut windows = TimeWindows::new(10, 4);
        for time in 7..=207 {
            windows.add(time, 1);
        }
        let (length, windows) = windows.finish();
        let windows: Vec<_> = windows.collect();
        assert_eq!(length, 80);
        assert_eq!(windows, [(0, 73), (80, 80), (160, 48)]);
    }

    proptest! {
        #[test]
        fn thinning_never_hides_a_peak_and_keeps_the_last_value(
            steps in prop::collection::vec((0_u64..50, 0_u32..20), 1..400),
        ) {
            let mut time = 1_000;
            let (mut reports, mut changes) = (Vec::new(), Vec::new());
            for (gap, value) in steps {
                time += gap * gap;
                let report = (time, f64::from(value));
                reports.push(report);
                // A repeated report of the same value is no change, and need not be a step.
                if changes.last().is_none_or(|(_, last)| *last != report.1) {
                    changes.push(report);
                }
            }
            for keep in [Keep::Largest, Keep::Last] {
                let mut thin = Thin::new(keep, 16);
                for (time, value) in &reports {
                    thin.change(*time, *value);
                }
                let shift = thin.shift;
                let thinned: Vec<_> = thin.finish().collect();
                prop_assert!(thinned.len() <= 18);
                prop_assert_eq!(thinned.last().unwrap().1, changes.last().unwrap().1);
                for (time, value) in &changes {
                    let end = ((*time >> shift) + 1) << shift;
                    let shown = at(&thinned, *time).unwrap();
                    if keep == Keep::Largest {
                        prop_assert!(shown >= *value);
                    } else {
                        // A period has the value at its end.
                        prop_assert_eq!(shown, at(&changes, end - 1).unwrap());
                    }
                }
                if keep == Keep::Largest {
                    let largest = |steps: &[(u64, f64)]| steps.iter().fold(0.0, |m: f64, s| m.max(s.1));
                    prop_assert_eq!(largest(&thinned), largest(&changes));
                }
            }
        }
    }
}
