//! Ranks.

use base::cast::{count, index, whole};

/// The value below which this share of all lies (nearest rank); 0 of none.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = index(whole((share * count(values.len())).ceil()).max(1));
    values.get(rank - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let mut values = [3.0, 1.0, 2.0];
        assert!((percentile(&mut values, 0.5) - 2.0).abs() < 1e-9);
        assert!((percentile(&mut values, 0.99) - 3.0).abs() < 1e-9);
        assert!(percentile(&mut [], 0.5).abs() < 1e-9);
    }
}
