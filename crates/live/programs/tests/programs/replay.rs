//! What a law did in the kernel, it does again outside of it: the same text, the same arguments, the same windows.

use std::thread;
use std::time::Duration;

use laws::{Idle, Loadable};
use libbpf_rs::{MapCore, MapFlags};
use programs::{Port, Reason};

use crate::bed::Bed;
use crate::frame::flags;
use crate::live::{INTERVAL, SENDERS, SIZE, attached, hscc, rwndq};
use crate::loaded;

#[test]
fn hscc_replays_what_it_did_in_the_kernel_bit_by_bit() {
    until_enough(hscc_replays);
}

/// How often the law was called, switched and lowered a window.
fn hscc_replays() -> Option<Result<(), String>> {
    let law = hscc();
    let seen = recorded(&law.loadable(), HSCC, 8)?;
    let (mut replayed, mut switched, mut lowered) = (law, 0, 0);
    for (number, event) in seen.events.iter().enumerate() {
        if event.kind == LEVEL {
            let was = replayed.is_on();
            replayed.on_level(event.backlog.into());
            switched += usize::from(replayed.is_on() != was);
        } else {
            let window = replayed.window(flags(event.flags), event.advertised, event.scale);
            assert_eq!(window, event.window, "call {number}: {event:?}");
            assert_eq!(event.verdict, verdict(event, window), "{event:?}");
            lowered += usize::from(window < event.advertised);
        }
    }
    assert_eq!(replayed.to_memory(), seen.memory, "the state in the end");
    let calls = seen.events.len();
    let is_enough = calls > 5_000 && switched > 10 && lowered > 500;
    let told = format!("{calls} calls, {switched} switches, {lowered} lower windows");
    Some(is_enough.then_some(()).ok_or(told))
}

/// Records and replays until the law had much to do, which depends on what else the machine does: at most three times.
fn until_enough(mut replays: impl FnMut() -> Option<Result<(), String>>) {
    let mut all = Vec::new();
    while let Some(Err(told)) = replays() {
        all.push(told);
        assert!(all.len() < 3, "a walk in the park: {all:?}");
    }
}

#[test]
fn rwndq_replays_what_it_did_in_the_kernel_bit_by_bit() {
    until_enough(|| rwndq_replays(&Idle::new(0)));
}

#[test]
fn rwndq_replays_which_connections_were_idle() {
    until_enough(|| rwndq_replays(&Idle::new(30_000_000)));
}

fn rwndq_replays(idle: &Idle) -> Option<Result<(), String>> {
    let (law, may_be_idle) = (rwndq(), idle.is_on());
    let seen = recorded(&law.loadable(INTERVAL, idle), RWNDQ, 24)?;
    let (mut replayed, mut lowered) = (law, 0);
    let (mut opened, mut closed, mut idle) = (0, 0, 0);
    let mut windows = Vec::new();
    for (number, event) in seen.events.iter().enumerate() {
        match (event.kind, event.flow_case) {
            (DATA, _) => replayed.on_packet(event.size),
            (SAMPLES, _) => {
                (0..event.samples).for_each(|_| replayed.on_sample(event.backlog.into()));
            }
            (FLOW, OPENS) => {
                replayed.on_open();
                opened += 1;
            }
            (FLOW, CLOSES) => {
                replayed.on_close();
                closed += 1;
            }
            (IDLE, _) if event.samples > 0 => {
                replayed.on_idle(event.samples);
                idle += event.samples as usize;
            }
            _ => {}
        }
        if event.kind != ACKNOWLEDGEMENT {
            continue;
        }
        let window = replayed.window(event.advertised, event.scale);
        assert_eq!(window, event.window, "call {number}: {event:?}");
        assert_eq!(event.verdict, verdict(event, window), "{event:?}");
        lowered += usize::from(window < event.advertised);
        windows.push(window);
    }
    let memory = replayed.to_memory();
    assert_eq!(memory, seen.memory[..memory.len()], "the state in the end");
    check_samples(&seen.events);
    windows.sort_unstable();
    windows.dedup();
    let (calls, all) = (seen.events.len(), SENDERS + FLOWS + SILENT);
    let are_all = if may_be_idle {
        // The silent ones are idle, and others that waited for a timer and came back; all others are active in the end.
        let counted = opened >= closed + idle;
        assert!(counted, "{opened} counted, {closed} closed, {idle} idle");
        idle >= SILENT && opened >= all && opened - closed - idle <= FLOWS
    } else {
        // Once for the incast, and once for the others, which close after the law has gone.
        assert_eq!(idle, 0);
        (opened, closed) == (all, SENDERS)
    };
    let is_enough = are_all && calls > 5_000 && lowered > 500 && windows.len() > 10;
    let told = format!(
        "{calls} calls, {lowered} lower windows, {} windows; {opened} connections opened, {closed} closed, {idle} idle",
        windows.len()
    );
    Some(is_enough.then_some(()).ok_or(told))
}

/// A sample is taken for each interval that has passed since the first flow came, eight with a packet, and two
/// hundred after a pause.
fn check_samples(events: &[Event]) {
    let interval = u64::try_from(INTERVAL.as_nanos()).expect("a short interval");
    let (mut sampled, mut flows) = (0, 0_u32);
    for event in events {
        match (event.kind, event.flow_case) {
            (FLOW, OPENS) => {
                if flows == 0 {
                    sampled = event.now - event.now % interval;
                }
                flows += 1;
            }
            (FLOW, CLOSES) => flows -= 1,
            (IDLE, _) => flows -= event.samples,
            _ => {}
        }
        if event.kind != SAMPLES {
            continue;
        }
        assert!(flows > 0, "a port without flows samples nothing: {event:?}");
        let due = event.now.saturating_sub(sampled) / interval;
        if due > 200 {
            sampled = event.now - 200 * interval;
        }
        assert_eq!(u64::from(event.samples), due.min(8), "{event:?}");
        sampled += due.min(8) * interval;
    }
}

/// What becomes of an ACK with such a window.
fn verdict(event: &Event, window: u16) -> u8 {
    let lowers = window > 0 && window < event.advertised;
    (if lowers {
        Reason::Rewritten
    } else {
        Reason::Law
    }) as u8
}

/// What a law was called with in a live run, in the order of its calls, and how its port ended up.
struct Seen {
    events: Vec<Event>,
    /// Settings and state.
    memory: Vec<u8>,
}

/// `struct event` of `bpf/record.h`.
#[derive(Debug)]
struct Event {
    now: u64,
    backlog: u32,
    size: u32,
    samples: u32,
    flow_case: u32,
    advertised: u16,
    window: u16,
    flags: u8,
    scale: u8,
    kind: u8,
    verdict: u8,
}

/// A round of incast, and long flows for a second, past a law that writes down what it does. Its settings begin in the
/// memory of the port `behind` this many bytes.
fn recorded(law: &Loadable, object: &[u8], behind: usize) -> Option<Seen> {
    let bed = Bed::new()?;
    let port = loaded(Port::load_as(law, object, 65_536))?;
    let attached = attached(&bed, &port);
    bed.incast(SENDERS, SIZE);
    let silent = bed.connections(SILENT);
    let flows = bed.flows(FLOWS);
    thread::sleep(Duration::from_secs(1));
    drop(attached);
    drop((flows, silent));
    let lookup = |map: &str, key: u32| {
        let mut maps = port.object().maps();
        let map = maps.find(|found| found.name() == map).expect("the map");
        let value = map.lookup(&key.to_ne_bytes(), MapFlags::ANY);
        value.expect("the map can be read")
    };
    let events = (0..).map_while(|number| Event::read(&lookup("events", number)?));
    let events: Vec<_> = events.collect();
    assert!(events.len() < MOST_EVENTS, "nothing is missing at the end");
    let memory = lookup("port", 0).expect("the port")[behind..].to_vec();
    Some(Seen { events, memory })
}

impl Event {
    /// Nothing from a place that holds none.
    fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| bytes[at..at + 4].try_into().map(u32::from_ne_bytes);
        let half = |at: usize| bytes[at..at + 2].try_into().map(u16::from_ne_bytes);
        let now = bytes[..8].try_into().map(u64::from_ne_bytes);
        let event = Self {
            now: now.ok()?,
            backlog: word(8).ok()?,
            size: word(12).ok()?,
            samples: word(16).ok()?,
            flow_case: word(20).ok()?,
            advertised: half(24).ok()?,
            window: half(26).ok()?,
            flags: bytes[28],
            scale: bytes[29],
            kind: bytes[30],
            verdict: bytes[31],
        };
        (event.kind > 0).then_some(event)
    }
}

/// Of `bpf/record.h`.
const DATA: u8 = 1;
const ACKNOWLEDGEMENT: u8 = 2;
const SAMPLES: u8 = 3;
const FLOW: u8 = 4;
const LEVEL: u8 = 5;
const IDLE: u8 = 6;
/// Of `c/rwndq.h` in the crate of laws.
const OPENS: u32 = 1;
const CLOSES: u32 = 2;
const MOST_EVENTS: usize = 1 << 18;
const FLOWS: usize = 5;
const SILENT: usize = 3;
const HSCC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc_recording.o"));
const RWNDQ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rwndq_recording.o"));
