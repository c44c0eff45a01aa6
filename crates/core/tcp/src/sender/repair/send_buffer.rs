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

use super::Repair;
use crate::cc::SenderCc;
use crate::config::SendBufferSize;
use crate::plays::Plays;
use crate::sender::{MAX_OFFSET, Outgoing, Sender};

/// Memory for what is written and not acknowledged, and the application that writes into it. O(1) for an acknowledgement
/// and O(log marks) for a segment.
#[derive(Debug)]
pub(super) struct SendBuffer {
    bounds: SendBufferSize,
    /// Bytes of memory (`sk_sndbuf`); none before the handshake.
    size: u64,
    /// One past the last byte that the application has to write.
    offered: u64,
    /// Whether the application closes once it has written everything.
    closing: bool,
    writer: Writer,
    /// Whether an acknowledgement has come since room was looked for.
    acked: bool,
    /// Ends of segments with PSH that are not acknowledged, in order.
    pushes: VecDeque<u64>,
    /// The last such end (`pushed_seq`).
    pushed: u64,
    /// The widest window of the peer so far, bytes (`max_window`).
    widest: u64,
}

/// What the application does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Writer {
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
struct Stream {
    /// One past the last byte written.
    written: u64,
    /// Next offset to send.
    next: u64,
    mss: u64,
    /// Memory that is taken, and that of a segment beside its payload.
    taken: u64,
    beside: u64,
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
            pushes: VecDeque::new(),
            pushed: 1,
            widest: 0,
        }
    }

    /// Whether the segment that ends here has PSH.
    pub(super) fn is_pushed(&self, end: u64) -> bool {
        self.pushes.binary_search(&end).is_ok()
    }

    /// Room for twice a window of this many segments, of which each counts for `share` bytes (`tcp_sndbuf_expand`). A window
    /// that only the receiver bounds is as wide as its type.
    fn expand(&mut self, window: u64, share: u64) {
        let wanted = window.max(LEAST_WINDOW).saturating_mul(2 * share);
        self.size = self.size.max(wanted.min(self.bounds.most));
    }

    /// The application writes until the buffer is full; returns one past the last byte written. A last segment that is
    /// short becomes a full one, and full ones follow while memory is left.
    fn fill(&mut self, stream: &Stream) -> u64 {
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
        let is_short = end.saturating_sub(stream.next) % stream.mss > 0;
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
    fn push(&mut self, end: u64) {
        if self.pushes.back().is_none_or(|last| *last < end) {
            self.pushes.push_back(end);
        }
        self.pushed = end;
    }

    /// Everything below `una` is acknowledged, and the peer allows `window` bytes from there on.
    fn on_acknowledged(&mut self, una: u64, window: u64) {
        while self.pushes.pop_front_if(|end| *end <= una).is_some() {}
        self.widest = self.widest.max(window);
        self.acked = true;
    }
}

impl Repair {
    /// Bytes that the application has to write and that have no room yet, beyond those `written`.
    pub(in crate::sender) fn unwritten(&self, written: u64) -> u64 {
        let buffer = self.buffer.as_ref();
        buffer.map_or(0, |buffer| buffer.offered - written)
    }

    /// The application ends what it writes here.
    pub(in crate::sender) const fn take_back_unsent(&mut self, written: u64) {
        if let Some(buffer) = &mut self.buffer {
            (buffer.offered, buffer.closing) = (written, false);
            buffer.writer = Writer::Free;
        }
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// The peer's SYN has come: what was written before waits for the buffer.
    pub(in crate::sender) fn take_back_written(&mut self) {
        let repair = self.repair.as_deref_mut();
        if let Some(buffer) = repair.and_then(|repair| repair.buffer.as_mut()) {
            (buffer.offered, buffer.closing) = (self.written, self.closed);
            (self.written, self.closed) = (1, false);
        }
    }

    /// The handshake is over: the application may write (`tcp_init_buffer_space`).
    pub(in crate::sender) fn open_buffer(&mut self) {
        let Some(mut repair) = self.repair.take() else {
            return;
        };
        if let Some(buffer) = &mut repair.buffer {
            buffer.size = buffer.bounds.least;
            let window = self.segments(self.window);
            buffer.expand(window, self.config.memory_share(self.mss));
            buffer.widest = self.edge - self.una;
        }
        self.fill(&mut repair);
        self.repair = Some(repair);
    }

    /// The application has `bytes` more to write. Returns whether it writes into a buffer, as far as there is room.
    pub(in crate::sender) fn offers(&mut self, bytes: u64) -> bool {
        let Some(mut repair) = self.repair.take() else {
            return false;
        };
        if let Some(buffer) = &mut repair.buffer {
            debug_assert!(!buffer.closing, "nothing is written after the close");
            buffer.offered = buffer.offered.saturating_add(bytes).min(MAX_OFFSET);
            if buffer.writer == Writer::Free {
                self.fill(&mut repair);
            }
        }
        let is_bounded = repair.buffer.is_some();
        self.repair = Some(repair);
        is_bounded
    }

    /// The application has written everything, or will have when it has had room. Returns whether it still waits for it.
    pub(in crate::sender) fn closes_later(&mut self) -> bool {
        let repair = self.repair.as_deref_mut();
        let Some(buffer) = repair.and_then(|repair| repair.buffer.as_mut()) else {
            return false;
        };
        buffer.closing = buffer.offered > self.written;
        buffer.closing
    }

    /// An acknowledgement has been processed.
    pub(super) fn note_room(&mut self, repair: &mut Repair) {
        let Some(buffer) = &mut repair.buffer else {
            return;
        };
        buffer.on_acknowledged(self.una, self.edge.saturating_sub(self.una));
        // Of a sender that has nothing to send or to wait for nobody asks for segments.
        if self.next >= self.written && self.una >= self.max {
            self.lets_write(repair);
        }
    }

    /// A segment of new data leaves: whether with PSH, and perhaps the buffer grows with it (`tcp_event_new_data_sent`).
    pub(super) fn note_first(&mut self, outgoing: &mut Outgoing, repair: &mut Repair) {
        let Some(buffer) = &mut repair.buffer else {
            return;
        };
        let end = outgoing.offset + u64::from(outgoing.payload);
        if end == self.written && end == buffer.offered {
            buffer.push(end);
        }
        outgoing.push = outgoing.payload > 0 && buffer.is_pushed(end);
        if buffer.writer == Writer::Waits {
            self.look_for_room(repair);
        }
    }

    /// Nothing more can leave of what is written. Returns whether the application has written more.
    pub(super) fn lets_write(&mut self, repair: &mut Repair) -> bool {
        let Some(buffer) = &mut repair.buffer else {
            return false;
        };
        let acked = std::mem::take(&mut buffer.acked);
        if buffer.writer == Writer::Fills {
            if self.next < self.written {
                buffer.push(self.written);
            }
            buffer.writer = Writer::Waits;
        }
        if acked && buffer.writer == Writer::Waits {
            self.look_for_room(repair);
        }
        let goes_on = repair.buffer.as_ref().map(|buffer| buffer.writer) == Some(Writer::Woken);
        if goes_on {
            self.fill(repair);
        }
        goes_on
    }

    /// The application waits: its buffer grows unless the window is full, and it goes on if a third is free
    /// (`tcp_check_space`, `sk_stream_write_space`).
    fn look_for_room(&mut self, repair: &mut Repair) {
        let window = match &repair.reduction {
            Some(reduction) => reduction.window(),
            None => self.segments(self.window),
        };
        let is_full = repair.queue.pipe() >= window;
        // How far segments are thought to be overtaken (`tp->reordering`).
        let reordering = match &repair.reno {
            Some(reno) => reno.reordering(),
            None => repair
                .queue
                .overtaken()
                .div_ceil(self.mss)
                .min(MOST_REORDERING),
        };
        let taken = self.memory(repair);
        let Some(buffer) = &mut repair.buffer else {
            return;
        };
        if !is_full {
            let window = window.max(reordering + 1);
            buffer.expand(window, self.config.memory_share(self.mss));
        }
        if buffer.size > taken && buffer.size - taken >= taken / 2 {
            buffer.writer = Writer::Woken;
        }
    }

    /// The application writes as much as there is room for, and closes behind the end.
    fn fill(&mut self, repair: &mut Repair) {
        let taken = self.memory(repair);
        let Some(buffer) = &mut repair.buffer else {
            return;
        };
        self.written = buffer.fill(&Stream {
            written: self.written,
            next: self.next,
            mss: self.mss,
            taken,
            beside: self.config.memory_beside(),
        });
        self.closed |= buffer.closing && self.written == buffer.offered;
    }

    /// Memory that is taken (`sk_wmem_queued`).
    fn memory(&self, repair: &Repair) -> u64 {
        let unsent = self.written.saturating_sub(self.next).div_ceil(self.mss);
        let segments = repair.queue.buffers() + unsent;
        self.written.saturating_sub(self.una) + segments * self.config.memory_beside()
    }
}

/// The least window that a buffer has room for twice (`tcp_sndbuf_expand`, `TCP_INIT_CWND`).
const LEAST_WINDOW: u64 = 10;
/// `net.ipv4.tcp_max_reordering`.
const MOST_REORDERING: u64 = 300;

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
        buffer.expand(4, 2304);
        assert_eq!(buffer.size, 46_080);
        buffer.expand(100, 2304);
        assert_eq!(buffer.size, 460_800);
        buffer.expand(50, 2304);
        assert_eq!(buffer.size, 460_800);
        buffer.expand(u64::MAX, 2304);
        assert_eq!(buffer.size, 4 << 20);
    }
}
