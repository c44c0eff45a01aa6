//! Segments that are as expected: header prediction, which BSD began and Linux calls its fast path.
//!
//! While a connection runs well, nearly every segment is the next one in order, and only its payload or its
//! acknowledgement is news. One glance at the header tells. What is done then is what the general way
//! ([`segment`](super::segment)) does, without the questions whose answers are known.

use base::{Beside, Extension, Options, Packet, TcpFlags, Time};

use super::{Endpoint, Prediction, Progress, State};
use crate::cc::SenderCc;
use crate::plays::Plays;
use crate::sender::Feedback;

impl<C: Plays<dyn SenderCc>> Endpoint<C> {
    /// Processes a segment if it is as expected: the next one in order of an established connection, with an
    /// acknowledgement, perhaps with data, and with nothing else. It leaves the state as it is.
    #[inline(always)]
    pub(super) fn on_predicted(&mut self, packet: &Packet, now: Time) -> Option<Progress> {
        let expected = self.state == State::Established
            && self.prediction == Prediction::Plain
            && packet.flags == TcpFlags::ACK
            && packet.seq == self.receiver.irs.at(self.receiver.next())
            && matches!(packet.options, Options::None);
        if !expected {
            return None;
        }
        let una = self.sender.una();
        let advance = packet.ack.beyond(self.identity.initial_seq.at(una));
        let advance = u64::from(advance);
        let payload = u64::from(packet.payload);
        let has_data = payload > 0;
        // An ACK that moves nothing but carries header space of the scheme goes the general way.
        let tells_apart = advance == 0 && packet.extension != Extension::NONE;
        if advance > self.sender.outstanding()
            || tells_apart
            || has_data && !self.receiver.takes_next(payload)
        {
            return None;
        }
        let ack = una + advance;
        self.sender.on_plain_feedback(&Feedback {
            offset: self.receiver.next(),
            ack,
            edge: ack + (u64::from(packet.window) << self.scales.1),
            sacked: &[],
            echo: false,
            bare: !has_data,
            stamp: None,
            extension: packet.extension,
            now,
        });
        if has_data {
            let sender = &self.sender;
            self.receiver
                .on_next(packet, &sender.config, sender.rtt(), now);
        }
        Some(Progress {
            stored: has_data,
            ..Progress::default()
        })
    }

    /// As [`Endpoint::on_predicted`], for connections with [`Prediction::Full`].
    #[inline(always)]
    pub(super) fn on_expected(&mut self, packet: &Packet, now: Time) -> Option<Progress> {
        let next = self.receiver.next();
        let expected = self.state == State::Established
            && packet.flags == TcpFlags::ACK
            && packet.seq == self.receiver.irs.at(next);
        if !expected {
            return None;
        }
        let una = self.sender.una();
        let advance = u64::from(packet.ack.beyond(self.identity.initial_seq.at(una)));
        let payload = u64::from(packet.payload);
        let has_data = payload > 0;
        // Nothing new at all is a duplicate, which the general way judges.
        let says_little = advance == 0 && (!has_data || packet.extension != Extension::NONE);
        if advance > self.sender.outstanding()
            || says_little
            || has_data && !self.receiver.takes_next(payload)
        {
            return None;
        }
        let echo = match (packet.options, &mut self.stamps) {
            (Options::None, None) => None,
            (Options::Stamped(theirs, Beside::None), Some(stamps)) => {
                if !stamps.accepts(theirs, next) {
                    return None;
                }
                Some(theirs.echo)
            }
            _ => return None,
        };
        let ack = una + advance;
        let edge = ack + (u64::from(packet.window) << self.scales.1);
        // A side that only receives learns nothing but the window from data.
        if advance == 0 && self.sender.is_recorded() && self.sender.has_only_listened() {
            self.sender.on_window_alone((next, edge), false);
        } else {
            self.sender.on_expected_feedback(&Feedback {
                offset: next,
                ack,
                edge,
                sacked: &[],
                echo: false,
                bare: !has_data,
                stamp: echo.filter(|echo| *echo != 0),
                extension: packet.extension,
                now,
            });
        }
        if has_data {
            if let Some(echo) = echo {
                self.receiver.on_echo(echo, packet.payload, now);
            }
            let sender = &self.sender;
            self.receiver
                .on_next_judged(packet, &sender.config, sender.rtt(), now);
        }
        Some(Progress {
            stored: has_data,
            ..Progress::default()
        })
    }
}

#[cfg(test)]
mod tests;
