//! Selects metrics of a simulation by the words of a user.

mod columns;

use base::Column;

use crate::{Group, PointSpec, suggest, workload};
pub use columns::METRICS;

/// A metric of all flows, or of the flows of a group or class: `fct_p99`, `reads.fct_p99`, `<=100KB.fct_p99`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// The name of the group or class; `None`: all flows.
    pub of: Option<String>,
    /// The name of the metric, with its unit.
    pub metric: &'static str,
}

/// The cause and the remedy for a text that is no selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The error, as one sentence without a full stop.
    pub cause: String,
    /// The remedy.
    pub remedy: String,
}

impl Selector {
    /// Reads `[GROUP.]METRIC`.
    pub fn parse(text: &str) -> Result<Self, Unknown> {
        let text = text.trim();
        // The name of a class may contain a dot, the name of a metric never does.
        let (of, word) = match text.rsplit_once('.') {
            Some((of, word)) => (Some(of.trim()), word.trim()),
            None => (None, text),
        };
        let Some(column) = by_word(word) else {
            return Err(Unknown {
                cause: format!("there is no metric {word:?}"),
                remedy: format!(
                    "{}`tailwater explain results` lists all metrics",
                    suggest::did_you_mean(word, METRICS.iter().map(|column| short(column.name)))
                ),
            });
        };
        if let Some(of) = of
            && is_of_network(column.name)
        {
            return Err(Unknown {
                cause: format!("{} is a metric of the network", short(column.name)),
                remedy: format!(
                    "all flows share the network: leave {of:?} out, or name a metric of flows, as in \
                     {of}.fct_p99"
                ),
            });
        }
        Ok(Self {
            of: of.map(str::to_owned),
            metric: column.name,
        })
    }

    /// Fails if one of these simulations lacks the group or class, or a metric of rounds has no rounds.
    pub fn check(&self, points: &[PointSpec]) -> Result<(), Unknown> {
        self.check_group(points)?;
        if !is_of_rounds(self.metric) {
            return Ok(());
        }
        let named = |group: &&Group| self.of.as_deref().is_none_or(|of| of == &*group.name);
        let mut groups = points.iter().flat_map(|point| point.groups.iter());
        if groups.any(|group| named(&group) && workload::has_rounds(&group.keys)) {
            return Ok(());
        }
        let flows = match &self.of {
            Some(of) => format!("the flows of {of:?}"),
            None => "the flows of this scenario".to_owned(),
        };
        Err(Unknown {
            cause: format!("{} is about rounds, and {flows} have none", short(self.metric)),
            remedy: "workloads with rounds are \"incast\", \"burst\" with workload.delay = \"0s\", \"requests\" with \
                     workload.rounds above 1, \"collective\", and \"trace\" with a column round; a group of flows may have \
                     rounds, a class of sizes has none; for single flows, ask for fct_p99"
                .to_owned(),
        })
    }

    fn check_group(&self, points: &[PointSpec]) -> Result<(), Unknown> {
        let Some(of) = &self.of else { return Ok(()) };
        let Some(lacking) = points.iter().find(|point| !names(point).contains(of)) else {
            return Ok(());
        };
        let names = names(lacking);
        let remedy = if names.is_empty() {
            "groups are tables [group.NAME] of the scenario, and run.classes = \"100KB\" makes the \
             classes <=100KB and >100KB"
                .to_owned()
        } else {
            let nearest = suggest::did_you_mean(of, names.iter().map(String::as_str));
            format!("{nearest}the groups and classes are: {}", names.join(", "))
        };
        Err(Unknown {
            cause: format!("there is no group or class {of:?} in this scenario"),
            remedy,
        })
    }

    /// The meaning of the metric.
    ///
    /// # Panics
    /// Never: a selector names a metric that exists.
    pub fn column(&self) -> &'static Column {
        by_word(self.metric).expect("a selector names a metric that exists")
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(of) = &self.of {
            write!(f, "{of}.")?;
        }
        f.write_str(short(self.metric))
    }
}

/// The metric that a user calls `word`: the name of its column with or without the unit, or, for completion times, only
/// the statistic, as in `p99`.
pub fn by_word(word: &str) -> Option<&'static Column> {
    let called = |column: &&Column| {
        let name = short(column.name);
        column.name == word || name == word || name.strip_prefix("fct_") == Some(word)
    };
    METRICS.iter().find(called)
}

/// The name of a metric without the unit at its end.
pub fn short(name: &str) -> &str {
    let units = ["_us", "_bps", "_bytes"];
    let short = units.iter().find_map(|unit| name.strip_suffix(unit));
    short.unwrap_or(name)
}

/// Whether a metric describes the network, which all flows share, so that groups do not have it.
pub fn is_of_network(name: &str) -> bool {
    let of_queues = ["queue_", "pool_", "pfc_", "drops"];
    // Victims of pauses are counted by connection, so groups have this metric.
    (name != "pfc_victims" && of_queues.iter().any(|start| name.starts_with(start)))
        || ["marks", "threshold_crossings"].contains(&name)
}

/// Whether a metric describes rounds of flows. Size classes do not have it.
pub fn is_of_rounds(name: &str) -> bool {
    name.starts_with("round")
}

/// Whether a metric describes shared buffers or pauses. Networks without them do not have it.
pub fn is_of_shared_buffers(name: &str) -> bool {
    let others = [
        "drops_pool",
        "drops_threshold",
        "drops_headroom",
        "pool_max_bytes",
    ];
    name.starts_with("pfc_") || others.contains(&name)
}

/// Whether a metric describes faults. Networks without faults do not have it.
pub fn is_of_faults(name: &str) -> bool {
    [
        "drops_link_down",
        "drops_restart",
        "drops_host_gone",
        "drops_lossy",
        "drops_corrupt",
        "flows_host_gone",
        "flows_gave_up",
    ]
    .contains(&name)
}

/// The groups and classes in the results of `point`.
fn names(point: &PointSpec) -> Vec<String> {
    let groups = point
        .groups
        .iter()
        .map(|group: &Group| group.name.to_string());
    let groups = groups.filter(|name| !name.is_empty());
    let classes = point.keys.run.classes.all(u64::from(point.keys.tcp.mss.0));
    let classes = classes.into_iter().map(|(name, ..)| name);
    groups.chain(classes).collect()
}
