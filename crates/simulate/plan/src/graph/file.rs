//! Files of graphs.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use base::fnv;

use super::error::Error;
use super::{Graph, graphml, node_link};

/// Whether `text` is a path rather than the name of a graph.
pub(super) fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) || format(text).is_some()
}

/// Reads the file at `path`. A sweep reads the same file many times and gets the same graph while the text is the same.
pub(super) fn open(path: &str) -> Result<Arc<Graph>, Error> {
    static KNOWN: Mutex<BTreeMap<String, (String, Arc<Graph>)>> = Mutex::new(BTreeMap::new());
    // The program in a web page has neither files nor their readers.
    if cfg!(page) {
        return Err(Error::of_file(
            "a page cannot read files",
            "name a graph that comes with the program, or use `tailwater run`",
        ));
    }
    let text = read(path)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, graph)) = known.get(path).filter(|(before, _)| *before == text) {
        return Ok(Arc::clone(graph));
    }
    let mut graph = parse(path, &text)?;
    graph.fingerprint = Some(fnv(text.bytes()));
    let graph = Arc::new(graph);
    known.insert(path.to_owned(), (text, Arc::clone(&graph)));
    Ok(graph)
}

/// The graph in `text`, the content of a file with this name.
pub(super) fn parse(name: &str, text: &str) -> Result<Graph, Error> {
    if text.trim().is_empty() {
        return Err(Error::of_file(
            "it is empty",
            "give a file of GraphML or node-link JSON",
        ));
    }
    let draft = match format(name) {
        Some(Format::GraphMl) => graphml::read(text)?,
        Some(Format::NodeLink) => node_link::read(text)?,
        None => {
            return Err(Error::of_file(
                "the ending of its name is not that of a known format",
                "use the ending .graphml or .xml for GraphML, and .json for node-link JSON",
            ));
        }
    };
    draft.graph()
}

enum Format {
    GraphMl,
    NodeLink,
}

fn format(path: &str) -> Option<Format> {
    let ending = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "graphml" | "xml" => Some(Format::GraphMl),
        "json" => Some(Format::NodeLink),
        _ => None,
    }
}

fn read(path: &str) -> Result<String, Error> {
    let refuse = |error: &io::Error| match error.kind() {
        io::ErrorKind::NotFound => Error::of_file(
            "there is no such file",
            "a path is relative to the folder of the scenario file or to the working directory",
        ),
        io::ErrorKind::PermissionDenied => {
            Error::of_file("permission to read it is denied", "check its permissions")
        }
        _ => Error::of_file(format!("it cannot be read: {error}"), "check the path"),
    };
    let metadata = fs::metadata(path).map_err(|error| refuse(&error))?;
    if metadata.is_dir() {
        return Err(Error::of_file("it is a directory", "name a file in it"));
    }
    // The size of a device file is unknown, so the number of bytes read is limited.
    let mut bytes = Vec::new();
    let file = fs::File::open(path);
    file.and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(&error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Error::of_file(
            format!("it has more than {MAX_FILE} bytes, too many for a network"),
            "check the path",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        Error::at_line(
            line,
            "a byte that is not UTF-8 text",
            "save the file as UTF-8",
        )
    })
}

/// The largest graph of the Internet Topology Zoo has a megabyte.
const MAX_FILE: u64 = 16 << 20;
