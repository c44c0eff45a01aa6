//! The send buffer of Linux: an application that writes more than it holds waits for room (`tcp.c, tcp_sendmsg_locked`).
//!
//! Everything written and not acknowledged takes memory, its segments some beside their bytes. When all memory is taken the
//! application waits until a third of it is free. Three things follow. What was written so far may end with PSH, and its
//! receiver acknowledges it at once. A sender whose buffer is empty has nothing to send although its window is open, and
//! such a window does not count as used. And the buffer grows to twice the window when the application waits and the window
//! is not full (`tcp_input.c, tcp_sndbuf_expand`).
//!
//! An application takes no time here: it writes at the instant at which it may.
// DEVIATION(Linux): several writes are one, so that PSH at the end of a write is lost where the next one follows before its
// last segment has left.

use std::collections::VecDeque;

use crate::config::SendBufferSize;

/// Memory for what is written and not acknowledged, and the application that writes into it. O(1) for an acknowledgement
/// and O(log marks) for a segment.
#[derive(Debug)]
pub(super) struct SendBuffer {
    pub(super) bounds: SendBufferSize,
    /// Bytes of memory (`sk_sndbuf`); none before the handshake.
    pub(super) size: u64,
    /// One past the last byte that the application has to write.
    pub(super) offered: u64,
    /// Whether the application closes once it has written everything.
    pub(super) closing: bool,
    pub(super) writer: Writer,
    /// Whether an acknowledgement has come since the sender ran out of segments, and since anybody asked how much memory
    /// is taken.
    pub(super) acked: bool,
    pub(super) eased: bool,
    /// No window of at most as many bytes makes the buffer larger.
    pub(super) grows_beyond: u64,
    /// With more memory taken than this, in bytes times those of a segment, there is no room for the application.
    pub(super) wakes_within: u64,
    /// No segment that ends before has PSH and has not left yet.
    pub(super) next_push: u64,
    /// Ends of segments with PSH that are not acknowledged, in order.
    pushes: VecDeque<u64>,
    /// The last such end (`pushed_seq`).
    pushed: u64,
    /// The widest window of the peer so far, bytes (`max_window`).
    pub(super) widest: u64,
}

/// The state of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Writer {
    /// It has nothing to write.
    Free,
    /// It has filled the buffer, and segments of it leave while it does.
    Fills,
    /// It waits for room (`SOCK_NOSPACE`).
    Waits,
    /// There is room. It goes on when nothing more can leave of what it has written before.
    Woken,
}

/// The stream when the application writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// One past the last byte written.
    pub(super) written: u64,
    /// Next offset to send.
    pub(super) next: u64,
    pub(super) mss: u64,
    /// Memory that is taken, and that of a segment beside its payload.
    pub(super) taken: u64,
    pub(super) beside: u64,
}

impl SendBuffer {
    /// The buffer before the handshake: nothing is written.
    pub(super) const fn new(bounds: SendBufferSize) -> Self {
        Self {
            bounds,
            size: 0,
            offered: 1,
            closing: false,
            writer: Writer::Free,
            acked: false,
            eased: false,
            grows_beyond: 0,
            wakes_within: u64::MAX,
            next_push: u64::MAX,
            pushes: VecDeque::new(),
            pushed: 1,
            widest: 0,
        }
    }

    /// Whether the segment that ends here has PSH.
    pub(super) fn is_pushed(&self, end: u64) -> bool {
        self.pushes.binary_search(&end).is_ok()
    }

    /// A segment that ends here leaves for the first time, and it is the `last` one written. Returns whether it has PSH.
    #[inline(never)]
    pub(super) fn leaves_with_push(&mut self, end: u64, last: bool) -> bool {
        if last && end == self.offered {
            self.push(end);
        }
        let later = self.pushes.iter().find(|push| **push > end);
        self.next_push = later.copied().unwrap_or(u64::MAX);
        self.is_pushed(end)
    }

    /// Room for twice a window of this many segments of `mss` bytes, each counting for `share` (`tcp_sndbuf_expand`). A
    /// window that only the receiver bounds is as wide as its type.
    pub(super) fn expand(&mut self, window: u64, share: u64, mss: u64) {
        let wanted = window.max(LEAST_WINDOW).saturating_mul(2 * share);
        self.size = self.size.max(wanted.min(self.bounds.most));
        let is_largest = self.size >= self.bounds.most;
        self.grows_beyond = if is_largest {
            u64::MAX
        } else {
            (self.size / (2 * share) + 1).saturating_mul(mss) - 1
        };
        // As `has_room` has it, of three times the memory taken. A product too large for its type bounds nothing.
        let thrice = self.size.saturating_mul(2).saturating_add(1);
        let thrice = thrice.checked_mul(mss);
        self.wakes_within = thrice.map_or(u64::MAX, |thrice| thrice / 3);
    }

    /// Whether a third of the memory is free with this much of it taken.
    pub(super) const fn has_room(&self, taken: u64) -> bool {
        self.size > taken && self.size - taken >= taken / 2
    }

    /// The application writes until the buffer is full; returns one past the last byte written. A last segment that is
    /// short becomes a full one, and full ones follow while memory is left.
    pub(super) fn fill(&mut self, stream: &Stream) -> u64 {
        let left = self.offered - stream.written;
        let short = stream.written.saturating_sub(stream.next) % stream.mss;
        let completed = if short > 0 { stream.mss - short } else { 0 }.min(left);
        let taken = stream.taken + completed;
        let segments = self.size.saturating_sub(taken);
        let segments = segments.div_ceil(stream.mss + stream.beside);
        let room = completed.saturating_add(segments.saturating_mul(stream.mss));
        let end = stream.written + left.min(room);
        self.push_within(stream, end);
        self.writer = if end < self.offered {
            Writer::Fills
        } else {
            Writer::Free
        };
        let is_short = !end.saturating_sub(stream.next).is_multiple_of(stream.mss);
        if end == self.offered && end > stream.written {
            if is_short {
                // Its mark is gone if more follows before it has left.
                self.pushed = end;
            } else {
                self.push(end);
            }
        }
        end
    }

    /// Within a write that is longer than half of the widest window segments have PSH, too (`forced_push`).
    fn push_within(&mut self, stream: &Stream, end: u64) {
        let mut from = stream.written;
        loop {
            let beyond = (self.pushed + self.widest / 2).max(from) + 1;
            let segments = beyond.saturating_sub(stream.next).div_ceil(stream.mss);
            from = stream.next + segments * stream.mss;
            if from > end {
                return;
            }
            self.push(from);
        }
    }

    /// The segment that ends here has PSH.
    pub(super) fn push(&mut self, end: u64) {
        if self.pushes.back().is_none_or(|last| *last < end) {
            self.pushes.push_back(end);
            self.next_push = self.next_push.min(end);
        }
        self.pushed = end;
    }

    /// Everything below `una` is acknowledged, and the peer allows `window` bytes from there on.
    pub(super) fn on_acknowledged(&mut self, una: u64, window: u64) {
        while self.pushes.pop_front_if(|end| *end <= una).is_some() {}
        self.widest = self.widest.max(window);
        (self.acked, self.eased) = (true, true);
    }
}

/// The least window that a buffer has room for twice (`tcp_sndbuf_expand`, `TCP_INIT_CWND`).
const LEAST_WINDOW: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;
    /// Of the kernel that User-mode Linux is: 256 bytes for headers.
    const BESIDE: u64 = 896;

    fn buffer(size: u64, offered: u64) -> SendBuffer {
        SendBuffer {
            size,
            offered,
            widest: 1 << 20,
            ..SendBuffer::new(SendBufferSize {
                least: size,
                most: 4 << 20,
            })
        }
    }

    fn stream(written: u64, next: u64, segments: u64) -> Stream {
        Stream {
            written,
            next,
            mss: MSS,
            taken: segments * (MSS + BESIDE),
            beside: BESIDE,
        }
    }

    // 19 segments of 2344 bytes leave room for another one in 46,080 bytes, as small as that room is.
    #[test]
    fn a_buffer_takes_segments_while_any_memory_is_left() {
        let mut buffer = buffer(46_080, 1 << 40);
        assert_eq!(buffer.fill(&stream(1, 1, 0)), 1 + 20 * MSS);
        assert_eq!(buffer.writer, Writer::Fills);
        // Full, but for the rest of a short segment.
        assert_eq!(buffer.fill(&stream(1 + 20 * MSS, 1, 20)), 1 + 20 * MSS);
        let short = stream(1 + 19 * MSS + 100, 1, 20);
        assert_eq!(buffer.fill(&short), 1 + 20 * MSS);
    }

    #[test]
    fn a_write_that_fits_leaves_the_application_free() {
        let mut buffer = buffer(46_080, 1 + 12 * MSS);
        assert_eq!(buffer.fill(&stream(1, 1, 0)), 1 + 12 * MSS);
        assert_eq!(buffer.writer, Writer::Free);
        assert!(buffer.is_pushed(1 + 12 * MSS) && !buffer.is_pushed(1 + 11 * MSS));
    }

    // 23 segments are the first ones that are more than half of 65,160 bytes.
    #[test]
    fn a_long_write_is_pushed_after_half_of_the_widest_window() {
        let mut buffer = SendBuffer {
            widest: 65_160,
            ..buffer(1 << 20, 1 + 100 * MSS)
        };
        buffer.fill(&stream(1, 1, 0));
        let ends: Vec<u64> = buffer.pushes.iter().map(|end| (end - 1) / MSS).collect();
        assert_eq!(ends, [23, 46, 69, 92, 100]);
        buffer.on_acknowledged(1 + 46 * MSS, 0);
        assert_eq!(buffer.pushes.len(), 3);
    }

    #[test]
    fn a_buffer_grows_to_twice_the_window_and_not_beyond_its_bound() {
        let mut buffer = buffer(46_080, 1);
        buffer.expand(4, 2304, MSS);
        assert_eq!(buffer.size, 46_080);
        buffer.expand(100, 2304, MSS);
        assert_eq!(buffer.size, 460_800);
        buffer.expand(50, 2304, MSS);
        assert_eq!(buffer.size, 460_800);
        buffer.expand(u64::MAX, 2304, MSS);
        assert_eq!(buffer.size, 4 << 20);
    }

    // Within the bounds no question is asked, because no answer would change anything.
    #[test]
    fn the_bounds_tell_windows_and_memory_with_which_nothing_changes() {
        for size in [1, 46_081, 46_082, 46_083, 1 << 20] {
            for mss in [1, 536, MSS] {
                let mut buffer = buffer(size, 1);
                buffer.expand(1, 2304, mss);
                let grown = buffer.size;
                let most = (1..=grown).rev().find(|taken| buffer.has_room(*taken));
                let most = most.expect("there is room beside a byte");
                assert_eq!(buffer.wakes_within / mss, most, "{size} {mss}");
                let window = buffer.grows_beyond / mss;
                buffer.expand(window, 2304, mss);
                assert_eq!(buffer.size, grown, "{size} {mss}");
                buffer.expand(window + 1, 2304, mss);
                assert!(buffer.size > grown, "{size} {mss}");
            }
        }
        let mut largest = buffer(4 << 20, 1);
        largest.expand(1, 2304, MSS);
        assert_eq!(largest.grows_beyond, u64::MAX);
        let mut beyond_numbers = SendBuffer {
            bounds: SendBufferSize {
                least: u64::MAX,
                most: u64::MAX,
            },
            ..buffer(u64::MAX, 1)
        };
        beyond_numbers.expand(1, 2304, MSS);
        assert_eq!(beyond_numbers.wakes_within, u64::MAX);
    }
}
