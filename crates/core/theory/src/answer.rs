//! The answer of a model: tables, charts and remarks, as plain data.

use std::fmt;

use base::setting::{Key, SettingError};

/// A model of a paper with its settings.
pub struct Model {
    /// Its name on the command line: the name of the scheme.
    pub name: &'static str,
    /// What it computes, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its settings. Those that a scenario has as well have the same name there.
    pub keys: &'static [Key],
    /// Computes it for the texts of its settings by full name.
    pub answer: Compute,
}

/// From the texts of settings, by full name, to an answer.
pub type Compute = fn(&dyn Fn(&str) -> String) -> Result<Answer, NoAnswer>;

/// Everything a model says for one choice of its settings.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Numbers and verdicts.
    pub tables: Vec<AnswerTable>,
    /// What the numbers mean, in sentences.
    pub notes: Vec<String>,
    /// Curves and maps.
    pub charts: Vec<Chart>,
}

/// Rows of equal columns.
#[derive(Clone, Debug)]
pub struct AnswerTable {
    /// Its name in formats for programs.
    pub name: &'static str,
    /// The title of the first column, the case of a row.
    pub case: &'static str,
    /// The other columns.
    pub columns: Vec<AnswerColumn>,
    /// Each row's case with its cells.
    pub rows: Vec<(String, Vec<AnswerCell>)>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct AnswerColumn {
    /// What it holds.
    pub name: &'static str,
    /// Its unit; empty for words and pure numbers.
    pub unit: &'static str,
}

/// What stands in a table.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerCell {
    /// A number; NaN where there is none.
    Number(f64),
    /// A word or a formula.
    Text(String),
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// How to read it.
    pub caption: String,
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis.
    pub y: ChartAxis,
    /// The lines drawn, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub struct ChartAxis {
    /// What it measures.
    pub label: &'static str,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// Logarithmic rather than linear.
    pub log: bool,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub label: String,
    /// How the points are drawn.
    pub shape: CurveShape,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CurveShape {
    /// Joined by straight lines.
    Line,
    /// The same, dashed and in the colour of text: an exact value to compare with.
    Reference,
    /// A marker at each.
    Markers,
    /// Rectangles of a map around each: half their width and height, or the factor to their
    /// ends on a logarithmic axis; and how opaque they are, in percent.
    Cells {
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Shades of one colour tell classes apart.
        percent: u8,
        /// Which colour.
        colour: Colour,
    },
}

/// A colour of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// It is well.
    Good,
    /// It is not.
    Bad,
    /// There is nothing to judge.
    None,
}

/// Settings that a model has no answer for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// The setting to change.
    pub key: &'static str,
    /// Another that it contradicts, which may be changed instead.
    pub other: Option<&'static str>,
    /// The fault, as a sentence without a full stop.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl NoAnswer {
    /// The fault of a setting, and its remedy.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            key,
            other: None,
            message: message.into(),
            help: help.into(),
        }
    }

    /// The same, as a contradiction with another setting.
    #[must_use]
    pub fn with(self, other: &'static str) -> Self {
        Self {
            other: Some(other),
            ..self
        }
    }
}

impl From<SettingError> for NoAnswer {
    fn from(error: SettingError) -> Self {
        Self::new(
            error.key,
            error.error.message,
            format!("see `tailwater model` for what {} is", error.key),
        )
    }
}

impl ChartAxis {
    /// A linear axis.
    pub const fn new(label: &'static str, unit: &'static str) -> Self {
        Self {
            label,
            unit,
            log: false,
        }
    }

    /// The same, logarithmic.
    #[must_use]
    pub const fn log(self) -> Self {
        Self { log: true, ..self }
    }
}

impl Curve {
    /// A curve of straight lines.
    pub fn line(label: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            label: label.into(),
            shape: CurveShape::Line,
            points,
        }
    }
}

impl From<f64> for AnswerCell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for AnswerCell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AnswerCell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Columns from pairs of name and unit.
pub(crate) fn columns<const N: usize>(
    columns: [(&'static str, &'static str); N],
) -> Vec<AnswerColumn> {
    columns
        .map(|(name, unit)| AnswerColumn { name, unit })
        .to_vec()
}
