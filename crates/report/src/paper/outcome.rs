//! What came out of a claim, as the page shows it.

/// A claim with what came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its full name, as in `rcc/fig5a/queue-lowest`.
    pub id: String,
    /// What the paper says.
    pub says: String,
    /// Where the paper says it.
    pub place: String,
    /// How it was judged.
    pub verdict: Verdict,
    /// The paper's number with its unit; empty if the claim has none.
    pub paper: String,
    /// Ours with its interval.
    pub ours: String,
    /// What else there is to know, as pairs of a word and what it says.
    pub facts: Vec<(String, String)>,
    /// Experiments that may explain the difference.
    pub causes: Vec<Tried>,
}

/// An experiment that may explain why a claim does not reproduce.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What it supposes.
    pub says: String,
    /// The setting that it changes, as in `dctcp.alpha = 1`.
    pub set: String,
    /// Ours with that setting.
    pub ours: String,
    /// How the claim is judged then.
    pub verdict: Verdict,
}

/// How a claim is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It holds here.
    Reproduced,
    /// Its sign and order hold, or most of it.
    Partly,
    /// It does not hold here.
    Not,
    /// It cannot be tested.
    NotTestable,
}

impl Outcome {
    /// The name by which a link finds it.
    pub(super) fn anchor(&self) -> String {
        self.id.replace('/', "-")
    }
}

impl Tried {
    /// Whether the claim holds with the setting changed.
    pub(super) fn explains(&self) -> bool {
        self.verdict == Verdict::Reproduced
    }
}

impl Verdict {
    /// All of them, from the best.
    pub(super) const ALL: [Self; 4] =
        [Self::Reproduced, Self::Partly, Self::Not, Self::NotTestable];

    /// What it is called.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::Not => "not reproduced",
            Self::NotTestable => "not testable",
        }
    }

    /// Its place in an order from the best.
    pub(super) fn place(self) -> usize {
        let place = Self::ALL.iter().position(|other| *other == self);
        place.unwrap_or(0)
    }

    /// The class of its colour.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::NotTestable => "untestable",
        }
    }
}
