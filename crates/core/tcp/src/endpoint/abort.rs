//! Connections that end before their time.

use super::{Endpoint, Progress, State};
use crate::cc::SenderCc;
use crate::config::AfterSynLoss;
use crate::plays::Plays;

/// Why a connection ended before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abort {
    /// The peer reset or refused it.
    Reset,
    /// Nobody answered the SYN or the SYN-ACK, however often it was sent.
    Handshake,
    /// Nobody acknowledged data, a FIN or the probe of a closed window, however often it was sent.
    Retries,
}

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// Ends the connection at once with a reset (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        if !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::TimeWait
        ) {
            // Behind our SYN at least: before the handshake ends nothing else was counted as sent.
            self.ready = Some(Box::new(self.reset_at(self.sender.next().max(1))));
        }
        self.enter_closed();
    }

    /// Ends the connection at once, and tells nobody: its host has disappeared.
    pub fn vanish(&mut self) {
        self.ready = None;
        self.enter_closed();
    }

    /// RFC 9293 §3.8.3: the peer is told, in case it lives, and the application. Linux forgets a SYN and tells nobody.
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
