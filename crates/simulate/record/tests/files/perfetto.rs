//! A trace for Perfetto counts what the results count, and its arrows lead from drops to retransmissions.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use prost::Message as _;
use record::perfetto::Perfetto;
use record::perfetto::format::{PerfettoTrace, TrackDescriptor, TrackEvent, TrackEventType};
use record::trace::TracePlan;
use sim::metrics::Outcome;
use sim::run;

use crate::support::points;

/// A simulation with the tracks of its trace by number, and its events with their times.
struct Traced {
    outcome: Outcome,
    tracks: BTreeMap<u64, TrackDescriptor>,
    events: Vec<(u64, TrackEvent)>,
}

impl Traced {
    fn named(&self, name: &str) -> Vec<&(u64, TrackEvent)> {
        let events = self.events.iter();
        events
            .filter(|(_, event)| event.name.as_deref() == Some(name))
            .collect()
    }

    fn count(&self, name: &str) -> u64 {
        self.named(name).len() as u64
    }
}

fn traced(name: &str, scheme: &str, sets: &[&str]) -> Traced {
    let sets: Vec<&str> = sets
        .iter()
        .copied()
        .chain(["trace.series=perfetto"])
        .collect();
    let point = points("incast", scheme, &sets).remove(0);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pftrace"));
    let plan = TracePlan::of(&point).expect("something is traced");
    assert!(plan.has_perfetto(), "the word asks for it");
    let file = File::create(&path).expect("a file begins");
    let mut perfetto = Perfetto::new(&plan, &point, file);
    let outcome = run::observe(&point, &mut perfetto).expect("a conserving run");
    perfetto.finish().expect("a file ends");
    let bytes = fs::read(&path).expect("a file is there");
    let trace = PerfettoTrace::decode(bytes.as_slice()).expect("a trace");
    let mut traced = Traced {
        outcome,
        tracks: BTreeMap::new(),
        events: Vec::new(),
    };
    for packet in trace.packet {
        if let Some(track) = packet.track_descriptor {
            let number = track.uuid.expect("a track has a number");
            assert!(
                traced.tracks.insert(number, track).is_none(),
                "described once"
            );
        }
        if let Some(event) = packet.track_event {
            let track = event.track_uuid.expect("an event has a track");
            assert!(
                traced.tracks.contains_key(&track),
                "described before its first event"
            );
            traced
                .events
                .push((packet.timestamp.expect("a time"), event));
        }
    }
    traced
}

#[test]
fn a_trace_counts_what_the_results_count() {
    for (name, scheme, sets) in [
        ("perfetto-newreno", "newreno", &["workload.senders=60"][..]),
        ("perfetto-dctcp", "dctcp", &["workload.senders=20"][..]),
        (
            "perfetto-linux",
            "newreno",
            &["workload.senders=40", "tcp.profile=linux"][..],
        ),
    ] {
        let traced = traced(name, scheme, sets);
        let metrics = &traced.outcome.metrics;
        assert!(
            metrics.drops > 0,
            "{name}: nothing is proved without a drop"
        );
        for (event, count) in [
            ("drop", metrics.drops),
            ("mark", metrics.marks),
            ("timeout", metrics.timeouts),
            ("SYN timeout", metrics.syn_timeouts),
            ("tail probe", metrics.tail_probes),
            ("retransmission", metrics.retransmissions),
            ("transfer", metrics.flows_completed),
        ] {
            assert_eq!(traced.count(event), count, "{name}: {event}");
        }
    }
}

#[test]
fn each_arrow_leads_from_a_drop_to_what_was_sent_again_later() {
    let traced = traced("perfetto-arrows", "newreno", &["workload.senders=60"]);
    let mut begins = BTreeMap::new();
    for (time, drop) in traced.named("drop") {
        let mut named = drop.debug_annotations.iter();
        let cause = named.find(|value| value.name.as_deref() == Some("cause"));
        let cause = cause.and_then(|cause| cause.string_value.as_deref());
        assert_eq!(cause, Some("port"));
        for arrow in &drop.flow_ids {
            assert!(
                begins.insert(*arrow, *time).is_none(),
                "an arrow begins once"
            );
        }
    }
    let mut ended = 0;
    for (time, event) in &traced.events {
        for arrow in &event.terminating_flow_ids {
            let begun = begins.remove(arrow).expect("an arrow ends once, and began");
            assert!(begun < *time, "sent again after the drop");
            ended += 1;
        }
    }
    // Every flow completes, so every segment was sent again.
    assert!(
        ended > 100 && begins.is_empty(),
        "{ended} arrows end, {} do not",
        begins.len()
    );
}

#[test]
fn parts_of_a_flow_end_after_they_begin_and_queues_empty() {
    let traced = traced("perfetto-parts", "newreno", &["workload.senders=60"]);
    let (mut open, mut levels) = (BTreeMap::<u64, u32>::new(), BTreeMap::new());
    for (_, event) in &traced.events {
        let track = event.track_uuid.unwrap_or(0);
        let open = open.entry(track).or_default();
        match event.kind {
            Some(kind) if kind == TrackEventType::Begin as i32 => *open += 1,
            Some(kind) if kind == TrackEventType::End as i32 => {
                *open = open.checked_sub(1).expect("what ends has begun");
            }
            Some(kind) if kind == TrackEventType::Counter as i32 => {
                levels.insert(track, event.counter_value);
            }
            _ => {}
        }
    }
    assert!(open.values().all(|open| *open == 0), "what begins ends");
    let queues = traced
        .tracks
        .iter()
        .filter(|(_, track)| track.name.as_deref() == Some("queue"));
    let last: Vec<_> = queues.map(|(number, _)| levels[number]).collect();
    assert_eq!(last, [Some(0)], "the bottleneck's queue, empty in the end");
}
