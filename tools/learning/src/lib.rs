//! Simulations as environments of learning agents.
//!
//! An agent replaces a sender's congestion control: it decides windows or rates at fixed times, and the rest of a
//! simulation is unchanged. A [`Task`] defines the agents, their decisions, the times of decisions, and the
//! observations. An [`Environment`] is one simulation of it, a [`Batch`] many that advance together on all cores.
//!
//! There are no calls per packet: a decision is written where the sender reads its window, and the engine runs to the
//! next decision.
//!
//! ```
//! use std::sync::Arc;
//!
//! use learning::{
//!     Act, Agents, DecisionInterval, Environment, EnvironmentSettings, Feature, Task, Term,
//! };
//! use scenario::{Overrides, Source};
//!
//! let settings = EnvironmentSettings {
//!     agents: Agents::Flow,
//!     act: Act::Window,
//!     interval: DecisionInterval::RoundTrip,
//!     observe: vec![Feature::Rtt, Feature::Goodput],
//!     reward: vec![(Term::FlowTime, -1.0)],
//!     max_steps: None,
//!     max_window: None,
//! };
//! let overrides = Overrides {
//!     schemes: Some("newreno".to_owned()),
//!     sets: vec!["workload.senders=8".to_owned()],
//!     ..Overrides::default()
//! };
//! let source = Source::builtin("incast").expect("a scenario that comes with the program");
//! let task = Task::new(settings, (source, overrides), Vec::new()).expect("settings without mistakes");
//! let mut environment = Environment::new(Arc::new(task), 1).expect("the episode of seed 1");
//! while !environment.step(&[4.0; 8]).terminated {}
//! assert_eq!(environment.episode().completed, 8);
//! ```

mod batch;
mod draw;
mod environment;
mod facts;
mod settings;
mod slot;
mod view;

pub use batch::{Batch, StepResults};
pub use draw::{Draw, From};
pub use environment::{Environment, EnvironmentFailure, Episode, Step, Task};
pub use settings::{Act, Agents, Autoreset, DecisionInterval, EnvironmentSettings, Feature, Term};
