//! The application of a sender with a [send buffer](super::send_buffer): when it writes, waits and goes on.

use super::Repair;
use super::send_buffer::{Stream, Writer};
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::sender::{MAX_OFFSET, Outgoing, Sender};

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
            buffer.expand(window, self.config.memory_share(self.mss), self.mss);
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
        // No segment is asked of a sender that has nothing to send or to wait for.
        if self.next >= self.written && self.una >= self.max {
            self.lets_write(repair);
        }
    }

    /// A segment of new data leaves: whether with PSH, and perhaps the buffer grows with it (`tcp_event_new_data_sent`).
    #[inline(always)]
    pub(super) fn note_first(&mut self, outgoing: &mut Outgoing, repair: &mut Repair) {
        let Some(buffer) = &mut repair.buffer else {
            return;
        };
        let end = outgoing.offset + u64::from(outgoing.payload);
        outgoing.push = (end >= buffer.next_push || end == self.written)
            && buffer.leaves_with_push(end, end == self.written)
            && outgoing.payload > 0;
        if buffer.writer == Writer::Waits && (buffer.eased || self.asks_for_more(repair)) {
            self.look_for_room(repair);
        }
    }

    /// Nothing more can leave of what is written. Returns whether the application has written more.
    #[inline(always)]
    pub(super) fn lets_write(&mut self, repair: &mut Repair) -> bool {
        let Some(buffer) = &mut repair.buffer else {
            return false;
        };
        let acked = std::mem::take(&mut buffer.acked);
        match buffer.writer {
            Writer::Free => false,
            Writer::Waits => {
                let looks = acked && (buffer.eased || self.asks_for_more(repair));
                looks && self.writes_on(acked, repair)
            }
            Writer::Fills | Writer::Woken => self.writes_on(acked, repair),
        }
    }

    #[inline(never)]
    fn writes_on(&mut self, acked: bool, repair: &mut Repair) -> bool {
        let Some(buffer) = &mut repair.buffer else {
            return false;
        };
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

    /// Whether the buffer would grow if the window is not full.
    #[inline(always)]
    fn asks_for_more(&self, repair: &Repair) -> bool {
        let window = match &repair.reduction {
            Some(reduction) => reduction.window() * self.mss,
            None => self.window,
        };
        // How far segments may be overtaken, in whole ones and one more.
        let overtaken = match &repair.reno {
            Some(reno) => (reno.reordering() + 1) * self.mss,
            None => repair.queue.overtaken() + 2 * self.mss,
        };
        let buffer = repair.buffer.as_ref();
        buffer.is_some_and(|buffer| window.max(overtaken) > buffer.grows_beyond)
    }

    /// The application waits: its buffer grows unless the window is full, and it goes on if a third is free
    /// (`tcp_check_space`, `sk_stream_write_space`). Mostly neither is so, which is found without a division.
    #[inline(never)]
    fn look_for_room(&mut self, repair: &mut Repair) {
        let grows = self.asks_for_more(repair) && self.allows_segment(repair);
        let beside = self.config.memory_beside();
        let Some(buffer) = &mut repair.buffer else {
            return;
        };
        // Between two acknowledgements no memory is given back.
        let mut has_room = std::mem::take(&mut buffer.eased);
        if has_room {
            // All times the bytes of a segment; the last segment counts for a part.
            let unsent = self.written.saturating_sub(self.next);
            let outstanding = self.written.saturating_sub(self.una);
            let segments = (repair.queue.buffers() * self.mss).saturating_add(unsent);
            let taken = outstanding.saturating_mul(self.mss);
            let taken = taken.saturating_add(segments.saturating_mul(beside));
            has_room = taken <= buffer.wakes_within;
        }
        if grows || has_room {
            self.find_room(repair);
        }
    }

    /// [`Sender::look_for_room`] where there may be some.
    #[inline(never)]
    fn find_room(&mut self, repair: &mut Repair) {
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
            buffer.expand(window, self.config.memory_share(self.mss), self.mss);
        }
        if buffer.has_room(taken) {
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

/// `net.ipv4.tcp_max_reordering`.
const MOST_REORDERING: u64 = 300;
