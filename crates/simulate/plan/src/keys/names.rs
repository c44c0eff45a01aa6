//! Names of settings, made of table and field.

/// The part of a key's name before the dot: the name of its table.
pub fn group(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The part of a key's name after the dot.
pub fn field(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, field)| field)
}
