//! The three kinds of claims.

use serde::Deserialize;

use super::tree::Site;

/// The kind of a claim, which decides its other keys.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Number,
    Order,
    Shape,
}

impl Kind {
    /// The kind of a claim: given explicitly, or by a key that only this kind has.
    pub(super) fn of(claim: Site<'_>) -> Option<Self> {
        let has = |keys: &[&str]| keys.iter().any(|key| claim.has(key));
        let shape = has(&["shape"]).then_some(Self::Shape);
        let number = has(&["paper"]).then_some(Self::Number);
        let order = has(&["lowest", "highest", "sorted"]).then_some(Self::Order);
        let written = claim.key("kind").read();
        written.or(shape).or(number).or(order)
    }
}
