//! Values of options, read from the texts that a user types.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use api::{Causes, Shard};
use base::cast::whole;
use base::{Count, Quantity, WireSize};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Length;

pub(super) fn seed(text: &str) -> Result<u64, String> {
    u64::parse(text).map_err(|error| error.to_string())
}

/// How many orders of simultaneous events.
pub(super) fn orders(text: &str) -> Result<NonZeroU32, String> {
    let count = text
        .parse()
        .ok()
        .filter(|count| (2..=MOST_ORDERS).contains(count));
    count.and_then(NonZeroU32::new).ok_or_else(|| {
        format!(
            "expected a whole number from 2 to {MOST_ORDERS}: one order tells nothing about others"
        )
    })
}

pub(super) fn seeds(text: &str) -> Result<NonZeroU32, String> {
    let count = Count::parse(text).map_err(|error| error.to_string())?;
    NonZeroU32::new(count.0).ok_or_else(Count::expected)
}

pub(super) fn length(text: &str) -> Result<Length, String> {
    let units = [("cm", 1.0), ("mm", 0.1), ("in", 2.54)];
    let found = units.iter().find_map(|(unit, size)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * size)
    });
    found
        .filter(|length| (MIN_CM..=MAX_CM).contains(length))
        .map(Length)
        .ok_or_else(|| {
            format!("expected a length from {MIN_CM}cm to {MAX_CM}cm, as in 8.5cm or 3.4in")
        })
}

pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = text
        .parse::<NonZeroUsize>()
        .ok()
        .filter(|jobs| jobs.get() <= MAX_JOBS);
    number.ok_or_else(|| format!("expected a number of threads from 1 to {MAX_JOBS}"))
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let number = |text: &str| text.trim().parse().ok();
    let parts = text.split_once('/');
    let shard = parts.and_then(|(i, n)| Shard::new(number(i)?, number(n)?));
    shard.ok_or_else(|| "expected I/N with I from 1 to N, as in 1/8".into())
}

/// Which causes of differences to try.
pub(super) fn causes() -> impl TypedValueParser<Value = Causes> {
    let all = [
        ("missed", "Those of claims that are not reproduced"),
        ("all", "All of them"),
        ("none", "None, which takes the least time"),
    ];
    let values = all.map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "all" => Causes::All,
        "none" => Causes::None,
        _ => Causes::Missed,
    })
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>();
    let number = number
        .ok()
        .filter(|percent| *percent > 0.0 && *percent < 100.0);
    number
        .map(|percent| percent / 100.0)
        .ok_or_else(|| "expected a percentage between 0 and 100, as in 5%".into())
}

pub(super) fn watch(text: &str) -> Result<Duration, String> {
    lease(text).map_err(|_| "expected a time from 1s to 30d, as in 90s, 10m or 2h".into())
}

pub(super) fn period(text: &str) -> Result<Duration, String> {
    let found = lease(text).ok().filter(|period| *period <= LONGEST_PERIOD);
    found.ok_or_else(|| "expected a time from 1s to 1d, as in 30s or 2m".into())
}

pub(super) fn lease(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)];
    let found = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*seconds)
    });
    found
        .filter(|seconds| (1..=LONGEST_LEASE).contains(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| {
            "expected a time from 1s to 30d, as in 90s, 10m or 2h; --permanent is for ever".into()
        })
}

pub(super) fn steps(text: &str) -> Result<u64, String> {
    let steps: Option<f64> = text.trim().parse().ok();
    match steps {
        Some(steps) if steps >= 1.0 => Ok(whole(steps)),
        _ => Err("expected a number of at least 1, as in 1e12".into()),
    }
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    // Memory has no packets: 0 bytes each.
    let bytes = WireSize::parse(text).map_or(0, |size| size.in_bytes(0));
    (bytes > 0)
        .then_some(bytes)
        .ok_or_else(|| format!("expected bytes with their unit, as in 8GB; found {text:?}"))
}

/// Below, axes leave no room for data; above, no printer follows.
const MIN_CM: f64 = 4.0;
const MAX_CM: f64 = 60.0;

/// A trial of a dozen such periods takes two weeks.
const LONGEST_PERIOD: Duration = Duration::from_hours(24);

/// Seconds of 30 days: whoever wants more says so.
const LONGEST_LEASE: u64 = 30 * 86_400;

/// More threads than any machine has cores.
const MAX_JOBS: usize = 4096;

/// Most orders that are compared: a few show whether anything depends on them.
const MOST_ORDERS: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_have_units_and_an_end() {
        assert_eq!(lease("10m"), Ok(Duration::from_mins(10)));
        assert_eq!(lease("90s"), Ok(Duration::from_secs(90)));
        for wrong in ["10", "0s", "31d", "10ms", "-1h", "99999999999999999999d"] {
            assert!(lease(wrong).is_err(), "{wrong}");
        }
    }
}
