//! Settings that the bed does not support, with remedies.

use plan::keys::{self, ConnectionKind, EcnAt, Keys, SharedPool, TopologyKind, WorkloadKind};
use plan::workload::Plan;
use plan::{Group, PointSpec};
use scenario::{Problem, Problems};
use schemes::linux::sets_priority;

/// Refuses settings without a Linux counterpart.
pub(super) fn check(point: &PointSpec) -> Result<(), Problems> {
    let mut refused = network(&point.keys);
    for group in point.groups.iter() {
        let own = of_group(point, group).into_iter();
        let own = own.chain(endpoints(&group.keys));
        let new: Vec<_> = own.filter(|one| !refused.contains(one)).collect();
        refused.extend(new);
    }
    let problems = refused.into_iter();
    let problems = problems.map(|(what, remedy)| Problem::new(what).help(remedy));
    Problems::unless(problems.collect(), ())
}

/// Settings that a group cannot have for itself, because all hosts share one kernel and one congestion control.
fn of_group(point: &PointSpec, group: &Group) -> Option<(String, &'static str)> {
    let is_of_hosts = |name: &str| {
        let own = keys::group(name);
        own == "tcp" || point.bundle.split('+').any(|part| part == own)
    };
    let all = keys::all_keys().iter().map(|key| key.name);
    let mut of_hosts = all.filter(|name| is_of_hosts(name) && !sets_priority(name));
    let own = of_hosts.find(|name| &group.texts[name] != point.text(name));
    let own = own.or((group.bundle != point.bundle).then_some("schemes"))?;
    Some((
        format!(
            "group.{}: in the test bed a group cannot have its own {own}",
            group.name
        ),
        "leave only settings of the workload, and priorities, in [group.NAME]",
    ))
}

/// Unsupported settings of the network, each with its remedy.
fn network(keys: &Keys) -> Vec<(String, &'static str)> {
    let mut refused = Vec::new();
    let kind = keys.topology.kind;
    match kind {
        TopologyKind::Star
        | TopologyKind::Dumbbell
        | TopologyKind::Tree
        | TopologyKind::LeafSpine => {}
        TopologyKind::Chain | TopologyKind::FatTree | TopologyKind::Graph => refused.push((
            "topology.kind: the test bed cannot have this shape".to_owned(),
            "use star, dumbbell, tree or leaf-spine",
        )),
    }
    if keys.bottleneck.loss.0 > 0.0 || keys.switch.loss.0 > 0.0 {
        refused.push((
            "bottleneck.loss and switch.loss: queues of the test bed lose no packets at random"
                .to_owned(),
            "set both to 0",
        ));
    }
    let bottleneck = &keys.bottleneck;
    let shares = [
        bottleneck.ack_loss,
        bottleneck.reordering,
        bottleneck.duplication,
    ];
    if shares.iter().any(|share| share.0 > 0.0) {
        refused.push((
            "bottleneck.ack_loss, reordering and duplication: a link of the test bed delivers every packet in order and once"
                .to_owned(),
            "set all three to 0",
        ));
    }
    if !keys.bottleneck.lose.0.is_empty() {
        refused.push((
            "bottleneck.lose: queues of the test bed cannot lose chosen segments".to_owned(),
            "leave it out",
        ));
    }
    if !keys.topology.exceptions.0.is_empty() {
        refused.push((
            "[link.NAME] and [host.NAME]: links of the bed are alike".to_owned(),
            "leave these tables out",
        ));
    }
    refused.extend(buffers(keys));
    if keys.switch.emulated_load.0 > 0.0 {
        refused.push((
            "switch.emulated_load: in the test bed load consists of real packets and cannot be emulated".to_owned(),
            "set it to 0",
        ));
    }
    if keys.tcp.ecn && !cfg!(feature = "kernel") {
        refused.push((
            "tcp.ecn: in this build queues do not mark, because marking needs kernel programs at switch ports"
                .to_owned(),
            "set tcp.ecn=false, or build tailwater-live with --features kernel",
        ));
    }
    refused
}

/// Unsupported settings of queues, each with its remedy.
fn buffers(keys: &Keys) -> Vec<(String, &'static str)> {
    let mut refused = Vec::new();
    for (key, burst) in [
        ("switch.burst", keys.switch.burst),
        ("host.burst", keys.host.burst),
    ] {
        if burst.0.is_some() {
            refused.push((
                format!("{key}: the test bed itself finds the smallest depth at which its token buckets keep their rate"),
                "leave it out",
            ));
        }
    }
    if keys.switch.ecn_max.0.is_some() {
        refused.push((
            "switch.ecn_max and switch.ecn_probability: queues of the test bed mark every packet from switch.ecn_threshold \
             on"
                .to_owned(),
            "leave it out",
        ));
    }
    if keys.switch.ecn_at == EcnAt::Departure {
        refused.push((
            "switch.ecn_at: queues of the test bed mark packets when they arrive".to_owned(),
            "set it to arrival",
        ));
    }
    if keys.switch.pool != SharedPool::Off {
        refused.push((
            "switch.pool, with switch.pool_alpha and switch.pool_reserve: the queues of a switch in Linux do not share a \
             buffer".to_owned(),
            "set switch.pool = \"off\", and switch.buffer to the size of one queue",
        ));
    }
    if keys.switch.pfc.classes().is_some() {
        refused.push((
            "switch.pfc, with switch.pfc_xoff, switch.pfc_resume and switch.pfc_headroom: a switch in Linux does not pause \
             its neighbours".to_owned(),
            "set switch.pfc = \"off\"",
        ));
    }
    refused
}

/// Settings that neither the kernel's TCP nor the traffic generator supports, each with its remedy.
fn endpoints(keys: &Keys) -> Vec<(String, &'static str)> {
    let mut refused = Vec::new();
    if !keys.tcp.fast_retransmit {
        refused.push((
            "tcp.fast_retransmit: Linux always retransmits on duplicate ACKs".to_owned(),
            "set it to true",
        ));
    }
    if keys.tcp.go_back_n {
        refused.push((
            "tcp.go_back_n: receivers in Linux keep segments after a gap, and without it tcp.go_back_again has no \
             effect".to_owned(),
            "set it to false",
        ));
    }
    let workload = &keys.workload;
    if workload.kind == WorkloadKind::Requests && workload.connection == ConnectionKind::New {
        refused.push((
            "workload.connection: servers of the test bed open connections before the first request"
                .to_owned(),
            "set it to persistent",
        ));
    }
    if workload.first_write.0.is_some() {
        refused.push((
            "workload.first_write: in the test bed a flow is written at once".to_owned(),
            "set it to off",
        ));
    }
    let parts = [
        (
            workload.request_writes.0,
            "workload.request_writes: in the test bed a request is written at once",
        ),
        (
            workload.answer_writes.0,
            "workload.answer_writes: in the test bed an answer is written at once",
        ),
    ];
    let several = parts.into_iter().filter(|(parts, _)| *parts > 1);
    refused.extend(several.map(|(_, text)| (text.to_owned(), "set it to 1")));
    refused
}

/// Refuses a plan with too many namespaces or sockets for a machine.
pub(super) fn check_plan(plan: &Plan) -> Result<(), Problems> {
    let mut problems = Vec::new();
    let hosts = plan.topology.hosts().len();
    if hosts > MOST_HOSTS {
        let text = format!("{hosts} hosts are more namespaces than the bed makes: {MOST_HOSTS}");
        problems.push(Problem::new(text).help("set fewer workload.senders or topology.hosts"));
    }
    let flows = plan.flows.len();
    if flows > MOST_FLOWS {
        let text = format!("{flows} flows are more than the bed carries: {MOST_FLOWS}");
        problems.push(Problem::new(text).help("set fewer workload.senders, flows or rounds"));
    }
    Problems::unless(problems, ())
}

/// A hundred namespaces take six seconds to set up; two cores cannot serve more than a few hundred.
const MOST_HOSTS: usize = 250;

/// Two sockets for each, within root's usual limit of open files and the port numbers of a host.
const MOST_FLOWS: usize = 20_000;
