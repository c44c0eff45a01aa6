//! How far windows allow to send.

use base::Time;

use super::{Phase, Sender};
use crate::cc::SenderCc;
use crate::plays::Plays;

impl<C: Plays<dyn SenderCc>> Sender<C> {
    /// Bytes between `una` and `next` that were passed and never sent at priority 0.
    #[inline(always)]
    pub(super) fn skipped(&self) -> u64 {
        self.low.as_ref().map_or(0, |low| low.skipped.sacked())
    }

    /// One past the last offset the congestion window allows.
    #[inline(always)]
    pub(super) fn window_end(&self) -> u64 {
        let plain = self.una.saturating_add(self.window);
        // Only duplicates inflate the window.
        if self.dupacks == 0 && self.low.is_none() {
            return plain;
        }
        self.extended_window_end()
    }

    #[inline(never)]
    fn extended_window_end(&self) -> u64 {
        let window = self.window.saturating_add_signed(self.inflation);
        // RFC 3042 §2: each of the first two duplicates allows one segment beyond the window.
        let duplicates = match (self.config.limited_transmit, self.phase, self.dupacks) {
            (true, Phase::Open, duplicates @ 1..=2) => u64::from(duplicates),
            _ => 0,
        };
        self.una
            .saturating_add(window)
            .saturating_add(duplicates * self.mss)
            .saturating_add(self.skipped())
    }

    /// RFC 5681 §4.1: nothing sent for longer than the timeout, and nothing outstanding.
    #[inline(always)]
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        if self.next != self.una || !self.config.idle_restart {
            return;
        }
        if let Some(last) = self.last_sent
            && now.since(last) > self.rtt.rto()
            && self.next == self.max
        {
            self.control(|cc| cc.on_idle());
        }
    }
}
