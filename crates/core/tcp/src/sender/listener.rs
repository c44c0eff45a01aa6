//! A sender that has had nothing to send: of most connections, that of the side which receives.
//!
//! Nothing of its own is outstanding, so that a segment with data tells it of the peer's window and of nothing else. A
//! record, its states and its timers stay as they are.

use super::timer::Timer;
use super::{Feedback, Sender};
use crate::cc::{Delivery, SenderCc};
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Whether neither data nor a FIN was sent since the handshake, and no data waits.
    #[inline(always)]
    pub(crate) const fn has_only_listened(&self) -> bool {
        self.max == 1 && self.written == 1 && matches!(self.timer, Timer::Off)
    }

    /// Whether a segment tells a sender with a record nothing but the window: it brings data to one that has only
    /// listened, without SACK blocks and without an extension.
    pub(super) fn tells_window_alone(&self, feedback: &Feedback<'_>) -> bool {
        self.has_only_listened()
            && feedback.ack == self.una
            && !feedback.bare
            && feedback.sacked.is_empty()
            && feedback.extension == base::Extension::NONE
    }

    /// Processes a segment at `offset` that allows up to `edge` and tells nothing else, with an `echo` of marks or
    /// without. The congestion control hears of it, as it does in Linux (`tcp_in_ack_event`), unless it completes the
    /// handshake.
    #[inline(always)]
    pub(crate) fn on_window_alone(&mut self, (offset, edge): (u64, u64), echo: bool) {
        self.note_edge_as_linux(offset, self.una, edge);
        let opens = self.repair.as_mut().is_some_and(|repair| repair.opened());
        if !opens {
            self.tell_delivery(&Delivery {
                segments: 0,
                echo: echo && self.ecn,
                acknowledged: self.una,
                next: self.next,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use base::{Extension, Span, Time};

    use super::*;
    use crate::cc::{Ack, DeliveryCc, Loss};
    use crate::config::{Agreement, Config, LossDetection, Recovery, TailLossProbe};

    /// Remembers what it hears.
    #[derive(Debug, Default)]
    struct Hears(Vec<Delivery>);

    impl SenderCc for Hears {
        fn window(&self) -> u64 {
            14_600
        }

        fn on_ack(&mut self, _ack: &Ack) {}

        fn on_loss(&mut self, _loss: Loss, _in_flight: u64, _now: Time) {}

        fn as_delivery_cc(&mut self) -> Option<&mut dyn DeliveryCc> {
            Some(self)
        }
    }

    impl DeliveryCc for Hears {
        fn on_delivery(&mut self, delivery: &Delivery) {
            self.0.push(*delivery);
        }
    }

    fn established(sack: bool) -> Sender<Hears> {
        let config = Config {
            sack,
            loss_detection: LossDetection::RackLinux,
            tail_loss_probe: TailLossProbe::Linux,
            recovery: Recovery::Prr,
            undo: true,
            ..Config::default()
        };
        let mut sender = Sender::new(Arc::new(config), Hears::default());
        sender.agree(Agreement {
            mss: 1460,
            sack,
            ecn: true,
        });
        let rtt = Some(Span::from_micros(100));
        sender.establish(30_000, (rtt, true), (rtt, Extension::NONE));
        assert!(sender.recorded, "with a record");
        sender.note_opening();
        sender
    }

    // The shortcut leaves out only steps without effect: the whole way leaves the same state and gives the same answer.
    #[test]
    fn a_side_that_has_only_listened_is_left_as_by_the_whole_way() {
        for sack in [true, false] {
            let (mut short, mut whole) = (established(sack), established(sack));
            // In order, a repeated one, one that overtakes, a window that shrinks and one that closes.
            let segments = [
                (1, 30_000, false),
                (1461, 30_000, true),
                (1461, 28_000, false),
                (5841, 26_000, true),
                (2921, 31_000, false),
                (7301, 1, false),
            ];
            for (place, (offset, edge, echo)) in segments.into_iter().enumerate() {
                let feedback = Feedback {
                    offset,
                    ack: 1,
                    edge,
                    sacked: &[],
                    echo,
                    bare: false,
                    stamp: Some(7),
                    extension: Extension::NONE,
                    now: Time::ZERO + Span::from_micros(offset),
                };
                assert!(short.tells_window_alone(&feedback), "{place}");
                short.on_window_alone((offset, edge), echo);
                let before = (whole.edge, whole.edge_set_by);
                whole.note_edge_as_linux(offset, 1, edge);
                let mut repair = whole.repair.take().expect("a record");
                whole.on_recorded(&feedback, before, &mut repair);
                whole.repair = Some(repair);
                assert_eq!(format!("{short:?}"), format!("{whole:?}"), "{place}");
            }
            assert_eq!(short.cc.0.len(), segments.len() - 1, "not of the handshake");
        }
    }

    #[test]
    fn a_side_that_has_sent_or_has_to_send_looks_at_every_acknowledgement() {
        let mut sender = established(true);
        sender.write(1000);
        assert!(!sender.has_only_listened(), "data waits");
        let mut sender = established(true);
        sender.close();
        let fin = sender.next_segment(Time::ZERO).expect("a FIN");
        assert!(fin.fin && !sender.has_only_listened(), "a FIN has left");
    }
}
