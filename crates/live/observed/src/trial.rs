//! Whether a law helped: a switchback experiment at one port.
//!
//! Flows that share a queue share its law, so that half of the flows cannot be its control group: comparing them is biased
//! up to the wrong sign (Spang et al., "Unbiased Experiments in Congested Networks", IMC 2021). Here the law is on for
//! everybody in one period and off in another, and a coin decides which comes first. [`TrialPlan`] is written down before
//! anything acts; [`TrialPlan::settle`] finds the effect from what was seen, by the distribution of those coins alone.

mod connections;
mod expected;
mod measure;
mod plan;
mod settle;
mod shape;

pub use connections::SeenConnections;
pub use expected::{ExpectedEffect, ModelledFlows};
pub use measure::{TrialGoal, TrialGuard, TrialMeasure};
pub use plan::{TrialPeriod, TrialPlan, Unexpected};
pub use settle::{
    ALPHA, Agreement, CarryOver, TrialArm, TrialEnd, TrialFlow, TrialResult, TrialVerdict,
};
pub use shape::{TrialShape, schedule};

#[cfg(test)]
mod tests;
