//! Names of settings, which are those of their tables and fields.

/// The part of a key's name before the dot: the table it belongs to.
pub fn group(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The part of a key's name behind the dot.
pub fn field(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, field)| field)
}
