//! What a sender has in flight, segment by segment.

mod delivered;

use std::collections::VecDeque;

use base::Time;

use crate::scoreboard::Scoreboard;
pub(crate) use delivered::{AckContext, Delivered};

/// The segments that are sent and not acknowledged, with when each was sent and what is known of it.
///
/// In the order of the stream. To send and to acknowledge is O(1) for each segment; a SACK block costs a
/// search and the segments that it brings news of; to look for losses is O(segments) below the highest that
/// was delivered or sent again, and happens only while something is missing.
#[derive(Debug, Default)]
pub(crate) struct RetransmissionQueue {
    segments: VecDeque<SentSegment>,
    /// Segments reported by SACK, judged lost, and sent again without an answer so far.
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// What SACK blocks have reported, in bytes.
    reported: Scoreboard,
    /// One past the highest offset reported.
    highest: u64,
    /// One past the highest offset sent again.
    repeated_up_to: u64,
    /// Nothing before this place is lost and waits to be sent again.
    next_lost: usize,
    /// Segments judged lost so far, those sent again included.
    losses: u64,
    /// Those of them that had been sent again.
    lost_again: u64,
    /// The longest way by which a segment sent once was overtaken: from its start to the end of what had
    /// been delivered, in bytes.
    overtaken: u64,
}

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// When it left, the last time.
    pub(crate) sent: Time,
    fate: Fate,
    /// Whether it was sent again and that copy is neither delivered nor lost.
    is_retransmitted: bool,
    /// Whether it was ever sent again: then nobody knows which copy an ACK is for (Karn).
    ever_retransmitted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Unknown,
    Sacked,
    Lost,
}

/// Segments that are acknowledged in order, each of them sent once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder {
    /// When the first of them had left.
    pub(crate) first: Time,
    /// When the last had left, and its end.
    pub(crate) last: (Time, u64),
    pub(crate) segments: u32,
}

impl RetransmissionQueue {
    /// A segment has left for the first time.
    #[inline(always)]
    pub(crate) fn push(&mut self, start: u64, end: u64, sent: Time) {
        self.segments.push_back(SentSegment {
            start,
            end,
            sent,
            fate: Fate::Unknown,
            is_retransmitted: false,
            ever_retransmitted: false,
        });
    }

    /// The segment at this place has left again.
    pub(crate) fn repeat(&mut self, place: usize, sent: Time) {
        let segment = &mut self.segments[place];
        if !segment.is_retransmitted {
            self.retransmitted += 1;
        }
        (
            segment.sent,
            segment.is_retransmitted,
            segment.ever_retransmitted,
        ) = (sent, true, true);
        self.repeated_up_to = self.repeated_up_to.max(segment.end);
    }

    /// The segment at this place has left again to probe, although nothing says that it is lost: its copy is not thought
    /// to be in the network beside it (Linux 6.12, `tcp_send_loss_probe`).
    pub(crate) fn probe(&mut self, place: usize, sent: Time) {
        let segment = &mut self.segments[place];
        (segment.sent, segment.ever_retransmitted) = (sent, true);
        self.repeated_up_to = self.repeated_up_to.max(segment.end);
    }

    /// The segment at this place, which no SACK block has reported, is two from now on: the second one begins at `at`.
    /// O(segments) behind it.
    pub(crate) fn split(&mut self, place: usize, at: u64) {
        let segment = &mut self.segments[place];
        debug_assert!(segment.start < at && at < segment.end && segment.fate != Fate::Sacked);
        let second = SentSegment {
            start: at,
            ..*segment
        };
        segment.end = at;
        self.lost += u32::from(second.fate == Fate::Lost);
        self.retransmitted += u32::from(second.is_retransmitted);
        self.segments.insert(place + 1, second);
    }

    /// Everything below `una` is acknowledged.
    pub(crate) fn acknowledge(
        &mut self,
        una: u64,
        context: &AckContext,
        delivered: &mut Delivered,
    ) {
        while let Some(first) = self.segments.front()
            && first.end <= una
        {
            let segment = *first;
            self.segments.pop_front();
            self.next_lost = self.next_lost.saturating_sub(1);
            self.forget(&segment);
            delivered.repeated |= segment.ever_retransmitted;
            if segment.fate != Fate::Sacked {
                delivered.reordered |= self.note_order(&segment);
                let silent = context.is_ambiguous(&segment) || context.answers_original(&segment);
                delivered.add(&segment, silent, context);
                if !silent {
                    delivered.last.0 = Some(segment.sent);
                }
                if !segment.ever_retransmitted {
                    let first = delivered.acknowledged.map_or(segment.sent, |sent| sent.0);
                    delivered.acknowledged = Some((first, segment.sent));
                }
            }
        }
        if let Some(first) = self.segments.front_mut() {
            first.start = first.start.max(una);
        }
        if !self.reported.is_empty() {
            self.reported.advance(una);
        }
    }

    /// Whether everything outstanding, which begins at `una`, was sent once and nothing is known of it, and whether
    /// what is acknowledged up to `ack` are whole segments.
    pub(crate) fn is_untouched(&self, una: u64, ack: u64) -> bool {
        let whole = |first: &SentSegment| first.end <= ack;
        self.sacked == 0
            && self.lost == 0
            && self.reported.is_empty()
            && self.repeated_up_to.max(self.highest) <= una
            && (ack <= una || self.segments.front().is_some_and(whole))
    }

    /// [`RetransmissionQueue::acknowledge`] where nothing is [touched](RetransmissionQueue::is_untouched).
    pub(crate) fn acknowledge_untouched(&mut self, una: u64) -> Option<InOrder> {
        let mut run: Option<InOrder> = None;
        while let Some(first) = self.segments.front()
            && first.end <= una
        {
            let (sent, end) = (first.sent, first.end);
            let so_far = run.map_or((sent, 0), |run| (run.first, run.segments));
            run = Some(InOrder {
                first: so_far.0,
                last: (sent, end),
                segments: so_far.1 + 1,
            });
            self.segments.pop_front();
        }
        if let Some(run) = run {
            self.next_lost = self.next_lost.saturating_sub(run.segments as usize);
        }
        if let Some(first) = self.segments.front_mut() {
            first.start = first.start.max(una);
        }
        run
    }

    /// `start..end` is reported to have arrived. What it covers only in part stays unknown. Ranges of one ACK
    /// come in the order of the stream, after what it acknowledges: else the first ones would seem overtaken.
    pub(crate) fn report(
        &mut self,
        (start, end): (u64, u64),
        context: &AckContext,
        delivered: &mut Delivered,
    ) {
        if self.reported.covers(start, end) {
            return;
        }
        self.reported.add(start, end);
        delivered.sacked = true;
        let first = self
            .segments
            .partition_point(|segment| segment.end <= start);
        for place in first..self.segments.len() {
            let segment = self.segments[place];
            if segment.start >= end {
                break;
            }
            if segment.fate == Fate::Sacked || !self.reported.covers(segment.start, segment.end) {
                continue;
            }
            // A copy of a segment that is not lost is still on its way: which of both has come nobody knows.
            if segment.fate == Fate::Lost {
                self.forget(&segment);
                self.segments[place].is_retransmitted = false;
            }
            self.sacked += 1;
            self.segments[place].fate = Fate::Sacked;
            delivered.reordered |= self.note_order(&segment);
            let silent = context.is_ambiguous(&segment);
            delivered.add(&segment, silent, context);
            if !silent {
                delivered.last.1 = Some(segment.sent);
            }
            if !segment.ever_retransmitted {
                let first = delivered.reported.map_or(segment.sent, |sent| sent.0);
                delivered.reported = Some((first, segment.sent));
            }
        }
        self.highest = self.highest.max(end);
    }

    /// The receiver has got all of `start..end` twice. Returns how many copies that is of segments that are still
    /// outstanding, and whether one of these was reported before: it was only late. O(segments) up to `end`.
    pub(crate) fn duplicate(&mut self, (start, end): (u64, u64)) -> (u32, bool) {
        let first = self
            .segments
            .partition_point(|segment| segment.start < start);
        let (mut copies, mut late) = (0, false);
        for segment in self.segments.range_mut(first..) {
            if segment.end > end {
                break;
            }
            if !segment.ever_retransmitted {
                continue;
            }
            copies += 1;
            late |= segment.is_sacked();
            if segment.is_retransmitted && segment.fate != Fate::Lost {
                segment.is_retransmitted = false;
                self.retransmitted -= 1;
            }
        }
        (copies, late)
    }

    /// The segment at this place is lost, the copy that was sent again, too, if one was.
    pub(crate) fn lose(&mut self, place: usize) {
        let segment = &mut self.segments[place];
        if segment.fate == Fate::Sacked || (segment.fate == Fate::Lost && !segment.is_retransmitted)
        {
            return;
        }
        self.losses += 1;
        self.lost_again += u64::from(segment.is_retransmitted);
        self.lost += u32::from(segment.fate != Fate::Lost);
        self.retransmitted -= u32::from(segment.is_retransmitted);
        (segment.fate, segment.is_retransmitted) = (Fate::Lost, false);
        self.next_lost = self.next_lost.min(place);
    }

    /// Loses what is `late`, of the segments that are neither delivered nor lost and were sent before the
    /// one with this time and end.
    pub(crate) fn lose_if(
        &mut self,
        newest: (Time, u64),
        mut late: impl FnMut(&SentSegment) -> bool,
    ) {
        for place in 0..self.segments.len() {
            let segment = self.segments[place];
            if (segment.sent, segment.end) >= newest {
                // Beyond what was sent again, the order of the stream is that of time.
                if segment.start >= self.repeated_up_to {
                    break;
                }
            } else if segment.awaited() && late(&segment) {
                self.lose(place);
            }
        }
    }

    /// Loses everything that is not delivered and is `late`, and the first segment in any case.
    pub(crate) fn lose_all_if(&mut self, mut late: impl FnMut(&SentSegment) -> bool) {
        for place in 0..self.segments.len() {
            if place == 0 || late(&self.segments[place]) {
                self.lose(place);
            }
        }
    }

    /// RFC 6675 §4: everything below `below` that was sent once and is not reported is lost.
    pub(crate) fn lose_below(&mut self, below: u64) {
        for place in 0..self.segments.len() {
            let segment = self.segments[place];
            if segment.end > below {
                break;
            }
            if !segment.ever_retransmitted {
                self.lose(place);
            }
        }
    }

    /// No segment counts as lost any more: the losses were none.
    pub(crate) fn clear_losses(&mut self) {
        for segment in &mut self.segments {
            if segment.fate == Fate::Lost {
                segment.fate = Fate::Unknown;
            }
        }
        self.lost = 0;
    }

    /// RFC 2018 §8: the receiver may have discarded what it reported.
    pub(crate) fn clear_reports(&mut self) {
        for segment in &mut self.segments {
            if segment.fate == Fate::Sacked {
                segment.fate = Fate::Unknown;
            }
        }
        self.sacked = 0;
        self.reported.clear();
    }

    /// The first segment that is lost and was not sent again since.
    #[inline(always)]
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        if self.lost == 0 {
            return None;
        }
        self.find_next_lost()
    }

    #[inline(never)]
    fn find_next_lost(&mut self) -> Option<usize> {
        let waits = |segment: &SentSegment| segment.fate == Fate::Lost && !segment.is_retransmitted;
        let found = self.segments.range(self.next_lost..).position(waits);
        self.next_lost = found.map_or(self.segments.len(), |place| self.next_lost + place);
        found.map(|_| self.next_lost)
    }

    pub(crate) fn segment(&self, place: usize) -> &SentSegment {
        &self.segments[place]
    }

    pub(crate) fn first(&self) -> Option<&SentSegment> {
        self.segments.front()
    }

    /// Segments outstanding.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Buffers that the segments outstanding take in Linux: those that SACK has reported and that follow each other become one
    /// (`tcp_shift_skb_data`).
    pub(crate) fn buffers(&self) -> u64 {
        let runs = self.reported.runs();
        let joined = (self.sacked as usize).saturating_sub(runs);
        let joined = if runs == 0 { 0 } else { joined };
        (self.segments.len() - joined) as u64
    }

    /// Segments thought to be in the network (RFC 6675 §4, counted in segments).
    pub(crate) fn pipe(&self) -> u64 {
        self.segments.len() as u64 + u64::from(self.retransmitted)
            - u64::from(self.sacked)
            - u64::from(self.lost)
    }

    /// Segments reported by SACK.
    pub(crate) const fn sacked(&self) -> u32 {
        self.sacked
    }

    /// This many segments count as arrived although nobody says which: where no SACK block ever does.
    pub(crate) const fn count_arrived(&mut self, segments: u32) {
        self.sacked = segments;
    }

    /// Segments judged lost and not delivered since.
    pub(crate) const fn lost(&self) -> u32 {
        self.lost
    }

    /// Segments sent again that are neither delivered nor lost.
    pub(crate) const fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// Judgements of loss so far, and those of segments sent again.
    pub(crate) const fn losses(&self) -> (u64, u64) {
        (self.losses, self.lost_again)
    }

    /// The longest way by which a segment was overtaken, bytes.
    pub(crate) const fn overtaken(&self) -> u64 {
        self.overtaken
    }

    /// What is known of the order of segments is forgotten.
    pub(crate) const fn forget_order(&mut self) {
        self.overtaken = 0;
    }

    /// Whether the first segment is reported by SACK: the receiver has discarded it since (RFC 2018 §8).
    pub(crate) fn is_reneged(&self) -> bool {
        let first = self.segments.front();
        first.is_some_and(|segment| segment.fate == Fate::Sacked)
    }

    /// Whether the last segment has a FIN behind data that ends at `data_end`.
    pub(crate) fn ends_in_data_and_fin(&self, data_end: u64) -> bool {
        let last = self.segments.back();
        last.is_some_and(|last| last.start < data_end && data_end < last.end)
    }

    /// Whether a copy is on its way, or the first segment was ever sent again (`tcp_any_retrans_done`).
    pub(crate) fn any_repeated(&self) -> bool {
        self.retransmitted > 0
            || self
                .segments
                .front()
                .is_some_and(|first| first.ever_retransmitted)
    }

    /// What SACK has reported.
    pub(crate) const fn reported(&self) -> &Scoreboard {
        &self.reported
    }

    /// Whether a segment that is delivered now was overtaken by one delivered before (RFC 8985 §6.2 step 3).
    fn note_order(&mut self, segment: &SentSegment) -> bool {
        let overtaken = !segment.ever_retransmitted && segment.end < self.highest;
        if overtaken {
            self.overtaken = self.overtaken.max(self.highest - segment.start);
        }
        overtaken
    }

    /// Takes a segment out of the counts.
    fn forget(&mut self, segment: &SentSegment) {
        self.retransmitted -= u32::from(segment.is_retransmitted);
        match segment.fate {
            Fate::Unknown => {}
            Fate::Sacked => self.sacked -= 1,
            Fate::Lost => self.lost -= 1,
        }
    }
}

impl SentSegment {
    /// Whether it is in the network as far as is known.
    fn awaited(&self) -> bool {
        match self.fate {
            Fate::Unknown => true,
            Fate::Sacked => false,
            Fate::Lost => self.is_retransmitted,
        }
    }

    pub(crate) const fn is_sacked(&self) -> bool {
        matches!(self.fate, Fate::Sacked)
    }
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;
    use crate::timestamps;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// Ten segments of 10 bytes, sent 1 us after each other.
    fn queue() -> RetransmissionQueue {
        let mut queue = RetransmissionQueue::default();
        for segment in 0..10 {
            queue.push(segment * 10, segment * 10 + 10, at(segment));
        }
        queue
    }

    const CONTEXT: AckContext = AckContext {
        now: Time::from_ps(200_000_000),
        min_rtt: Span::from_micros(100),
        limit: 0,
        stamp: None,
    };

    fn report(queue: &mut RetransmissionQueue, start: u64, end: u64) -> Delivered {
        let mut delivered = Delivered::default();
        queue.report((start, end), &CONTEXT, &mut delivered);
        delivered
    }

    fn acknowledge(queue: &mut RetransmissionQueue, una: u64) -> Delivered {
        let mut delivered = Delivered::default();
        queue.acknowledge(una, &CONTEXT, &mut delivered);
        delivered
    }

    // Clauses: RFC6675-4-pipe
    #[test]
    fn the_pipe_counts_what_is_neither_reported_nor_lost_and_what_was_sent_again() {
        let mut queue = queue();
        report(&mut queue, 40, 70);
        queue.lose_below(40);
        assert_eq!((queue.pipe(), queue.lost(), queue.sacked()), (3, 4, 3));
        assert_eq!(queue.next_lost(), Some(0));
        queue.repeat(0, at(200));
        assert_eq!((queue.pipe(), queue.next_lost()), (4, Some(1)));
        // 20 bytes acknowledged: a copy and a lost segment leave.
        assert_eq!(acknowledge(&mut queue, 20).segments, 2);
        assert_eq!(
            (queue.pipe(), queue.lost(), queue.retransmitted()),
            (3, 2, 0)
        );
    }

    // Linux: a probe is no repair.
    #[test]
    fn the_copy_of_a_probe_is_not_in_the_pipe_and_gives_no_sample() {
        let mut queue = queue();
        queue.probe(9, at(50));
        assert_eq!((queue.pipe(), queue.retransmitted()), (10, 0));
        let delivered = report(&mut queue, 90, 100);
        assert_eq!((delivered.reported, queue.pipe()), (None, 9));
        assert_eq!(delivered.newest, Some((at(50), 100)));
    }

    #[test]
    fn the_parts_of_a_segment_are_known_as_the_whole_was() {
        let mut queue = queue();
        let before = queue.len();
        queue.lose(0);
        queue.repeat(0, at(9));
        let (pipe, lost, again) = (queue.pipe(), queue.lost(), queue.retransmitted());
        let whole = *queue.segment(0);
        queue.split(0, whole.start + 1);
        assert_eq!((queue.len(), queue.pipe()), (before + 1, pipe + 1));
        assert_eq!((queue.lost(), queue.retransmitted()), (lost + 1, again + 1));
        let [first, second] = [0, 1].map(|place| *queue.segment(place));
        assert_eq!((first.start, first.end), (whole.start, whole.start + 1));
        assert_eq!((second.start, second.end), (whole.start + 1, whole.end));
        acknowledge(&mut queue, whole.end);
        assert_eq!((queue.lost(), queue.retransmitted()), (lost - 1, again - 1));
    }

    #[test]
    fn a_segment_that_is_reported_in_two_parts_counts_when_both_have_come() {
        let mut queue = queue();
        assert_eq!(report(&mut queue, 25, 50).segments, 2);
        assert_eq!(report(&mut queue, 20, 25).segments, 1);
        assert_eq!(report(&mut queue, 20, 50), Delivered::default());
        assert_eq!(queue.sacked(), 3);
    }

    #[test]
    fn a_partial_acknowledgement_moves_the_beginning_of_a_segment() {
        let mut queue = queue();
        assert_eq!(acknowledge(&mut queue, 15).segments, 1);
        let first = queue.first().expect("nine are left");
        assert_eq!((first.start, first.end), (15, 20));
    }

    // Clauses: RFC8985-6.2-spurious
    #[test]
    fn a_copy_sent_less_than_a_round_trip_ago_tells_nothing_about_time() {
        let mut queue = queue();
        queue.lose(0);
        queue.repeat(0, at(150));
        let delivered = acknowledge(&mut queue, 20);
        assert_eq!(delivered.newest, Some((at(1), 20)));
        assert!(delivered.repeated);
        // The second was sent once: a sample, of it alone.
        assert_eq!(delivered.acknowledged, Some((at(1), at(1))));
    }

    // Linux 6.12, tcp_sacktag_one: after an undo a copy may be out of a segment that is not lost.
    #[test]
    fn a_copy_of_a_segment_that_is_not_lost_is_out_until_its_duplicate_is_reported() {
        let mut queue = queue();
        queue.lose(3);
        queue.repeat(3, at(20));
        queue.clear_losses();
        report(&mut queue, 30, 50);
        assert_eq!(
            (queue.pipe(), queue.retransmitted(), queue.sacked()),
            (9, 1, 2)
        );
        // Segment 4 was sent once: what came twice of it is no copy of this sender's.
        assert_eq!(queue.duplicate((30, 50)), (1, true));
        assert_eq!((queue.pipe(), queue.retransmitted()), (8, 0));
        assert_eq!(queue.duplicate((0, 10)), (0, false));
    }

    // Linux 6.12, tcp_clean_rtx_queue: the echo is that of the original, sent in another millisecond.
    #[test]
    fn a_copy_whose_original_is_acknowledged_tells_nothing_about_time() {
        for (sent, newest) in [(5_000, None), (900, Some((at(900), 10)))] {
            let mut queue = queue();
            queue.lose(0);
            queue.repeat(0, at(sent));
            let context = AckContext {
                now: at(9_000),
                stamp: Some(timestamps::clock(at(0))),
                ..CONTEXT
            };
            let mut delivered = Delivered::default();
            queue.acknowledge(10, &context, &mut delivered);
            assert_eq!(delivered.newest, newest);
        }
    }

    // Clauses: RFC8985-6.2-reordering
    #[test]
    fn what_is_delivered_below_the_highest_report_was_overtaken() {
        let mut queue = queue();
        assert!(!report(&mut queue, 30, 40).reordered);
        assert!(report(&mut queue, 10, 20).reordered);
        assert!(acknowledge(&mut queue, 10).reordered);
        assert!(!acknowledge(&mut queue, 100).reordered || queue.len() == 0);
    }

    #[test]
    fn a_lost_copy_waits_again_and_is_counted() {
        let mut queue = queue();
        queue.lose(0);
        queue.repeat(0, at(20));
        queue.lose(0);
        assert_eq!(queue.losses(), (2, 1));
        assert_eq!((queue.next_lost(), queue.retransmitted()), (Some(0), 0));
        queue.clear_losses();
        assert_eq!((queue.next_lost(), queue.pipe()), (None, 10));
    }
}
