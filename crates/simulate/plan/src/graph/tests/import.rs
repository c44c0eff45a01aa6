//! Correct files, and files with every kind of error that we know.

use super::*;
use crate::graph::file;

pub(super) fn graph(name: &str, text: &str) -> Graph {
    file::parse(name, text).unwrap_or_else(|fault| panic!("{}", fault.in_file(name)))
}

pub(super) fn fault(name: &str, text: &str) -> String {
    match file::parse(name, text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(fault) => fault.in_file(name),
    }
}

/// Wraps nodes and edges, which begin in line 12.
pub(super) fn graphml(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key attr.name=\"label\" attr.type=\"string\" for=\"node\" id=\"d1\" />\n\
         <key attr.name=\"Latitude\" attr.type=\"double\" for=\"node\" id=\"d2\" />\n\
         <key attr.name=\"Longitude\" attr.type=\"double\" for=\"node\" id=\"d3\" />\n\
         <key attr.name=\"LinkSpeed\" attr.type=\"string\" for=\"edge\" id=\"d4\" />\n\
         <key attr.name=\"LinkSpeedUnits\" attr.type=\"string\" for=\"edge\" id=\"d5\" />\n\
         <key attr.name=\"LinkSpeedRaw\" attr.type=\"double\" for=\"edge\" id=\"d6\" />\n\
         <key attr.name=\"delay\" attr.type=\"string\" for=\"edge\" id=\"d7\" />\n\
         <graph edgedefault=\"undirected\">\n\
         <data key=\"d0\">notes</data>\n\
         {body}</graph></graphml>\n"
    )
}

pub(super) const AB: &str = "<node id=\"a\" /><node id=\"b\" />\n";

fn edge(data: &str) -> String {
    graphml(&format!(
        "{AB}<edge source=\"a\" target=\"b\">{data}</edge>\n"
    ))
}

fn gbps(capacity: Option<Rate>) -> Option<u64> {
    capacity.map(|rate| rate.as_bps() / 1_000_000_000)
}

#[test]
fn a_file_of_the_topology_zoo_has_speeds_and_places() {
    let text = graphml(
        "<node id=\"0\"><data key=\"d1\">London</data><data key=\"d2\">51.50853</data>\
         <data key=\"d3\">-0.12574</data></node>\n\
         <node id=\"1\"><data key=\"d1\">New York</data><data key=\"d2\">40.71427</data>\
         <data key=\"d3\">-74.00597</data></node>\n\
         <node id=\"2\"><data key=\"d1\">Paris</data><data key=\"d2\">48.85341</data>\
         <data key=\"d3\">2.3488</data></node>\n\
         <edge id=\"e0\" source=\"0\" target=\"1\"><data key=\"d4\">10</data><data key=\"d5\">G</data>\
         <data key=\"d6\">10000000000.0</data></edge>\n\
         <edge source=\"2\" target=\"0\"><data key=\"d4\">2.5</data><data key=\"d5\">G</data></edge>\n\
         <edge source=\"1\" target=\"2\"><data key=\"d6\" /></edge>\n",
    );
    let graph = graph("zoo.graphml", &text);
    let labels = graph
        .nodes()
        .iter()
        .filter_map(|node| node.label.as_deref());
    assert_eq!(labels.collect::<Vec<_>>(), ["London", "New York", "Paris"]);
    let [atlantic, channel, unknown] = graph.links() else {
        panic!("three links")
    };
    assert_eq!((atlantic.a, atlantic.b), (0, 1));
    assert_eq!(gbps(atlantic.capacity), Some(10));
    assert_eq!(channel.capacity, Some(Rate::from_bps(2_500_000_000)));
    assert_eq!(unknown.capacity, None);
    // 5570 km and 344 km of great circle at 199,862 km/s.
    let ms = |link: &GraphLink| link.delay.unwrap().as_secs() * 1e3;
    assert!((ms(atlantic) - 27.87).abs() < 0.05, "{}", ms(atlantic));
    assert!((ms(channel) - 1.72).abs() < 0.01, "{}", ms(channel));
}

#[test]
fn a_quarter_of_the_equator_takes_fifty_milliseconds() {
    let text = r#"{"nodes": [{"id": 0, "lat": 0, "lon": 0}, {"id": 1, "lat": 0, "lon": 90}],
        "links": [{"source": 0, "target": 1}]}"#;
    let delay = graph("equator.json", text).links()[0].delay.unwrap();
    // pi / 2 * 6371.0088 km / 199,861.64 km/s = 50.0724 ms.
    assert!((delay.as_secs() - 0.050_072_4).abs() < 1e-7, "{delay}");
}

#[test]
fn node_link_json_is_read_under_both_of_its_names() {
    for list in ["links", "edges"] {
        let text = format!(
            r#"{{"directed": false, "multigraph": false, "graph": {{}}, "nodes": [{{"id": "x", "name": "X"}},
            {{"id": 7}}], "{list}": [{{"source": "x", "target": 7, "capacity": "40Gbps", "latency_ms": 2.5}}]}}"#
        );
        let graph = graph("net.json", &text);
        assert_eq!(graph.nodes()[0].label.as_deref(), Some("X"));
        let link = graph.links()[0];
        assert_eq!(gbps(link.capacity), Some(40));
        assert_eq!(link.delay, Some(Span::from_micros(2500)));
    }
}

#[test]
fn capacities_and_delays_have_several_names() {
    let text = |fields: &str| {
        format!(
            r#"{{"nodes": [{{"id": 1}}, {{"id": 2}}], "edges": [{{"source": 1, "target": 2, {fields}}}]}}"#
        )
    };
    for (fields, bits) in [
        (r#""bandwidth": "155Mbps""#, 155_000_000),
        (r#""capacity_mbps": 2488.5"#, 2_488_500_000),
        (r#""bandwidth_bps": 64000"#, 64_000),
        // A unit in the value counts more than a unit in the name.
        (r#""capacity_mbps": "10Gbps""#, 10_000_000_000),
        (
            r#""LinkSpeed": "1.5", "LinkSpeedUnits": "Tbps""#,
            1_500_000_000_000,
        ),
        (r#""LinkSpeed": "45", "LinkSpeedUnits": "M""#, 45_000_000),
    ] {
        let graph = graph("net.json", &text(fields));
        let capacity = graph.links()[0].capacity;
        assert_eq!(capacity, Some(Rate::from_bps(bits)), "{fields}");
    }
    for (fields, micros) in [
        (r#""delay": "3ms""#, 3000),
        (r#""delay_ms": "0.25""#, 250),
        (r#""latency": "0s""#, 0),
        (r#""delay_ms": "5us""#, 5),
    ] {
        let delay = graph("net.json", &text(fields)).links()[0].delay;
        assert_eq!(delay, Some(Span::from_micros(micros)), "{fields}");
    }
    for (fields, reason) in [
        (
            r#""capacity": 10"#,
            "capacity is \"10\", which is no rate without a unit; give a rate with its unit",
        ),
        (
            r#""delay": 5"#,
            "delay is \"5\", which is no delay without a unit; give a time with its unit",
        ),
        (
            r#""capacity_mbps": 9e9"#,
            "capacity_mbps is \"9000000000.0\", which is no rate; give a number above 0",
        ),
    ] {
        let message = fault("net.json", &text(fields));
        assert!(message.contains(reason), "{message}");
    }
    let nothing = graph("net.json", &text(r#""capacity": null, "colour": [1]"#)).links()[0];
    assert_eq!((nothing.capacity, nothing.delay), (None, None));
}

#[test]
fn parallel_links_are_one_with_their_capacities_together_and_the_shortest_delay() {
    let body = "<edge source=\"a\" target=\"b\"><data key=\"d6\">1e9</data><data key=\"d7\">5ms</data></edge>\n\
        <edge source=\"b\" target=\"a\"><data key=\"d6\">3e9</data><data key=\"d7\">4ms</data></edge>\n";
    let link = graph("net.xml", &graphml(&format!("{AB}{body}")))
        .links()
        .to_vec();
    assert_eq!(link.len(), 1);
    assert_eq!(gbps(link[0].capacity), Some(4));
    assert_eq!(link[0].delay, Some(Span::from_millis(4)));
    // An attribute that only one of the links has is not an attribute of all.
    let silent = format!("{AB}{body}<edge source=\"a\" target=\"b\" />\n");
    assert_eq!(
        graph("net.xml", &graphml(&silent)).links()[0].capacity,
        None
    );
}

#[test]
fn the_two_directions_of_a_directed_link_are_one_link() {
    let text = |back: &str| {
        format!(
            r#"{{"directed": true, "nodes": [{{"id": 1}}, {{"id": 2}}, {{"id": 3}}], "links": [
            {{"source": 1, "target": 2, "capacity": "1Gbps"}}, {{"source": 2, "target": 1, "capacity": "{back}"}},
            {{"source": 3, "target": 2, "capacity": "9Gbps"}}]}}"#
        )
    };
    let links = graph("net.json", &text("1Gbps")).links().to_vec();
    let capacities: Vec<_> = links.iter().map(|link| gbps(link.capacity)).collect();
    assert_eq!(capacities, [Some(1), Some(9)]);
    let message = fault("net.json", &text("2Gbps"));
    assert!(
        message.contains("links[0] from \"1\" to \"2\": the link back has another capacity"),
        "{message}"
    );
    // GraphML may declare the direction of each edge.
    let body = "<edge directed=\"true\" source=\"a\" target=\"b\"><data key=\"d6\">1e9</data></edge>\n\
        <edge directed=\"true\" source=\"b\" target=\"a\"><data key=\"d6\">1e9</data></edge>\n";
    let links = graph("net.xml", &graphml(&format!("{AB}{body}")))
        .links()
        .to_vec();
    assert_eq!(gbps(links[0].capacity), Some(1));
}

#[test]
fn a_link_from_a_node_to_itself_is_left_out() {
    let text = graphml(&format!(
        "{AB}<edge source=\"a\" target=\"a\" /><edge source=\"a\" target=\"b\" />\n"
    ));
    assert_eq!(graph("net.graphml", &text).links().len(), 1);
}

#[test]
fn a_single_node_is_a_network() {
    let graph = graph("net.graphml", &graphml("<node id=\"a\" />\n"));
    assert_eq!((graph.nodes().len(), graph.links().len()), (1, 0));
    assert_eq!(graph.pairs(), [0; 0]);
}

#[test]
fn wrong_graphml_is_refused_with_the_element_and_the_remedy() {
    let refused = [
        ("", "net.graphml: it is empty; give a file of GraphML"),
        (" \n", "net.graphml: it is empty"),
        (
            "nodes: a, b\n",
            "net.graphml, line 1: this is not correct XML",
        ),
        (
            "<graphml>\n<graph>\n</graphml>",
            "net.graphml, line 3: this is not correct XML",
        ),
        (
            "<html></html>",
            "line 1: the document is <html>; GraphML begins with <graphml>",
        ),
        (
            "<graphml></graphml>",
            "line 1: it has no <graph>; put nodes and edges into one",
        ),
        ("<graphml><graph/></graphml>", "it has no nodes"),
        (
            "<graphml><graph/>\n<graph/></graphml>",
            "line 2: this is a second <graph>; leave one of them in the file",
        ),
    ];
    for (text, expected) in refused {
        let message = fault("net.graphml", text);
        assert!(message.contains(expected), "{message}");
    }
    let connected = "<edge source=\"a\" target=\"b\" />\n";
    let refused = [
        (
            format!("{AB}<node id=\"a\" />\n"),
            "line 13, node \"a\": there is another node of this name (line 12, node \"a\"); give every node",
        ),
        (
            format!("{AB}<node />\n"),
            "line 13: this node has no id; give it one",
        ),
        (
            format!("{AB}<edge id=\"e7\" source=\"a\" target=\"c\" />\n"),
            "line 13, edge \"e7\" from \"a\" to \"c\": it ends at \"c\", but there is no such node; add the node",
        ),
        (
            format!("{AB}<edge source=\"a\" />\n"),
            "line 13: this edge has no target; give it the id of",
        ),
        (
            format!("{AB}{connected}<hyperedge><endpoint node=\"a\"/></hyperedge>\n"),
            "line 14: a hyperedge can join more than two nodes; a link joins two nodes: write edges",
        ),
        (
            format!("{AB}<node id=\"c\">\n<graph><node id=\"c:d\"/></graph></node>\n"),
            "line 14: this graph lies within a node or edge; put all nodes and edges into one graph",
        ),
        (
            "<node id=\"a\"><data key=\"d2\">91</data><data key=\"d3\">0</data></node>\n".into(),
            "line 12, node \"a\": Latitude is \"91\"; give degrees from -90 to 90, or leave it out",
        ),
        (
            "<node id=\"a\"><data key=\"d2\">1</data><data key=\"d3\">east</data></node>\n".into(),
            "Longitude is \"east\"; give degrees from -180 to 180",
        ),
    ];
    for (body, expected) in refused {
        let message = fault("net.graphml", &graphml(&body));
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn wrong_numbers_of_links_are_refused_with_the_link_and_the_remedy() {
    let wrong = |data: &str| fault("net.graphml", &edge(data));
    for text in ["-1e9", "0", "fast", "nan", "inf", "1e13"] {
        let message = wrong(&format!("<data key=\"d6\">{text}</data>"));
        let expected = format!(
            "net.graphml, line 13, edge from \"a\" to \"b\": LinkSpeedRaw is {text:?}, which is no rate; give a \
             number above 0"
        );
        assert!(message.contains(&expected), "{message}");
    }
    let message = wrong("<data key=\"d4\">10</data>");
    assert!(
        message.contains("LinkSpeed is \"10\" and LinkSpeedUnits \"\"; give K, M, G or T"),
        "{message}"
    );
    let message = wrong("<data key=\"d4\">45-155</data><data key=\"d5\">M</data>");
    assert!(
        message.contains("LinkSpeed is \"45-155\", which is no rate"),
        "{message}"
    );
    let message = wrong("<data key=\"d7\">-5ms</data>");
    assert!(
        message.contains("delay is \"-5ms\", which is no delay; give a time with its unit"),
        "{message}"
    );
    // Seven links of 2 Tbit/s each are more than a link can have.
    let many = "<edge source=\"a\" target=\"b\"><data key=\"d6\">2e12</data></edge>\n".repeat(7);
    let message = fault("net.graphml", &graphml(&format!("{AB}{many}")));
    assert!(
        message.contains("its links together have 14000000000000 bit/s"),
        "{message}"
    );
}

#[test]
fn wrong_json_is_refused_with_the_element_and_the_remedy() {
    let refused = [
        ("", "net.json: it is empty"),
        (
            "{\"nodes\": [\n}",
            "net.json, line 2: this is not correct JSON",
        ),
        ("<graphml/>", "net.json, line 1: this is not correct JSON"),
        (
            "[1, 2]",
            "it is not a JSON object; node-link JSON is an object with lists",
        ),
        ("{\"links\": []}", "it has no \"nodes\""),
        ("{\"nodes\": {}}", "\"nodes\" is no list"),
        ("{\"nodes\": []}", "it has neither \"links\" nor \"edges\""),
        (
            "{\"nodes\": [], \"links\": [], \"edges\": []}",
            "it has both \"links\" and \"edges\"",
        ),
        ("{\"nodes\": [], \"links\": []}", "it has no nodes"),
        (
            "{\"nodes\": [3], \"links\": []}",
            "nodes[0]: this node is not an object; write nodes as",
        ),
        (
            "{\"nodes\": [{\"name\": 3}], \"links\": []}",
            "nodes[0]: this node has no id that is a text or",
        ),
        (
            "{\"nodes\": [{\"id\": 1}, {\"id\": \"1\"}], \"links\": []}",
            "nodes[1], node \"1\": there is another node of this name (nodes[0], node \"1\")",
        ),
        (
            "{\"nodes\": [{\"id\": 1}], \"edges\": [{\"source\": 1}]}",
            "edges[0]: this link has no target that is a text or a number; write links as",
        ),
        (
            "{\"nodes\": [{\"id\": 1}], \"edges\": [{\"source\": 1, \"target\": 2}]}",
            "edges[0] from \"1\" to \"2\": it ends at \"2\", but there is no such node",
        ),
        (
            "{\"nodes\": [{\"id\": 1}, {\"id\": 2}], \"links\": [{\"source\": 1, \"target\": 2, \"capacity\": 10}]}",
            "links[0] from \"1\" to \"2\": capacity is \"10\", which is no rate without a unit; give a rate with its unit",
        ),
        (
            "{\"nodes\": [{\"id\": 1}, {\"id\": 2}], \"links\": [{\"source\": 1, \"target\": 2, \"delay\": [1]}]}",
            "delay is \"[1]\", which is no delay",
        ),
        (
            "{\"nodes\": [{\"id\": 1}, {\"id\": 2}], \"links\": [{\"source\": 1, \"target\": 2, \"delay_ms\": -1}]}",
            "delay_ms is \"-1\", which is no delay; give a number of milliseconds",
        ),
    ];
    for (text, expected) in refused {
        let message = fault("net.json", text);
        assert!(message.contains(expected), "{message}");
    }
    let nodes: Vec<String> = (0..10_001).map(|id| format!("{{\"id\": {id}}}")).collect();
    let many = format!("{{\"nodes\": [{}], \"links\": []}}", nodes.join(", "));
    let message = fault("net.json", &many);
    assert!(
        message.contains("it has 10001 nodes; a network has at most 10000"),
        "{message}"
    );
    let message = fault("net.csv", "a,b\n");
    assert!(
        message.contains("net.csv: the ending of its name is not that"),
        "{message}"
    );
}
