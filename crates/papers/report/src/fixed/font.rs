//! The font of figures.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// The file of the font.
pub(super) fn bytes() -> &'static [u8] {
    dejavu::sans::regular()
}

/// The font, read.
pub(super) fn face() -> &'static Face<'static> {
    static FACE: LazyLock<Face<'static>> =
        LazyLock::new(|| Face::parse(bytes(), 0).expect("the font of the program is a font"));
    &FACE
}

/// The glyph of a letter; the box of the missing glyph if the font lacks it.
pub(super) fn glyph(letter: char) -> GlyphId {
    face().glyph_index(letter).unwrap_or(GlyphId(0))
}

/// The width of a glyph as a share of the size.
pub(super) fn advance(glyph: GlyphId) -> f64 {
    let units = face().glyph_hor_advance(glyph).unwrap_or(0);
    f64::from(units) / f64::from(face().units_per_em())
}

/// The width of a text.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars()
        .map(|letter| advance(glyph(letter)))
        .sum::<f64>()
        * size
}
