//! Congestion control of one connection, run at the receiver (RCC §4.3 and §4.6).

use base::cast::{real, whole};
use base::{Span, Time};
use tcp::Arrival;

use super::params::Alpha;

/// What a segment tells of losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Notice {
    /// Nothing.
    None,
    /// It is the third beyond a gap: recovery has begun.
    Loss,
    /// It has filled a gap up to the next one.
    NextGap,
    /// It has filled the last gap: recovery has ended.
    Repaired,
}

/// A NewReno-like window and its response to congestion marks.
#[derive(Clone, Debug)]
pub(super) struct Control {
    mss: u64,
    /// Window to advertise before the assigned one bounds it, bytes.
    rwnd: u64,
    ssthresh: u64,
    /// Segments beyond a gap since the last one in order.
    dup: u32,
    /// Whether the receiver is in fast recovery.
    recovering: bool,
    estimate: Alpha,
    /// Estimated share of marked packets.
    alpha: f64,
    /// Packets of this observation period, and those of them that were marked.
    seen: u32,
    marked: u32,
    period_start: Time,
}

impl Control {
    pub(super) const fn new(mss: u64, estimate: Alpha, now: Time) -> Self {
        Self {
            mss,
            rwnd: mss,
            ssthresh: INITIAL_SSTHRESH,
            dup: 0,
            recovering: false,
            estimate,
            alpha: 0.0,
            seen: 0,
            marked: 0,
            period_start: now,
        }
    }

    /// A data segment was stored. `srtt` is the connection's round trip, `assigned` the window in
    /// packets.
    pub(super) fn on_data(
        &mut self,
        arrival: &Arrival,
        srtt: Span,
        assigned: u64,
        now: Time,
    ) -> Notice {
        self.note_mark(arrival.marked);
        self.respond_to_marks(srtt, now);
        let notice = self.adjust(arrival);
        self.rwnd = self
            .rwnd
            .clamp(self.mss, (assigned * self.mss).max(self.mss));
        notice
    }

    /// RCC §4.3, RFC 6582 §3.2 step 3: recovery has ended, and the sender may still have `flight` bytes in the network.
    pub(super) fn resume(&mut self, flight: u64) {
        self.rwnd = self.ssthresh.min(flight.max(self.mss) + self.mss);
    }

    /// RCC Alg. 3 l. 2-4: nothing has come for a whole timeout.
    pub(super) fn on_timeout(&mut self) {
        self.recovering = false;
        self.dup = 0;
        self.halve();
        self.rwnd = self.mss;
    }

    /// Window before the assignment bounds it, bytes.
    pub(super) const fn rwnd(&self) -> u64 {
        self.rwnd
    }

    /// Estimated share of marked packets, 0 to 1.
    pub(super) const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Whether the receiver is in fast recovery, where nothing is timed.
    pub(super) const fn is_recovering(&self) -> bool {
        self.recovering
    }

    fn note_mark(&mut self, marked: bool) {
        self.seen += 1;
        if marked {
            // DEVIATION(RCC §4.6): the text has eq. 3 alone. As in the published code a mark halves ssthresh, which ends
            // slow start, and marked data does not grow the window. The code halves at each mark, here the first of an
            // observation period does.
            if self.marked == 0 {
                self.halve();
            }
            self.marked += 1;
        }
    }

    /// RCC eq. 3: once per round trip the window shrinks by half the marked share.
    fn respond_to_marks(&mut self, srtt: Span, now: Time) {
        let usable = (LEAST_PERIOD..LONGEST_PERIOD).contains(&srtt);
        let period = if usable { srtt } else { LEAST_PERIOD };
        if now.since(self.period_start) < period {
            return;
        }
        if self.estimate == Alpha::Published && self.marked == 0 {
            self.period_start = now;
            return;
        }
        let share = f64::from(self.marked) / f64::from(self.seen);
        self.alpha = match self.estimate {
            Alpha::Average | Alpha::Published => (1.0 - GAIN) * self.alpha + GAIN * share,
            Alpha::Ratio => share,
        };
        if self.marked > 0 {
            let reduced = whole(real(self.rwnd) * (1.0 - self.alpha / 2.0));
            self.rwnd = reduced.max(self.mss);
        }
        (self.seen, self.marked, self.period_start) = (0, 0, now);
    }

    /// RCC §4.3: NewReno's rules, seen from the other end.
    fn adjust(&mut self, arrival: &Arrival) -> Notice {
        let beyond_gap = arrival.offset > arrival.expected;
        if self.recovering {
            if arrival.in_order == 0 {
                // Another segment has left the network.
                self.rwnd += if arrival.marked { 0 } else { self.mss };
            } else if arrival.held > 0 {
                // A partial fill: deflate by what it delivered.
                self.rwnd = self.rwnd.saturating_sub(arrival.in_order) + self.mss;
                return Notice::NextGap;
            } else {
                self.recovering = false;
                self.dup = 0;
                // DEVIATION(RCC §4.3): NewReno counts what is in flight; the published code counts the segment that filled
                // the gap. `rcc.full_ack` chooses.
                self.rwnd = self.ssthresh.min(arrival.new_bytes + self.mss);
                return Notice::Repaired;
            }
        } else if beyond_gap {
            self.dup += 1;
            if self.dup == 3 {
                self.recovering = true;
                self.halve();
                self.rwnd = self.ssthresh + 3 * self.mss;
                return Notice::Loss;
            }
        } else if arrival.in_order > 0 {
            // DEVIATION(RCC §4.3): data in order forgets duplicates, as at a TCP sender; otherwise
            // three reorderings spread over a long flow would start recovery.
            self.dup = 0;
            if !arrival.marked {
                self.grow();
            }
        }
        Notice::None
    }

    fn grow(&mut self) {
        self.rwnd += if self.rwnd < self.ssthresh {
            self.mss
        } else {
            (self.mss * self.mss / self.rwnd).max(1)
        };
    }

    fn halve(&mut self) {
        self.ssthresh = (self.rwnd / 2).max(2 * self.mss);
    }
}

/// RCC §6.1: the advertised window has 16 bits.
const INITIAL_SSTHRESH: u64 = 65_535;
/// Weight of the newest period, as in DCTCP.
const GAIN: f64 = 1.0 / 16.0;
/// Bounds within which the round-trip estimate sets the observation period (published code).
const LEAST_PERIOD: Span = Span::from_micros(100);
const LONGEST_PERIOD: Span = Span::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1446;

    fn in_order(offset: u64) -> Arrival {
        Arrival {
            offset,
            payload: MSS,
            expected: offset,
            new_bytes: MSS,
            in_order: MSS,
            ..Arrival::default()
        }
    }

    fn beyond(offset: u64, expected: u64) -> Arrival {
        Arrival {
            expected,
            in_order: 0,
            held: MSS,
            ..in_order(offset)
        }
    }

    fn control(alpha: Alpha) -> Control {
        Control::new(MSS, alpha, Time::ZERO)
    }

    #[test]
    fn the_window_grows_by_slow_start_up_to_the_assigned_one() {
        let mut control = control(Alpha::Average);
        let windows: Vec<u64> = (0..6)
            .map(|i| {
                control.on_data(&in_order(1 + i * MSS), Span::ZERO, 4, Time::ZERO);
                control.rwnd() / MSS
            })
            .collect();
        assert_eq!(windows, [2, 3, 4, 4, 4, 4]);
    }

    #[test]
    fn the_third_segment_beyond_a_gap_starts_recovery_and_filling_it_ends_it() {
        let mut control = control(Alpha::Average);
        for i in 0..10 {
            control.on_data(&in_order(1 + i * MSS), Span::ZERO, 40, Time::ZERO);
        }
        let gap = 1 + 10 * MSS;
        let notices: Vec<Notice> = (1..=4)
            .map(|i| control.on_data(&beyond(gap + i * MSS, gap), Span::ZERO, 40, Time::ZERO))
            .collect();
        let (none, loss) = (Notice::None, Notice::Loss);
        assert_eq!(notices, [none, none, loss, none]);
        // ssthresh = 11/2 = 5.5 segments; + 3 for the duplicates, + 1 for the fourth.
        assert_eq!(control.rwnd(), 11 * MSS / 2 + 4 * MSS);
        let fill = Arrival {
            in_order: 5 * MSS,
            ..in_order(gap)
        };
        let notice = control.on_data(&fill, Span::ZERO, 40, Time::ZERO);
        assert_eq!(notice, Notice::Repaired);
        assert!(!control.is_recovering());
        assert_eq!(control.rwnd(), 2 * MSS);
        // RFC 6582 §3.2 step 3: min(ssthresh, max(flight, MSS) + MSS), where ssthresh is 5.5 segments.
        for (flight, window) in [(0, 2 * MSS), (3 * MSS, 4 * MSS), (9 * MSS, 11 * MSS / 2)] {
            control.resume(flight);
            assert_eq!(control.rwnd(), window, "{flight}");
        }
    }

    // RCC §4.3, RFC 6582 §3.2 step 5.
    #[test]
    fn a_partial_fill_deflates_the_window_by_what_it_delivered_and_asks_for_the_next_gap() {
        let mut control = control(Alpha::Average);
        for i in 0..10 {
            control.on_data(&in_order(1 + i * MSS), Span::ZERO, 40, Time::ZERO);
        }
        let gap = 1 + 10 * MSS;
        for i in 1..=6 {
            control.on_data(&beyond(gap + i * MSS, gap), Span::ZERO, 40, Time::ZERO);
        }
        let inflated = 11 * MSS / 2 + 6 * MSS;
        assert_eq!(control.rwnd(), inflated);
        // It fills the gap, and the data beyond it are complete up to the next gap: four segments, of
        // which one has just left the network.
        let partial = Arrival {
            in_order: 4 * MSS,
            held: 3 * MSS,
            ..in_order(gap)
        };
        let notice = control.on_data(&partial, Span::ZERO, 40, Time::ZERO);
        assert_eq!(notice, Notice::NextGap);
        assert!(control.is_recovering());
        assert_eq!(control.rwnd(), inflated - 4 * MSS + MSS);
    }

    #[test]
    fn a_marked_segment_beyond_a_gap_does_not_inflate_the_window() {
        let mut control = control(Alpha::Average);
        for i in 0..10 {
            control.on_data(&in_order(1 + i * MSS), Span::ZERO, 40, Time::ZERO);
        }
        let gap = 1 + 10 * MSS;
        let mut window = 0;
        for i in 1..=5 {
            window = control.rwnd();
            let arrival = Arrival {
                marked: i == 5,
                ..beyond(gap + i * MSS, gap)
            };
            control.on_data(&arrival, Span::ZERO, 40, Time::ZERO);
        }
        assert!(control.is_recovering());
        assert_eq!(control.rwnd(), window);
    }

    // Clauses: RCC-eq3
    #[test]
    fn marks_shrink_the_window_once_per_round_trip() {
        // All of a round trip's packets marked: the ratio is 1 and the window halves; the average
        // moves by 1/16 and takes 1/32.
        for (alpha, expected) in [
            (Alpha::Ratio, 10 * MSS / 2),
            (Alpha::Average, 10 * MSS * 31 / 32),
        ] {
            let mut control = control(alpha);
            for i in 0..9 {
                control.on_data(&in_order(1 + i * MSS), Span::ZERO, 40, Time::ZERO);
            }
            let later = Time::ZERO + Span::from_micros(200);
            // Nine unmarked packets end their period first.
            control.seen = 0;
            control.on_data(
                &Arrival {
                    marked: true,
                    ..in_order(1)
                },
                Span::ZERO,
                40,
                later,
            );
            assert_eq!(control.rwnd(), expected);
        }
    }

    #[test]
    fn the_published_average_is_diluted_by_what_came_before_and_never_decays() {
        // A packet in each of 20 periods of 200 us, of which the twelfth is marked. F is 1 for the
        // average and 1 of 12 for the published code; later, the average decays by 15/16 per period.
        let alpha = |estimate| {
            let mut control = control(estimate);
            for i in 0..20 {
                let arrival = Arrival {
                    marked: i == 11,
                    ..in_order(1 + i * MSS)
                };
                let now = Time::ZERO + Span::from_micros(200) * (i + 1);
                control.on_data(&arrival, Span::ZERO, 40, now);
            }
            control.alpha()
        };
        let decayed = (0..8).fold(1.0 / 16.0, |alpha, _| alpha * 15.0 / 16.0);
        assert!((alpha(Alpha::Average) - decayed).abs() < 1e-12);
        assert!((alpha(Alpha::Published) - 1.0 / 16.0 / 12.0).abs() < 1e-12);
    }

    // RCC Alg. 3 l. 2-4: from eight segments to one, with four as the threshold of slow start.
    // Clauses: RCC-alg3-2, RCC-alg3-3, RCC-alg3-4
    #[test]
    fn a_timeout_of_the_receiver_leaves_one_segment_and_half_the_threshold() {
        let mut control = control(Alpha::Average);
        (control.rwnd, control.recovering, control.dup) = (8 * control.mss, true, 3);
        control.on_timeout();
        assert_eq!(
            (control.rwnd(), control.ssthresh),
            (control.mss, 4 * control.mss)
        );
        assert!(!control.recovering && control.dup == 0);
        control.on_timeout();
        assert_eq!(control.ssthresh, 2 * control.mss, "two segments at least");
    }
}
