//! The collectives of a row, over its seeds.

use base::cast::real;
use sim::metrics::CollectiveMetrics;

/// The collectives of each group over the seeds with results: the mean over all complete collectives, and the slowest.
pub(super) fn over_seeds<'a>(
    seeds: impl Iterator<Item = &'a [CollectiveMetrics]>,
) -> Vec<CollectiveMetrics> {
    let mut all: Vec<CollectiveMetrics> = Vec::new();
    for own in seeds.flatten() {
        let Some(one) = all.iter_mut().find(|one| one.group == own.group) else {
            all.push(own.clone());
            continue;
        };
        if own.completed == 0 {
            continue;
        }
        let sum = |of: &CollectiveMetrics| match of.completed {
            0 => 0.0,
            completed => of.mean_us * real(completed),
        };
        one.mean_us = (sum(one) + sum(own)) / real(one.completed + own.completed);
        if one.completed == 0 || own.slowest_us > one.slowest_us {
            (one.slowest_us, one.held_up) = (own.slowest_us, own.held_up.clone());
        }
        one.completed += own.completed;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(completed: u64, mean_us: f64) -> Vec<CollectiveMetrics> {
        vec![CollectiveMetrics {
            group: String::new(),
            completed,
            ideal_us: 10.0,
            mean_us,
            slowest_us: mean_us,
            held_up: None,
        }]
    }

    #[test]
    fn seeds_count_by_their_complete_collectives() {
        let seeds = [
            seed(0, f64::NAN),
            seed(1, 10.0),
            seed(3, 30.0),
            seed(0, f64::NAN),
        ];
        let all = over_seeds(seeds.iter().map(Vec::as_slice));
        assert_eq!(all[0].completed, 4);
        assert!((all[0].mean_us - 25.0).abs() < 1e-9);
        assert!((all[0].slowest_us - 30.0).abs() < 1e-9);
    }
}
