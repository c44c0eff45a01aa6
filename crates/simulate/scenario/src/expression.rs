//! Settings given by other settings: `1MB / workload.senders` and `20%` of a buffer.
//!
//! An expression multiplies and divides quantities and settings from left to right. It is evaluated for every point of
//! a sweep, so that settings change together. A resulting size, time or rate is rounded to a whole byte, packet,
//! picosecond or bit per second; a plain number is not rounded.

use base::setting::Key;
use base::{DataSize, Full, OnWire, Rate, Span, UnitFamily};

use crate::values::{self, Decimal};
use plan::keys;
use plan::suggest;

/// A product or quotient of quantities and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression<'a> {
    first: Operand<'a>,
    others: Vec<(Operator, Operand<'a>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Times,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand<'a> {
    /// A quantity with or without a unit.
    Quantity(&'a str),
    /// Another setting, by the name of its key.
    Setting(&'a str),
}

/// Why an expression has no value, as a sentence without a full stop.
enum Fault {
    /// A unit does not belong to the tried family of units.
    Unit(String),
    /// Anything else.
    Value(String),
}

/// A number of units, without rounding.
#[derive(Clone, Copy)]
struct Amount {
    numerator: u128,
    denominator: u128,
    /// The power of the unit: 0 for a plain number, 1 for a quantity.
    power: i32,
}

impl<'a> Expression<'a> {
    /// Reads an expression as the value of `key`; `None` if the text is no expression.
    pub(crate) fn read(key: &Key, text: &'a str) -> Option<Self> {
        // In a folder whose name is a number, a file looks like a quotient: "313/flows.csv".
        if key.names_file(text) {
            return None;
        }
        if let Some(share) = text.trim().strip_suffix('%') {
            return share_of_buffer(key, share);
        }
        let mut others = Vec::new();
        let mut rest = text;
        let mut before = None;
        let mut first = None;
        loop {
            let end = rest.find(['*', '/']);
            let operand = Operand::read(rest[..end.unwrap_or(rest.len())].trim())?;
            match before {
                None => first = Some(operand),
                Some(operator) => others.push((operator, operand)),
            }
            let Some(end) = end else { break };
            before = Some(match rest.as_bytes()[end] {
                b'*' => Operator::Times,
                _ => Operator::Over,
            });
            rest = &rest[end + 1..];
        }
        let all = Self {
            first: first?,
            others,
        };
        // A name alone is a word, and an expression without a setting is a plain quantity.
        let names_setting = all.settings().next().is_some();
        (names_setting && !all.others.is_empty()).then_some(all)
    }

    /// The settings in it. They need not exist.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'a str> {
        let others = self.others.iter().map(|(_, operand)| operand);
        let all = [&self.first].into_iter().chain(others);
        all.filter_map(|operand| match operand {
            Operand::Setting(name) => Some(*name),
            Operand::Quantity(_) => None,
        })
    }

    /// The error in the settings that it names, found before any value is known.
    pub(crate) fn fault(&self) -> Option<String> {
        let unknown = self.settings().find(|name| keys::key(name).is_none())?;
        let names = keys::all_keys().iter().map(|key| key.name);
        Some(format!(
            "there is no setting {unknown}; {}as in \"1MB / workload.senders\"",
            suggest::did_you_mean(unknown, names)
        ))
    }

    /// The text of its value as a value of `key`, where `setting` gives the texts of others. The error is a sentence without
    /// a full stop.
    pub(crate) fn value(
        &self,
        key: &Key,
        setting: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<String, String> {
        let (mut unfit, mut wrong) = (None, None);
        for family in UnitFamily::ALL {
            let found = self.amount(family, setting).and_then(|amount| {
                let text = amount.text(family)?;
                let checked = (key.check)(&text).map(|()| text);
                checked.map_err(|error| Fault::Value(error.message))
            });
            match found {
                Ok(text) => return Ok(text),
                Err(Fault::Value(fault)) => wrong = wrong.or(Some(fault)),
                Err(Fault::Unit(fault)) => unfit = Some(fault),
            }
        }
        Err(wrong.or(unfit).expect("there are families of units"))
    }

    fn amount(
        &self,
        family: UnitFamily,
        setting: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Amount, Fault> {
        let mut amount = self.first.amount(family, setting)?;
        for (operator, operand) in &self.others {
            let other = operand.amount(family, setting)?;
            let other = match operator {
                Operator::Times => other,
                Operator::Over => other.inverse()?,
            };
            amount = amount.times(other)?;
        }
        Ok(amount)
    }
}

impl<'a> Operand<'a> {
    fn read(text: &'a str) -> Option<Self> {
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(Self::Quantity(text));
        }
        let (table, name) = text.split_once('.')?;
        let is_word = |word: &str| {
            let mut all = word.chars();
            all.next().is_some_and(|c| c.is_ascii_lowercase())
                && all.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        (is_word(table) && is_word(name)).then_some(Self::Setting(text))
    }

    fn amount(
        self,
        family: UnitFamily,
        setting: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Amount, Fault> {
        let (text, of) = match self {
            Self::Quantity(text) => (text.to_owned(), String::new()),
            Self::Setting(name) => (setting(name).map_err(Fault::Value)?, format!("{name} = ")),
        };
        let number = Decimal::parse(text.trim());
        let number = number.ok_or_else(|| {
            Fault::Value(format!("{of}{text} is no number that can be multiplied"))
        })?;
        let (scale, power) = match (number.unit, family.scale(number.unit)) {
            ("", _) => (1, 0),
            (_, Some(scale)) => (u128::from(scale), i32::from(family != UnitFamily::Count)),
            (_, None) => {
                let fault = format!("{of}{text} has a unit that does not fit the others");
                return Err(Fault::Unit(fault));
            }
        };
        let overflow = || Fault::Value(format!("{of}{text} is too large"));
        Ok(Amount {
            numerator: number.digits.checked_mul(scale).ok_or_else(overflow)?,
            denominator: 10_u128.pow(number.decimals),
            power,
        })
    }
}

impl Amount {
    fn inverse(self) -> Result<Self, Fault> {
        if self.numerator == 0 {
            return Err(Fault::Value("it divides by zero".to_owned()));
        }
        Ok(Self {
            numerator: self.denominator,
            denominator: self.numerator,
            power: -self.power,
        })
    }

    fn times(self, other: Self) -> Result<Self, Fault> {
        // Both are reduced first, so that products stay small.
        let (a, b) = (
            common(self.numerator, other.denominator),
            common(other.numerator, self.denominator),
        );
        let product = |one: u128, two: u128| {
            one.checked_mul(two)
                .ok_or_else(|| Fault::Value("its value has too many digits".to_owned()))
        };
        Ok(Self {
            numerator: product(self.numerator / a, other.numerator / b)?,
            denominator: product(self.denominator / b, other.denominator / a)?,
            power: self.power + other.power,
        })
    }

    fn text(self, family: UnitFamily) -> Result<String, Fault> {
        let whole = || {
            let twice = self.numerator.saturating_mul(2) + self.denominator;
            u64::try_from(twice / (self.denominator * 2))
                .map_err(|_| Fault::Value("its value is too large".to_owned()))
        };
        match self.power {
            0 => Ok(self.plain()),
            1 => Ok(in_words(family, whole()?)),
            _ => Err(Fault::Value(
                "its units do not make a quantity: multiply or divide by plain numbers".to_owned(),
            )),
        }
    }

    /// A plain number, to nine decimals.
    fn plain(self) -> String {
        let scaled = self.numerator.saturating_mul(10_u128.pow(DECIMALS)) * 2 + self.denominator;
        values::write(scaled / (self.denominator * 2), DECIMALS, "")
    }
}

/// `share` percent of a switch's buffer, for sizes of queues.
fn share_of_buffer<'a>(key: &Key, share: &'a str) -> Option<Expression<'a>> {
    let counts_wire = (key.expected)().contains(OnWire::WORDS);
    let is_number = Decimal::parse(share.trim()).is_some_and(|number| number.unit.is_empty());
    let buffer = Operand::Setting(BUFFER);
    let expression = Expression {
        first: buffer,
        others: vec![
            (Operator::Times, Operand::Quantity(share)),
            (Operator::Over, Operand::Quantity("100")),
        ],
    };
    (counts_wire && is_number && key.name != BUFFER).then_some(expression)
}

/// A whole number of the smallest unit, with a unit for people.
fn in_words(family: UnitFamily, whole: u64) -> String {
    match family {
        UnitFamily::Count => whole.to_string(),
        UnitFamily::Size => DataSize::bytes(whole).to_string(),
        UnitFamily::Packets => DataSize::packets(whole).to_string(),
        UnitFamily::Time => Span::from_ps(whole).to_string(),
        UnitFamily::Rate if (1..=8_000_000_000_000).contains(&whole) => {
            Rate::from_bps(whole).to_string()
        }
        UnitFamily::Rate => format!("{whole}bps"),
    }
}

/// The greatest common divisor; at least 1.
fn common(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

const BUFFER: &str = "switch.buffer";
const DECIMALS: u32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn value(key: &str, text: &str) -> Result<String, String> {
        let key = keys::key(key).unwrap();
        let expression = Expression::read(key, text).unwrap_or_else(|| panic!("{text}"));
        let setting = |name: &str| {
            Ok(match name {
                "workload.senders" => "48",
                "switch.buffer" => "80pkt",
                "link.rate" => "10Gbps",
                "link.delay" => "40us",
                "workload.size" => "1MiB",
                "tcp.min_rto" => "200ms",
                name => keys::key(name).unwrap().default,
            }
            .to_owned())
        };
        expression.value(key, &setting)
    }

    #[test]
    fn a_quantity_over_or_times_a_setting_has_the_nearest_whole_unit() {
        for (key, text, expected) in [
            // 1,000,000 / 48 = 20,833.3 bytes.
            ("workload.size", "1MB / workload.senders", "20.833KB"),
            ("workload.size", "100KB*workload.senders", "4.8MB"),
            ("switch.ecn_threshold", "0.2 * switch.buffer", "16pkt"),
            // 12.4 and 12.8 packets.
            ("switch.ecn_threshold", "switch.buffer * 0.155", "12pkt"),
            ("switch.ecn_threshold", "16%", "13pkt"),
            ("bottleneck.rate", "link.rate / 4", "2.5Gbps"),
            ("bottleneck.rate", "480G / workload.senders", "10Gbps"),
            ("bottleneck.delay", "link.delay * 3", "120us"),
            ("workload.receivers", "workload.senders / 6", "8"),
            ("topology.oversubscription", "workload.senders / 32", "1.5"),
            ("workload.receivers", "workload.size / 64KiB", "16"),
            ("run.duration", "tcp.min_rto * 10 / 4", "500ms"),
        ] {
            assert_eq!(value(key, text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_makes_no_quantity_says_why() {
        for (key, text, expected) in [
            (
                "workload.size",
                "1MB / host.buffer",
                "host.buffer = unlimited is no number",
            ),
            ("workload.size", "1MB * link.delay", "does not fit"),
            (
                "workload.size",
                "1MB * workload.size",
                "do not make a quantity",
            ),
            (
                "workload.size",
                "1MB / 0 / workload.senders",
                "divides by zero",
            ),
            (
                "workload.receivers",
                "workload.senders / 5",
                "a whole number",
            ),
        ] {
            let error = value(key, text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn other_texts_are_no_expressions() {
        for (key, text) in [
            ("link.rate", "10Gbit/s"),
            ("workload.size", "pareto(50KB, 1.2)"),
            ("workload.size", "websearch"),
            ("workload.senders", "40"),
            ("bottleneck.loss", "20%"),
            ("switch.buffer", "20%"),
            ("tcp.profile", "workload.senders"),
            ("workload.size", "2 * 3MB"),
            ("workload.trace", "313/flows.csv"),
            ("topology.graph", "2026/11/net.graphml"),
        ] {
            assert_eq!(
                Expression::read(keys::key(key).unwrap(), text),
                None,
                "{text}"
            );
        }
    }
}
