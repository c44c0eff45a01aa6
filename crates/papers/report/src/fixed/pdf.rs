//! A drawing as PDF, with text as text in an embedded font.

use std::collections::BTreeMap;

use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use subsetter::GlyphRemapper;

use super::font;
use super::scene::{Colour, Fill, INK, Item, Label, Scene, Stroke};
use base::cast::single;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const CID_FONT: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const FONT_FILE: Ref = Ref::new(8);
const TO_UNICODE: Ref = Ref::new(9);
const INFO: Ref = Ref::new(10);
const FIRST_STATE: i32 = 11;

/// The name of the font on the page.
const TEXT: Name<'static> = Name(b"F");

/// The file.
pub(super) fn write(scene: &Scene, title: &str) -> Vec<u8> {
    let glyphs = Glyphs::of(scene);
    let opacities = opacities(scene);
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    pdf.document_info(INFO).title(TextStr(title));
    let (width, height) = (single(scene.width), single(scene.height));
    let mut page = pdf.page(PAGE);
    page.parent(PAGES);
    page.media_box(Rect::new(0.0, 0.0, width, height));
    page.contents(CONTENT);
    let mut resources = page.resources();
    resources.fonts().pair(TEXT, FONT);
    let mut states = resources.ext_g_states();
    for (name, id, _) in &opacities {
        states.pair(Name(name.as_bytes()), *id);
    }
    states.finish();
    resources.finish();
    page.finish();
    for (_, id, percent) in &opacities {
        let mut state = pdf.ext_graphics(*id);
        state
            .stroking_alpha(f32::from(*percent) / 100.0)
            .non_stroking_alpha(f32::from(*percent) / 100.0);
    }
    let content = content(scene, &glyphs, &opacities);
    let content = compress_to_vec_zlib(&content, LEVEL);
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    glyphs.embed(&mut pdf);
    pdf.finish()
}

/// The degrees of translucency of a drawing, each with its name and its object.
fn opacities(scene: &Scene) -> Vec<(String, Ref, u8)> {
    let mut opacities: Vec<(String, Ref, u8)> = Vec::new();
    for (_, item) in &scene.items {
        let (Item::Stroke(Stroke { percent, .. }) | Item::Fill(Fill { percent, .. })) = item else {
            continue;
        };
        if !opacities.iter().any(|(_, _, known)| known == percent) {
            let number = i32::try_from(opacities.len()).expect("a drawing has few opacities");
            let id = Ref::new(FIRST_STATE + number);
            opacities.push((format!("G{number}"), id, *percent));
        }
    }
    opacities
}

fn content(scene: &Scene, glyphs: &Glyphs, opacities: &[(String, Ref, u8)]) -> Vec<u8> {
    let mut content = Content::new();
    // In PDF y grows upwards.
    let place = |(x, y): (f64, f64)| (single(x), single(scene.height - y));
    let set_opacity = |content: &mut Content, percent: u8| {
        let state = opacities.iter().find(|(_, _, known)| *known == percent);
        if let Some((name, _, _)) = state {
            content.set_parameters(Name(name.as_bytes()));
        }
    };
    content.set_line_join(LineJoinStyle::RoundJoin);
    for (_, item) in &scene.items {
        match item {
            Item::Stroke(stroke) => {
                let (red, green, blue) = shares(stroke.colour);
                set_opacity(&mut content, stroke.percent);
                content
                    .set_stroke_rgb(red, green, blue)
                    .set_line_width(single(stroke.width));
                content.set_dash_pattern(stroke.dashes.iter().map(|dash| single(*dash)), 0.0);
                trace(&mut content, &stroke.path, place);
                content.stroke();
            }
            Item::Fill(fill) => {
                let (red, green, blue) = shares(fill.colour);
                set_opacity(&mut content, fill.percent);
                content.set_fill_rgb(red, green, blue);
                trace(&mut content, &fill.path, place);
                content.close_path().fill_nonzero();
            }
            Item::Text(label) => {
                let before = label.anchor.share() * font::width(&label.text, label.size);
                let start = if label.upward {
                    (label.at.0, label.at.1 + before)
                } else {
                    (label.at.0 - before, label.at.1)
                };
                let (x, y) = place(start);
                let (red, green, blue) = shares(INK);
                content.set_fill_rgb(red, green, blue);
                content.begin_text().set_font(TEXT, single(label.size));
                let matrix = if label.upward {
                    [0.0, 1.0, -1.0, 0.0, x, y]
                } else {
                    [1.0, 0.0, 0.0, 1.0, x, y]
                };
                content
                    .set_text_matrix(matrix)
                    .show(Str(&glyphs.encode(&label.text)))
                    .end_text();
            }
        }
    }
    content.finish().into_vec()
}

fn trace(content: &mut Content, path: &[(f64, f64)], place: impl Fn((f64, f64)) -> (f32, f32)) {
    for (index, point) in path.iter().enumerate() {
        let (x, y) = place(*point);
        if index == 0 {
            content.move_to(x, y);
        } else {
            content.line_to(x, y);
        }
    }
}

/// The letters of a drawing and their numbers in the embedded part of the font.
struct Glyphs {
    letters: BTreeMap<char, u16>,
    remapper: GlyphRemapper,
}

impl Glyphs {
    fn of(scene: &Scene) -> Self {
        let mut remapper = GlyphRemapper::new();
        let mut letters = BTreeMap::new();
        for (_, item) in &scene.items {
            if let Item::Text(Label { text, .. }) = item {
                for letter in text.chars() {
                    letters.insert(letter, remapper.remap(font::glyph(letter).0));
                }
            }
        }
        Self { letters, remapper }
    }

    fn encode(&self, text: &str) -> Vec<u8> {
        text.chars()
            .flat_map(|letter| self.letters[&letter].to_be_bytes())
            .collect()
    }

    /// Writes the font: PDF 32000-1:2008, 9.7 and 9.8.
    fn embed(&self, pdf: &mut Pdf) {
        let name = Name(b"TAILWR+DejaVuSans");
        let system_info = SystemInfo {
            registry: Str(b"Adobe"),
            ordering: Str(b"Identity"),
            supplement: 0,
        };
        pdf.type0_font(FONT)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(CID_FONT)
            .to_unicode(TO_UNICODE);
        let mut font = pdf.cid_font(CID_FONT);
        font.subtype(CidFontType::Type2)
            .base_font(name)
            .system_info(system_info);
        font.font_descriptor(DESCRIPTOR).default_width(0.0);
        font.cid_to_gid_map_predefined(Name(b"Identity"));
        let glyphs = self.remapper.remapped_gids();
        let widths = glyphs.map(|old| single(1000.0 * font::advance(ttf_parser::GlyphId(old))));
        font.widths().consecutive(0, widths);
        font.finish();
        let face = font::face();
        let units = |value: i16| 1000.0 * f32::from(value) / f32::from(face.units_per_em());
        let bounds = face.global_bounding_box();
        pdf.font_descriptor(DESCRIPTOR)
            .name(name)
            .flags(FontFlags::NON_SYMBOLIC)
            .bbox(Rect::new(
                units(bounds.x_min),
                units(bounds.y_min),
                units(bounds.x_max),
                units(bounds.y_max),
            ))
            .italic_angle(0.0)
            .ascent(units(face.ascender()))
            .descent(units(face.descender()))
            .cap_height(units(face.capital_height().unwrap_or(face.ascender())))
            .stem_v(80.0)
            .font_file2(FONT_FILE);
        let file = subsetter::subset(font::bytes(), 0, &self.remapper);
        let file = file.expect("the font of the program can be subset");
        let length = i32::try_from(file.len()).expect("a font is small");
        let packed = compress_to_vec_zlib(&file, LEVEL);
        let mut stream = pdf.stream(FONT_FILE, &packed);
        stream
            .filter(Filter::FlateDecode)
            .pair(Name(b"Length1"), length);
        stream.finish();
        let mut map = UnicodeCmap::new(Name(b"Custom"), system_info);
        for (letter, glyph) in &self.letters {
            map.pair(*glyph, *letter);
        }
        pdf.cmap(TO_UNICODE, &map.finish());
    }
}

fn shares((red, green, blue): Colour) -> (f32, f32, f32) {
    let share = |part: u8| f32::from(part) / 255.0;
    (share(red), share(green), share(blue))
}

/// The level of compression: the usual compromise.
const LEVEL: u8 = 6;
