//! What happens over time: `series.parquet`.
//!
//! A [`Plan`] says what a point records, which follows from its settings in the group `trace`. A
//! [`Recorder`] is the probe that records it, while the simulation runs and in bounded memory: rows
//! leave for the file in groups of some hundred thousand. [`ObservedSeries`] writes what was seen elsewhere. [`read`] gives the rows back, [`Series`] keeps them in memory, and
//! [`concatenate`] makes one file of those of many points without decoding them.
//!
//! A row is one sample of one quantity, or one event. Rows of one quantity of one port, flow or host
//! are in the order of time. The file is a pure function of the point.

mod file;
mod memory;
mod observed;
mod plan;
mod read;
mod recorder;
mod rows;
mod thin;

pub use file::concatenate;
pub use memory::Series;
pub use observed::ObservedSeries;
pub use plan::Plan;
pub use read::{SeriesRow, read};
pub use recorder::Recorder;
pub use rows::EventKind;
