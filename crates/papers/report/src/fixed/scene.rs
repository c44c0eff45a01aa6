//! The elements of a drawn chart. All lengths are in points, 1/72 inch; y grows downwards.

/// Red, green and blue.
pub(super) type Colour = (u8, u8, u8);

/// A drawing.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Every item with its layer; later ones lie over earlier ones.
    pub(super) items: Vec<(Layer, Item)>,
    /// The layer of the items that are added next.
    pub(super) layer: Layer,
    /// The number of groups of lines; the numbers in layers are below it.
    pub(super) groups: usize,
    /// The values that a page shows under the pointer, as JSON; empty if it shows none.
    pub(super) reading: String,
}

/// The role of an item. A reader of a page zooms along the horizontal axis and hides lines, which affects only some
/// layers. Files ignore layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    /// The grid across the chart.
    Grid,
    /// The vertical lines of the grid, at ticks of the horizontal axis.
    Upright,
    /// Lines and areas of the group of lines with this number, which stretch.
    Data(usize),
    /// Its markers and intervals, which move and keep their shape.
    Signs(usize),
    /// Axes, titles and limits.
    Fixed,
    /// Ticks of the horizontal axis and their names.
    Ticks,
    /// The entry of the line with this number in the legend.
    Entry(usize),
}

/// A part of a drawing.
#[derive(Debug)]
pub(super) enum Item {
    Stroke(Stroke),
    Fill(Fill),
    Text(Label),
}

/// A line along points.
#[derive(Debug)]
pub(super) struct Stroke {
    pub(super) path: Vec<(f64, f64)>,
    pub(super) colour: Colour,
    pub(super) width: f64,
    /// Strokes and gaps; empty for a solid line.
    pub(super) dashes: Vec<f64>,
    /// How opaque it is.
    pub(super) percent: u8,
}

/// A polygon.
#[derive(Debug)]
pub(super) struct Fill {
    pub(super) path: Vec<(f64, f64)>,
    pub(super) colour: Colour,
    /// How opaque it is.
    pub(super) percent: u8,
}

/// A line of text.
#[derive(Debug)]
pub(super) struct Label {
    /// Where its anchor stands on the base line.
    pub(super) at: (f64, f64),
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    /// Written upwards.
    pub(super) upward: bool,
    pub(super) text: String,
}

/// Which point of a text is placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// The share of the width that lies before the anchor.
    pub(super) fn share(self) -> f64 {
        match self {
            Self::Start => 0.0,
            Self::Middle => 0.5,
            Self::End => 1.0,
        }
    }
}

/// Text and axes.
pub(super) const INK: Colour = (0x22, 0x22, 0x22);

/// The background.
pub(super) const PAPER: Colour = (0xff, 0xff, 0xff);

/// Lines of the grid.
pub(super) const PALE: Colour = (0xdd, 0xdd, 0xdd);

impl Layer {
    /// The layer of the signs for this layer's data.
    pub(super) fn signs(self) -> Self {
        match self {
            Self::Data(line) => Self::Signs(line),
            other => other,
        }
    }
}

impl Scene {
    /// An empty drawing of this width and height.
    pub(super) fn new((width, height): (f64, f64)) -> Self {
        Self {
            width,
            height,
            items: Vec::new(),
            layer: Layer::Fixed,
            groups: 0,
            reading: String::new(),
        }
    }

    /// Adds an item to the present layer.
    pub(super) fn push(&mut self, item: Item) {
        self.items.push((self.layer, item));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, width: f64) {
        self.push(Item::Stroke(Stroke {
            path: vec![from, to],
            colour,
            width,
            dashes: Vec::new(),
            percent: 100,
        }));
    }

    pub(super) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.push(Item::Text(Label {
            at,
            size,
            anchor,
            upward: false,
            text: text.to_owned(),
        }));
    }

    pub(super) fn text_upward(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.push(Item::Text(Label {
            at,
            size,
            anchor,
            upward: true,
            text: text.to_owned(),
        }));
    }

    pub(super) fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        self.push(Item::Fill(Fill {
            path: vec![from, (to.0, from.1), to, (from.0, to.1)],
            colour,
            percent: 100,
        }));
    }
}
