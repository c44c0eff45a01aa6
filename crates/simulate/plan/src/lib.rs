//! What a simulation is told: settings, networks, traffic, and the point that holds them.
//!
//! A [`PointSpec`] has every setting with a type, in which nothing contradicts anything else; the crate `scenario`
//! makes points from texts. [`workload::Plan`] says who sends what to whom and when, [`work::Work`] what a simulation of
//! it will cost.

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
