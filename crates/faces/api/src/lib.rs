//! Simulations for programs: points, sweeps, run folders and reproductions. Nothing here prints or reads arguments.
//!
//! User programs get the supported part under the name `tailwater`. The command and the Python package also use the
//! rest.
//!
//! ```
//! use api::{Point, run};
//!
//! let point = Point::builder("dctcp").set("workload.senders", 10).seed(1).build()?;
//! let outcome = run(&point)?;
//! assert!(outcome.metrics.goodput_bps > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clock;
mod error;
mod executor;
mod folder;
pub mod forecast;
mod merge;
mod monitor;
mod options;
mod point;
pub mod problems;
mod reproduction;
mod request;
mod scenario;
mod search;
mod simulate;
mod sweep;
mod worker;

pub use results::{Access, Folder, Shard};
pub use sim::error::RunError;
pub use sim::metrics::{
    CollectiveMetrics, FlowRecord, GroupMetrics, HeldUp, Measured, Metrics, Outcome, PortRecord,
    RunCost, TierMetrics,
};
pub use sim::sweep::PointFailure;

pub use self::error::Error;
pub use self::executor::{Executor, Job, JobOrder, KeepAnswers};
pub use self::folder::{Destination, ShardProgress, merge, run_folder, run_request, run_shard};
pub use self::merge::merge_points;
pub use self::monitor::{Flows, Monitor, RunProgress, Silent, Stage, StageWork, Verdicts};
pub use self::options::RunOptions;
pub use self::point::{Point, PointBuilder, run};
pub use self::reproduction::{Judgement, Reproduced, misses_any, reproduce};
pub use self::request::{Allowance, Causes, Figures, Precision, Request, cores};
pub use self::scenario::{Outcomes, Scenario, ScenarioBuilder, sweep};
pub use self::simulate::{REPORT, finish};
pub use self::sweep::{Sweep, finished_before, open, write};
pub use self::worker::Worker;
