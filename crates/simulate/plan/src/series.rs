//! The quantities that can be recorded over time, and the columns of `series.parquet`.

use base::Column;
use schemes::Derived;
use tcp::Gauge;

/// The columns that every series file has.
pub const FIXED: &[Column] = &[
    Column::new("point", "", "Number of the simulation in the run."),
    Column::new(
        "time_us",
        "us",
        "Simulated time. With trace.interval = \"auto\" a series of more changes than can be drawn has one value for each of equal periods: the largest of a queue, else the last; the time is the beginning of the period.",
    ),
    Column::new(
        "port",
        "",
        "Number of the port that the row is about, if any.",
    ),
    Column::new(
        "flow",
        "",
        "Number of the flow that the row is about, if any.",
    ),
    Column::new(
        "host",
        "",
        "Number of the host that the row is about, if any.",
    ),
    Column::new(
        "event",
        "",
        "What happened, if the row is an event: drop, mark, timeout, syn_timeout, fast_retransmit, start or completion.",
    ),
    Column::new(
        "cause",
        "",
        "Why the packet was dropped, if the event is a drop: its queue was full (port), the shared buffer (pool), the share of its queue in that (threshold) or the headroom of a paused class (headroom); the discipline of the queue or a random loss in front of it (discipline); or a fault: link_down, restart, host_gone, lossy, corrupt.",
    ),
];

/// Quantities of every simulation.
const BUILT_IN: &[Column] = &[
    Column::new(
        QUEUE,
        "bytes",
        "Length of a port's queue from this time on; the packet in service is excluded. Empty before the first row.",
    ),
    Column::new(
        CWND,
        "bytes",
        "Congestion window of a flow's sender from this time on.",
    ),
    Column::new(
        RWND,
        "bytes",
        "Window advertised to a flow's sender, as the sender knows it from this time on.",
    ),
    Column::new(
        THROUGHPUT,
        "bit/s",
        "Payload of a flow that arrived for the first time, per second, over the trace.window that begins at this time.",
    ),
    Column::new(
        CARRIED,
        "bit/s",
        "Packets that came out of the wire behind a port, headers included, per second, over the trace.window that begins at this time.",
    ),
    Column::new(MARKS, "packets", "Packets that a port has marked so far."),
    Column::new(DROPS, "packets", "Packets that a port has dropped so far."),
    Column::new(
        PAUSED,
        "priorities",
        "Priorities that the node behind a port's wire has paused there (switch.pfc), from this time on.",
    ),
];

/// Length of a queue.
pub const QUEUE: &str = "queue_bytes";
/// Congestion window.
pub const CWND: &str = "cwnd_bytes";
/// The window that the receiver, or a switch, grants.
pub const RWND: &str = "rwnd_bytes";
/// Throughput of a flow.
pub const THROUGHPUT: &str = "throughput_bps";
/// Throughput of a port.
pub const CARRIED: &str = "carried_bps";
/// Packets marked.
pub const MARKS: &str = "marks";
/// Packets dropped.
pub const DROPS: &str = "drops";
/// Priorities paused.
pub const PAUSED: &str = "paused";
/// Not a column of its own: it selects the rows whose column `event` is set.
pub const EVENTS: &str = "events";
/// Not a column either: it selects a file for the viewer of this name.
pub const PERFETTO: &str = "perfetto";

/// A quantity. A file has its column if the quantity was recorded.
#[derive(Clone, Debug)]
pub struct Traceable {
    /// The name of its column, with the unit at the end if it has one.
    pub name: &'static str,
    /// Its unit, or the things that it counts.
    pub unit: &'static str,
    /// Its meaning, for each scheme that has it.
    pub help: String,
}

impl Traceable {
    /// Whether every simulation has it, for all schemes.
    pub fn is_built_in(&self) -> bool {
        BUILT_IN.iter().any(|column| column.name == self.name)
    }
}

/// All quantities: first those of every simulation, then those that roles of schemes report.
pub fn all() -> &'static [Traceable] {
    static ALL: Derived<Vec<Traceable>> = Derived::new(|| {
        let built_in = BUILT_IN.iter().map(|column| Traceable {
            name: column.name,
            unit: column.unit,
            help: column.help.to_owned(),
        });
        let mut all: Vec<Traceable> = built_in.collect();
        for scheme in schemes::all() {
            for gauge in scheme.gauges {
                add(&mut all, scheme.name, gauge);
            }
        }
        all
    });
    ALL.get()
}

/// Schemes that report the same quantity share a column; its description lists the differences.
fn add(all: &mut Vec<Traceable>, scheme: &str, gauge: &Gauge) {
    let Some(earlier) = all.iter_mut().find(|other| other.name == gauge.name) else {
        return all.push(Traceable {
            name: gauge.name,
            unit: gauge.unit,
            help: format!("{} ({scheme})", gauge.help.trim_end_matches('.')),
        });
    };
    let own = gauge.help.trim_end_matches('.');
    earlier.help = match earlier.help.strip_suffix(')') {
        Some(help) if help.starts_with(own) => format!("{help}, {scheme})"),
        _ => format!("{}; {own} ({scheme})", earlier.help),
    };
}

/// The names of all quantities, in the order of their columns, "events" and "perfetto".
pub fn names() -> impl Iterator<Item = &'static str> {
    all()
        .iter()
        .map(|quantity| quantity.name)
        .chain([EVENTS, PERFETTO])
}

/// The words by which users ask for quantities.
pub fn words() -> impl Iterator<Item = &'static str> {
    names().map(word)
}

/// The quantity that a user calls `text`: the name of its column with or without the unit.
pub fn by_word(text: &str) -> Option<&'static str> {
    names().find(|name| *name == text || word(name) == text)
}

/// The word by which a user selects the quantity of this column.
pub fn word(name: &'static str) -> &'static str {
    let short = ["_bytes", "_bps", "_us"]
        .into_iter()
        .find_map(|unit| name.strip_suffix(unit));
    short.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_one_thing() {
        let mut names: Vec<_> = words().collect();
        names.extend(FIXED.iter().map(|column| column.name));
        names.extend(["auto", "off"]);
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn schemes_that_share_a_gauge_agree_on_its_unit() {
        for scheme in schemes::all() {
            for gauge in scheme.gauges {
                let quantity = all().iter().find(|quantity| quantity.name == gauge.name);
                assert_eq!(quantity.unwrap().unit, gauge.unit, "{}", gauge.name);
            }
        }
    }
}
