//! Texts for several values: `10,20,50` and `64KB..256KB:64KB`.

use std::ops::Range;

use base::UnitFamily;

/// One value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// The text of the value, without quotes.
    pub(super) text: String,
    /// Its bytes in the source.
    pub(super) place: Range<usize>,
}

/// Why a range cannot be expanded: the cause and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeError {
    pub(super) cause: String,
    pub(super) remedy: String,
}

/// Splits at commas outside parentheses and keeps the position of each part.
pub(super) fn parts(text: &str, start: usize) -> Vec<Value> {
    let mut place = start;
    let mut depth = 0_u32;
    let outside = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let parts = text.split(outside).map(|part| {
        let indent = part.len() - part.trim_start().len();
        let begin = place + indent;
        place += part.len() + 1;
        let trimmed = part.trim();
        Value {
            text: trimmed.to_owned(),
            place: begin..begin + trimmed.len(),
        }
    });
    parts.collect()
}

/// The values of `first..last:step`, both ends included; `None` if `text` is not a range.
pub(super) fn range(text: &str) -> Option<Result<Vec<String>, RangeError>> {
    let (first, rest) = text.split_once("..")?;
    Some(steps(first.trim(), rest.trim()))
}

fn steps(first: &str, rest: &str) -> Result<Vec<String>, RangeError> {
    let Some((last, step)) = rest.split_once(':') else {
        return Err(RangeError {
            cause: "a range needs a step".into(),
            remedy: "write first..last:step, as in 10..100:10".into(),
        });
    };
    let numbers = [first, last.trim(), step.trim()].map(Decimal::parse);
    let [Some(first), Some(last), Some(step)] = numbers else {
        return Err(RangeError {
            cause: "first, last and step of a range are numbers of at most 18 digits".into(),
            remedy: "write first..last:step, as in 10..100:10 or 64KB..4MB:64KB".into(),
        });
    };
    let mut numbers = [first, last, step];
    if !share_unit(&mut numbers) {
        return Err(RangeError {
            cause: "first, last and step of a range need units of the same kind".into(),
            remedy: "write a unit after each, as in 64KB..4MB:64KB".into(),
        });
    }
    let [first, last, step] = numbers;
    let decimals = first.decimals.max(last.decimals).max(step.decimals);
    let [low, high, step] = [&first, &last, &step].map(|number| number.scaled(decimals));
    if step == 0 {
        return Err(RangeError {
            cause: "the step of this range is 0".into(),
            remedy: "give a step above 0, as in 10..100:10".into(),
        });
    }
    if low > high {
        return Err(RangeError {
            cause: "this range ends before it begins".into(),
            remedy: "put the smaller number first; order does not matter to a sweep".into(),
        });
    }
    let count = (high - low) / step + 1;
    if count > MAX_VALUES {
        return Err(RangeError {
            cause: format!("this range has {count} values, more than {MAX_VALUES}"),
            remedy: "use a larger step".into(),
        });
    }
    Ok((0..count)
        .map(|i| write(low + i * step, decimals, first.unit))
        .collect())
}

/// A decimal number with its unit, without rounding.
pub(super) struct Decimal<'a> {
    pub(super) digits: u128,
    pub(super) decimals: u32,
    pub(super) unit: &'a str,
}

impl<'a> Decimal<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = (&text[..end], text[end..].trim());
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || whole.len() + fraction.len() > 18 {
            return None;
        }
        // A minus sign or other text before the number leaves no digits, and parsing ends here.
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            decimals: u32::try_from(fraction.len()).ok()?,
            unit,
        })
    }

    /// Converts this number to a smaller unit, of which the old unit is a multiple.
    fn in_unit(&mut self, times: u64, unit: &'a str) {
        (self.digits, self.unit) = (self.digits * u128::from(times), unit);
    }

    pub(super) fn scaled(&self, decimals: u32) -> u128 {
        self.digits * 10_u128.pow(decimals - self.decimals)
    }
}

/// Converts all numbers to the smallest of their units, or to a smaller unit that divides them all. Returns false if
/// the units measure different things.
pub(super) fn share_unit<'a>(numbers: &mut [Decimal<'a>]) -> bool {
    let unit = numbers.first().map_or("", |first| first.unit);
    if numbers.iter().all(|number| number.unit == unit) {
        return true;
    }
    UnitFamily::ALL.into_iter().any(|family| {
        let scales = numbers.iter().map(|number| family.scale(number.unit));
        let Some(scales) = scales.collect::<Option<Vec<u64>>>() else {
            return false;
        };
        let units = numbers.iter().map(|number| number.unit);
        let finest = scales
            .iter()
            .copied()
            .zip(units)
            .min_by_key(|(scale, _)| *scale);
        let divides =
            |(scale, _): &(u64, &'a str)| scales.iter().all(|own| own.is_multiple_of(*scale));
        let (scale, unit) = finest.filter(divides).unwrap_or((1, family.smallest()));
        for (number, own) in numbers.iter_mut().zip(&scales) {
            number.in_unit(own / scale, unit);
        }
        true
    })
}

/// The number `digits` / 10^`decimals` with its unit, without trailing zeros.
pub(super) fn write(digits: u128, decimals: u32, unit: &str) -> String {
    let scale = 10_u128.pow(decimals);
    let (whole, fraction) = (digits / scale, digits % scale);
    if fraction == 0 {
        return format!("{whole}{unit}");
    }
    let places = usize::try_from(decimals).unwrap_or_default();
    let padded = format!("{fraction:0places$}");
    format!("{whole}.{}{unit}", padded.trim_end_matches('0'))
}

/// The most values of one key: more than any plot shows.
const MAX_VALUES: u128 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        range(text).unwrap().unwrap()
    }

    fn cause(text: &str) -> String {
        range(text).unwrap().unwrap_err().cause
    }

    #[test]
    fn a_range_includes_both_of_its_ends() {
        let ten: Vec<_> = (1..=10).map(|i| (i * 10).to_string()).collect();
        assert_eq!(values("10..100:10"), ten);
        assert_eq!(values("10..99:10").len(), 9);
        assert_eq!(values("7..7:1"), ["7"]);
    }

    #[test]
    fn a_range_may_have_units_and_fractions() {
        assert_eq!(
            values("64KB..256KB:64KB"),
            ["64KB", "128KB", "192KB", "256KB"]
        );
        assert_eq!(values("0.5..1.25:0.25"), ["0.5", "0.75", "1", "1.25"]);
    }

    #[test]
    fn the_units_of_a_range_may_differ() {
        let values = values("64KB..4MB:64KB");
        assert_eq!((values.len(), &*values[0]), (62, "64KB"));
        assert_eq!(values[61], "3968KB");
        assert_eq!(
            self::values("500us..1ms:0.25ms"),
            ["500us", "750us", "1000us"]
        );
        // Neither of 1000 and 1024 divides the other.
        assert_eq!(self::values("1KB..2KiB:512B"), ["1000B", "1512B", "2024B"]);
        assert_eq!(self::values("1KiB..2KB:0.4KB"), ["1024B", "1424B", "1824B"]);
        assert_eq!(self::values("500..1.5k:500"), ["500", "1000", "1500"]);
        assert_eq!(
            self::values("800Gbps..1.6Tbps:400Gbps"),
            ["800Gbps", "1200Gbps", "1600Gbps"]
        );
    }

    #[test]
    fn a_range_that_makes_no_sense_says_why() {
        assert!(cause("100..10:10").contains("ends before"));
        assert!(cause("10..100:0").contains("step of this range is 0"));
        assert!(cause("10..100").contains("needs a step"));
        assert!(cause("10KB..1ms:1KB").contains("units of the same kind"));
        assert!(cause("10pkt..1MB:10pkt").contains("units of the same kind"));
        assert!(cause("-5..5:1").contains("are numbers"));
        assert!(cause("1..999999999:1").contains("more than"));
        assert!(range("10ms").is_none());
    }

    #[test]
    fn parts_keep_their_places() {
        let text = "key=1, 22";
        let places: Vec<_> = parts(&text[4..], 4)
            .into_iter()
            .map(|value| text[value.place.clone()].to_owned())
            .collect();
        assert_eq!(places, ["1", "22"]);
    }

    #[test]
    fn commas_within_a_law_separate_no_values() {
        let texts: Vec<_> = parts("pareto(50KB, 1.2),32KB", 0)
            .into_iter()
            .map(|value| value.text)
            .collect();
        assert_eq!(texts, ["pareto(50KB, 1.2)", "32KB"]);
    }
}
