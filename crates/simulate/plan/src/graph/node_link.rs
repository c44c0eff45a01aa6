//! The node-link JSON of NetworkX: `{"nodes": [{"id": ...}], "links": [{"source": ..., "target": ...}]}`,
//! where newer versions write "edges" for "links".

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::attributes::Attributes;
use super::draft::{DraftLink, DraftNode, GraphDraft};
use super::error::Error;

/// The content of the file.
pub(super) fn read(text: &str) -> Result<GraphDraft, Error> {
    let document: Value = serde_json::from_str(text).map_err(|error| {
        Error::at_line(
            error.line(),
            format!("this is not correct JSON: {error}"),
            "save it as NetworkX writes node_link_data",
        )
    })?;
    let shape = "node-link JSON is an object with lists \"nodes\" and \"links\" or \"edges\"";
    let Value::Object(document) = document else {
        return Err(Error::of_file("it is not a JSON object", shape));
    };
    let list = |name: &str| match document.get(name) {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list)),
        Some(_) => Err(Error::of_file(format!("{name:?} is no list"), shape)),
    };
    let Some(nodes) = list("nodes")? else {
        return Err(Error::of_file("it has no \"nodes\"", shape));
    };
    let (name, links) = match (list("links")?, list("edges")?) {
        (Some(links), None) => ("links", links),
        (None, Some(edges)) => ("edges", edges),
        (None, None) => {
            return Err(Error::of_file(
                "it has neither \"links\" nor \"edges\"",
                shape,
            ));
        }
        (Some(_), Some(_)) => {
            return Err(Error::of_file(
                "it has both \"links\" and \"edges\"",
                "leave one of them in the file",
            ));
        }
    };
    let directed = document.get("directed") == Some(&Value::Bool(true));
    let mut draft = GraphDraft::default();
    for (number, value) in nodes.iter().enumerate() {
        draft.nodes.push(node(number, value)?);
    }
    for (number, value) in links.iter().enumerate() {
        draft.links.push(link((name, number), value, directed)?);
    }
    name_ends(&mut draft, nodes);
    Ok(draft)
}

/// NetworkX before version 2 wrote the ends of links as indices in the list of nodes. They are read this way if all
/// nodes have strings as ids and no end is such an id.
fn name_ends(draft: &mut GraphDraft, nodes: &[Value]) {
    let have_texts = nodes.iter().all(|node| node["id"].is_string());
    let ids: Vec<String> = draft.nodes.iter().map(|node| node.id.clone()).collect();
    let by_id: BTreeSet<&String> = ids.iter().collect();
    let named = |id: &String| id.parse().ok().and_then(|place: usize| ids.get(place));
    let is_place = |id: &String| !by_id.contains(id) && named(id).is_some();
    let both = |link: &DraftLink| is_place(&link.source) && is_place(&link.target);
    if !have_texts || !draft.links.iter().all(both) {
        return;
    }
    for link in &mut draft.links {
        for end in [&mut link.source, &mut link.target] {
            if let Some(name) = named(end) {
                name.clone_into(end);
            }
        }
    }
}

fn node(number: usize, value: &Value) -> Result<DraftNode, Error> {
    let place = format!("nodes[{number}]");
    let remedy = "write nodes as {\"id\": \"a\"}";
    let Value::Object(fields) = value else {
        return Err(Error::new(place, "this node is not an object", remedy));
    };
    let Some(id) = fields.get("id").and_then(scalar) else {
        return Err(Error::new(
            place,
            "this node has no id that is a text or a number",
            remedy,
        ));
    };
    Ok(DraftNode {
        place: format!("{place}, node {id:?}"),
        id,
        attributes: attributes(fields),
    })
}

fn link((list, number): (&str, usize), value: &Value, directed: bool) -> Result<DraftLink, Error> {
    let place = format!("{list}[{number}]");
    let remedy = "write links as {\"source\": \"a\", \"target\": \"b\"} with ids of nodes";
    let Value::Object(fields) = value else {
        return Err(Error::new(place, "this link is not an object", remedy));
    };
    let end = |name: &str| {
        fields.get(name).and_then(scalar).ok_or_else(|| {
            let cause = format!("this link has no {name} that is a text or a number");
            Error::new(place.clone(), cause, remedy)
        })
    };
    let (source, target) = (end("source")?, end("target")?);
    Ok(DraftLink {
        place: format!("{place} from {source:?} to {target:?}"),
        source,
        target,
        directed,
        attributes: attributes(fields),
    })
}

fn attributes(fields: &Map<String, Value>) -> Attributes {
    let given = fields.iter().filter(|(_, value)| !value.is_null());
    let pair = |(name, value): (&String, &Value)| {
        // A list in place of a number is shown as it is.
        let text = scalar(value).unwrap_or_else(|| value.to_string());
        (name.clone(), text)
    };
    Attributes(given.map(pair).collect())
}

/// A string or a number, as text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
