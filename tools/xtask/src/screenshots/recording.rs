//! The theatre of a report as an animated picture.
//!
//! It is an animated PNG: browsers and GitHub show it, it is sharp, and a Rust crate can write it. A frame holds only
//! the pixels that have changed since the previous frame; there are 255 colours.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Cursor};
use std::path::Path;
use std::process::Command;

use super::browser::{CHROMIUM, PATIENCE, option};
use crate::repository::{Failure, stdout};

/// Records the theatre of the report in `run`, below `folder`, into `picture`.
pub(super) fn record(
    chromium: &str,
    folder: &Path,
    run: &str,
    picture: &Path,
) -> Result<(), Failure> {
    let report = folder.join(run).join("report.html");
    let page =
        fs::read_to_string(&report).map_err(|error| Failure::file("read", &report, &error))?;
    let script = format!("<script>{}</script></body>", include_str!("recording.js"));
    let played = folder.join("played.html");
    fs::write(&played, page.replace("</body>", &script))
        .map_err(|error| Failure::file("write", &played, &error))?;
    let mut command = Command::new(chromium);
    command
        .args(CHROMIUM)
        .args([PATIENCE, "--dump-dom", "--window-size=1000,900"]);
    command.arg(option("--user-data-dir", &folder.join("profile")));
    command.arg(option("file", &played).replacen('=', "://", 1));
    let page = stdout(&mut command)?;
    let frames = page.split("<pre id=\"frames\">").nth(1);
    let frames = frames.and_then(|frames| frames.split("</pre>").next());
    let frames = frames.ok_or_else(|| Failure("the theatre was not played".to_owned()))?;
    let frames: Result<Vec<Frame>, Failure> = frames.split_whitespace().map(frame).collect();
    write(&frames?, picture)
}

/// A picture of RGB pixels.
struct Frame {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
}

/// Reads a base64 PNG, drawn on white.
fn frame(text: &str) -> Result<Frame, Failure> {
    use base64::Engine as _;
    let wrong = |error: &dyn std::fmt::Display| Failure(format!("a frame is no picture: {error}"));
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    let bytes = bytes.map_err(|error| wrong(&error))?;
    let decoder = png::Decoder::new(Cursor::new(bytes));
    let mut reader = decoder.read_info().map_err(|error| wrong(&error))?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| wrong(&"it is too large"))?;
    let mut buffer = vec![0; size];
    let info = reader
        .next_frame(&mut buffer)
        .map_err(|error| wrong(&error))?;
    if info.color_type != png::ColorType::Rgba {
        return Err(wrong(&"it has other colours"));
    }
    let pixels = buffer[..info.buffer_size()].chunks_exact(4).map(|pixel| {
        let on_white = |channel: u8| {
            let alpha = u16::from(pixel[3]);
            // Three bits fewer, which is not visible.
            let mixed = (u16::from(channel) * alpha + 255 * (255 - alpha)) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX) | 7
        };
        [on_white(pixel[0]), on_white(pixel[1]), on_white(pixel[2])]
    });
    Ok(Frame {
        width: info.width,
        height: info.height,
        pixels: pixels.collect(),
    })
}

/// Writes frames of one size, a tenth of a second apart, in an endless loop.
fn write(frames: &[Frame], picture: &Path) -> Result<(), Failure> {
    let Some(first) = frames.first() else {
        return Err(Failure("the theatre has no frames".to_owned()));
    };
    let palette = palette(frames);
    let failed = |error: png::EncodingError| Failure(format!("{}: {error}", picture.display()));
    let file =
        fs::File::create(picture).map_err(|error| Failure::file("write", picture, &error))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), first.width, first.height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut colours: Vec<u8> = palette.concat();
    colours.resize(3 * 256, 0);
    encoder.set_palette(colours);
    let mut opaque = vec![255; 256];
    opaque[usize::from(SAME)] = 0;
    encoder.set_trns(opaque);
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
    encoder.set_animated(count, 0).map_err(failed)?;
    encoder.set_frame_delay(1, 10).map_err(failed)?;
    encoder.set_blend_op(png::BlendOp::Over).map_err(failed)?;
    let mut writer = encoder.write_header().map_err(failed)?;
    let mut known = BTreeMap::new();
    let mut before: Vec<u8> = Vec::new();
    for frame in frames {
        let pixels = frame.pixels.iter();
        let indexed: Vec<u8> = pixels
            .map(|pixel| {
                *known
                    .entry(*pixel)
                    .or_insert_with(|| nearest(&palette, *pixel))
            })
            .collect();
        let changed: Vec<u8> = if before.is_empty() {
            indexed.clone()
        } else {
            let both = indexed.iter().zip(&before);
            both.map(|(now, then)| if now == then { SAME } else { *now })
                .collect()
        };
        writer.write_image_data(&changed).map_err(failed)?;
        before = indexed;
    }
    writer.finish().map_err(failed)
}

/// The most frequent colours of pixels.
fn palette(frames: &[Frame]) -> Vec<[u8; 3]> {
    let mut counts: BTreeMap<[u8; 3], u64> = BTreeMap::new();
    for pixel in frames.iter().flat_map(|frame| &frame.pixels) {
        *counts.entry(*pixel).or_default() += 1;
    }
    let mut colours: Vec<([u8; 3], u64)> = counts.into_iter().collect();
    colours.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    colours.truncate(usize::from(SAME));
    colours.into_iter().map(|(colour, _)| colour).collect()
}

/// The index of the colour nearest to `pixel`.
fn nearest(palette: &[[u8; 3]], pixel: [u8; 3]) -> u8 {
    let far = |colour: &[u8; 3]| -> u32 {
        let channels = colour.iter().zip(pixel);
        channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let places = (0..).zip(palette);
    let best = places.min_by_key(|(_, colour)| far(colour));
    best.map_or(0, |(place, _)| place)
}

/// The colour index of an unchanged pixel.
const SAME: u8 = 255;
