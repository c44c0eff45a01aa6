//! Ranks, and numbers as measurements.

/// The value below which this share of all lies (nearest rank); 0 of none.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank from 1 to their number"
    )]
    let rank = (share * as_f64(values.len() as u64)).ceil().max(1.0) as usize;
    values.get(rank - 1).copied().unwrap_or(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "measurements carry 53 bits")]
pub(crate) fn as_f64(number: u64) -> f64 {
    number as f64
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
