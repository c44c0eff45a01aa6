//! The values of a file with their places.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// A value with its place.
pub(super) type Node<'a> = Spanned<DeValue<'a>>;

/// The place of a value, for reporting mistakes in values that have been read.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    value: Option<&'a DeValue<'a>>,
    start: usize,
    end: usize,
}

impl<'a> Site<'a> {
    pub(super) fn new(node: &'a Node<'a>) -> Self {
        Self::of(Some(node.get_ref()), &node.span())
    }

    fn of(value: Option<&'a DeValue<'a>>, place: &Range<usize>) -> Self {
        let (start, end) = (place.start, place.end);
        Self { value, start, end }
    }

    /// Its first and last byte.
    pub(super) fn place(self) -> Range<usize> {
        self.start..self.end
    }

    /// The value of a key. A missing key has the place where it should be.
    pub(super) fn key(self, name: &str) -> Self {
        let found = self.table().and_then(|table| table.get(name));
        found.map_or(
            Self {
                value: None,
                ..self
            },
            Self::new,
        )
    }

    pub(super) fn has(self, name: &str) -> bool {
        self.table().is_some_and(|table| table.contains_key(name))
    }

    /// Its keys in the order of the file, each with its place, and their values.
    pub(super) fn entries(self) -> Vec<(&'a str, Range<usize>, Self)> {
        let entries = self.table().into_iter().flatten();
        let entries = entries.map(|(key, value)| (&**key.get_ref(), key.span(), Self::new(value)));
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|(_, place, _)| place.start);
        entries
    }

    /// The values of a list, or the value itself if it is no list.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        let list = self.value.and_then(DeValue::as_array);
        let single = list.is_none().then_some(self);
        list.into_iter().flatten().map(Self::new).chain(single)
    }

    pub(super) fn is_table(self) -> bool {
        self.table().is_some()
    }

    /// Whether it has the key, or a table within it has.
    pub(super) fn has_within(self, name: &str) -> bool {
        let mut inner = self.items().flat_map(Self::entries);
        inner.any(|(key, _, value)| key == name || value.has_within(name))
    }

    /// The value, if it is of this type.
    pub(super) fn read<T: DeserializeOwned>(self) -> Option<T> {
        let value = Spanned::new(self.place(), self.value?.clone());
        T::deserialize(ValueDeserializer::from(value)).ok()
    }

    fn table(self) -> Option<&'a DeTable<'a>> {
        self.value.and_then(DeValue::as_table)
    }
}

/// Splits the keys `names` off a table; both parts have its place.
pub(super) fn split<'a>(node: &Node<'a>, names: &[&str]) -> (Node<'a>, Node<'a>) {
    let table = node.get_ref().as_table().cloned().unwrap_or_default();
    let (named, others): (Vec<_>, Vec<_>) =
        (table.into_iter()).partition(|(key, _)| names.contains(&&**key.get_ref()));
    let part = |entries: Vec<_>| {
        let table = DeValue::Table(entries.into_iter().collect());
        Spanned::new(node.span(), table)
    };
    (part(named), part(others))
}
