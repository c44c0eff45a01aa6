//! GraphML, with the attributes that the Internet Topology Zoo uses.
//!
//! Attributes of nodes and edges are `<data>` elements. Their names are declared once, by `<key>` elements (GraphML
//! primer, section 3).

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::attributes::Attributes;
use super::draft::{DraftLink, DraftNode, GraphDraft};
use super::error::Error;

/// The nodes and edges of the file.
pub(super) fn read(text: &str) -> Result<GraphDraft, Error> {
    let document = Document::parse(text).map_err(|error| {
        Error::at_line(
            error.pos().row as usize,
            format!("this is not correct XML: {error}"),
            "GraphML is XML that begins with <graphml>",
        )
    })?;
    let root = document.root_element();
    let name = root.tag_name().name();
    if name != "graphml" {
        return Err(error_at(
            root,
            format!("the document is <{name}>"),
            "GraphML begins with <graphml>",
        ));
    }
    let reader = Reader {
        names: elements(root, "key").filter_map(named).collect(),
    };
    let mut graphs = elements(root, "graph");
    let Some(graph) = graphs.next() else {
        return Err(error_at(
            root,
            "it has no <graph>",
            "put nodes and edges into one",
        ));
    };
    if let Some(second) = graphs.next() {
        return Err(error_at(
            second,
            "this is a second <graph>",
            "leave one of them in the file",
        ));
    }
    let directed = graph.attribute("edgedefault") == Some("directed");
    let mut draft = GraphDraft::default();
    for element in graph.children().filter(Node::is_element) {
        match element.tag_name().name() {
            "node" => draft.nodes.push(reader.node(element)?),
            "edge" => draft.links.push(reader.edge(element, directed)?),
            "hyperedge" => {
                return Err(error_at(
                    element,
                    "a hyperedge can join more than two nodes",
                    "a link joins two nodes: write edges",
                ));
            }
            _ => {}
        }
    }
    Ok(draft)
}

struct Reader<'a> {
    /// The names of attributes, by their keys.
    names: BTreeMap<&'a str, &'a str>,
}

impl Reader<'_> {
    fn node(&self, element: Node<'_, '_>) -> Result<DraftNode, Error> {
        refuse_nested(element)?;
        let Some(id) = element.attribute("id") else {
            return Err(error_at(element, "this node has no id", "give it one"));
        };
        Ok(DraftNode {
            place: format!("line {}, node {id:?}", line(element)),
            id: id.to_owned(),
            attributes: self.attributes(element),
        })
    }

    fn edge(&self, element: Node<'_, '_>, directed: bool) -> Result<DraftLink, Error> {
        refuse_nested(element)?;
        let end = |name: &str| {
            element.attribute(name).ok_or_else(|| {
                error_at(
                    element,
                    format!("this edge has no {name}"),
                    "give it the id of a node",
                )
            })
        };
        let (source, target) = (end("source")?, end("target")?);
        let id = element
            .attribute("id")
            .map_or_else(String::new, |id| format!(" {id:?}"));
        Ok(DraftLink {
            place: format!(
                "line {}, edge{id} from {source:?} to {target:?}",
                line(element)
            ),
            source: source.to_owned(),
            target: target.to_owned(),
            directed: match element.attribute("directed") {
                Some(own) => own == "true",
                None => directed,
            },
            attributes: self.attributes(element),
        })
    }

    fn attributes(&self, element: Node<'_, '_>) -> Attributes {
        let data = elements(element, "data").filter_map(|data| {
            let name = self.names.get(data.attribute("key")?)?;
            Some(((*name).to_owned(), data.text().unwrap_or("").to_owned()))
        });
        Attributes(data.collect())
    }
}

/// The key of an attribute and its name.
fn named<'a>(key: Node<'a, '_>) -> Option<(&'a str, &'a str)> {
    Some((key.attribute("id")?, key.attribute("attr.name")?))
}

fn refuse_nested(element: Node<'_, '_>) -> Result<(), Error> {
    match elements(element, "graph").next() {
        None => Ok(()),
        Some(nested) => Err(error_at(
            nested,
            "this graph lies within a node or edge",
            "put all nodes and edges into one graph",
        )),
    }
}

fn elements<'a, 'i>(
    parent: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    let is = move |node: &Node<'_, '_>| node.is_element() && node.tag_name().name() == name;
    parent.children().filter(is)
}

fn error_at(element: Node<'_, '_>, cause: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::at_line(line(element), cause, remedy)
}

fn line(element: Node<'_, '_>) -> usize {
    let position = element.document().text_pos_at(element.range().start);
    position.row as usize
}
