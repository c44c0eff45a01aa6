//! Chakra execution traces, as ASTRA-sim reads them: a file for each rank, with length-prefixed Protocol Buffers
//! messages.
//!
//! The first message has the version, each further one is a node: a computation, a `send`, a `recv`, or a collective
//! among all ranks, with the nodes that must be done before. The k-th collective of every rank is the same one. The
//! format does not give the messages of a collective, so the usual algorithm of [`plan::collective::CollectiveRun`] is
//! used.
//!
//! The messages are declared here by hand for `prost`, the usual decoder of Rust programs, so that no schema compiler
//! is needed to build the program. Fields without meaning for flows are left out; Protocol Buffers skip them.

use std::collections::{BTreeMap, VecDeque};

use plan::collective::{self, Collective, CollectiveRun};
use prost::Message;

use crate::hosts::{HostIndex, Hosts};
use crate::moments::{BEGINNING, Moments, behind, join};
use crate::{FileKind, Imported, ImportedFlow};

/// Whether a file begins with a short message with a version, such as `0.0.4`.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let message = Metadata::decode_length_delimited(&mut rest);
    let is_version = |version: &str| {
        version.contains('.') && version.split('.').all(|part| part.parse::<u32>().is_ok())
    };
    message.is_ok_and(|message| is_version(&message.version))
}

#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(string, tag = "1")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, optional, tag = "7")]
    int32: Option<i32>,
    #[prost(int64, optional, tag = "9")]
    int64: Option<i64>,
    #[prost(uint32, optional, tag = "11")]
    uint32: Option<u32>,
    #[prost(uint64, optional, tag = "13")]
    uint64: Option<u64>,
    #[prost(string, optional, tag = "29")]
    text: Option<String>,
}

/// Something that ranks do.
struct Operation {
    what: OperationKind,
    /// The participating ranks, each with the operations that it waits for.
    ranks: Vec<(u32, Vec<usize>)>,
    place: String,
}

enum OperationKind {
    /// Picoseconds.
    Work(u128),
    Send {
        to: u32,
        bytes: u64,
    },
    /// The place of the `send`.
    Recv,
    Collective(CollectiveRun),
}

/// A message from the view of one rank: the other rank, the tag and the size.
type Letter = (u32, u64, u64);

/// The flows from the files of all ranks, each given with its name.
pub(crate) fn read(files: &[(String, Vec<u8>)]) -> Result<Imported, String> {
    let count = u32::try_from(files.len()).map_err(|_| "more than 2^32 ranks".to_owned())?;
    let mut nodes: Vec<Vec<(String, Node)>> = Vec::new();
    for (name, bytes) in files {
        nodes.push(decoded(name, bytes)?);
    }
    let operations = operations(&nodes, count)?;
    let order = order(&operations)?;
    let mut hosts = Hosts::default();
    let all: Vec<HostIndex> = (0..count)
        .map(|rank| hosts.host(&rank.to_string()))
        .collect();
    let mut flows = Vec::new();
    // The end of each operation, by rank.
    let mut ends: BTreeMap<(usize, u32), Moments> = BTreeMap::new();
    for place in order {
        let operation = &operations[place];
        let begins: BTreeMap<u32, Moments> = (operation.ranks.iter())
            .map(|(rank, before)| {
                let mut begin = Moments::new();
                for before in before {
                    let own = ends.get(&(*before, *rank));
                    let sent = operations[*before].ranks[0].0;
                    let end = own.or_else(|| ends.get(&(*before, sent)));
                    join(&mut begin, end.expect("it is done before"));
                }
                (*rank, begin)
            })
            .collect();
        let done = done(operation, &begins, (&mut flows, &all));
        ends.extend(done.into_iter().map(|(rank, end)| ((place, rank), end)));
    }
    let collectives = operations
        .iter()
        .filter(|one| matches!(one.what, OperationKind::Collective(_)));
    let collectives = collectives.count();
    Ok(Imported {
        kind: FileKind::Chakra,
        read: nodes.iter().map(|nodes| nodes.len() as u64).sum(),
        what: "nodes",
        flows,
        hosts: hosts.into_names(),
        dated: false,
        skipped: Vec::new(),
        notes: vec![
            format!("Read the files of {count} ranks; host numbers are rank numbers."),
            format!(
                "{collectives} collectives are done by the usual algorithm, an all-reduce in a ring; workload.kind = \"collective\" has \
                 others."
            ),
        ],
    })
}

/// The nodes of a file, each with its position.
fn decoded(name: &str, bytes: &[u8]) -> Result<Vec<(String, Node)>, String> {
    let mut rest = bytes;
    let wrong = |rest: &[u8], number: usize| {
        let at = bytes.len() - rest.len();
        format!(
            "{name}, byte {at}, message {number}: it is damaged or ends too soon: write the trace anew, or check that it was copied \
             as a binary file"
        )
    };
    Metadata::decode_length_delimited(&mut rest).map_err(|_| wrong(bytes, 0))?;
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        let (begin, number) = (rest, nodes.len() + 1);
        let node = Node::decode_length_delimited(&mut rest).map_err(|_| wrong(begin, number))?;
        let at = bytes.len() - begin.len();
        let place = format!("{name}, byte {at}, node {} {:?}", node.id, node.name);
        nodes.push((place, node));
    }
    Ok(nodes)
}

impl Node {
    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
    }

    /// A whole number that is not negative.
    fn number(&self, place: &str, name: &str) -> Result<u64, String> {
        let value = self.attribute(name).and_then(|attribute| {
            let signed = attribute.int64.or(attribute.int32.map(i64::from));
            let unsigned = attribute.uint64.or(attribute.uint32.map(u64::from));
            unsigned.or(signed.and_then(|value| u64::try_from(value).ok()))
        });
        value.ok_or_else(|| {
            format!("{place}: the attribute {name} is missing or negative: add it as an integer")
        })
    }
}

/// All operations of all ranks, with their dependencies.
fn operations(nodes: &[Vec<(String, Node)>], count: u32) -> Result<Vec<Operation>, String> {
    let mut draft = Draft::default();
    for (rank, nodes) in (0_u32..).zip(nodes) {
        let mut own = Own::default();
        for (place, node) in nodes {
            draft.add((rank, count), &mut own, (place, node))?;
        }
        draft.wait(rank, &own, nodes)?;
    }
    draft.receive()?;
    for operation in &draft.operations {
        let ranks = operation.ranks.len();
        if matches!(operation.what, OperationKind::Collective(_)) && ranks != count as usize {
            return Err(format!(
                "{}: {ranks} of {count} ranks have this collective: groups of processes are not read; all ranks must take part",
                operation.place
            ));
        }
    }
    Ok(draft.operations)
}

/// The nodes of all ranks read so far.
#[derive(Default)]
struct Draft {
    operations: Vec<Operation>,
    /// The collectives in order, which is the same for all ranks.
    collectives: Vec<usize>,
    /// Messages not received yet, by their senders.
    sends: BTreeMap<(u32, Letter), VecDeque<usize>>,
    /// The receives: operation, receiving rank, and message.
    recvs: Vec<(usize, u32, Letter)>,
}

/// The nodes of one rank read so far.
#[derive(Default)]
struct Own {
    /// The operations of its nodes, in order and by id.
    order: Vec<usize>,
    by_id: BTreeMap<u64, usize>,
    collectives: usize,
}

impl Draft {
    /// Adds a node of a rank, found at `place`.
    fn add(
        &mut self,
        (rank, count): (u32, u32),
        own: &mut Own,
        (place, node): (&str, &Node),
    ) -> Result<(), String> {
        let new = self.operations.len();
        let what = what(place, node, count)?;
        let at = match &what {
            OperationKind::Collective(_) => {
                own.collectives += 1;
                let known = self.collectives.get(own.collectives - 1).copied();
                known.unwrap_or_else(|| {
                    self.collectives.push(new);
                    new
                })
            }
            OperationKind::Send { to, bytes } => {
                let letter = (*to, tag(node), *bytes);
                self.sends.entry((rank, letter)).or_default().push_back(new);
                new
            }
            OperationKind::Recv => {
                let from = rank_of(place, node, "comm_src", count)?;
                let letter = (rank, tag(node), node.number(place, "comm_size")?);
                self.recvs.push((new, from, letter));
                new
            }
            OperationKind::Work(_) => new,
        };
        if at == new {
            self.operations.push(Operation {
                what,
                ranks: Vec::new(),
                place: place.to_owned(),
            });
        } else if !same(&self.operations[at].what, &what) {
            return Err(format!(
                "{place}: collective {} of this rank is another one than that of rank 0 ({}): the ranks must agree",
                own.collectives, self.operations[at].place
            ));
        }
        self.operations[at].ranks.push((rank, Vec::new()));
        own.order.push(at);
        if own.by_id.insert(node.id, at).is_some() {
            return Err(format!(
                "{place}: another node has this id: ids of a rank differ"
            ));
        }
        Ok(())
    }

    /// Adds the dependencies of a rank's nodes, which may refer to later nodes.
    fn wait(&mut self, rank: u32, own: &Own, nodes: &[(String, Node)]) -> Result<(), String> {
        for (at, (place, node)) in own.order.iter().zip(nodes) {
            let ranks = &mut self.operations[*at].ranks;
            let part = ranks.iter_mut().find(|(part, _)| *part == rank);
            let (_, waits) = part.expect("it takes part");
            for id in node.ctrl_deps.iter().chain(&node.data_deps) {
                let before = own.by_id.get(id).copied();
                waits.push(before.ok_or_else(|| {
                    format!("{place}: it waits for node {id}, and the file has no such node")
                })?);
            }
        }
        Ok(())
    }

    /// Matches each `recv` with the next fitting message.
    fn receive(&mut self) -> Result<(), String> {
        for (recv, from, letter) in &self.recvs {
            let sends = self.sends.get_mut(&(*from, *letter));
            let Some(send) = sends.and_then(VecDeque::pop_front) else {
                return Err(format!(
                    "{}: rank {from} sends no message of {} bytes with this tag: add its COMM_SEND_NODE",
                    self.operations[*recv].place, letter.2
                ));
            };
            self.operations[*recv].ranks[0].1.push(send);
        }
        Ok(())
    }
}

fn tag(node: &Node) -> u64 {
    node.number("", "comm_tag").unwrap_or(0)
}

fn rank_of(place: &str, node: &Node, name: &str, count: u32) -> Result<u32, String> {
    let rank = node.number(place, name)?;
    let known = u32::try_from(rank).ok().filter(|rank| *rank < count);
    known.ok_or_else(|| {
        format!("{place}: {name} is {rank}, and the files are of {count} ranks, numbered from 0")
    })
}

fn what(place: &str, node: &Node, count: u32) -> Result<OperationKind, String> {
    match node.kind {
        METADATA => Ok(OperationKind::Work(0)),
        COMPUTATION | LOAD | STORE => Ok(OperationKind::Work(
            u128::from(node.duration_micros) * 1_000_000,
        )),
        SEND => Ok(OperationKind::Send {
            to: rank_of(place, node, "comm_dst", count)?,
            bytes: node.number(place, "comm_size")?,
        }),
        RECV => Ok(OperationKind::Recv),
        COLLECTIVE => shape(place, node, count).map(OperationKind::Collective),
        other => Err(format!(
            "{place}: there is no type {other} of nodes: 1 to 7 are metadata, load, store, computation, send, recv and collective"
        )),
    }
}

fn shape(place: &str, node: &Node, ranks: u32) -> Result<CollectiveRun, String> {
    let kind = match node.number(place, "comm_type")? {
        0 => Collective::AllReduce,
        2 => Collective::AllGather,
        5 => Collective::Broadcast,
        6 => Collective::AllToAll,
        7 | 8 => Collective::ReduceScatter,
        other => {
            return Err(format!(
                "{place}: the collective {other} (comm_type) is not simulated; all-reduce (0), all-gather (2), broadcast (5), all-to-all \
                 (6) and reduce-scatter (7) are"
            ));
        }
    };
    let (_, algorithm) = collective::ALL
        .into_iter()
        .find(|(known, _)| *known == kind)
        .expect("each has one");
    let shape = CollectiveRun {
        collective: kind,
        algorithm,
        ranks,
        bytes: node.number(place, "comm_size")?,
        segments: 1,
    };
    match shape.refusal() {
        None => Ok(shape),
        Some((cause, _)) => Err(format!(
            "{place}: {cause}: correct comm_size, or add the files of the other ranks"
        )),
    }
}

fn same(one: &OperationKind, other: &OperationKind) -> bool {
    matches!((one, other), (OperationKind::Collective(one), OperationKind::Collective(other)) if one == other)
}

/// An order in which each operation comes after those that it waits for.
fn order(operations: &[Operation]) -> Result<Vec<usize>, String> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); operations.len()];
    let mut needs = vec![0_usize; operations.len()];
    for (place, operation) in operations.iter().enumerate() {
        for before in operation.ranks.iter().flat_map(|(_, before)| before) {
            followers[*before].push(place);
            needs[place] += 1;
        }
    }
    let mut order: Vec<usize> = (0..operations.len())
        .filter(|place| needs[*place] == 0)
        .collect();
    let mut next = 0;
    while let Some(done) = order.get(next).copied() {
        next += 1;
        for follower in &followers[done] {
            needs[*follower] -= 1;
            if needs[*follower] == 0 {
                order.push(*follower);
            }
        }
    }
    match needs.iter().position(|needs| *needs > 0) {
        None => Ok(order),
        Some(stuck) => Err(format!(
            "{}: it never starts, for what it waits for waits for it: take one of the dependencies out",
            operations[stuck].place
        )),
    }
}

/// Adds the flows of an operation that begins at these moments at each rank; returns its end at each rank.
fn done(
    operation: &Operation,
    begins: &BTreeMap<u32, Moments>,
    (flows, all): (&mut Vec<ImportedFlow>, &[HostIndex]),
) -> Vec<(u32, Moments)> {
    let (rank, begin) = begins.first_key_value().expect("a rank takes part");
    let number =
        |flows: &Vec<ImportedFlow>| u32::try_from(flows.len()).expect("fewer than 2^32 flows");
    match &operation.what {
        OperationKind::Work(ps) => {
            let mut end = begin.clone();
            if end.is_empty() {
                end.insert(BEGINNING, 0);
            }
            for since in end.values_mut() {
                *since += ps;
            }
            vec![(*rank, end)]
        }
        OperationKind::Send { to, bytes } => {
            let place = number(flows);
            let flow = ImportedFlow::new((all[*rank as usize], all[*to as usize]), *bytes);
            flows.push(behind(&mut begin.clone(), flow, 0));
            vec![(*rank, Moments::from([(place, 0)]))]
        }
        OperationKind::Recv => vec![(*rank, begin.clone())],
        OperationKind::Collective(shape) => {
            let first = number(flows);
            let mut ends = begins.clone();
            for message in shape.messages() {
                let place = number(flows);
                let mut begin = begins[&message.from].clone();
                for before in &message.after {
                    begin.entry(first + before).or_default();
                }
                let flow = ImportedFlow::new(
                    (all[message.from as usize], all[message.to as usize]),
                    message.bytes,
                );
                flows.push(behind(&mut begin, flow, 0));
                for rank in [message.from, message.to] {
                    ends.get_mut(&rank).expect("it takes part").insert(place, 0);
                }
            }
            ends.into_iter().collect()
        }
    }
}

/// Types of nodes.
const METADATA: i32 = 1;
const LOAD: i32 = 2;
const STORE: i32 = 3;
const COMPUTATION: i32 = 4;
const SEND: i32 = 5;
const RECV: i32 = 6;
const COLLECTIVE: i32 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(nodes: &[Node]) -> Vec<u8> {
        let version = Metadata {
            version: "0.0.4".to_owned(),
        };
        let mut bytes = version.encode_length_delimited_to_vec();
        for node in nodes {
            bytes.extend(node.encode_length_delimited_to_vec());
        }
        bytes
    }

    fn node(id: u64, kind: i32, numbers: &[(&str, i64)], before: &[u64]) -> Node {
        let attribute = |(name, value): &(&str, i64)| Attribute {
            name: (*name).to_owned(),
            int64: Some(*value),
            ..Attribute::default()
        };
        Node {
            id,
            name: "made up".to_owned(),
            kind,
            data_deps: before.to_vec(),
            duration_micros: if kind == COMPUTATION { 5 } else { 0 },
            attributes: numbers.iter().map(attribute).collect(),
            ..Node::default()
        }
    }

    fn files(ranks: &[Vec<Node>]) -> Vec<(String, Vec<u8>)> {
        let named = ranks.iter().enumerate();
        named
            .map(|(rank, nodes)| (format!("a.{rank}.et"), file(nodes)))
            .collect()
    }

    #[test]
    fn nodes_become_flows_behind_what_their_rank_did() {
        let reduce = |id, before: &[u64]| {
            node(
                id,
                COLLECTIVE,
                &[("comm_type", 0), ("comm_size", 1000)],
                before,
            )
        };
        let ranks = files(&[
            vec![
                reduce(1, &[]),
                node(2, COMPUTATION, &[], &[1]),
                node(
                    3,
                    SEND,
                    &[("comm_dst", 1), ("comm_size", 70), ("comm_tag", 4)],
                    &[2],
                ),
            ],
            vec![
                node(9, COMPUTATION, &[], &[]),
                reduce(1, &[9]),
                node(
                    4,
                    RECV,
                    &[("comm_src", 0), ("comm_size", 70), ("comm_tag", 4)],
                    &[1],
                ),
                node(5, SEND, &[("comm_dst", 0), ("comm_size", 80)], &[4]),
            ],
        ]);
        assert!(is_one(&ranks[0].1));
        let imported = read(&ranks).unwrap();
        // Two steps of two ranks with half each, and then the message there and back.
        let sizes: Vec<u64> = imported.flows.iter().map(|flow| flow.size).collect();
        assert_eq!(sizes, [500, 500, 500, 500, 70, 80]);
        // Rank 1 works for 5 us before it takes part.
        assert_eq!(
            (imported.flows[0].start, imported.flows[1].start),
            (0, 5_000_000)
        );
        let wait = |flow: usize| {
            imported.flows[flow]
                .wait
                .as_ref()
                .map(|wait| wait.on.clone())
        };
        assert_eq!(wait(0), None);
        let after: Vec<(u32, u128)> = (0..4).map(|flow| (flow, 5_000_000)).collect();
        assert_eq!(wait(4), Some(after));
        assert_eq!(wait(5).map(|on| on.last().copied()), Some(Some((4, 0))));
    }

    #[test]
    fn what_is_wrong_is_named_by_file_byte_and_remedy() {
        let reduce = |id, size, before: &[u64]| {
            node(
                id,
                COLLECTIVE,
                &[("comm_type", 0), ("comm_size", size)],
                before,
            )
        };
        let good = || vec![reduce(1, 1000, &[])];
        for (second, cause) in [
            (
                vec![reduce(1, 900, &[])],
                "a.1.et, byte 8, node 1 \"made up\": collective 1 of this rank is another one",
            ),
            (
                vec![],
                "a.0.et, byte 8, node 1 \"made up\": 1 of 2 ranks have this collective",
            ),
            (
                vec![reduce(1, 1000, &[7])],
                "a.1.et, byte 8, node 1 \"made up\": it waits for node 7",
            ),
            (
                vec![reduce(1, 1000, &[1])],
                "a.0.et, byte 8, node 1 \"made up\": it never starts",
            ),
            (
                vec![node(1, COLLECTIVE, &[("comm_type", 3)], &[])],
                "a.1.et, byte 8, node 1 \"made up\": the collective 3",
            ),
            (
                vec![node(1, 8, &[], &[])],
                "a.1.et, byte 8, node 1 \"made up\": there is no type 8",
            ),
            (
                vec![node(1, SEND, &[("comm_dst", 2)], &[])],
                "a.1.et, byte 8, node 1 \"made up\": comm_dst is 2",
            ),
            (
                vec![node(1, RECV, &[("comm_src", 0), ("comm_size", 5)], &[])],
                "a.1.et, byte 8, node 1 \"made up\": rank 0 sends no",
            ),
        ] {
            let error = read(&files(&[good(), second])).unwrap_err();
            assert!(error.starts_with(cause), "{error}");
        }
        let mut cut = files(&[good(), good()]);
        cut[1].1.pop();
        assert!(
            read(&cut)
                .unwrap_err()
                .starts_with("a.1.et, byte 8, message 1: it is damaged")
        );
    }
}
