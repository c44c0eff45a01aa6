//! One incast among many: its surroundings, and the fewest of its flows that suffice.

use std::collections::BTreeMap;

use engine::random::Stream;

use crate::scenario::address;
use crate::seen::{Flow, Observation};
use crate::verdict::DEGREE;

/// A time in which many flows went to one receiver, with all flows that passed meanwhile.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Incident {
    /// When its first flow began, in seconds since the observation began.
    pub from_s: f64,
    /// Seconds until its last flow was over.
    pub seconds: f64,
    /// The most flows at once to its receiver.
    pub most: u32,
    /// Timeouts of flows to its receiver.
    pub timeouts: u64,
    /// Packets of these flows that the queue of the device dropped.
    pub drops: u64,
    /// All flows of this time, in the order of their starts, with times since the first one began. Addresses are
    /// anonymous: each host and each connection has a number.
    pub flows: Vec<Flow>,
}

/// A time with enough simultaneous flows to one receiver.
struct Crowd<'a> {
    receiver: &'a str,
    begin_s: f64,
    end_s: f64,
    most: u32,
}

impl Incident {
    /// The worst incast of an observation: the one with the most timeouts; among equals, the one with the most drops.
    /// `None` if no time with many flows to one receiver had either.
    #[must_use]
    pub fn worst(flows: &[Flow]) -> Option<Self> {
        let incidents = crowds(flows)
            .into_iter()
            .map(|crowd| Self::around(&crowd, flows));
        let incidents = incidents.filter(|one| one.timeouts + one.drops > 0);
        incidents.max_by_key(|one| (one.timeouts, one.drops, one.most))
    }

    fn around(crowd: &Crowd<'_>, flows: &[Flow]) -> Self {
        let is_there = |flow: &Flow, begin_s: f64, end_s: f64| {
            flow.start_s <= end_s && flow.start_s + flow.fct_s >= begin_s
        };
        let own = flows.iter().filter(|flow| {
            address(&flow.receiver) == crowd.receiver && is_there(flow, crowd.begin_s, crowd.end_s)
        });
        // A flow that waits for a timer lasts longer than the crowd.
        let from_s = own.clone().map(|flow| flow.start_s);
        let from_s = from_s.fold(crowd.begin_s, f64::min);
        let until_s = own.clone().map(|flow| flow.start_s + flow.fct_s);
        let until_s = until_s.fold(crowd.end_s, f64::max);
        let all = flows
            .iter()
            .filter(|flow| flow.start_s >= from_s && flow.start_s <= until_s);
        let mut flows: Vec<Flow> = all.cloned().collect();
        flows.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
        for flow in &mut flows {
            flow.start_s -= from_s;
            // A connection that opened earlier is open from the beginning.
            let later = |opened_s: f64| (opened_s - from_s).max(0.0);
            flow.opened_s = flow.opened_s.map(later);
            if let Some(request) = &mut flow.request {
                request.opened_s = request.opened_s.map(later);
            }
        }
        anonymise(&mut flows);
        Self {
            from_s,
            seconds: until_s - from_s,
            most: crowd.most,
            timeouts: own.clone().map(|flow| u64::from(flow.timeouts)).sum(),
            drops: own.map(|flow| u64::from(flow.drops)).sum(),
            flows,
        }
    }
}

impl Observation {
    /// A scenario of the same network without a flow file: a number of senders answer one receiver with equally many
    /// bytes each, within a number of seconds.
    #[must_use]
    pub fn plain_scenario(
        &self,
        name: &str,
        (senders, bytes): (usize, u64),
        within_s: f64,
    ) -> String {
        let flow = |number: usize| Flow {
            leaves: self.leaves(),
            ..Flow::lossless(format!("{number:05}:1"), "receiver:1", bytes)
        };
        let flows: Vec<_> = (0..senders).map(flow).collect();
        let within_us = within_s * 1e6;
        let workload = format!(
            "kind = \"incast\"\nsenders = {senders}\nsize = \"{bytes}B\"\njitter = \"{within_us:.3}us\""
        );
        self.with_workload(name, &workload, &flows)
    }
}

/// The fewest flows that still show what `shows` looks for, as far as leaving out parts and draws find them: without any
/// single one of them it is not shown. All flows have to show it; none of nothing does.
///
/// The order in which flows are left out decides which set remains. So sets of half as many flows, of three quarters as
/// many and of one less are drawn from all flows, and the first that shows it is reduced in turn.
///
/// # Errors
/// If a look fails.
pub fn fewest<E>(
    flows: &[Flow],
    shows: &mut dyn FnMut(&[Flow]) -> Result<bool, E>,
) -> Result<Vec<Flow>, E> {
    let mut left = minimal(flows, shows)?;
    let mut random = Stream::new(1, "fewest flows", 0);
    while let Some(smaller) = smaller(flows, left.len(), &mut random, shows)? {
        left = minimal(&smaller, shows)?;
    }
    Ok(left)
}

/// The sets drawn of each size.
const DRAWS: usize = 40;

/// A drawn set with fewer flows than this that shows it, in the order of the flows.
fn smaller<E>(
    flows: &[Flow],
    than: usize,
    random: &mut Stream,
    shows: &mut dyn FnMut(&[Flow]) -> Result<bool, E>,
) -> Result<Option<Vec<Flow>>, E> {
    let mut sizes = vec![than / 2, than * 3 / 4, than - 1];
    sizes.dedup();
    for size in sizes.into_iter().filter(|size| *size > 0) {
        for _ in 0..DRAWS {
            let drawn = drawn(flows, size, random);
            if shows(&drawn)? {
                return Ok(Some(drawn));
            }
        }
    }
    Ok(None)
}

/// This many flows, each set equally likely, in their order. O(flows).
fn drawn(flows: &[Flow], size: usize, random: &mut Stream) -> Vec<Flow> {
    let mut wanted = size;
    let takes = |(place, _): &(usize, &Flow)| {
        let takes = random.below((flows.len() - place) as u64) < wanted as u64;
        wanted -= usize::from(takes);
        takes
    };
    let taken = flows.iter().enumerate().filter(takes);
    taken.map(|(_, flow)| flow.clone()).collect()
}

/// A set from which no flow can be left out. Parts are left out that are halved until they are single flows (Zeller and
/// Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28, 2002).
fn minimal<E>(
    flows: &[Flow],
    shows: &mut dyn FnMut(&[Flow]) -> Result<bool, E>,
) -> Result<Vec<Flow>, E> {
    let mut left = flows.to_vec();
    let mut part = left.len().div_ceil(2);
    while left.len() > 1 {
        let (mut at, mut is_smaller) = (0, false);
        while at < left.len() && left.len() > 1 {
            let end = (at + part).min(left.len());
            let rest = [&left[..at], &left[end..]].concat();
            if !rest.is_empty() && shows(&rest)? {
                left = rest;
                is_smaller = true;
            } else {
                at = end;
            }
        }
        if part == 1 && !is_smaller {
            break;
        }
        if !is_smaller {
            part = part.div_ceil(2);
        }
        part = part.min(left.len().div_ceil(2)).max(1);
    }
    Ok(left)
}

/// The times in which at least [`DEGREE`] flows to one receiver were under way.
fn crowds(flows: &[Flow]) -> Vec<Crowd<'_>> {
    let mut by_receiver: BTreeMap<&str, Vec<(f64, bool)>> = BTreeMap::new();
    for flow in flows {
        let events = by_receiver.entry(address(&flow.receiver)).or_default();
        events.extend([(flow.start_s, true), (flow.start_s + flow.fct_s, false)]);
    }
    let mut crowds = Vec::new();
    for (receiver, mut events) in by_receiver {
        // At equal times, beginnings come first.
        events.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
        let (mut now, mut open): (u32, Option<Crowd<'_>>) = (0, None);
        for (at_s, begins) in events {
            now = if begins { now + 1 } else { now - 1 };
            match &mut open {
                None if now >= DEGREE => {
                    open = Some(Crowd {
                        receiver,
                        begin_s: at_s,
                        end_s: at_s,
                        most: now,
                    });
                }
                Some(crowd) => {
                    crowd.most = crowd.most.max(now);
                    crowd.end_s = at_s;
                    if now < DEGREE {
                        crowds.extend(open.take());
                    }
                }
                None => {}
            }
        }
    }
    crowds
}

/// Replaces addresses and ports by numbers for hosts and connections.
fn anonymise(flows: &mut [Flow]) {
    let (mut hosts, mut ports) = (BTreeMap::new(), BTreeMap::new());
    let mut named = |end: &str| {
        let next = hosts.len();
        let host = *hosts.entry(address(end).to_owned()).or_insert(next);
        let next = ports.len();
        let port = *ports.entry(end.to_owned()).or_insert(next);
        format!("host{host:05}:{port}")
    };
    for flow in flows {
        flow.sender = named(&flow.sender);
        flow.receiver = named(&flow.receiver);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This number of flows to one receiver at once; one of them has timeouts.
    fn crowd(at_s: f64, flows: u32, receiver: &str, timeouts: u32) -> Vec<Flow> {
        let one = |number: u32| Flow {
            sender: format!("192.168.7.{number}:{}", 40_000 + number),
            receiver: format!("{receiver}:80"),
            timeouts: if number == 0 { timeouts } else { 0 },
            fct_s: if number == 0 { 0.3 } else { 0.05 },
            ..Flow::example(at_s + 1e-4 * f64::from(number), 0.05)
        };
        (0..flows).map(one).collect()
    }

    #[test]
    fn the_worst_incast_is_kept_with_what_passed_meanwhile_and_without_addresses() {
        let mut flows = [
            crowd(1.0, 9, "192.168.9.1", 1),
            crowd(2.0, 12, "192.168.9.1", 3),
            // Equally bad, but with fewer flows than an incast has.
            crowd(3.0, 7, "192.168.9.1", 9),
            crowd(4.0, 30, "192.168.9.2", 0),
        ]
        .concat();
        flows.push(Flow {
            opened_s: Some(0.5),
            ..Flow::example(2.2, 0.01)
        });
        let incident = Incident::worst(&flows).expect("an incast");
        assert_eq!((incident.most, incident.timeouts), (12, 3));
        assert!((incident.from_s - 2.0).abs() < 1e-9 && (incident.seconds - 0.3).abs() < 1e-9);
        assert_eq!(incident.flows.len(), 13, "and the one beside it");
        assert!(incident.flows[0].start_s.abs() < 1e-9);
        assert_eq!(incident.flows[12].opened_s, Some(0.0));
        let text = format!("{:?}", incident.flows);
        assert!(
            !text.contains("192.168") && !text.contains("10.0.0"),
            "{text}"
        );
        // Flows that shared a host still share one.
        let receivers = incident.flows.iter().take(12);
        let receivers: Vec<_> = receivers.map(|flow| address(&flow.receiver)).collect();
        assert!(receivers.iter().all(|receiver| *receiver == receivers[0]));
        assert_eq!(Incident::worst(&flows[9 + 12..9 + 12 + 7]), None);
        assert_eq!(Incident::worst(&flows[28..58]), None, "nothing was lost");
    }

    #[test]
    fn no_flow_can_be_left_out_of_the_fewest() {
        let flows = crowd(0.0, 40, "192.168.9.1", 1);
        let mut looks = 0;
        // It needs flow 3 and any two after the thirtieth.
        let is_it = |flow: &Flow, from: f64, to: f64| (from..to).contains(&flow.start_s);
        let shows = |flows: &[Flow]| {
            let third = flows.iter().any(|flow| is_it(flow, 2.5e-4, 3.5e-4));
            let late = flows.iter().filter(|flow| is_it(flow, 29.5e-4, 1.0));
            third && late.count() >= 2
        };
        let left = fewest::<()>(&flows, &mut |flows| {
            looks += 1;
            Ok(shows(flows))
        });
        let left = left.expect("no look fails");
        assert_eq!(left.len(), 3);
        assert!(shows(&left) && looks < 200, "{looks}");
        // The first ten flows show it only together, the others in pairs.
        let shows = |flows: &[Flow]| {
            let early = flows.iter().filter(|flow| flow.start_s < 9.5e-4).count();
            early == 10 || flows.len() - early >= 2
        };
        let reversed: Vec<Flow> = flows.iter().rev().cloned().collect();
        let left = minimal::<()>(&reversed, &mut |flows| Ok(shows(flows)));
        assert_eq!(
            left.map(|left| left.len()),
            Ok(10),
            "what is left out first decides"
        );
        let left = fewest::<()>(&reversed, &mut |flows| Ok(shows(flows)));
        assert_eq!(left.map(|left| left.len()), Ok(2));
        let failed = fewest(&flows, &mut |_| Err("no room"));
        assert_eq!(failed, Err("no room"));
    }
}
