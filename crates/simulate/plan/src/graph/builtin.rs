//! Graphs that come with the program.

use std::sync::{Arc, LazyLock};

use base::{Quantity, Span};
use fabric::Layer;

use super::{Graph, GraphLink, GraphNode};

/// A graph that comes with the program.
#[derive(Debug)]
pub struct BuiltinGraph {
    /// Its name in scenarios.
    pub name: &'static str,
    /// A description with its source.
    pub help: &'static str,
    nodes: &'static str,
    links: &'static str,
}

/// Every graph that comes with the program. All capacities follow the rule of equal load. The rule was recovered from
/// the published graph and reproduces each of its capacities; see the files.
pub const BUILTINS: &[BuiltinGraph] = &[
    BuiltinGraph {
        name: "internet2",
        help: "Simplified Internet2 of RC3 (NSDI 2014), as in its published simulation (NetSys/RC3).",
        nodes: include_str!("../../graphs/internet2-nodes.csv"),
        links: include_str!("../../graphs/internet2-links.csv"),
    },
    BuiltinGraph {
        name: "telstra",
        help: "Telstra, AS 1221, as inferred by Rocketfuel; RC3 used a variant that was not published.",
        nodes: include_str!("../../graphs/telstra-nodes.csv"),
        links: include_str!("../../graphs/telstra-links.csv"),
    },
    BuiltinGraph {
        name: "redclara",
        help: "RedCLARA, as used in optical-network studies; RC3 used a variant that was not published.",
        nodes: include_str!("../../graphs/redclara-nodes.csv"),
        links: include_str!("../../graphs/redclara-links.csv"),
    },
    BuiltinGraph {
        name: "esnet",
        help: "ESnet of the Internet Topology Zoo; RC3 used a variant that was not published.",
        nodes: include_str!("../../graphs/esnet-nodes.csv"),
        links: include_str!("../../graphs/esnet-links.csv"),
    },
];

impl BuiltinGraph {
    /// The graph.
    ///
    /// # Panics
    /// If it is not one of [`BUILTINS`].
    pub fn graph(&self) -> Arc<Graph> {
        named(self.name).expect("a graph that comes with the program")
    }

    /// Cells of every row of its links: both ends, pairs, capacity in Mbit/s, delay in milliseconds.
    pub(super) fn rows(&self) -> impl Iterator<Item = [&'static str; 5]> {
        rows(self.links).map(|row| {
            let mut cells = row.split(',');
            [(); 5].map(|()| cells.next().expect("a row of links has five cells"))
        })
    }

    fn read(&self) -> Graph {
        let node = |row: &str| {
            let (id, label) = row.split_once(',').expect("a row of nodes has two cells");
            GraphNode {
                id: id.to_owned(),
                label: Some(label.to_owned()),
                layer: Layer::Switch,
            }
        };
        let nodes: Vec<GraphNode> = rows(self.nodes).map(node).collect();
        let place = |id: &str| {
            let found = (0..).zip(&nodes).find(|(_, node)| node.id == id);
            found.expect("links lead to nodes").0
        };
        let link = |[a, b, _, _, delay]: [&str; 5]| GraphLink {
            a: place(a),
            b: place(b),
            // The rule gives the capacity, so that it follows link.rate and topology.hosts.
            capacity: None,
            delay: Some(Span::parse(&format!("{delay}ms")).expect("delays are in milliseconds")),
            weight: None,
        };
        let links = self.rows().map(link).collect();
        Graph::new(nodes, links)
    }
}

/// The graph called `name`; its data is parsed only once.
pub(super) fn named(name: &str) -> Option<Arc<Graph>> {
    static GRAPHS: LazyLock<Vec<Arc<Graph>>> = LazyLock::new(|| {
        BUILTINS
            .iter()
            .map(|builtin| Arc::new(builtin.read()))
            .collect()
    });
    let place = BUILTINS.iter().position(|builtin| builtin.name == name)?;
    Some(Arc::clone(&GRAPHS[place]))
}

/// The lines of a file after its notes and its header line.
fn rows(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#')).skip(1)
}
