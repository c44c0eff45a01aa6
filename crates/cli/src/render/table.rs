//! The comparison as a table that fits a terminal of 120 columns.

use std::fmt::Write;

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table};
use comfy_table::{LineStyle, TableStyle};
use results::{self, Row};

use crate::finished::Finished;
use crate::text;

/// Title, table, the answer, cost; `styled` adds colours to the marks of the best values.
pub(crate) fn table(finished: &Finished, styled: bool) -> String {
    let mut out = String::new();
    write(&mut out, finished, styled).expect("writing to a string succeeds");
    out
}

fn write(out: &mut String, finished: &Finished, styled: bool) -> std::fmt::Result {
    let summary = &finished.summary;
    let groups: Vec<&[Row]> = summary.groups().collect();
    match &summary.title {
        Some(title) => writeln!(out, "{}: {title}", summary.scenario)?,
        None => writeln!(out, "{}", summary.scenario)?,
    }
    for (key, value) in &summary.constants {
        writeln!(out, "{key} = {value}")?;
    }
    if summary.seeds > 1 {
        let line = match finished.of {
            None => "Every number is the mean over",
            Some(_) => "Every number is the mean over what is done of",
        };
        let interval = "\u{b1} is half the 95 % confidence interval.";
        writeln!(out, "{line} {} seeds; {interval}", summary.seeds)?;
    }
    writeln!(out)?;

    let (axes, columns) = (&summary.axes, columns(&groups));
    let mut table = Table::new();
    let rule = LineStyle::none().fill('-');
    table.load_style(TableStyle::new().header_separator(rule));
    if styled {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(header(axes, &columns));
    for (index, group) in groups.iter().enumerate() {
        if index > 0 && group.len() > 1 {
            table.add_row(vec![""; axes.len() + 1 + columns.len()]);
        }
        for (row, cells) in group.iter().zip(body(group, axes, &columns)) {
            table.add_row(cells);
            for name in row.groups.keys() {
                table.add_row(group_cells(row, name, axes, &columns));
            }
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        let left = index == axes.len();
        column.set_cell_alignment(if left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    writeln!(out, "{}", table.trim_fmt())?;
    if table_has_marks(&groups, &columns) {
        writeln!(out, "* best in its group")?;
    }
    writeln!(out)?;
    for sentence in results::answer(summary) {
        text::paragraph(out, 0, &sentence);
    }
    text::paragraph(out, 0, &results::cost(&finished.info));
    Ok(())
}

/// A column of numbers as it is shown.
struct Shown {
    metric: &'static str,
    head: [&'static str; 2],
    unit: &'static str,
    divisor: f64,
    decimals: usize,
    goal: Goal,
}

/// Which value of a column is the best.
#[derive(Clone, Copy)]
enum Goal {
    Highest,
    Lowest,
    /// A mark is a signal and no harm: a scheme that is deaf to marks gets none.
    Neither,
}

impl Shown {
    fn text(&self, row: &Row) -> String {
        let value = row.value(self.metric);
        if value.is_nan() {
            return "-".into();
        }
        format!("{:.*}", self.decimals, value / self.divisor)
    }

    /// Half the confidence interval, for the one column that has room for it.
    fn precision(&self, row: &Row) -> String {
        let half = row.metrics[self.metric].half_width();
        match half.filter(|_| self.metric == "fct_p99_us") {
            Some(half) => format!(" \u{b1}{:.*}", self.decimals, half / self.divisor),
            None => String::new(),
        }
    }

    /// The text of the best value in `group`, if the group has different ones.
    fn best(&self, group: &[Row]) -> Option<String> {
        let sign = match self.goal {
            Goal::Highest => -1.0,
            Goal::Lowest => 1.0,
            Goal::Neither => return None,
        };
        let present = group.iter().filter(|row| !row.value(self.metric).is_nan());
        let rows: Vec<_> = present.collect();
        let best = rows.iter().min_by(|a, b| {
            (sign * a.value(self.metric)).total_cmp(&(sign * b.value(self.metric)))
        })?;
        let text = self.text(best);
        // Values that look the same to a reader are the same: no mark.
        rows.iter()
            .any(|row| self.text(row) != text)
            .then_some(text)
    }
}

fn columns(groups: &[&[Row]]) -> Vec<Shown> {
    let fct = largest(groups, "fct_max_us");
    // A unit in which the largest value has at most four digits before the point.
    let (time, time_divisor) = match fct {
        fct if fct >= 1e7 => ("s", 1e6),
        fct if fct >= 1e4 => ("ms", 1e3),
        _ => ("us", 1.0),
    };
    let (rate, rate_divisor) = match largest(groups, "goodput_bps") {
        rate if rate >= 1e10 => ("Gbit/s", 1e9),
        _ => ("Mbit/s", 1e6),
    };
    let (bytes, bytes_divisor) = match largest(groups, "queue_max_bytes") {
        bytes if bytes >= 1e7 => ("MB", 1e6),
        _ => ("KB", 1e3),
    };
    let goodput = ("goodput_bps", ["", "goodput"], rate, rate_divisor);
    let times = [
        ("fct_mean_us", ["FCT", "mean"]),
        ("fct_p50_us", ["FCT", "p50"]),
        ("fct_p95_us", ["FCT", "p95"]),
        ("fct_p99_us", ["FCT", "p99"]),
        ("fct_max_us", ["FCT", "max"]),
    ];
    let counts = [
        ("timeouts", ["time-", "outs"]),
        ("syn_timeouts", ["SYN t.-", "outs"]),
        ("retransmissions", ["re-", "sent"]),
        ("drops", ["", "drops"]),
        ("marks", ["", "marks"]),
    ];
    let queues = [
        ("queue_mean_bytes", ["queue", "mean"]),
        ("queue_p95_bytes", ["queue", "p95"]),
        ("queue_max_bytes", ["queue", "max"]),
    ];
    let times = times.map(|(metric, head)| (metric, head, time, time_divisor));
    let counts = counts.map(|(metric, head)| (metric, head, "", 1.0));
    let queues = queues.map(|(metric, head)| (metric, head, bytes, bytes_divisor));
    let all = std::iter::once(goodput)
        .chain(times)
        .chain(counts)
        .chain(queues);
    // Handshakes rarely wait for their timers: the column appears where they did.
    let worth = |metric: &str| metric != "syn_timeouts" || largest(groups, metric) > 0.0;
    let all = all.filter(|(metric, ..)| worth(metric));
    all.map(|(metric, head, unit, divisor)| Shown {
        metric,
        head,
        unit,
        divisor,
        decimals: decimals(groups, metric, divisor),
        goal: match metric {
            "goodput_bps" => Goal::Highest,
            "marks" => Goal::Neither,
            _ => Goal::Lowest,
        },
    })
    .collect()
}

/// Three or four digits for the largest value; columns of one unit are compared with each other and
/// have the same decimals.
fn decimals(groups: &[&[Row]], metric: &str, divisor: f64) -> usize {
    let scale = match metric {
        "goodput_bps" => metric,
        _ if metric.starts_with("fct") => "fct_max_us",
        _ if metric.starts_with("queue") => return 1,
        _ => {
            // Counts are whole, their means over seeds are not.
            let mut values = groups
                .iter()
                .copied()
                .flatten()
                .map(|row| row.value(metric));
            let whole = values.all(|value| value.is_nan() || value.fract().abs() < f64::EPSILON);
            return usize::from(!whole);
        }
    };
    match largest(groups, scale) / divisor {
        value if value >= 1000.0 => 0,
        value if value >= 100.0 => 1,
        _ => 2,
    }
}

fn largest(groups: &[&[Row]], metric: &str) -> f64 {
    // `max` leaves NaN out.
    groups
        .iter()
        .copied()
        .flatten()
        .map(|row| row.value(metric))
        .fold(0.0, f64::max)
}

fn header(axes: &[String], columns: &[Shown]) -> Vec<Cell> {
    let axes = axes.iter().map(|key| {
        let (group, field) = key.split_once('.').unwrap_or(("", key));
        format!("{group}\n{field}\n ")
    });
    let heads = columns.iter().map(|column| {
        let [first, second] = column.head;
        // The space stands above the marks of the best values.
        format!("{first} \n{second} \n{} ", column.unit)
    });
    let texts = axes.chain(["\nscheme\n ".into()]).chain(heads);
    texts.map(Cell::new).collect()
}

fn body(group: &[Row], axes: &[String], columns: &[Shown]) -> Vec<Vec<Cell>> {
    let best: Vec<_> = columns.iter().map(|column| column.best(group)).collect();
    let row = |row: &Row| {
        let values = axes
            .iter()
            .map(|axis| Cell::new(row.setting(axis).unwrap_or_default()));
        let scheme = Cell::new(&row.scheme);
        let numbers = columns.iter().zip(&best).map(|(column, best)| {
            let text = column.text(row);
            let precision = column.precision(row);
            if best.as_ref() == Some(&text) {
                Cell::new(format!("{text}{precision}*"))
                    .fg(Color::Green)
                    .add_attribute(Attribute::Bold)
            } else {
                Cell::new(format!("{text}{precision} "))
            }
        });
        values.chain([scheme]).chain(numbers).collect()
    };
    group.iter().map(row).collect()
}

/// The numbers of one group of flows of a row; what belongs to the network is left out.
fn group_cells(row: &Row, name: &str, axes: &[String], columns: &[Shown]) -> Vec<Cell> {
    let axes = axes.iter().map(|_| Cell::new(""));
    let metrics = &row.groups[name];
    let numbers = columns.iter().map(|column| {
        let value = metrics.get(column.metric).and_then(|value| value.mean);
        Cell::new(match value.filter(|value| !value.is_nan()) {
            Some(value) => format!("{:.*} ", column.decimals, value / column.divisor),
            None if metrics.contains_key(column.metric) => "- ".to_owned(),
            None => String::new(),
        })
    });
    axes.chain([Cell::new(format!("  {name}"))])
        .chain(numbers)
        .collect()
}

fn table_has_marks(groups: &[&[Row]], columns: &[Shown]) -> bool {
    let marked = |group: &&[Row]| columns.iter().any(|column| column.best(group).is_some());
    groups.iter().any(marked)
}
