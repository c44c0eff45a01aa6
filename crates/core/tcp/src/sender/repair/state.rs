//! The states of a sender with a record, as Linux 6.12 has them: what an ACK means in each.

use super::frto::{Evidence, Frto, FrtoVerdict};
use super::{AckInfo, Answer, Reduction, Repair, TailProbe};
use crate::cc::{Echo, Loss, SenderCc};
use crate::config::{Recovery, TailLossProbe};
use crate::plays::Plays;
use crate::scoreboard::DUP_THRESH;
use crate::sender::{Phase, Sender, info::CongestionState};
use base::Span;

/// What a sender thinks of its flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RepairState {
    /// Nothing is missing.
    Open,
    /// Something is missing and not judged lost.
    Disorder,
    /// A mark, or a loss that a probe repaired, reduces the window.
    Reduced,
    /// Losses are repaired, until everything up to `high` is acknowledged.
    Recovery,
    /// As `Recovery`, after a timeout.
    Loss,
}

impl RepairState {
    /// Whether losses are being repaired.
    pub(super) const fn repairs(self) -> bool {
        matches!(self, Self::Recovery | Self::Loss)
    }

    /// What others call it.
    pub(super) const fn congestion_state(self) -> CongestionState {
        match self {
            Self::Open => CongestionState::Open,
            Self::Disorder => CongestionState::Disorder,
            Self::Reduced => CongestionState::Cwr,
            Self::Recovery => CongestionState::Recovery,
            Self::Loss => CongestionState::Loss,
        }
    }

    /// Whether the window is on its way down, and does not grow.
    pub(super) const fn reduces(self) -> bool {
        matches!(self, Self::Reduced | Self::Recovery)
    }
}

impl Repair {
    /// The reduction goes on by what was delivered (RFC 6937 §3).
    pub(super) fn reduce_in_proportion(&mut self, ack_info: &AckInfo) {
        let pipe = self.queue.pipe();
        let safe = ack_info.advances() && self.queue.losses() == ack_info.losses;
        if let Some(reduction) = &mut self.reduction {
            reduction.on_delivered(ack_info.delivered.segments.into(), pipe, safe);
        }
    }

    /// The window is reduced, with `una` the first offset not acknowledged, by a mark besides or not. Copies that are out
    /// already may be reported as duplicates, too: those of repairs, and that of a probe (`tcp_init_undo`).
    fn note_reduced(&mut self, una: u64, marked: bool) {
        let probes = self.probe.as_ref().map_or(0, TailProbe::copies);
        if let Some(undo) = &mut self.undo {
            undo.on_reduced(una, self.queue.retransmitted() + probes, marked);
        }
    }

    /// A mark that is echoed keeps a reduction from being taken back.
    pub(super) fn note_mark(&mut self, ack_info: &AckInfo) {
        if ack_info.echo != Echo::None
            && let Some(undo) = &mut self.undo
        {
            undo.on_mark();
        }
    }

    /// Whether the last reduction is known to have been needless.
    pub(super) fn may_undo(&self, ack_info: &AckInfo) -> bool {
        self.undo
            .is_some_and(|undo| undo.all_were_duplicates() || undo.answers_original(ack_info.stamp))
    }
}

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// What the state makes of an ACK (`tcp_fastretrans_alert`). Returns how long the reordering timer is to
    /// run, if it is.
    pub(super) fn change_state(&mut self, ack_info: &AckInfo, repair: &mut Repair) -> Option<Span> {
        repair.new_first = false;
        let dubious = repair.state != RepairState::Open
            || ack_info.delivered.sacked
            || ack_info.delivered.duplicate.is_some()
            || ack_info.idle
            || ack_info.echo != Echo::None;
        if !dubious {
            return None;
        }
        repair.note_mark(ack_info);
        self.leave(ack_info, repair);
        let rest = match repair.state {
            RepairState::Recovery => {
                if self.undo_in_recovery(ack_info, repair) {
                    repair.new_first = true;
                    return None;
                }
                repair.detect(self.rtt.srtt(), self.mss, ack_info.now)
            }
            RepairState::Loss => {
                self.on_ack_after_timeout(ack_info, repair);
                let rest = repair.detect(self.rtt.srtt(), self.mss, ack_info.now);
                let lost_again = repair.queue.losses().1 > ack_info.losses.1;
                if repair.state == RepairState::Loss && !lost_again {
                    return rest;
                }
                rest
            }
            _ => {
                self.undo_duplicates(repair);
                repair.detect(self.rtt.srtt(), self.mss, ack_info.now)
            }
        };
        let lost = repair.queue.lost() > 0 && self.config.fast_retransmit;
        if lost && repair.state != RepairState::Recovery {
            self.enter_recorded_recovery(ack_info.echo != Echo::None, ack_info.now, repair);
        } else if !repair.state.reduces() && repair.state != RepairState::Loss {
            self.open(repair);
        }
        rest
    }

    /// A probe of the tail is answered (RFC 8985 §7.4.2): a loss it has repaired halves the window once.
    pub(super) fn answer_probe(&mut self, ack: u64, ack_info: &AckInfo, repair: &mut Repair) {
        let answer = Answer {
            ack,
            duplicate: ack_info.delivered.duplicate.map(|(_, end)| end),
            idle: ack_info.idle,
        };
        let repaired = repair
            .probe
            .as_mut()
            .is_some_and(|probe| probe.on_ack(&answer));
        if repaired && !repair.state.repairs() {
            let in_flight = self.share_of(repair);
            let loss = match self.config.tail_loss_probe {
                TailLossProbe::Linux => Loss::Tail,
                TailLossProbe::Off | TailLossProbe::Rfc8985 => Loss::FastRetransmit,
            };
            self.control(|cc| {
                cc.on_loss(loss, in_flight, ack_info.now);
                cc.on_recovered(None);
            });
            self.note_reduction();
            repair.reduction = None;
            self.open(repair);
        }
    }

    /// A new state begins.
    pub(super) fn enter(&mut self, state: RepairState, repair: &mut Repair) {
        repair.state = state;
        repair.high = self.next;
        self.phase = match state {
            RepairState::Recovery => Phase::Recovery { partial: false },
            _ => Phase::Open,
        };
    }

    /// The window begins to move from `prior` bytes to what the congestion control has made of it.
    pub(super) fn begin_reduction(&mut self, prior: u64, repair: &mut Repair) {
        if let Some(probe) = &mut repair.probe {
            probe.settle();
        }
        repair.reduction = (self.config.recovery == Recovery::Prr).then(|| {
            let ssthresh = self.segments(self.window);
            Reduction::new(self.segments(prior), ssthresh, repair.queue.pipe())
        });
    }

    /// The timer has expired with segments outstanding (`tcp_enter_loss`).
    pub(in crate::sender) fn on_recorded_timeout(&mut self, now: base::Time, repair: &mut Repair) {
        // Once per window of data, and once per timeout that follows progress.
        let reduces = match repair.state {
            RepairState::Open | RepairState::Disorder => true,
            RepairState::Reduced | RepairState::Recovery => repair.high <= self.una,
            RepairState::Loss => repair.high <= self.una || self.attempts == 1,
        };
        let in_flight = self.share_of(repair);
        // So many reports without a recovery: reordering was thought to be longer than it is.
        let dubious = matches!(repair.state, RepairState::Open | RepairState::Disorder);
        if dubious && u64::from(repair.queue.sacked()) >= DUP_THRESH {
            repair.queue.forget_order();
        }
        if !self.config.keep_scoreboard || repair.reno.is_some() || repair.queue.is_reneged() {
            repair.queue.clear_reports();
        }
        let rack = repair.rack;
        repair.queue.lose_all_if(|segment| {
            let may_arrive = rack.is_some_and(|rack| rack.may_arrive(segment.sent, now));
            !segment.is_sacked() && !may_arrive
        });
        let loss = if reduces {
            Loss::Timeout
        } else {
            Loss::RepeatedTimeout
        };
        self.control(|cc| cc.on_loss(loss, in_flight, now));
        self.note_reduction();
        repair.reduction = None;
        if reduces {
            repair.note_reduced(self.una, false);
        }
        if let Some(probe) = &mut repair.probe {
            probe.settle();
        }
        let begins = !repair.state.repairs() || self.attempts > 1;
        repair.frto = if self.config.frto && begins {
            Frto::First
        } else {
            Frto::Off
        };
        (repair.dupacks, repair.probe_due) = (0, false);
        self.enter(RepairState::Loss, repair);
    }

    /// Losses are to be repaired, which an ACK has shown that echoes a mark, or not.
    pub(super) fn enter_recorded_recovery(
        &mut self,
        marked: bool,
        now: base::Time,
        repair: &mut Repair,
    ) {
        self.counters.fast_recoveries += 1;
        repair.begins = true;
        repair.note_reduced(self.una, marked || repair.state == RepairState::Reduced);
        if repair.state == RepairState::Reduced {
            // One reduction per window of data, unless the scheme says otherwise: only what is repaired changes.
            repair.state = RepairState::Recovery;
            self.phase = Phase::Recovery { partial: false };
            if let Some(reduction) = &mut repair.reduction {
                // It has let segments go already and forces none, as in Linux (`tcp_cwnd_reduction`).
                repair.begins = false;
                let window = reduction.window() * self.mss;
                self.control(|cc| {
                    if let Some(cc) = cc.as_delivery_cc() {
                        cc.on_loss_in_reduction(window, now);
                    }
                });
                reduction.redirect(self.segments(self.window));
            }
            return;
        }
        let prior = self.window;
        let in_flight = self.share_of(repair);
        self.enter(RepairState::Recovery, repair);
        self.note_reduction();
        self.control(|cc| cc.on_loss(Loss::FastRetransmit, in_flight, now));
        self.begin_reduction(prior, repair);
    }

    /// States end when what was sent before them is acknowledged.
    fn leave(&mut self, ack_info: &AckInfo, repair: &mut Repair) {
        match repair.state {
            // Something beyond it, so that the receiver has seen CWR.
            RepairState::Reduced if self.una > repair.high => {
                repair.reduction = None;
                self.open(repair);
            }
            RepairState::Recovery if self.una >= repair.high => {
                if repair.may_undo(ack_info) {
                    self.take_back(repair, false);
                } else {
                    if let Some(rack) = &mut repair.rack {
                        rack.on_recovered();
                    }
                    self.control(|cc| cc.on_recovered(None));
                }
                repair.reduction = None;
                self.open(repair);
            }
            _ => {}
        }
    }

    /// Handles an ACK after a timeout (`tcp_process_loss`).
    fn on_ack_after_timeout(&mut self, ack_info: &AckInfo, repair: &mut Repair) {
        if ack_info.advances() && repair.may_undo(ack_info) {
            self.take_back(repair, true);
            return self.open(repair);
        }
        let complete = self.una >= repair.high;
        let verdict = repair.frto.on_ack(Evidence {
            advances: ack_info.advances(),
            complete,
            original: ack_info.delivered.original,
            reports: self.next > repair.high && (ack_info.delivered.sacked || ack_info.idle),
            new_data: self.next < self.written && self.edge > self.next,
        });
        match verdict {
            FrtoVerdict::Spurious => {
                self.take_back(repair, true);
                self.open(repair);
            }
            FrtoVerdict::SendNew => repair.new_first = true,
            FrtoVerdict::Repair if complete => {
                if let Some(rack) = &mut repair.rack {
                    rack.on_recovered();
                }
                self.open(repair);
            }
            FrtoVerdict::Repair => {}
        }
    }

    /// Evidence that a recovery was needless comes before its end. Returns whether nothing is to be repaired with this
    /// ACK: a hole was filled by what had only been late, while copies are on their way whose duplicates will tell more.
    fn undo_in_recovery(&mut self, ack_info: &AckInfo, repair: &mut Repair) -> bool {
        let undo = repair.undo;
        let original = undo.is_some_and(|undo| undo.answers_original(ack_info.stamp));
        if !(ack_info.advances() && original) {
            self.undo_duplicates(repair);
            return false;
        }
        if let Some(rack) = &mut repair.rack {
            rack.note_reordering();
        }
        if repair.queue.retransmitted() > 0 {
            return true;
        }
        self.take_back(repair, true);
        self.open(repair);
        false
    }

    fn undo_duplicates(&mut self, repair: &mut Repair) {
        if repair.undo.is_some_and(|undo| undo.all_were_duplicates()) {
            let reduces = repair.state.reduces();
            if let Some(rack) = &mut repair.rack {
                rack.persist();
            }
            self.take_back(repair, false);
            if reduces {
                self.open(repair);
            }
        }
    }

    /// RFC 4015 §3.2: the window as before the reduction; with `found`, nothing counts as lost.
    pub(super) fn take_back(&mut self, repair: &mut Repair, found: bool) {
        if found {
            repair.queue.clear_losses();
        }
        if repair.undo.is_none_or(|undo| undo.restores_window()) {
            self.counters.undone += 1;
            self.control(|cc| cc.on_undo());
        }
        repair.reduction = None;
        repair.frto = Frto::Off;
        if let Some(undo) = &mut repair.undo {
            undo.settle();
        }
        if let Some(rack) = &mut repair.rack {
            rack.look_again();
        }
    }

    /// Nothing is to be repaired: open, or in disorder while something is missing.
    pub(super) fn open(&mut self, repair: &mut Repair) {
        let whole = repair.queue.sacked() == 0 && repair.queue.lost() == 0;
        if !repair.queue.any_repeated()
            && let Some(undo) = &mut repair.undo
        {
            undo.on_open();
        }
        let state = if whole && !repair.queue.any_repeated() {
            RepairState::Open
        } else {
            RepairState::Disorder
        };
        if repair.state != state {
            self.enter(state, repair);
        }
    }
}
