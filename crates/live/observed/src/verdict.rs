//! The verdict on a network.

use crate::crowds::Crowds;
use crate::seen::{Observation, ObservedVerdict, VerdictEvidence};
use crate::sums::FlowSums;
use base::cast::real;

/// With at least this many simultaneous flows it may be incast.
pub const DEGREE: u32 = 8;

/// Finds the verdict for what was counted. A crowd is followed by the losses of its flows within two retransmission
/// timeouts.
#[must_use]
pub fn judge<R: Ord + Clone + ToString>(
    seen: &Observation,
    flows: &FlowSums,
    crowds: &Crowds<R>,
) -> VerdictEvidence {
    let within_s = 2.0 * seen.min_rto_ms.unwrap_or(LINUX_RTO_MS) / 1e3;
    let mut judged = crowds.judged(within_s);
    let window = 10 * u64::from(seen.mss.unwrap_or(MSS));
    let round_trips_s = 3.0 * seen.min_rtt_us.unwrap_or(0.0) / 1e6;
    (judged.long_flows, judged.short_lived) = flows.long_flows(window, round_trips_s);
    judged.verdict = verdict(seen, &judged, flows.flows);
    judged
}

fn verdict(seen: &Observation, judged: &VerdictEvidence, flows: u64) -> ObservedVerdict {
    let lost = seen.drops
        + judged.timeouts.saturating_sub(seen.needless_timeouts)
        + seen
            .fast_retransmits
            .saturating_sub(seen.needless_fast_retransmits);
    let seconds = seen.seconds.max(1e-9);
    let is_below_half = |bytes: u64| real(bytes) * 16.0 / seconds < real(seen.rate_bps);
    let mut bursts = seen.bursts.into_iter().zip(seen.packet_bytes);
    let queue = seen.queue.as_ref();
    let room = queue.and_then(|queue| Some((queue.max_bytes, queue.room_bytes?)));
    let fills = room.is_none_or(|(most, room)| 2 * most >= room);
    let has_bursts = bursts.any(|(bursts, bytes)| bursts >= 3 && is_below_half(bytes));
    if judged.followed >= 3 && 2 * judged.timeouts_following >= judged.timeouts {
        ObservedVerdict::Incast
    } else if lost > 0 {
        ObservedVerdict::LossWithoutIncast
    } else if seen.bursts_known && fills && has_bursts {
        ObservedVerdict::Microbursts
    } else if judged.short_lived >= 3 && 2 * judged.short_lived > flows {
        ObservedVerdict::SlowStartBound
    } else {
        ObservedVerdict::Quiet
    }
}

/// `TCP_RTO_MIN` of Linux.
const LINUX_RTO_MS: f64 = 200.0;
/// Of Ethernet, with timestamps.
const MSS: u32 = 1_448;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::crowds::ObservedLoss;
    use crate::seen::{Flow, Queue};

    /// The time of a crowd.
    fn crowd(at_s: f64) -> Duration {
        Duration::from_secs_f64(at_s)
    }

    fn timeout(
        receiver: &'static str,
        at_s: f64,
        flow_since_s: f64,
    ) -> (&'static str, ObservedLoss) {
        let loss = ObservedLoss {
            at: Duration::from_secs_f64(at_s),
            flow_since: Duration::from_secs_f64(flow_since_s),
            is_timeout: true,
        };
        (receiver, loss)
    }

    /// The verdict for these flows, crowds of 20 flows to one receiver, and losses.
    fn judge(
        seen: &Observation,
        flows: &[Flow],
        crowds: &[Duration],
        losses: &[(&'static str, ObservedLoss)],
    ) -> VerdictEvidence {
        let mut all = Crowds::default();
        for at in crowds {
            all.add("10.0.0.9", *at, 20);
        }
        for (receiver, loss) in losses {
            all.lose(*receiver, *loss);
        }
        super::judge(seen, &flows.iter().collect(), &all)
    }

    fn flow(bytes: u64, fct_s: f64) -> Flow {
        Flow {
            fct_s,
            ..Flow::lossless("10.0.0.1:5", "10.0.0.9:80", bytes)
        }
    }

    fn seen() -> Observation {
        Observation {
            seconds: 10.0,
            rate_bps: 1_000_000_000,
            min_rtt_us: Some(100.0),
            bursts_known: true,
            ..Observation::default()
        }
    }

    #[test]
    fn incast_is_three_crowds_that_timeouts_of_their_flows_follow() {
        let crowds = [crowd(1.0), crowd(2.0), crowd(3.0)];
        let mut losses: Vec<_> = [1.2, 2.4, 3.3]
            .map(|at| timeout("10.0.0.9", at, at - 0.5))
            .into();
        let judged = judge(&seen(), &[], &crowds, &losses);
        assert_eq!(judged.verdict, ObservedVerdict::Incast);
        assert_eq!(
            (judged.followed, judged.timeouts_following, judged.timeouts),
            (3, 3, 3)
        );
        assert_eq!(
            (judged.most, judged.receiver.as_deref()),
            (20, Some("10.0.0.9"))
        );
        // Three more timeouts elsewhere leave half; a fourth one leaves less.
        losses.extend([1.2, 2.2, 3.2].map(|at| timeout("10.0.0.8", at, 0.0)));
        assert_eq!(
            judge(&seen(), &[], &crowds, &losses).verdict,
            ObservedVerdict::Incast
        );
        losses.push(timeout("10.0.0.8", 4.0, 0.0));
        assert_eq!(
            judge(&seen(), &[], &crowds, &losses).verdict,
            ObservedVerdict::LossWithoutIncast
        );
        // Two are not a pattern.
        let judged = judge(&seen(), &[], &crowds[..2], &losses[..2]);
        assert_eq!(
            (judged.verdict, judged.followed),
            (ObservedVerdict::LossWithoutIncast, 2)
        );
    }

    #[test]
    fn a_timeout_long_after_or_of_a_flow_that_came_later_follows_no_crowd() {
        let crowds = [crowd(1.0)];
        for (loss, follows) in [
            (timeout("10.0.0.9", 1.39, 0.9), 1),
            (timeout("10.0.0.9", 1.41, 0.9), 0),
            (timeout("10.0.0.9", 1.2, 1.1), 0),
            (timeout("10.0.0.9", 0.9, 0.5), 0),
        ] {
            let judged = judge(&seen(), &[], &crowds, std::slice::from_ref(&loss));
            assert_eq!(judged.timeouts_following, follows, "{loss:?}");
        }
        // The minimum RTO of the sockets counts, where it is known.
        let fast = Observation {
            min_rto_ms: Some(10.0),
            ..seen()
        };
        let judged = judge(&fast, &[], &crowds, &[timeout("10.0.0.9", 1.1, 0.9)]);
        assert_eq!(judged.timeouts_following, 0);
    }

    #[test]
    fn the_first_that_holds_is_the_verdict() {
        let is =
            |seen: &Observation, flows: &[Flow]| judge(seen, flows, &[crowd(1.0)], &[]).verdict;
        let rounds: Vec<_> = (0..4).map(|_| flow(30_000, 250e-6)).collect();
        let small: Vec<_> = (0..4).map(|_| flow(2_000, 100e-6)).collect();
        assert_eq!(
            is(&seen(), &small),
            ObservedVerdict::Quiet,
            "many at once, and nothing is lost"
        );
        assert_eq!(is(&seen(), &rounds), ObservedVerdict::SlowStartBound);
        let half = [rounds.clone(), small.clone()].concat();
        assert_eq!(
            is(&seen(), &half),
            ObservedVerdict::Quiet,
            "most is more than half"
        );
        let slow: Vec<_> = (0..4).map(|_| flow(30_000, 310e-6)).collect();
        assert_eq!(is(&seen(), &slow), ObservedVerdict::Quiet);
        let bursts = Observation {
            bursts: [0, 3],
            ..seen()
        };
        assert_eq!(is(&bursts, &rounds), ObservedVerdict::Microbursts);
        let busy = Observation {
            packet_bytes: [0, 700_000_000],
            ..bursts.clone()
        };
        assert_eq!(
            is(&busy, &small),
            ObservedVerdict::Quiet,
            "a link that is busy has no bursts"
        );
        let queue = |max_bytes| {
            let room_bytes = Some(64_000);
            Some(Queue {
                room_bytes,
                max_bytes,
                ..Queue::default()
            })
        };
        let [empty, full] = [31_999, 32_000].map(|most| Observation {
            queue: queue(most),
            ..bursts.clone()
        });
        assert_eq!(
            [is(&empty, &small), is(&full, &small)],
            [ObservedVerdict::Quiet, ObservedVerdict::Microbursts]
        );
        let unknown = Observation {
            bursts_known: false,
            ..bursts.clone()
        };
        assert_eq!(is(&unknown, &small), ObservedVerdict::Quiet);
        let repaired = Observation {
            fast_retransmits: 2,
            ..seen()
        };
        assert_eq!(is(&repaired, &small), ObservedVerdict::LossWithoutIncast);
        let needlessly = Observation {
            needless_fast_retransmits: 2,
            ..repaired.clone()
        };
        assert_eq!(is(&needlessly, &small), ObservedVerdict::Quiet);
        let late = [timeout("10.0.0.9", 9.0, 8.0)];
        let judged = |seen: &Observation| judge(seen, &small, &[], &late).verdict;
        assert_eq!(judged(&needlessly), ObservedVerdict::LossWithoutIncast);
        let needlessly = Observation {
            needless_timeouts: 1,
            ..needlessly
        };
        assert_eq!(judged(&needlessly), ObservedVerdict::Quiet);
        let dropped = Observation { drops: 1, ..bursts };
        assert_eq!(is(&dropped, &rounds), ObservedVerdict::LossWithoutIncast);
    }
}
