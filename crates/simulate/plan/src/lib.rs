//! The input of a simulation: settings, networks, traffic, and the point that holds them.
//!
//! A [`PointSpec`] holds every setting with a type and without contradictions; the crate `scenario` makes points from
//! texts. [`workload::Plan`] lists who sends which flows to whom and when, [`work::Work`] estimates the cost of a
//! simulation.

pub mod collective;
pub mod flow_trace;
pub mod graph;
pub mod hosts;
pub mod keys;
pub mod metric;
mod point;
pub mod replay;
pub mod series;
pub mod suggest;
mod texts;
pub mod tokens;
pub mod words;
pub mod work;
pub mod workload;

pub use point::{Group, PointSpec};
pub use texts::{Pool, Texts};
