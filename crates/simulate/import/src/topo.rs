//! Topologies of htsim: `Nodes`, `Tiers`, `Podsize`, and the switches of each tier.
//!
//! A switch of tier 0 has `Radix_Down` hosts. Its `Radix_Up` links lead to switches of tier 1, `Bundle` links to each.
//! With three tiers, tier 1 is connected to tier 2, the core, in the same way. Half of a switch's latency is added to
//! each adjacent link, which gives the same total on every path.

use std::collections::BTreeMap;

use crate::network::{ImportedLink, ImportedNetwork};
use crate::words::{Word, Words};

/// Whether a file has these contents: a line `Tiers N` distinguishes it from a connection matrix.
pub(crate) fn is_one(text: &str) -> bool {
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    text.lines()
        .any(|line| first(line).as_deref() == Some("Tiers"))
        && text
            .lines()
            .any(|line| first(line).as_deref() == Some("Nodes"))
}

/// The settings of one tier, each with its position.
type Settings<'a> = BTreeMap<&'static str, (u64, Word<'a>)>;

/// The entries of a file.
#[derive(Default)]
struct Tiers<'a> {
    all: Settings<'a>,
    sections: Vec<Settings<'a>>,
    /// The last line.
    end: usize,
    queues: bool,
}

/// Switches and links of one tier.
#[derive(Clone, Copy, Debug)]
struct Tier {
    down: u64,
    up: u64,
    bundle: u64,
    link: ImportedLink,
    latency_ps: u128,
}

pub(crate) fn read(text: &str) -> Result<ImportedNetwork, String> {
    let said = Tiers::of(text)?;
    let nodes = said.need(&said.all, "Nodes")?;
    let count = said.need(&said.all, "Tiers")?;
    if count != said.sections.len() as u64 || !(2..=3).contains(&count) {
        let (_, word) = said.all["Tiers"];
        return Err(word.wrong(format!(
            "a topology has 2 or 3 tiers and a section for each, not {count} tiers and {} sections",
            said.sections.len()
        )));
    }
    let tiers = said.sections.iter().map(|settings| said.tier(settings));
    let tiers = tiers.collect::<Result<Vec<Tier>, String>>()?;
    let pod = match (count, said.all.get("Podsize")) {
        (3, _) => said.need(&said.all, "Podsize")?,
        (_, Some((size, word))) if *size != nodes => {
            return Err(word.wrong(format!(
                "with two tiers all {nodes} nodes form one pod: write {nodes}"
            )));
        }
        _ => nodes,
    };
    for (number, part, key) in [(nodes, pod, "Nodes"), (pod, tiers[0].down, "Radix_Down")] {
        if part == 0 || !number.is_multiple_of(part) {
            let word = said
                .all
                .get(key)
                .or(said.sections[0].get(key))
                .map(|(_, word)| word);
            let cause = format!(
                "{number} nodes cannot be cut into parts of {part}: correct Nodes, Podsize or Radix_Down"
            );
            return Err(word.map_or(cause.clone(), |word| word.wrong(cause)));
        }
    }
    let mut network = said.network(nodes, pod, &tiers)?;
    if said.queues {
        network
            .notes
            .push("Queue lengths are not imported: set switch.buffer.".to_owned());
    }
    Ok(network)
}

impl<'a> Tiers<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        let mut said = Self::default();
        for (number, line) in (1_usize..).zip(text.lines()) {
            said.end = number;
            let mut words = Words::of(number, line);
            let Some(key) = words.next().filter(|word| !word.text.starts_with('#')) else {
                continue;
            };
            let value = words.need(&format!("the value of {}", key.text))?;
            if key.text == "Tier" {
                let tier = value.whole("a tier")?;
                if tier != said.sections.len() as u64 {
                    return Err(value.wrong(format!(
                        "expected tier {} here, not {tier}",
                        said.sections.len()
                    )));
                }
                said.sections.push(Settings::new());
                continue;
            }
            let (known, settings) = match said.sections.last_mut() {
                None => (&OF_ALL[..], &mut said.all),
                Some(tier) => (&OF_TIERS[..], tier),
            };
            let Some(name) = known
                .iter()
                .find(|known| known.eq_ignore_ascii_case(key.text))
            else {
                return Err(key.wrong(format!(
                    "there is no setting {:?}; the settings are {}",
                    key.text,
                    known.join(", ")
                )));
            };
            said.queues |= name.starts_with("Queue");
            settings.insert(name, (value.whole(name)?, value));
        }
        Ok(said)
    }

    fn need(&self, settings: &Settings<'_>, key: &str) -> Result<u64, String> {
        let value = settings.get(key).map(|(value, _)| *value);
        value.ok_or_else(|| format!("line {}, column 1: the file ends without {key}", self.end))
    }

    fn tier(&self, settings: &Settings<'_>) -> Result<Tier, String> {
        let or = |key: &str, usual| settings.get(key).map_or(usual, |(value, _)| *value);
        let gbps = self.need(settings, "Downlink_speed_Gbps")?;
        let bundle = or("Bundle", 1);
        if bundle == 0 || gbps == 0 {
            let (_, word) = settings
                .get("Bundle")
                .filter(|_| bundle == 0)
                .unwrap_or(&settings["Downlink_speed_Gbps"]);
            return Err(word.wrong("expected a number above 0 here"));
        }
        Ok(Tier {
            down: self.need(settings, "Radix_Down")?,
            up: or("Radix_Up", 0),
            bundle,
            link: ImportedLink {
                bps: gbps.saturating_mul(1_000_000_000),
                ps: u128::from(or("Downlink_Latency_ns", 1_000)) * 1_000,
            },
            latency_ps: u128::from(or("Switch_Latency_ns", 0)) * 1_000,
        })
    }

    /// Fails if the downward links of a tier do not match the upward links of the tier below.
    fn check(&self, tier: usize, come: u64) -> Result<(), String> {
        let (down, word) = self.sections[tier]["Radix_Down"];
        if down == come {
            return Ok(());
        }
        Err(word.wrong(format!(
            "switches of tier {tier} have {down} links down, but {come} links come from below: correct Radix_Down, \
             Radix_Up, Bundle or Podsize"
        )))
    }

    fn network(&self, nodes: u64, pod: u64, tiers: &[Tier]) -> Result<ImportedNetwork, String> {
        let racks = pod / tiers[0].down;
        let pods = nodes / pod;
        let above = tiers[0].up / tiers[1].bundle;
        self.check(1, racks * tiers[1].bundle)?;
        let cores = match tiers.get(2) {
            None => 0,
            Some(core) => {
                self.check(2, pods * core.bundle)?;
                tiers[1].up / core.bundle
            }
        };
        let between = |lower: Tier, upper: Tier| ImportedLink {
            bps: upper.link.bps * upper.bundle,
            ps: upper.link.ps + u128::midpoint(lower.latency_ps, upper.latency_ps),
        };
        let place = |number: u64| usize::try_from(number).expect("a place");
        let all_racks = racks * pods;
        let mut links = Vec::new();
        for (pod, rack, one) in each(pods, racks, above) {
            let (leaf, spine) = (pod * racks + rack, all_racks + pod * above + one);
            links.push((place(leaf), place(spine), between(tiers[0], tiers[1])));
        }
        for (pod, one, core) in each(pods, above, cores) {
            let (spine, core) = (
                all_racks + pod * above + one,
                all_racks + pods * above + one * cores + core,
            );
            links.push((place(spine), place(core), between(tiers[1], tiers[2])));
        }
        let switches = all_racks + pods * above + above * cores;
        let hosts = |rack: u64| {
            let first = rack * tiers[0].down;
            if rack < all_racks {
                (first..first + tiers[0].down).collect()
            } else {
                Vec::new()
            }
        };
        let edge = ImportedLink {
            bps: tiers[0].link.bps,
            ps: tiers[0].link.ps + tiers[0].latency_ps / 2,
        };
        let hosts: Vec<Vec<u64>> = (0..switches).map(hosts).collect();
        let mut network = ImportedNetwork::new("a topology of htsim (.topo)", edge, &hosts, links)?;
        network.shape = shape((all_racks, above, pods), tiers, between);
        if network.shape.is_some() {
            network
                .notes
                .retain(|note| !note.starts_with("Every switch"));
        }
        Ok(network)
    }
}

/// The named shape of the same network: a leaf-spine for two tiers, or a fat tree if all switches have equally many
/// links.
fn shape(
    (racks, above, pods): (u64, u64, u64),
    tiers: &[Tier],
    between: impl Fn(Tier, Tier) -> ImportedLink,
) -> Option<Vec<(&'static str, String)>> {
    let link = between(tiers[0], tiers[1]);
    let mut settings = if let Some(core) = tiers.get(2) {
        let half = tiers[0].down;
        let same = [tiers[0].up, tiers[1].down, tiers[1].up]
            .iter()
            .all(|radix| *radix == half);
        let single = tiers[1].bundle == 1 && core.bundle == 1 && pods == 2 * half;
        if !same || !single || between(tiers[1], *core) != link {
            return None;
        }
        vec![
            ("topology.kind", "fat-tree".to_owned()),
            ("topology.pods", pods.to_string()),
        ]
    } else {
        vec![
            ("topology.kind", "leaf-spine".to_owned()),
            ("topology.racks", racks.to_string()),
            ("topology.spines", above.to_string()),
            ("topology.hosts", tiers[0].down.to_string()),
        ]
    };
    settings.push(("bottleneck.rate", link.rate()));
    settings.push(("bottleneck.delay", link.delay()));
    Some(settings)
}

/// All combinations of three numbers below these.
fn each(a: u64, b: u64, c: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    (0..a).flat_map(move |a| (0..b).flat_map(move |b| (0..c).map(move |c| (a, b, c))))
}

const OF_ALL: [&str; 3] = ["Nodes", "Tiers", "Podsize"];
const OF_TIERS: [&str; 9] = [
    "Downlink_speed_Gbps",
    "Radix_Down",
    "Radix_Up",
    "Bundle",
    "Oversubscribed",
    "Downlink_Latency_ns",
    "Switch_Latency_ns",
    "Queue_Down",
    "Queue_Up",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "# made up\nNodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\n\
                       Downlink_Latency_ns 1000\nSwitch_Latency_ns 200\nOversubscribed 4\n\nTier 1\nDownlink_speed_Gbps 400\n\
                       Radix_Down 4\nDownlink_Latency_ns 2000\nSwitch_Latency_ns 600\n";
    const THREE: &str = "Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n\
                         Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\nBundle 1\n\
                         Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\n";

    #[test]
    fn two_tiers_are_a_leaf_spine_network() {
        let network = read(TWO).unwrap();
        let settings: Vec<String> = network
            .settings("")
            .into_iter()
            .map(|(key, text)| format!("{key}={text}"))
            .collect();
        let expected = "topology.kind=leaf-spine topology.racks=4 topology.spines=2 topology.hosts=8 bottleneck.rate=400Gbps \
                        bottleneck.delay=2400ns link.rate=100Gbps link.delay=1100ns";
        assert_eq!(settings.join(" "), expected);
    }

    #[test]
    fn three_tiers_are_a_fat_tree_or_a_map() {
        let network = read(THREE).unwrap();
        // Two pods of two racks, with two switches above them. Each of these has two links to each of two core
        // switches.
        assert_eq!(
            (
                network.switches.len(),
                network.links.len(),
                network.shape.clone()
            ),
            (12, 16, None)
        );
        let core = network
            .links
            .iter()
            .filter(|(a, ..)| *a == 4)
            .map(|(_, b, link)| (*b, link.bps));
        assert_eq!(
            core.collect::<Vec<_>>(),
            [(8, 200_000_000_000), (9, 200_000_000_000)]
        );
        let fat = THREE
            .replace("Nodes 8", "Nodes 16")
            .replace("Radix_Up 4", "Radix_Up 2")
            .replace("Bundle 2", "Bundle 1");
        let fat = fat.replace("Gbps 100", "Gbps 200");
        let shape = read(&fat).unwrap().shape.unwrap();
        assert_eq!(
            shape[..2],
            [
                ("topology.kind", "fat-tree".to_owned()),
                ("topology.pods", "4".to_owned())
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_named_by_line_column_and_remedy() {
        for (from, to, cause) in [
            (
                "Nodes 32",
                "Nodes x",
                "line 2, column 7: Nodes is a whole number",
            ),
            (
                "Nodes 32",
                "Nodes",
                "line 2, column 6: the value of Nodes is missing",
            ),
            (
                "Podsize 32",
                "Podsize 16",
                "line 4, column 9: with two tiers all 32 nodes form one pod",
            ),
            (
                "Tiers 2",
                "Tiers 3",
                "line 3, column 7: a topology has 2 or 3 tiers",
            ),
            (
                "Radix_Down 8",
                "Radix_Down 9",
                "line 8, column 12: 32 nodes cannot be cut into parts of 9",
            ),
            (
                "Radix_Down 4",
                "Radix_Down 5",
                "line 16, column 12: switches of tier 1 have 5 links down, but 4 links come",
            ),
            (
                "Radix_Up 2",
                "Radix_Sideways 2",
                "line 9, column 1: there is no setting \"Radix_Sideways\"",
            ),
            (
                "Tier 1",
                "Tier 2",
                "line 14, column 6: expected tier 1 here",
            ),
            (
                "Downlink_speed_Gbps 400\n",
                "",
                "line 17, column 1: the file ends without Downlink_speed_Gbps",
            ),
        ] {
            let error = read(&TWO.replacen(from, to, 1)).unwrap_err();
            assert!(error.starts_with(cause), "{from}: {error}");
        }
    }
}
