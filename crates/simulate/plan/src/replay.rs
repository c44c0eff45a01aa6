//! Turns a simulation into a trace that reproduces it.
//!
//! A trace tells when flows start, which flows they wait for, which connections they use, when these open, and which
//! flows form a round. If this determines everything, the trace reproduces the same packets. Two conditions must hold:
//! the plan of the trace equals the plan of the simulation, which is checked flow by flow; and nothing in the plan
//! waits for another event of the run.

use std::sync::Arc;

use base::{Count, OrAuto, OrOff, Quantity, Span, Time};

use crate::flow_trace::{
    ColumnNames, FlowTrace, HostNames, TraceChoice, TraceFileSettings, TraceWindow,
};
use crate::keys::{Keys, WorkloadKind};
use crate::workload::{Layout, Plan, PlannedConnection, PlannedFlow};
use crate::{Group, PointSpec};

/// The flows of a simulation as a trace, and the other settings for it.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The trace as CSV.
    pub csv: String,
    /// Changes to the settings of the simulation, except for the trace: keys and texts.
    pub settings: Vec<(String, String)>,
    /// The settings that name the trace: one for each group of flows.
    pub traces: Vec<String>,
}

/// Why a trace cannot reproduce a simulation, as a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Inexact(String);

impl Inexact {
    /// For this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl Replay {
    /// The trace that reproduces `point`. O(flows log flows).
    pub fn of(point: &PointSpec) -> Result<Self, Inexact> {
        for group in point.groups.iter() {
            waits_for_nothing(group)?;
        }
        let plan = Plan::of(point);
        let csv = csv(point, &plan)?;
        let trace = FlowTrace::of_csv("the trace", csv.as_bytes(), &TraceFileSettings::default())
            .map_err(Inexact)?;
        same(&plan, &Plan::of(&traced(point, &Arc::new(trace))?))?;
        let groups = point.groups.iter();
        Ok(Self {
            csv,
            settings: settings(point),
            traces: groups
                .map(|group| of_group(group, "workload.trace"))
                .collect(),
        })
    }
}

/// Fails if a flow of the group starts after an event of the run.
fn waits_for_nothing(group: &Group) -> Result<(), Inexact> {
    let workload = &group.keys.workload;
    let of = in_group(group);
    match workload.kind {
        WorkloadKind::Requests if workload.rounds.0.max(workload.requests.0) > 1 => {
            Err(Inexact(format!(
                "clients{of} ask again when they have their answers, but in a trace only flows wait for flows \
                 (workload.requests = {}, workload.rounds = {})",
                workload.requests.0, workload.rounds.0
            )))
        }
        WorkloadKind::Incast | WorkloadKind::Collective if workload.rounds.0 > 1 => {
            Err(Inexact(format!(
                "each round{of} waits for the end of the round before, but in a trace only flows wait for flows \
                 (workload.rounds = {})",
                workload.rounds.0
            )))
        }
        _ => Ok(()),
    }
}

fn in_group(group: &Group) -> String {
    if group.name.is_empty() {
        String::new()
    } else {
        format!(" of the group {}", group.name)
    }
}

/// A row for each flow. Connections are numbered if flows share them or if they open before their first flow.
fn csv(point: &PointSpec, plan: &Plan) -> Result<String, Inexact> {
    let is_early = |connection: &PlannedConnection| connection.open != Time::NEVER;
    let connections = || plan.connections.iter();
    let opened = connections().any(is_early);
    let shared = opened || connections().any(|connection| connection.messages > 1);
    let asked = connections().any(|connection| connection.request > 0);
    let grouped = point.groups.iter().any(|group| !group.name.is_empty());
    let awaited = plan.flows.iter().any(|flow| flow.round.is_some());
    let waits = plan.dependencies.by_flow();
    let mut csv = String::from("start_us");
    for (name, there) in [
        (",id,after,delay_us", !waits.is_empty()),
        (",open_us", opened),
        (",request_bytes", asked),
        (",size_bytes,sender,receiver", true),
        (",connection", shared),
        (",group", grouped),
        (",round", awaited),
    ] {
        csv.push_str(if there { name } else { "" });
    }
    csv.push('\n');
    for (number, flow) in (0..).zip(&plan.flows) {
        let group = &point.groups[flow.group as usize];
        let Some(size) = flow.size else {
            let of = in_group(group);
            return Err(Inexact(format!("flows{of} without end have no size")));
        };
        let connection = &plan.connections[flow.connection as usize];
        let start = micros(flow.start);
        let begin = match waits.get(&number) {
            Some(wait) => format!(",{number},{},{start}", after(wait)),
            None if waits.is_empty() => start,
            None => format!("{start},{number},,"),
        };
        csv.push_str(&begin);
        let mut cell = |there: bool, text: Option<String>| {
            if there {
                csv.push(',');
                csv.push_str(&text.unwrap_or_default());
            }
        };
        cell(
            opened,
            is_early(connection).then(|| micros(connection.open)),
        );
        let request = Some(connection.request).filter(|request| *request > 0);
        cell(asked, request.map(|request| request.to_string()));
        let (sender, receiver) = (connection.sender.0, connection.receiver.0);
        cell(true, Some(format!("{size},{sender},{receiver}")));
        cell(shared, Some(flow.connection.to_string()));
        cell(grouped, Some(group.name.to_string()));
        cell(awaited, flow.round.map(|round| round.to_string()));
        csv.push('\n');
    }
    Ok(csv)
}

/// The flows that a flow waits for, in the form of a trace's column `after`.
fn after((needs, on): &(u32, Vec<(u32, Span)>)) -> String {
    let one = |(flow, delay): &(u32, Span)| match *delay {
        Span::ZERO => flow.to_string(),
        delay => format!("{flow}@{}", micros(Time::ZERO + delay)),
    };
    let list = on.iter().map(one).collect::<Vec<String>>().join("+");
    if (*needs as usize) < on.len() {
        format!("{needs} of {list}")
    } else {
        list
    }
}

/// A time in microseconds, to the picosecond.
fn micros(time: Time) -> String {
    let ps = time.as_ps();
    format!("{}.{:06}", ps / 1_000_000, ps % 1_000_000)
}

/// The settings besides the trace.
fn settings(point: &PointSpec) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    // A trace counts as random, even if it was made from a simulation without randomness.
    let order = point.order_seed().to_string();
    for (key, text) in [
        (
            "topology.hosts",
            Some(hosts(point)).filter(|_| point.keys.topology.hosts.0.is_none()),
        ),
        (
            "run.tie_order",
            Some(order).filter(|_| point.keys.run.tie_order.0.is_none()),
        ),
    ] {
        settings.extend(text.map(|text| (key.to_owned(), text)));
    }
    for group in point.groups.iter() {
        let workload = &group.keys.workload;
        for (key, text, is_other) in [
            (
                "workload.kind",
                "trace",
                workload.kind != WorkloadKind::Trace,
            ),
            ("workload.from", "auto", workload.from.0.is_some()),
            ("workload.to", "auto", workload.to.0.is_some()),
            ("workload.epochs", "1", workload.epochs.0 > 1),
            (
                "workload.columns",
                "auto",
                workload.columns != ColumnNames::default(),
            ),
            (
                "workload.host_names",
                "auto",
                workload.host_names != HostNames::default(),
            ),
            (
                "workload.window",
                "all",
                workload.window != TraceWindow::default(),
            ),
            ("workload.max_gap", "off", workload.max_gap.0.is_some()),
        ] {
            if is_other {
                settings.push((of_group(group, key), text.to_owned()));
            }
        }
    }
    settings
}

/// Hosts at each switch.
fn hosts(point: &PointSpec) -> String {
    let layout = Layout::of(&point.keys, &point.groups);
    (layout.all_hosts() / layout.racks().max(1)).to_string()
}

/// The name of a setting for the flows of a group alone.
fn of_group(group: &Group, key: &str) -> String {
    if group.name.is_empty() {
        key.to_owned()
    } else {
        format!("group.{}.{key}", group.name)
    }
}

/// `point` with the flows of `trace`, with [`settings`].
fn traced(point: &PointSpec, trace: &Arc<FlowTrace>) -> Result<PointSpec, Inexact> {
    let order = point.order_seed();
    let hosts = Quantity::parse(&hosts(point)).map_err(|error| Inexact(error.to_string()))?;
    let change = |keys: &Keys| {
        let mut keys = keys.clone();
        keys.topology.hosts = hosts;
        keys.run.tie_order = OrAuto(Some(order));
        keys.workload.kind = WorkloadKind::Trace;
        keys.workload.trace = TraceChoice::known(Arc::clone(trace));
        keys.workload.columns = ColumnNames::default();
        keys.workload.host_names = HostNames::default();
        keys.workload.window = TraceWindow::default();
        keys.workload.max_gap = OrOff(None);
        (keys.workload.from, keys.workload.to) = (OrAuto(None), OrAuto(None));
        keys.workload.epochs = Count(1);
        Arc::new(keys)
    };
    let groups = point.groups.iter().map(|group| Group {
        keys: change(&group.keys),
        ..group.clone()
    });
    Ok(PointSpec {
        keys: change(&point.keys),
        groups: groups.collect(),
        ..point.clone()
    })
}

/// Fails if the two plans differ.
fn same(plan: &Plan, replayed: &Plan) -> Result<(), Inexact> {
    let shape = |plan: &Plan| (plan.topology.hosts().len(), plan.topology.links().len());
    if shape(plan) != shape(replayed) {
        return Err(Inexact("the network would have other hosts".into()));
    }
    if plan.bottleneck != replayed.bottleneck {
        let names = plan.topology.names();
        let to = |plan: &Plan| names[plan.topology.ends(plan.bottleneck).1.0 as usize].clone();
        return Err(Inexact(format!(
            "the port whose queue is reported, and which bottleneck settings are about, leads to {}, and would \
             lead to {}",
            to(plan),
            to(replayed)
        )));
    }
    let connection = |one: &PlannedConnection| {
        let ends = (one.sender, one.receiver);
        (
            one.group,
            ends,
            one.open,
            one.messages,
            one.request,
            one.heir_of,
        )
    };
    let flow = |one: &PlannedFlow| {
        let size = (one.size, one.first_write);
        (
            one.group,
            one.connection,
            size,
            one.start,
            one.stop,
            (one.awaited_by, one.round),
        )
    };
    let connections = |plan: &Plan| plan.connections.iter().map(connection).collect::<Vec<_>>();
    let flows = |plan: &Plan| plan.flows.iter().map(flow).collect::<Vec<_>>();
    if connections(plan) != connections(replayed) {
        return Err(Inexact("connections would be others".into()));
    }
    if flows(plan) != flows(replayed) || plan.dependencies != replayed.dependencies {
        return Err(Inexact("flows would be others".into()));
    }
    Ok(())
}
