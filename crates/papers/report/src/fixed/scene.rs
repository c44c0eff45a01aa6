//! What a chart is drawn of. All lengths are in points, 1/72 inch; y grows downwards.

/// Red, green and blue.
pub(super) type Colour = (u8, u8, u8);

/// A drawing.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<Item>,
    /// What a page says of the place under the pointer, as JSON; empty where it says nothing.
    pub(super) reading: String,
}

/// A part of a drawing; later ones lie over earlier ones.
#[derive(Debug)]
pub(super) enum Item {
    /// A line along points.
    Stroke {
        path: Vec<(f64, f64)>,
        colour: Colour,
        width: f64,
        /// Strokes and gaps; empty for a solid line.
        dashes: Vec<f64>,
        /// How opaque it is.
        percent: u8,
    },
    /// A polygon.
    Fill {
        path: Vec<(f64, f64)>,
        colour: Colour,
        /// How opaque it is.
        percent: u8,
    },
    /// A line of text.
    Text {
        /// Where its anchor stands on the base line.
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        /// Written upwards.
        upward: bool,
        text: String,
    },
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

impl Scene {
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour, width: f64) {
        self.items.push(Item::Stroke {
            path: vec![from, to],
            colour,
            width,
            dashes: Vec::new(),
            percent: 100,
        });
    }

    pub(super) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.items.push(Item::Text {
            at,
            size,
            anchor,
            upward: false,
            text: text.to_owned(),
        });
    }

    pub(super) fn text_upward(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.items.push(Item::Text {
            at,
            size,
            anchor,
            upward: true,
            text: text.to_owned(),
        });
    }

    pub(super) fn rectangle(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        self.items.push(Item::Fill {
            path: vec![from, (to.0, from.1), to, (from.0, to.1)],
            colour,
            percent: 100,
        });
    }
}
