//! Finds the events that repeat while time stands still.

use std::collections::BTreeMap;

use engine::{Scheduler, Token, World as _};
use fabric::{NodeId, PortId};
use tcp::{Plays, ReceiverCc};

use super::World;
use crate::probe::Sees;

impl<R: Plays<dyn ReceiverCc>, P: Sees<R>> World<R, P> {
    /// Handles the next events of this instant and describes the most frequent kind; `None` if there are few events.
    pub(crate) fn most_frequent(&mut self, sched: &mut Scheduler) -> Option<String> {
        let now = sched.now();
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for _ in 0..SAMPLE {
            if self.finished() {
                return None;
            }
            let token = sched.next_before(now)?;
            *seen.entry(token.0).or_default() += 1;
            self.handle(token, sched);
        }
        let (token, _) = seen.into_iter().max_by_key(|(_, count)| *count)?;
        Some(self.about(Token(token)))
    }

    /// A description of an event with this token.
    fn about(&self, token: Token) -> String {
        let deadlines = &self.outside.deadlines;
        let Some(place) = token.0.checked_sub(deadlines.token) else {
            return format!("packets {}", self.way(PortId(token.0)));
        };
        let place = place as usize;
        if place == deadlines.armed.len() {
            return "what applications do next".to_owned();
        }
        if place > deadlines.armed.len() {
            return "packets that a link delivers late".to_owned();
        }
        match place.checked_sub(deadlines.ends) {
            Some(host) => format!("the deadline of the receiver role of host {host}"),
            None => self.timer(place),
        }
    }

    /// A description of the wire of a port.
    fn way(&self, port: PortId) -> String {
        let names = self.topology.names();
        let name = |node: NodeId| &names[node.0 as usize];
        let (from, to) = self.topology.ends(port);
        format!("from {} to {}", name(from), name(to))
    }

    /// The timer of an endpoint.
    fn timer(&self, place: usize) -> String {
        let end = self.outside.deadlines.owner(place);
        let connection = self.connections.iter().find(|connection| {
            connection.messages.is_some() && [connection.sender, connection.receiver].contains(&end)
        });
        let host = end.0.0;
        connection.map_or_else(
            || format!("a timer of host {host}"),
            |connection| {
                format!(
                    "timers of host {host} for its connection from host {} to host {}",
                    connection.sender.0.0, connection.receiver.0.0
                )
            },
        )
    }
}

/// Number of events that are examined: enough for several rounds of a circle.
const SAMPLE: usize = 4096;
