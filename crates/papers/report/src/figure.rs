//! A figure as data, which each renderer draws in its own way.

use crate::units;

/// A chart with everything a reader needs to understand it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name on the command line, unique within a run: `fct-cdf-senders-100`.
    pub name: String,
    /// The chart it is a view of: `fct-cdf`. Views of one chart share a place in the report.
    pub chart: String,
    /// The label that distinguishes it from other views of the chart; empty if it is the only one.
    pub choice: String,
    /// The subject, in a few words.
    pub title: String,
    /// How to read it, in sentences.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub lines: Vec<PlotLine>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Axis {
    /// The quantity, without the unit.
    pub label: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// Logarithmic rather than linear.
    pub log: bool,
    /// Names of the places 0, 1, 2, ...; empty for an axis of numbers.
    pub categories: Vec<String>,
    /// Names of consecutive groups of places, each with its number of places; each place then has its own name in
    /// `short`. Empty if places have single names.
    pub groups: Vec<(String, usize)>,
    /// The names of places within their groups.
    pub short: Vec<String>,
    /// Both ends, if the data should not determine them.
    pub range: Option<(f64, f64)>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct PlotLine {
    /// Its name in the legend.
    pub label: String,
    /// Colour and marker.
    pub style: Style,
    /// How its points are drawn.
    pub shape: Shape,
    /// The points, in the order of drawing.
    pub points: Vec<PlotPoint>,
}

/// The style by which lines are distinguished, on a screen and in grey on paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Index in the palette, which determines the colour and the marker.
    pub slot: usize,
    /// Index in the list of dashes.
    pub dash: usize,
    /// Markers are open rather than filled.
    pub open: bool,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Markers joined by straight lines.
    Joined,
    /// A value that holds until the next point, without markers.
    Step,
    /// One of many equal step lines: thin and translucent, without an own entry in the legend.
    Faint,
    /// Bars of this width from zero.
    Bars(f64),
    /// Horizontal bars: every two points are the ends of one.
    Spans,
    /// Markers alone, in the colour of text, because the lines below them may have any other.
    Marks(EventMark),
    /// Vertical bars over the intervals, each with a marker at its value. If a point has an inner interval, the bar
    /// covers the inner one and a thin line the other.
    Ranges,
    /// A dashed line in the colour of text, without markers: the value of an equation.
    Model,
    /// Straight lines without markers, for curves that were computed at many points and look smooth.
    Curve,
    /// Bars of this width over the inner interval of a point: stacked parts of a whole. The second number is the
    /// opacity in percent.
    Stack(f64, u8),
    /// A thin line across the chart at the height of the first point, with its name: a limit.
    Limit,
    /// Rectangles of a map around the points, without gaps between them.
    Cells(Cells),
}

/// How the rectangles of a map are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cells {
    /// Half their width; on a logarithmic axis the factor from their middle to their ends.
    pub x: f64,
    /// The same of their height.
    pub y: f64,
    /// Their opacity in percent: shades of a colour distinguish classes.
    pub percent: u8,
}

impl Cells {
    /// Left, right, lower and upper end of the rectangle around a point.
    pub(crate) fn around(&self, figure: &Figure, point: &PlotPoint) -> [f64; 4] {
        let ends = |axis: &Axis, middle: f64, half: f64| {
            if axis.log {
                (middle / half, middle * half)
            } else {
                (middle - half, middle + half)
            }
        };
        let (left, right) = ends(&figure.x, point.x, self.x);
        let (lower, upper) = ends(&figure.y, point.y, self.y);
        [left, right, lower, upper]
    }
}

/// A marker that means an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventMark {
    /// A cross, for a loss.
    Cross,
    /// A triangle, for a timeout.
    Triangle,
}

/// A point with the intervals around its `y`.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PlotPoint {
    /// Horizontal position in the unit of the axis.
    pub x: f64,
    /// Vertical position in the unit of the axis.
    pub y: f64,
    /// The 95 % confidence interval of `y`, or two percentiles around it; the caption says which.
    pub interval: Option<(f64, f64)>,
    /// The narrower of two pairs of percentiles.
    pub inner: Option<(f64, f64)>,
}

impl Axis {
    /// An axis of numbers.
    pub fn new(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            unit: unit.into(),
            ..Self::default()
        }
    }

    /// The position of a value on an axis of numbers: a number in its unit, or one with a unit of the same kind.
    pub fn value(&self, text: &str) -> Option<f64> {
        let number = text
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite());
        number.or_else(|| units::in_unit(text.trim(), &self.unit))
    }

    /// The label as it is written along the axis: `Senders`, `Completion time (ms)`.
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} ({})", self.label, self.unit)
        }
    }
}

impl PlotLine {
    /// Whether it is drawn as bars from zero.
    pub(crate) fn is_bars(&self) -> bool {
        matches!(self.shape, Shape::Bars(_))
    }
}

impl PlotPoint {
    /// A point that is exact.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            ..Self::default()
        }
    }
}

impl Figure {
    /// Whether anything is drawn.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.points.is_empty())
    }

    /// Whether a line needs an entry in the legend. Names along the axis are not repeated, and a hundred faint lines
    /// cannot be named.
    pub(crate) fn names(&self, line: &PlotLine) -> bool {
        !matches!(line.shape, Shape::Faint | Shape::Limit)
            && !line.points.is_empty()
            && !self.x.categories.contains(&line.label)
            && self.has_share(line)
    }

    /// Whether a part of bars is visible anywhere: at least a hundredth of the highest bar. Other lines are always
    /// visible.
    fn has_share(&self, line: &PlotLine) -> bool {
        let Shape::Stack(..) = line.shape else {
            return true;
        };
        let heights = self.lines.iter().flat_map(|line| &line.points);
        let highest = heights.map(|point| point.y).fold(0.0, f64::max);
        let mut parts = line.points.iter().filter_map(|point| point.inner);
        parts.any(|(low, high)| high - low >= 0.01 * highest)
    }

    /// The title with the choice, as it stands above the figure.
    pub fn full_title(&self) -> String {
        if self.choice.is_empty() {
            self.title.clone()
        } else {
            format!("{}: {}", self.title, self.choice)
        }
    }
}

/// A text as part of a name on the command line: `switch.buffer = 64KB` becomes
/// `switch-buffer-64kb`.
pub(crate) fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}
