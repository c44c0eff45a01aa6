//! What the RCC paper predicts in closed form, to be drawn over what is measured.
//!
//! Lengths are in packets of full size, times in seconds, rates in packets per second: `C` is the
//! rate of the bottleneck, `RTT` the round trip without queueing, `K` the marking threshold, `N` the
//! number of flows. The queue includes the packet in service.
//!
//! | function | source |
//! |---|---|
//! | [`steady_queue`] | §5.1, eq. 4 |
//! | [`pending_acks`] | §5.1, eq. 6 |
//! | [`spurious_limit`] | §5.1, eq. 7 |
//! | [`Ecn`], [`least_threshold`] | §5.2 |
//! | [`ideal_completion`] | §6.1 |
//! | [`prioritised_completion`] | Alg. 1 and 2 for equal flows |
//!
//! The numbers of the equations of §5.2 are not repeated here: the functions were derived anew, as each
//! one's documentation shows, and agree with the paper's results.

/// Queue that the buffer queue of ACKs keeps once more flows are active than fit in the budget: what
/// is in flight, less what the path itself holds (RCC §5.1, eq. 4). Never below zero.
///
/// ```
/// // §6.1: 40 packets in flight, 83,333 packets/s, 160 us: 26.7 packets, the 40 KB of Fig. 5(c).
/// let queue = theory::rcc::steady_queue(40.0, 1e9 / 12_000.0, 160e-6);
/// assert!((queue - 26.67).abs() < 0.01);
/// ```
#[must_use]
pub fn steady_queue(max_queue: f64, rate: f64, rtt: f64) -> f64 {
    (max_queue - rate * rtt).max(0.0)
}

/// ACKs that wait in the buffer queue when `flows` have data to send and each may have one segment in
/// flight (RCC §5.1, eq. 6).
#[must_use]
pub fn pending_acks(flows: f64, max_queue: f64) -> f64 {
    (flows - max_queue).max(0.0)
}

/// ACKs that may wait before senders or the receiver take them for lost: the last of them leaves after
/// that many packet times, and the timeout `rto` has then passed (RCC §5.1, eq. 7).
#[must_use]
pub fn spurious_limit(rto: f64, rate: f64) -> f64 {
    rto * rate
}

/// The sawtooth of N synchronised flows that only answer marks: the receiver's response to ECN without
/// the scheduler (RCC §5.2, after Alizadeh et al., SIGCOMM 2010, §3.3).
///
/// The queue reaches K when each window is `W* = (C*RTT + K) / N`. The mark needs half a round trip to
/// the receiver, which decides; a sender that decides needs a whole one. Until then each window grows
/// by half a packet, so that a period marks `((W* + 1/2)^2 - W*^2) / 2` packets of the
/// `((W* + 1/2)^2 - (W* + 1/2)^2 (1 - alpha/2)^2) / 2` it sends. Their ratio is alpha itself, which
/// gives `alpha^2 (1 - alpha/4) = (W* + 1/4) / (W* + 1/2)^2`, nearly `1 / W*`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ecn {
    /// Rate of the bottleneck, packets/s.
    pub rate: f64,
    /// Round trip without queueing, s.
    pub rtt: f64,
    /// Marking threshold, packets.
    pub threshold: f64,
    /// Number of flows.
    pub flows: f64,
}

impl Ecn {
    /// Window of each flow when the queue reaches the threshold, in packets.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.held() / self.flows
    }

    /// Share of packets marked, to first order in `1 / W*`.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        (1.0 / self.window()).sqrt().min(1.0)
    }

    /// Height of the sawtooth of the queue in packets: `alpha/2` of the windows of all flows together.
    #[must_use]
    pub fn amplitude(&self) -> f64 {
        0.5 * (self.flows * self.held()).sqrt()
    }

    /// Period of the sawtooth in round trips: windows regain a packet in each.
    #[must_use]
    pub fn period(&self) -> f64 {
        0.5 * (self.held() / self.flows).sqrt()
    }

    /// Longest queue in packets: what N windows grow in half a round trip comes on top of K.
    #[must_use]
    pub fn max_queue(&self) -> f64 {
        self.threshold + self.flows / 2.0
    }

    /// Shortest queue in packets; below zero the link falls idle.
    #[must_use]
    pub fn min_queue(&self) -> f64 {
        self.max_queue() - self.amplitude()
    }

    /// Packets in the path and the queue when the queue reaches the threshold.
    fn held(&self) -> f64 {
        self.rate * self.rtt + self.threshold
    }
}

/// Least marking threshold in packets at which the link stays busy whatever the number of flows.
///
/// The shortest queue is least for `N = (C*RTT + K) / 4`, where it is `K - (C*RTT + K) / 8`: above zero
/// if `K > C*RTT / 7` (RCC §5.2; DCTCP's analysis ends in the same bound).
#[must_use]
pub fn least_threshold(rate: f64, rtt: f64) -> f64 {
    rate * rtt / 7.0
}

/// Time from the common start until the last of `flows` equal flows of `size` bytes completes on a link
/// that never falls idle: their bytes in segments of `mss`, and one flow's more for the time the first
/// window takes to open (RCC §6.1).
#[must_use]
pub fn ideal_completion(flows: f64, size: f64, mss: f64, rate: f64) -> f64 {
    (flows * size + size) / (mss * rate)
}

/// When the `rank`-th of equal flows completes if those before it are served first, in rounds of
/// `max_queue` flows that share the link: the groups of RCC Fig. 7(c).
///
/// With priority by remaining size, flows that have begun come before flows that have not, and no more
/// than `max_queue` of them fit into the budget at one segment each. A group ends together, when the
/// segments of its flows and of all earlier groups have passed the bottleneck.
#[must_use]
pub fn prioritised_completion(
    rank: f64,
    flows: f64,
    segments: f64,
    max_queue: f64,
    rate: f64,
) -> f64 {
    let served = ((rank / max_queue).ceil() * max_queue).min(flows);
    served * segments / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §6.1: 1 Gbit/s, 1,500-byte packets, four links of 40 us, K = 40.
    const RATE: f64 = 1e9 / 12_000.0;
    const RTT: f64 = 160e-6;

    fn ecn(flows: f64) -> Ecn {
        Ecn {
            rate: RATE,
            rtt: RTT,
            threshold: 40.0,
            flows,
        }
    }

    fn assert_close(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9 * right.abs(), "{left} {right}");
    }

    #[test]
    fn steady_queue_is_the_budget_less_the_path() {
        // 83,333 packets/s for 160 us are 13.3 packets.
        assert_close(steady_queue(40.0, RATE, RTT), 40.0 - 40.0 / 3.0);
        assert_close(1.0 + steady_queue(10.0, RATE, RTT), 1.0);
    }

    #[test]
    fn acks_wait_beyond_the_budget_and_are_repeated_beyond_a_timeout() {
        assert_close(pending_acks(90.0, 40.0), 50.0);
        assert_close(1.0 + pending_acks(40.0, 40.0), 1.0);
        // 10 ms of packets of 12 us: with a budget of 40 packets up to 873 senders.
        assert_close(spurious_limit(10e-3, RATE), 10e-3 / 12e-6);
        assert!(pending_acks(873.0, 40.0) < spurious_limit(10e-3, RATE));
        assert!(pending_acks(874.0, 40.0) > spurious_limit(10e-3, RATE));
    }

    #[test]
    fn sawtooth_of_the_paper_is_above_4_packets_and_about_one_round_trip() {
        // C*RTT + K = 160/3 packets. §5.2: A_r above 4 packets from two flows on, T_c about 1 RTT:
        // exactly one for a quarter of 160/3 flows.
        for flows in [2.0, 10.0, 40.0] {
            assert!(ecn(flows).amplitude() > 4.0);
        }
        assert_close(ecn(40.0 / 3.0).period(), 1.0);
        assert_close(ecn(40.0 / 3.0).amplitude(), 40.0 / 3.0);
        assert_close(ecn(10.0).max_queue(), 45.0);
    }

    #[test]
    fn alpha_solves_the_ratio_of_marked_packets() {
        // The equation in the documentation of `Ecn`, by bisection, against its first-order solution:
        // the relative difference vanishes with 1/sqrt(W*).
        for flows in [0.01, 0.1, 1.0] {
            let model = ecn(flows);
            let window = model.window();
            let target = (window + 0.25) / ((window + 0.5) * (window + 0.5));
            let (mut low, mut high) = (0.0_f64, 1.0_f64);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if middle * middle * (1.0 - middle / 4.0) < target {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let error = (low / model.alpha() - 1.0).abs();
            assert!(error < 0.25 * model.alpha(), "{flows}: {error}");
            // Height and period follow from it: N flows lose alpha/2 of W*, and regain 1 per RTT.
            assert_close(model.amplitude(), flows * window * model.alpha() / 2.0);
            assert_close(model.period(), window * model.alpha() / 2.0);
        }
    }

    #[test]
    fn least_threshold_keeps_the_shortest_queue_at_zero() {
        let threshold = least_threshold(RATE, RTT);
        let held = RATE * RTT + threshold;
        let shortest = |flows: f64| {
            Ecn {
                rate: RATE,
                rtt: RTT,
                threshold,
                flows,
            }
            .min_queue()
        };
        assert!(shortest(held / 4.0).abs() < 1e-9);
        assert!(shortest(held / 3.0) > 0.0);
        assert!(shortest(held / 5.0) > 0.0);
    }

    #[test]
    fn ninety_flows_end_in_the_two_groups_of_figure_7c() {
        // 32 KiB are 23 segments: 40 * 23 * 12 us = 11.04 ms, 90 * 23 * 12 us = 24.84 ms; with the start
        // at 10 ms near the 20 and 33 ms of the figure.
        assert_close(
            prioritised_completion(1.0, 90.0, 23.0, 40.0, RATE),
            11.04e-3,
        );
        assert_close(
            prioritised_completion(40.0, 90.0, 23.0, 40.0, RATE),
            11.04e-3,
        );
        assert_close(
            prioritised_completion(90.0, 90.0, 23.0, 40.0, RATE),
            24.84e-3,
        );
        // 91 flows of 32,768 bytes at 1,446 bytes per 12 us.
        assert_close(
            ideal_completion(90.0, 32_768.0, 1446.0, RATE),
            91.0 * 32_768.0 / 1446.0 * 12e-6,
        );
    }
}
