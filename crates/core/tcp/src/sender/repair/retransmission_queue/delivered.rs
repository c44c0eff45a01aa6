//! What an acknowledgement has delivered of the record, and what decides how it counts.

use base::{Span, Time};

use super::SentSegment;
use crate::timestamps;

/// The segments that an acknowledgement has delivered.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about what was delivered"
)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Delivered {
    /// Segments that nothing had reported before, and those that came twice: each has left the network.
    pub(crate) segments: u32,
    /// The range that came twice, if the receiver reports it.
    pub(crate) duplicate: Option<(u64, u64)>,
    /// When the one had left that was sent last of those that nothing had reported before.
    pub(crate) sent: Option<Time>,
    /// Whether a SACK block brought news.
    pub(crate) sacked: bool,
    /// The one that was sent last, by time and then by its end; not one sent again so short a time ago
    /// that the first copy must have been answered (RFC 8985 §6.2 step 2).
    pub(crate) newest: Option<(Time, u64)>,
    /// When the last one in the order of the stream had left, of those acknowledged and of those reported, under the
    /// condition of `newest`.
    pub(crate) last: (Option<Time>, Option<Time>),
    /// Whether one of those acknowledged had been sent again.
    pub(crate) repeated: bool,
    /// Whether a segment below the limit was sent only once (RFC 5682 §3.1 step 3b).
    pub(crate) original: bool,
    /// Whether one sent once only was overtaken by one delivered before.
    pub(crate) reordered: bool,
    /// When the first and the last of those acknowledged had left that were sent once only.
    pub(crate) acknowledged: Option<(Time, Time)>,
    /// As `acknowledged`, of those reported by SACK.
    pub(crate) reported: Option<(Time, Time)>,
}

/// The facts that decide how a delivery counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckContext {
    pub(crate) now: Time,
    /// Least round trip seen.
    pub(crate) min_rtt: Span,
    /// End of the data sent before the timeout.
    pub(crate) limit: u64,
    /// The timestamp that the ACK echoes.
    pub(crate) stamp: Option<u32>,
}

impl AckContext {
    /// Whether the first copy of a segment must have been answered (RFC 8985 §6.2 step 2).
    pub(super) fn is_ambiguous(&self, segment: &SentSegment) -> bool {
        segment.ever_retransmitted && self.now.since(segment.sent) < self.min_rtt
    }

    /// Whether the echo is from before the copy (Linux 6.12, `tcp_skb_spurious_retrans`).
    pub(super) fn answers_original(&self, segment: &SentSegment) -> bool {
        segment.ever_retransmitted
            && self
                .stamp
                .is_some_and(|echo| timestamps::is_before(echo, timestamps::clock(segment.sent)))
    }
}

impl Delivered {
    /// A segment whose delivery is `silent` about time.
    pub(super) fn add(&mut self, segment: &SentSegment, silent: bool, context: &AckContext) {
        self.segments += 1;
        self.sent = self.sent.max(Some(segment.sent));
        self.original |= !segment.ever_retransmitted && segment.end <= context.limit;
        if !silent {
            self.newest = self.newest.max(Some((segment.sent, segment.end)));
        }
    }
}
