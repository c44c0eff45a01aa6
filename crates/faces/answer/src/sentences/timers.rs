//! The timers that the flows of a row waited for: the common source of all sentences about timers.

use results::{Row, Waits};

use crate::words::{averaged, list, rounded, set_time};

/// Expired timers that flows waited for, by kind: means over the seeds.
#[derive(Clone, Copy, Default)]
pub(super) struct Timers {
    /// Of retransmission.
    data: f64,
    /// Of these, those for lost last segments.
    tail: f64,
    /// Of the handshake.
    syns: f64,
    /// Probes of a tail that nothing acknowledged.
    tail_probes: f64,
    /// Probes of a closed window.
    window_probes: f64,
}

impl Timers {
    /// Those of all flows, or of a group or class.
    pub(super) fn of(row: &Row, of: Option<&str>) -> Self {
        let count = |metric| {
            let estimate = row.estimate(of, metric);
            estimate.and_then(|value| value.mean).unwrap_or(0.0)
        };
        Self {
            data: count("timeouts"),
            tail: count("tail_timeouts"),
            syns: count("syn_timeouts"),
            tail_probes: count("tail_probes"),
            window_probes: count("window_probes"),
        }
    }

    /// Of every kind.
    pub(super) fn all(&self) -> f64 {
        self.data + self.syns + self.tail_probes + self.window_probes
    }

    /// Their numbers by kind: `0 timeouts`, and other kinds only if they expired.
    pub(super) fn counts(&self) -> Vec<String> {
        let others = [
            (self.syns, "handshake timer"),
            (self.tail_probes, "tail probe"),
            (self.window_probes, "window probe"),
        ];
        let others = others.iter().filter(|(count, _)| *count > 0.0);
        let others = others.map(|(count, noun)| averaged(*count, noun));
        std::iter::once(averaged(self.data, "timeout"))
            .chain(others)
            .collect()
    }

    /// `waited for 2 retransmission timers of at least 200 ms for lost last segments`.
    pub(super) fn waited(&self, waits: Waits) -> String {
        let mut parts = Vec::new();
        if self.data > 0.0 {
            let timers = averaged(self.data, "retransmission timer");
            // A few lost tails among many timers are not the visible cause.
            let tail = match self.tail {
                all if all >= self.data => " for lost last segments".to_owned(),
                most if most * 2.0 >= self.data => {
                    format!(", {} of them for lost last segments", rounded(most))
                }
                _ => String::new(),
            };
            let least = set_time(waits.rto_us);
            parts.push(format!("{timers} of at least {least}{tail}"));
        }
        if self.syns > 0.0 {
            let timers = averaged(self.syns, "handshake timer");
            // If a packet is lost again, its timer is twice as long.
            let least = if self.syns > 1.0 { "at least " } else { "" };
            parts.push(format!("{timers} of {least}{}", set_time(waits.syn_rto_us)));
        }
        for (count, noun) in [
            (self.tail_probes, "tail probe"),
            (self.window_probes, "window probe"),
        ] {
            if count > 0.0 {
                parts.push(averaged(count, noun));
            }
        }
        format!("waited for {}", parts.join(" and for "))
    }

    /// Their number of kinds.
    pub(super) fn kinds(&self) -> usize {
        let kinds = [self.data, self.syns, self.tail_probes, self.window_probes];
        kinds.iter().filter(|count| **count > 0.0).count()
    }

    /// Whether the 99th percentile is a flow (or, for "round", a round) that waited for timers: by the share of timers
    /// in the time of the slowest flows or, if that is unknown, by the length of the timers.
    pub(super) fn show(&self, row: &Row, of: Option<&str>, kind: &str) -> bool {
        let value = |metric: &str| row.estimate(of, metric).and_then(|value| value.mean);
        let all = match kind {
            "round" => ["rounds_completed", "rounds_unfinished"].as_slice(),
            _ => &["flows_completed", "flows_failed", "flows_unfinished"],
        };
        let all: f64 = all.iter().filter_map(|metric| value(metric)).sum();
        if self.all() <= 0.0 || self.all() < 0.01 * all {
            return false;
        }
        let tail = value(&format!("{kind}_p99_us")).unwrap_or(0.0);
        let timed = value("tail_timers_us").filter(|_| kind != "round");
        if let Some(timed) = timed {
            return timed > 0.0 && timed >= SHOWS * tail;
        }
        let least = row.waits.and_then(|waits| match (self.data, self.syns) {
            (data, _) if data > 0.0 => Some(waits.rto_us),
            (_, syns) if syns > 0.0 => Some(waits.syn_rto_us),
            _ => None,
        });
        least.is_some_and(|least| tail >= least)
    }
}

/// The kinds of timers of some rows, with their lengths: `retransmission timers of at least 10 ms`.
pub(super) fn kinds(rows: &[(Timers, Waits)]) -> String {
    let lengths = |count: fn(&Timers) -> f64, length: fn(&Waits) -> f64| -> Vec<f64> {
        let with = rows.iter().filter(|(timers, _)| count(timers) > 0.0);
        with.map(|(_, waits)| length(waits)).collect()
    };
    let data = lengths(|timers| timers.data, |waits| waits.rto_us);
    let syns = lengths(|timers| timers.syns, |waits| waits.syn_rto_us);
    let timed = [("retransmission timers", data), ("handshake timers", syns)];
    let timed = timed.iter().filter(|(_, lengths)| !lengths.is_empty());
    let mut kinds: Vec<String> = timed
        .map(|(noun, lengths)| format!("{noun}{}", least(lengths)))
        .collect();
    let probes = |timers: &Timers| timers.tail_probes + timers.window_probes;
    if rows.iter().any(|(timers, _)| probes(timers) > 0.0) {
        kinds.push("probes".to_owned());
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    list(&kinds)
}

/// " of at least 10 ms", or of several lengths.
fn least(waits: &[f64]) -> String {
    let least = waits.iter().copied().fold(f64::INFINITY, f64::min);
    let most = waits.iter().copied().fold(0.0, f64::max);
    if least < most {
        format!(" of at least {} to {}", set_time(least), set_time(most))
    } else {
        format!(" of at least {}", set_time(least))
    }
}

/// The share of timers in the time of the slowest flows from which they count as a cause.
const SHOWS: f64 = 0.2;
