//! The same scenario for the simulator, with the measured network.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

use base::Span;
use plan::PointSpec;
use plan::keys::{self, WorkloadKind};
use scenario::{Overrides, Problems, Scenario, Source};
use schemes::linux::sets_priority;

use crate::lan::Speed;
use crate::stack::Stack;
use crate::testbed::{Testbed, settings::span_text};

/// The measured network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    pub(crate) speed: Speed,
    pub(crate) rtt_us: f64,
    /// Links between a sender and a receiver.
    pub(crate) links: u32,
    /// The longest time by which packets leave a full port late, if it was measured.
    pub(crate) lateness_us: Option<f64>,
    /// The time within which flows started late, in the median run.
    pub(crate) spread_us: f64,
}

/// The source of a twin: a point as it ran on Linux.
#[derive(Clone, Copy)]
pub(crate) struct Original<'a> {
    pub(crate) point: &'a PointSpec,
    pub(crate) stack: &'a Stack,
    pub(crate) bed: &'a Testbed,
    pub(crate) found: &'a Calibration,
}

/// Traces that a twin replays, by the names of their files in a folder.
#[derive(Clone, Copy)]
pub(crate) struct Traces<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) names: &'a [String],
}

/// The twin that replays each of these traces. Without traces, one with `seeds` seeds, beginning with its point's seed,
/// if anything is random.
pub(crate) fn of(
    original: Original<'_>,
    traces: Traces<'_>,
    seeds: NonZeroU32,
) -> Result<Scenario, Problems> {
    let replays = !traces.names.is_empty();
    let load = |seeds| load(original, traces, settings(original, replays), seeds);
    let twin = load(if replays { NonZeroU32::MIN } else { seeds })?;
    if twin.is_random() || replays {
        Ok(twin)
    } else {
        load(NonZeroU32::MIN)
    }
}

/// The twin that replays the trace `name` in `folder` without losses, to its end.
pub(crate) fn without_losses(
    original: Original<'_>,
    folder: &Path,
    name: &str,
) -> Result<Scenario, Problems> {
    let mut sets = settings(original, true);
    for key in ["switch.buffer", "run.duration"] {
        let own = format!("{key}=");
        sets.retain(|set| !set.starts_with(&own));
        sets.push(own + "unlimited");
    }
    let names = &[name.to_owned()];
    load(original, Traces { folder, names }, sets, NonZeroU32::MIN)
}

/// A twin with these settings and seeds.
fn load(
    original: Original<'_>,
    traces: Traces<'_>,
    sets: Vec<String>,
    seeds: NonZeroU32,
) -> Result<Scenario, Problems> {
    let Original { point, stack, .. } = original;
    let Traces { folder, names } = traces;
    let overrides = Overrides {
        sets,
        seed: Some(point.seed),
        seeds: Some(seeds),
        ..Overrides::default()
    };
    let mut text = format!("name = \"twin\"\nschemes = [\"{}\"]\n", stack.bundle);
    text += &groups(point, stack);
    if !names.is_empty() {
        writeln!(text, "workload.trace = {names:?}").expect("a string takes everything");
    }
    let name = folder.join("twin").display().to_string();
    Scenario::load(Source::new(name, text), &overrides)
}

/// A twin as the text of a scenario in `folder`, where its traces are, too.
pub(crate) fn text(twin: &Scenario, folder: &Path) -> String {
    let own = format!("\"{}/", folder.display());
    twin.resolved().replace(&own, "\"")
}

/// The settings of a twin; `replays` says whether it replays traces.
fn settings(original: Original<'_>, replays: bool) -> Vec<String> {
    let Original { point, stack, .. } = original;
    let mut own = own(original);
    own.extend(stack.twin.clone());
    if replays {
        own.retain(|(key, _)| keys::group(key) != "workload");
        own.push(("workload.kind", "trace".to_owned()));
    }
    let follows = point.keys.tcp.profile != keys::Profile::Paper || point.keys.tcp.timestamps;
    let is_part = |group: &str| stack.bundle.split('+').any(|part| part == group);
    let is_different = |key: &str| stack.different.iter().any(|row| row.key == key);
    let mut all: Vec<String> = own
        .iter()
        .map(|(key, text)| format!("{key}={text}"))
        .collect();
    for key in keys::all_keys() {
        let group = keys::group(key.name);
        let told = replays && group == "workload" && !OF_TRACES.contains(&key.name);
        let concerns = (GROUPS.contains(&group) || is_part(group)) && !told;
        let text = point.text(key.name);
        let changed = own.iter().any(|(own, _)| *own == key.name);
        // The default of a setting in a profile is no default with that profile.
        let given = text != key.default || follows && keys::profile::sets(key.name);
        if concerns && !changed && !is_different(key.name) && given {
            all.push(format!("{}={text}", key.name));
        }
    }
    all
}

/// The groups of flows of `point`, as in the scenario.
fn groups(point: &PointSpec, stack: &Stack) -> String {
    let mut text = String::new();
    let named = point.groups.iter().filter(|group| !group.name.is_empty());
    for group in named {
        writeln!(text, "[group.{}]", group.name).expect("a string takes everything");
        let own = keys::all_keys().iter().filter(|key| {
            let of_workload = keys::group(key.name) == "workload";
            let of_bands = sets_priority(key.name) && !stack.tos.is_empty();
            (of_workload || of_bands) && group.texts[key.name] != *key.default
        });
        for key in own {
            let value = &group.texts[key.name];
            writeln!(text, "{} = {value:?}", key.name).expect("a string takes everything");
        }
    }
    text
}

/// Whether all flows of `point` start at once, without groups: only then do drops depend on the order of starts.
pub(crate) fn is_incast(point: &PointSpec) -> bool {
    let mut all = point.groups.iter();
    all.all(|group| group.name.is_empty() && group.keys.workload.kind == WorkloadKind::Incast)
}

/// The settings of the twin that differ from the scenario.
fn own(original: Original<'_>) -> Vec<(&'static str, String)> {
    let Original {
        point, bed, found, ..
    } = original;
    let keys = &point.keys;
    let rate = |bps: u64| format!("{}bps", found.speed.of(bps));
    let mut own = bed.twin.clone();
    own.push(("link.rate", rate(keys.link.rate.as_bps())));
    let down = keys.link.down_rate.0;
    own.extend(down.map(|down| ("link.down_rate", rate(down.as_bps()))));
    let middle = keys.bottleneck.rate.0;
    own.extend(middle.map(|middle| ("bottleneck.rate", rate(middle.as_bps()))));
    // Every link has the same share of the round trip.
    let delay = found.rtt_us / f64::from(2 * found.links.max(1));
    own.push(("link.delay", span_text(Span::from_secs_f64(delay * 1e-6))));
    own.push(("bottleneck.delay", "auto".to_owned()));
    // One core starts flows one after another. This spreads flows that start at once in the scenario, and drops depend
    // strongly on it.
    let late = Span::from_secs_f64(found.spread_us * 1e-6);
    if is_incast(point) && keys.workload.jitter < late {
        own.push(("workload.jitter", span_text(late)));
    }
    if let Some(late) = found.lateness_us {
        let late = span_text(Span::from_secs_f64(late * 1e-6));
        own.push(("switch.burst_lateness", late.clone()));
        own.push(("host.burst_lateness", late));
    }
    let bytes = |bytes: u64| format!("{bytes}B");
    let bucket = found.speed.burst * bed.packet_bytes();
    own.push(("switch.burst", bytes(bucket.into())));
    own.push(("host.burst", bytes(bucket.into())));
    if keys.switch.buffer.0.is_some() {
        own.push(("switch.buffer", bytes(bed.switch_limit.into())));
    }
    let mark = bed.mark_from.map_or_else(|| "off".to_owned(), bytes);
    own.push(("switch.ecn_threshold", mark));
    own
}

/// Groups of settings that belong to no scheme, without the trace.
const GROUPS: [&str; 9] = [
    "topology",
    "link",
    "bottleneck",
    "switch",
    "host",
    "net",
    "tcp",
    "workload",
    "run",
];

/// Settings of a workload that a trace does not contain.
const OF_TRACES: [&str; 3] = ["workload.start", "workload.connection", "workload.deadline"];

#[cfg(test)]
mod tests {
    use super::*;

    fn no_traces() -> Traces<'static> {
        Traces {
            folder: Path::new(""),
            names: &[],
        }
    }

    #[test]
    fn a_twin_has_the_network_that_was_found() {
        let scenario = Scenario::builtin("incast");
        let point = &scenario.points()[0];
        let bed = Testbed::of(point).unwrap();
        let speed = Speed {
            real: 200_000_000,
            planned: 1_000_000_000,
            burst: 2,
        };
        let found = Calibration {
            speed,
            rtt_us: 60.0,
            links: 2,
            lateness_us: Some(24.0),
            spread_us: 0.0,
        };
        let stack = Stack::of(point, &bed, &["reno".to_owned()]).unwrap();
        let seeds = NonZeroU32::new(5).unwrap();
        let original = Original {
            point,
            stack: &stack,
            bed: &bed,
            found: &found,
        };
        let twin = of(original, no_traces(), seeds).unwrap();
        assert_eq!(
            twin.points().len(),
            5,
            "packets of hosts are late by chance"
        );
        let starts = twin.points()[0].keys.workload.jitter;
        assert_eq!(starts, Span::ZERO, "and starts are not");
        let late = Calibration {
            spread_us: 250.0,
            ..found
        };
        let late = Original {
            found: &late,
            ..original
        };
        let twin_of_late = of(late, no_traces(), seeds).unwrap();
        assert_eq!(twin_of_late.points().len(), 5, "starts are random");
        let jitter = twin_of_late.points()[0].keys.workload.jitter;
        assert_eq!(jitter, Span::from_micros(250));
        let keys = &twin.points()[0].keys;
        assert_eq!(keys.link.rate.as_bps(), 200_000_000);
        assert_eq!(keys.link.delay, Span::from_micros(15));
        assert_eq!(keys.packet_bytes(), 1514);
        assert_eq!(twin.points()[0].text("switch.buffer"), "121120B");
        assert_eq!(twin.points()[0].text("switch.burst"), "3028B");
        assert_eq!(twin.points()[0].text("host.burst"), "3028B");
        assert_eq!(keys.switch.burst_lateness, Span::from_micros(24));
        assert_eq!(keys.host.burst_lateness, Span::from_micros(24));
        assert_eq!(twin.points()[0].text("tcp.min_rto"), "10ms");
        assert_eq!(twin.points()[0].text("tcp.initial_rto"), "1s");
        assert_eq!(twin.points()[0].text("workload.senders"), "10");
        let again = Scenario::load(Source::new("again", twin.resolved()), &Overrides::default());
        assert_eq!(again.unwrap().points()[0].texts, twin.points()[0].texts);
    }

    #[test]
    fn a_twin_has_the_groups_of_the_scenario() {
        let text = "schemes = [\"qos\"]\nrun.duration = \"1s\"\ngroup.mice.qos.priority = 0\n[group.mice.workload]\nkind = \"requests\"\n\
            connection = \"persistent\"\nrequests = 3\nstart = \"10ms\"\n[group.elephants.workload]\nkind = \"incast\"\n\
            size = \"unlimited\"\n";
        let scenario = Scenario::load(Source::new("groups", text), &Overrides::default()).unwrap();
        let point = &scenario.points()[0];
        let bed = Testbed::of(point).unwrap();
        let stack = Stack::of(point, &bed, &["cubic".to_owned()]).unwrap();
        let found = Calibration {
            speed: Speed {
                real: 100_000_000,
                planned: 1_000_000_000,
                burst: 1,
            },
            rtt_us: 40.0,
            links: 2,
            lateness_us: None,
            spread_us: 100.0,
        };
        let original = Original {
            point,
            stack: &stack,
            bed: &bed,
            found: &found,
        };
        let twin = of(original, no_traces(), NonZeroU32::MIN).unwrap();
        let twin = &twin.points()[0];
        assert_eq!(twin.groups.len(), point.groups.len());
        for (own, twin) in point.groups.iter().zip(twin.groups.iter()) {
            assert_eq!(own.name, twin.name);
            for key in keys::all_keys() {
                if keys::group(key.name) == "workload" || key.name == "qos.priority" {
                    assert_eq!(&own.texts[key.name], &twin.texts[key.name], "{}", key.name);
                }
            }
        }
    }
}
