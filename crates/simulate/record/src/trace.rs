//! Series over time: `series.parquet`.
//!
//! A [`TracePlan`] lists what a point records; it follows from the settings in the group `trace`. A [`Recorder`] is the
//! probe that records it while the simulation runs. Its memory is bounded, because it writes rows in groups of some
//! hundred thousand. [`ObservedSeries`] writes observations from other sources. [`read`] reads the rows back,
//! [`Series`] keeps them in memory, and [`concatenate`] joins the files of many points without decoding them.
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
pub use plan::TracePlan;
pub use read::{SeriesRow, read};
pub use recorder::Recorder;
pub use rows::EventKind;
