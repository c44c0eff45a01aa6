//! Whether a sender uses its window, as Linux judges it (an elder of RFC 7661): a window that something else
//! limits does not grow.

/// The strongest sign of use in the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CwndLimited {
    /// Whether the window, and nothing else, kept the sender from sending.
    limited: bool,
    /// Segments in flight at that time, or the most of them if it never did.
    most: u64,
    /// The round trip ends when this offset is acknowledged.
    until: u64,
    /// Whether anything was sent since the last judgement.
    sent: bool,
}

impl CwndLimited {
    /// A segment has left.
    pub(crate) const fn on_sent(&mut self) {
        self.sent = true;
    }

    /// The sender stops sending for now, because of its window (`limited`) or for want of anything else, with
    /// `in_flight` segments outstanding up to `next`. Without `unsent` data, and if none has left since the last time,
    /// nothing is judged: a window that only retransmissions fill tells nothing of the application (Linux 6.12,
    /// `tcp_write_xmit` calls `tcp_cwnd_validate`, and only data that waits calls `tcp_write_xmit`).
    pub(crate) const fn validate(
        &mut self,
        (limited, unsent): (bool, bool),
        in_flight: u64,
        (una, next): (u64, u64),
    ) {
        let has_sent = self.sent || limited && unsent;
        self.sent = false;
        let stronger = limited || !self.limited && in_flight > self.most;
        if has_sent && (una >= self.until || stronger) {
            (self.limited, self.most, self.until) = (limited, in_flight, next);
        }
    }

    /// Whether the window was the limit. Then it may grow.
    #[inline(always)]
    pub(crate) const fn is_limited(&self) -> bool {
        self.limited
    }

    /// Whether a window of this many segments may grow in slow start although it was not the limit: to twice what was in
    /// flight.
    pub(crate) const fn may_double(&self, window: u64) -> bool {
        window < 2 * self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_grow(cwnd_limited: &CwndLimited, window: u64, slow_start: bool) -> bool {
        cwnd_limited.is_limited() || slow_start && cwnd_limited.may_double(window)
    }

    #[test]
    fn a_window_that_limits_may_grow_for_a_round_trip() {
        let mut cwnd_limited = CwndLimited::default();
        cwnd_limited.on_sent();
        cwnd_limited.validate((true, true), 10, (1, 11));
        assert!(may_grow(&cwnd_limited, 10, false));
        // The same round trip: less in flight says nothing.
        cwnd_limited.on_sent();
        cwnd_limited.validate((false, true), 4, (5, 12));
        assert!(may_grow(&cwnd_limited, 10, false));
        // The next one.
        cwnd_limited.on_sent();
        cwnd_limited.validate((false, true), 4, (11, 15));
        assert!(!may_grow(&cwnd_limited, 10, false));
    }

    // Linux 6.12: tcp_write_xmit is not called while no data waits.
    #[test]
    fn a_window_that_only_retransmissions_fill_is_not_used() {
        let mut cwnd_limited = CwndLimited::default();
        cwnd_limited.on_sent();
        cwnd_limited.validate((false, false), 12, (1, 13));
        cwnd_limited.validate((true, false), 6, (7, 13));
        assert!(!may_grow(&cwnd_limited, 24, false) && !may_grow(&cwnd_limited, 24, true));
        cwnd_limited.validate((true, true), 6, (7, 13));
        assert!(may_grow(&cwnd_limited, 24, false));
    }

    #[test]
    fn slow_start_reaches_twice_what_was_in_flight() {
        let mut cwnd_limited = CwndLimited::default();
        for in_flight in [3, 6, 2] {
            cwnd_limited.on_sent();
            cwnd_limited.validate((false, true), in_flight, (1, 20));
        }
        assert!(may_grow(&cwnd_limited, 11, true));
        assert!(!may_grow(&cwnd_limited, 12, true) && !may_grow(&cwnd_limited, 11, false));
        // Nothing was sent since: nothing is judged.
        cwnd_limited.validate((false, true), 0, (20, 20));
        assert!(may_grow(&cwnd_limited, 11, true));
    }
}
