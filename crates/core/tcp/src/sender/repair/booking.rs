//! What an acknowledgement tells about the segments of a record: delivered, reported, come twice.

use base::SackBlocks;

use super::probe::TailProbe;
use super::retransmission_queue::{AckContext, Delivered};
use super::{Feedback, Repair, Sender};
use crate::cc::SenderCc;
use crate::plays::Plays;

/// The range that a sender has sent when an acknowledgement comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentSoFar {
    /// First offset not acknowledged before, and next offset to send.
    una: u64,
    next: u64,
    /// The stream's data ends here.
    data_end: u64,
    /// Bytes of a full segment.
    mss: u64,
    /// Segments sent again.
    copies: u64,
}

impl Repair {
    /// The duplicate that the SACK blocks report, if they do: RFC 2883 §4.1 and §4.2.
    fn duplicate(feedback: &Feedback<'_>) -> Option<(u64, u64)> {
        let first = *feedback.sacked.first()?;
        let below = first.0 < feedback.ack;
        let second = feedback.sacked.get(1);
        let inside = second.is_some_and(|second| second.0 <= first.0 && first.1 <= second.1);
        (first.0 < first.1 && (below || inside)).then_some(first)
    }

    /// The duplicate that the blocks report, if it may be one of this sender's copies, and how many segments it has. More
    /// duplicates than copies were made by the network (Linux 6.12, `tcp_dsack_seen`).
    fn accept_duplicate(
        &mut self,
        feedback: &Feedback<'_>,
        sent: &SentSoFar,
    ) -> Option<((u64, u64), u32)> {
        let duplicate = Self::duplicate(feedback)?;
        let segments = (duplicate.1 - duplicate.0).div_ceil(sent.mss);
        self.duplicates += segments;
        let segments = u32::try_from(segments).ok()?;
        (self.duplicates <= sent.copies).then_some((duplicate, segments))
    }

    /// Books that this came twice, which may be outstanding, with everything below `una` acknowledged before.
    fn book_duplicate(&mut self, duplicate: (u64, u64), segments: u32, una: u64) {
        let (copies, late) = self.queue.duplicate(duplicate);
        if let Some(undo) = &mut self.undo {
            undo.on_duplicate(duplicate.1, una, segments);
            undo.on_answered(copies);
        }
        let probe = self.probe.as_ref().and_then(TailProbe::end);
        if let Some(rack) = &mut self.rack {
            if probe != Some(duplicate.1) {
                rack.on_duplicate();
            }
            if late {
                rack.note_reordering();
            }
        }
    }

    /// Books what `feedback` reports by SACK, and what it acknowledges of the record.
    pub(super) fn book(&mut self, feedback: &Feedback<'_>, sent: &SentSoFar) -> Delivered {
        let una = feedback.ack.max(sent.una);
        let context = AckContext {
            now: feedback.now,
            min_rtt: self.min_rtt,
            limit: self.high,
            stamp: feedback.stamp,
        };
        let mut delivered = Delivered::default();
        let duplicate = self.accept_duplicate(feedback, sent);
        if let Some((duplicate, segments)) = duplicate {
            self.book_duplicate(duplicate, segments, sent.una);
        }
        if feedback.ack > sent.una {
            self.queue
                .acknowledge(feedback.ack, &context, &mut delivered);
        }
        let mut blocks = [(0, 0); SackBlocks::MAX];
        let reported = &feedback.sacked[usize::from(duplicate.is_some())..];
        let blocks = &mut blocks[..reported.len()];
        blocks.copy_from_slice(reported);
        blocks.sort_unstable();
        for block in blocks {
            // A receiver may report data alone: a FIN that left with the data of this block has come, too.
            if block.1 == sent.data_end && self.queue.ends_in_data_and_fin(sent.data_end) {
                block.1 += 1;
            }
            // RFC 2018 §5; a block outside what is outstanding is damaged or old.
            if block.0 >= una && block.0 < block.1 && block.1 <= sent.next {
                self.queue.report(*block, &context, &mut delivered);
            }
        }
        if let Some(rack) = &mut self.rack {
            rack.on_delivered(&delivered, feedback.now);
            rack.step(delivered.sent, feedback.now);
        }
        if let Some((duplicate, segments)) = duplicate {
            delivered.duplicate = Some(duplicate);
            delivered.segments += segments;
        }
        delivered
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// The range of the stream that has been sent.
    pub(super) fn sent_so_far(&self) -> SentSoFar {
        SentSoFar {
            una: self.una,
            next: self.next,
            data_end: self.written,
            mss: self.mss,
            copies: self.counters.retransmissions,
        }
    }
}
