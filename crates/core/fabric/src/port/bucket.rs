//! A token bucket: how much an idle port sends beyond its rate.

use base::{Rate, Time};

use super::{Jitter, Port};

/// A token bucket with a rate and a depth, which fills while nothing is sent. A packet leaves as a whole as soon as there
/// are tokens for all its bytes, as `tc-tbf(8)` without a peak rate sends it.
#[derive(Clone, Debug)]
pub struct Bucket {
    rate: Rate,
    /// Bytes for which it has room; no packet has more.
    depth: u64,
    /// When it will be full if nothing more is sent.
    full_at: Time,
    /// When the newest packet leaves.
    last: Time,
    /// How late its timer is.
    late: Option<Jitter>,
}

impl Bucket {
    /// A full bucket.
    pub fn new(rate: Rate, depth: u64) -> Self {
        Self {
            rate,
            depth,
            full_at: Time::ZERO,
            last: Time::ZERO,
            late: None,
        }
    }

    /// Makes the timer of this bucket `late`. A packet that waits for tokens then leaves later by that time, and packets
    /// behind it that have tokens by then leave with it. A bucket with room for one more packet still keeps its rate.
    #[must_use]
    pub fn with_late_timer(self, late: Option<Jitter>) -> Self {
        Self { late, ..self }
    }

    /// The bucket before anything was sent, with a timer that is in time.
    pub(super) fn filled(&self) -> Self {
        Self::new(self.rate, self.depth)
    }

    /// Takes the tokens of a packet of `size` bytes that is there at `now`. Returns when it leaves.
    pub fn leave(&mut self, size: u64, now: Time) -> Time {
        let (ready, first) = (self.ready(size), self.last.max(now));
        self.last = match &mut self.late {
            Some(late) if ready > first => late.late(ready),
            _ => ready.max(first),
        };
        self.full_at = self.full_at.max(self.last) + self.rate.serialisation(size);
        self.last
    }

    /// From when on there are tokens for a packet of this size.
    fn ready(&self, size: u64) -> Time {
        debug_assert!(size <= self.depth, "a packet has to fit");
        let spare = self.rate.serialisation(self.depth.saturating_sub(size));
        self.full_at.before(spare)
    }
}

impl Port {
    /// A packet of this size that is there at `now` is sent when those before it have left. Returns when it leaves the queue,
    /// and when the wire.
    ///
    /// With a bucket a packet waits in the queue for its tokens, and then leaves as a whole. The transmitter counts as busy
    /// until another of its size could leave.
    #[inline(always)]
    pub(super) fn send_apart(&mut self, size: u64, now: Time) -> (Time, Time) {
        if let Some(bucket) = &mut self.bucket {
            let leaves = bucket.leave(size, now);
            self.free_at = bucket.ready(size).max(leaves);
            return (leaves, self.arrives(leaves));
        }
        let begins = self.free_at.max(now);
        self.free_at = begins + self.serialisation_apart(size);
        (begins, self.arrives(self.free_at))
    }

    /// When a packet arrives whose last bit goes to the wire at `sent`.
    #[inline(always)]
    fn arrives(&mut self, sent: Time) -> Time {
        let at = sent + self.delay;
        self.jitter.as_mut().map_or(at, |jitter| jitter.late(at))
    }

    /// [`Port::begins_after`] of a port with jitter, a bucket, or such a rate.
    #[inline(always)]
    pub(super) fn begins_after_apart(&self, size: u64, start: Time) -> Time {
        match self.bucket {
            Some(_) => self.ring.oldest_waiting().before(self.delay),
            None => start + self.serialisation_apart(size),
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Span;
    use engine::random::Stream;

    use super::*;

    /// 1 Gbit/s, so that a byte takes 8 ns.
    fn bucket(depth: u64) -> Bucket {
        Bucket::new(Rate::from_bps(1_000_000_000), depth)
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// When packets leave, in us, of which these bytes come at these times.
    fn times(bucket: &mut Bucket, packets: &[(u64, u64)]) -> Vec<u64> {
        let leave = |&(size, at): &(u64, u64)| bucket.leave(size, us(at)).as_ps() / 1_000_000;
        packets.iter().map(leave).collect()
    }

    #[test]
    fn one_packet_leaves_an_idle_port_at_once_and_others_follow_at_the_rate() {
        let packets = [(1250, 5), (1250, 5), (1250, 5), (1250, 100), (1250, 101)];
        assert_eq!(times(&mut bucket(1250), &packets), [5, 15, 25, 100, 110]);
    }

    #[test]
    fn a_deep_bucket_lets_a_burst_pass_and_fills_again_at_the_rate() {
        // Four packets fit. 20 us refill two of them.
        let burst = [(1250, 5); 5];
        let mut bucket = bucket(5000);
        assert_eq!(times(&mut bucket, &burst), [5, 5, 5, 5, 15]);
        assert_eq!(times(&mut bucket, &[(1250, 35); 3]), [35, 35, 45]);
    }

    #[test]
    fn a_small_packet_waits_for_its_own_tokens_alone() {
        assert_eq!(
            times(&mut bucket(1250), &[(1250, 5), (125, 5), (1250, 5)]),
            [5, 6, 16]
        );
    }

    #[test]
    fn a_late_timer_delays_only_packets_that_wait_for_tokens_and_keeps_the_rate() {
        for entity in 0..20 {
            let late = Jitter::new(Span::from_micros(5), Stream::new(1, "test", entity));
            let mut bucket = bucket(2500).with_late_timer(Some(late));
            // Two packets find tokens. Each of the others waits for its own.
            let found: Vec<_> = (0..1000).map(|_| bucket.leave(1250, us(5))).collect();
            assert_eq!(found[..2], [us(5); 2]);
            for (place, found) in (1..).zip(&found[2..]) {
                let due = us(5 + 10 * place);
                assert!(
                    (due..due + Span::from_micros(5)).contains(found),
                    "{found:?}"
                );
            }
            // Waits are uniform: the mean is within five standard errors of 2.5 us.
            let waits = (1..)
                .zip(&found[2..])
                .map(|(place, found)| found.since(us(5 + 10 * place)));
            let mean_ns = waits.map(Span::as_ps).sum::<u64>() / 998 / 1000;
            assert!((2270..2730).contains(&mean_ns), "{mean_ns}");
        }
    }

    #[test]
    fn what_has_tokens_when_a_late_timer_fires_leaves_then() {
        let late = Jitter::new(Span::from_micros(9), Stream::new(1, "test", 3));
        let mut bucket = bucket(2500).with_late_timer(Some(late));
        assert_eq!([(); 2].map(|()| bucket.leave(1250, us(5))), [us(5); 2]);
        let third = bucket.leave(1250, us(5));
        assert!(third > us(16), "{third:?}");
        // The tokens for 125 bytes are there at 16 us.
        assert_eq!(bucket.leave(125, us(5)), third);
    }

    #[test]
    fn a_bucket_of_one_packet_loses_tokens_while_its_timer_is_late() {
        let late = Jitter::new(Span::from_micros(9), Stream::new(1, "test", 3));
        let mut bucket = bucket(1250).with_late_timer(Some(late));
        let last = (0..1001).map(|_| bucket.leave(1250, us(0))).last();
        // Each gap is 4.5 us longer, within five standard errors.
        let mean_ns = last.expect("a packet").as_ps() / 1_000_000;
        assert!((14_090..14_910).contains(&mean_ns), "{mean_ns}");
    }
}
