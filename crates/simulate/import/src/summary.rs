//! Describes the import of a file in sentences.

use tables::flows::exact::{lasting, written};

use crate::Imported;
use base::cast::wide;

impl Imported {
    /// Sentences on the entries that were read and skipped, with reasons.
    pub fn told(&self) -> Vec<String> {
        let flows = &self.flows;
        let bytes: u128 = flows.iter().map(|flow| u128::from(flow.size)).sum();
        let starts = || {
            flows
                .iter()
                .filter(|flow| flow.wait.is_none())
                .map(|flow| flow.start)
        };
        let (first, last) = (starts().min().unwrap_or(0), starts().max().unwrap_or(0));
        let since = if self.dated {
            written(first)
        } else {
            lasting(first)
        };
        let within = match last - first {
            0 => format!("at {since}, all at once"),
            span => format!("at {since} and later, within {}", lasting(span)),
        };
        let mut lines = vec![
            format!(
                "Read {} {}: {} flows between {} hosts with {}, the largest {}.",
                self.read,
                self.what,
                flows.len(),
                self.hosts.len(),
                size(bytes),
                size(self.largest().into())
            ),
            format!("They start {within}; the first is put at 10 ms."),
        ];
        let waiting = flows.iter().filter(|flow| flow.wait.is_some()).count();
        if waiting > 0 {
            lines.push(format!("Flows that wait for others: {waiting}."));
        }
        let skipped = self.skipped.iter();
        lines.extend(skipped.map(|(what, count)| format!("Skipped: {count} {what}.")));
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// The payload of its largest flow.
    pub fn largest(&self) -> u64 {
        self.flows.iter().map(|flow| flow.size).max().unwrap_or(0)
    }

    /// Whether flows wait for others.
    pub fn waits(&self) -> bool {
        self.flows.iter().any(|flow| flow.wait.is_some())
    }

    /// Whether no flow starts for more than a minute, in a file in which no flow waits for another.
    pub fn pauses(&self) -> bool {
        let mut pairs = self.flows.windows(2);
        !self.waits() && pairs.any(|pair| pair[1].start - pair[0].start > LONG_GAP)
    }
}

/// Bytes with three digits.
fn size(bytes: u128) -> String {
    let unit = UNITS.into_iter().find(|(_, unit)| bytes >= *unit);
    let (name, unit) = unit.unwrap_or(("B", 1));
    let text = format!("{:.2}", wide(bytes) / wide(unit));
    format!(
        "{} {name}",
        text.trim_end_matches('0').trim_end_matches('.')
    )
}

/// A minute in picoseconds.
const LONG_GAP: u128 = 60_000_000_000_000;
const UNITS: [(&str, u128); 5] = [
    ("PB", 1_000_000_000_000_000),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
];
