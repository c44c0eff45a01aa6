//! RACK: a segment is lost when one that was sent later has been delivered (RFC 8985 §6).

use base::{Span, Time};

use super::retransmission_queue::{Delivered, RetransmissionQueue};
use crate::config::{Config, LossDetection, whole_us};

/// The sender's state of RFC 8985 §5.3, less what the flight knows of each segment.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about what has been seen"
)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// Of what has been delivered, when the segment sent last had left, and its end (`RACK.xmit_ts` and
    /// `RACK.end_seq`).
    newest: (Time, u64),
    /// The round trip of that one (`RACK.rtt`).
    rtt: Span,
    /// Quarters of the least round trip that reordering may take (`RACK.reo_wnd_mult`).
    steps: u32,
    /// Recoveries for which `steps` stays (`RACK.reo_wnd_persist`).
    persist: u32,
    /// When `steps` grew last: once per round trip.
    stepped_at: Time,
    /// Whether a duplicate asks for more steps.
    duplicate: bool,
    /// Whether reordering was ever seen (`RACK.reordering_seen`).
    reordering: bool,
    /// Whether something was delivered since losses were looked for.
    advanced: bool,
    /// Added to the reordering timer.
    slack: Span,
    /// Whether `rtt` is that of the last segment of an ACK, and the window is counted, as in Linux.
    of_last: bool,
}

/// What the reordering window depends on beside RACK's own state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) min_rtt: Span,
    pub(crate) srtt: Span,
    /// Whether losses are being repaired.
    pub(crate) recovering: bool,
}

impl Rack {
    /// A sender that detects losses by time, if the settings say so.
    pub(crate) fn of(config: &Config) -> Option<Self> {
        config.loss_detection.is_by_time().then(|| Self {
            of_last: config.loss_detection == LossDetection::RackLinux,
            ..Self::new(config.timer_slack)
        })
    }

    fn new(slack: Span) -> Self {
        Self {
            newest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            steps: 1,
            persist: 0,
            stepped_at: Time::ZERO,
            duplicate: false,
            reordering: false,
            advanced: false,
            slack,
            of_last: false,
        }
    }

    /// RFC 8985 §6.2 steps 2 and 3.
    pub(crate) fn on_delivered(&mut self, delivered: &Delivered, now: Time) {
        self.reordering |= delivered.reordered;
        if let Some(newest) = delivered.newest {
            self.advance(newest, delivered.last.0.or(delivered.last.1), now);
        }
    }

    /// Delivered are segments of which `newest` was sent last, and `last` is the last in the order of the stream.
    pub(crate) fn advance(&mut self, newest: (Time, u64), last: Option<Time>, now: Time) {
        self.advanced = true;
        if newest > self.newest {
            self.newest = newest;
            self.rtt = now.since(newest.0);
        }
        if self.of_last
            && let Some(last) = last
        {
            self.rtt = now.since(last);
        }
    }

    /// RFC 8985 §6.2 step 4: a segment came twice, so that it was sent again too early. Where the order of segments is
    /// kept, something else was the reason (Linux 6.12, `tcp_dsack_seen`).
    pub(crate) const fn on_duplicate(&mut self) {
        self.duplicate |= self.reordering;
    }

    /// Patience grows by a step if a duplicate asks for it, once in the round trip of what is delivered: the segment that
    /// was sent last of it had left at `sent` (`tcp_rack_update_reo_wnd`).
    pub(crate) fn step(&mut self, sent: Option<Time>, now: Time) {
        let Some(sent) = sent.filter(|_| self.duplicate) else {
            return;
        };
        self.duplicate = false;
        if sent >= self.stepped_at {
            self.steps = (self.steps + 1).min(MAX_STEPS);
            (self.persist, self.stepped_at) = (PERSIST, now);
        }
    }

    /// Whether a duplicate waits for a delivery.
    pub(crate) const fn has_duplicate(&self) -> bool {
        self.duplicate
    }

    /// A recovery was needless, as duplicates show: patience stays for one more (`tcp_try_undo_dsack`).
    pub(crate) fn persist(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// Segments change their order on the path, as something else than their delivery shows.
    pub(crate) const fn note_reordering(&mut self) {
        self.reordering = true;
    }

    /// A recovery is over that was not in vain.
    pub(crate) const fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Losses that were none are looked for again.
    pub(crate) const fn look_again(&mut self) {
        self.advanced = true;
    }

    /// RFC 8985 §6.2 step 5. Returns how long the reordering timer is to run, if it is.
    pub(crate) fn detect(
        &mut self,
        queue: &mut RetransmissionQueue,
        path: &Path,
        now: Time,
    ) -> Option<Span> {
        if !std::mem::take(&mut self.advanced) {
            return None;
        }
        self.detect_now(queue, path, now)
    }

    /// The same when the timer has expired.
    pub(crate) fn detect_now(
        &mut self,
        queue: &mut RetransmissionQueue,
        path: &Path,
        now: Time,
    ) -> Option<Span> {
        let window = self.window(path, queue.sacked());
        let mut rest = Span::ZERO;
        queue.lose_if(self.newest, |segment| {
            let due = segment.sent + self.rtt + window;
            rest = rest.max(due.since(now));
            due <= now
        });
        (rest > Span::ZERO).then(|| rest + self.slack)
    }

    /// Whether a segment sent at this time may still be answered, without reordering.
    pub(crate) fn may_arrive(&self, sent: Time, now: Time) -> bool {
        sent + self.rtt > now
    }

    /// `RACK_update_reo_wnd`.
    fn window(&self, path: &Path, sacked: u32) -> Span {
        if !self.reordering && (path.recovering || sacked >= DUP_THRESH) {
            return Span::ZERO;
        }
        let steps = u64::from(self.steps);
        if self.of_last {
            // `tcp_rack_reo_wnd` counts whole microseconds.
            return (whole_us(path.min_rtt / 4) * steps).min(whole_us(path.srtt));
        }
        (path.min_rtt / 4 * steps).min(path.srtt)
    }
}

/// RFC 8985 §6.2 step 4.
const DUP_THRESH: u32 = 3;
/// RFC 8985 §6.2 step 4: recoveries until the window shrinks again.
const PERSIST: u32 = 16;
/// Linux 6.12 has a byte for it.
const MAX_STEPS: u32 = 255;

#[cfg(test)]
mod tests {
    use super::super::retransmission_queue::AckContext;
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    const PATH: Path = Path {
        min_rtt: Span::from_micros(100),
        srtt: Span::from_micros(120),
        recovering: false,
    };

    /// Ten segments of 10 bytes, sent 1 us after each other.
    fn queue() -> RetransmissionQueue {
        let mut queue = RetransmissionQueue::default();
        for segment in 0..10 {
            queue.push(segment * 10, segment * 10 + 10, at(segment));
        }
        queue
    }

    fn report(rack: &mut Rack, queue: &mut RetransmissionQueue, blocks: &[(u64, u64)], us: u64) {
        let mut delivered = Delivered::default();
        let judge = AckContext {
            now: at(us),
            min_rtt: PATH.min_rtt,
            limit: 0,
            stamp: None,
        };
        for block in blocks {
            queue.report(*block, &judge, &mut delivered);
        }
        rack.on_delivered(&delivered, at(us));
    }

    // RFC 8985 §6.2 step 5: min_RTT / 4 of patience, and a timer for the rest of it.
    // Clauses: RFC8985-6.2-window
    #[test]
    fn a_hole_is_lost_when_the_reordering_window_has_passed() {
        let (mut rack, mut queue) = (Rack::new(Span::from_millis(2)), queue());
        report(&mut rack, &mut queue, &[(10, 20)], 101);
        // Sent at 0 us, round trip 100 us, window 25 us: due at 125 us, and 2 ms of slack.
        let rest = rack.detect(&mut queue, &PATH, at(101));
        assert_eq!(rest, Some(Span::from_micros(24 + 2000)));
        assert_eq!(
            rack.detect_now(&mut queue, &PATH, at(124)),
            Some(Span::from_micros(2001))
        );
        assert_eq!(rack.detect_now(&mut queue, &PATH, at(125)), None);
        assert_eq!(queue.lost(), 1);
    }

    // Linux 6.12, tcp_rack_advance: reports come first, then what is acknowledged, and each has its round trip noted.
    #[test]
    fn linux_takes_the_round_trip_of_what_is_acknowledged() {
        for (of_last, rtt) in [(false, 102), (true, 110)] {
            let (mut rack, mut queue) = (Rack::new(Span::ZERO), queue());
            rack.of_last = of_last;
            let mut delivered = Delivered::default();
            let judge = AckContext {
                now: at(110),
                min_rtt: PATH.min_rtt,
                limit: 0,
                stamp: None,
            };
            queue.acknowledge(10, &judge, &mut delivered);
            for block in [(30, 40), (70, 90)] {
                queue.report(block, &judge, &mut delivered);
            }
            rack.on_delivered(&delivered, at(110));
            assert_eq!(rack.rtt, Span::from_micros(rtt));
            assert_eq!(rack.newest, (at(8), 90));
        }
    }

    // RFC 8985 §6.2 step 4: no patience with three segments reported, or in recovery.
    // Clauses: RFC8985-6.2-zero
    #[test]
    fn three_reports_or_a_recovery_end_the_patience() {
        let (mut rack, mut queue) = (Rack::new(Span::ZERO), queue());
        report(&mut rack, &mut queue, &[(10, 40)], 103);
        assert_eq!(rack.detect(&mut queue, &PATH, at(103)), None);
        assert_eq!(queue.lost(), 1);
        let (mut rack, mut queue) = (Rack::new(Span::ZERO), self::queue());
        report(&mut rack, &mut queue, &[(10, 20)], 101);
        let recovering = Path {
            recovering: true,
            ..PATH
        };
        rack.detect(&mut queue, &recovering, at(101));
        assert_eq!(queue.lost(), 1);
    }

    // RFC 8985 §6.2 step 3: with reordering on the path the window stays, however much is reported.
    // Clauses: RFC8985-6.2-reordering
    #[test]
    fn reordering_that_was_seen_keeps_the_patience() {
        let (mut rack, mut queue) = (Rack::new(Span::ZERO), queue());
        report(&mut rack, &mut queue, &[(30, 40)], 103);
        report(&mut rack, &mut queue, &[(10, 20), (40, 70)], 106);
        assert!(rack.detect(&mut queue, &PATH, at(106)).is_some());
        assert_eq!(queue.lost(), 0);
    }

    // Clauses: RFC8985-6.2-newest
    #[test]
    fn what_was_sent_later_than_everything_delivered_is_not_lost() {
        let (mut rack, mut queue) = (Rack::new(Span::ZERO), queue());
        report(&mut rack, &mut queue, &[(10, 40)], 103);
        rack.detect(&mut queue, &PATH, at(1_000_000));
        // Segments 4 to 9 were sent after the last one reported.
        assert_eq!(queue.lost(), 1);
    }

    // RFC 8985 §6.2 step 5 has no difference between originals and copies: a lost copy is found.
    // Clauses: RFC8985-6.2-lost
    #[test]
    fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
        let (mut rack, mut queue) = (Rack::new(Span::ZERO), queue());
        report(&mut rack, &mut queue, &[(10, 40)], 103);
        rack.detect(&mut queue, &PATH, at(103));
        queue.repeat(0, at(103));
        queue.push(100, 110, at(104));
        report(&mut rack, &mut queue, &[(40, 110)], 204);
        let recovering = Path {
            recovering: true,
            ..PATH
        };
        rack.detect(&mut queue, &recovering, at(204));
        assert_eq!(queue.losses(), (2, 1));
    }

    // The copy of segment 0 was sent after the last segment, whose loss nothing above it reveals.
    // Clauses: RFC8985-6.2-newest
    #[test]
    fn a_delivered_retransmission_reveals_the_loss_of_the_tail() {
        let (mut rack, mut queue) = (Rack::new(Span::ZERO), queue());
        report(&mut rack, &mut queue, &[(10, 90)], 108);
        let recovering = Path {
            recovering: true,
            ..PATH
        };
        rack.detect(&mut queue, &recovering, at(108));
        queue.repeat(0, at(108));
        let mut delivered = Delivered::default();
        let judge = AckContext {
            now: at(208),
            min_rtt: PATH.min_rtt,
            limit: 0,
            stamp: None,
        };
        queue.acknowledge(90, &judge, &mut delivered);
        rack.on_delivered(&delivered, at(208));
        rack.detect(&mut queue, &recovering, at(208));
        assert_eq!((queue.lost(), queue.next_lost()), (1, Some(0)));
    }

    // RFC 8985 §6.2 step 4: a step per round trip with a DSACK; back to one after 16 recoveries.
    // Clauses: RFC8985-6.2-window, RFC8985-6.2-dsack
    #[test]
    fn duplicates_widen_the_window_for_sixteen_recoveries() {
        let mut rack = Rack::new(Span::ZERO);
        let widened = |rack: &mut Rack, sent, now| {
            rack.on_duplicate();
            rack.step(Some(at(sent)), at(now));
            rack.steps
        };
        // The order of segments is kept: the copy was too early for another reason.
        assert_eq!(widened(&mut rack, 0, 100), 1);
        rack.note_reordering();
        assert_eq!(widened(&mut rack, 0, 100), 2);
        // What is delivered had left before patience grew: once per round trip.
        assert_eq!(widened(&mut rack, 90, 150), 2);
        assert_eq!(widened(&mut rack, 100, 200), 3);
        // A duplicate that comes alone waits for a delivery.
        rack.on_duplicate();
        rack.step(None, at(250));
        assert!(rack.has_duplicate());
        rack.step(Some(at(150)), at(260));
        assert!(!rack.has_duplicate());
        assert_eq!(rack.steps, 3);
        let wide = Path {
            srtt: Span::from_micros(60),
            ..PATH
        };
        // Three quarters of 100 us, but at most the smoothed round trip.
        assert_eq!(rack.window(&PATH, 0), Span::from_micros(75));
        assert_eq!(rack.window(&wide, 0), Span::from_micros(60));
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(rack.steps, 3);
        rack.on_recovered();
        assert_eq!(rack.steps, 1);
    }
}
