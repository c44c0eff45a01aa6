//! Tiers of ports over the seeds of a row.

use serde::{Deserialize, Serialize};

use sim::metrics::TierMetrics;

/// The ports of one tier over all seeds of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// `host`, `leaf up`, `leaf down`, `spine`.
    pub tier: String,
    /// Packets that its ports dropped, on average over the seeds.
    pub drops: f64,
    /// Both ends of its worst port, in the seed in which that was worst.
    pub worst: String,
    /// Packets that the worst port dropped.
    pub worst_drops: u64,
    /// The longest queue of the worst port.
    pub worst_queue_max_bytes: u64,
}

/// Every tier over the seeds that have results, each of which has these tiers.
pub(super) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a [TierMetrics]> + Clone) -> Vec<Tier> {
    let mut tiers: Vec<Tier> = Vec::new();
    let count = seeds.clone().count();
    for own in seeds.flatten() {
        #[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
        let drops = own.drops as f64 / count as f64;
        let worst = (own.worst_drops, own.worst_queue_max_bytes);
        match tiers.iter_mut().find(|tier| tier.tier == own.tier) {
            Some(tier) => {
                tier.drops += drops;
                if worst > (tier.worst_drops, tier.worst_queue_max_bytes) {
                    tier.worst.clone_from(&own.worst);
                    (tier.worst_drops, tier.worst_queue_max_bytes) = worst;
                }
            }
            None => tiers.push(Tier {
                tier: own.tier.clone(),
                drops,
                worst: own.worst.clone(),
                worst_drops: own.worst_drops,
                worst_queue_max_bytes: own.worst_queue_max_bytes,
            }),
        }
    }
    tiers
}
