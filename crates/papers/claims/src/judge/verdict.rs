//! The verdict on a claim, with its measurements.

use serde::Serialize;

base::names! {
    /// The verdict on a claim.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
    pub enum Verdict {
        /// It holds.
        #[serde(rename = "reproduced")]
        Reproduced = "reproduced",
        /// Sign and order hold and the number is within a factor of 2; or the claim holds at half of the places.
        #[serde(rename = "partly")]
        Partly = "partly",
        /// It does not hold.
        #[serde(rename = "not reproduced")]
        NotReproduced = "not reproduced",
        /// An input of the claim was never published, or the claim says nothing about these runs.
        #[serde(rename = "not testable")]
        NotTestable = "not testable",
    }
}

/// The measurements for a claim and the verdict.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The paper's statement, in a few words: `47.5 %`, `rcc lowest`.
    pub paper: String,
    /// Our result, in a few words.
    pub ours: String,
    /// Our number in the claim's unit, if the claim is about a number.
    pub value: Option<f64>,
    /// Its 95 % interval over the seeds.
    pub interval: Option<(f64, f64)>,
    /// The unit of both.
    pub unit: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub reason: String,
}

impl Verdict {
    /// Whether it needs an explanation: it could be tested and does not hold, or only in part.
    pub fn is_missed(self) -> bool {
        matches!(self, Self::Partly | Self::NotReproduced)
    }
}
