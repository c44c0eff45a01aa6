//! Retransmissions of data that had arrived: a timer or a probe was faster than an ACK, and nothing was lost.
//!
//! A receiver that gets data a second time says so in a D-SACK (RFC 2883 §4), and the sender's TCP counts these.

/// The segments that a sender of this machine has sent again on a connection, as its TCP counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentAgain {
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

/// The repairs that no loss explains, of the `timeouts` and `fast_retransmits` of flows with the same ends, whose
/// connections have `sent_again`.
///
/// A D-SACK does not say which repair it answers. What was sent again and had not arrived may have been lost, so that as
/// many fast retransmissions count as losses, and timeouts count unless everything had arrived.
#[must_use]
pub fn needless(timeouts: u64, fast_retransmits: u64, sent_again: &[SentAgain]) -> Needless {
    let answered = sent_again.iter().filter(|one| one.needless > 0);
    let lost = answered.map(|one| one.segments.saturating_sub(one.needless));
    match lost.reduce(|sum, one| sum + one) {
        None => Needless::default(),
        Some(lost) => Needless {
            timeouts: if lost == 0 { timeouts } else { 0 },
            fast_retransmits: fast_retransmits.saturating_sub(lost),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent_again(segments: u64, needless: u64) -> SentAgain {
        SentAgain { segments, needless }
    }

    #[test]
    fn repairs_are_needless_as_far_as_d_sacks_say_so() {
        let of = |timeouts, fast, sent: &[SentAgain]| {
            let needless = needless(timeouts, fast, sent);
            (needless.timeouts, needless.fast_retransmits)
        };
        // Everything had arrived; all but one segment; nothing is known.
        assert_eq!(of(2, 3, &[sent_again(7, 7)]), (2, 3));
        assert_eq!(of(2, 3, &[sent_again(7, 6)]), (0, 2));
        assert_eq!(of(2, 3, &[sent_again(7, 0)]), (0, 0));
        assert_eq!(of(2, 3, &[]), (0, 0));
        // A network may duplicate more than was sent again.
        assert_eq!(of(2, 3, &[sent_again(7, 9)]), (2, 3));
        // Two connections with the same ports add up.
        assert_eq!(of(0, 3, &[sent_again(3, 1)]), (0, 1));
        assert_eq!(of(0, 3, &[sent_again(2, 2), sent_again(1, 1)]), (0, 3));
    }
}
