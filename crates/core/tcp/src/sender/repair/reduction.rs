//! Proportional rate reduction: the window moves to ssthresh with what is delivered (RFC 6937).

use crate::restart::Restart;

/// A reduction in progress. Windows count segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    /// The window when it began (`RecoverFS`; Linux takes the window and not the flight).
    prior: u64,
    /// Where it leads to.
    ssthresh: u64,
    /// Segments delivered, and sent, since it began (`prr_delivered`, `prr_out`).
    delivered: u64,
    out: u64,
    /// Segments that may be in the network.
    window: u64,
}

impl Reduction {
    /// From a window of `prior` segments to one of `ssthresh`, with `pipe` of them in the network. One may
    /// always be: a mark that is echoed while nothing is outstanding has no delivery to follow it.
    pub(crate) fn new(prior: u64, ssthresh: u64, pipe: u64) -> Self {
        Self {
            prior: prior.max(1),
            ssthresh,
            delivered: 0,
            out: 0,
            window: pipe.max(1),
        }
    }

    /// Segments that may be in the network.
    pub(crate) const fn window(&self) -> u64 {
        self.window
    }

    /// It leads to another window from here on.
    pub(crate) const fn redirect(&mut self, ssthresh: u64) {
        self.ssthresh = ssthresh;
    }

    /// A pause is over.
    pub(crate) fn restart(&mut self, restart: Restart, mss: u64) {
        let window = self.window * mss;
        self.window = restart.window(window, window) / mss;
    }

    /// A segment has left.
    pub(crate) const fn on_sent(&mut self) {
        self.out += 1;
    }

    /// This many segments were delivered, with `pipe` in the network now; `safe` if the ACK moved on and
    /// showed no further loss.
    pub(crate) fn on_delivered(&mut self, segments: u64, pipe: u64, safe: bool) {
        if segments == 0 {
            return;
        }
        self.delivered += segments;
        let sent = if pipe > self.ssthresh {
            // RFC 6937 §3: in proportion.
            let due = (self.delivered * self.ssthresh).div_ceil(self.prior);
            due.saturating_sub(self.out)
        } else {
            // RFC 6937 §3 with the slow-start bound while all is well, else the conservative bound: as
            // Linux and RFC 9937 have it.
            let conserved = self.delivered.saturating_sub(self.out).max(segments);
            let bound = conserved + u64::from(safe);
            bound.min(self.ssthresh - pipe)
        };
        // The first retransmission leaves at once.
        let sent = sent.max(u64::from(self.out == 0));
        self.window = pipe + sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 6937 §4, first example: 20 in flight, one lost, ssthresh 10. The ACKs let one segment go for two.
    // Clauses: RFC6937-3-proportion
    #[test]
    fn one_segment_leaves_for_two_delivered_above_ssthresh() {
        let mut reduction = Reduction::new(20, 10, 19);
        let mut pipe = 19;
        let mut sent = Vec::new();
        for _ in 0..10 {
            pipe -= 1;
            reduction.on_delivered(1, pipe, false);
            let allowed = reduction.window() - pipe;
            for _ in 0..allowed {
                reduction.on_sent();
                pipe += 1;
            }
            sent.push(allowed);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    }

    // RFC 6937 §4, second example: 15 of 20 lost. The conservative bound keeps to what is delivered; the
    // slow-start bound adds one for each ACK without news of loss.
    // Clauses: RFC6937-3-conservative, RFC6937-3-slow-start
    #[test]
    fn below_ssthresh_growth_is_bounded_by_delivery_and_one_more() {
        let mut reduction = Reduction::new(20, 10, 4);
        reduction.on_delivered(1, 4, false);
        assert_eq!(reduction.window(), 5);
        reduction.on_sent();
        reduction.on_delivered(1, 4, true);
        assert_eq!(reduction.window(), 6);
        // Never beyond ssthresh.
        reduction.on_delivered(50, 4, true);
        assert_eq!(reduction.window(), 10);
    }

    // Nothing will be delivered that could raise the window again.
    #[test]
    fn with_an_empty_network_one_segment_may_leave() {
        assert_eq!(Reduction::new(2, 2, 0).window(), 1);
    }

    // Clauses: RFC9937-first
    #[test]
    fn the_first_retransmission_leaves_whatever_the_proportion() {
        let mut reduction = Reduction::new(100, 1, 80);
        reduction.on_delivered(1, 80, false);
        assert_eq!(reduction.window(), 81);
        reduction.on_sent();
        reduction.on_delivered(1, 80, false);
        assert_eq!(reduction.window(), 80);
        // Nothing delivered, nothing changed.
        reduction.on_delivered(0, 10, true);
        assert_eq!(reduction.window(), 80);
    }
}
