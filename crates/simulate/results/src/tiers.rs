//! Tiers of ports, over the seeds of a row.

use base::cast::real;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sim::metrics::TierMetrics;

/// The ports of one tier over all seeds of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// `host`, `leaf up`, `leaf down`, `spine`.
    pub tier: String,
    /// Packets that its ports dropped, on average over the seeds.
    pub drops: f64,
    /// Both ends of a port: the one with the most drops in all, among the ports that were the worst of their seed.
    pub worst: String,
    /// Packets that the worst port of each seed dropped, on average over the seeds: never more than `drops`.
    pub worst_drops: f64,
    /// The longest queue of the port `worst`, over the seeds in which it was the worst.
    pub worst_queue_max_bytes: u64,
}

/// For each port that was the worst of a seed: its drops in these seeds, and its longest queue.
type WorstPorts<'a> = BTreeMap<&'a str, (u64, u64)>;

/// Every tier over the seeds with results, which all have the same tiers.
pub(super) fn over_seeds<'a>(seeds: impl Iterator<Item = &'a [TierMetrics]> + Clone) -> Vec<Tier> {
    let count = seeds.clone().count();
    let mean = |sum: u64| real(sum) / real(count as u64);
    let mut tiers: Vec<(Tier, u64, WorstPorts<'_>)> = Vec::new();
    for own in seeds.flatten() {
        let place = tiers.iter().position(|(tier, ..)| tier.tier == own.tier);
        let place = place.unwrap_or_else(|| {
            let tier = Tier {
                tier: own.tier.clone(),
                drops: 0.0,
                worst: String::new(),
                worst_drops: 0.0,
                worst_queue_max_bytes: 0,
            };
            tiers.push((tier, 0, BTreeMap::new()));
            tiers.len() - 1
        });
        let (_, drops, worst) = &mut tiers[place];
        *drops += own.drops;
        let (dropped, queue) = worst.entry(&own.worst).or_default();
        *dropped += own.worst_drops;
        *queue = (*queue).max(own.worst_queue_max_bytes);
    }
    let over_all = tiers.into_iter().map(|(mut tier, drops, worst)| {
        tier.drops = mean(drops);
        tier.worst_drops = mean(worst.values().map(|(dropped, _)| dropped).sum());
        // Among equal ports, the first by name.
        let most = worst.iter().rev().max_by_key(|(_, numbers)| **numbers);
        if let Some((name, (_, queue))) = most {
            (tier.worst, tier.worst_queue_max_bytes) = ((*name).to_owned(), *queue);
        }
        tier
    });
    over_all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(drops: u64, worst: &str, worst_drops: u64) -> Vec<TierMetrics> {
        vec![TierMetrics {
            tier: "spine".to_owned(),
            ports: 4,
            drops,
            marks: 0,
            worst: worst.to_owned(),
            worst_drops,
            worst_queue_max_bytes: 10 * worst_drops,
        }]
    }

    #[test]
    fn a_port_never_drops_more_than_its_tier() {
        let seeds = [
            seed(0, "a", 0),
            seed(1, "b", 1),
            seed(60, "b", 50),
            seed(0, "a", 0),
            seed(9, "c", 9),
        ];
        let tiers = over_seeds(seeds.iter().map(Vec::as_slice));
        let [spine] = tiers.as_slice() else {
            panic!("{tiers:?}");
        };
        // 70 drops in five seeds, 60 of them at the worst port of each; b had 51 of those.
        assert!((spine.drops - 14.0).abs() < 1e-9 && (spine.worst_drops - 12.0).abs() < 1e-9);
        assert!(spine.worst_drops <= spine.drops);
        assert_eq!(
            (spine.worst.as_str(), spine.worst_queue_max_bytes),
            ("b", 500)
        );
    }

    #[test]
    fn one_seed_tells_its_own_worst_port() {
        let tiers = over_seeds([seed(60, "b", 50)].iter().map(Vec::as_slice));
        assert_eq!(
            (tiers[0].worst.as_str(), tiers[0].worst_queue_max_bytes),
            ("b", 500)
        );
        assert!((tiers[0].worst_drops - 50.0).abs() < 1e-9);
    }
}
