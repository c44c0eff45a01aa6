//! Repair without SACK, as Linux 6.12 has it: `NewReno` (RFC 6582) on the record of segments.
//!
//! Nobody reports which segments have come. Each duplicate ACK stands for one that has, so that the estimate of what is in
//! the network, and with it proportional rate reduction, works as with SACK (`tcp_add_reno_sack`). Only the first segment
//! is ever judged lost: after three duplicates, and with each partial ACK of a recovery (`tcp_newreno_mark_lost`). A recovery
//! goes on until something beyond its end is acknowledged (RFC 6582 §4). Timestamps and F-RTO still show what was needless.

use super::frto::{Evidence, FrtoVerdict};
use super::state::RepairState;
use super::{AckInfo, Repair, RetransmissionQueue};
use crate::cc::{Echo, SenderCc};
use crate::plays::Plays;
use crate::sender::Sender;

/// Duplicates that a sender counts instead of reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reno {
    /// Duplicates that show the first segment to be lost. More than the segments behind it show that the path changes their
    /// order (`tcp_check_reno_reordering`).
    threshold: u32,
    /// Segments that duplicates stand for and that the congestion control has not been told of.
    untold: u32,
}

impl Reno {
    pub(super) const fn new() -> Self {
        Self {
            threshold: DUP_THRESH,
            untold: 0,
        }
    }

    /// `acked` segments are acknowledged; `flight` is the rest. Returns how many of them no duplicate has stood for
    /// (`tcp_remove_reno_sacks`): the first one was missing, so that the others have caused duplicates.
    fn on_acknowledged(&mut self, acked: u32, queue: &mut RetransmissionQueue) -> u32 {
        if acked == 0 {
            return 0;
        }
        let counted = queue.sacked();
        queue.count_arrived(counted.saturating_sub(acked - 1));
        self.limit(acked, queue);
        acked.saturating_sub(counted).max(1)
    }

    /// Duplicates that may come without a loss.
    pub(super) fn reordering(self) -> u64 {
        self.threshold.into()
    }

    /// A duplicate has come. Returns how many segments it stands for.
    fn on_duplicate(&mut self, queue: &mut RetransmissionQueue) -> u32 {
        let before = queue.sacked();
        queue.count_arrived(before + 1);
        self.limit(0, queue);
        let delivered = queue.sacked().saturating_sub(before);
        self.untold += delivered;
        delivered
    }

    /// There are never more duplicates than segments behind those that are missing (`tcp_limit_reno_sacked`).
    fn limit(&mut self, acked: u32, queue: &mut RetransmissionQueue) {
        let all = u32::try_from(queue.len()).unwrap_or(u32::MAX);
        let missing = queue.lost().max(1).min(all);
        if queue.sacked() + missing > all {
            queue.count_arrived(all - missing);
            self.threshold = (all + acked).min(MOST_REORDERING);
        }
    }

    /// The first segment is lost if there are enough duplicates.
    fn judge(self, queue: &mut RetransmissionQueue) {
        if queue.len() > 0 && queue.sacked() >= self.threshold {
            queue.lose(0);
        }
    }
}

impl Repair {
    /// Of what an ACK acknowledges, the segments that count as delivered with it; and those that the congestion control is
    /// told of, with the duplicates before.
    pub(super) fn count_without_sack(&mut self, acked: u32) -> (u32, u32) {
        let Some(reno) = &mut self.reno else {
            return (acked, acked);
        };
        let delivered = reno.on_acknowledged(acked, &mut self.queue);
        (delivered, delivered + std::mem::take(&mut reno.untold))
    }

    /// Something is acknowledged in order: duplicates count from here on.
    fn forget_duplicates(&mut self) {
        self.queue.count_arrived(0);
    }

    fn add_duplicate(&mut self, ack_info: &mut AckInfo) {
        if let Some(reno) = &mut self.reno
            && ack_info.counts
        {
            ack_info.delivered.segments += reno.on_duplicate(&mut self.queue);
        }
    }

    /// The usual counting, outside of recovery.
    fn count_duplicates(&mut self, ack_info: &mut AckInfo) {
        if ack_info.advances() {
            self.forget_duplicates();
        }
        self.add_duplicate(ack_info);
        if let Some(reno) = self.reno {
            reno.judge(&mut self.queue);
        }
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Processes an ACK without SACK according to the state (`tcp_fastretrans_alert`).
    pub(super) fn change_state_without_sack(
        &mut self,
        ack_info: &mut AckInfo,
        repair: &mut Repair,
    ) {
        repair.new_first = false;
        if repair.state == RepairState::Open && !ack_info.counts && ack_info.echo == Echo::None {
            return;
        }
        repair.note_mark(ack_info);
        if repair.queue.len() == 0 {
            repair.forget_duplicates();
        }
        if self.leave_without_sack(ack_info, repair) {
            return;
        }
        match repair.state {
            RepairState::Recovery => {
                if !ack_info.advances() {
                    return repair.add_duplicate(ack_info);
                }
                if !self.undo_partial(ack_info, repair) {
                    return;
                }
            }
            RepairState::Loss => {
                self.on_ack_after_timeout_without_sack(ack_info, repair);
                if repair.state == RepairState::Loss {
                    return;
                }
                repair.count_duplicates(ack_info);
            }
            _ => repair.count_duplicates(ack_info),
        }
        let lost = repair.queue.lost() > 0 && self.config.fast_retransmit;
        if lost && repair.state != RepairState::Recovery {
            self.enter_recorded_recovery(ack_info.echo != Echo::None, ack_info.now, repair);
        } else if !repair.state.reduces() {
            self.open(repair);
        }
    }

    /// States end when what was sent before them is acknowledged; a recovery when something beyond it is, too, since
    /// duplicates of its copies would begin another one (RFC 6582 §4). Returns whether it is held.
    fn leave_without_sack(&mut self, ack_info: &AckInfo, repair: &mut Repair) -> bool {
        match repair.state {
            RepairState::Reduced if self.una > repair.high => {
                repair.reduction = None;
                self.open(repair);
            }
            RepairState::Recovery if self.una >= repair.high => {
                repair.forget_duplicates();
                let undone = repair.may_undo(ack_info);
                if undone {
                    self.take_back(repair, false);
                }
                if self.una == repair.high {
                    return true;
                }
                if !undone {
                    self.control(|cc| cc.on_recovered(None));
                }
                repair.reduction = None;
                self.open(repair);
            }
            _ => {}
        }
        false
    }

    /// A partial ACK: the next segment is lost, unless a timestamp tells that the last one was only late
    /// (`tcp_try_undo_partial`). Returns whether losses are to be looked for.
    fn undo_partial(&mut self, ack_info: &AckInfo, repair: &mut Repair) -> bool {
        let undo = repair.undo;
        if !undo.is_some_and(|undo| undo.answers_original(ack_info.stamp)) {
            if repair.queue.len() > 0 {
                repair.queue.lose(0);
            }
            return true;
        }
        // With copies still on their way nothing more is sent again.
        if repair.queue.retransmitted() > 0 {
            return false;
        }
        self.take_back(repair, true);
        self.open(repair);
        true
    }

    /// What an ACK means after a timeout (`tcp_process_loss`).
    fn on_ack_after_timeout_without_sack(&mut self, ack_info: &mut AckInfo, repair: &mut Repair) {
        if ack_info.advances() && repair.may_undo(ack_info) {
            // The state ends with what was sent before, as else a copy could begin a recovery.
            return self.take_back(repair, true);
        }
        let complete = self.una >= repair.high;
        let verdict = repair.frto.on_ack(Evidence {
            advances: ack_info.advances(),
            complete,
            // With a copy among them nobody knows who has brought the acknowledgement.
            original: ack_info.delivered.original && !ack_info.delivered.repeated,
            reports: self.next > repair.high && ack_info.counts,
            new_data: self.next < self.written && self.edge > self.next,
        });
        let beyond = self.una > repair.high;
        match verdict {
            FrtoVerdict::Spurious => {
                self.take_back(repair, true);
                if self.una != repair.high {
                    self.open(repair);
                }
            }
            FrtoVerdict::SendNew => {
                repair.new_first = true;
                if self.next > repair.high {
                    self.count_new(ack_info, repair);
                }
            }
            FrtoVerdict::Repair if beyond => self.open(repair),
            FrtoVerdict::Repair if complete => {}
            FrtoVerdict::Repair => self.count_new(ack_info, repair),
        }
    }

    /// A duplicate tells that new data has come, which then lets more of the old go.
    fn count_new(&mut self, ack_info: &mut AckInfo, repair: &mut Repair) {
        if self.next > repair.high && ack_info.counts {
            repair.add_duplicate(ack_info);
        } else if ack_info.advances() {
            repair.forget_duplicates();
        }
    }
}

/// RFC 5681 §3.2.
const DUP_THRESH: u32 = 3;
/// Linux: `tcp_max_reordering`.
const MOST_REORDERING: u32 = 300;

#[cfg(test)]
mod tests {
    use base::{Span, Time};

    use super::super::retransmission_queue::{AckContext, Delivered};
    use super::*;

    /// Ten segments of 10 bytes.
    fn queue() -> RetransmissionQueue {
        let mut queue = RetransmissionQueue::default();
        for segment in 0..10 {
            queue.push(segment * 10, segment * 10 + 10, Time::ZERO);
        }
        queue
    }

    fn acknowledge(queue: &mut RetransmissionQueue, una: u64) -> u32 {
        let judge = AckContext {
            now: Time::ZERO + Span::from_micros(100),
            min_rtt: Span::from_micros(100),
            limit: 0,
            stamp: None,
        };
        let mut delivered = Delivered::default();
        queue.acknowledge(una, &judge, &mut delivered);
        delivered.segments
    }

    // RFC 6582 §3.2 step 2; tcp_newreno_mark_lost.
    #[test]
    fn the_third_duplicate_loses_the_first_segment() {
        let (mut reno, mut queue) = (Reno::new(), queue());
        for pipe in [9, 8] {
            assert_eq!(reno.on_duplicate(&mut queue), 1);
            reno.judge(&mut queue);
            assert_eq!((queue.pipe(), queue.lost()), (pipe, 0));
        }
        reno.on_duplicate(&mut queue);
        reno.judge(&mut queue);
        assert_eq!((queue.pipe(), queue.lost()), (6, 1));
        assert_eq!(reno.untold, 3);
    }

    // tcp_remove_reno_sacks: of five segments the first was missing, and three duplicates stand for three others.
    #[test]
    fn an_acknowledgement_delivers_what_no_duplicate_stood_for() {
        let (mut reno, mut queue) = (Reno::new(), queue());
        (0..3).for_each(|_| assert_eq!(reno.on_duplicate(&mut queue), 1));
        let acked = acknowledge(&mut queue, 50);
        assert_eq!(reno.on_acknowledged(acked, &mut queue), 2);
        assert_eq!(queue.sacked(), 0);
        // A partial ACK of a single segment leaves the duplicates, and delivers one.
        (0..3).for_each(|_| assert_eq!(reno.on_duplicate(&mut queue), 1));
        let acked = acknowledge(&mut queue, 60);
        assert_eq!(reno.on_acknowledged(acked, &mut queue), 1);
        assert_eq!(queue.sacked(), 3);
    }

    // tcp_check_reno_reordering: nine duplicates for ten segments, and the tenth shows that order changes.
    #[test]
    fn more_duplicates_than_segments_raise_the_threshold() {
        let (mut reno, mut queue) = (Reno::new(), queue());
        (0..9).for_each(|_| assert_eq!(reno.on_duplicate(&mut queue), 1));
        assert_eq!(reno.threshold, 3);
        assert_eq!(reno.on_duplicate(&mut queue), 0);
        assert_eq!((queue.sacked(), reno.threshold), (9, 10));
    }
}
