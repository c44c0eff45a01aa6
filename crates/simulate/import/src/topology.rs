//! Topology files of the HPCC simulator and its descendants: counts, the numbers of switches, and a line `A B RATE DELAY LOSS` for
//! each link.
//!
//! | first line | whose | dialect |
//! |---|---|---|
//! | `66 1 65`: nodes, switches, links | HPCC | rates as `100Gbps`, delays as `0.001ms` |
//! | `276 20 8 288`: nodes, switches, racks, links | `PowerTCP`, ABM | rates as `25000000000.0` in bit/s |
//! | `7 6 1 0 14 A800`: nodes, GPUs of a server, switches in servers, switches, links, GPU | `SimAI` | as HPCC |

use std::collections::{BTreeMap, BTreeSet};

use tables::flows::exact::Decimal;

use crate::network::{ImportedLink, ImportedNetwork};
use crate::words::{Word, Words};

/// The counts of the first line.
struct Counts {
    dialect: &'static str,
    nodes: u64,
    switches: u64,
    links: u64,
}

/// Whether a file with this first line may be one.
pub(crate) fn is_one(first: &str) -> bool {
    Counts::of(Words::of(1, first)).is_ok()
}

impl Counts {
    fn of(words: Words<'_>) -> Result<Self, String> {
        let words: Vec<Word<'_>> = words.collect();
        let whole = |place: usize| words[place].whole("a count");
        let counts = match words.len() {
            3 => Self {
                dialect: "a topology of the HPCC simulator (nodes, switches, links)",
                nodes: whole(0)?,
                switches: whole(1)?,
                links: whole(2)?,
            },
            4 => {
                whole(2)?;
                Self {
                    dialect: "a topology of the PowerTCP and ABM simulators (nodes, switches, racks, links; rates in bit/s)",
                    nodes: whole(0)?,
                    switches: whole(1)?,
                    links: whole(3)?,
                }
            }
            6 => {
                whole(1)?;
                Self {
                    dialect: "a topology of SimAI (nodes, GPUs of a server, switches in servers, switches, links, GPU)",
                    nodes: whole(0)?,
                    switches: whole(2)? + whole(3)?,
                    links: whole(4)?,
                }
            }
            _ => return Err("line 1, column 1: a topology begins with 3, 4 or 6 counts".to_owned()),
        };
        Ok(counts)
    }
}

pub(crate) fn read(text: &str) -> Result<ImportedNetwork, String> {
    let mut lines = (1_usize..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let (number, first) = lines.next().unwrap_or((1, ""));
    let counts = Counts::of(Words::of(number, first))?;
    let (number, list) = lines.next().unwrap_or((2, ""));
    let mut switches = BTreeSet::new();
    for word in Words::of(number, list) {
        let switch = word.whole("a switch")?;
        if switch >= counts.nodes || !switches.insert(switch) {
            return Err(word.wrong(format!(
                "the second line lists each switch once, by a number below {}, not {switch}",
                counts.nodes
            )));
        }
    }
    if switches.len() as u64 != counts.switches {
        return Err(format!(
            "line {number}, column 1: the first line announces {} switches, but this line lists {}",
            counts.switches,
            switches.len()
        ));
    }
    let mut links = Vec::new();
    let mut last = number;
    for (number, line) in lines {
        if links.len() as u64 == counts.links {
            break;
        }
        last = number;
        links.push(link(Words::of(number, line), counts.nodes)?);
    }
    if (links.len() as u64) < counts.links {
        return Err(format!(
            "line {last}, column 1: the first line announces {} links, but the file ends after {}",
            counts.links,
            links.len()
        ));
    }
    network(&counts, &switches, &links)
}

/// `A B RATE DELAY LOSS`.
fn link(mut words: Words<'_>, nodes: u64) -> Result<(Word<'_>, [u64; 2], ImportedLink), String> {
    let mut need = |what: &str| {
        words.need(&format!(
            "{what} (a link has two nodes, rate, delay and loss)"
        ))
    };
    let (a, b) = (need("the first node")?, need("the second node")?);
    let node = |word: Word<'_>| {
        let node = word.whole("a node")?;
        if node < nodes {
            Ok(node)
        } else {
            Err(word.wrong(format!(
                "there is no node {node}: the {nodes} nodes are numbered from 0"
            )))
        }
    };
    let ends = [node(a)?, node(b)?];
    if ends[0] == ends[1] {
        return Err(b.wrong("a link leads from a node to itself: correct one of its ends"));
    }
    let rate = need("the rate")?;
    let bps = with_unit(
        rate,
        &[
            ("Tbps", 1_000_000_000_000),
            ("Gbps", 1_000_000_000),
            ("Mbps", 1_000_000),
            ("Kbps", 1_000),
            ("bps", 1),
            ("", 1),
        ],
    );
    let bps = bps
        .and_then(|bps| u64::try_from(bps).ok())
        .filter(|bps| *bps > 0);
    let bps = bps.ok_or_else(|| {
        rate.wrong(format!(
            "a rate is a number with a unit, as in 100Gbps, or a number of bit/s, not {:?}",
            rate.text
        ))
    })?;
    let delay = need("the delay")?;
    let ps = with_unit(
        delay,
        &[
            ("ms", 1_000_000_000),
            ("us", 1_000_000),
            ("ns", 1_000),
            ("ps", 1),
            ("s", 1_000_000_000_000),
        ],
    );
    let ps = ps.ok_or_else(|| {
        delay.wrong(format!(
            "a delay is a number with a unit, as in 1us or 0.001ms, not {:?}",
            delay.text
        ))
    })?;
    let loss = need("the loss")?;
    let share = loss
        .text
        .parse::<f64>()
        .ok()
        .filter(|share| (0.0..1.0).contains(share));
    let share = share.ok_or_else(|| {
        loss.wrong(format!(
            "a loss is a share from 0 to below 1, not {:?}",
            loss.text
        ))
    })?;
    if share > 0.0 {
        return Err(loss.wrong(
            "the map of a network cannot have a link that loses packets: write 0, and set loss in a table [link.NAME] of \
             the scenario",
        ));
    }
    Ok((a, ends, ImportedLink { bps, ps }))
}

fn with_unit(word: Word<'_>, units: &[(&str, u64)]) -> Option<u128> {
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((word.text.strip_suffix(unit)?, *factor)))?;
    let number = Decimal::parse(number).filter(|number| !number.negative)?;
    Some(number.times(factor)?.0)
}

/// Assigns hosts to the switches at the other end of their single link.
fn network(
    counts: &Counts,
    switches: &BTreeSet<u64>,
    links: &[(Word<'_>, [u64; 2], ImportedLink)],
) -> Result<ImportedNetwork, String> {
    let mut racks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut edge: Option<ImportedLink> = None;
    let mut known = BTreeSet::new();
    for (word, [a, b], link) in links {
        let (host, switch) = match (switches.contains(a), switches.contains(b)) {
            (true, true) => continue,
            (false, true) => (*a, *b),
            (true, false) => (*b, *a),
            (false, false) => {
                return Err(word
                    .wrong("a link between two hosts is not possible: put a switch between them"));
            }
        };
        if !known.insert(host) {
            return Err(word.wrong(format!(
                "host {host} has a second link, but a host can have only one: remove one"
            )));
        }
        if *edge.get_or_insert(*link) != *link {
            return Err(word.wrong(
                "this link of a host differs from the one above in rate or delay: make them equal, and set the difference in a table \
                 [host.NUMBER] of the scenario",
            ));
        }
        racks.entry(switch).or_default().push(host);
    }
    let Some(edge) = edge else {
        return Err(
            "line 1, column 1: there is no host, because every node is a switch".to_owned(),
        );
    };
    // Racks come first, in the order of their hosts, so hosts with consecutive numbers keep them.
    let mut order: Vec<u64> = racks.keys().copied().collect();
    order.sort_by_key(|switch| racks[switch].iter().min().copied());
    order.extend(
        switches
            .iter()
            .copied()
            .filter(|switch| !racks.contains_key(switch)),
    );
    let place = |switch: &u64| {
        order
            .iter()
            .position(|other| other == switch)
            .expect("every switch is in order")
    };
    let between = links
        .iter()
        .filter(|(_, [a, b], _)| switches.contains(a) && switches.contains(b));
    let between = between
        .map(|(_, [a, b], link)| (place(a), place(b), *link))
        .collect();
    let hosts: Vec<Vec<u64>> = order
        .iter()
        .map(|switch| racks.get(switch).cloned().unwrap_or_default())
        .collect();
    ImportedNetwork::new(counts.dialect, edge, &hosts, between)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACKS: &str = "8 4 6\n4 5 6 7\n0 4 100Gbps 1us 0\n1 4 100Gbps 0.001ms 0\n2 5 100Gbps 1000ns 0.000\n3 5 100Gbps 1us 0\n\
                         4 6 400Gbps 2us 0\n5 7 400Gbps 2us 0\n\nsrc0 dst0 rate delay error_rate\n";

    #[test]
    fn every_dialect_is_recognised_and_named() {
        for (first, whose) in [
            ("8 4 6", "HPCC"),
            ("8 4 2 6", "PowerTCP"),
            ("8 2 2 2 6 A800", "SimAI"),
        ] {
            let network = read(&RACKS.replacen("8 4 6", first, 1)).unwrap();
            assert!(network.dialect.contains(whose), "{}", network.dialect);
            assert_eq!(
                (network.hosts, network.switches.len(), network.links.len()),
                (2, 4, 2)
            );
            assert_eq!(
                (network.edge.bps, network.edge.ps),
                (100_000_000_000, 1_000_000)
            );
            assert_eq!(
                network.links[1],
                (
                    1,
                    3,
                    ImportedLink {
                        bps: 400_000_000_000,
                        ps: 2_000_000
                    }
                )
            );
        }
        let bare = RACKS.replace("100Gbps", "25000000000.0");
        assert_eq!(read(&bare).unwrap().edge.bps, 25_000_000_000);
    }

    #[test]
    fn what_is_wrong_is_named_by_line_column_and_remedy() {
        for (from, to, cause) in [
            (
                "8 4 6",
                "8 x 6",
                "line 1, column 3: a count is a whole number",
            ),
            (
                "4 5 6 7",
                "4 5 6 9",
                "line 2, column 7: the second line lists each switch once",
            ),
            (
                "4 5 6 7",
                "4 5 6",
                "line 2, column 1: the first line announces 4 switches, but this line lists 3",
            ),
            (
                "0 4 100Gbps",
                "0 9 100Gbps",
                "line 3, column 3: there is no node 9: the 8 nodes",
            ),
            (
                "0 4 100Gbps",
                "0 1 100Gbps",
                "line 3, column 1: a link between two hosts",
            ),
            (
                "1 4 100Gbps",
                "0 4 100Gbps",
                "line 4, column 1: host 0 has a second link",
            ),
            (
                "0 4 100Gbps",
                "0 4 100Gb",
                "line 3, column 5: a rate is a number with a unit",
            ),
            (
                "1us 0\n1",
                "1 0\n1",
                "line 3, column 13: a delay is a number with a unit",
            ),
            (
                "1us 0\n1",
                "1us 0.1\n1",
                "line 3, column 17: the map of a network cannot have a link that loses packets",
            ),
            (
                "1us 0\n1",
                "1us\n1",
                "line 3, column 16: the loss (a link has two nodes",
            ),
            (
                "2 5 100Gbps",
                "2 5 10Gbps",
                "line 5, column 1: this link of a host differs",
            ),
            ("8 4 6", "8 4 7", "line 10, column 1"),
        ] {
            let error = read(&RACKS.replacen(from, to, 1)).unwrap_err();
            assert!(error.starts_with(cause), "{from} {to}: {error}");
        }
    }
}
