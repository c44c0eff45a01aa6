//! A token bucket: how much an idle port sends beyond its rate.

use base::{Rate, Time};

use super::Port;

/// A token bucket with a rate and a depth, which fills while nothing is sent. A packet leaves as a whole as soon as there
/// are tokens for all its bytes, as `tc-tbf(8)` without a peak rate sends it.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: Rate,
    /// Bytes for which it has room; no packet has more.
    depth: u64,
    /// When it will be full if nothing more is sent.
    full_at: Time,
    /// When the newest packet leaves.
    last: Time,
}

impl Bucket {
    /// A full bucket.
    pub fn new(rate: Rate, depth: u64) -> Self {
        Self {
            rate,
            depth,
            full_at: Time::ZERO,
            last: Time::ZERO,
        }
    }

    /// The bucket before anything was sent.
    pub(super) fn filled(&self) -> Self {
        Self::new(self.rate, self.depth)
    }

    /// Takes the tokens of a packet of `size` bytes that is there at `now`. Returns when it leaves.
    pub fn leave(&mut self, size: u64, now: Time) -> Time {
        self.last = self.ready(size).max(self.last).max(now);
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
            let mut leaves = bucket.leave(size, now);
            // Its timer is late.
            if let Some(jitter) = &mut self.jitter {
                leaves = jitter.late(leaves);
            }
            self.free_at = bucket.ready(size).max(leaves);
            return (leaves, leaves + self.delay);
        }
        let begins = self.free_at.max(now);
        self.free_at = begins + self.serialisation_apart(size);
        let at = self.free_at + self.delay;
        let arrives = self.jitter.as_mut().map_or(at, |jitter| jitter.late(at));
        (begins, arrives)
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
}
