//! Round-trip estimate and retransmission timeout (RFC 6298).

use base::Span;

use crate::config::Config;

/// The estimator of RFC 6298 §2 with its back-off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimator {
    /// The timeout now in force, kept up to date because every ACK asks for it.
    rto: Span,
    /// Smoothed round trip; zero before the first sample.
    srtt: Span,
    rttvar: Span,
}

impl RttEstimator {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            rto: config.initial_rto.min(config.max_rto),
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
        }
    }

    /// A sample of a segment that was sent once (Karn).
    pub(crate) fn sample(&mut self, rtt: Span, config: &Config) {
        if self.srtt == Span::ZERO {
            // RFC 6298 §2.2.
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
        } else {
            // RFC 6298 §2.3, in this order: beta = 1/4, alpha = 1/8.
            self.rttvar = self.rttvar - self.rttvar / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        }
        let variance = (self.rttvar * 4).max(config.clock_granularity);
        let bounded = (self.srtt + variance).max(config.min_rto);
        self.rto = bounded.min(config.max_rto);
    }

    /// RFC 6298 §5.7: the handshake gave no sample because one of its segments was lost.
    pub(crate) fn after_syn_loss(&mut self, config: &Config) {
        let least = config.rto_after_syn_loss.min(config.max_rto);
        self.rto = self.rto.max(least);
    }

    /// RFC 6298 §5.5.
    pub(crate) fn back_off(&mut self, config: &Config) {
        self.rto = (self.rto * 2).min(config.max_rto);
    }

    /// The timeout now in force.
    #[inline(always)]
    pub(crate) const fn rto(&self) -> Span {
        self.rto
    }

    /// The smoothed round trip; zero before the first sample.
    pub(crate) const fn srtt(&self) -> Span {
        self.srtt
    }
}

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
        let mut rtt = RttEstimator::new(&config());
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.sample(Span::from_millis(100), &config());
        assert_eq!(rtt.rto(), Span::from_millis(300));
    }

    #[test]
    fn later_samples_are_smoothed_by_an_eighth_and_a_quarter() {
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_millis(80), &config());
        rtt.sample(Span::from_millis(160), &config());
        // rttvar = 3/4 * 40 + 1/4 * 80 = 50; srtt = 7/8 * 80 + 1/8 * 160 = 90.
        assert_eq!(rtt.rto(), Span::from_millis(90 + 200));
    }

    #[test]
    fn timeouts_double_up_to_the_maximum_and_a_sample_ends_the_back_off() {
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_secs(10), &config());
        rtt.back_off(&config());
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.sample(Span::from_secs(10), &config());
        assert!(rtt.rto() < Span::from_secs(60));
    }

    #[test]
    fn the_variance_counts_for_no_less_than_the_granularity_of_the_clock() {
        // RFC 6298 §2.3: SRTT + max(G, 4 * RTTVAR), where RTTVAR has all but vanished.
        let config = Config {
            clock_granularity: Span::from_millis(100),
            ..config()
        };
        let mut rtt = RttEstimator::new(&config);
        for _ in 0..100 {
            rtt.sample(Span::from_millis(80), &config);
        }
        assert_eq!(rtt.rto(), Span::from_millis(180));
    }

    #[test]
    fn the_minimum_bounds_the_sum_and_not_the_variance_alone() {
        // The RFC's form, not Linux's srtt + max(200 ms, 4 * rttvar).
        let mut rtt = RttEstimator::new(&Config::default());
        let config = Config {
            min_rto: Span::from_millis(200),
            ..Config::default()
        };
        for _ in 0..100 {
            rtt.sample(Span::from_millis(40), &config);
        }
        assert_eq!(rtt.rto(), Span::from_millis(200));
    }
}
