//! Conflicts of groups of flows with the network or with each other.

use base::HostId;
use base::cast::count;
use base::cast::whole;
use schemes::{Role, Scheme};

use super::layout::{Layout, Origins, needed, senders_needed, takes_all};
use super::{exceptions, faults};
use crate::Group;
use crate::keys::{
    Conflict, ConnectionKind, Keys, LoadOf, SharedPool, TopologyKind, TracedFlows, WorkloadKind,
};
use crate::tokens::Tokens;

/// Conflicts with the network: hosts that do not exist, and roles that cannot share a host.
pub fn conflicts(keys: &Keys, groups: &[Group]) -> Vec<Conflict> {
    let mut found = Vec::new();
    let layout = Layout::of(keys, groups);
    if layout.all_hosts() > MAX_HOSTS {
        found.push(Conflict::new(
            &["workload.senders", "topology.hosts", "topology.racks"],
            format!("{} hosts are too many", layout.all_hosts()),
            format!("a network has at most {MAX_HOSTS}"),
        ));
        return found;
    }
    if layout.links_between() > MAX_HOSTS {
        found.push(Conflict::new(
            &["topology.spines", "topology.racks"],
            format!(
                "{} links between switches are too many",
                layout.links_between()
            ),
            format!("a network has at most {MAX_HOSTS}"),
        ));
        return found;
    }
    if let Some(graph) = &layout.graph
        && let Some((link, bits)) = graph.too_fast(keys, layout.hosts)
    {
        found.push(Conflict::new(&["topology.capacity", "topology.hosts", "link.rate"], format!(
                "the link {} would have {bits} bit/s to carry as much as the links of hosts",
                graph.in_words(link)
            ), "a link has at most 8000Gbps: lower topology.hosts or link.rate, or set bottleneck.rate"));
    }
    found.extend(exceptions::conflicts(keys, &layout));
    found.extend(faults::conflicts(keys, &layout));
    found.extend(untraceable(&layout, keys, groups));
    for group in groups {
        found.extend(outside(&layout, group));
        found.extend(outside_trace(&layout, group));
        found.extend(awaited_by_none(groups, group));
        let workload = &group.keys.workload;
        let star = layout.kind == TopologyKind::Star;
        if star && workload.kind == WorkloadKind::Pairs && workload.to.0.is_none() {
            found.push(Conflict::new(
                &["workload.kind", "topology.kind"],
                "pairs need a middle link to share, and a star has none",
                "set topology.kind = \"dumbbell\" or workload.kind = \"incast\"; where a host each \
                         is meant, name the receivers with workload.to",
            ));
        }
    }
    found.extend(groups.iter().flat_map(|group| misfits(keys, group)));
    if found.is_empty() {
        found.extend(crowded(&layout, groups));
    }
    if found.is_empty() {
        found.extend(
            groups
                .iter()
                .filter_map(|group| without_uplinks(&layout, group)),
        );
        let places = layout.places(groups);
        let lonely = |(group, place)| super::peers::lonely(&layout, place, group);
        found.extend(groups.iter().zip(&places).filter_map(lonely));
        let too_few = |(group, place)| super::peers::too_few(&layout, place, group);
        found.extend(groups.iter().zip(&places).filter_map(too_few));
        found.extend(groups.iter().filter_map(asking_receivers));
        found.extend(mixed(&layout, groups));
        found.extend(clashing(groups));
        found.extend(too_many(&layout, groups));
    }
    found
}

/// A conflict if there are more flows than one simulation can hold.
fn too_many(layout: &Layout, groups: &[Group]) -> Option<Conflict> {
    let connections = |group: &Group| {
        let all = super::expected_connections(&group.keys, layout.expected_flows(group));
        let workload = &group.keys.workload;
        let lasting = workload.connection == ConnectionKind::Persistent;
        if lasting && workload.kind == WorkloadKind::Poisson {
            // At most one for each pair of hosts.
            let places = layout.everywhere(group);
            return all.min(count(places.senders.len()) * count(places.receivers.len()));
        }
        all
    };
    let all: f64 = groups.iter().map(connections).sum();
    let tokens = Tokens {
        ports: layout.ports(),
        ends: whole(2.0 * all),
        hosts: layout.all_hosts(),
    };
    let error = tokens.check().err()?;
    let most = |one: &&Group, other: &&Group| connections(one).total_cmp(&connections(other));
    let workload = &groups.iter().max_by(most)?.keys.workload;
    let factors: &[(u32, &[&str])] = match workload.kind {
        WorkloadKind::Incast | WorkloadKind::Pairs | WorkloadKind::Burst => &[
            (
                workload.senders.0,
                &["workload.senders", "workload.connection"],
            ),
            (
                workload.receivers.0,
                &["workload.receivers", "workload.connection"],
            ),
            (
                workload.rounds.0,
                &["workload.rounds", "workload.connection"],
            ),
            (
                workload.epochs.0,
                &["workload.epochs", "workload.connection"],
            ),
        ],
        WorkloadKind::Requests => &[
            (
                workload.connections.0,
                &["workload.connections", "workload.connection"],
            ),
            (
                workload.epochs.0,
                &["workload.epochs", "workload.connection"],
            ),
        ],
        WorkloadKind::Collective => &[
            (workload.ranks.0, &["workload.ranks", "workload.connection"]),
            (
                workload.rounds.0,
                &["workload.rounds", "workload.connection"],
            ),
            (
                workload.epochs.0,
                &["workload.epochs", "workload.connection"],
            ),
        ],
        WorkloadKind::Trace => &[(1, &["workload.trace"])],
        WorkloadKind::Poisson => &[(1, &["workload.flows", "workload.duration", "workload.load"])],
    };
    // The largest factor is the cause of the large number.
    let (_, keys) = factors.iter().max_by_key(|(factor, _)| *factor)?;
    Some(Conflict::new(
        keys,
        error.to_string(),
        "lower the number of flows, let some share a connection with workload.connection = \
                 \"persistent\", or simulate a shorter time",
    ))
}

/// A conflict if the scheme needs receivers that are not the asking hosts.
fn asking_receivers(group: &Group) -> Option<Conflict> {
    let (role, workload) = (group.receiver_role()?, &group.keys.workload);
    let asks = workload.kind == WorkloadKind::Requests
        || workload.kind == WorkloadKind::Trace && workload.trace.content().has_requests();
    asks.then(|| Conflict::new(&["workload.kind"], format!(
            "{} controls connections that senders open to a receiver, and here the receivers open them",
            role.name
        ), "choose another scheme, or repeat an incast with workload.rounds"))
}

/// A conflict if the load is a load of uplinks, but no flow uses uplinks.
fn without_uplinks(layout: &Layout, group: &Group) -> Option<Conflict> {
    let workload = &group.keys.workload;
    if workload.load_of != LoadOf::Uplinks || !takes_all(workload.kind) {
        return None;
    }
    if layout.uplinks_of_rack() == 0 {
        return Some(Conflict::new(
            &["workload.load_of", "topology.kind"],
            "there are no uplinks to load in this kind of network",
            "set workload.load_of = \"receivers\", or a topology of racks",
        ));
    }
    let places = layout.everywhere(group);
    let origins = Origins::of(layout, &places.senders);
    let mut receivers = places.receivers.iter();
    (!receivers.any(|host| origins.crossing_share(layout, *host) > 0.0)).then(|| {
        Conflict::new(
            &["workload.load_of", "workload.from", "workload.to"],
            "no flow leaves its rack, so none loads an uplink",
            "name hosts in several racks, or set workload.load_of = \"receivers\"",
        )
    })
}

/// A conflict if a flow to be traced does not exist.
fn untraceable(layout: &Layout, keys: &Keys, groups: &[Group]) -> Option<Conflict> {
    let TracedFlows::Numbers(numbers) = &keys.trace.flows else {
        return None;
    };
    let random = |group: &Group| group.keys.workload.kind == WorkloadKind::Poisson;
    let flows = layout.all_flows(groups);
    let last = *numbers.last().filter(|last| u64::from(**last) >= flows)?;
    (!groups.iter().any(random)).then(|| {
        Conflict::new(
            &["trace.flows", "workload.senders"],
            format!("there is no flow {last} among {flows} flows"),
            format!("flows are numbered from 0 to {}", flows - 1),
        )
    })
}

/// A conflict if a group names a host that the network does not have.
fn outside(layout: &Layout, group: &Group) -> Option<Conflict> {
    let workload = &group.keys.workload;
    let sides = [
        (&workload.from.0, &["workload.from", "topology.hosts"]),
        (&workload.to.0, &["workload.to", "topology.hosts"]),
    ];
    for (set, keys) in sides {
        for part in set.iter().flat_map(|set| &set.0) {
            let last = part.hosts.map_or(0, |(_, last)| last);
            if part.racks.1 >= layout.racks || last >= layout.hosts {
                return Some(Conflict::new(
                    keys,
                    format!(
                        "there is no host {last} in rack {}: the network has {} racks of {} hosts, numbered \
                         from 0",
                        part.racks.1, layout.racks, layout.hosts
                    ),
                    "name existing hosts, or enlarge the topology",
                ));
            }
        }
    }
    None
}

/// A conflict if a trace has no flow of the group, or has hosts that the network does not have.
fn outside_trace(layout: &Layout, group: &Group) -> Option<Conflict> {
    let workload = &group.keys.workload;
    if workload.kind != WorkloadKind::Trace {
        return None;
    }
    let trace = workload.trace.content();
    if trace.of(&group.name).next().is_none() {
        return Some(Conflict::new(
            &["workload.trace"],
            format!("the trace has no flow of the group {}", group.name),
            format!("its groups are {}", trace.groups().join(", ")),
        ));
    }
    let (last, hosts) = (trace.last_host(), layout.all_hosts());
    (u64::from(last) >= hosts).then(|| {
        Conflict::new(
            &["workload.trace", "topology.hosts"],
            format!(
                "the trace names host {last}, and the network has {hosts} hosts, numbered from 0"
            ),
            "enlarge the topology, or leave topology.hosts out",
        )
    })
}

/// A conflict if a flow of the group waits for a flow that no group has.
fn awaited_by_none(groups: &[Group], group: &Group) -> Option<Conflict> {
    let traced = |group: &Group| group.keys.workload.kind == WorkloadKind::Trace;
    if !traced(group) {
        return None;
    }
    let trace = group.keys.workload.trace.content();
    if !trace.has_waits() || trace.groups().is_empty() || group.name.is_empty() {
        return None;
    }
    let has = |other: &Group, row: u32| {
        let other_trace = other.keys.workload.trace.content();
        other_trace.fingerprint() == trace.fingerprint() && other_trace.has(&other.name, row)
    };
    let waits = trace
        .rows_of(&group.name)
        .filter_map(|(_, flow)| trace.wait(flow));
    let mut awaited = waits.flat_map(|wait| &wait.on).map(|(row, _)| *row);
    let lost = awaited.find(|row| {
        let mut others = groups.iter().filter(|other| traced(other));
        !others.any(|other| has(other, *row))
    })?;
    let of = trace.group_of(lost).unwrap_or_default();
    Some(Conflict::new(
        &["workload.trace"],
        format!(
            "flows of the group {} wait for flows of the group {of}, but the scenario has no such group",
            group.name
        ),
        format!("add a table [group.{of}] with the same workload.trace"),
    ))
}

/// A conflict if the flows need more hosts than there are.
fn crowded(layout: &Layout, groups: &[Group]) -> Option<Conflict> {
    for (group, place) in groups.iter().zip(layout.places(groups)) {
        let workload = &group.keys.workload;
        let (ranks, there) = (workload.ranks.0, place.senders.len());
        if workload.kind == WorkloadKind::Collective && there < ranks as usize {
            return Some(Conflict::new(
                &["workload.ranks", "workload.from", "topology.hosts"],
                format!("{ranks} ranks need a host each, and there are {there} hosts"),
                "lower workload.ranks, name more hosts with workload.from, or enlarge the topology",
            ));
        }
        let wanted = match &workload.from.0 {
            Some(_) => 1,
            None => senders_needed(group),
        };
        let receivers = match (&workload.to.0, workload.kind) {
            (None, WorkloadKind::Incast | WorkloadKind::Requests) => workload.receivers.0 as usize,
            (None, WorkloadKind::Pairs) => workload.senders.0 as usize,
            _ => 1,
        };
        let (senders, given) = (workload.senders.0, layout.hosts);
        let star = layout.kind == TopologyKind::Star;
        let place_of = if star {
            "and a receiver "
        } else {
            "on one side "
        };
        if place.senders.len() < wanted || place.receivers.len() < receivers {
            return Some(Conflict::new(
                &["workload.senders", "topology.hosts"],
                format!("{senders} senders {place_of}do not fit on {given} hosts"),
                match (layout.kind, needed(layout.kind, layout.racks, groups)) {
                    (TopologyKind::FatTree, _) => {
                        "raise topology.pods or lower workload.senders".into()
                    }
                    (TopologyKind::Graph, needed) => format!(
                        "set topology.hosts to at least {needed}, or lower workload.senders"
                    ),
                    (_, needed) => format!(
                        "set topology.hosts to \"auto\" or at least {needed}, or lower workload.senders"
                    ),
                },
            ));
        }
        let only_itself = |receiver: &HostId| place.senders.iter().all(|sender| sender == receiver);
        if let Some(receiver) = place.receivers.iter().find(|host| only_itself(host)) {
            return Some(Conflict::new(
                &["workload.from", "workload.to"],
                format!("host {} would send to itself alone", receiver.0),
                "name another sender or receiver",
            ));
        }
    }
    None
}

/// A conflict if one host has different receiver roles, or one role with different settings.
fn mixed(layout: &Layout, groups: &[Group]) -> Option<Conflict> {
    let roles: Vec<Option<&Scheme>> = groups.iter().map(Group::receiver_role).collect();
    let places = layout.places(groups);
    for (first, role) in roles.iter().enumerate() {
        for (second, other) in roles.iter().enumerate().skip(first + 1) {
            let (Some(role), Some(other)) = (role, other) else {
                continue;
            };
            let differs = differ((role, &groups[first]), (other, &groups[second]));
            let mut hosts = places[first].receivers.iter();
            let shared = hosts.find(|host| places[second].receivers.contains(host));
            if let Some(host) = shared.filter(|_| differs) {
                let (role, other, host) = (role.name, other.name, host.0);
                let message = if role == other {
                    format!(
                        "{role} would control the receiving host {host} with two sets of settings"
                    )
                } else {
                    format!("{role} and {other} would both control the receiving host {host}")
                };
                return Some(Conflict::new(
                    &["workload.to"],
                    message,
                    "give the groups receivers of their own with workload.to, or the same scheme \
                             and settings",
                ));
            }
        }
    }
    None
}

/// A conflict if two schemes have roles for the switches, which all groups share.
fn clashing(groups: &[Group]) -> Option<Conflict> {
    let in_switches = |group| Group::schemes_with(group, &[Role::Switch, Role::Queue]);
    let mut with = groups.iter().map(|group| (group, in_switches(group)));
    let (first, schemes) = with.find(|(_, schemes)| !schemes.is_empty())?;
    let mut others = with.filter(|(_, schemes)| !schemes.is_empty());
    others.find_map(|(group, others)| {
        let mut pairs = schemes.iter().zip(&others);
        let of_hosts = first.roles().of_hosts;
        let differ = |scheme: &Scheme, other: &Scheme| {
            let keys = scheme.keys.iter().map(|key| key.name);
            let mut shared = keys.filter(|key| !of_hosts.contains(key));
            scheme.name != other.name || shared.any(|key| first.texts[key] != group.texts[key])
        };
        let same = schemes.len() == others.len()
            && pairs.all(|(scheme, other)| !differ(scheme, other));
        (!same).then(|| Conflict::new(&["workload.kind"], format!(
                "{} and {} would both work in the switches, which all groups share",
                first.bundle, group.bundle
            ), "give only one of the groups such a scheme, or all of them the same with the same settings"))
    })
}

/// Conflicts of the settings of a group's schemes, with each other or with the switches.
fn misfits(keys: &Keys, group: &Group) -> Vec<Conflict> {
    let roles = group.roles();
    let bounds = [
        keys.switch.buffer.0.is_some(),
        keys.switch.pool != SharedPool::Off,
    ];
    let unbounded = bounds == [false; 2];
    let boundless = roles.shares_buffer.filter(|_| unbounded).map(|scheme| {
        Conflict::new(
            &["switch.buffer"],
            format!("{scheme} measures queues in shares of their buffer, and these have no bound"),
            format!("set switch.buffer, as in \"80pkt\", or leave {scheme} out"),
        )
    });
    let misfits = roles
        .misfits
        .into_iter()
        .map(|misfit| Conflict::new(misfit.keys, misfit.message, misfit.remedy));
    let pauses = keys.switch.pfc.classes().is_some();
    let takes_back = roles.low_priority.is_some() && pauses;
    let takes_back = takes_back.then(|| {
        Conflict::new(
            &["switch.pfc"],
            format!(
                "hosts of {} take waiting packets back from their ports, but switch.pfc pauses these ports",
                group.bundle
            ),
            format!("set switch.pfc = \"off\", or leave {} out", group.bundle),
        )
    });
    let own = boundless.into_iter().chain(takes_back);
    own.chain(misfits).collect()
}

/// Whether two groups follow different schemes, or the same scheme with different settings.
fn differ((scheme, group): (&Scheme, &Group), (other, with): (&Scheme, &Group)) -> bool {
    let mut keys = scheme.keys.iter().map(|key| key.name);
    scheme.name != other.name || keys.any(|key| group.texts[key] != with.texts[key])
}

/// A million hosts take gigabytes of memory; a larger number is a typing error.
const MAX_HOSTS: u64 = 1_100_000;
