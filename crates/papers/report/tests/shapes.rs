//! The shapes that figures of papers are made of, drawn from numbers that are known.

use report::{Axis, Cells, Figure, FigureSize, Format, PlotLine, PlotPoint, Shape, Style};

/// A figure of one line, on axes from 0 to 10.
fn figure(shape: Shape, points: Vec<PlotPoint>) -> Figure {
    let axis = |label: &str| Axis {
        range: Some((0.0, 10.0)),
        ..Axis::new(label, "")
    };
    Figure {
        name: "shape".into(),
        chart: "shape".into(),
        choice: String::new(),
        title: "A shape".into(),
        caption: String::new(),
        x: axis("x"),
        y: axis("y"),
        lines: vec![PlotLine {
            label: "measured".into(),
            style: Style {
                slot: 1,
                dash: 0,
                open: false,
            },
            shape,
            points,
        }],
    }
}

/// The figure as a tree of paths.
fn drawn(figure: &Figure) -> usvg::Tree {
    let svg = report::draw(figure, FigureSize::default(), Format::Svg);
    let mut options = usvg::Options::default();
    options
        .fontdb_mut()
        .load_font_data(dejavu::sans::regular().to_vec());
    usvg::Tree::from_data(&svg, &options).expect("a figure of a test is whole")
}

/// The boxes around all paths of this colour but for the sample in the legend: left, top, right and
/// bottom in pixels.
fn boxes(tree: &usvg::Tree, colour: (u8, u8, u8)) -> Vec<[f32; 4]> {
    let mut found = Vec::new();
    collect(tree.root(), colour, &mut found);
    let legend_ends = 20.0;
    found.retain(|edges| edges[3] > legend_ends);
    found
}

fn collect(group: &usvg::Group, colour: (u8, u8, u8), found: &mut Vec<[f32; 4]>) {
    for node in group.children() {
        match node {
            usvg::Node::Group(group) => collect(group, colour, found),
            usvg::Node::Path(path) => {
                let paint = path.stroke().map(usvg::Stroke::paint);
                let paint = paint.or_else(|| path.fill().map(usvg::Fill::paint));
                if let Some(usvg::Paint::Color(own)) = paint
                    && (own.red, own.green, own.blue) == colour
                {
                    let edges = path.abs_bounding_box();
                    found.push([edges.left(), edges.top(), edges.right(), edges.bottom()]);
                }
            }
            _ => {}
        }
    }
}

/// Left, top, right and bottom of the axes: the grid spans them.
fn frame(tree: &usvg::Tree) -> [f32; 4] {
    let lines = boxes(tree, (0xdd, 0xdd, 0xdd));
    lines.iter().fold(
        [f32::MAX, f32::MAX, f32::MIN, f32::MIN],
        |all, [left, top, right, bottom]| {
            [
                all[0].min(*left),
                all[1].min(*top),
                all[2].max(*right),
                all[3].max(*bottom),
            ]
        },
    )
}

/// The second colour of the palette.
const OWN: (u8, u8, u8) = (0xD5, 0x5E, 0x00);
const INK: (u8, u8, u8) = (0x22, 0x22, 0x22);

#[test]
fn a_range_spans_its_percentiles() {
    let point = PlotPoint {
        x: 5.0,
        y: 4.0,
        interval: Some((1.0, 9.0)),
        inner: Some((3.0, 6.0)),
    };
    let tree = drawn(&figure(Shape::Ranges, vec![point]));
    let [_, top, _, bottom] = frame(&tree);
    let height = |value: f32| bottom - value / 10.0 * (bottom - top);
    let drawn = boxes(&tree, OWN);
    for (low, high) in [(1.0, 9.0), (3.0, 6.0)] {
        let spans = |edges: &&[f32; 4]| {
            (edges[1] - height(high)).abs() < 0.1 && (edges[3] - height(low)).abs() < 0.1
        };
        assert!(drawn.iter().any(|edges| spans(&edges)), "{drawn:?}");
    }
}

#[test]
fn bars_begin_at_zero_where_the_axis_begins_below() {
    let points = vec![PlotPoint::new(3.0, 4.0), PlotPoint::new(7.0, -5.0)];
    let mut figure = figure(Shape::Bars(1.0), points);
    figure.y.range = Some((-10.0, 10.0));
    let tree = drawn(&figure);
    let [_, top, _, bottom] = frame(&tree);
    let height = |value: f32| bottom - (value + 10.0) / 20.0 * (bottom - top);
    let drawn = boxes(&tree, OWN);
    assert_eq!(drawn.len(), 2, "{drawn:?}");
    for (edges, (low, high)) in drawn.iter().zip([(0.0, 4.0), (-5.0, 0.0)]) {
        let spans = (edges[1] - height(high)).abs() < 0.1 && (edges[3] - height(low)).abs() < 0.1;
        assert!(spans, "{edges:?}");
    }
}

#[test]
fn an_equation_is_a_dashed_line_in_the_colour_of_text() {
    let points = vec![PlotPoint::new(0.0, 0.0), PlotPoint::new(10.0, 10.0)];
    let figure = figure(Shape::Model, points);
    let tree = drawn(&figure);
    assert!(boxes(&tree, OWN).is_empty());
    let [left, top, right, bottom] = frame(&tree);
    let found = boxes(&tree, INK).into_iter().any(|edges| {
        let whole = [left, top, right, bottom].into_iter().zip(edges);
        whole.into_iter().all(|(a, b)| (a - b).abs() < 0.1)
    });
    assert!(found, "{:?}", boxes(&tree, INK));
    let svg = report::draw(&figure, FigureSize::default(), Format::Svg);
    assert!(String::from_utf8_lossy(&svg).contains("stroke-dasharray"));
}

#[test]
fn nothing_is_drawn_beyond_chosen_axes() {
    let beyond = |x: f64, y: f64| PlotPoint {
        x,
        y,
        interval: Some((y - 30.0, y + 30.0)),
        inner: None,
    };
    let points = || {
        [(-20.0, 5.0), (5.0, 30.0), (30.0, 5.0), (5.0, -20.0)]
            .map(|(x, y)| beyond(x, y))
            .to_vec()
    };
    for shape in [Shape::Joined, Shape::Step, Shape::Bars(1.0), Shape::Ranges] {
        let mut figure = figure(shape, points());
        if !matches!(shape, Shape::Joined | Shape::Step) {
            figure.lines[0]
                .points
                .retain(|point| point.x > 0.0 && point.x < 10.0);
        }
        let tree = drawn(&figure);
        let [left, top, right, bottom] = frame(&tree);
        for edges in boxes(&tree, OWN) {
            assert!(
                edges[0] > left - 0.5
                    && edges[1] > top - 0.5
                    && edges[2] < right + 0.5
                    && edges[3] < bottom + 0.5,
                "{shape:?}: {edges:?} in {:?}",
                [left, top, right, bottom]
            );
        }
    }
}

#[test]
fn the_least_bar_of_a_logarithmic_axis_has_a_height() {
    let mut figure = figure(
        Shape::Bars(0.5),
        vec![PlotPoint::new(2.0, 3.0), PlotPoint::new(5.0, 300.0)],
    );
    figure.y.log = true;
    figure.y.range = None;
    let bars = boxes(&drawn(&figure), OWN);
    assert_eq!(bars.len(), 2);
    for bar in bars {
        assert!(bar[3] - bar[1] > 5.0, "{bar:?}");
    }
}

#[test]
fn a_curve_has_no_markers() {
    let points = vec![PlotPoint::new(1.0, 1.0), PlotPoint::new(9.0, 9.0)];
    let own = |shape| boxes(&drawn(&figure(shape, points.clone())), OWN);
    // One path in the plot; with markers there are two more.
    let (curve, joined) = (own(Shape::Curve), own(Shape::Joined));
    assert_eq!(joined.len(), curve.len() + 2, "{curve:?} {joined:?}");
}

#[test]
fn cells_of_a_map_touch_and_stay_within_the_axes() {
    let cells = Cells {
        x: 2.5,
        y: 5.0,
        percent: 60,
    };
    // Two of them side by side fill the plot, and a third lies beyond it.
    let points = [2.5, 7.5, 12.5].map(|x| PlotPoint::new(x, 5.0)).to_vec();
    let tree = drawn(&figure(Shape::Cells(cells), points));
    let [left, top, right, bottom] = frame(&tree);
    let found = boxes(&tree, OWN);
    let middle = f32::midpoint(left, right);
    for expected in [[left, top, middle, bottom], [middle, top, right, bottom]] {
        let is_it = |edges: &[f32; 4]| edges.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.1);
        assert!(found.iter().any(is_it), "{found:?}");
    }
    assert!(
        found.iter().all(|edges| edges[2] < right + 0.1),
        "{found:?}"
    );
}

#[test]
fn a_logarithmic_map_has_cells_of_equal_factors() {
    let cells = Cells {
        x: 10.0_f64.sqrt(),
        y: 5.0,
        percent: 100,
    };
    let mut figure = figure(
        Shape::Cells(cells),
        vec![PlotPoint::new(10.0_f64.sqrt(), 5.0)],
    );
    figure.x.log = true;
    figure.x.range = Some((1.0, 100.0));
    let tree = drawn(&figure);
    let [left, _, right, _] = frame(&tree);
    let middle = f32::midpoint(left, right);
    let found = boxes(&tree, OWN);
    let is_it =
        |edges: &&[f32; 4]| (edges[0] - left).abs() < 0.1 && (edges[2] - middle).abs() < 0.1;
    assert!(found.iter().any(|edges| is_it(&edges)), "{found:?}");
}

#[test]
fn a_legend_leaves_three_quarters_of_the_height_to_the_data() {
    let mut figure = figure(
        Shape::Joined,
        vec![PlotPoint::new(1.0, 1.0), PlotPoint::new(9.0, 9.0)],
    );
    let line = figure.lines[0].clone();
    figure.lines = (0..60)
        .map(|number| PlotLine {
            label: format!("a scheme with a long name {number}"),
            ..line.clone()
        })
        .collect();
    let svg = report::draw(&figure, FigureSize::default(), Format::Svg);
    let svg = String::from_utf8(svg).expect("text");
    let named = svg.matches("a scheme with a long name").count();
    assert!((2..12).contains(&named), "{named}");
    assert!(svg.contains(&format!("and {} more", 60 - named)), "{svg}");
}

#[test]
fn a_value_on_an_axis_may_have_a_unit_of_its_kind() {
    let axis = Axis::new("Completion time", "ms");
    assert_eq!(axis.value("10"), Some(10.0));
    assert_eq!(axis.value("2s"), Some(2000.0));
    assert_eq!(axis.value("500us"), Some(0.5));
    assert_eq!(axis.value("10KB"), None);
    assert_eq!(Axis::new("Goodput", "Mbit/s").value("1Gbps"), Some(1000.0));
}

#[test]
fn intervals_at_the_same_place_stand_side_by_side() {
    let point = |y: f64| PlotPoint {
        x: 5.0,
        y,
        interval: Some((y - 1.0, y + 1.0)),
        ..PlotPoint::default()
    };
    let mut both = figure(Shape::Joined, vec![point(4.0)]);
    let mut other = both.lines[0].clone();
    other.label = "another".into();
    other.style.slot = 2;
    other.points = vec![point(4.5)];
    both.lines.push(other);
    let tree = drawn(&both);
    let whisker = |colour| {
        let boxes = boxes(&tree, colour).into_iter();
        // The tallest upright line.
        let upright = boxes.filter(|edges| edges[2] - edges[0] < 1.0);
        let tallest = upright.max_by(|a, b| (a[3] - a[1]).total_cmp(&(b[3] - b[1])));
        tallest.expect("a whisker")[0]
    };
    let apart = whisker((0x00, 0x9E, 0x73)) - whisker(OWN);
    assert!(apart > 1.5, "{apart}");
}

#[test]
fn the_name_of_a_goal_stands_beside_bars_and_not_on_them() {
    let mut bars = figure(Shape::Bars(0.6), vec![PlotPoint::new(0.0, 9.0)]);
    bars.x.range = None;
    bars.x.categories = vec!["newreno".into()];
    bars.lines.push(PlotLine {
        label: "goal < 5 ms".into(),
        shape: Shape::Limit,
        points: vec![PlotPoint::new(0.0, 5.0)],
        ..bars.lines[0].clone()
    });
    let svg = report::draw(&bars, FigureSize::default(), Format::Svg);
    let svg = String::from_utf8(svg).expect("text");
    let text = svg
        .lines()
        .find(|line| line.contains("goal &lt; 5 ms"))
        .expect("the goal");
    let x: f32 = text
        .split("x=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next()?.parse().ok())
        .expect("a place");
    // In points, as the drawing has them; a tree of paths has pixels.
    let right = frame(&drawn(&bars))[2] * 72.0 / 96.0;
    assert!(
        x > right && text.contains("text-anchor=\"start\""),
        "{text} beyond {right}"
    );
}

#[test]
fn places_of_a_group_share_its_name() {
    let mut bars = figure(
        Shape::Bars(0.6),
        (0..4).map(|x| PlotPoint::new(f64::from(x), 5.0)).collect(),
    );
    bars.x.range = None;
    bars.x.categories = ["10 newreno", "10 dctcp", "60 newreno", "60 dctcp"]
        .map(str::to_owned)
        .into();
    bars.x.short = ["newreno", "dctcp", "newreno", "dctcp"]
        .map(str::to_owned)
        .into();
    bars.x.groups = vec![("10".into(), 2), ("60".into(), 2)];
    let svg = report::draw(&bars, FigureSize::default(), Format::Svg);
    let svg = String::from_utf8(svg).expect("text");
    let count = |text: &str| svg.matches(&format!(">{text}</text>")).count();
    assert_eq!(
        [
            count("newreno"),
            count("dctcp"),
            count("60"),
            count("60 dctcp")
        ],
        [2, 2, 1, 0]
    );
    assert!(
        !svg.contains("rotate(-90 ") || svg.matches("rotate(-90 ").count() == 1,
        "only the axis: {svg}"
    );
}
