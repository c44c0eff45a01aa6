//! Turns a network of another program into a scenario: a map of its switches for `topology.kind = "graph"`, or one of
//! the named shapes.

use serde_json::{Value, json};

/// A network: switches and links. A switch has no hosts or as many as every other switch with hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedNetwork {
    /// The kind of the file, in words.
    pub dialect: &'static str,
    /// Number of hosts at each switch that has hosts.
    pub hosts: u32,
    /// The links of hosts.
    pub edge: ImportedLink,
    /// Whether each switch has hosts; the switches with hosts come first.
    pub switches: Vec<bool>,
    /// Links between switches, by the indices of the switches.
    pub links: Vec<(usize, usize, ImportedLink)>,
    /// The settings of the equal named shape, if there is one, for a scenario without a map.
    pub shape: Option<Vec<(&'static str, String)>>,
    /// Notes on it, a sentence each.
    pub notes: Vec<String>,
}

/// A link in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedLink {
    /// Bits per second.
    pub bps: u64,
    /// Delay one way in picoseconds.
    pub ps: u128,
}

impl ImportedLink {
    /// Its rate in the notation of scenarios.
    pub(crate) fn rate(self) -> String {
        for (unit, name) in [
            (1_000_000_000, "Gbps"),
            (1_000_000, "Mbps"),
            (1_000, "kbps"),
        ] {
            if self.bps.is_multiple_of(unit) {
                return format!("{}{name}", self.bps / unit);
            }
        }
        format!("{}bps", self.bps)
    }

    /// Its delay in the notation of scenarios.
    pub(crate) fn delay(self) -> String {
        for (unit, name) in [(1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")] {
            if self.ps.is_multiple_of(unit) {
                return format!("{}{name}", self.ps / unit);
            }
        }
        format!("{}ps", self.ps)
    }
}

impl ImportedNetwork {
    /// The network with these switches, each given with the numbers of its hosts. Switches with hosts come first.
    pub(crate) fn new(
        dialect: &'static str,
        edge: ImportedLink,
        racks: &[Vec<u64>],
        links: Vec<(usize, usize, ImportedLink)>,
    ) -> Result<Self, String> {
        let most = racks.iter().map(Vec::len).max().unwrap_or(0);
        let mut notes = Vec::new();
        let uneven = racks
            .iter()
            .any(|hosts| !hosts.is_empty() && hosts.len() != most);
        if uneven {
            notes.push(format!(
                "Switches in the file have different numbers of hosts; here each switch has {most}, and some hosts stay \
                 idle."
            ));
        }
        let place = |number: &u64, rack: usize, nth: usize| *number == (rack * most + nth) as u64;
        let all = racks.iter().enumerate();
        let mut all = all.flat_map(|(rack, hosts)| {
            hosts
                .iter()
                .enumerate()
                .map(move |(nth, number)| (number, rack, nth))
        });
        if all.all(|(number, rack, nth)| place(number, rack, nth)) {
            notes.push("Host numbers are the file's node numbers.".to_owned());
        } else {
            notes.push(
                "Hosts are numbered rack by rack, unlike in the file: a trace of its flows needs \
                 workload.host_names."
                    .to_owned(),
            );
        }
        if racks.iter().any(Vec::is_empty) {
            notes.push(
                "Every switch of a map has hosts; the hosts of switches above the racks stay idle."
                    .to_owned(),
            );
        }
        Ok(Self {
            dialect,
            hosts: u32::try_from(most)
                .map_err(|_| "line 1, column 1: more than 2^32 hosts".to_owned())?,
            edge,
            switches: racks.iter().map(|hosts| !hosts.is_empty()).collect(),
            links,
            shape: None,
            notes,
        })
    }

    /// The map of its switches as node-link JSON.
    pub fn map(&self) -> String {
        let nodes: Vec<Value> = self
            .switches
            .iter()
            .enumerate()
            .map(|(id, has_hosts)| {
                let layer = if *has_hosts { "leaf" } else { "spine" };
                json!({"id": id, "layer": layer})
            })
            .collect();
        let links: Vec<Value> = self.links.iter().map(|(a, b, link)| {
            json!({"source": a, "target": b, "capacity_bps": link.bps, "delay": link.delay()})
        }).collect();
        let map = json!({"directed": false, "multigraph": true, "nodes": nodes, "links": links});
        format!("{map:#}\n")
    }

    /// The settings of a scenario with this network; `map` is the name of the map's file.
    pub fn settings(&self, map: &str) -> Vec<(&'static str, String)> {
        let mut settings = self.shape.clone().unwrap_or_else(|| {
            vec![
                ("topology.kind", "graph".to_owned()),
                ("topology.graph", map.to_owned()),
                ("topology.hosts", self.hosts.to_string()),
            ]
        });
        settings.push(("link.rate", self.edge.rate()));
        settings.push(("link.delay", self.edge.delay()));
        settings
    }
}
