//! Distributions of sizes in the format of traffic generators: a line `BYTES SHARE` for each size. SHARE is the share
//! of flows up to this size, in percent or as a number up to 1.

use tables::flows::exact::Decimal;

use crate::words::Words;

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSizes {
    /// Sizes in bytes, ascending, with the share of flows up to each as a text up to 1.
    pub rows: Vec<(u64, String)>,
    /// Whether the file has percentages.
    pub percent: bool,
}

/// Whether a file with this first line may be one: a size, and the share 0 or a small share.
pub(crate) fn is_one(first: &str) -> bool {
    let numbers: Option<Vec<f64>> = first
        .split([' ', '\t', ','])
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().ok())
        .collect();
    matches!(numbers.as_deref(), Some([_, share]) if (0.0..=100.0).contains(share))
}

impl ImportedSizes {
    /// The law in the notation of scenarios.
    pub fn law(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|(bytes, share)| format!("{bytes}B {share}"))
            .collect();
        format!("empirical({})", rows.join(", "))
    }
}

pub(crate) fn read(text: &str) -> Result<ImportedSizes, String> {
    let mut rows: Vec<(u64, f64)> = Vec::new();
    let mut last = (1, 1);
    for (number, line) in (1_usize..).zip(text.lines()) {
        let line = line.replace(',', " ");
        let mut words = Words::of(number, &line);
        let Some(size) = words.next().filter(|word| !word.text.starts_with('#')) else {
            continue;
        };
        let bytes = Decimal::parse(size.text)
            .filter(|bytes| !bytes.negative)
            .and_then(|bytes| bytes.times(1));
        let bytes = bytes.and_then(|(bytes, _)| u64::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| {
            size.wrong(format!("a size is a number of bytes, not {:?}", size.text))
        })?;
        let word = words.need("the share of flows up to this size")?;
        let share = word
            .text
            .parse::<f64>()
            .ok()
            .filter(|share| (0.0..=100.0).contains(share));
        let share = share.ok_or_else(|| {
            word.wrong(format!(
                "a share is a number from 0 to 1 or to 100, not {:?}",
                word.text
            ))
        })?;
        if let Some((before, below)) = rows.last() {
            if bytes < *before {
                return Err(size.wrong(format!("sizes must ascend, but {bytes} is below {before}")));
            }
            if share < *below {
                return Err(word.wrong(format!("shares must ascend, but {share} is below {below}")));
            }
        }
        last = (word.line, word.column);
        rows.push((bytes, share));
    }
    let end = rows.last().map_or(0.0, |(_, share)| *share);
    let percent = end > 1.0;
    let whole = if percent { 100.0 } else { 1.0 };
    if (end - whole).abs() > whole * 1e-9 {
        return Err(format!(
            "line {}, column {}: the last share is {end}, but must be 1 or 100, the share of all flows: add the largest \
             size",
            last.0, last.1
        ));
    }
    // Among rows with the same share, the largest size begins the next part. A size of 0 is no flow.
    let mut kept: Vec<(u64, f64)> = Vec::new();
    for (place, (bytes, share)) in rows.iter().enumerate() {
        let next = rows.get(place + 1).map(|(_, share)| *share);
        if *share == 0.0 && next == Some(0.0) {
            continue;
        }
        let before = kept.last().map(|(_, before)| *before);
        // Shares ascend, so a share that is not larger is equal.
        if next.is_some() && before.is_some_and(|before| before >= *share) {
            kept.pop();
        }
        kept.push(((*bytes).max(1), *share));
    }
    let text = |share: f64| format!("{}", (share / whole * 1e9).round() / 1e9);
    Ok(ImportedSizes {
        rows: kept
            .into_iter()
            .map(|(bytes, share)| (bytes, text(share)))
            .collect(),
        percent,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percents_or_parts_of_one() {
        let law = "empirical(1B 0, 100B 0.01, 300000B 0.975, 1000000B 1)";
        let percent = read("0 0\n100 1\n300000 97.5\n1000000 100\n").unwrap();
        assert_eq!((percent.law().as_str(), percent.percent), (law, true));
        let parts = read("0 0.0\n100 0.01\n300000 0.975\n1000000 1\n").unwrap();
        assert_eq!((parts.law().as_str(), parts.percent), (law, false));
        // No flow is smaller than these two sizes.
        assert_eq!(
            read("0 0\n2000 0\n2100 0.02\n9000 1\n").unwrap().rows[0].0,
            2000
        );
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_column() {
        for (text, cause) in [
            (
                "0 0\nx 50\n9 100\n",
                "line 2, column 1: a size is a number of bytes",
            ),
            (
                "0 0\n5\n9 100\n",
                "line 2, column 2: the share of flows up to this size is missing",
            ),
            (
                "0 0\n5 101\n",
                "line 2, column 3: a share is a number from 0 to 1 or to 100",
            ),
            ("0 0\n5 50\n4 100\n", "line 3, column 1: sizes must ascend"),
            (
                "0 0\n5 50\n6 40\n9 100\n",
                "line 3, column 3: shares must ascend",
            ),
            (
                "0 0\n5 50\n6 80\n",
                "line 3, column 3: the last share is 80",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(cause), "{error}");
        }
    }
}
