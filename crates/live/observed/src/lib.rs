//! Observations of a network at a device: whether it is incast, its cost, and a scenario of it.
//!
//! An [`Observation`] holds what was counted; [`judge`] finds the [`ObservedVerdict`] from the milliseconds in which
//! many flows went to one receiver and from what was lost ([`Crowds`]), [`needless`] repairs left out;
//! [`Observation::scenario`] writes what a simulation needs, with a row for each [`Cure`]; a [`Prediction`] says by its
//! [`Fit`] whether to believe the simulation, and which cures gain more than it errs, with each [`CureCommand`] that
//! puts them there. Nothing here touches a network: the crate `live` watches, and the command simulates and draws.

mod command;
mod crowds;
mod cure;
mod fit;
mod incident;
mod needless;
mod numbers;
mod prediction;
mod requests;
mod rounds;
mod sample;
mod scenario;
mod seen;
mod sums;
mod times;
mod trace;
pub mod trial;
mod verdict;

pub use command::{CommandSite, CureCommand};
pub use crowds::{Crowds, ObservedLoss};
pub use cure::{AttachPoint, Cure, CureAttachment, TriedValue};
pub use fit::{Deviation, Fit};
pub use incident::{Incident, fewest};
pub use needless::{Needless, SentAgain, needless};
pub use numbers::percentile;
pub use prediction::{Knee, Predicted, Prediction, RankedBy};
pub use rounds::{FlowTiming, Rounds};
pub use sample::Sample;
pub use seen::{Cost, Flow, Observation, ObservedVerdict, Queue, SeenRequest, VerdictEvidence};
pub use sums::FlowSums;
pub use times::FlowTimes;
pub use verdict::{DEGREE, judge};
