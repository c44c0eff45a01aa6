//! Results as text: for people, for programs, for spreadsheets.

pub(crate) mod against;
pub(crate) mod claims;
mod csv;
mod json;
mod table;

pub(crate) use csv::csv;
pub(crate) use json::json;
pub(crate) use table::{Columns, View, table};

#[cfg(test)]
mod tests;
