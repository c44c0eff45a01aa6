//! Times on a clock: numbers with a unit, and dates.

use super::number::Decimal;
use base::cast::{real, wide};

/// Picoseconds in one unit called `text`: "us", "s", "h".
pub(super) fn unit(text: &str) -> Option<u64> {
    UNITS
        .iter()
        .find(|(name, _)| *name == text)
        .map(|(_, ps)| *ps)
}

/// The word for a unit of this many picoseconds.
pub(super) fn name_of(unit: u64) -> &'static str {
    let place = UNITS.iter().position(|(_, ps)| *ps == unit);
    place.map_or("picoseconds", |place| WORDS[place])
}

/// A number with its unit, as in "1.5h", in picoseconds.
pub(super) fn length(text: &str) -> Option<u128> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number = Decimal::parse(digits.trim_end())?;
    let ps = number.times(unit(&text[digits.len()..])?)?.0;
    (!number.negative).then_some(ps)
}

/// A date with a time, as in "2024-05-01 12:30:00.25" or "2024-05-01T12:30Z", in picoseconds since 1970. Without an
/// offset it is UTC.
pub fn date(text: &str) -> Option<u128> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, time.trim()),
        None => (text, "00:00"),
    };
    let mut parts = date.splitn(3, ['-', '/']);
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (next()?, next()?, next()?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let time = time.trim_end_matches("UTC").trim_end();
    let (time, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => match time.rfind(['+', '-']) {
            Some(at) => (&time[..at], minutes_of(&time[at..])?),
            None => (time, 0),
        },
    };
    let mut parts = time.split(':');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let (hour, minute) = (next()?, next()?);
    let seconds = Decimal::parse(parts.next().unwrap_or("0"))?;
    if hour > 23 || minute > 59 || parts.next().is_some() || seconds.negative {
        return None;
    }
    // A leap second has number 60.
    let seconds = seconds.times(SECOND)?.0;
    if seconds >= 61 * u128::from(SECOND) {
        return None;
    }
    let minutes =
        days_before(year, month, day) * 1440 + i64::try_from(hour * 60 + minute).ok()? - offset;
    Some(u128::try_from(minutes).ok()? * 60 * u128::from(SECOND) + seconds)
}

/// Minutes of an offset from UTC: "+02:00", "-0530", "+01".
fn minutes_of(text: &str) -> Option<i64> {
    let (sign, digits) = text.split_at(1);
    let digits = digits.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { "0" } else { minutes };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let sum = hours * 60 + minutes;
    (hours < 24 && minutes < 60).then_some(if sign == "-" { -sum } else { sum })
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Counted with years that begin in March, so that a leap day
/// is the last day of a year.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - EPOCH
}

/// The date of a number of picoseconds since 1970, to the second: "2024-05-01 12:30:00 UTC".
pub fn written(unix: u128) -> String {
    let seconds = i64::try_from(unix / u128::from(SECOND)).unwrap_or(i64::MAX);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // An estimate from the mean length of a year, corrected below.
    let mut year = 1970 + days * 400 / 146_097;
    while days_before(year + 1, 1, 1) <= days {
        year += 1;
    }
    while days_before(year, 1, 1) > days {
        year -= 1;
    }
    let month = (1..=12)
        .rev()
        .find(|month| days_before(year, *month, 1) <= days);
    let month = month.unwrap_or(1);
    let day = days - days_before(year, month, 1) + 1;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// A duration for a sentence: "3.5 days", "2 h", "40 ms".
pub fn lasting(ps: u128) -> String {
    let (name, unit) = LONG
        .into_iter()
        .find(|(_, unit)| ps >= u128::from(*unit))
        .unwrap_or(("ps", 1));
    let text = format!("{:.3}", wide(ps) / real(unit));
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {name}")
}

/// Picoseconds of a second.
pub const SECOND: u64 = 1_000_000_000_000;
/// The clock of the simulation ends after 213 days (2^64 picoseconds). A flow that starts by this time has 13 days to
/// end.
pub(super) const LATEST: u128 = 200 * 86_400 * SECOND as u128;
/// Days from 1 March of the year 0 to 1970-01-01.
const EPOCH: i64 = 719_468;
const UNITS: [(&str, u64); 8] = [
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", SECOND),
    ("min", 60 * SECOND),
    ("h", 3600 * SECOND),
    ("d", 86_400 * SECOND),
];
/// The words for [`UNITS`].
const WORDS: [&str; 8] = [
    "picoseconds",
    "nanoseconds",
    "microseconds",
    "milliseconds",
    "seconds",
    "minutes",
    "hours",
    "days",
];
const LONG: [(&str, u64); 7] = [
    ("days", 86_400 * SECOND),
    ("h", 3600 * SECOND),
    ("min", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_unix_times_and_back() {
        // date -u -d '2023-11-14 22:13:20' +%s
        let known = 1_700_000_000 * u128::from(SECOND);
        for text in [
            "2023-11-14 22:13:20",
            "2023-11-14T22:13:20Z",
            "2023/11/14 22:13:20.000",
            "2023-11-15T00:13:20+02:00",
            "2023-11-14T16:43:20-0530",
            "2023-11-14 22:13:20 UTC",
        ] {
            assert_eq!(date(text), Some(known), "{text}");
        }
        assert_eq!(written(known), "2023-11-14 22:13:20 UTC");
        // date -u -d 2000-02-29 +%s
        assert_eq!(date("2000-02-29"), Some(951_782_400 * u128::from(SECOND)));
        assert_eq!(
            written(951_782_400 * u128::from(SECOND)),
            "2000-02-29 00:00:00 UTC"
        );
        assert_eq!(written(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(
            date("2023-11-14 22:13:20.123456789012"),
            Some(known + 123_456_789_012)
        );
        for text in [
            "",
            "2023",
            "2023-13-01",
            "2023-11-14 25:00",
            "1969-12-31",
            "12:00:00",
            "a-b-c",
            "1.5e-3-2",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn lengths_have_a_unit() {
        assert_eq!(length("1.5h"), Some(5400 * u128::from(SECOND)));
        assert_eq!(length("2 d"), Some(172_800 * u128::from(SECOND)));
        assert_eq!(length("10"), None);
        assert_eq!(length("-1s"), None);
        assert_eq!(length("1 week"), None);
        assert_eq!(lasting(5400 * u128::from(SECOND)), "1.5 h");
        assert_eq!(lasting(40_000_000_000), "40 ms");
    }
}
