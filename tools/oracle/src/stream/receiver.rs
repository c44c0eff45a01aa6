//! Receivers: compares the acknowledgements of an endpoint with those of the kernel.

use std::collections::BTreeMap;

use anyhow::Result;
use base::{Packet, TcpFlags, Time};
use schemes::Sender;
use tcp::Endpoint;

use super::{Acked, ConnectionSide, Event, at};
use crate::list::OracleScenario;

/// How an endpoint has acknowledged a stream.
#[derive(Clone, Debug)]
pub struct Acknowledged {
    /// Acknowledgements that the kernel sent.
    pub acks: usize,
    /// How many of these equal one of ours that left at the same time.
    pub same: usize,
    /// The first of the others.
    pub differs: Option<Acked>,
    /// Acknowledgements that our endpoint sent.
    pub ours: usize,
}

impl ConnectionSide {
    /// The ends of the segments that this end has received, each once and with or without PSH, in order.
    pub fn received(&self) -> Vec<(u64, bool)> {
        let mut initial = None;
        let mut ends = BTreeMap::new();
        for event in &self.events {
            let Event::In(_, packet) = event else {
                continue;
            };
            if packet.flags.has(TcpFlags::SYN) {
                initial = Some(packet.seq);
            } else if let Some(initial) = initial
                && packet.payload > 0
            {
                let last = ends.last_key_value().map_or(1, |(end, _)| *end);
                let end = initial.near(packet.seq, last) + u64::from(packet.payload);
                ends.insert(end, packet.flags.has(TcpFlags::PSH));
            }
        }
        ends.into_iter().collect()
    }

    /// An endpoint receives the segments of the kernel's receiver in `scenario`, and requests at its times.
    ///
    /// # Errors
    /// If a setting of `sets`, as `KEY=VALUE`, is wrong.
    pub fn acknowledge(&self, scenario: &OracleScenario, sets: &[String]) -> Result<Acknowledged> {
        let mut endpoint = self.endpoint(scenario, sets)?;
        let mut ours = Vec::new();
        if !self.is_server {
            endpoint.connect();
            acks_of(&mut endpoint, at(self.begins), &mut ours);
        }
        // The file has the order of the switch.
        let mut events: Vec<&Event> = self.events.iter().collect();
        events.sort_by_key(|event| event.ns());
        let mut asked = 1;
        for event in events {
            let now = at(event.ns());
            pass(&mut endpoint, now, &mut ours);
            match event {
                Event::In(_, packet) => {
                    endpoint.on_segment(packet, now);
                }
                // A request may leave twice.
                Event::Out(request) => {
                    let end = request.offset + request.payload;
                    endpoint.write(end.saturating_sub(asked));
                    asked = asked.max(end);
                }
                Event::Ack(_) => {}
            }
            acks_of(&mut endpoint, now, &mut ours);
        }
        // Acknowledgements that wait for a timer leave after the last segment.
        let last = self.events.iter().map(Event::ns).max().unwrap_or(0);
        pass(&mut endpoint, at(last + NEAR), &mut ours);
        let theirs = self.events.iter().filter_map(|event| match event {
            Event::Ack(ack) => Some(ack),
            Event::In(..) | Event::Out(_) => None,
        });
        Ok(compared(theirs, &ours))
    }
}

/// Timers expire until `now`.
fn pass(endpoint: &mut Endpoint<Sender>, now: Time, ours: &mut Vec<Acked>) {
    while endpoint.deadline() < now {
        let due = endpoint.deadline();
        endpoint.on_deadline(due);
        acks_of(endpoint, due, ours);
    }
}

fn acks_of(endpoint: &mut Endpoint<Sender>, now: Time, ours: &mut Vec<Acked>) {
    while let Some(packet) = endpoint.poll(now).or_else(|| endpoint.due_ack(now)) {
        let control = packet.flags.has(TcpFlags::SYN) || packet.flags.has(TcpFlags::FIN);
        if packet.payload == 0 && !control {
            ours.push(acked(&packet, now));
        }
    }
}

fn acked(packet: &Packet, now: Time) -> Acked {
    let sack = packet.options.sack();
    let sack = sack.map_or(&[][..], |sack| sack.as_slice());
    Acked {
        ns: now.as_ps() / 1000,
        ack: packet.ack.0,
        echo: packet.flags.has(TcpFlags::ECE),
        sack: sack.iter().map(|(start, end)| (start.0, end.0)).collect(),
    }
}

/// Matches each of ours, in the order of time, with one of the kernel's.
fn compared<'a>(theirs: impl Iterator<Item = &'a Acked>, ours: &[Acked]) -> Acknowledged {
    let says_the_same = |a: &Acked, b: &Acked| (a.ack, a.echo, &a.sack) == (b.ack, b.echo, &b.sack);
    let mut taken = vec![false; ours.len()];
    let mut told = Acknowledged {
        acks: 0,
        same: 0,
        differs: None,
        ours: ours.len(),
    };
    for their in theirs {
        told.acks += 1;
        let first = ours.partition_point(|own| own.ns + NEAR < their.ns);
        let found = (first..ours.len())
            .take_while(|place| ours[*place].ns <= their.ns + NEAR)
            .find(|place| !taken[*place] && says_the_same(&ours[*place], their));
        if let Some(place) = found {
            taken[place] = true;
            told.same += 1;
        } else {
            told.differs.get_or_insert_with(|| their.clone());
        }
    }
    told
}

/// In ns. When the lab's receiver reads, its acknowledgements leave a few us later, one connection after the other.
const NEAR: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ns: u64, ack: u32, sack: &[(u32, u32)]) -> Acked {
        Acked {
            ns,
            ack,
            echo: false,
            sack: sack.to_vec(),
        }
    }

    #[test]
    fn an_acknowledgement_is_the_same_if_one_says_the_same_at_the_same_time() {
        let ours = [ack(0, 1, &[]), ack(10, 2, &[(3, 4)]), ack(9_000, 5, &[])];
        let told = |theirs: &[Acked]| {
            let told = compared(theirs.iter(), &ours);
            (told.same, told.differs.map(|ack| ack.ns))
        };
        assert_eq!(
            told(&[ack(5_000, 1, &[]), ack(11, 2, &[(3, 4)])]),
            (2, None)
        );
        // Too late, other blocks, and one of ours for two.
        assert_eq!(told(&[ack(5_001, 1, &[])]), (0, Some(5_001)));
        assert_eq!(told(&[ack(10, 2, &[])]), (0, Some(10)));
        assert_eq!(
            told(&[ack(9_000, 5, &[]), ack(9_001, 5, &[])]),
            (1, Some(9_001))
        );
    }
}
