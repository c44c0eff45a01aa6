//! How collectives went: their time over the ideal time, and the message that delayed all others most.
//!
//! The critical path leads back from the last message of a collective over the messages that each waited for, up to one
//! that waited for none. The time of the collective is the sum over this path. So the message on it that took longest
//! beyond its own ideal time is the one that held up the collective most.

use base::{FlowId, Packet, Rate, Span, Time};
use plan::Group;
use plan::collective::CollectiveRun;
use plan::workload::PlannedCollective;

use crate::metrics::{CollectiveMetrics, HeldUp};
use crate::world::Ended;

/// A collective as far as it is known before the flows are dropped.
pub(crate) struct Seen {
    group: u32,
    shape: CollectiveRun,
    /// The mean delay of the paths, and the slowest rate of a link on any.
    latency: Span,
    rate: Rate,
    /// Start and end if it is complete.
    times: Option<(Time, Time)>,
    held_up: Option<HeldUp>,
}

/// Every collective of the run. O(flows of collectives times links of a path).
pub(crate) fn of(ended: &mut Ended) -> Vec<Seen> {
    let collectives = std::mem::take(&mut ended.collectives);
    collectives.iter().map(|one| seen(ended, one)).collect()
}

/// The totals of each group that has collectives, in the order of groups.
pub(crate) fn totals(seen: &[Seen], groups: &[Group]) -> Vec<CollectiveMetrics> {
    let mut all = Vec::new();
    for (number, group) in (0_u32..).zip(groups) {
        let own = || seen.iter().filter(|one| one.group == number);
        let Some(first) = own().next() else { continue };
        let latency = own().map(|one| one.latency).max().unwrap_or(first.latency);
        let rate = own().map(|one| one.rate).min().unwrap_or(first.rate);
        let complete: Vec<(f64, &Seen)> = own()
            .filter_map(|one| {
                one.times
                    .map(|(start, end)| (end.since(start).as_micros(), one))
            })
            .collect();
        let slowest = complete.iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let sum: f64 = complete.iter().map(|(took, _)| took).sum();
        all.push(CollectiveMetrics {
            group: group.name.to_string(),
            completed: complete.len() as u64,
            ideal_us: first.shape.ideal(latency, rate).as_micros(),
            mean_us: sum / base::cast::real(complete.len() as u64),
            slowest_us: slowest.map_or(f64::NAN, |(took, _)| *took),
            held_up: slowest.and_then(|(_, one)| one.held_up.clone()),
        });
    }
    all
}

/// Mean time of complete collectives over their ideal time, of one group or of all; `NaN` if there are none.
pub(crate) fn over_ideal(seen: &[Seen], group: Option<u32>) -> f64 {
    let own = seen
        .iter()
        .filter(|one| group.is_none_or(|group| one.group == group));
    let ratio = |one: &Seen| {
        let (start, end) = one.times?;
        let ideal = one.shape.ideal(one.latency, one.rate);
        Some(end.since(start).as_micros() / ideal.as_micros())
    };
    let ratios: Vec<f64> = own.filter_map(ratio).collect();
    ratios.iter().sum::<f64>() / base::cast::real(ratios.len() as u64)
}

fn seen(ended: &mut Ended, planned: &PlannedCollective) -> Seen {
    let end =
        planned.first + u32::try_from(planned.steps.len()).expect("flows have 32-bit numbers");
    let (mut latency, mut rate) = (Span::ZERO, FASTEST);
    let mut paths = Vec::new();
    for number in planned.first..end {
        let (from, to, connection) = ended.ends_of(number);
        let packet = Packet::new(FlowId(connection), to);
        let (mut delay, mut slowest) = (Span::ZERO, FASTEST);
        for link in ended.network.path(from, &packet) {
            delay += link.delay;
            slowest = slowest.min(link.rate);
        }
        paths.push((delay, slowest));
        (latency, rate) = (latency + delay, rate.min(slowest));
    }
    let latency = Span::from_ps(latency.as_ps() / paths.len() as u64);
    let flows = &ended.flows()[planned.first as usize..end as usize];
    let is_over = |flow: &crate::world::Flow| flow.started && flow.failure.is_none();
    let complete = flows
        .iter()
        .all(|flow| is_over(flow) && flow.completion != Time::NEVER);
    let start = flows
        .iter()
        .filter(|flow| flow.started)
        .map(|flow| flow.start)
        .min();
    let times = start.filter(|_| complete).map(|start| {
        let last = flows.iter().map(|flow| flow.completion).max();
        (start, last.unwrap_or(start))
    });
    let held_up = times.and_then(|(start, last)| held_up(ended, planned, &paths, (start, last)));
    Seen {
        group: planned.group,
        shape: planned.shape,
        latency,
        rate,
        times,
        held_up,
    }
}

/// The message on the critical path that took longest beyond its ideal time.
fn held_up(
    ended: &Ended,
    planned: &PlannedCollective,
    paths: &[(Span, Rate)],
    (start, last): (Time, Time),
) -> Option<HeldUp> {
    let all = ended.flows();
    let own = planned.first..planned.first + u32::try_from(paths.len()).ok()?;
    let mut at = own
        .clone()
        .find(|flow| all[*flow as usize].completion == last)?;
    let mut worst: Option<(f64, HeldUp)> = None;
    loop {
        let flow = &all[at as usize];
        // The first messages may wait for flows before the collective. These are not part of its own time.
        let before = ended.held_by(at).filter(|before| own.contains(before));
        let begin = before.map_or(start, |before| all[before as usize].completion);
        let place = (at - planned.first) as usize;
        let (delay, rate) = paths[place];
        let ideal = rate.serialisation(flow.size()?) + delay;
        let took = flow.completion.since(begin);
        let beyond = took.as_micros() - ideal.as_micros();
        if worst.as_ref().is_none_or(|(most, _)| beyond >= *most) {
            let (sender, receiver, _) = ended.ends_of(at);
            let held_up = HeldUp {
                flow: at,
                step: planned.steps[place],
                steps: planned.steps.iter().max().map_or(0, |last| last + 1),
                sender: sender.0,
                receiver: receiver.0,
                took_us: took.as_micros(),
                ideal_us: ideal.as_micros(),
            };
            worst = Some((beyond, held_up));
        }
        let Some(before) = before else { break };
        at = before;
    }
    worst.map(|(_, held_up)| held_up)
}

/// The fastest rate that a link may have, bit/s.
const FASTEST: Rate = Rate::from_bps(8_000_000_000_000);
