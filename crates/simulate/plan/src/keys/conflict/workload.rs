//! Conflicts of flows that never start, never end, or cannot be sent.

use base::Span;
use distributions::SizeLaw;

use super::super::{ConnectionKind, Keys, TopologyKind, WorkloadKind, flows};
use super::Conflict;

/// Adds all conflicts between settings of the workload.
pub(super) fn conflicts(keys: &Keys, found: &mut Vec<Conflict>) {
    let (workload, duration) = (&keys.workload, keys.run.duration.0);
    // Starts that follow from a load are not known yet; they may be late.
    let delay = workload.delay.0.map_or(Span::ZERO, |law| law.most());
    let last_epoch = workload.epoch_interval * u64::from(workload.epochs.0 - 1);
    let last_start = workload.start
        + match workload.kind {
            WorkloadKind::Poisson => workload.flows.0.map_or(workload.duration, |_| Span::ZERO),
            WorkloadKind::Burst | WorkloadKind::Collective => workload.jitter + delay + last_epoch,
            WorkloadKind::Trace => Span::ZERO,
            WorkloadKind::Incast | WorkloadKind::Pairs | WorkloadKind::Requests => {
                let last = match workload.kind {
                    WorkloadKind::Requests => workload.connections,
                    _ => workload.senders,
                };
                let last = u64::from(last.0 - 1);
                workload.jitter + delay + workload.interval * last + last_epoch
            }
        };
    let traced = workload.kind == WorkloadKind::Trace;
    if traced {
        traces(keys, found);
    } else if duration.is_some_and(|end| end <= last_start) {
        found.push(Conflict::new(
            &["run.duration", "workload.start"],
            "the simulation ends before the last flow starts",
            format!(
                "flows start until {last_start}: set run.duration above this time, or let them start earlier"
            ),
        ));
    }
    let poisson = workload.kind == WorkloadKind::Poisson;
    let loaded = (poisson && workload.arrivals.0.is_none())
        || (workload.kind == WorkloadKind::Burst && workload.delay.0.is_none());
    let endless = workload.flows.0.is_some() || workload.duration > Span::ZERO;
    if loaded && (workload.load.0 <= 0.0 || (poisson && !endless)) {
        found.push(Conflict::new(
            &["workload.load", "workload.duration"],
            "no flow ever arrives",
            "give workload.load and workload.duration values above 0",
        ));
    }
    if poisson
        && workload
            .arrivals
            .0
            .is_some_and(|law| law.mean() == Span::ZERO)
    {
        found.push(Conflict::new(
            &["workload.arrivals"],
            "the time between two arrivals is 0",
            "give a time above 0s, as in \"exponential(1ms)\"",
        ));
    } else if poisson && workload.load.0 > 0.0 && endless && flows::expected(keys) < NO_FLOW {
        found.push(Conflict::new(
            &["workload.load", "workload.duration"],
            format!(
                "no flow ever arrives: {:e} are expected",
                flows::expected(keys)
            ),
            "raise workload.load or workload.duration, or set workload.flows",
        ));
    }
    epochs(keys, found);
    connections(keys, found);
    stops(keys, found);
    writes(keys, found);
    rounds(keys, found);
    if workload.kind == WorkloadKind::Collective {
        collectives(keys, found);
    }
    sizes(keys, found);
}

/// Conflicts of rounds in workloads without rounds.
fn rounds(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let in_rounds = [
        WorkloadKind::Incast,
        WorkloadKind::Requests,
        WorkloadKind::Collective,
    ];
    if workload.rounds.0 > 1 && !in_rounds.contains(&workload.kind) {
        found.push(Conflict::new(
            &["workload.rounds", "workload.kind"],
            "only incasts, requests and collectives are repeated in rounds",
            "set workload.kind to \"incast\", \"requests\" or \"collective\", or leave workload.rounds out",
        ));
    }
}

/// Conflicts of collectives that do not exist, and of settings without effect on the collective.
fn collectives(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    if !matches!(workload.size, SizeLaw::Fixed(_)) {
        found.push(Conflict::new(
            &["workload.size", "workload.kind"],
            "all ranks of a collective have equally many bytes",
            "set a fixed workload.size, as in \"64MB\"",
        ));
    } else if let Some((cause, remedy)) = workload.shape(keys.tcp.mss.0.into()).refusal() {
        found.push(Conflict::new(
            &[
                "workload.collective",
                "workload.algorithm",
                "workload.ranks",
                "workload.segments",
                "workload.size",
            ],
            cause,
            remedy,
        ));
    }
    if workload.to.0.is_some() {
        found.push(Conflict::new(
            &["workload.to", "workload.kind"],
            "every rank of a collective sends and receives",
            "name the hosts of the ranks with workload.from, and leave workload.to out",
        ));
    }
    if workload.stragglers > workload.ranks.0 {
        found.push(Conflict::new(
            &["workload.stragglers", "workload.ranks"],
            format!(
                "{} of {} ranks cannot be slow",
                workload.stragglers, workload.ranks.0
            ),
            "lower workload.stragglers",
        ));
    }
    if (workload.stragglers > 0) != (workload.straggler_delay > Span::ZERO) {
        found.push(Conflict::new(
            &["workload.stragglers", "workload.straggler_delay"],
            "workload.stragglers and workload.straggler_delay need each other",
            "set both workload.stragglers and workload.straggler_delay, as in \"100us\", or neither",
        ));
    }
}

/// Conflicts of settings that contradict the trace, and of traces that start too late or too early.
fn traces(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    if workload.from.0.is_some() || workload.to.0.is_some() {
        found.push(Conflict::new(
            &["workload.from", "workload.to", "workload.trace"],
            "the trace names its hosts",
            "leave workload.from and workload.to out",
        ));
    }
    let (first, _) = workload.trace.content().span();
    if keys.run.duration.0.is_some_and(|end| end <= first) {
        found.push(Conflict::new(
            &["run.duration", "workload.trace"],
            "the simulation ends before the first flow of the trace starts",
            format!("it starts at {first}: set run.duration above this time"),
        ));
    }
    if workload.connection == ConnectionKind::Persistent && first < workload.start {
        found.push(Conflict::new(&["workload.start", "workload.trace"], format!(
                "the first flow of the trace starts at {first}, before persistent connections may open"
            ), "let flows of the trace start at workload.start or later, or set workload.connection = \
                     \"new\""));
    }
}

fn epochs(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    if workload.epochs.0 == 1 {
        return;
    }
    if matches!(workload.kind, WorkloadKind::Poisson | WorkloadKind::Trace) {
        found.push(Conflict::new(
            &["workload.epochs", "workload.kind"],
            "random arrivals and traces have no epochs",
            "leave workload.epochs out, or set another workload.kind",
        ));
    }
    if workload.epoch_interval == Span::ZERO {
        found.push(Conflict::new(
            &["workload.epochs", "workload.epoch_interval"],
            "all epochs would start at the same time",
            "give workload.epoch_interval, as in \"180ms\"",
        ));
    }
    if workload.size.is_unlimited() {
        found.push(Conflict::new(
            &["workload.epochs", "workload.size"],
            "flows without end cannot start again in every epoch",
            "set a finite workload.size, or leave workload.epochs out",
        ));
    }
}

fn connections(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let between = match keys.topology.kind {
        TopologyKind::Graph => keys.topology.network().span(keys),
        _ => keys.bottleneck.delay.0.unwrap_or(keys.link.delay) * 4,
    };
    // Connections open in the first half of the time before the start. The second half must be a round trip over the
    // longest path: two links of hosts and, except in a graph, at most four between switches.
    let least = (keys.link.delay * 2 + between) * 4;
    if workload.connection == ConnectionKind::Persistent && workload.start < least.max(MOMENT) {
        found.push(Conflict::new(
            &["workload.start", "workload.connection"],
            "there is no time to open persistent connections before the first flow",
            format!("set workload.start to {} or later", least.max(MOMENT)),
        ));
    }
    if workload.kind == WorkloadKind::Requests && workload.request_size.amount == 0 {
        found.push(Conflict::new(
            &["workload.request_size"],
            "a request needs at least 1 byte",
            "give at least \"1B\"",
        ));
    }
}

/// Conflicts of flows that stop before they start, or that end by themselves.
fn stops(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let Some(stop) = workload.stop.0 else {
        return;
    };
    if !workload.size.is_unlimited() {
        found.push(Conflict::new(
            &["workload.stop", "workload.size"],
            "only flows without end can be stopped",
            "set workload.size = \"unlimited\", or leave workload.stop out",
        ));
    }
    let last = u64::from(workload.senders.0 - 1);
    let starts = [workload.start, workload.start + workload.interval * last];
    let stops = [stop, stop + workload.stop_interval * last];
    if starts.iter().zip(stops).any(|(start, stop)| *start >= stop) {
        found.push(Conflict::new(&["workload.stop", "workload.start"], "a flow would stop before it starts", format!(
                "flows start from {} to {}: set workload.stop and workload.stop_interval so that each stops \
                 later",
                starts[0], starts[1]
            )));
    }
}

/// Conflicts of applications that write in parts but cannot.
fn writes(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    parts(keys, found);
    let Some(first) = workload.first_write.0 else {
        return;
    };
    if workload.size.is_unlimited() {
        found.push(Conflict::new(
            &["workload.first_write", "workload.size"],
            "flows without end cannot be written in parts",
            "set a finite workload.size, or leave workload.first_write out",
        ));
    }
    if workload.connection == ConnectionKind::Persistent {
        found.push(Conflict::new(
            &["workload.first_write", "workload.connection"],
            "on a shared connection the parts of one flow would mix with the parts of another",
            "set workload.connection = \"new\", or leave workload.first_write out",
        ));
    }
    let amounts = [first.amount, workload.write.amount];
    if amounts.contains(&0) || workload.write_interval == Span::ZERO {
        found.push(Conflict::new(
            &[
                "workload.first_write",
                "workload.write",
                "workload.write_interval",
            ],
            "the size and the time between writes must be above 0",
            "give each a value above 0, as in \"1.5MB\", \"64KB\" and \"100ms\"",
        ));
    }
}

/// Conflicts of messages in parts: the parts follow each other on an open connection.
fn parts(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    let asks = [WorkloadKind::Requests, WorkloadKind::Trace].contains(&workload.kind);
    let asked = asks && workload.connection == ConnectionKind::Persistent;
    let settings: [(&'static [&'static str], u32); 2] = [
        (
            &[
                "workload.request_writes",
                "workload.kind",
                "workload.connection",
            ],
            workload.request_writes.0,
        ),
        (
            &[
                "workload.answer_writes",
                "workload.kind",
                "workload.connection",
            ],
            workload.answer_writes.0,
        ),
    ];
    for (keys, parts) in settings {
        if parts > 1 && !asked {
            found.push(Conflict::new(
                keys,
                "only messages on open connections can be written in parts",
                "set workload.kind = \"requests\" and workload.connection = \"persistent\", or 1 part",
            ));
        }
    }
}

fn sizes(keys: &Keys, found: &mut Vec<Conflict>) {
    let workload = &keys.workload;
    match &workload.size {
        SizeLaw::Unlimited if keys.run.duration.0.is_none() && workload.stop.0.is_none() => found
            .push(Conflict::new(
                &["workload.size", "run.duration"],
                "unlimited flows never end, and neither would the simulation",
                "set run.duration or workload.stop, as in \"1s\", or a finite workload.size",
            )),
        SizeLaw::Unlimited
            if workload.rounds.0 > 1
                || matches!(
                    workload.kind,
                    WorkloadKind::Poisson | WorkloadKind::Requests
                ) =>
        {
            found.push(Conflict::new(
                &["workload.size", "workload.rounds", "workload.kind"],
                "flows without end cannot form rounds, a load or answers",
                "set a finite workload.size",
            ));
        }
        SizeLaw::Fixed(size) if size.amount == 0 => found.push(Conflict::new(
            &["workload.size"],
            "flows of size 0 have nothing to send",
            "give at least \"1B\", or \"unlimited\" together with run.duration",
        )),
        _ => {}
    }
    if workload.size_step.amount == 0 {
        found.push(Conflict::new(
            &["workload.size_step"],
            "workload.size_step must be above 0",
            "give at least \"1B\"",
        ));
    }
}

/// So few expected flows at a receiver must be a mistake: with a thousand receivers, one run in a thousand would have a
/// flow.
const NO_FLOW: f64 = 1e-6;
/// Handshakes take time even if wires do not.
const MOMENT: Span = Span::from_millis(1);
