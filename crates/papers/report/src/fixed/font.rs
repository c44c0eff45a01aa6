//! The font of figures.

mod widths;

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

use widths::{RANGES, UNITS_PER_EM};

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
    let units: u32 = text.chars().map(letter).sum();
    f64::from(units) / f64::from(UNITS_PER_EM) * size
}

/// The width of a letter in units of the font.
fn letter(letter: char) -> u32 {
    let width = RANGES.iter().find_map(|(first, widths)| {
        let place = u32::from(letter).checked_sub(u32::from(*first))?;
        widths.get(place as usize)
    });
    u32::from(width.copied().unwrap_or_else(|| rare(letter)))
}

/// The width of a letter that is not in the table.
#[cfg(not(target_family = "wasm"))]
fn rare(letter: char) -> u16 {
    face().glyph_hor_advance(glyph(letter)).unwrap_or(0)
}

/// A page does not carry the font.
#[cfg(target_family = "wasm")]
const fn rare(_letter: char) -> u16 {
    widths::MISSING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_widths_is_that_of_the_font() {
        assert_eq!(face().units_per_em(), UNITS_PER_EM);
        assert_eq!(face().glyph_hor_advance(GlyphId(0)), Some(widths::MISSING));
        for (first, widths) in RANGES {
            for (letter, width) in (u32::from(first)..).zip(widths) {
                let letter = char::from_u32(letter).expect("ranges are of letters");
                assert_eq!(
                    face().glyph_hor_advance(glyph(letter)),
                    Some(*width),
                    "{letter:?}"
                );
            }
        }
    }
}
