//! Networks with every switch and every link given: graphs that come with the program, and files of GraphML or
//! node-link JSON.
//!
//! A graph is data: nodes, links between them, and the rates and delays that a file gives. Everything else follows from
//! the settings of a scenario.
//!
//! Between two nodes there is one path, the same in both directions. It is the shortest path that a breadth-first
//! search from the lower-numbered node finds first, if it visits neighbours in the order of their numbers.
//! [`fabric::Spread::Off`] forwards packets along exactly these paths.

mod attributes;
mod builtin;
mod draft;
mod error;
mod file;
mod graphml;
mod node_link;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

use base::Ordered as _;
use base::Sort as _;
use base::cast::id;
use base::{Quantity, QuantityError, Rate, Span};
use fabric::Layer;

use crate::suggest;
pub use builtin::{BUILTINS, BuiltinGraph};
use file::is_path;

/// Nodes and links. Two nodes have at most one link, and no link leads from a node to itself. Every node can be reached
/// from every other, unless `apart` is set.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<GraphNode>,
    links: Vec<GraphLink>,
    /// Neighbours of every node in ascending order, and the links to them.
    adjacent: Vec<Vec<(u32, u32)>>,
    /// See [`Graph::pairs`].
    pairs: OnceLock<Vec<u64>>,
    /// For a graph from a file: a hash of its text.
    fingerprint: Option<u64>,
    apart: Option<Apart>,
}

/// A description of a graph that has several parts.
#[derive(Debug)]
pub(crate) struct Apart {
    /// The first node that cannot be reached from node 0, and its place, as a sentence without a full stop.
    pub(crate) message: String,
    /// The part with the most nodes; among equals, the one with the lowest node number.
    pub(crate) largest: Arc<Graph>,
}

/// A node: a switch with hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Its name in the file.
    pub id: String,
    /// Its name for people; other nodes may have the same name.
    pub label: Option<String>,
    /// The kind of switch, if the file says so. Results name its ports by its layer.
    pub layer: Layer,
}

/// A link between two nodes, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLink {
    /// The index of the node at one end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// Its rate, if the file says.
    pub capacity: Option<Rate>,
    /// Its one-way delay, from the file's delay or length, or from the positions of its ends.
    pub delay: Option<Span>,
    /// Its weight in millionths, if the file says; see [`LinkWeight`](crate::keys::LinkWeight).
    pub weight: Option<u64>,
}

/// The graph that a scenario names.
#[derive(Clone, Debug)]
pub struct GraphChoice(pub Arc<Graph>);

/// The first-found shortest paths from one node to all others.
struct Tree {
    /// The other nodes, in ascending order of their distance to the root.
    order: Vec<u32>,
    /// The previous node on the path to each node, and the link between them; unused for the root.
    parent: Vec<(u32, u32)>,
}

impl Graph {
    fn new(nodes: Vec<GraphNode>, links: Vec<GraphLink>) -> Self {
        let mut adjacent = vec![Vec::new(); nodes.len()];
        for (number, link) in (0..).zip(&links) {
            adjacent[link.a as usize].push((link.b, number));
            adjacent[link.b as usize].push((link.a, number));
        }
        for neighbours in &mut adjacent {
            neighbours.order();
        }
        Self {
            nodes,
            links,
            adjacent,
            pairs: OnceLock::new(),
            fingerprint: None,
            apart: None,
        }
    }

    /// Its nodes; there is at least one.
    pub fn nodes(&self) -> &[GraphNode] {
        &self.nodes
    }

    /// Its links.
    pub fn links(&self) -> &[GraphLink] {
        &self.links
    }

    /// For each link, the number of pairs of nodes whose path uses it. O(nodes * links) at the first call.
    pub fn pairs(&self) -> &[u64] {
        self.pairs.get_or_init(|| {
            let mut pairs = vec![0; self.links.len()];
            for root in 0..self.count() {
                let tree = self.tree(root);
                // The number of nodes above the root in each subtree, the subtree's own node included.
                let mut behind = vec![0; self.nodes.len()];
                for node in tree.order.iter().rev() {
                    behind[*node as usize] += u64::from(*node > root);
                    let (parent, link) = tree.parent[*node as usize];
                    pairs[link as usize] += behind[*node as usize];
                    behind[parent as usize] += behind[*node as usize];
                }
            }
            pairs
        })
    }

    /// Identifies a graph from a file by its text; `None` for a graph that comes with the program.
    pub fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }

    /// The delay of a link from its weight, if weights are lengths or times.
    pub(crate) fn weight_as_length(weight: u64) -> Option<Span> {
        attributes::flight_of_weight(weight)
    }

    /// The link in words: its number and the names of its ends.
    pub(crate) fn in_words(&self, link: usize) -> String {
        let GraphLink { a, b, .. } = self.links[link];
        let name = |node: u32| {
            let GraphNode { id, label, .. } = &self.nodes[node as usize];
            match label {
                Some(label) if label != id => format!("{id} ({label})"),
                _ => id.clone(),
            }
        };
        format!("between nodes {} and {}", name(a), name(b))
    }

    /// Calls `visit` for every link of the path between every two nodes, with the lower and the higher node, the link,
    /// and whether the link's end `a` is nearer to the lower node.
    pub(crate) fn each_hop(&self, mut visit: impl FnMut([u32; 2], usize, bool)) {
        for low in 0..self.count() {
            let tree = self.tree(low);
            for high in low + 1..self.count() {
                let mut node = high;
                while node != low {
                    let (parent, link) = tree.parent[node as usize];
                    let link = link as usize;
                    visit([low, high], link, self.links[link].a == parent);
                    node = parent;
                }
            }
        }
    }

    /// The longest time that a path takes if links take `delays`.
    pub(crate) fn longest(&self, delays: &[Span]) -> Span {
        let mut longest = Span::ZERO;
        for root in 0..self.count() {
            let tree = self.tree(root);
            let mut far = vec![Span::ZERO; self.nodes.len()];
            for node in &tree.order {
                let (parent, link) = tree.parent[*node as usize];
                far[*node as usize] = far[parent as usize] + delays[link as usize];
                longest = longest.max(far[*node as usize]);
            }
        }
        longest
    }

    /// A description of its parts, if not every node can be reached from every other.
    pub(crate) fn apart(&self) -> Option<&Apart> {
        self.apart.as_ref()
    }

    /// The first node that cannot be reached from node 0.
    fn unreached(&self) -> Option<u32> {
        let part = self.part(0);
        (0..self.count()).find(|node| part.binary_search(node).is_err())
    }

    /// The nodes that can be reached from `root`, itself included, in the order of their numbers.
    fn part(&self, root: u32) -> Vec<u32> {
        let mut part = self.tree(root).order;
        part.push(root);
        part.order();
        part
    }

    /// The part with the most nodes. Its nodes and links keep their order.
    fn largest_part(&self) -> Self {
        let mut largest = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        for root in 0..self.count() {
            if seen[root as usize] {
                continue;
            }
            let part = self.part(root);
            for node in &part {
                seen[*node as usize] = true;
            }
            if part.len() > largest.len() {
                largest = part;
            }
        }
        let numbers: BTreeMap<u32, u32> = largest.iter().copied().zip(0..).into_map();
        let within = |link: &GraphLink| {
            let (a, b) = (*numbers.get(&link.a)?, *numbers.get(&link.b)?);
            Some(GraphLink { a, b, ..*link })
        };
        let nodes = largest.iter();
        let nodes = nodes
            .map(|node| self.nodes[*node as usize].clone())
            .collect();
        Self::new(nodes, self.links.iter().filter_map(within).collect())
    }

    /// A breadth-first search with neighbours in ascending order; the first parent found counts.
    fn tree(&self, root: u32) -> Tree {
        let unknown = (u32::MAX, u32::MAX);
        let mut parent = vec![unknown; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut open = VecDeque::from([root]);
        while let Some(node) = open.pop_front() {
            for (next, link) in &self.adjacent[node as usize] {
                if *next != root && parent[*next as usize] == unknown {
                    parent[*next as usize] = (node, *link);
                    order.push(*next);
                    open.push_back(*next);
                }
            }
        }
        Tree { order, parent }
    }

    fn count(&self) -> u32 {
        id(self.nodes.len())
    }
}

impl Quantity for GraphChoice {
    fn expected() -> String {
        let names: Vec<_> = BUILTINS.iter().map(|builtin| builtin.name).collect();
        format!(
            "the name of a graph ({}), or the path of a file that ends in .graphml, .xml or .json",
            names.join(", ")
        )
    }

    fn parse(text: &str) -> Result<Self, QuantityError> {
        let text = text.trim();
        if let Some(graph) = builtin::named(text) {
            return Ok(Self(graph));
        }
        if is_path(text) {
            let graph = file::open(text).map_err(|error| QuantityError {
                message: error.in_file(text),
            })?;
            return Ok(Self(graph));
        }
        let names = BUILTINS.iter().map(|builtin| builtin.name);
        let nearest = suggest::did_you_mean(text, names);
        Err(QuantityError {
            message: format!(
                "there is no graph {text:?}; {nearest}expected {}",
                Self::expected()
            ),
        })
    }

    fn is_path() -> Option<fn(&str) -> bool> {
        Some(is_path)
    }
}

#[cfg(test)]
mod tests;
