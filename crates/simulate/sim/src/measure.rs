//! The metrics of a simulation, once it is over.

mod bottleneck;
mod bound;
mod ports;

use std::collections::BTreeSet;
use std::time::Duration;

use base::Ordered as _;
use base::Sort as _;
use base::cast::real;
use base::{FlowId, Span, Time};
use fabric::{FaultDrops, PauseReport, QueueStatistics};
use plan::{Group, PointSpec};

use bound::HostLinks;

use crate::alone::Alone;
use crate::collectives::{self, Seen};
use crate::metrics::{
    Distribution, FlowFailure, FlowRecord, GroupMetrics, Metrics, NetworkMetrics, Outcome, RunCost,
};
use crate::parts::{Breakdown, Split};
use crate::rounds::{self, Round, RoundTotals};
use crate::world::{Ended, EndedFlow, Flow};

pub(crate) fn outcome(
    mut ended: Ended,
    point: &PointSpec,
    queues: &[QueueStatistics],
    events: u64,
    (end, cpu): (Time, Duration),
) -> Outcome {
    let last = ended.last_completion();
    let last = last.filter(|last| *last != Time::NEVER).unwrap_or(end);
    let rounds = rounds::of(ended.flows());
    let seen = collectives::of(&mut ended);
    let mut alone = Alone::new(point.keys.net.header_bytes);
    let pauses = ended.network.pauses(end);
    let flows = ended.consume_flows(|flow, network| {
        let took = alone.time(&point.groups[flow.flow.group as usize], &flow, network);
        record(&point.groups, (&flow, took), pauses.as_ref(), end)
    });
    let links = HostLinks::of(&ended.topology, &ended.network, point);
    let all_rounds = rounds::totals(&rounds, &seen, None);
    let all = totals(
        String::new(),
        (&flows.iter().collect::<Vec<_>>(), Some(&all_rounds)),
        (end, &links),
    );
    ended.bottleneck = bottleneck::of(&ended, point, queues);
    let bottleneck = &queues[ended.bottleneck.0 as usize];
    let goodput_bps = goodput(&flows, last.since(ended.first_start));
    let pauses = ended.network.pauses(end);
    let lost = ports::by_faults(&ended.network, &point.keys.topology.faults);
    let metrics = metrics(
        &all,
        goodput_bps,
        (&ended, bottleneck),
        (pauses.as_ref(), lost),
    );
    let packet_hops: u64 = (ended.network.ports().iter())
        .map(|port| port.counters().packets)
        .sum();
    let cpu_us = cpu.as_secs_f64() * 1e6;
    let cost = RunCost {
        simulated_us: Span::as_micros(end.since(Time::ZERO)),
        packet_hops,
        events,
        cpu_us,
        ns_per_hop: cpu_us * 1e3 / real(packet_hops),
    };
    let ports = ports::records(&ended, queues, (pauses.as_ref(), end));
    Outcome {
        metrics,
        groups: groups(point, (&flows, &rounds, &seen), (end, &links)),
        cost,
        flows,
        tiers: ports::tiers(&ports),
        deadlock: ports::deadlock(&ports),
        collectives: collectives::totals(&seen, &point.groups),
        ports,
        digest: ended.network.digest(),
    }
}

/// The metrics of a simulation with these results `all` of its flows and this queue at the bottleneck.
fn metrics(
    all: &GroupMetrics,
    goodput_bps: f64,
    (ended, queue): (&Ended, &QueueStatistics),
    (pauses, lost): (Option<&PauseReport>, Option<FaultDrops>),
) -> Metrics {
    let counters = || ended.network.ports().iter().map(fabric::Port::counters);
    let bottleneck = &ended.network.ports()[ended.bottleneck.0 as usize];
    let network = NetworkMetrics {
        drops: counters().map(|port| port.drops).sum(),
        drops_pool: ports::refused(&ended.network, |refusals| refusals.pool),
        drops_threshold: ports::refused(&ended.network, |refusals| refusals.threshold),
        drops_headroom: pauses.map(|_| ports::headroom(&ended.network)),
        drops_link_down: lost.map(|lost| lost.link_down),
        drops_restart: lost.map(|lost| lost.restart),
        drops_host_gone: lost.map(|lost| lost.host_gone),
        drops_lossy: lost.map(|lost| lost.lossy),
        drops_corrupt: lost.map(|lost| lost.corrupt),
        marks: counters().map(|port| port.marks).sum(),
        threshold_crossings: counters().map(|port| port.threshold_crossings).sum(),
        queue_mean_bytes: queue.mean,
        queue_p5_bytes: queue.p5,
        queue_p50_bytes: queue.p50,
        queue_p95_bytes: queue.p95,
        queue_max_bytes: bottleneck.counters().max_waiting_bytes,
        pool_max_bytes: ended.network.pool_most(),
        pfc_pauses: pauses.map(|pauses| pauses.pauses),
        pfc_paused_us: pauses.map_or(f64::NAN, |pauses| pauses.paused.as_micros()),
        pfc_margin_bytes: pauses.map(|pauses| pauses.margin),
        pfc_deadlock: pauses.map(|pauses| pauses.deadlock.len() as u64),
    };
    Metrics {
        goodput_bps,
        ..Metrics::new(all, &network)
    }
}

/// Results of every group, if the scenario has any, then of every class of sizes.
fn groups(
    point: &PointSpec,
    (flows, rounds, seen): (&[FlowRecord], &[Round], &[Seen]),
    (end, links): (Time, &HostLinks),
) -> Vec<GroupMetrics> {
    let named = (0..).zip(point.groups.iter());
    let named = named.filter(|(_, group)| !group.name.is_empty());
    let groups = named.map(|(number, group)| {
        let rounds = rounds::totals(rounds, seen, Some(number));
        let own = flows.iter().filter(|flow| *flow.group == *group.name);
        let own: Vec<&FlowRecord> = own.collect();
        totals(group.name.to_string(), (&own, Some(&rounds)), (end, links))
    });
    let mss = u64::from(point.keys.tcp.mss.0);
    let classes = point.keys.run.classes.all(mss).into_iter();
    let classes = classes.map(|(name, above, upto)| {
        let size = |flow: &FlowRecord| flow.size_bytes.unwrap_or(u64::MAX);
        let own = flows
            .iter()
            .filter(|flow| size(flow) > above && size(flow) <= upto);
        let own: Vec<&FlowRecord> = own.collect();
        // A flow of one class may share its round with flows of other classes.
        totals(name, (&own, None), (end, links))
    });
    groups.chain(classes).collect()
}

/// The metrics of some flows, with their rounds, if they have any.
fn totals(
    name: String,
    (flows, rounds): (&[&FlowRecord], Option<&RoundTotals>),
    (end, links): (Time, &HostLinks),
) -> GroupMetrics {
    let flows = || flows.iter().copied();
    let total = |count: fn(&FlowRecord) -> u32| flows().map(|flow| u64::from(count(flow))).sum();
    let fct = Distribution::of(flows().filter_map(|flow| flow.fct_us.get()).collect());
    let slowdown = Distribution::of(flows().filter_map(|flow| flow.slowdown.get()).collect());
    let round =
        |part: fn(&Distribution) -> f64| rounds.map_or(f64::NAN, |rounds| part(&rounds.took));
    let bound = links.bound(flows());
    let (active, held_up) = activity(flows(), end);
    let timeouts = total(|flow| flow.timeouts);
    let packets = total(|flow| flow.packets);
    GroupMetrics {
        group: name,
        goodput_bps: group_goodput(flows(), end),
        fct_mean_us: fct.mean,
        fct_p50_us: fct.p50,
        fct_p95_us: fct.p95,
        fct_p99_us: fct.p99,
        fct_p999_us: fct.p999,
        fct_p9999_us: fct.p9999,
        fct_max_us: fct.max,
        round_p50_us: round(|took| took.p50),
        round_p99_us: round(|took| took.p99),
        round_p999_us: round(|took| took.p999),
        round_max_us: round(|took| took.max),
        rounds_completed: rounds.and_then(|rounds| rounds.completed),
        rounds_unfinished: rounds.and_then(|rounds| rounds.unfinished),
        rounds_over_ideal: rounds.map_or(f64::NAN, |rounds| rounds.over_ideal),
        slowdown_mean: slowdown.mean,
        slowdown_p50: slowdown.p50,
        slowdown_p99: slowdown.p99,
        slowdown_p999: slowdown.p999,
        timeouts,
        tail_timeouts: total(|flow| flow.tail_timeouts),
        syn_timeouts: total(|flow| flow.syn_timeouts),
        tail_probes: total(|flow| flow.tail_probes),
        window_probes: total(|flow| flow.window_probes),
        timers: total(FlowRecord::timers),
        timeout_rate: rate(timeouts, packets),
        retransmissions: total(|flow| flow.retransmissions),
        after_timeout: total(|flow| flow.after_timeout),
        packets,
        fairness: fairness(flows(), end),
        pfc_victims: victims(flows()),
        flows_completed: flows().filter(|flow| flow.fct_us.get().is_some()).count() as u64,
        flows_failed: flows().filter(|flow| flow.failed).count() as u64,
        flows_host_gone: failed(flows(), links, &[FlowFailure::HostGone]),
        flows_gave_up: failed(
            flows(),
            links,
            &[FlowFailure::Handshake, FlowFailure::Retries],
        ),
        flows_unfinished: flows().filter(|flow| is_unfinished(flow)).count() as u64,
        flows_late: flows().filter(|flow| flow.late).count() as u64,
        goodput_p50_bps: median_goodput(flows()),
        goodput_weighted_bps: weighted_goodput(flows(), end),
        bound_p50_us: bound.p50,
        bound_p99_us: bound.p99,
        bound_max_us: bound.max,
        active,
        held_up,
        breakdown: Split::of(broken_down(flows())),
    }
}

/// How many flows failed for one of these reasons; `None` in a network without faults.
fn failed<'a>(
    flows: impl Iterator<Item = &'a FlowRecord>,
    links: &HostLinks,
    reasons: &[FlowFailure],
) -> Option<u64> {
    let is_one = |flow: &&FlowRecord| flow.failure.is_some_and(|why| reasons.contains(&why));
    links
        .have_faults
        .then(|| flows.filter(is_one).count() as u64)
}

/// Connections that waited for pauses although the port that they went on to was idle; `None` if no switch pauses.
fn victims<'a>(flows: impl Iterator<Item = &'a FlowRecord>) -> Option<u64> {
    let known = flows.filter_map(|flow| Some((flow.pfc_victim?, flow.connection)));
    let mut known = known.peekable();
    known.peek()?;
    let victims: BTreeSet<u32> = known
        .filter_map(|(is_victim, connection)| is_victim.then_some(connection))
        .into_set();
    Some(victims.len() as u64)
}

/// The complete flows whose breakdown is known.
fn broken_down<'a>(
    flows: impl Iterator<Item = &'a FlowRecord>,
) -> impl Iterator<Item = (f64, u32, &'a Breakdown)> {
    flows.filter_map(|flow| Some((flow.fct_us.get()?, flow.flow, flow.breakdown.as_deref()?)))
}

fn rate(events: u64, of: u64) -> f64 {
    real(events) / real(of)
}

/// Jain's index of the throughput of flows from their start to their completion, or to the end of the
/// run: the square of the sum over the number times the sum of squares.
fn fairness<'a>(flows: impl Iterator<Item = &'a FlowRecord>, end: Time) -> f64 {
    let end = end.since(Time::ZERO).as_micros();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for flow in flows {
        let took = flow.completion_us.get().unwrap_or(end) - flow.start_us;
        if took > 0.0 {
            let throughput = real(flow.received_bytes) / took;
            count += 1.0;
            sum += throughput;
            squares += throughput * throughput;
        }
    }
    sum * sum / (count * squares)
}

/// As [`goodput`], from the first start of the group to its last completion; `NaN` without flows.
fn group_goodput<'a>(flows: impl Iterator<Item = &'a FlowRecord>, end: Time) -> f64 {
    let end = end.since(Time::ZERO).as_micros();
    let (mut first, mut last, mut bits) = (f64::INFINITY, 0.0_f64, 0);
    for flow in flows {
        first = first.min(flow.start_us);
        last = last.max(flow.completion_us.get().unwrap_or(end));
        bits += flow.received_bytes * 8;
    }
    if first.is_finite() {
        real(bits) / ((last - first) / 1e6)
    } else {
        f64::NAN
    }
}

/// The payload of the faster half of the flows, over the time from the first start to the last completion of this half;
/// `NaN` without a complete flow.
fn median_goodput<'a>(flows: impl Iterator<Item = &'a FlowRecord> + Clone) -> f64 {
    let first = flows.clone().map(|flow| flow.start_us);
    let first = first.fold(f64::INFINITY, f64::min);
    let complete = flows.filter_map(|flow| Some((flow.completion_us.get()?, flow.received_bytes)));
    let mut complete: Vec<(f64, u64)> = complete.collect();
    complete.order_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let half = &complete[..complete.len().div_ceil(2)];
    let bits: u64 = half.iter().map(|(_, bytes)| bytes * 8).sum();
    half.last()
        .map_or(f64::NAN, |(last, _)| real(bits) / ((last - first) / 1e6))
}

/// The goodput of all flows at each moment, averaged with the number of flows at that moment as weight. Each flow's
/// payload counts as spread evenly over its time; the time of an incomplete flow ends with the run.
fn weighted_goodput<'a>(flows: impl Iterator<Item = &'a FlowRecord>, end: Time) -> f64 {
    let end = end.since(Time::ZERO).as_micros();
    let ends_at = |flow: &FlowRecord| flow.completion_us.get().unwrap_or(end);
    // References, because a run may have millions of flows.
    let mut starts: Vec<&FlowRecord> = flows.filter(|flow| ends_at(flow) > flow.start_us).collect();
    let mut ends = starts.clone();
    starts.order_by(|a, b| (a.start_us.total_cmp(&b.start_us)).then(a.flow.cmp(&b.flow)));
    ends.order_by(|a, b| (ends_at(a).total_cmp(&ends_at(b))).then(a.flow.cmp(&b.flow)));
    let rate_of =
        |flow: &FlowRecord| real(flow.received_bytes) * 8e6 / (ends_at(flow) - flow.start_us);
    let (mut at, mut count, mut rate) = (0.0, 0.0, 0.0);
    let (mut sum, mut weights) = (0.0, 0.0);
    let mut starts = starts.into_iter().peekable();
    for ending in ends {
        while let Some(starting) = starts.next_if(|flow| flow.start_us <= ends_at(ending)) {
            let weight = count * (starting.start_us - at);
            (sum, weights) = (sum + weight * rate, weights + weight);
            (at, count, rate) = (starting.start_us, count + 1.0, rate + rate_of(starting));
        }
        let weight = count * (ends_at(ending) - at);
        (sum, weights) = (sum + weight * rate, weights + weight);
        (at, count, rate) = (ends_at(ending), count - 1.0, rate - rate_of(ending));
    }
    sum / weights
}

/// Share of the time from the first start to the last completion (or to the end of the run) in which any flow was under
/// way; and share of this in which all flows under way waited for a timer. `NaN` without any time.
fn activity<'a>(flows: impl Iterator<Item = &'a FlowRecord> + Clone, end: Time) -> (f64, f64) {
    let end = end.since(Time::ZERO).as_micros();
    let starts = flows.clone().map(|flow| flow.start_us);
    let first = starts.fold(f64::INFINITY, f64::min);
    let ends = flows
        .clone()
        .map(|flow| flow.completion_us.get().unwrap_or(end));
    let last = ends.fold(f64::NEG_INFINITY, f64::max);
    let active = under_way(flows.clone(), end);
    let unheld = under_way(flows.filter(|flow| flow.timers() == 0), end);
    (active / (last - first), 1.0 - unheld / active)
}

/// For how long at least one of these flows was under way, in microseconds. O(n log n).
fn under_way<'a>(flows: impl Iterator<Item = &'a FlowRecord>, end: f64) -> f64 {
    let times = flows.map(|flow| (flow.start_us, flow.completion_us.get().unwrap_or(end)));
    let mut times: Vec<(f64, f64)> = times.collect();
    times.order_by(|a, b| a.0.total_cmp(&b.0));
    let (mut until, mut sum) = (f64::NEG_INFINITY, 0.0);
    for (start, completion) in times {
        sum += (completion - start.max(until)).max(0.0);
        until = until.max(completion);
    }
    sum
}

fn is_unfinished(flow: &FlowRecord) -> bool {
    flow.size_bytes.is_some() && flow.fct_us.get().is_none() && !flow.failed
}

/// Payload that arrived in order, over the time from the first start to the last completion, or to
/// the end of the run if flows are unfinished.
fn goodput(flows: &[FlowRecord], took: Span) -> f64 {
    let bits: u64 = flows.iter().map(|flow| flow.received_bytes * 8).sum();
    real(bits) / took.as_secs()
}

/// The record of a flow that would take the time `alone` in an empty network.
fn record(
    groups: &[Group],
    (of, alone): (&EndedFlow, Option<Span>),
    pauses: Option<&PauseReport>,
    end: Time,
) -> FlowRecord {
    let us = |time: Time| time.since(Time::ZERO).as_micros();
    let known = |time: Time| (time != Time::NEVER).then_some(time);
    let flow = &of.flow;
    let completed = known(flow.completion);
    let took = completed.filter(|_| flow.size().is_some());
    let took = took.map(|at| at.since(flow.start));
    FlowRecord {
        flow: of.number,
        group: groups[flow.group as usize].name.to_string(),
        connection: flow.connection,
        round: flow.round(),
        waited_for: of.held_by,
        sender: of.sender.0,
        receiver: of.receiver.0,
        size_bytes: flow.size(),
        received_bytes: of.received,
        start_us: us(flow.start),
        first_byte_us: known(flow.first_byte).map(us).into(),
        completion_us: completed.map(us).into(),
        fct_us: took.map(Span::as_micros).into(),
        slowdown: took
            .zip(alone)
            .map(|(took, alone)| ratio(took, alone))
            .into(),
        acknowledged_us: known(flow.acknowledged)
            .filter(|_| flow.size().is_some())
            .map(|at| at.since(flow.start).as_micros())
            .into(),
        buffered_us: (flow.buffered())
            .map(|at| at.since(flow.start).as_micros())
            .into(),
        packets: flow.counts.packets,
        retransmissions: flow.counts.retransmissions,
        after_timeout: flow.counts.after_timeout,
        timeouts: flow.counts.timeouts,
        tail_timeouts: flow.counts.tail_timeouts,
        syn_timeouts: flow.counts.syn_timeouts,
        tail_probes: flow.counts.tail_probes,
        window_probes: flow.counts.window_probes,
        drops: flow.counts.drops,
        late: is_late(groups, flow, end),
        failed: flow.failure.is_some(),
        failure: flow.failure,
        pfc_victim: pauses.map(|pauses| pauses.has_victim(FlowId(flow.connection))),
        breakdown: of.breakdown.clone(),
    }
}

fn ratio(took: Span, alone: Span) -> f64 {
    real(took.as_ps()) / real(alone.as_ps())
}

/// Whether a flow with an end took longer than its deadline, or has already taken longer.
fn is_late(groups: &[Group], flow: &Flow, end: Time) -> bool {
    let deadline = groups[flow.group as usize].keys.workload.deadline.0;
    let finished = flow.completion.min(end.max(flow.start));
    flow.size().is_some() && deadline.is_some_and(|deadline| finished > flow.start + deadline)
}
