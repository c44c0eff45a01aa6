//! Retransmissions of data that had arrived: a timer or a probe was faster than an ACK, and nothing was lost.
//!
//! A receiver that gets data a second time says so in a D-SACK (RFC 2883 §4), and the sender's TCP counts these.

use std::collections::BTreeMap;

use crate::seen::Flow;

/// The segments that a sender of this machine has sent again on a connection, as its TCP counts them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentAgain {
    /// Address and port of the sender.
    pub sender: String,
    /// Address and port of the receiver.
    pub receiver: String,
    /// Their number.
    pub segments: u64,
    /// The part of them that had arrived already.
    pub needless: u64,
}

/// Repairs without a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needless {
    /// Timeouts.
    pub timeouts: u64,
    /// Retransmissions in fast recovery.
    pub fast_retransmits: u64,
}

/// The repairs of `flows` that no loss explains.
///
/// A D-SACK does not say which repair it answers. What was sent again and had not arrived may have been lost, so that as
/// many fast retransmissions count as losses, and timeouts count unless everything had arrived.
#[must_use]
pub fn needless(flows: &[Flow], sent_again: &[SentAgain]) -> Needless {
    let mut lost: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for one in sent_again.iter().filter(|one| one.needless > 0) {
        let of_way = lost.entry((&one.sender, &one.receiver)).or_default();
        *of_way += one.segments.saturating_sub(one.needless);
    }
    let mut repairs: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| flow.is_told) {
        let way = (flow.sender.as_str(), flow.receiver.as_str());
        if lost.contains_key(&way) {
            let (timeouts, fast) = repairs.entry(way).or_default();
            *timeouts += u64::from(flow.timeouts);
            *fast += u64::from(flow.fast_retransmits);
        }
    }
    let mut sum = Needless::default();
    for (way, (timeouts, fast)) in repairs {
        let lost = lost[&way];
        sum.timeouts += if lost == 0 { timeouts } else { 0 };
        sum.fast_retransmits += fast.saturating_sub(lost);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(port: u16, timeouts: u32, fast_retransmits: u32) -> Flow {
        Flow {
            timeouts,
            fast_retransmits,
            ..Flow::lossless(format!("10.0.0.1:{port}"), "10.0.0.9:80", 10_000)
        }
    }

    fn sent_again(port: u16, segments: u64, needless: u64) -> SentAgain {
        SentAgain {
            sender: format!("10.0.0.1:{port}"),
            receiver: "10.0.0.9:80".to_owned(),
            segments,
            needless,
        }
    }

    #[test]
    fn repairs_are_needless_as_far_as_d_sacks_say_so() {
        let of = |flows: &[Flow], sent: &[SentAgain]| {
            let needless = needless(flows, sent);
            (needless.timeouts, needless.fast_retransmits)
        };
        // Everything had arrived; all but one segment; nothing is known.
        let one = [flow(5, 2, 3)];
        assert_eq!(of(&one, &[sent_again(5, 7, 7)]), (2, 3));
        assert_eq!(of(&one, &[sent_again(5, 7, 6)]), (0, 2));
        assert_eq!(of(&one, &[sent_again(5, 7, 0)]), (0, 0));
        assert_eq!(of(&one, &[]), (0, 0));
        // A network may duplicate more than was sent again.
        assert_eq!(of(&one, &[sent_again(5, 7, 9)]), (2, 3));
        // Flows of one connection share its count, and two connections with the same ports add up.
        let two = [flow(5, 0, 2), flow(5, 0, 1)];
        assert_eq!(of(&two, &[sent_again(5, 3, 1)]), (0, 1));
        assert_eq!(
            of(&two, &[sent_again(5, 2, 2), sent_again(5, 1, 1)]),
            (0, 3)
        );
        // Other connections, and senders on other machines, are not changed.
        let others = [flow(5, 1, 0), flow(6, 1, 0)];
        assert_eq!(of(&others, &[sent_again(5, 1, 1)]), (1, 0));
        let far = [Flow {
            is_told: false,
            ..flow(5, 1, 0)
        }];
        assert_eq!(of(&far, &[sent_again(5, 1, 1)]), (0, 0));
    }
}
