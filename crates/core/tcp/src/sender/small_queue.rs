//! TCP small queues: a connection keeps little in the queue of its own host (Linux, `tcp_output.c`,
//! `tcp_small_queue_check`).
//!
//! What waits in a host's port delays everything behind it, and makes the round trip longer without making the
//! connection faster. So a connection has two segments there, or what it sends in about a millisecond, and the rest
//! of its window waits in its socket. Whoever drives the endpoint tells which segments wait and until when
//! ([`Endpoint::note_waiting`](crate::Endpoint::note_waiting)); where none ever does, nothing here is used. A
//! connection that is held back has a deadline: the time at which the host begins to transmit the segment that stands
//! in its way.
// DEVIATION(Linux): memory is freed when the transmission of a segment begins, as a queue of the kernel does it that
// hands over to a virtual link; a network card frees it when it has sent the segment.
// DEVIATION(Linux): a segment is a buffer of its own (no segmentation offload), and a copy may leave while the segment
// before it still waits in the host.

use std::collections::VecDeque;

use base::{Span, Time};

use super::Sender;
use crate::cc::SenderCc;
use crate::plays::Plays;

/// Segments of a connection that wait in the queue of their host. O(1) amortised per segment that waits.
#[derive(Debug, Default)]
pub(super) struct HostQueue {
    /// When each begins to leave, in order, and the memory it takes.
    waiting: VecDeque<(Time, u64)>,
    /// The sum of their memory.
    bytes: u64,
}

impl HostQueue {
    /// Forgets the segments whose transmission has begun by now.
    fn leave(&mut self, now: Time) {
        while let Some((_, bytes)) = self.waiting.pop_front_if(|(begins, _)| *begins <= now) {
            self.bytes -= bytes;
        }
    }

    /// When so little waits that another segment `has_room` beside it, if that is not so now.
    fn until(&self, has_room: impl Fn(u64) -> bool) -> Option<Time> {
        let mut left = self.bytes;
        let mut until = None;
        for (begins, bytes) in &self.waiting {
            if has_room(left) {
                break;
            }
            left -= bytes;
            until = Some(*begins);
        }
        until
    }
}

/// The inputs of the limit on waiting segments.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Memory of two segments as the next one.
    least: u64,
    /// The window, or what is outstanding if that is more.
    window: u64,
    /// Smoothed round trip.
    srtt: Span,
    slow_start: bool,
}

impl Share {
    /// Whether `bytes` of memory are below the limit: two segments as the next one or 2^-10 s of the rate, and not more
    /// than `net.ipv4.tcp_limit_output_bytes`. The count of Linux begins at one, so that the limit itself is too much
    /// (`sk_wmem_alloc`). The rate is not divided by the round trip; the other side is multiplied by it.
    #[inline(always)]
    fn has_room_beside(&self, bytes: u64) -> bool {
        let fits = || u128::from(bytes + 1) * u128::from(self.srtt.as_ps()) <= self.in_a_while();
        bytes < LIMIT_OUTPUT && (bytes < self.least || fits())
    }

    /// 2^-10 s of the rate, times the round trip. The rate is the window for each round trip, and a fifth more, or twice
    /// that in slow start (`tcp_input.c, tcp_update_pacing_rate`).
    // DEVIATION(Linux): it takes the smaller rate from half of ssthresh on, and not from ssthresh.
    #[inline(always)]
    fn in_a_while(&self) -> u128 {
        let percent = if self.slow_start { 200 } else { 120 };
        u128::from(self.window) * (percent * WHILE_PER_PERCENT)
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// The segment that has just been handed over, with this payload, waits in its host's queue and `begins` to leave
    /// then.
    #[inline(never)]
    pub(crate) fn note_waiting(&mut self, payload: u16, begins: Time) {
        if !self.config.small_queues {
            return;
        }
        let queue = self.host_queue.get_or_insert_default();
        let bytes = u64::from(payload) + self.config.memory_beside();
        queue.waiting.push_back((begins, bytes));
        queue.bytes += bytes;
        self.crowds_host = true;
        self.gated |= !self.recorded;
    }

    /// Whether the next segment, of this payload, has to wait until less of this connection is in its host's queue,
    /// which is then part of the deadline. A copy, which is sent `again`, may meet twice as much.
    #[inline(always)]
    pub(super) fn waits_for_host(&mut self, payload: u64, again: bool, now: Time) -> bool {
        let Some(queue) = &mut self.host_queue else {
            return false;
        };
        queue.leave(now);
        if queue.bytes >= 2 * (payload + self.config.memory_beside()) {
            return self.waits_for_share(payload, again);
        }
        self.held_until = Time::NEVER;
        if queue.bytes == 0 {
            self.crowds_host = false;
            self.gated = self.may_always_be_held();
        }
        false
    }

    /// [`Sender::waits_for_host`] where as much waits as any connection may have there.
    #[inline(never)]
    fn waits_for_share(&mut self, payload: u64, again: bool) -> bool {
        let share = Share {
            least: 2 * (payload + self.config.memory_beside()),
            window: self.window.max(self.outstanding()),
            srtt: self.rtt.srtt(),
            slow_start: self.cc.as_role().is_slow_starting(),
        };
        self.held_until = Time::NEVER;
        let Some(queue) = &self.host_queue else {
            return false;
        };
        // With one segment outstanding at most, the next one leaves whatever waits.
        if self.outstanding() <= self.mss {
            return false;
        }
        // Half of what waits is below the limit where all of it is below twice the limit.
        let until = queue.until(|waiting| share.has_room_beside(waiting >> u32::from(again)));
        self.held_until = until.unwrap_or(Time::NEVER);
        until.is_some()
    }

    /// Whether the next segment of a sender without a record has to wait for its host. A sender with one asks when it
    /// knows which segment that is.
    pub(super) fn is_held_by_host(&mut self, now: Time) -> bool {
        if self.recorded || !self.crowds_host || self.retransmit_first || !self.could_send() {
            return false;
        }
        let again = self.is_recovering() || self.next < self.max;
        let payload = self.mss.min(self.written.saturating_sub(self.next));
        self.waits_for_host(payload, again, now)
    }
}

/// 10^12 ps in a second, divided by the 2^10 parts of it in which a share is sent, and by 100 percent.
const WHILE_PER_PERCENT: u128 = 1_000_000_000_000 / 1024 / 100;
/// `net.ipv4.tcp_limit_output_bytes` (`tcp_ipv4.c, tcp_sk_init`).
const LIMIT_OUTPUT: u64 = 16 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 segments in 10 ms.
    const SHARE: Share = Share {
        least: 2 * 2408,
        window: 40 * 1448,
        srtt: Span::from_millis(10),
        slow_start: false,
    };

    #[test]
    fn a_share_is_two_segments_or_a_millisecond_of_the_rate() {
        let is_limit = |share: Share, limit| {
            assert!(share.has_room_beside(limit - 1) && !share.has_room_beside(limit));
        };
        // 1.2 * 40 * 1448 bytes in 10 ms are 6.95 MB/s: 6,787 bytes in 1/1024 s.
        is_limit(SHARE, 6_787);
        // In slow start twice the window and not 1.2 times: 11.58 MB/s.
        let slow_start = Share {
            slow_start: true,
            ..SHARE
        };
        is_limit(slow_start, 11_312);
        // Two segments of 1448 + 960 bytes are more than a millisecond of ten segments in 10 ms.
        let few = Share {
            window: 10 * 1448,
            ..SHARE
        };
        is_limit(few, 4_816);
        let short = Share {
            least: 2 * 960,
            ..few
        };
        // The rate allows no more than these two: 1,696 bytes.
        is_limit(short, 2 * 960);
    }

    #[test]
    fn a_share_has_a_limit_of_its_own() {
        for srtt in [Span::from_micros(10), Span::ZERO] {
            let near = Share { srtt, ..SHARE };
            assert!(near.has_room_beside((1 << 20) - 1) && !near.has_room_beside(1 << 20));
        }
    }

    #[test]
    fn a_queue_falls_below_its_limit_when_the_segment_in_the_way_begins_to_leave() {
        let at = |us| Time::ZERO + Span::from_micros(us);
        let mut queue = HostQueue::default();
        for place in 1..=3 {
            queue.waiting.push_back((at(10 * place), 100));
            queue.bytes += 100;
        }
        let below = |queue: &HostQueue, limit| queue.until(|waiting| waiting < limit);
        assert_eq!(below(&queue, 301), None);
        assert_eq!(below(&queue, 300), Some(at(10)));
        assert_eq!(below(&queue, 101), Some(at(20)));
        queue.leave(at(10));
        assert_eq!((queue.bytes, below(&queue, 201)), (200, None));
        queue.leave(at(30));
        assert_eq!((queue.bytes, queue.waiting.len()), (0, 0));
    }
}
