//! When a segment is acknowledged.

use base::{Ecn, Span, Time};

use super::{Arrival, EarlyAck, Receiver};
use crate::config::{Config, EcnMode};

impl Receiver {
    /// A segment has come with this mark, and answers one or not.
    #[inline(always)]
    pub(super) fn note_mark(&mut self, ecn: Ecn, cwr: bool) {
        let marked = ecn == Ecn::Marked;
        match self.mode {
            EcnMode::Off | EcnMode::Unechoed => {}
            // RFC 3168 §6.1.3: from a mark until CWR; a mark on the segment with CWR counts.
            EcnMode::Classic => {
                if let Some(quick) = &mut self.quick {
                    // Linux: the sender's window may be small now.
                    if cwr {
                        quick.acknowledge_next();
                    }
                    // What is not capable among others has been sent again.
                    let again = quick.note_capable(ecn != Ecn::NotCapable);
                    if again || marked && (cwr || !self.echo) {
                        quick.acknowledge_soon(2);
                    }
                }
                self.echo = marked || (self.echo && !cwr);
            }
            // RFC 8257 §3.2: the pending ACK belongs to segments with the old mark.
            EcnMode::Accurate | EcnMode::Everywhere => {
                if (marked != self.echo || cwr)
                    && let Some(quick) = &mut self.quick
                {
                    quick.acknowledge_next();
                }
                // Reports that wait are no delayed ACK.
                let waits = self
                    .compression
                    .as_ref()
                    .is_some_and(|own| own.is_waiting());
                if marked != self.echo && self.unacknowledged > 0 && !waits {
                    self.early = Some(EarlyAck {
                        ack: self.next,
                        echo: self.echo,
                    });
                    self.unacknowledged = 0;
                    self.ack_deadline = Time::NEVER;
                }
                self.echo = marked;
            }
        }
    }

    /// The window may grow with the segment stored last, and with what the application reads of it. Returns whether
    /// it does.
    #[inline(never)]
    fn grow(&mut self, now: Time) -> bool {
        let Some(tuning) = &mut self.tuning else {
            return false;
        };
        let grows = tuning.on_data(&self.arrival, now);
        self.buffer = tuning.window();
        if self.reading && self.arrival.in_order > 0 {
            let end = self.arrival.expected + self.arrival.payload;
            tuning.on_read(end.min(self.next), self.next, now);
        }
        grows
    }

    /// Whether the report of the segment stored last waits, as the first one.
    #[inline(always)]
    pub(crate) const fn begins_to_wait(&self) -> bool {
        self.report_begins
    }

    /// What waits goes with what waits of other connections, if it can.
    pub(crate) fn wait_with(&mut self, times: &mut Vec<Time>, now: Time) {
        if let Some(compression) = &self.compression {
            self.ack_deadline = self.ack_deadline.min(compression.join(times, now));
        }
    }

    /// A segment echoes a timestamp that left here so long ago.
    pub(crate) fn on_echo(&mut self, echo: u32, age: Span, payload: u64) {
        if let Some(tuning) = &mut self.tuning {
            tuning.on_echo(echo, age, payload);
        }
    }

    /// Whether the window grows with what is read.
    pub(crate) const fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// Whether the report of the segment stored last waits for more, with a hole before it or left by it.
    #[inline(never)]
    fn report_waits(&mut self, config: &Config, rtt: Span, now: Time) -> bool {
        let Arrival {
            held, new_bytes, ..
        } = self.arrival;
        let Some(compression) = self.compression.as_mut().filter(|_| !self.ack_due) else {
            return false;
        };
        if held == 0 || new_bytes == 0 {
            return false;
        }
        let rtt = match self.tuning.as_ref().map(|tuning| tuning.rtt()) {
            // Linux: the smaller of what both halves of the connection have seen.
            Some(seen) if rtt == Span::ZERO => seen.unwrap_or(rtt),
            Some(seen) => seen.map_or(Span::ZERO, |seen| seen.min(rtt)),
            None => rtt,
        };
        let until = compression.wait(self.next, config.mss.into(), rtt, now);
        // The first that waits decides how long.
        self.ack_deadline = self.ack_deadline.min(until.unwrap_or(Time::NEVER));
        self.report_begins = until.is_some() && compression.begins();
        until.is_some()
    }

    #[inline(always)]
    pub(super) fn schedule_ack(&mut self, plain: bool, config: &Config, rtt: Span, now: Time) {
        self.unacknowledged += 1;
        let grows = self.tuning.is_some() && self.grow(now);
        let quick = self.quick.as_mut();
        let at_once = quick.is_some_and(|quick| quick.on_data(&self.arrival, grows, now));
        self.report_begins = false;
        if !plain && !at_once && self.compression.is_some() && self.report_waits(config, rtt, now) {
            return;
        }
        if !plain || at_once || self.unacknowledged >= self.delayed_ack {
            self.ack_due = true;
        } else if self.ack_deadline == Time::NEVER {
            let delay = config.delayed_ack_timeout.min(config.delayed_ack_bound);
            self.ack_deadline = config.expiry(now, delay);
        }
    }
}
