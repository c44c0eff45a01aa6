//! The contents of a file in any format, and the graph made from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Rate, Span};

use super::attributes::{Attributes, Coordinates, are_degrees, flight};
use super::error::Error;
use super::{Apart, Graph, GraphLink, GraphNode};

/// The nodes and links of a file, before they are checked.
#[derive(Debug, Default)]
pub(super) struct GraphDraft {
    pub(super) nodes: Vec<DraftNode>,
    pub(super) links: Vec<DraftLink>,
}

#[derive(Debug)]
pub(super) struct DraftNode {
    /// In words, for messages: "line 12: node \"a\"".
    pub(super) place: String,
    pub(super) id: String,
    pub(super) attributes: Attributes,
}

#[derive(Debug)]
pub(super) struct DraftLink {
    /// In words, for messages.
    pub(super) place: String,
    pub(super) source: String,
    pub(super) target: String,
    /// Whether the link leads from source to target only.
    pub(super) directed: bool,
    pub(super) attributes: Attributes,
}

/// All links that lead from one node to another.
#[derive(Clone, Copy, Default)]
struct Way {
    links: u32,
    /// Bits per second of all links together; `None` if one of them has no capacity.
    capacity: Option<u64>,
    /// The shortest known delay.
    delay: Option<Span>,
    /// The smallest known weight.
    weight: Option<u64>,
}

/// All links between two nodes.
struct Bundle {
    /// The place of the first link.
    place: String,
    a: u32,
    b: u32,
    /// From `a` to `b` and back.
    ways: [Way; 2],
}

impl GraphDraft {
    /// The graph of this draft.
    ///
    /// Parallel links become one link, with the sum of their capacities and the shortest of their delays. If one of
    /// them has no capacity, the sum has none. Links from a node to itself carry nothing and are left out. A single
    /// directed link stands for both directions; two opposite links become one link.
    pub(super) fn graph(self) -> Result<Graph, Error> {
        if self.nodes.is_empty() {
            return Err(Error::of_file(
                "it has no nodes",
                "a network needs at least one",
            ));
        }
        if self.nodes.len() > MAX_NODES {
            return Err(Error::of_file(
                format!("it has {} nodes", self.nodes.len()),
                format!("a network has at most {MAX_NODES}: join neighbouring nodes"),
            ));
        }
        let numbers = self.numbers()?;
        let places = self.places()?;
        let mut links = Vec::new();
        for bundle in self.bundles(&numbers)? {
            let mut link = bundle.link()?;
            if let (None, Some(a), Some(b)) =
                (link.delay, places[link.a as usize], places[link.b as usize])
            {
                link.delay = Some(flight(a, b));
            }
            links.push(link);
        }
        let mut nodes = Vec::new();
        for node in &self.nodes {
            let label = node.attributes.get(&["label", "name"]);
            nodes.push(GraphNode {
                id: node.id.clone(),
                label: label.map(|(_, text)| text.to_owned()),
                layer: node.attributes.layer(&node.place)?,
            });
        }
        let mut graph = Graph::new(nodes, links);
        graph.apart = graph.unreached().map(|node| Apart {
            message: format!(
                "{}: no links lead to it from node {:?}",
                self.nodes[node as usize].place, self.nodes[0].id
            ),
            largest: Arc::new(graph.largest_part()),
        });
        Ok(graph)
    }

    /// The positions of nodes, as far as the file gives them: latitude and longitude, or positions in degrees.
    fn places(&self) -> Result<Vec<Option<Coordinates>>, Error> {
        let nodes = self.nodes.iter();
        let positions: Vec<_> = nodes.map(|node| node.attributes.position()).collect();
        let on_map = are_degrees(&positions);
        let mut places = Vec::new();
        for (node, position) in self.nodes.iter().zip(positions) {
            let own = node.attributes.coordinates(&node.place)?;
            places.push(own.or(position.filter(|_| on_map)));
        }
        Ok(places)
    }

    /// The node numbers by node name.
    fn numbers(&self) -> Result<BTreeMap<&str, u32>, Error> {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for (number, node) in (0..).zip(&self.nodes) {
            if let Some(first) = numbers.insert(node.id.as_str(), number) {
                return Err(Error::new(
                    node.place.clone(),
                    format!(
                        "there is another node of this name ({})",
                        self.nodes[first as usize].place
                    ),
                    "give every node an id of its own",
                ));
            }
        }
        Ok(numbers)
    }

    /// Links by the nodes that they join, in the order in which these pairs first appear.
    fn bundles(&self, numbers: &BTreeMap<&str, u32>) -> Result<Vec<Bundle>, Error> {
        let mut bundles: Vec<Bundle> = Vec::new();
        let mut known = BTreeMap::new();
        for link in &self.links {
            let end = |id: &str| {
                numbers.get(id).copied().ok_or_else(|| {
                    Error::new(
                        link.place.clone(),
                        format!("it ends at {id:?}, but there is no such node"),
                        "add the node, or correct or remove the link",
                    )
                })
            };
            let (a, b) = (end(&link.source)?, end(&link.target)?);
            let capacity = link.attributes.capacity(&link.place)?;
            let delay = link.attributes.delay(&link.place)?;
            let weight = link.attributes.weight();
            if a == b {
                continue;
            }
            let place = *known.entry((a.min(b), a.max(b))).or_insert(bundles.len());
            if place == bundles.len() {
                bundles.push(Bundle {
                    place: link.place.clone(),
                    a,
                    b,
                    ways: [Way::default(); 2],
                });
            }
            let bundle = &mut bundles[place];
            let there = usize::from(bundle.a != a);
            bundle.ways[there].add(capacity, delay, weight);
            if !link.directed {
                bundle.ways[1 - there].add(capacity, delay, weight);
            }
        }
        Ok(bundles)
    }
}

impl Way {
    fn add(&mut self, capacity: Option<u64>, delay: Option<Span>, weight: Option<u64>) {
        self.capacity = match (self.links, self.capacity, capacity) {
            (0, _, own) => own,
            (_, Some(sum), Some(own)) => Some(sum.saturating_add(own)),
            _ => None,
        };
        self.delay = self.delay.into_iter().chain(delay).min();
        self.weight = self.weight.into_iter().chain(weight).min();
        self.links += 1;
    }
}

impl Bundle {
    fn link(&self) -> Result<GraphLink, Error> {
        let [there, back] = self.ways;
        let way = if there.links > 0 { there } else { back };
        let differ = there.capacity != back.capacity || there.delay != back.delay;
        if there.links > 0 && back.links > 0 && differ {
            return Err(Error::new(
                self.place.clone(),
                "the link back has another capacity or delay",
                "links between switches are the same in both directions: make the two equal, or leave one \
                 of them out",
            ));
        }
        let capacity = way.capacity.map(|bits| {
            if bits > MAX_RATE {
                return Err(Error::new(
                    self.place.clone(),
                    format!("its links together have {bits} bit/s"),
                    format!("a link has at most {MAX_RATE} bit/s"),
                ));
            }
            Ok(Rate::from_bps(bits))
        });
        Ok(GraphLink {
            a: self.a,
            b: self.b,
            capacity: capacity.transpose()?,
            delay: way.delay,
            weight: way.weight,
        })
    }
}

/// Every node has a route to every other, so with more nodes the routes take gigabytes. The largest network of the
/// Internet Topology Zoo has 754.
const MAX_NODES: usize = 10_000;
/// At a higher rate a byte would last less than a picosecond.
const MAX_RATE: u64 = 8_000_000_000_000;
