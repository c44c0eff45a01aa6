//! Senders: compares the segments of an endpoint with those of the kernel.

use anyhow::Result;
use base::{TcpFlags, Time};
use schemes::Sender;
use tcp::Endpoint;

use super::{ConnectionSide, Event, Sent, at};
use crate::list::{OracleScenario, OracleTraffic};

/// How an endpoint has answered a stream.
#[derive(Clone, Copy, Debug)]
pub struct Replayed {
    /// Segments that the kernel sent.
    pub segments: usize,
    /// Segments of ours without a counterpart, because the kernel's link has lost it.
    pub lost: usize,
    /// The first segments that differ: the kernel's and ours.
    pub differs: Option<(Option<Sent>, Option<Sent>)>,
}

impl ConnectionSide {
    /// An endpoint receives the segments of the kernel's sender in `scenario`.
    ///
    /// # Errors
    /// If a setting of `sets`, as `KEY=VALUE`, is wrong.
    pub fn replay(&self, scenario: &OracleScenario, sets: &[String]) -> Result<Replayed> {
        let ours: Vec<Sent> = self
            .answer(scenario, sets)?
            .into_iter()
            .map(|ours| ours.0)
            .collect();
        let lossy = matches!(&scenario.kind, OracleTraffic::Stream(stream) if stream.loss > 0.0);
        Ok(compared(&self.sent().collect::<Vec<_>>(), &ours, lossy))
    }

    /// The ends of the segments that such an endpoint sends with PSH, in order and once each.
    ///
    /// # Errors
    /// As [`ConnectionSide::replay`].
    pub fn pushed(&self, scenario: &OracleScenario, sets: &[String]) -> Result<Vec<u64>> {
        let ours = self.answer(scenario, sets)?.into_iter();
        let pushed = ours.filter(|(_, is_pushed)| *is_pushed);
        let mut ends: Vec<u64> = pushed.map(|(sent, _)| sent.offset + sent.payload).collect();
        ends.sort_unstable();
        ends.dedup();
        Ok(ends)
    }

    /// The segments that an endpoint sends, and whether with PSH.
    fn answer(&self, scenario: &OracleScenario, sets: &[String]) -> Result<Vec<(Sent, bool)>> {
        let mut endpoint = self.endpoint(scenario, sets)?;
        let mut ours = Vec::new();
        if !self.is_server {
            endpoint.connect();
            endpoint.write(WITHOUT_END);
            self.flush(&mut endpoint, at(self.begins), &mut ours);
        }
        for event in &self.events {
            if let Event::In(ns, packet) = event {
                self.pass(&mut endpoint, at(*ns), &mut ours);
                let before = endpoint.received();
                endpoint.on_segment(packet, at(*ns));
                // A request may come twice.
                if let OracleTraffic::Incast { size, .. } = &scenario.kind {
                    endpoint.write(size * (endpoint.received() - before));
                }
                self.flush(&mut endpoint, at(*ns), &mut ours);
            }
        }
        // Segments that only a timer sends follow the last received segment.
        let last = self.sent().map(|sent| sent.ns).max().unwrap_or(0);
        self.pass(&mut endpoint, at(last), &mut ours);
        Ok(ours)
    }

    /// Timers expire until `now`.
    fn pass(&self, endpoint: &mut Endpoint<Sender>, now: Time, ours: &mut Vec<(Sent, bool)>) {
        while endpoint.deadline() < now {
            let due = endpoint.deadline();
            endpoint.on_deadline(due);
            self.flush(endpoint, due, ours);
        }
    }

    fn flush(&self, endpoint: &mut Endpoint<Sender>, now: Time, ours: &mut Vec<(Sent, bool)>) {
        while let Some(packet) = endpoint.poll(now) {
            if packet.payload > 0 {
                let reference = ours.last().map_or(1, |(sent, _)| sent.offset);
                let sent = Sent {
                    ns: now.as_ps() / 1000,
                    offset: self.initial.near(packet.seq, reference),
                    payload: packet.payload.into(),
                };
                ours.push((sent, packet.flags.has(TcpFlags::PSH)));
            }
        }
        while endpoint.due_ack(now).is_some() {}
    }
}

/// Compares in the order of sending. Segments lost by a link only occur on our side.
fn compared(theirs: &[Sent], ours: &[Sent], lossy: bool) -> Replayed {
    let same = |a: &Sent, b: &Sent| (a.offset, a.payload) == (b.offset, b.payload);
    let mut replayed = Replayed {
        segments: theirs.len(),
        lost: 0,
        differs: None,
    };
    let mut rest = ours;
    for their in theirs {
        let most = if lossy { MOST_LOST } else { 1 }.min(rest.len());
        let found = rest[..most]
            .iter()
            .position(|own| same(own, their) && (!lossy || own.ns.abs_diff(their.ns) < NEAR));
        let Some(skipped) = found else {
            replayed.differs = Some((Some(*their), rest.first().copied()));
            return replayed;
        };
        replayed.lost += skipped;
        rest = &rest[skipped + 1..];
    }
    let last = theirs.last().map_or(0, |sent| sent.ns);
    let more = rest.iter().find(|own| !lossy && own.ns < last);
    replayed.differs = more.map(|own| (None, Some(*own)));
    replayed
}

/// More than any scenario sends.
const WITHOUT_END: u64 = 1 << 40;
/// The most segments lost in a row.
const MOST_LOST: usize = 9;
/// The allowed time between equal segments, in ns: the kernel's time is that of its link.
const NEAR: u64 = 30_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(offset: u64) -> Sent {
        Sent {
            ns: 0,
            offset,
            payload: 1000,
        }
    }

    #[test]
    fn the_first_segment_that_differs_is_found_and_lost_ones_are_passed_over() {
        let ours = [1, 1001, 2001, 1].map(sent);
        let told = |theirs: &[u64], lossy| {
            let theirs: Vec<Sent> = theirs.iter().copied().map(sent).collect();
            let replayed = compared(&theirs, &ours, lossy);
            (replayed.lost, replayed.differs)
        };
        assert_eq!(told(&[1, 1001, 2001, 1], false), (0, None));
        assert_eq!(told(&[1, 2001, 1], true), (1, None));
        let differs = Some((Some(sent(2001)), Some(sent(1001))));
        assert_eq!(told(&[1, 2001, 1], false), (0, differs));
        assert_eq!(
            told(&[1, 5001], true),
            (0, Some((Some(sent(5001)), Some(sent(1001)))))
        );
    }
}
