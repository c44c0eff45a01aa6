//! The fast path of an ACK while nothing is missing.
//!
//! Most acknowledgements move on over segments that were sent once and not reported, while no reduction and no probe is
//! under way. What [`Sender::on_recorded`] finds out then is known before.

use super::state::RepairState;
use super::{Delivery, Echo, Feedback, Growth, Repair, Sender};
use crate::cc::SenderCc;
use crate::plays::Plays;

impl Repair {
    /// Whether nothing is missing or was sent again, with everything below `una` acknowledged before and whole segments
    /// up to `ack` now. While the state is open there is no reduction, and new data does not go first.
    pub(in crate::sender) fn may_take_fast_path(&self, una: u64, ack: u64) -> bool {
        self.state == RepairState::Open
            && self.probe.is_none_or(|probe| probe.may_probe())
            && !self.rack.is_some_and(|rack| rack.has_duplicate())
            && self.queue.is_untouched(una, ack)
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// [`Sender::on_recorded`] on the [fast path](Repair::may_take_fast_path), of an acknowledgement that moves on or
    /// comes with data, without reports and echo.
    pub(in crate::sender) fn on_fast_path(
        &mut self,
        feedback: &Feedback<'_>,
        moves_edge: bool,
        repair: &mut Repair,
    ) {
        let now = feedback.now;
        let run = repair.queue.acknowledge_untouched(feedback.ack);
        let bytes = self.move_to(feedback.ack, repair);
        let mut rtt = None;
        if let Some(run) = run {
            if let Some(rack) = &mut repair.rack {
                rack.advance(run.last, Some(run.last.0), now);
            }
            let last = now.since(run.last.0);
            repair.min_rtt = repair.min_rtt.min(last);
            let sample = now.since(run.first);
            self.rtt.sample(sample, (self.una, self.next), &self.config);
            rtt = Some(last);
        }
        let segments = u64::from(run.map_or(0, |run| run.segments));
        let delivery = Delivery {
            segments,
            echo: false,
            acknowledged: self.una,
            next: self.next,
        };
        if !repair.opened() && !self.skips(feedback, bytes == 0, moves_edge) {
            self.tell_delivery(&delivery);
        }
        if bytes > 0 {
            let grows = if self.config.growth == Growth::Delivery {
                segments * self.mss
            } else {
                bytes
            };
            self.tell_ack(feedback, (grows, Echo::None), rtt, repair);
        }
        if repair.queue.len() == 0 {
            self.stop_waiting(now);
        } else if bytes > 0 {
            self.restart(now, repair);
        }
        self.review_timer_on_ack(now);
        self.note_room(repair);
    }
}
