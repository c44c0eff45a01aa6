//! How far windows allow to send.

use base::Time;
use base::cast::low_32;

use super::{Phase, Sender};
use crate::cc::SenderCc;
use crate::config::IdleWindow;
use crate::plays::Plays;
use crate::restart::Restart;

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
        if let Some(restart) = self.restart_due(now) {
            self.control(|cc| cc.on_idle(restart));
        }
    }

    /// The new window, if this is the end of a pause.
    #[inline(always)]
    pub(super) fn restart_due(&self, now: Time) -> Option<Restart> {
        if self.next != self.una || !self.config.idle_restart {
            return None;
        }
        let last = self.last_sent?;
        if now.since(last) <= self.rtt.rto() || self.next != self.max {
            return None;
        }
        self.restart_of(last, now)
    }

    /// The window after a pause since `last` that was longer than the timeout.
    // Linux also takes a window that is not used for a timeout halfway to what is used (`tcp_cwnd_application_limited`).
    // Every ACK of new data begins that time anew, so that it passes only while none comes for a timeout and data leaves
    // all the same: just before the timer expires, which makes the window one segment.
    #[cold]
    fn restart_of(&self, last: Time, now: Time) -> Option<Restart> {
        if self.config.idle_window == IdleWindow::Initial {
            return Some(Restart::Initial);
        }
        // Linux counts whole ticks of its clock.
        let (last, now) = (self.config.tick_of(last), self.config.tick_of(now));
        let (pause, timeout) = (now.since(last).as_ps(), self.rtt.rto().as_ps());
        // Halved while more than another timeout is left.
        let times = (pause.saturating_sub(1) / timeout).min(u64::from(u32::MAX));
        let times = low_32(times);
        (times > 0).then(|| Restart::Halved {
            times,
            initial: u64::from(self.config.initial_window) * self.mss,
            mss: self.mss,
        })
    }
}
