//! Round-trip estimate and retransmission timeout (RFC 6298).

use base::Span;

use crate::config::Config;

/// The estimator of RFC 6298 §2 with its back-off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    /// Smoothed round trip; zero before the first sample.
    srtt: Span,
    rttvar: Span,
    /// How often the timeout has been doubled since the last sample.
    backoff: u32,
}

impl RttEstimator {
    pub(crate) const fn new() -> Self {
        Self {
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            backoff: 0,
        }
    }

    /// A sample of a segment that was sent once (Karn).
    pub(crate) fn sample(&mut self, rtt: Span) {
        if self.srtt == Span::ZERO {
            // RFC 6298 §2.2.
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
        } else {
            // RFC 6298 §2.3, in this order: beta = 1/4, alpha = 1/8.
            self.rttvar = self.rttvar - self.rttvar / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        }
        self.backoff = 0;
    }

    /// RFC 6298 §5.5.
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
    }

    /// The timeout now in force.
    pub(crate) fn rto(&self, config: &Config) -> Span {
        let base = if self.srtt == Span::ZERO {
            config.initial_rto
        } else {
            let variance = (self.rttvar * 4).max(config.clock_granularity);
            (self.srtt + variance).max(config.min_rto)
        };
        (base * (1 << self.backoff)).min(config.max_rto)
    }

    /// The smoothed round trip; zero before the first sample.
    pub(crate) const fn srtt(&self) -> Span {
        self.srtt
    }
}

/// The upper bound of the timeout is reached long before: 2^16 times 1 ms is a minute.
const MAX_BACKOFF: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            min_rto: Span::from_millis(1),
            ..Config::default()
        }
    }

    #[test]
    fn the_first_sample_sets_three_times_the_round_trip() {
        // RFC 6298 §2.2: SRTT + 4 * R/2.
        let mut rtt = RttEstimator::new();
        assert_eq!(rtt.rto(&config()), Span::from_secs(1));
        rtt.sample(Span::from_millis(100));
        assert_eq!(rtt.rto(&config()), Span::from_millis(300));
    }

    #[test]
    fn later_samples_are_smoothed_by_an_eighth_and_a_quarter() {
        let mut rtt = RttEstimator::new();
        rtt.sample(Span::from_millis(80));
        rtt.sample(Span::from_millis(160));
        // rttvar = 3/4 * 40 + 1/4 * 80 = 50; srtt = 7/8 * 80 + 1/8 * 160 = 90.
        assert_eq!(rtt.rto(&config()), Span::from_millis(90 + 200));
    }

    #[test]
    fn timeouts_double_up_to_the_maximum_and_a_sample_ends_the_back_off() {
        let mut rtt = RttEstimator::new();
        rtt.sample(Span::from_secs(10));
        rtt.back_off();
        assert_eq!(rtt.rto(&config()), Span::from_secs(60));
        rtt.sample(Span::from_secs(10));
        assert!(rtt.rto(&config()) < Span::from_secs(60));
    }

    #[test]
    fn the_minimum_bounds_the_sum_and_not_the_variance_alone() {
        // The RFC's form, not Linux's srtt + max(200 ms, 4 * rttvar).
        let mut rtt = RttEstimator::new();
        let config = Config {
            min_rto: Span::from_millis(200),
            ..Config::default()
        };
        for _ in 0..100 {
            rtt.sample(Span::from_millis(40));
        }
        assert_eq!(rtt.rto(&config), Span::from_millis(200));
    }
}
