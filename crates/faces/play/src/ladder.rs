//! The values that a slider goes through: text that the setting takes, in steps that look even.

use base::setting::Key;

/// The values that `key` may have around `texts`, which are among them, in ascending order.
pub(crate) fn values(key: &Key, texts: &[&str]) -> Vec<String> {
    let choices = (key.choices)();
    let has = |text: &str| (key.check)(text).is_ok();
    let known = texts.iter().copied().find_map(parts);
    if known.is_none() && !choices.is_empty() && !FAMILIES.iter().any(|family| has(family.middle)) {
        return choices.iter().map(|(word, _)| (*word).to_owned()).collect();
    }
    let family = FAMILIES.iter().find(|family| has(family.middle));
    let Some((middle, unit)) = known.or_else(|| parts(family?.middle)) else {
        return texts.iter().map(|text| (*text).to_owned()).collect();
    };
    let is_share = unit.is_empty() && has("0.5") && !has("1.5");
    let mut numbers: Vec<f64> = if is_share {
        (0..=20).map(|step| f64::from(step) / 20.0).collect()
    } else {
        rungs(middle)
    };
    let own = texts.iter().filter_map(|text| parts(text));
    numbers.extend(
        own.filter(|(_, other)| *other == unit)
            .map(|(number, _)| number),
    );
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let numbers = numbers.iter().map(|number| format!("{number}{unit}"));
    let numbers = numbers.filter(|text| has(text));
    let words = texts.iter().filter(|text| parts(text).is_none());
    words
        .map(|word| (*word).to_owned())
        .chain(numbers)
        .collect()
}

/// The quantity of a setting, told by a value in the middle of what is usual, which others do not take.
struct Family {
    middle: &'static str,
}

const FAMILIES: [Family; 5] = [
    Family { middle: "1ms" },
    Family { middle: "1Gbps" },
    Family { middle: "100KB" },
    Family { middle: "30" },
    Family { middle: "0.5" },
];

/// Two decades around a number, fourteen rungs to each.
fn rungs(middle: f64) -> Vec<f64> {
    if middle <= 0.0 {
        return vec![0.0];
    }
    let mut decade = 1.0;
    while decade * 10.0 <= middle / 20.0 {
        decade *= 10.0;
    }
    while decade > middle / 20.0 {
        decade /= 10.0;
    }
    let mut rungs = Vec::new();
    while decade <= middle * 20.0 {
        // A product of a power of ten with few digits is written with few digits.
        rungs.extend(MANTISSAS.map(|mantissa| rounded(mantissa * decade)));
        decade *= 10.0;
    }
    rungs.retain(|rung| (middle / 20.0..=middle * 20.0).contains(rung));
    rungs
}

/// A number without the noise behind its ninth digit.
fn rounded(number: f64) -> f64 {
    format!("{number:.9}").parse().unwrap_or(number)
}

/// A number and the unit behind it.
fn parts(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit))
}

const MANTISSAS: [f64; 14] = [
    1.0, 1.2, 1.5, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0,
];

#[cfg(test)]
mod tests {
    use plan::keys;

    use super::*;

    fn of(key: &str, text: &str) -> Vec<String> {
        values(keys::key(key).expect("a setting"), &[text])
    }

    #[test]
    fn every_value_of_a_slider_is_one_that_its_setting_takes() {
        for key in keys::all_keys() {
            for value in values(key, &[key.default]) {
                assert!((key.check)(&value).is_ok(), "{} = {value}", key.name);
            }
        }
    }

    #[test]
    fn sliders_keep_the_unit_and_have_the_present_value() {
        let senders = of("workload.senders", "60");
        assert!(senders.contains(&"60".to_owned()) && senders.contains(&"3".to_owned()));
        assert!(senders.iter().all(|value| !value.contains('.')));
        let buffer = of("switch.buffer", "80pkt");
        assert!(buffer.contains(&"80pkt".to_owned()) && buffer.len() > 20);
        let timeout = of("tcp.min_rto", "10ms");
        assert!(timeout.contains(&"0.5ms".to_owned()) && timeout.contains(&"200ms".to_owned()));
        assert_eq!(of("link.jitter", "auto")[0], "auto");
        assert!(of("link.jitter", "auto").len() > 10);
        assert!(of("tcp.profile", "linux").contains(&"paper".to_owned()));
    }
}
