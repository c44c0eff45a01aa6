//! The comparison as a table that fits the terminal.
//!
//! Settings and scheme come first, then as many number columns as fit. Columns in which rows differ come before the
//! others. A line below names the omitted columns.

mod collectives;
mod column;
mod tiers;
mod ties;

use std::collections::BTreeSet;
use std::fmt::Write;

use base::Ordered as _;
use base::Sort as _;
use comfy_table::{Cell, CellAlignment};
use plan::metric::Selector;
use results::{self, GoalState, Goals, Row, Summary};

use crate::layout::{self, Tone};
pub(crate) use column::amount;
use column::{Asked, Column, bar, header};
use results::Finished;

/// Which parts of a table are shown, and how.
#[derive(Clone, Debug)]
pub struct View {
    /// Number columns; `None`: as many as fit.
    pub columns: Option<Columns>,
    /// The number of rows, the best first; `None`: all of a short table, the best of a long one.
    pub rows: Option<usize>,
    /// Columns of the terminal.
    pub width: usize,
    /// Whether the terminal supports colours.
    pub styled: bool,
}

/// Columns that were asked for.
#[derive(Clone, Debug)]
pub enum Columns {
    /// Every one.
    All,
    /// These.
    Chosen(Vec<Selector>),
}

/// Title, table, the answer, cost.
///
/// # Panics
/// Never: writing to memory succeeds.
pub fn table(finished: &Finished, view: &View) -> String {
    let mut out = String::new();
    write(&mut out, finished, view).expect("writing to a string succeeds");
    out
}

fn write(out: &mut String, finished: &Finished, view: &View) -> std::fmt::Result {
    let summary = &finished.summary;
    let paragraph =
        |out: &mut String, line: &str| layout::wrap(out, 0, view.width.min(WIDEST), line);
    match &summary.title {
        Some(title) => paragraph(out, &format!("{}: {title}", summary.scenario)),
        None => writeln!(out, "{}", summary.scenario)?,
    }
    for (key, value) in &summary.constants {
        writeln!(out, "{key} = {value}")?;
    }
    for note in &summary.notes {
        paragraph(out, &format!("{note}."));
    }
    if let Some(goals) = &summary.goals {
        let named: Vec<_> = goals.goals.iter().map(|goal| goal.goal.as_str()).collect();
        let word = if named.len() == 1 { "goal" } else { "goals" };
        paragraph(out, &format!("{word}: {}", named.join("; ")));
    }
    if summary.seeds > 1 {
        let line = match finished.of {
            None => "Every number is the mean over",
            Some(_) => "Every number is the mean over what is done of",
        };
        let interval = "\u{b1} is half the 95 % confidence interval.";
        paragraph(out, &format!("{line} {} seeds; {interval}", summary.seeds));
    }
    writeln!(out)?;

    let layout = Layout::of(summary, view);
    writeln!(out, "{}", layout.draw(view.styled))?;
    if layout.marks {
        writeln!(out, "* best of its combination")?;
    }
    for note in layout.notes() {
        paragraph(out, &note);
    }
    writeln!(out)?;
    for sentence in crate::of_run(summary) {
        paragraph(out, &sentence);
    }
    if let Some(lines) = collectives::collectives(summary) {
        writeln!(out)?;
        paragraph(out, collectives::TITLE);
        write!(out, "{lines}")?;
    }
    if let Some((title, lines)) = ties::ties(summary) {
        writeln!(out)?;
        paragraph(out, &title);
        writeln!(out, "{lines}")?;
    }
    if let Some(tiers) = tiers::tiers(summary) {
        writeln!(out)?;
        paragraph(out, &tiers.title);
        writeln!(out, "{}", tiers.lines)?;
    }
    paragraph(out, &crate::cost(&finished.info));
    Ok(())
}

/// A table before it is drawn.
struct Layout<'a> {
    summary: &'a Summary,
    /// Rows in blocks, with a gap between blocks.
    blocks: Vec<Vec<&'a Row>>,
    /// Whether rows are ranked, so that rows of one combination need not be adjacent.
    ranked: bool,
    /// The columns that are shown.
    columns: Vec<Column>,
    /// The headers of the omitted columns.
    left_out: Vec<String>,
    /// Whether the column of the 99th percentile has a bar beside it.
    bars: bool,
    /// The metric of the bars.
    tail: Selector,
    /// The greatest of its values, which has the longest bar.
    longest: f64,
    /// The number of the columns before the first number.
    leading: usize,
    header: Vec<String>,
    lines: Vec<TableLine>,
    /// Whether any line marks the best of its combination.
    marks: bool,
}

/// A row, one of its groups of flows, or an empty line.
#[derive(Default)]
struct TableLine {
    cells: Vec<String>,
    /// Places of the cells that are the best of their combination.
    best: BTreeSet<usize>,
}

impl<'a> Layout<'a> {
    fn of(summary: &'a Summary, view: &View) -> Self {
        let all = summary.rows.len();
        let limit = view.rows.unwrap_or(if all > LONG { BEST } else { all });
        let ranked = limit < all;
        let blocks = if ranked && summary.search.is_some() {
            // A search shows the rows around its limit, in the order of their values.
            let nearest: Vec<u32> = results::nearest(summary).into_iter().take(limit).collect();
            let near = |row: &&Row| {
                let place = summary
                    .rows
                    .iter()
                    .position(|other| std::ptr::eq(other, *row));
                place.is_some_and(|place| nearest.iter().any(|row| *row as usize == place))
            };
            let blocks = combinations(summary).into_iter();
            let blocks = blocks.map(|block| block.into_iter().filter(near).collect());
            vec![blocks.collect::<Vec<Vec<&Row>>>().concat()]
        } else if ranked {
            let best = results::best_first(summary).into_iter().take(limit);
            vec![best.map(|row| &summary.rows[row as usize]).collect()]
        } else {
            combinations(summary)
        };
        let rows: Vec<&Row> = blocks.iter().flatten().copied().collect();
        let tail = column::tail(summary);
        let mut layout = Self {
            summary,
            ranked,
            columns: Vec::new(),
            left_out: Vec::new(),
            bars: false,
            longest: longest(&rows, &tail),
            tail,
            leading: 0,
            header: Vec::new(),
            lines: Vec::new(),
            marks: false,
            blocks,
        };
        let candidates = match &view.columns {
            Some(Columns::Chosen(chosen)) => {
                layout.columns = chosen.iter().map(|one| Column::of(one, &rows)).collect();
                layout.fill();
                return layout;
            }
            Some(Columns::All) => {
                layout.columns = column::all(summary, &rows, Asked::All);
                layout.bars = layout
                    .columns
                    .iter()
                    .any(|column| column.selector == layout.tail && column.differs(&rows));
                layout.fill();
                return layout;
            }
            None => column::all(summary, &rows, Asked::Usual),
        };
        layout.choose(&candidates, &rows, view.width);
        layout
    }

    /// Takes the most telling columns that fit into `width`, in their usual order.
    fn choose(&mut self, candidates: &[Column], rows: &[&Row], width: usize) {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.order_by_key(|at| {
            let column = &candidates[*at];
            (!column.differs(rows), column.priority)
        });
        let mut chosen = BTreeSet::new();
        let mut fits = |layout: &mut Self, more: Option<usize>| {
            let with = chosen.iter().copied().chain(more).into_set();
            layout.columns = with.iter().map(|at| candidates[*at].clone()).collect();
            layout.fill();
            let fits = layout.width() <= width;
            if fits {
                chosen = with;
            }
            fits
        };
        for at in order {
            fits(self, Some(at));
            if candidates[at].selector == self.tail && candidates[at].differs(rows) {
                self.bars = true;
                self.bars = fits(self, None);
            }
        }
        fits(self, None);
        let out = candidates
            .iter()
            .enumerate()
            .filter(|(at, _)| !chosen.contains(at));
        self.left_out = out.map(|(_, column)| column.selector.to_string()).collect();
    }

    /// Makes header and lines from the columns.
    fn fill(&mut self) {
        let summary = self.summary;
        self.header = summary
            .axes
            .iter()
            .map(|key| {
                let (group, field) = key.rsplit_once('.').unwrap_or(("", key));
                format!("{group}\n{field}\n ")
            })
            .chain(["\nscheme\n ".to_owned()])
            .collect();
        if let Some(goals) = &summary.goals {
            self.header.push(
                if goals.goals.len() > 1 {
                    "\ngoals\n "
                } else {
                    "\ngoal\n "
                }
                .to_owned(),
            );
        }
        self.leading = self.header.len();
        for column in &self.columns {
            self.header.push(header(column));
            if self.bars && column.selector == self.tail {
                self.header.push(String::new());
            }
        }
        self.lines.clear();
        let blocks = std::mem::take(&mut self.blocks);
        for (number, block) in blocks.iter().enumerate() {
            if number > 0 && block.len() > 1 {
                self.lines.push(TableLine::default());
            }
            self.fill_block(block);
        }
        self.blocks = blocks;
        self.marks = self.lines.iter().any(|line| !line.best.is_empty());
    }

    fn fill_block(&mut self, block: &[&Row]) {
        for row in block {
            self.line(row, None, block);
            // Ranked rows of a long sweep leave no room for their groups.
            let groups = row.groups.keys().filter(|_| !self.ranked);
            for group in groups.cloned().collect::<Vec<_>>() {
                self.line(row, Some(&group), block);
            }
        }
    }

    /// A line for all flows of a row, or for those of a group.
    fn line(&mut self, row: &Row, of: Option<&str>, block: &[&Row]) {
        let axes = &self.summary.axes;
        let mut line = TableLine::default();
        line.cells.extend(axes.iter().map(|axis| match of {
            None => row.setting(axis).unwrap_or_default().to_owned(),
            Some(_) => String::new(),
        }));
        line.cells
            .push(of.map_or_else(|| row.scheme.clone(), |group| format!("  {group}")));
        if let Some(goals) = &self.summary.goals {
            let told = of.is_none().then(|| mark(self.summary, goals, row));
            line.cells.push(told.unwrap_or_default());
        }
        for column in &self.columns {
            let place = line.cells.len();
            let text = column.text(row, of);
            let best = !self.ranked && column.best(block, of).is_some_and(|best| best == text);
            let precision = column.precision(row, of);
            let end = if best { "*" } else { " " };
            line.cells.push(if text.is_empty() {
                text
            } else {
                format!("{text}{precision}{end}")
            });
            line.best.extend(best.then_some(place));
            if self.bars && column.selector == self.tail {
                // The bar for a group's goal is in the line of all flows.
                let value = match (self.tail.of.as_deref(), of) {
                    (Some(_), Some(_)) => None,
                    (group, line) => row.estimate(group.or(line), self.tail.metric),
                };
                let value = value.and_then(|value| value.mean);
                line.cells
                    .push(value.map_or_else(String::new, |value| bar(value, self.longest)));
            }
        }
        self.lines.push(line);
    }

    /// Number of terminal columns that it takes.
    fn width(&self) -> usize {
        let of = |text: &str| {
            text.lines()
                .map(|line| line.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths = (0..self.header.len()).map(|at| {
            let cells = self.lines.iter().filter_map(|line| line.cells.get(at));
            let widest = cells.map(|cell| of(cell)).max().unwrap_or(0);
            widest.max(of(&self.header[at])) + 1
        });
        widths.sum::<usize>()
    }

    fn draw(&self, styled: bool) -> String {
        let mut table = layout::ruled();
        table.set_header(self.header.iter().map(Cell::new));
        let empty = || vec![Cell::new(""); self.header.len()];
        for line in &self.lines {
            let cells = line.cells.iter().enumerate().map(|(at, text)| {
                if line.best.contains(&at) {
                    Cell::new(layout::bold(text, Tone::Good))
                } else {
                    Cell::new(text)
                }
            });
            let cells: Vec<Cell> = cells.collect();
            table.add_row(if cells.is_empty() { empty() } else { cells });
        }
        let scheme = self.summary.axes.len();
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 1));
            let is_text = (scheme..self.leading).contains(&index) || self.header[index].is_empty();
            column.set_cell_alignment(if is_text {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            });
        }
        layout::drawn(&table, styled)
    }

    /// The omitted parts, and how to see them.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.ranked {
            let (shown, all) = (self.lines.len(), self.summary.rows.len());
            let best = match (shown, self.summary.search.is_some()) {
                (1, _) => "The best row".to_owned(),
                (_, true) => format!("The {shown} rows next to the limit"),
                _ if results::ranks_by_load(self.summary) => {
                    format!("The {shown} rows nearest to the best of their load,")
                }
                (_, false) => format!("The {shown} best rows"),
            };
            notes.push(format!("{best} of {all}; --rows all shows every row."));
        }
        if !self.left_out.is_empty() {
            notes.push(format!(
                "Not shown: {}; see --columns.",
                self.left_out.join(", ")
            ));
        }
        notes
    }
}

/// The greatest value of the bars; for all flows, the groups' values count, too.
fn longest(rows: &[&Row], tail: &Selector) -> f64 {
    let values = |row: &&Row| -> Vec<f64> {
        let own = row.estimate(tail.of.as_deref(), tail.metric);
        let groups = row.groups.values().filter(|_| tail.of.is_none());
        let groups = groups.filter_map(|metrics| metrics.get(tail.metric));
        let all = own.into_iter().chain(groups);
        all.filter_map(|estimate| estimate.mean).collect()
    };
    rows.iter().flat_map(values).fold(0.0, f64::max)
}

/// Rows that differ only in the scheme, in the order of the sweep; for a search, in the order of its values.
fn combinations(summary: &Summary) -> Vec<Vec<&Row>> {
    let mut blocks: Vec<Vec<&Row>> = summary
        .groups()
        .map(|group| group.iter().collect())
        .collect();
    if summary.search.is_some() {
        let value = |row: &Row| {
            row.set
                .first()
                .and_then(|(_, value)| results::magnitude(value))
        };
        blocks.order_by(|a, b| {
            let (a, b) = (value(a[0]), value(b[0]));
            a.unwrap_or(f64::NAN).total_cmp(&b.unwrap_or(f64::NAN))
        });
    }
    blocks
}

/// The verdict of the goals on a row.
fn mark(summary: &Summary, goals: &Goals, row: &Row) -> String {
    let place = summary
        .rows
        .iter()
        .position(|other| std::ptr::eq(other, row));
    let Some(judged) = place.and_then(|place| goals.rows.get(place)) else {
        return String::new();
    };
    match (judged.standing, goals.goals.len()) {
        (GoalState::Met, _) => "met".to_owned(),
        (_, several @ 2..) => format!("{} of {several}", judged.count()),
        (GoalState::Open, _) => "open".to_owned(),
        (GoalState::Missed, _) => "missed".to_owned(),
    }
}

/// The number of rows from which only the best are shown.
const LONG: usize = 24;
/// The number of rows shown in a long table.
const BEST: usize = 10;
/// The widest text that is easy to read, in columns.
const WIDEST: usize = 100;
