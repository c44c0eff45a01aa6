//! The conservation of bytes and packets, checked at the end of every run.

use tcp::{Plays, ReceiverCc};

use super::World;
use crate::error::RunError;
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// Checks that every byte is delivered once and that every packet is accounted for.
    pub(crate) fn check_conservation(&self) -> Result<(), RunError> {
        let held = self.outside.network.held();
        let drops: u64 = self
            .outside
            .network
            .ports()
            .iter()
            .map(|port| port.counters().drops)
            .sum();
        let (sent, delivered) = self.outside.network.sent_and_delivered();
        if sent != delivered + drops + held as u64 {
            return Err(RunError::Conservation(format!(
                "{sent} packets sent, {delivered} delivered, {drops} dropped, {held} in the network"
            )));
        }
        if let Some(violation) = &self.violation {
            return Err(violation.clone());
        }
        (0..self.connections.len()).try_for_each(|number| self.check_connection(number))
    }

    /// Checks that the counters and the stored bytes of a connection's endpoints agree. Called before they are removed.
    pub(super) fn check_connection(&self, number: usize) -> Result<(), RunError> {
        let connection = &self.connections[number];
        let (Some(messages), Some((sender, receiver))) =
            (&connection.messages, self.ends(connection))
        else {
            return Ok(());
        };
        if messages.is_conserved(
            &self.flows,
            (sender, receiver),
            connection.failure.is_some(),
        ) {
            return Ok(());
        }
        Err(RunError::Conservation(format!(
            "of connection {number} {:?} bytes were stored, {} and {} received in order, of {} and {} sent",
            messages.stored,
            receiver.received(),
            sender.received(),
            sender.highest_sent(),
            receiver.highest_sent()
        )))
    }
}
