//! A run for people, for programs and for spreadsheets.

mod csv;
mod json;
mod table;

pub use csv::csv;
pub use json::json;
pub(crate) use table::amount;
pub use table::{Columns, View, table};

#[cfg(test)]
mod tests;
