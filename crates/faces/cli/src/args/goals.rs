//! Arguments for goals and for the rows and columns that are printed.

use clap::Args;
use plan::metric::Selector;
use scenario::search::Search;

use answer::run::{Columns, View};

/// Goals and the search for a setting that meets them.
#[derive(Args)]
pub(crate) struct GoalArgs {
    /// A goal for every row, as in 'reads.p99 < 10ms': a metric, a comparison and a threshold. A group or class before the
    /// dot limits the metric to its flows. May be given several times; replaces the goals of the scenario
    #[arg(long = "goal", value_name = "GOAL")]
    goals: Vec<String>,
    /// Search by bisection for the smallest value of a setting that meets the goals: KEY=LOW..HIGH, or KEY=LOW..HIGH:STEP
    #[arg(
        long,
        value_name = "RANGE",
        value_parser = range,
        conflicts_with_all = ["until", "shard"]
    )]
    pub(crate) search: Option<Search>,
    /// Exit with status 1 unless every row meets every goal; with --search, unless some value meets them
    #[arg(long)]
    pub(crate) strict: bool,
}

impl GoalArgs {
    /// The goals as they were typed.
    pub(crate) fn typed(&self) -> Vec<String> {
        self.goals.clone()
    }
}

/// The rows and columns of a table that are printed.
#[derive(Args)]
pub(crate) struct ViewArgs {
    /// Columns of the table: metrics, as in p99,drops or reads.p50, or "all" [default: as many
    /// as fit the terminal]
    #[arg(long, value_name = "LIST", value_parser = columns)]
    columns: Option<Columns>,
    /// Rows of the table, the best first: a number or "all" [default: all if there are at most 24, else the best 10]
    #[arg(long, value_name = "N", value_parser = rows)]
    rows: Option<usize>,
}

impl ViewArgs {
    /// The table for a terminal of this width.
    pub(crate) fn view(&self, width: usize, styled: bool) -> View {
        View {
            columns: self.columns.clone(),
            rows: self.rows,
            width,
            styled,
        }
    }

    /// The metrics that were asked for by name.
    pub(crate) fn selectors(&self) -> &[Selector] {
        match &self.columns {
            Some(Columns::Chosen(chosen)) => chosen,
            _ => &[],
        }
    }
}

fn range(text: &str) -> Result<Search, String> {
    Search::parse(text).map_err(|unknown| format!("{}; {}", unknown.cause, unknown.remedy))
}

fn columns(text: &str) -> Result<Columns, String> {
    if text.trim() == "all" {
        return Ok(Columns::All);
    }
    let chosen = text.split(',').map(|word| {
        Selector::parse(word).map_err(|unknown| format!("{}; {}", unknown.cause, unknown.remedy))
    });
    chosen.collect::<Result<_, _>>().map(Columns::Chosen)
}

fn rows(text: &str) -> Result<usize, String> {
    let number = || text.parse().ok().filter(|number| *number > 0);
    match text {
        "all" => Ok(usize::MAX),
        _ => number().ok_or_else(|| "expected a number of rows, or \"all\"".to_owned()),
    }
}
