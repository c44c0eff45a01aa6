//! One point: build the world, run it, check it, measure it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Span, Time};
use engine::{Scheduler, World as _};
use fabric::{PortId, QueueStatistics, Topology};
use schemes::{HostInfo, Receiver, Roles};
use tcp::{Plain, ReceiverCc};

use crate::error::RunError;
use crate::metrics::{Cost, Distribution, FlowRecord, GroupMetrics, Metrics, Outcome, PortRecord};
use crate::probe::Probe;
use crate::scenario::{Group, PointSpec};
use crate::work::Work;
use crate::workload::Plan;
use crate::world::{Flow, MakeReceiver, World};

/// What ends a simulation before its end.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Steps of [`Work`] that it may take.
    pub steps: u64,
    /// Bytes that packets on the way may take.
    pub memory: u64,
    /// Whether series are recorded.
    pub recorded: bool,
    /// Becomes true when the result is not wanted any more.
    pub stop: Option<&'a AtomicBool>,
}

impl Limits<'_> {
    /// None at all.
    pub const NONE: Self = Self {
        steps: u64::MAX,
        memory: u64::MAX,
        recorded: true,
        stop: None,
    };
}

/// Simulates a point: a pure function of it, but for the cost.
///
/// # Panics
/// If the settings of the point were not checked by [`crate::scenario`].
pub fn run(point: &PointSpec) -> Result<Outcome, RunError> {
    observe(point, &mut ())
}

/// [`run`] with a probe that sees every packet-hop.
///
/// # Panics
/// As [`run`] does.
pub fn observe<P: Probe>(point: &PointSpec, probe: &mut P) -> Result<Outcome, RunError> {
    within(Limits::NONE, point, probe)
}

/// [`observe`], ended without a result where it exceeds its limits.
///
/// # Panics
/// As [`run`] does.
pub fn within<P: Probe>(
    limits: Limits<'_>,
    point: &PointSpec,
    probe: &mut P,
) -> Result<Outcome, RunError> {
    let roles: Vec<Roles> = point.groups.iter().map(Group::roles).collect();
    if roles.iter().any(|roles| roles.receiver.is_some()) {
        let make = |roles: Option<&Roles>, host: &HostInfo| match roles {
            Some(roles) => roles.make_receiver(host),
            None => Receiver::newreno(Plain),
        };
        run_world(limits, point, (&roles, &make), probe)
    } else {
        // Without a receiver role its calls are compiled away.
        run_world(limits, point, (&roles, &|_, _| Plain), probe)
    }
}

fn run_world<'p, R: ReceiverCc, P: Probe>(
    limits: Limits<'_>,
    point: &'p PointSpec,
    (roles, receiver): (&'p [Roles], &MakeReceiver<'_, R>),
    probe: &'p mut P,
) -> Result<Outcome, RunError> {
    let keys = &point.keys;
    let plan = Plan::of(point);
    // A hop takes a serialisation and a delay; most events are at most that far ahead.
    let hop = keys.link.rate.serialisation(keys.packet_bytes()) + keys.link.delay;
    let mut sched = Scheduler::sized(
        hop,
        least_gap(&plan.topology, keys.packet_bytes()),
        point.order_seed(),
    );
    let mut world = World::new(point, roles, plan, (receiver, probe), &mut sched)?;
    let limit = keys
        .run
        .duration
        .0
        .map_or(Time::NEVER, |duration| Time::ZERO + duration);

    let bounds = Bounds {
        limits,
        work: Work::of(point, limits.recorded),
        end: limit,
    };
    let start = processor_time();
    bounds.simulate(&mut world, &mut sched)?;
    let cpu = processor_time().saturating_sub(start);
    let end = sched.now().max(if limit == Time::NEVER {
        Time::ZERO
    } else {
        limit
    });
    world.check_conservation()?;
    let queues = world.close_statistics(end);
    world.end(end);
    if !world.flows().iter().any(|flow| flow.started) {
        return Err(RunError::NoFlow);
    }
    Ok(outcome(&world, point, &queues, &sched, (end, cpu)))
}

/// The mean time between packet-hops if every port of `topology` sends all the time.
fn least_gap(topology: &Topology, packet_bytes: u64) -> Span {
    let links = topology.links().iter();
    let rates =
        links.map(|link| u128::from(link.spec.rate.as_bps()) + u128::from(link.back.rate.as_bps()));
    let bits_per_s: u128 = rates.sum();
    let gap = u128::from(packet_bytes) * 8 * 1_000_000_000_000 / bits_per_s.max(1);
    Span::from_ps(u64::try_from(gap).unwrap_or(u64::MAX))
}

/// How far a simulation goes.
struct Bounds<'a> {
    limits: Limits<'a>,
    work: Work,
    /// Its end, if the settings have one.
    end: Time,
}

impl Bounds<'_> {
    /// Runs the events up to the end, or says which limit is exceeded before.
    fn simulate<R: ReceiverCc, P: Probe>(
        &self,
        world: &mut World<'_, R, P>,
        sched: &mut Scheduler,
    ) -> Result<(), RunError> {
        // Timers of switches and samples of series are no events: the time bounds their number.
        let horizon = self.work.horizon(self.limits.steps);
        while engine::run_some(world, sched, self.end.min(horizon), BATCH) {
            self.check(world, sched)?;
        }
        let is_over = self.end <= horizon || world.finished() || sched.pending() == 0;
        if is_over {
            Ok(())
        } else {
            Err(self.too_long(sched))
        }
    }

    fn check<R: ReceiverCc, P: Probe>(
        &self,
        world: &World<'_, R, P>,
        sched: &Scheduler,
    ) -> Result<(), RunError> {
        let stop = self.limits.stop;
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || world.has_failed() {
            return Err(RunError::Stopped);
        }
        if sched.handled() > self.limits.steps {
            return Err(self.too_long(sched));
        }
        let ports = world.network().ports().iter();
        let packets = ports.map(|port| port.held() as u64).sum();
        if fabric::PLACE_BYTES.saturating_mul(packets) > self.limits.memory {
            return Err(RunError::Memory {
                simulated: sched.now().since(Time::ZERO),
                packets,
            });
        }
        Ok(())
    }

    fn too_long(&self, sched: &Scheduler) -> RunError {
        let (what, key) = self.work.largest();
        RunError::Work {
            steps: self.limits.steps,
            simulated: sched.now().since(Time::ZERO),
            what,
            key: key.to_owned(),
        }
    }
}

/// Events between two looks at the limits: some milliseconds.
const BATCH: u64 = 1 << 16;

/// What this thread has computed so far. Unlike time on the wall, it does not grow while another process
/// has the processor.
#[cfg(unix)]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Time on the wall, where the system has no clock of a thread that a safe function reads.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "only the cost of a run follows")]
fn processor_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
fn outcome<R: ReceiverCc, P: Probe>(
    world: &World<'_, R, P>,
    point: &PointSpec,
    queues: &[QueueStatistics],
    sched: &Scheduler,
    (end, cpu): (Time, Duration),
) -> Outcome {
    let flows: Vec<FlowRecord> = world
        .flows()
        .iter()
        .enumerate()
        .filter(|(_, flow)| flow.started)
        .map(|flow| record(world, &point.groups, flow, end))
        .collect();
    let all = totals(String::new(), &flows.iter().collect::<Vec<_>>(), end);
    let ports = || world.network().ports().iter().map(fabric::Port::counters);
    let packet_hops: u64 = ports().map(|port| port.packets).sum();
    let bottleneck = world.bottleneck().0 as usize;
    let queue = &queues[bottleneck];
    let cpu_us = cpu.as_secs_f64() * 1e6;
    let metrics = Metrics {
        goodput_bps: goodput(world, &flows, end),
        fct_mean_us: all.fct_mean_us,
        fct_p50_us: all.fct_p50_us,
        fct_p95_us: all.fct_p95_us,
        fct_p99_us: all.fct_p99_us,
        fct_max_us: all.fct_max_us,
        timeouts: all.timeouts,
        tail_timeouts: all.tail_timeouts,
        syn_timeouts: all.syn_timeouts,
        timeout_rate: all.timeout_rate,
        retransmissions: all.retransmissions,
        after_timeout: all.after_timeout,
        packets: all.packets,
        fairness: all.fairness,
        drops: ports().map(|port| port.drops).sum(),
        marks: ports().map(|port| port.marks).sum(),
        threshold_crossings: ports().map(|port| port.threshold_crossings).sum(),
        queue_mean_bytes: queue.mean,
        queue_p5_bytes: queue.p5,
        queue_p50_bytes: queue.p50,
        queue_p95_bytes: queue.p95,
        queue_max_bytes: world.network().ports()[bottleneck]
            .counters()
            .max_waiting_bytes,
        flows_completed: all.flows_completed,
        flows_failed: all.flows_failed,
        flows_unfinished: all.flows_unfinished,
        flows_late: all.flows_late,
    };
    let cost = Cost {
        simulated_us: Span::as_micros(end.since(Time::ZERO)),
        packet_hops,
        events: sched.handled(),
        cpu_us,
        ns_per_hop: cpu_us * 1e3 / packet_hops as f64,
    };
    Outcome {
        metrics,
        groups: groups(point, &flows, end),
        cost,
        flows,
        ports: port_records(world, queues),
        digest: world.network().digest(),
    }
}

/// Results of every group, if the scenario has any, then of every class of sizes.
fn groups(point: &PointSpec, flows: &[FlowRecord], end: Time) -> Vec<GroupMetrics> {
    let named = point.groups.iter().filter(|group| !group.name.is_empty());
    let groups = named.map(|group| {
        let own: Vec<_> = flows
            .iter()
            .filter(|flow| *flow.group == *group.name)
            .collect();
        totals(group.name.to_string(), &own, end)
    });
    let mss = u64::from(point.keys.tcp.mss.0);
    let classes = point.keys.run.classes.all(mss).into_iter();
    let classes = classes.map(|(name, above, upto)| {
        let size = |flow: &FlowRecord| flow.size_bytes.unwrap_or(u64::MAX);
        let own = flows
            .iter()
            .filter(|flow| size(flow) > above && size(flow) <= upto);
        totals(name, &own.collect::<Vec<_>>(), end)
    });
    groups.chain(classes).collect()
}

/// What some flows achieved together.
fn totals(name: String, flows: &[&FlowRecord], end: Time) -> GroupMetrics {
    let flows = || flows.iter().copied();
    let fct = Distribution::of(flows().filter_map(|flow| flow.fct_us).collect());
    let timeouts = flows().map(|flow| flow.timeouts).sum();
    let packets = flows().map(|flow| flow.packets).sum();
    GroupMetrics {
        group: name,
        goodput_bps: group_goodput(flows(), end),
        fct_mean_us: fct.mean,
        fct_p50_us: fct.p50,
        fct_p95_us: fct.p95,
        fct_p99_us: fct.p99,
        fct_max_us: fct.max,
        timeouts,
        tail_timeouts: flows().map(|flow| flow.tail_timeouts).sum(),
        syn_timeouts: flows().map(|flow| flow.syn_timeouts).sum(),
        timeout_rate: rate(timeouts, packets),
        retransmissions: flows().map(|flow| flow.retransmissions).sum(),
        after_timeout: flows().map(|flow| flow.after_timeout).sum(),
        packets,
        fairness: fairness(flows(), end),
        flows_completed: flows().filter(|flow| flow.fct_us.is_some()).count() as u64,
        flows_failed: flows().filter(|flow| flow.failed).count() as u64,
        flows_unfinished: flows().filter(|flow| is_unfinished(flow)).count() as u64,
        flows_late: flows().filter(|flow| flow.late).count() as u64,
    }
}

#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
fn rate(events: u64, of: u64) -> f64 {
    events as f64 / of as f64
}

/// Jain's index of the throughput of flows from their start to their completion, or to the end of the
/// run: the square of the sum over the number times the sum of squares.
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
fn fairness<'a>(flows: impl Iterator<Item = &'a FlowRecord>, end: Time) -> f64 {
    let end = end.since(Time::ZERO).as_micros();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for flow in flows {
        let took = flow.completion_us.unwrap_or(end) - flow.start_us;
        if took > 0.0 {
            let throughput = flow.received_bytes as f64 / took;
            count += 1.0;
            sum += throughput;
            squares += throughput * throughput;
        }
    }
    sum * sum / (count * squares)
}

/// As [`goodput`], from the first start of the group to its last completion; `NaN` without flows.
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
fn group_goodput<'a>(flows: impl Iterator<Item = &'a FlowRecord>, end: Time) -> f64 {
    let end = end.since(Time::ZERO).as_micros();
    let (mut first, mut last, mut bits) = (f64::INFINITY, 0.0_f64, 0);
    for flow in flows {
        first = first.min(flow.start_us);
        last = last.max(flow.completion_us.unwrap_or(end));
        bits += flow.received_bytes * 8;
    }
    if first.is_finite() {
        bits as f64 / ((last - first) / 1e6)
    } else {
        f64::NAN
    }
}

fn is_unfinished(flow: &FlowRecord) -> bool {
    flow.size_bytes.is_some() && flow.fct_us.is_none() && !flow.failed
}

/// Payload that arrived in order, over the time from the first start to the last completion, or to
/// the end of the run if flows are unfinished.
#[expect(clippy::cast_precision_loss, reason = "results carry 53 bits")]
fn goodput<R: ReceiverCc, P: Probe>(
    world: &World<'_, R, P>,
    flows: &[FlowRecord],
    end: Time,
) -> f64 {
    let completions = world.flows().iter().map(|flow| flow.completion);
    let last = completions
        .max()
        .filter(|last| *last != Time::NEVER)
        .unwrap_or(end);
    let bits: u64 = flows.iter().map(|flow| flow.received_bytes * 8).sum();
    bits as f64 / last.since(world.first_start()).as_secs()
}

#[expect(clippy::cast_possible_truncation, reason = "flows have 32-bit numbers")]
fn record<R: ReceiverCc, P: Probe>(
    world: &World<'_, R, P>,
    groups: &[Group],
    (index, flow): (usize, &Flow),
    end: Time,
) -> FlowRecord {
    let us = |time: Time| time.since(Time::ZERO).as_micros();
    let known = |time: Time| (time != Time::NEVER).then_some(time);
    let completed = known(flow.completion);
    let connection = world.connection(flow);
    FlowRecord {
        flow: index as u32,
        group: groups[flow.group as usize].name.to_string(),
        connection: flow.connection,
        sender: connection.sender.0.0,
        receiver: connection.receiver.0.0,
        size_bytes: flow.size,
        received_bytes: world.received(index as u32),
        start_us: us(flow.start),
        first_byte_us: known(flow.first_byte).map(us),
        completion_us: completed.map(us),
        fct_us: completed
            .filter(|_| flow.size.is_some())
            .map(|at| at.since(flow.start).as_micros()),
        buffered_us: known(flow.buffered).map(|at| at.since(flow.start).as_micros()),
        packets: flow.counts.packets.into(),
        retransmissions: flow.counts.retransmissions.into(),
        after_timeout: flow.counts.after_timeout.into(),
        timeouts: flow.counts.timeouts.into(),
        tail_timeouts: flow.counts.tail_timeouts.into(),
        syn_timeouts: flow.counts.syn_timeouts.into(),
        drops: flow.counts.drops.into(),
        late: is_late(groups, flow, end),
        failed: flow.failed,
    }
}

/// Whether a flow with an end took longer than its deadline, or has already.
fn is_late(groups: &[Group], flow: &Flow, end: Time) -> bool {
    let deadline = groups[flow.group as usize].keys.workload.deadline.0;
    let finished = flow.completion.min(end.max(flow.start));
    flow.size.is_some() && deadline.is_some_and(|deadline| finished > flow.start + deadline)
}

fn port_records<R: ReceiverCc, P: Probe>(
    world: &World<'_, R, P>,
    queues: &[QueueStatistics],
) -> Vec<PortRecord> {
    let names = world.topology().names();
    let ports = world.network().ports().iter().zip(queues);
    let record = |(port, (state, queue)): (u32, (&fabric::Port, &QueueStatistics))| {
        let id = PortId(port);
        let (from, to) = world.topology().ends(id);
        let counters = state.counters();
        PortRecord {
            port,
            from: names[from.0 as usize].clone(),
            to: names[to.0 as usize].clone(),
            bottleneck: id == world.bottleneck(),
            packets: counters.packets,
            bytes: counters.bytes,
            drops: counters.drops,
            marks: counters.marks,
            threshold_crossings: counters.threshold_crossings,
            queue_mean_bytes: queue.mean,
            queue_p50_bytes: queue.p50,
            queue_p95_bytes: queue.p95,
            queue_p99_bytes: queue.p99,
            queue_max_bytes: counters.max_waiting_bytes,
        }
    };
    (0..).zip(ports).map(record).collect()
}
