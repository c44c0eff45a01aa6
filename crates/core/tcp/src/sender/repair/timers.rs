//! The one timer of a sender with a record: retransmission (RFC 6298 §5), reordering (RFC 8985 §6.3) or a
//! probe of the tail (§7.2), whichever is due first.

use base::{Span, Time};

use super::state::RepairState;
use super::{AckInfo, Path, Repair};
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::sender::{Outgoing, Sender, timer::Timer};

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// RFC 8985 §7.3: new data if there is any and room for it, else the last segment again.
    pub(super) fn send_probe(&mut self, repair: &mut Repair, now: Time) -> Option<Outgoing> {
        let segments = repair.queue.len();
        let outgoing = match self.send_new(repair, now) {
            Some(outgoing) => outgoing,
            // One behind the peer's window does not leave; the timer stays.
            None if segments > 0 => {
                let outgoing = self.send_copy(segments - 1, repair, now)?;
                repair.queue.probe(segments - 1, self.config.stamp(now));
                outgoing
            }
            None => return None,
        };
        self.counters.tail_probes += 1;
        if let Some(probe) = &mut repair.probe {
            probe.on_probe(self.next, outgoing.again);
        }
        self.timer = Timer::Retransmit(self.config.expiry(now, self.rtt.rto()));
        Some(outgoing)
    }

    /// After an ACK; `reorder` is how long the reordering timer is to run, if it is.
    pub(super) fn set_timer(
        &mut self,
        reorder: Option<Span>,
        ack_info: &AckInfo,
        repair: &mut Repair,
    ) {
        let now = ack_info.now;
        let Some(first) = repair.queue.first() else {
            return self.stop_waiting(now);
        };
        if let Some(rest) = reorder {
            self.timer = Timer::Reorder(self.config.expiry(now, rest));
            return;
        }
        // Linux: a report restarts it only if it is of what was sent after the first segment, or the timer
        // could move on for ever while that one is lost.
        let reported = ack_info.delivered.reported;
        let restarts = ack_info.advances() || reported.is_some_and(|sent| sent.0 < first.sent);
        if restarts {
            self.restart(now, repair);
        }
    }

    /// What is outstanding is waited for anew, or since it has left where another timer was to expire first (Linux 6.12,
    /// `tcp_rearm_rto`).
    pub(super) fn restart(&mut self, now: Time, repair: &Repair) {
        if self.schedule_probe(now, self.rtt.rto(), repair) {
            return;
        }
        let rest = match self.timer {
            Timer::Reorder(_) | Timer::Probe(_) => self.until_timeout(repair, now),
            _ => self.rtt.rto(),
        };
        self.timer = Timer::Retransmit(self.config.expiry(now, rest));
    }

    /// Nothing is outstanding. An answer to the probe of a window that is still closed begins the wait for the next one
    /// (Linux 6.12, `tcp_ack_probe`).
    pub(super) fn stop_waiting(&mut self, now: Time) {
        if matches!(self.timer, Timer::Persist(_)) {
            self.await_probe(now);
        } else {
            self.timer = Timer::Off;
        }
    }

    /// New data has left.
    #[inline(always)]
    pub(super) fn on_new_data_sent(&mut self, repair: &mut Repair, now: Time) {
        if matches!(self.timer, Timer::Off | Timer::Probe(_)) {
            let rest = self.until_timeout(repair, now);
            if !self.schedule_probe(now, rest, repair) {
                self.timer = Timer::Retransmit(self.config.expiry(now, rest));
            }
        }
    }

    /// RFC 8985 §7.2: the probe is next, unless losses are known; at most as late as the timeout. Returns
    /// whether it is.
    #[inline(always)]
    fn schedule_probe(&mut self, now: Time, timeout: Span, repair: &Repair) -> bool {
        let quiet = matches!(repair.state, RepairState::Open | RepairState::Reduced);
        let Some(probe) = repair.probe.as_ref().filter(|_| quiet) else {
            return false;
        };
        let wait = probe.timeout(self.rtt.srtt(), repair.queue.len(), &self.config);
        self.timer = Timer::Probe(now + wait.min(timeout));
        self.probe_since = now;
        true
    }

    /// How long the first segment is still waited for.
    fn until_timeout(&self, repair: &Repair, now: Time) -> Span {
        let sent = repair.queue.first().map_or(now, |first| first.sent);
        (sent + self.rtt.rto()).since(now)
    }

    /// The reordering timer has expired (RFC 8985 §6.3).
    pub(in crate::sender) fn on_reorder_timeout(&mut self, now: Time, repair: &mut Repair) {
        let pipe = repair.queue.pipe();
        let path = Path {
            min_rtt: repair.min_rtt,
            srtt: self.rtt.srtt(),
            recovering: repair.state.repairs(),
        };
        if let Some(rack) = &mut repair.rack {
            rack.detect_now(&mut repair.queue, &path, now);
        }
        // A copy that is lost, too, leaves the pipe.
        let more = repair.queue.pipe() < pipe;
        if more && self.config.fast_retransmit && repair.state != RepairState::Recovery {
            self.enter_recorded_recovery(false, now, repair);
            let pipe = repair.queue.pipe();
            if let Some(reduction) = &mut repair.reduction {
                reduction.on_delivered(1, pipe, false);
            }
        }
        let rest = self.until_timeout(repair, now);
        self.timer = Timer::Retransmit(self.config.expiry(now, rest));
    }

    /// A probe is due (RFC 8985 §7.3): it leaves with the next segment that is asked for.
    pub(in crate::sender) fn on_probe_timeout(&mut self, now: Time, repair: &mut Repair) {
        repair.probe_due = repair.probe.is_some_and(|probe| probe.may_probe());
        let rest = self.until_timeout(repair, now);
        self.timer = Timer::Retransmit(self.config.expiry(now, rest));
    }
}
