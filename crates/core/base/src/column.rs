//! The meaning of a number in a table of results.

/// One number of every row: one description for tables, CSV, JSON, Parquet and `explain results`.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, which ends in its unit if it has one.
    pub name: &'static str,
    /// Its unit, or what it counts.
    pub unit: &'static str,
    /// What it means.
    pub help: &'static str,
}

impl Column {
    /// A column of this name and unit, which means this.
    pub const fn new(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name, unit, help }
    }
}
