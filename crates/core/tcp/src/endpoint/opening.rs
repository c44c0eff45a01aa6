//! How a connection opens where SYNs or SYN-ACKs are lost.

use base::{Packet, Span, Time};

use super::abort::Abort;
use super::{Endpoint, Progress, State};
use crate::cc::SenderCc;
use crate::config::{AfterSynLoss, Config};
use crate::plays::Plays;
use crate::timestamps;

/// Copies and timeouts of the SYN or SYN-ACK of an endpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opening {
    /// How often it was sent.
    sent: u32,
    /// How often its timer has expired.
    pub(super) timeouts: u32,
    /// Whether a SYN or a timeout has asked for a SYN-ACK since one left. A role may send it more often, which must not
    /// keep its timer from expiring.
    pub(super) asked: bool,
    /// When it was sent first, and when last.
    first: Time,
    last: Time,
}

impl Opening {
    /// It leaves.
    pub(super) const fn on_sent(&mut self, now: Time) {
        if self.sent == 0 {
            self.first = now;
        }
        self.sent += 1;
        self.last = now;
    }

    /// Its round trip if it was sent once: nobody knows which copy an answer is for (Karn).
    pub(super) fn first_try(&self, config: &Config, now: Time) -> Option<Span> {
        (self.sent == 1).then(|| config.stamp(now).since(config.stamp(self.last)))
    }
}

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// The timeout of the SYN or, if it `answers` one, SYN-ACK that leaves now.
    pub(super) fn opening_timeout(&self, answers: bool) -> Span {
        let config = &self.sender.config;
        let doubled = match config.after_syn_loss {
            AfterSynLoss::Rfc5681 => self.opening.sent,
            AfterSynLoss::Linux => self.opening.timeouts,
        };
        let linear = if answers {
            0
        } else {
            config.syn_linear_timeouts
        };
        self.sender
            .handshake_timeout(doubled.saturating_sub(linear))
    }

    /// The timer of a SYN or SYN-ACK, or of TIME-WAIT, has expired.
    pub(super) fn on_state_deadline(&mut self, now: Time) -> Progress {
        self.state_deadline = Time::NEVER;
        if self.state == State::TimeWait {
            self.enter_closed();
            return Progress::default();
        }
        self.sender.count_handshake_timeout();
        self.opening.timeouts += 1;
        if self.gives_up_opening() {
            return self.give_up();
        }
        // A lost SYN is sent again; a lost SYN-ACK is offered again, so that a role may hold it.
        if self.state == State::SynSent {
            self.syn_due = true;
        } else {
            self.receiver.acknowledge_now();
            self.opening.asked = true;
            self.state_deadline = now + self.opening_timeout(true);
        }
        Progress::default()
    }

    /// Whether the SYN or SYN-ACK whose timer has just expired was sent often enough.
    fn gives_up_opening(&self) -> bool {
        let config = &self.sender.config;
        let again = match config.after_syn_loss {
            AfterSynLoss::Rfc5681 => self.opening.sent,
            AfterSynLoss::Linux => self.opening.timeouts,
        };
        let most = if self.state == State::SynSent {
            config
                .syn_retries
                .saturating_add(config.syn_linear_timeouts)
        } else {
            config.syn_ack_retries
        };
        again > most
    }

    /// What the answer to the SYN or SYN-ACK means: the round trip that it shows, and whether the first window is that of a
    /// connection that has lost none.
    pub(super) fn judge_opening(&self, packet: &Packet, now: Time) -> (Option<Span>, bool) {
        let first_try = self.opening.first_try(&self.sender.config, now);
        if first_try.is_some() || self.sender.config.after_syn_loss == AfterSynLoss::Rfc5681 {
            // RFC 5681 §3.1: after a lost SYN or SYN-ACK the initial window is one segment.
            return (first_try, first_try.is_some());
        }
        let theirs = packet.options.timestamps();
        let theirs = theirs.filter(|theirs| self.stamps.is_some() && theirs.echo != 0);
        let echo = theirs.map(|theirs| theirs.echo);
        let rtt = echo.map(|echo| timestamps::round_trip(echo, now));
        // The first one had come, and its answer was late or lost.
        let needless = echo == Some(timestamps::clock(self.opening.first));
        let cuts = self.opening.sent > 2 && self.opening.timeouts > 0 && !needless;
        (rtt, !cuts)
    }

    /// RFC 9293 §3.8.3: the connection is reset and the application learns of it. Linux drops a connection in
    /// SYN-RECEIVED without a reset.
    pub(super) fn give_up(&mut self) -> Progress {
        let opens = matches!(self.state, State::SynSent | State::SynReceived);
        let forgets = self.sender.config.after_syn_loss == AfterSynLoss::Linux;
        if forgets && self.state == State::SynReceived {
            self.enter_closed();
        } else {
            self.abort();
        }
        let aborted = if opens {
            Abort::Handshake
        } else {
            Abort::Retries
        };
        Progress {
            aborted: Some(aborted),
            ..Progress::default()
        }
    }
}
