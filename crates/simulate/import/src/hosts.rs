//! Hosts by their names.

use std::collections::BTreeMap;

/// A host: the index of its name among the names in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostIndex(pub u32);

/// Names in the order of their first appearance.
#[derive(Default)]
pub(crate) struct Hosts {
    names: Vec<String>,
    places: BTreeMap<String, u32>,
}

impl Hosts {
    /// The host of this name.
    pub(crate) fn host(&mut self, name: &str) -> HostIndex {
        if let Some(place) = self.places.get(name) {
            return HostIndex(*place);
        }
        let place = u32::try_from(self.names.len()).expect("fewer hosts than records");
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        HostIndex(place)
    }

    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }
}
