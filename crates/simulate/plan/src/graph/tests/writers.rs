//! Public files with attribute names of their own, and with missing attributes.

use super::import::{AB, fault, graph, graphml};
use super::*;
use crate::keys::Conflict;

/// A network of two nodes whose link has these fields.
fn pair(fields: &str) -> String {
    format!(
        r#"{{"nodes": [{{"id": 1}}, {{"id": 2}}], "links": [{{"source": 1, "target": 2, {fields}}}]}}"#
    )
}

fn delay_us(text: &str) -> Option<u64> {
    let delay = graph("net.json", text).links()[0].delay;
    delay.map(|delay| delay.as_ps() / 1_000_000)
}

/// The conflicts of a graph with some settings.
fn conflicts(graph: Graph, sets: &[(&str, &str)]) -> Vec<Conflict> {
    let mut keys = keys(sets);
    keys.topology.kind = keys::TopologyKind::Graph;
    keys.topology.graph = GraphChoice(Arc::new(graph));
    keys.conflicts(None)
}

#[test]
fn lengths_have_several_names_and_units_and_become_the_time_of_light_in_fibre() {
    // 1000 km at 199,861.64 km/s.
    for fields in [
        r#""dist": 1000.0"#,
        r#""length": "1000""#,
        r#""distance": 1e3"#,
        r#""length_km": 1000"#,
        r#""dist_km": "1000""#,
        r#""distance_m": 1000000"#,
        r#""Length": "1000 km""#,
        r#""length": "1000000m""#,
        r#""distance": "621.3712 mi""#,
    ] {
        assert_eq!(delay_us(&pair(fields)), Some(5003), "{fields}");
    }
    // A delay takes precedence over a length.
    assert_eq!(
        delay_us(&pair(r#""dist": 1000, "delay_us": 250"#)),
        Some(250)
    );
    for (fields, name) in [
        (r#""dist": -1"#, "dist is \"-1\""),
        (r#""length": 250000"#, "length is \"250000\""),
        (r#""distance_km": "far""#, "distance_km is \"far\""),
    ] {
        let message = fault("net.json", &pair(fields));
        assert!(message.contains(name), "{message}");
        assert!(
            message.contains("which is no length of a link; give kilometres"),
            "{message}"
        );
    }
}

#[test]
fn positions_that_are_degrees_give_delays_and_those_of_a_drawing_do_not() {
    let at = |a: &str, b: &str| {
        let text = format!(
            r#"{{"nodes": [{{"id": 1, {a}}}, {{"id": 2, {b}}}], "links": [{{"source": 1, "target": 2}}]}}"#
        );
        delay_us(&text)
    };
    // A quarter of the equator: pi / 2 * 6371.0088 km / 199,861.64 km/s.
    let quarter = Some(50_072);
    assert_eq!(at(r#""pos": [0, 0]"#, r#""pos": [90.0, 0.0]"#), quarter);
    assert_eq!(at(r#""pos": "(0, 0)""#, r#""pos": "(90, 0)""#), quarter);
    assert_eq!(at(r#""x": 0, "y": 0"#, r#""x": "90", "y": 0"#), quarter);
    // A quarter of a meridian: y is the latitude.
    assert_eq!(at(r#""x": 0, "y": 0"#, r#""x": 0, "y": 90"#), quarter);
    // Points of a canvas, and points of a layout between -1 and 1.
    assert_eq!(at(r#""pos": [0, 0]"#, r#""pos": [90, 300]"#), None);
    assert_eq!(at(r#""pos": [-1, 0.5]"#, r#""pos": [0.3, 1.0]"#), None);
    assert_eq!(at(r#""pos": [0, 0]"#, r#""pos": [9]"#), None);
    // Latitude and longitude take precedence over either.
    let london = r#""lat": 0, "lon": 0, "x": 700, "y": 20"#;
    assert_eq!(
        at(london, r#""Latitude": 0, "Longitude": 90, "x": 0, "y": 0"#),
        quarter
    );
}

#[test]
fn a_file_of_topohub_has_lengths() {
    let text = r#"{"directed": false, "multigraph": false, "graph": {"name": "10", "demands": {}, "stats": {"nodes": 2}},
        "nodes": [{"name": "R0", "pos": [180.69, 135.63], "id": 0}, {"name": "R1", "pos": [182.81, 65.17], "id": 1}],
        "edges": [{"dist": 70.49, "ecmp_fwd": {"uni": 36.0}, "ecmp_bwd": {"uni": 36.0}, "source": 0, "target": 1}]}"#;
    assert_eq!(delay_us(text), Some(352));
}

#[test]
fn links_of_old_files_name_their_ends_by_place() {
    // NetworkX before version 2 wrote source and target like this.
    let text = r#"{"nodes": [{"id": "Oslo"}, {"id": "Rome"}, {"id": "Bonn"}],
        "links": [{"source": 0, "target": 2}, {"source": 2, "target": 1}]}"#;
    let read = graph("old.json", text);
    let ends: Vec<_> = read.links().iter().map(|link| (link.a, link.b)).collect();
    assert_eq!(ends, [(0, 2), (2, 1)]);
    // An index outside the list is a mistake, and so is an index if names are numbers themselves.
    let message = fault("old.json", &text.replace("\"target\": 2", "\"target\": 3"));
    assert!(
        message.contains("from \"0\" to \"3\": it ends at \"0\""),
        "{message}"
    );
    let numbers = text
        .replace("\"Oslo\"", "1")
        .replace("\"Rome\"", "2")
        .replace("\"Bonn\"", "3");
    let message = fault("old.json", &numbers);
    assert!(
        message.contains("it ends at \"0\", but there is no such node"),
        "{message}"
    );
}

#[test]
fn parallel_links_of_a_multigraph_are_one_with_the_shortest_length() {
    let text = r#"{"multigraph": true, "nodes": [{"id": 1}, {"id": 2}], "links": [
        {"source": 1, "target": 2, "key": 0, "dist": 300}, {"source": 2, "target": 1, "key": 1, "dist": 100}]}"#;
    assert_eq!(graph("net.json", text).links().len(), 1);
    assert_eq!(delay_us(text), Some(500));
}

#[test]
fn weights_mean_what_the_scenario_says() {
    let net = || graph("net.json", &pair(r#""weight": 2.5, "delay": "9ms""#));
    for (meaning, expected) in [
        ("none", Span::from_millis(9)),
        ("ms", Span::from_micros(2500)),
        ("us", Span::from_nanos(2500)),
        // 2500 m at 199,861.64 km/s.
        ("km", Span::from_ps(12_508_654)),
    ] {
        let delays = net().delays(&keys(&[("topology.weight", meaning)]));
        assert_eq!(delays, [expected], "{meaning}");
    }
    let others = graph("net.json", &pair(r#""weight": "heavy""#));
    assert_eq!(others.links()[0].weight, None);
}

#[test]
fn links_without_a_delay_take_that_of_the_settings_or_are_refused() {
    let body = "<node id=\"a\" /><node id=\"b\" /><node id=\"c\" />\n\
        <edge source=\"a\" target=\"b\" /><edge source=\"b\" target=\"c\"><data key=\"d7\">5ms</data></edge>\n";
    let net = || graph("net.graphml", &graphml(body));
    let delays = net().delays(&keys(&[]));
    assert_eq!(delays, [Span::from_millis(1), Span::from_millis(5)]);
    let delays = net().delays(&keys(&[("topology.missing_delay", "3ms")]));
    assert_eq!(delays, [Span::from_millis(3), Span::from_millis(5)]);
    assert_eq!(conflicts(net(), &[]), []);
    let found = conflicts(net(), &[("topology.missing_delay", "off")]);
    let [conflict] = &found[..] else {
        panic!("one conflict: {found:?}")
    };
    assert!(
        conflict
            .message
            .contains("the link between nodes a and b has neither a delay nor a length"),
        "{conflict:?}"
    );
    assert_eq!(
        conflicts(
            net(),
            &[
                ("topology.missing_delay", "off"),
                ("bottleneck.delay", "2ms")
            ]
        ),
        []
    );
}

#[test]
fn a_network_in_parts_is_refused_unless_the_largest_is_asked_for() {
    let body = "<edge source=\"a\" target=\"b\" />\n<node id=\"c\" /><node id=\"d\" /><node id=\"e\" />\
        <edge source=\"e\" target=\"d\" /><edge source=\"c\" target=\"d\"><data key=\"d7\">5ms</data></edge>\n";
    let net = || graph("net.graphml", &graphml(&format!("{AB}{body}")));
    let found = conflicts(net(), &[]);
    let [conflict] = &found[..] else {
        panic!("one conflict: {found:?}")
    };
    assert_eq!(
        conflict.message,
        "topology.graph, line 14, node \"c\": no links lead to it from node \"a\""
    );
    assert!(conflict.remedy.contains(
        "add a link, or set topology.part = \"largest\", which keeps the largest part, 3 of 5 nodes"
    ));
    assert_eq!(conflicts(net(), &[("topology.part", "largest")]), []);
    let mut keys = keys(&[("topology.part", "largest")]);
    keys.topology.graph = GraphChoice(Arc::new(net()));
    let part = keys.topology.network();
    let names: Vec<&str> = part.nodes().iter().map(|node| &*node.id).collect();
    assert_eq!(names, ["c", "d", "e"]);
    let ends: Vec<_> = part.links().iter().map(|link| (link.a, link.b)).collect();
    assert_eq!(ends, [(2, 1), (0, 1)]);
    assert_eq!(part.links()[1].delay, Some(Span::from_millis(5)));
    assert!(part.apart().is_none());
}

#[test]
fn columns_of_a_drawing_are_no_layers() {
    let text = r#"{"nodes": [{"id": 1, "layer": 0}, {"id": 2, "layer": "leaf"}], "links": [{"source": 1, "target": 2}]}"#;
    let layers: Vec<Layer> = graph("net.json", text)
        .nodes()
        .iter()
        .map(|node| node.layer)
        .collect();
    assert_eq!(layers, [Layer::Switch, Layer::Leaf]);
}
