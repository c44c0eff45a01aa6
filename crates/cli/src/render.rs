//! Results as text: for people, for programs, for spreadsheets.

pub(crate) mod claims;
mod csv;
pub(crate) mod deploy;
mod json;
pub(crate) mod live;
mod table;

pub(crate) use csv::csv;
pub(crate) use json::json;
pub(crate) use table::table;

#[cfg(test)]
mod tests;
