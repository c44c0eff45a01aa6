//! Number columns: their metric, their unit, and their best value.

use plan::metric::{Selector, is_of_rounds, short};
use results::statistics::Estimate;
use results::{Row, Summary};

use base::cast::{low_32, whole};

/// A column of numbers.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) selector: Selector,
    /// The rank by which columns get room if not all fit.
    pub(super) priority: usize,
    unit: &'static str,
    divisor: f64,
    goal: Goal,
}

/// Which columns a user wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// Those that tell something.
    Usual,
    /// All.
    All,
}

/// Whether the best value of a column is the highest or the lowest.
#[derive(Clone, Copy, Debug)]
enum Goal {
    Highest,
    Lowest,
    /// A mark is a signal and no harm: a scheme that ignores marks gets none.
    Neither,
}

impl Column {
    /// The column of a metric, in a unit that suits these rows.
    pub(super) fn of(selector: &Selector, rows: &[&Row]) -> Self {
        // Columns of one kind are compared and share a unit.
        let family = match selector.metric {
            metric if metric.starts_with("fct_") => "fct_p99_us",
            metric if metric.starts_with("round_") => "round_p50_us",
            metric if metric.starts_with("queue_") => "queue_max_bytes",
            metric => metric,
        };
        let of = selector.of.as_deref();
        let values = rows.iter().filter_map(|row| row.estimate(of, family)?.mean);
        let most = values.fold(0.0, f64::max);
        let (unit, divisor) = unit(selector, most);
        Self {
            selector: selector.clone(),
            priority: priority(selector),
            unit,
            divisor,
            goal: match selector.metric {
                metric if metric.starts_with("goodput_") => Goal::Highest,
                "fairness" | "flows_completed" | "rounds_completed" => Goal::Highest,
                "marks" | "threshold_crossings" | "packets" => Goal::Neither,
                _ => Goal::Lowest,
            },
        }
    }

    /// The metric of all flows, or of the group in a group's line.
    fn value(&self, row: &Row, of: Option<&str>) -> Option<f64> {
        let of = self.selector.of.as_deref().or(of);
        row.estimate(of, self.selector.metric)?.mean
    }

    /// Three digits; a dash without a value; empty if a group has no such metric, or if the line is about another
    /// group.
    pub(super) fn text(&self, row: &Row, of: Option<&str>) -> String {
        if self.selector.of.is_some() && of.is_some() {
            return String::new();
        }
        let named = self.selector.of.as_deref().or(of);
        let exists = row.estimate(named, self.selector.metric).is_some();
        match self.value(row, of) {
            Some(value) if self.unit.is_empty() => count(value),
            Some(value) => three(value / self.divisor),
            None if self.never_ended(row, of) => "never".to_owned(),
            None if exists || named.is_none() => "-".to_owned(),
            None => String::new(),
        }
    }

    /// Whether a run has an infinite value, because a round did not end.
    fn never_ended(&self, row: &Row, of: Option<&str>) -> bool {
        let of = self.selector.of.as_deref().or(of);
        let estimate = row.estimate(of, self.selector.metric);
        estimate.is_some_and(|estimate| estimate.mean.is_none() && estimate.runs > 0)
    }

    /// Half the confidence interval, for the only column with room for it.
    pub(super) fn precision(&self, row: &Row, of: Option<&str>) -> String {
        let of = self.selector.of.as_deref().or(of);
        let estimate = row.estimate(of, self.selector.metric);
        let half = estimate.and_then(Estimate::half_width);
        match half.filter(|_| self.selector.metric == "fct_p99_us") {
            Some(half) => format!(" \u{b1}{}", significant(half / self.divisor, 10.0)),
            None => String::new(),
        }
    }

    /// The text of the best value of rows that differ only in the scheme; `None` if their values are equal.
    pub(super) fn best(&self, rows: &[&Row], of: Option<&str>) -> Option<String> {
        let sign = match self.goal {
            Goal::Highest => -1.0,
            Goal::Lowest => 1.0,
            Goal::Neither => return None,
        };
        let rank = |row: &&&Row| self.value(row, of).map(|value| sign * value);
        let present = rows.iter().filter(|row| rank(row).is_some());
        let present: Vec<&&Row> = present.collect();
        let best = present.iter().min_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.unwrap_or(f64::NAN).total_cmp(&b.unwrap_or(f64::NAN))
        })?;
        let text = self.text(best, of);
        // Values that look the same to a reader get no mark.
        let others = rows.iter().any(|row| {
            let differs = self.value(row, of).is_some() && self.text(row, of) != text;
            differs || self.never_ended(row, of)
        });
        others.then_some(text)
    }

    /// Whether its values look different between rows.
    pub(super) fn differs(&self, rows: &[&Row]) -> bool {
        let texts = || rows.iter().map(|row| self.text(row, None));
        let first = texts().next();
        texts().any(|text| Some(text) != first)
    }
}

/// A unit in which values up to `most` have few digits, and its size.
fn unit(selector: &Selector, most: f64) -> (&'static str, f64) {
    match (selector.column().unit, most) {
        ("us", 1e6..) => ("s", 1e6),
        ("us", 1e3..) => ("ms", 1e3),
        ("us", _) => ("us", 1.0),
        ("bit/s", 1e9..) => ("Gbit/s", 1e9),
        ("bit/s", _) => ("Mbit/s", 1e6),
        ("bytes", 1e6..) => ("MB", 1e6),
        ("bytes", _) => ("KB", 1e3),
        _ => ("", 1.0),
    }
}

/// A value of a metric with its unit.
pub(crate) fn amount(selector: &Selector, value: f64) -> String {
    match unit(selector, value) {
        ("", _) => count(value),
        (unit, size) => format!("{} {unit}", three(value / size)),
    }
}

/// The metric of the bars: the completion times in the goals, or else the 99th percentile of all flows.
pub(super) fn tail(summary: &Summary) -> Selector {
    let goals = summary.goals.iter().flat_map(|goals| &goals.goals);
    let mut about = goals.filter(|goal| goal.metric.starts_with("fct_"));
    let first = about.find_map(|goal| Selector::parse(goal.subject()).ok());
    first.unwrap_or(Selector {
        of: None,
        metric: "fct_p99_us",
    })
}

/// Bytes with a fitting unit.
pub(super) fn bytes(value: f64) -> String {
    match value {
        1e6.. => format!("{} MB", three(value / 1e6)),
        _ => format!("{} KB", three(value / 1e3)),
    }
}

/// Every column, in the usual order; those of goals about groups come first. Means over idle time are only included if
/// all columns are `asked` for.
pub(super) fn all(summary: &Summary, rows: &[&Row], asked: Asked) -> Vec<Column> {
    let left_out = summary.is_mostly_idle() && asked == Asked::Usual;
    let goals = summary.goals.iter().flat_map(|goals| &goals.goals);
    let about: Vec<Selector> = goals
        .filter_map(|goal| Selector::parse(goal.subject()).ok())
        .collect();
    let is_usual = |selector: &Selector| {
        selector.of.is_none() && ORDER.iter().any(|(metric, _)| *metric == selector.metric)
    };
    let mut selectors: Vec<Selector> = Vec::new();
    for selector in about.iter().filter(|selector| !is_usual(selector)) {
        if !selectors.contains(selector) {
            selectors.push(selector.clone());
        }
    }
    for (metric, _) in ORDER {
        let happened = || {
            rows.iter()
                .any(|row| row.metrics.contains_key(metric) && row.value(metric) > 0.0)
        };
        let known = |metric: &str| {
            let has_value = |row: &&Row| {
                let all = row.groups.values().chain([&row.metrics]);
                all.filter_map(|metrics| metrics.get(metric))
                    .any(|estimate| estimate.mean.is_some())
            };
            rows.iter().any(has_value)
        };
        let demanded = about
            .iter()
            .any(|selector| selector.of.is_none() && selector.metric == metric);
        // Timers of other kinds rarely expire, and few flows have a deadline.
        let kinds = ["syn_timeouts", "tail_probes", "window_probes"];
        let shown = match metric {
            _ if demanded => true,
            idle if left_out && results::counts_idle_time(idle) => false,
            // There may be too few flows for these percentiles.
            "fct_p999_us" | "fct_p9999_us" => happened(),
            "rounds_over_ideal" => known(metric),
            metric if is_of_rounds(metric) => rows.iter().any(|row| row.has_rounds(None)),
            "slowdown_p99" => rows.iter().any(|row| row.sizes_differ()),
            "timers" => rows
                .iter()
                .any(|row| row.value(metric) > row.value("timeouts")),
            // Flows without an end have no completion times.
            of_ends if of_ends.starts_with("fct_") || of_ends == "goodput_p50_bps" => {
                known(of_ends) || !known("goodput_bps")
            }
            rare if kinds.contains(&rare) || rare == "flows_late" => happened(),
            rare if RARE.contains(&rare) => happened(),
            _ => true,
        };
        if shown {
            selectors.push(Selector { of: None, metric });
        }
    }
    let column = |selector: &Selector| {
        let column = Column::of(selector, rows);
        let demanded = about.contains(selector);
        Column {
            priority: if demanded { 0 } else { column.priority },
            ..column
        }
    };
    selectors.iter().map(column).collect()
}

/// Three lines: the group or subject, the statistic, the unit.
pub(super) fn header(column: &Column) -> String {
    let (first, second) = match column.selector.metric {
        "goodput_bps" => ("", "goodput"),
        "timeouts" => ("time-", "outs"),
        "syn_timeouts" => ("SYN t.-", "outs"),
        "retransmissions" => ("re-", "sent"),
        "flows_late" => ("", "late"),
        "rounds_over_ideal" => ("over", "ideal"),
        metric => {
            let name = short(metric);
            match name.rsplit_once('_') {
                Some(("fct", statistic)) => ("FCT", statistic),
                Some((first, second)) => (first, second),
                None => ("", name),
            }
        }
    };
    // The space is above the marks of the best values.
    match &column.selector.of {
        Some(of) => format!("{of} \n{first} {second} \n{} ", column.unit),
        None => format!("{first} \n{second} \n{} ", column.unit),
    }
}

/// A bar of at most [`BAR`] characters.
pub(super) fn bar(value: f64, most: f64) -> String {
    let eighths = low_32(whole((value / most * f64::from(BAR) * 8.0).round())).max(1);
    let (full, rest) = (eighths / 8, eighths % 8);
    let full = "\u{2588}".repeat(full as usize);
    let part = char::from_u32(0x2590 - rest).filter(|_| rest > 0);
    full.chars().chain(part).collect()
}

/// Three significant digits.
fn three(value: f64) -> String {
    significant(value, 100.0)
}

/// As many significant digits as the whole number `least` has, and at most five decimals.
fn significant(value: f64, least: f64) -> String {
    let mut size = value.abs();
    let mut rounding = 1.0;
    // A value that rounds up to `least` has as many digits as `least`.
    while size >= 10.0 * least - 0.5 {
        size /= 10.0;
        rounding *= 10.0;
    }
    if rounding > 1.0 {
        return format!("{:.0}", (value / rounding).round() * rounding);
    }
    let mut decimals = 0;
    while size < least - 0.05 && decimals < 5 {
        size *= 10.0;
        decimals += 1;
    }
    let text = format!("{value:.decimals$}");
    let is_zero = !text.contains(|digit| ('1'..='9').contains(&digit));
    if is_zero { "0".to_owned() } else { text }
}

/// A count or a share with three significant digits: large ones in thousands and millions.
pub(super) fn count(value: f64) -> String {
    match value {
        value if value >= 999_500.0 => format!("{}M", three(value / 1e6)),
        value if value >= 999.5 => format!("{}k", three(value / 1e3)),
        value if value.fract().abs() < f64::EPSILON => format!("{value:.0}"),
        value => three(value),
    }
}

fn priority(selector: &Selector) -> usize {
    let found = ORDER.iter().find(|(metric, _)| *metric == selector.metric);
    found.map_or(ORDER.len(), |(_, priority)| *priority)
}

/// Metrics in the order of the table, with the rank by which they get room.
const ORDER: [(&str, usize); 42] = [
    ("goodput_bps", 2),
    ("goodput_p50_bps", 14),
    ("goodput_weighted_bps", 15),
    ("fct_mean_us", 9),
    ("fct_p50_us", 5),
    ("fct_p95_us", 12),
    ("fct_p99_us", 1),
    ("fct_p999_us", 9),
    ("fct_p9999_us", 13),
    ("fct_max_us", 8),
    ("round_p50_us", 13),
    ("round_p99_us", 2),
    ("round_max_us", 9),
    ("rounds_over_ideal", 2),
    ("slowdown_p99", 14),
    ("flows_late", 3),
    // If other timers than retransmission timers expired, the count of timeouts alone would mislead.
    ("timers", 2),
    ("timeouts", 3),
    ("syn_timeouts", 10),
    ("tail_probes", 10),
    ("window_probes", 10),
    ("retransmissions", 11),
    ("drops", 4),
    ("drops_pool", 11),
    ("drops_threshold", 11),
    ("drops_headroom", 11),
    ("drops_link_down", 8),
    ("drops_restart", 8),
    ("drops_host_gone", 8),
    ("drops_lossy", 8),
    ("drops_corrupt", 8),
    ("marks", 10),
    ("queue_mean_bytes", 6),
    ("queue_p95_bytes", 13),
    ("queue_max_bytes", 7),
    ("pool_max_bytes", 8),
    ("pfc_pauses", 6),
    ("pfc_paused_us", 6),
    ("pfc_victims", 7),
    ("flows_failed", 3),
    ("flows_host_gone", 4),
    ("flows_gave_up", 4),
];
/// Metrics of shared buffers, pauses and faults, which few networks have.
const RARE: [&str; 15] = [
    "drops_pool",
    "drops_threshold",
    "drops_headroom",
    "pool_max_bytes",
    "pfc_pauses",
    "pfc_paused_us",
    "pfc_victims",
    "drops_link_down",
    "drops_restart",
    "drops_host_gone",
    "drops_lossy",
    "drops_corrupt",
    "flows_failed",
    "flows_host_gone",
    "flows_gave_up",
];
/// Characters of the longest bar.
const BAR: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        let shown = [1234.5, 862.4, 99.96, 13.61, 2.654, 0.1234, 0.01234, 1e-9].map(three);
        assert_eq!(
            shown,
            ["1230", "862", "100", "13.6", "2.65", "0.123", "0.0123", "0"]
        );
        let halves = [1.03, 0.471, 12.6, 9.96].map(|half| significant(half, 10.0));
        assert_eq!(halves, ["1.0", "0.47", "13", "10"]);
        let counts = [0.0, 7.0, 999.0, 1729.0, 23_202.0, 11_446_744.0, 4.25].map(count);
        assert_eq!(counts, ["0", "7", "999", "1.73k", "23.2k", "11.4M", "4.25"]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_value_and_never_empty() {
        assert_eq!(bar(10.0, 10.0).chars().count(), 8);
        assert_eq!(bar(5.0, 10.0), "████");
        assert_eq!(bar(0.01, 10.0), "▏");
        assert_eq!(bar(4.0, 10.0), "███▎");
    }
}
