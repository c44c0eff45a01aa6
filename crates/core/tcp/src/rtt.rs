//! Round-trip estimate and retransmission timeout (RFC 6298).

use base::Span;

use crate::config::{Config, RtoEstimator, whole_us};

/// The estimator of RFC 6298 §2 with its back-off.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// The timeout now in force, kept up to date because every ACK asks for it.
    rto: Span,
    /// Smoothed round trip; zero before the first sample.
    srtt: Span,
    rttvar: Span,
    /// How Linux measures deviations, if it is to.
    linux: Option<Box<LargestDeviation>>,
}

/// Deviations as Linux 6.12 measures them, four times as large as those of the RFC.
///
/// The largest of a round trip counts at once, and decays by a quarter with each round trip that has a
/// smaller one; a deviation that shrinks the estimate counts for less (an idea of the Eifel timer). The
/// minimum RTO is the least deviation and not the least sum. All are whole microseconds, and the mean is kept in eighths of
/// one; a part of a microsecond that a division leaves is dropped. Where a clock ticks, both are whole ticks, and the
/// back-off doubles those: with 250 ticks a second a minimum of 10 ms makes timeouts of 16, 32 and 64 ms.
#[derive(Clone, Debug)]
struct LargestDeviation {
    /// The smoothed deviation.
    deviation: Span,
    /// The largest in this round trip, or the minimum RTO.
    largest: Span,
    /// The round trip ends when this offset is acknowledged.
    until: u64,
    /// The timeout of the last sample in whole ticks, unless no clock ticks.
    ticks: Span,
}

impl RttEstimator {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            rto: config.initial_rto.min(config.max_rto),
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            linux: (config.rto_estimator == RtoEstimator::Linux).then(|| {
                Box::new(LargestDeviation {
                    deviation: Span::ZERO,
                    largest: Span::ZERO,
                    until: 0,
                    ticks: Span::ZERO,
                })
            }),
        }
    }

    /// A sample of a segment that was sent once (Karn), by an ACK up to `una` with everything sent up to
    /// `next`.
    pub(crate) fn sample(&mut self, rtt: Span, (una, next): (u64, u64), config: &Config) {
        if self.linux.is_some() {
            return self.sample_as_linux(rtt, (una, next), config);
        }
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

    /// The estimate of `tcp_rtt_estimator`, of a sample in whole microseconds.
    #[inline(never)]
    fn sample_as_linux(&mut self, rtt: Span, (una, next): (u64, u64), config: &Config) {
        let Some(linux) = &mut self.linux else { return };
        if self.srtt == Span::ZERO {
            self.srtt = rtt;
            linux.deviation = rtt * 2;
            self.rttvar = linux.deviation.max(config.in_ticks(config.min_rto));
            (linux.largest, linux.until) = (self.rttvar, next);
        } else {
            let mean = whole_us(self.srtt);
            let error = mean.abs_diff(rtt);
            let before = whole_us(linux.deviation / 4);
            linux.deviation = if error <= before {
                linux.deviation - (before - error)
            } else if rtt < mean {
                linux.deviation + whole_us((error - before) / 8)
            } else {
                linux.deviation + (error - before)
            };
            self.srtt = self.srtt + rtt / 8 - mean / 8;
            linux.largest = linux.largest.max(linux.deviation);
            self.rttvar = self.rttvar.max(linux.largest);
            if una > linux.until {
                let beyond = self.rttvar - linux.largest;
                self.rttvar = self.rttvar - whole_us(beyond / 4);
                (linux.largest, linux.until) = (config.in_ticks(config.min_rto), next);
            }
        }
        self.srtt = self.srtt.max(LEAST_SRTT);
        let timeout = whole_us(self.srtt) + self.rttvar;
        // Most samples leave it within the same tick.
        if timeout > linux.ticks || timeout + config.tick <= linux.ticks {
            linux.ticks = config.in_ticks(timeout);
        }
        self.rto = linux.ticks.min(config.max_rto);
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

/// An eighth of a microsecond: zero would be no sample (`tcp_rtt_estimator`).
const LEAST_SRTT: Span = Span::from_ps(125_000);

#[cfg(test)]
mod tests {
    use base::Time;

    use super::*;

    fn config() -> Config {
        Config {
            min_rto: Span::from_millis(1),
            ..Config::default()
        }
    }

    // Clauses: RFC6298-2.2-first
    #[test]
    fn the_first_sample_sets_three_times_the_round_trip() {
        // RFC 6298 §2.2: SRTT + 4 * R/2.
        let mut rtt = RttEstimator::new(&config());
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.sample(Span::from_millis(100), (1, 1), &config());
        assert_eq!(rtt.rto(), Span::from_millis(300));
    }

    // Clauses: RFC6298-2.3-later
    #[test]
    fn later_samples_are_smoothed_by_an_eighth_and_a_quarter() {
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_millis(80), (1, 1), &config());
        rtt.sample(Span::from_millis(160), (1, 1), &config());
        // rttvar = 3/4 * 40 + 1/4 * 80 = 50; srtt = 7/8 * 80 + 1/8 * 160 = 90.
        assert_eq!(rtt.rto(), Span::from_millis(90 + 200));
    }

    #[test]
    fn timeouts_double_up_to_the_maximum_and_a_sample_ends_the_back_off() {
        let mut rtt = RttEstimator::new(&config());
        rtt.sample(Span::from_secs(10), (1, 1), &config());
        rtt.back_off(&config());
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.sample(Span::from_secs(10), (1, 1), &config());
        assert!(rtt.rto() < Span::from_secs(60));
    }

    // Linux counts the timeout in ticks (`tcp_rtt_estimator`, `tcp_set_rto`), whatever the sample before left.
    #[test]
    fn a_timeout_is_the_next_tick_at_or_after_the_estimate() {
        for tick in [0, 1, 4] {
            let config = Config {
                rto_estimator: RtoEstimator::Linux,
                tick: Span::from_millis(tick),
                ..config()
            };
            let mut rtt = RttEstimator::new(&config);
            for step in 0..2000_u64 {
                let sample = Span::from_micros(100 + step * 7919 % 9000);
                rtt.sample(sample, (step, step + 10), &config);
                let estimate = whole_us(rtt.srtt) + rtt.rttvar;
                assert_eq!(rtt.rto(), config.in_ticks(estimate), "{tick} {step}");
                if step % 50 == 0 {
                    rtt.back_off(&config);
                }
            }
        }
    }

    // Clauses: RFC6298-2.3-granularity
    #[test]
    fn the_variance_counts_for_no_less_than_the_granularity_of_the_clock() {
        // RFC 6298 §2.3: SRTT + max(G, 4 * RTTVAR), where RTTVAR has all but vanished.
        let config = Config {
            clock_granularity: Span::from_millis(100),
            ..config()
        };
        let mut rtt = RttEstimator::new(&config);
        for _ in 0..100 {
            rtt.sample(Span::from_millis(80), (1, 1), &config);
        }
        assert_eq!(rtt.rto(), Span::from_millis(180));
    }

    // Clauses: RFC6298-2.4-minimum
    #[test]
    fn the_minimum_bounds_the_sum_and_not_the_variance_alone() {
        // The RFC's form, not Linux's srtt + max(200 ms, 4 * rttvar).
        let mut rtt = RttEstimator::new(&Config::default());
        let config = Config {
            min_rto: Span::from_millis(200),
            ..Config::default()
        };
        for _ in 0..100 {
            rtt.sample(Span::from_millis(40), (1, 1), &config);
        }
        assert_eq!(rtt.rto(), Span::from_millis(200));
    }

    // Linux 6.12: the round trip and the larger of the minimum and four deviations.
    #[test]
    fn linux_adds_the_minimum_to_the_round_trip() {
        let config = Config {
            rto_estimator: RtoEstimator::Linux,
            ..Config::default()
        };
        let mut rtt = RttEstimator::new(&config);
        for round in 0..100 {
            rtt.sample(Span::from_millis(40), (round, round + 1), &config);
        }
        assert_eq!(rtt.rto(), Span::from_millis(240));
    }

    // Linux 6.12: of 100.875 us the estimator sees 100, so that the next sample of 107 us is 7 us away.
    #[test]
    fn linux_drops_the_part_of_a_microsecond() {
        let config = Config {
            rto_estimator: RtoEstimator::Linux,
            ..config()
        };
        let us = Span::from_micros;
        let mut rtt = RttEstimator::new(&config);
        for sample in [100, 107, 107] {
            rtt.sample(us(sample), (1, 10), &config);
        }
        assert_eq!(rtt.srtt(), Span::from_ps(101_750_000));
        // A deviation of 200 us, and less by a quarter and more by 7: 157, and 157 - 39 + 7.
        assert_eq!(rtt.linux.map(|linux| linux.deviation), Some(us(125)));
        assert_eq!(
            config.stamp(Time::ZERO + Span::from_ps(7_999_999)),
            Time::ZERO + us(7)
        );
    }

    // Linux 6.18 at 250 ticks a second, in captures: with a minimum of 10 ms and round trips of less than 4 ms
    // timers fire 20, 36 and 68 ms after they were set by a timer, a place of the wheel behind these.
    #[test]
    fn linux_counts_timeouts_and_their_minimum_in_whole_ticks() {
        let config = Config {
            rto_estimator: RtoEstimator::Linux,
            min_rto: Span::from_millis(10),
            tick: Span::from_millis(4),
            ..Config::default()
        };
        let mut rtt = RttEstimator::new(&config);
        rtt.sample(Span::from_micros(300), (1, 2), &config);
        for expected in [16, 32, 64] {
            assert_eq!(rtt.rto(), Span::from_millis(expected));
            rtt.back_off(&config);
        }
    }

    #[test]
    fn linux_counts_the_largest_deviation_at_once_and_forgets_it_by_a_quarter_a_round_trip() {
        let config = Config {
            rto_estimator: RtoEstimator::Linux,
            min_rto: Span::from_millis(1),
            ..Config::default()
        };
        let ms = Span::from_millis;
        let mut rtt = RttEstimator::new(&config);
        // The first sample: three round trips; then 24 - 6 of deviation without error.
        rtt.sample(ms(12), (1, 10), &config);
        assert_eq!(rtt.rto(), ms(36));
        // An error of 28 ms: 24 - 6 + 28 = 46 ms; the mean is 12 + 28/8.
        rtt.sample(ms(40), (5, 20), &config);
        assert_eq!(rtt.rttvar, ms(46));
        assert_eq!(rtt.rto(), Span::from_micros(15_500) + ms(46));
        // This round trip had it; the next begins with the minimum.
        rtt.sample(Span::from_micros(15_500), (11, 30), &config);
        assert_eq!(rtt.rttvar, ms(46));
        // Deviation 34.5 - 8.625 = 25.875 ms is the largest of the second round trip.
        rtt.sample(Span::from_micros(15_500), (31, 40), &config);
        // A quarter of 20,125 us is 5,031 whole ones.
        assert_eq!(rtt.rttvar, ms(46) - Span::from_micros(5_031));
    }
}
