//! Values that are null where nobody knows them.

use serde::Deserialize;

/// Reads a number or a word that may be null but not missing.
pub(crate) fn nullable<'de, D, T>(reader: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(reader)
}
