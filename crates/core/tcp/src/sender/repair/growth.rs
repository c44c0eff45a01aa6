//! What the congestion control is told of acknowledgements: what windows grow by, and marks.

use base::Span;

use super::state::RepairState;
use super::{AckInfo, Repair};
use crate::cc::{Ack, Echo, SenderCc};
use crate::config::Growth;
use crate::plays::Plays;
use crate::scoreboard::DUP_THRESH;
use crate::sender::{Feedback, Sender};

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Whether the window may grow as far as its use decides it.
    fn is_cwnd_limited(&self, repair: &Repair) -> bool {
        let window = self.window;
        if self.config.window_validation && self.config.counts_segments() {
            let cwnd_limited = &repair.cwnd_limited;
            return cwnd_limited.is_limited()
                || self.cc.as_role().is_slow_starting()
                    && cwnd_limited.may_double(self.segments(window));
        }
        !self.config.window_validation || self.used.saturating_mul(2) >= window
    }

    /// The bytes that windows grow by. Deliveries count with an ACK that moves on; where segments are known to
    /// change their order, with every one (`tcp_may_raise_cwnd`).
    fn growth_of(&self, ack_info: &AckInfo, repair: &Repair) -> u64 {
        if self.config.growth != Growth::Delivery {
            return ack_info.bytes;
        }
        let reorders = repair.queue.overtaken() > DUP_THRESH * self.mss;
        if !ack_info.advances() && !reorders {
            return 0;
        }
        u64::from(ack_info.delivered.segments) * self.mss
    }

    /// Tells the congestion control, and begins a reduction if a mark asks for one.
    pub(super) fn tell(
        &mut self,
        feedback: &Feedback<'_>,
        ack_info: &AckInfo,
        rtt: Option<Span>,
        repair: &mut Repair,
    ) {
        let reduces = ack_info.echo == Echo::Reduce;
        let bytes = self.growth_of(ack_info, repair);
        let tells = ack_info.echo != Echo::None || feedback.extension != base::Extension::NONE;
        if ack_info.bytes.max(bytes) > 0 || tells {
            self.tell_ack(feedback, (bytes, ack_info.echo), rtt, repair);
        }
        if reduces {
            // A mark proves congestion: an earlier reduction is not taken back any more (`tcp_enter_cwr`).
            if let Some(undo) = &mut repair.undo {
                undo.settle();
            }
            self.note_reduction();
            self.enter(RepairState::Reduced, repair);
            self.begin_reduction(ack_info.window, repair);
        }
    }

    pub(super) fn tell_ack(
        &mut self,
        feedback: &Feedback<'_>,
        (bytes, echo): (u64, Echo),
        rtt: Option<Span>,
        repair: &Repair,
    ) {
        let limited_by_window = self.is_cwnd_limited(repair);
        let ack = Ack {
            bytes,
            acknowledged: self.una,
            next: self.next,
            echo,
            recovering: repair.state.reduces(),
            limited_by_window,
            rtt,
            extension: feedback.extension,
            now: feedback.now,
        };
        self.control(|cc| cc.on_ack(&ack));
    }

    /// RFC 3168 §6.1.2: one reduction per window of data, none while a loss is repaired; the ACK that ends the repair
    /// may begin the next one, as in Linux. With nothing
    /// outstanding, as on a request that still echoes marks of the answer before it, there is no window of data
    /// to reduce (`tcp_ack`), and no delivery that would let a reduction go on.
    pub(super) fn echo_of(&self, feedback: &Feedback<'_>, repair: &Repair) -> Echo {
        if !feedback.echo || !self.ecn || repair.queue.len() == 0 {
            return Echo::None;
        }
        match repair.state {
            RepairState::Open | RepairState::Disorder => Echo::Reduce,
            // It ends this reduction and is the first of the next window of data.
            RepairState::Reduced if feedback.ack > repair.high => Echo::Reduce,
            RepairState::Recovery | RepairState::Loss if feedback.ack >= repair.high => {
                Echo::Reduce
            }
            _ => Echo::Repeated,
        }
    }

    /// Whether Linux does not look at an acknowledgement with data that says nothing: its header prediction has taken
    /// it (`tcp_rcv_established`). It takes data only into memory that the socket has already, and one with nothing
    /// outstanding has given back what it had (`sk_mem_uncharge`): a request is looked at.
    pub(super) const fn skips(
        &self,
        feedback: &Feedback<'_>,
        says_nothing: bool,
        moves_edge: bool,
    ) -> bool {
        self.next > self.una && !feedback.bare && says_nothing && !moves_edge
    }
}
