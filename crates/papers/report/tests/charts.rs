//! Charts of a page under a pointer, under keys and on a phone.

#[path = "support/browser.rs"]
mod browser;

use std::fs;
use std::path::PathBuf;

use browser::{SCROLLED, told};
use report::{Axis, Cells, EventMark, Figure, ModelPage, PlotLine, PlotPoint, Shape, Style};

/// A figure of one line named "line" on axes from 0 to 10.
fn figure(name: &str, shape: Shape, points: &[PlotPoint]) -> Figure {
    let axis = |label: &str, unit: &str| Axis {
        range: Some((0.0, 10.0)),
        ..Axis::new(label, unit)
    };
    Figure {
        name: name.into(),
        chart: name.into(),
        choice: String::new(),
        title: format!("Shape {name}"),
        caption: "As a test has it.".into(),
        x: axis("Time", "ms"),
        y: axis("Queue", "KB"),
        lines: vec![PlotLine {
            label: "line".into(),
            style: Style {
                slot: 1,
                dash: 0,
                open: false,
            },
            shape,
            points: points.to_vec(),
        }],
    }
}

fn points(places: &[(f64, f64)]) -> Vec<PlotPoint> {
    places.iter().map(|(x, y)| PlotPoint::new(*x, *y)).collect()
}

/// A figure of each shape that a line can have.
fn shapes() -> Vec<Figure> {
    let places = points(&[(1.0, 2.0), (5.0, 4.0), (9.0, 6.0)]);
    let mut ranges = places.clone();
    for point in &mut ranges {
        point.interval = Some((point.y - 1.0, point.y + 1.0));
        point.inner = Some((0.0, point.y));
    }
    let cells = Cells {
        x: 1.0,
        y: 1.0,
        percent: 50,
    };
    vec![
        figure("joined", Shape::Joined, &ranges),
        figure("step", Shape::Step, &places),
        figure("faint", Shape::Faint, &places),
        figure("bars", Shape::Bars(1.0), &places),
        figure("spans", Shape::Spans, &places[..2]),
        figure("marks", Shape::Marks(EventMark::Cross), &places),
        figure("ranges", Shape::Ranges, &ranges),
        figure("model", Shape::Model, &places),
        figure("curve", Shape::Curve, &places),
        figure("stack", Shape::Stack(1.0, 80), &ranges),
        figure("cells", Shape::Cells(cells), &places),
    ]
}

/// A folder with the page of a model that has these figures, and the page.
fn page(name: &str, figures: Vec<Figure>) -> (PathBuf, String) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a test makes its folder");
    let model = ModelPage {
        name: "charts".into(),
        figures,
        ..ModelPage::default()
    };
    let file = folder.join("model.html");
    report::write_model(&model, &file).expect("a page of a test is whole");
    let html = fs::read_to_string(file).expect("a page of a test is whole");
    (folder, html)
}

/// Functions for the scripts of tests: the chart with a name, an event at a place of a drawing, and the text that is
/// read there.
const TOOLS: &str = "\
    const chart = (name) => document.querySelector(`#chart-${name} svg[data-reading]`);\n\
    const at = (svg, kind, x, y, more = {}) => {\n\
      const box = svg.getBoundingClientRect();\n\
      const scale = box.width / svg.viewBox.baseVal.width;\n\
      const place = { clientX: box.left + x * scale, clientY: box.top + y * scale };\n\
      svg.dispatchEvent(new PointerEvent(kind, { bubbles: true, ...place, ...more }));\n\
    };\n\
    const read = () => {\n\
      const box = document.querySelector('.reading');\n\
      return box.hidden ? '' : box.textContent.replaceAll('\\n', ' | ');\n\
    };\n\
    const frame = (svg) => JSON.parse(svg.dataset.reading).f;\n\
    // The place of two values between 0 and 10.\n\
    const place = (svg, x, y) => {\n\
      const [left, top, right, bottom] = frame(svg);\n\
      return [left + x / 10 * (right - left), bottom - y / 10 * (bottom - top)];\n\
    };\n\
    const press = (svg, key) => svg.dispatchEvent(new KeyboardEvent('keydown', { key }));\n";

#[test]
fn every_shape_is_read_under_the_pointer() {
    let (folder, html) = page("charts-pointer", shapes());
    let script = format!(
        "{TOOLS} return [...document.querySelectorAll('.drawn')].map((drawn) => {{\n\
           const name = drawn.id.slice(6), svg = chart(name);\n\
           at(svg, 'pointermove', ...place(svg, 5, 4));\n\
           return `${{name}}: ${{read()}}`;\n\
         }}).join(';')"
    );
    let Some(told) = told(&folder, &html, 1000, &script) else {
        return;
    };
    let told: Vec<&str> = told.split(';').collect();
    assert_eq!(told.len(), shapes().len(), "{told:?}");
    for reading in told {
        let (name, text) = reading.split_once(": ").expect("a name and a reading");
        assert!(text.starts_with("line | "), "{reading}");
        match name {
            // From 1 to 5 ms in row 2.
            "spans" => assert!(text.ends_with("flow 2: 1 to 5 ms"), "{reading}"),
            "marks" => assert!(text.ends_with("queue 4: 5 ms"), "{reading}"),
            // The value at 5 ms is 4 KB.
            _ => assert!(text.contains("4 KB") && !text.contains("6 KB"), "{reading}"),
        }
    }
}

#[test]
fn a_drag_zooms_along_the_axis_and_a_double_click_shows_all() {
    let (folder, html) = page("charts-zoom", shapes());
    let script = format!(
        "{TOOLS} const svg = chart('joined');\n\
         const paths = () => [...svg.querySelectorAll('.z path')].map((path) => path.getAttribute('d')).join();\n\
         const names = () => [...svg.querySelectorAll('.x text')].map((text) => text.textContent).join();\n\
         const before = [paths(), names()].join();\n\
         at(svg, 'pointerdown', ...place(svg, 4, 5), {{ button: 0 }});\n\
         at(svg, 'pointermove', ...place(svg, 5, 5));\n\
         at(svg, 'pointerup', ...place(svg, 6, 5));\n\
         const zoomed = names();\n\
         // The point at 5 ms stands in the middle, as before, and that at 9 ms is outside.\n\
         at(svg, 'pointermove', ...place(svg, 5, 4));\n\
         const middle = read();\n\
         at(svg, 'pointermove', ...place(svg, 9, 6));\n\
         const [corner, clip] = [read(), svg.querySelector('.z').getAttribute('clip-path')];\n\
         svg.dispatchEvent(new MouseEvent('dblclick'));\n\
         const same = [paths(), names()].join() === before;\n\
         return [zoomed, middle, corner, clip, same].join(';')"
    );
    let Some(told) = told(&folder, &html, 1000, &script) else {
        return;
    };
    let told: Vec<&str> = told.split(';').collect();
    let [zoomed, middle, corner, clip, same] = told.as_slice() else {
        panic!("{told:?}");
    };
    let names: Vec<f64> = zoomed
        .split(',')
        .map(|name| name.parse().expect("a number"))
        .collect();
    assert!(names.len() > 3, "{zoomed}");
    assert!(
        names.iter().all(|name| (3.9..=6.1).contains(name)),
        "{zoomed}"
    );
    assert!(middle.contains("5 ms time: 4 KB"), "{middle}");
    // Of 4 to 6 ms, nine tenths along is 5.8 ms. A drawing has tenths of a point.
    let time = corner
        .split("Time: ")
        .nth(1)
        .and_then(|text| text.split(' ').next());
    let time: f64 = time.expect("a time").parse().expect("a number");
    assert!((time - 5.8).abs() < 0.02, "{corner}");
    assert!(clip.starts_with("url(#"), "{clip}");
    assert_eq!(*same, "true");
}

#[test]
fn markers_keep_their_shape_when_a_chart_zooms() {
    let (folder, html) = page("charts-markers", shapes());
    let script = format!(
        "{TOOLS} return ['joined', 'ranges', 'marks', 'bars'].map((name) => {{\n\
           const svg = chart(name);\n\
           const path = svg.querySelector('.z path[data-s]') ?? svg.querySelector('.z path');\n\
           at(svg, 'pointermove', ...place(svg, 5, 5));\n\
           const width = () => Math.max(...path.getAttribute('d').split('M').slice(1).map((part) => {{\n\
             const own = document.createElementNS('http://www.w3.org/2000/svg', 'path');\n\
             own.setAttribute('d', `M${{part}}`);\n\
             svg.append(own);\n\
             return own.getBBox().width;\n\
           }}));\n\
           const before = width();\n\
           svg.focus(); press(svg, '+');\n\
           return (width() / before).toFixed(2);\n\
         }}).join(';')"
    );
    let Some(told) = told(&folder, &html, 1000, &script) else {
        return;
    };
    // One step is to 0.6 of the axis: bars stretch to 1 / 0.6.
    assert_eq!(told, "1.00;1.00;1.00;1.67");
}

#[test]
fn keys_move_along_every_chart_and_leave_it() {
    let (folder, html) = page("charts-keys", shapes());
    let script = format!(
        "{TOOLS} return [...document.querySelectorAll('.drawn')].map((drawn) => {{\n\
           const svg = chart(drawn.id.slice(6));\n\
           svg.focus();\n\
           svg.dispatchEvent(new FocusEvent('focus'));\n\
           press(svg, 'Home');\n\
           const first = read();\n\
           press(svg, 'End');\n\
           const last = read();\n\
           press(svg, 'Escape');\n\
           svg.dispatchEvent(new FocusEvent('blur'));\n\
           const left = read() === '' && document.activeElement !== svg && !svg.querySelector('.cursor');\n\
           return [drawn.id, first, last, left].join('#');\n\
         }}).join(';')"
    );
    let Some(told) = told(&folder, &html, 1000, &script) else {
        return;
    };
    for chart in told.split(';') {
        let parts: Vec<&str> = chart.split('#').collect();
        let [name, first, last, left] = parts.as_slice() else {
            panic!("{chart}");
        };
        assert!(!first.is_empty() && !last.is_empty(), "{chart}");
        // The only flow is one stop.
        assert_eq!(first == last, *name == "chart-spans", "{chart}");
        assert_eq!(*left, "true", "{chart}");
    }
}

#[test]
fn a_name_in_the_legend_hides_its_lines() {
    let mut figure = figure("two", Shape::Joined, &points(&[(2.0, 2.0), (8.0, 2.0)]));
    let mut other = figure.lines[0].clone();
    other.label = "other".into();
    other.points = points(&[(2.0, 8.0), (8.0, 8.0)]);
    figure.lines.push(other);
    let (folder, html) = page("charts-legend", vec![figure]);
    let script = format!(
        "{TOOLS} const svg = chart('two');\n\
         const name = [...svg.querySelectorAll('.n')].find((entry) => entry.textContent === 'other');\n\
         const state = () => {{\n\
           at(svg, 'pointermove', ...place(svg, 8, 8));\n\
           return [svg.querySelectorAll('.z > g')[1].style.display, read()].join('#');\n\
         }};\n\
         const click = () => name.dispatchEvent(new MouseEvent('click'));\n\
         const all = [state()];\n\
         click(); all.push(state()); click(); all.push(state());\n\
         return all.join(';')"
    );
    let Some(told) = told(&folder, &html, 1000, &script) else {
        return;
    };
    let states: Vec<&str> = told.split(';').collect();
    assert!(states[0].starts_with("#other | "), "{told}");
    assert!(states[1].starts_with("none#Time: "), "{told}");
    assert_eq!(states[2], states[0]);
}

#[test]
fn a_button_makes_an_axis_logarithmic() {
    let mut figure = figure(
        "curve",
        Shape::Curve,
        &points(&[(1.0, 1.0), (100.0, 1000.0)]),
    );
    (figure.x.range, figure.y.range) = (None, None);
    figure.x.label = "Flows".into();
    let (folder, html) = page("charts-log", vec![figure]);
    let script = format!(
        "{TOOLS} const read_middle = () => {{\n\
           const svg = document.querySelector('.view:not(.away) .panel svg');\n\
           const [left, top, right, bottom] = frame(svg);\n\
           at(svg, 'pointermove', (left + right) / 2, (top + bottom) / 2);\n\
           return read();\n\
         }};\n\
         const all = [read_middle()];\n\
         for (const button of document.querySelectorAll('[data-log]')) {{\n\
           button.click();\n\
           all.push(read_middle());\n\
         }}\n\
         return all.join(';')"
    );
    let Some(told) = told(&folder, &html, 1000, &script) else {
        return;
    };
    let middle: Vec<f64> = told
        .split(';')
        .map(|text| {
            let flows = text.split("Flows: ").nth(1).expect("a value");
            let flows = flows
                .split(" |")
                .next()
                .and_then(|flows| flows.trim_end_matches(" ms").parse().ok());
            flows.expect("a number")
        })
        .collect();
    // From 0 to 100 the middle is 50, and from 1 to 100 on a logarithmic axis 10; the second button is that of y.
    assert_eq!(middle.len(), 3, "{told}");
    assert!((middle[0] - 50.0).abs() < 2.0, "{told}");
    assert!(
        (middle[1] - 10.0).abs() < 0.5 && (middle[2] - 10.0).abs() < 0.5,
        "{told}"
    );
}

#[test]
fn a_page_needs_no_scrolling_sideways_on_a_phone() {
    let (folder, html) = page("charts-phone", shapes());
    if let Some(width) = told(&folder, &html, 390, SCROLLED) {
        assert_eq!(width, "390");
    }
}

#[test]
fn a_drawing_says_in_a_sentence_what_it_shows() {
    let (_folder, html) = page("charts-summary", shapes());
    let said = "aria-label=\"Shape joined. Queue (KB) over Time (ms) from 1 to 9: line 2 to 6.\"";
    assert!(html.contains(said));
    // Parts of bars have the right sizes, wherever they begin.
    let mut parts = figure("parts", Shape::Stack(1.0, 80), &points(&[(1.0, 9.0)]));
    parts.lines[0].points[0].inner = Some((6.0, 9.0));
    let (_folder, other) = page("charts-parts", vec![parts]);
    assert!(other.contains("from 1: line 3.\""));
    assert_eq!(
        html.matches("role=\"img\"").count(),
        html.matches("aria-label=\"Shape ").count()
    );
}
