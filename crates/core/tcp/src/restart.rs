//! How a window begins again after a pause of its sender.

/// The change of a window when data is to be sent after a pause longer than the retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// The window is at most the initial one, whatever the pause (RFC 5681 §4.1).
    Initial,
    /// The window is halved for each timeout of the pause but the first (RFC 2861 §3.1; Linux, `tcp_cwnd_restart`).
    Halved {
        /// How often.
        times: u32,
        /// Bytes of the initial window. A halved window is not below it, and no window becomes larger.
        initial: u64,
        /// Bytes of a segment: halved windows are whole ones.
        mss: u64,
    },
}

impl Restart {
    /// The window instead of `cwnd`, in bytes, of a sender whose initial window was `initial`.
    #[must_use]
    pub fn window(self, cwnd: u64, initial: u64) -> u64 {
        match self {
            Self::Initial => cwnd.min(initial),
            Self::Halved {
                times,
                initial,
                mss,
            } => {
                let halved = cwnd.checked_shr(times).unwrap_or(0);
                (halved - halved % mss).max(initial.min(cwnd))
            }
        }
    }

    /// The threshold instead of `ssthresh`, in bytes, of a window that was `cwnd`: a halved window soon returns to three
    /// quarters of what it was (RFC 2861 §3.1; Linux, `tcp_current_ssthresh`).
    #[must_use]
    pub fn ssthresh(self, ssthresh: u64, cwnd: u64) -> u64 {
        match self {
            Self::Initial => ssthresh,
            Self::Halved { mss, .. } => {
                let segments = cwnd / mss;
                ssthresh.max((segments / 2 + segments / 4) * mss)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn halved(times: u32) -> Restart {
        Restart::Halved {
            times,
            initial: 10_000,
            mss: 1000,
        }
    }

    // Windows of a kernel with a timeout of 204 ms after pauses of 0.27, 0.47, 0.67 and 3 s.
    #[test]
    fn a_window_is_halved_in_whole_segments_down_to_the_initial_one() {
        for (times, segments) in [(1, 3451), (2, 1725), (3, 862), (14, 10), (64, 10)] {
            assert_eq!(halved(times).window(6_902_000, 0), segments * 1000);
        }
    }

    #[test]
    fn a_window_below_the_initial_one_stays() {
        assert_eq!(halved(3).window(2000, 0), 2000);
        assert_eq!(Restart::Initial.window(2000, 10_000), 2000);
        assert_eq!(Restart::Initial.window(20_000, 10_000), 10_000);
    }

    #[test]
    fn three_quarters_of_the_window_are_remembered_unless_the_threshold_is_higher() {
        // 7/2 + 7/4 of whole segments.
        assert_eq!(halved(1).ssthresh(2000, 7000), 4000);
        assert_eq!(halved(1).ssthresh(9000, 7000), 9000);
        assert_eq!(Restart::Initial.ssthresh(2000, 7000), 2000);
    }
}
