//! Figures for papers: the formats, their sizes and their texts.

#[path = "support/run.rs"]
mod run;

use report::{Figure, FigureSize, Format};
use run::{Temporary, Wanted, incast};

fn figures(name: &str) -> Vec<Figure> {
    let temporary = Temporary::new(name);
    let wanted = Wanted {
        sets: &["workload.senders=4,8", "workload.jitter=100us"],
        seeds: 2,
        trace: Some("queue,cwnd,events"),
        ..Wanted::default()
    };
    let folder = incast(&temporary.0.join("run"), &wanted);
    report::figures(&folder).expect("a report of a test is whole")
}

/// The texts of an SVG file, read as a viewer reads it.
fn texts(svg: &[u8]) -> (usvg::Tree, Vec<String>) {
    let mut options = usvg::Options::default();
    options
        .fontdb_mut()
        .load_font_data(dejavu::sans::regular().to_vec());
    let tree = usvg::Tree::from_data(svg, &options).expect("a report of a test is whole");
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    (tree, found)
}

fn collect(group: &usvg::Group, found: &mut Vec<String>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(group) => collect(group, found),
            usvg::Node::Text(text) => {
                found.extend(text.chunks().iter().map(|chunk| chunk.text().to_owned()));
            }
            _ => {}
        }
    }
}

#[test]
fn every_figure_is_an_svg_file_whose_text_is_inside() {
    let size = FigureSize::default();
    for figure in figures("plot-svg") {
        let svg = report::draw(&figure, size, Format::Svg);
        let (tree, texts) = texts(&svg);
        let (width, height) = (tree.size().width(), tree.size().height());
        // Viewers show 96 pixels to the inch.
        assert!(
            (f64::from(width) - 8.5 / 2.54 * 96.0).abs() < 0.1,
            "{width}"
        );
        assert!(
            (f64::from(height) - 6.0 / 2.54 * 96.0).abs() < 0.1,
            "{height}"
        );
        for title in [figure.x.title(), figure.y.title()] {
            assert!(
                title.is_empty() || texts.contains(&title),
                "{title}: {texts:?}"
            );
        }
        let inside = tree.root().abs_bounding_box();
        let name = &figure.name;
        assert!(
            inside.left() >= 0.0 && inside.right() <= width,
            "{name}: {inside:?}"
        );
        assert!(
            inside.top() >= 0.0 && inside.bottom() <= height,
            "{name}: {inside:?}"
        );
    }
}

#[test]
fn a_legend_names_every_scheme() {
    let figures = figures("plot-legend");
    let figure = figures
        .iter()
        .find(|figure| figure.name == "fct-99th-percentile");
    let svg = report::draw(figure.unwrap(), FigureSize::default(), Format::Svg);
    let (_, texts) = texts(&svg);
    for scheme in ["newreno", "dctcp", "rcc"] {
        assert!(texts.iter().any(|text| text == scheme), "{texts:?}");
    }
}

#[test]
fn a_png_file_has_300_dots_per_inch() {
    let figures = figures("plot-png");
    let png = report::draw(&figures[0], FigureSize::default(), Format::Png);
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    // 8.5 cm and 6 cm are 1003.9 and 708.7 dots.
    assert_eq!((number(16), number(20)), (1004, 709));
}

#[test]
fn a_pdf_file_has_its_size_and_its_font() {
    let figures = figures("plot-pdf");
    let pdf = report::draw(&figures[0], FigureSize::default(), Format::Pdf);
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-1."));
    assert!(
        text.contains("/MediaBox [0 0 240.94") && text.contains("170.07"),
        "{text}"
    );
    assert!(text.contains("/FontFile2"));
    assert!(pdf.len() < 60_000, "{}", pdf.len());
}

#[test]
fn a_figure_is_the_same_every_time() {
    let (first, second) = (figures("plot-first"), figures("plot-second"));
    assert_eq!(first, second);
    for format in [Format::Svg, Format::Png, Format::Pdf] {
        let draw = |figures: &[Figure]| report::draw(&figures[0], FigureSize::default(), format);
        assert_eq!(draw(&first), draw(&second), "{format:?}");
    }
}

#[test]
fn a_name_without_a_known_ending_is_refused() {
    let figures = figures("plot-ending");
    let refused = report::save(&figures[0], FigureSize::default(), "figure.gif".as_ref());
    assert!(refused.unwrap_err().to_string().contains("no format"));
}
