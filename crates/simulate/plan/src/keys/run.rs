//! The end of a simulation, and the classes in its results.

use base::{OrAuto, OrUnlimited, Span};

use super::SizeClasses;

base::settings! {
    /// When a simulation ends.
    pub struct Run in "run" {
        /// Simulated time at which the simulation stops even if flows are unfinished; "unlimited" waits for every flow.
        pub duration: OrUnlimited<Span> = "unlimited",
        /// Upper bounds of size classes, joined by +: "100KB+10MB" makes three classes. Results report classes as they report groups. Flows without end belong to the last class. Changes nothing else.
        pub classes: SizeClasses = "off",
        /// Number from which the order of events at the same instant is drawn; "auto" is the seed where anything is random, else 1. A result that changes with it hangs on that order and on nothing else: with link.jitter above "0s" none should. `run --ties` compares several.
        pub tie_order: OrAuto<u64> = "auto",
    }
}
