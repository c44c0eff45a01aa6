//! The quantities to record over time: the settings of the group `trace`.

use std::fmt::Write;

use base::Sort as _;
use base::{Quantity, QuantityError, Span};

use crate::series;
use crate::suggest;

base::settings! {
    /// What is recorded over time. It changes no result, so it cannot be swept.
    pub struct Trace in "trace" {
        /// Quantities to record over time, in series.parquet: names separated by commas, which `tailwater explain results` describes. "auto" records queue and events for the first seed of each row if there are at most 100 rows, and cwnd and rwnd too if nothing is swept and there are at most 200 flows; names beside it, as in "auto, alpha", are recorded too, of every seed. "perfetto" is no quantity: it writes a trace for the viewer at ui.perfetto.dev.
        pub series: TracedSeries = "auto",
        /// Which samples are kept: "change" keeps every change, a time the value at each of its multiples. "auto" keeps up to 4,096 for a port and, for each of many flows, down to 256: of more, the largest of a queue and the last of anything else in each of equal periods, and of each kind of event an even choice.
        pub interval: TraceInterval = "auto",
        /// Ports whose queue, marks and drops are recorded: the bottleneck's, all of switches, or all.
        pub ports: TracedPorts = "bottleneck",
        /// Flows whose windows, throughput and state are recorded; "auto" takes at most 200, evenly spread by number. Events are recorded of every flow.
        pub flows: TracedFlows = "auto",
        /// Time over which throughput is averaged; under trace.interval = "auto" the least such time.
        pub window: Span = "1ms",
        /// Whether completion times are broken down into what flows waited for, in results and in the report. It takes about half of a simulation's time again.
        pub breakdown: bool = "true",
    }
}

/// Which quantities are recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TracedSeries {
    /// The quantities that cost little and show most, which depends on the size of the sweep; and the given ones.
    /// Resolved before a point is made.
    Auto(Vec<&'static str>),
    /// Nothing.
    Off,
    /// These quantities, by the names of their columns and in the order of the columns; `events` is one of them.
    Named(Vec<&'static str>),
}

/// The size of the sweep that a point belongs to.
#[derive(Clone, Copy, Debug)]
pub struct SweepSize {
    /// Combinations of values.
    pub combinations: u64,
    /// Combinations of values and schemes.
    pub rows: u64,
}

impl TracedSeries {
    /// The meaning of "auto" for a point: the word of each quantity, or "off".
    ///
    /// `seed` is the index of the point's seed within its row.
    pub fn automatic(sweep: SweepSize, seed: u64, flows: u64) -> &'static str {
        match (seed, sweep.rows) {
            (0, ..=MOST_ROWS) if sweep.combinations == 1 && flows <= MOST_FLOWS => {
                "queue, cwnd, rwnd, events"
            }
            (0, ..=MOST_ROWS) => "queue, events",
            _ => "off",
        }
    }

    /// The list `text` with the additional words of `more`, each once. "off" adds no quantity; if `more` is "off", so
    /// is the result.
    pub fn joined(text: &str, more: &str) -> String {
        let words = |text: &str| -> Vec<String> {
            let words = text.split(',').map(|word| word.trim().to_owned());
            words.filter(|word| word != "off").collect()
        };
        let added = words(more);
        if added.is_empty() {
            return more.trim().to_owned();
        }
        let mut all = words(text);
        for word in added {
            if !all.contains(&word) {
                all.push(word);
            }
        }
        all.join(", ")
    }
}

impl Quantity for TracedSeries {
    fn expected() -> String {
        let mut text =
            "\"off\" or names separated by commas, of auto (what is recorded anyway),".to_owned();
        for (place, name) in series::words().enumerate() {
            let separator = if place == 0 { "" } else { "," };
            write!(text, "{separator} {name}").expect("writing to a string succeeds");
        }
        text
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "off" {
            return Ok(Self::Off);
        }
        let mut named = Vec::new();
        let mut is_auto = false;
        for word in text.split(',').map(str::trim) {
            if word == "auto" {
                is_auto = true;
                continue;
            }
            let Some(name) = series::by_word(word) else {
                let nearest = suggest::nearest(word, series::words());
                let hint =
                    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"));
                let expected = Self::expected();
                return Err(QuantityError {
                    message: format!("expected {expected}; found {word:?}{hint}"),
                });
            };
            named.push(name);
        }
        let known = series::names().filter(|name| named.contains(name));
        let known = known.collect();
        Ok(if is_auto {
            Self::Auto(known)
        } else {
            Self::Named(known)
        })
    }
}

/// How many samples are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceInterval {
    /// Few enough to draw.
    Auto,
    /// Every change.
    Change,
    /// The value at every multiple of this time.
    Every(Span),
}

impl Quantity for TraceInterval {
    fn expected() -> String {
        format!("\"auto\", \"change\" or {}", Span::expected())
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            "change" => Ok(Self::Change),
            _ => Span::parse(text)
                .ok()
                .filter(|span| *span > Span::ZERO)
                .map(Self::Every)
                .ok_or_else(|| QuantityError::expected(&Self::expected(), text)),
        }
    }
}

base::choices! {
    /// Which ports are recorded.
    pub enum TracedPorts {
        /// The one in front of the bottleneck; in a graph of few switches all of theirs, for its bottleneck is known when the run is over.
        Bottleneck = "bottleneck",
        /// Those of switches.
        Switches = "switches",
        /// Those of switches and hosts.
        All = "all",
    }
}

/// Which flows are recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TracedFlows {
    /// All flows up to a number; with more flows, this number of them, evenly spread.
    Auto,
    /// All.
    All,
    /// These, in ascending order.
    Numbers(Vec<u32>),
}

impl TracedFlows {
    /// Whether each of `flows` flows is recorded.
    pub fn choose(&self, flows: usize) -> Vec<bool> {
        let most = usize::try_from(MOST_FLOWS).map_or(flows, |most| most.min(flows));
        let mut chosen = vec![false; flows];
        match self {
            Self::All => chosen.fill(true),
            Self::Auto => {
                for place in 0..most {
                    chosen[place * flows / most] = true;
                }
            }
            Self::Numbers(numbers) => {
                for flow in numbers {
                    // Random arrivals may bring fewer flows than expected.
                    if let Some(chosen) = chosen.get_mut(*flow as usize) {
                        *chosen = true;
                    }
                }
            }
        }
        chosen
    }
}

impl Quantity for TracedFlows {
    fn expected() -> String {
        "\"auto\", \"all\" or numbers of flows separated by commas, as in \"0, 7\"".into()
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        match text.trim() {
            "auto" => return Ok(Self::Auto),
            "all" => return Ok(Self::All),
            _ => {}
        }
        let numbers = text.split(',').map(|number| u32::parse(number).ok());
        let Some(mut numbers) = numbers.collect::<Option<Vec<u32>>>() else {
            return Err(QuantityError::expected(&Self::expected(), text));
        };
        numbers.order();
        numbers.dedup();
        Ok(Self::Numbers(numbers))
    }
}

/// The most rows of a sweep for which "auto" records anything.
const MOST_ROWS: u64 = 100;
/// The most flows for which "auto" records windows.
const MOST_FLOWS: u64 = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_named_by_words_or_columns_in_any_order() {
        let named = |text| TracedSeries::parse(text);
        let expected = Ok(TracedSeries::Named(vec![
            "queue_bytes",
            "cwnd_bytes",
            "events",
        ]));
        assert_eq!(named("events, cwnd,queue"), expected);
        assert_eq!(named("cwnd_bytes,events,queue_bytes,queue"), expected);
        assert_eq!(named("off"), Ok(TracedSeries::Off));
        assert_eq!(named("auto"), Ok(TracedSeries::Auto(vec![])));
        let beside = Ok(TracedSeries::Auto(vec!["cwnd_bytes"]));
        assert_eq!(named("cwnd, auto"), beside);
    }

    #[test]
    fn lists_are_joined_word_by_word() {
        let joined = TracedSeries::joined;
        assert_eq!(joined("auto", "queue,cwnd"), "auto, queue, cwnd");
        assert_eq!(joined("queue, events", "cwnd,queue"), "queue, events, cwnd");
        assert_eq!(joined("off", "cwnd"), "cwnd");
        assert_eq!(joined("queue", "off"), "off");
    }

    #[test]
    fn an_unknown_series_names_the_nearest_and_all_others() {
        let error = TracedSeries::parse("queue,alhpa").unwrap_err();
        assert!(error.message.ends_with("did you mean alpha?"), "{error}");
        assert!(
            error.message.contains("queue, cwnd, rwnd, throughput"),
            "{error}"
        );
        assert!(TracedSeries::parse("").is_err());
    }

    #[test]
    fn of_many_flows_auto_takes_some_evenly() {
        let chosen = |flows| {
            let chosen = TracedFlows::Auto.choose(flows).into_iter();
            let numbers = (0..).zip(chosen).filter(|(_, chosen)| *chosen);
            numbers.map(|(number, _)| number).collect::<Vec<u32>>()
        };
        assert_eq!(chosen(3), [0, 1, 2]);
        assert_eq!(chosen(1000).len(), 200);
        assert_eq!(chosen(1000)[..3], [0, 5, 10]);
    }

    #[test]
    fn an_interval_is_a_word_or_some_time() {
        assert_eq!(TraceInterval::parse("change"), Ok(TraceInterval::Change));
        let every = TraceInterval::Every(Span::from_micros(10));
        assert_eq!(TraceInterval::parse("10us"), Ok(every));
        assert!(TraceInterval::parse("0s").is_err());
    }

    #[test]
    fn auto_records_less_the_larger_the_sweep_is() {
        let automatic = |(combinations, rows), seed, flows| {
            TracedSeries::automatic(SweepSize { combinations, rows }, seed, flows)
        };
        assert_eq!(automatic((1, 3), 0, 200), "queue, cwnd, rwnd, events");
        assert_eq!(automatic((1, 3), 0, 201), "queue, events");
        assert_eq!(automatic((2, 6), 0, 40), "queue, events");
        assert_eq!(automatic((1, 3), 1, 40), "off");
        assert_eq!(automatic((50, 150), 0, 40), "off");
    }
}
