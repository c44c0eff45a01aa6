//! Tables in files. For Parquet tables with any content, [`TableWriter`] writes row by row, [`ColumnFile`] writes
//! groups of rows column by column, and [`read`] reads the rows of both. [`decoded`] reads whole columns, for callers
//! that pass them on. For tables that are simulated, [`flows`] reads a row for each flow, from CSV or Parquet.
//!
//! A file does not depend on time, place or threads: equal rows give equal bytes.
//!
//! ```
//! use std::fs::{self, File};
//!
//! use tables::{Cell, ColumnType, Field, TableWriter};
//!
//! let field = Field {
//!     name: "fct_us".to_owned(),
//!     kind: ColumnType::Double,
//!     optional: false,
//!     unit: "us",
//!     help: "Completion time.",
//! };
//! let path = std::env::temp_dir().join(format!("tables-{}.parquet", std::process::id()));
//! let mut table = TableWriter::new(File::create(&path)?, &[field], "example")?;
//! table.row([Cell::Double(2.5)])?;
//! table.finish()?;
//!
//! tables::read(&path, &mut |row| assert_eq!(row.cell(0), Cell::Double(2.5)))?;
//! fs::remove_file(&path)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod columns;
pub mod decoded;
pub mod flows;
mod foreign;
pub mod guard;
mod projection;
mod rows;

pub use columns::{ColumnFile, IntColumn, RealColumn, RowGroup, TextColumn, concatenate};
pub use projection::read_columns;
pub use rows::{Cell, ColumnType, Field, ReadRow, TableWriter, names, read};
