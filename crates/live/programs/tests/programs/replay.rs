//! A law in the kernel computes what its text says: every call of a live run is repeated, with the same result.

use std::thread;
use std::time::Duration;

use laws::{Call, DecisionReplay, Hscc, Idle, Loadable};
use libbpf_rs::{MapCore, MapFlags};
use programs::{Direction, LoadOptions, Port, Reason};

use crate::bed::Bed;
use crate::frame::Frame;
use crate::live::{INTERVAL, SENDERS, SIZE, attached, hscc, rwndq};
use crate::loaded;

#[test]
fn hscc_replays_what_it_did_in_the_kernel_bit_by_bit() {
    until_enough(hscc_replays);
}

/// Replays a run. If the law had too little to do, returns how often it was called, switched and lowered a window.
fn hscc_replays() -> Option<Result<(), String>> {
    let law = hscc().loadable();
    let seen = recorded(&law, 8)?;
    let mut replayed = DecisionReplay::of(law.object, &law.memory).expect("a law");
    let is_on =
        |replayed: &DecisionReplay| Hscc::from_memory(&replayed.to_memory()).map(|law| law.is_on());
    let (mut switched, mut lowered) = (0, 0);
    for call in &seen.calls {
        let was = is_on(&replayed);
        replay(&mut replayed, call);
        switched += usize::from(is_on(&replayed) != was);
        lowered += usize::from(is_lower(call));
    }
    assert_eq!(replayed.to_memory(), seen.memory, "the state in the end");
    let calls = seen.calls.len();
    let is_enough = calls > 5_000 && switched > 10 && lowered > 500;
    let told = format!("{calls} calls, {switched} switches, {lowered} lower windows");
    Some(is_enough.then_some(()).ok_or(told))
}

/// Records and replays until the law had much to do, at most three times, because that depends on the other work of the
/// machine.
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
    let (law, may_be_idle) = (rwndq().loadable(INTERVAL, idle, false), idle.is_on());
    let seen = recorded(&law, 24)?;
    let mut replayed = DecisionReplay::of(law.object, &law.memory).expect("a law");
    let mut lowered = 0;
    let (mut opened, mut closed, mut idle) = (0, 0, 0);
    let mut windows = Vec::new();
    for call in &seen.calls {
        replay(&mut replayed, call);
        match (call.kind, call.flow_case) {
            (Call::FLOW, OPENS) => opened += 1,
            (Call::FLOW, CLOSES) => closed += 1,
            (Call::IDLE, _) => idle += call.samples as usize,
            (Call::ACKNOWLEDGEMENT, _) => {
                lowered += usize::from(is_lower(call));
                windows.push(call.window);
            }
            _ => {}
        }
    }
    let memory = replayed.to_memory();
    assert_eq!(memory, seen.memory[..memory.len()], "the state in the end");
    check_samples(&seen.calls);
    windows.sort_unstable();
    windows.dedup();
    let (calls, all) = (seen.calls.len(), SENDERS + FLOWS + SILENT);
    let are_all = if may_be_idle {
        // The silent flows are idle, and others that waited for a timer and came back; all others are active at the
        // end.
        let counted = opened >= closed + idle;
        assert!(counted, "{opened} counted, {closed} closed, {idle} idle");
        idle >= SILENT && opened >= all && opened - closed - idle <= FLOWS
    } else {
        // Once for the incast, and once for the others, which close after the law is removed.
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

/// There is a sample for each interval since the first flow came: eight with a packet, and two hundred after a pause.
fn check_samples(calls: &[Call]) {
    let interval = u64::try_from(INTERVAL.as_nanos()).expect("a short interval");
    let (mut sampled, mut flows) = (0, 0_u32);
    for call in calls {
        match (call.kind, call.flow_case) {
            (Call::FLOW, OPENS) => {
                if flows == 0 {
                    sampled = call.now_ns - call.now_ns % interval;
                }
                flows += 1;
            }
            (Call::FLOW, CLOSES) => flows -= 1,
            (Call::IDLE, _) => flows -= call.samples,
            _ => {}
        }
        if call.kind != Call::SAMPLES {
            continue;
        }
        assert!(flows > 0, "a port without flows samples nothing: {call:?}");
        let due = call.now_ns.saturating_sub(sampled) / interval;
        if due > 200 {
            sampled = call.now_ns - 200 * interval;
        }
        assert_eq!(u64::from(call.samples), due.min(8), "{call:?}");
        sampled += due.min(8) * interval;
    }
}

/// Repeats a call, with the same result.
fn replay(replayed: &mut DecisionReplay, call: &Call) {
    if let Err(difference) = replayed.make(call) {
        panic!("{difference}: {call:?}");
    }
    if call.kind == Call::ACKNOWLEDGEMENT {
        let verdict = if is_lower(call) {
            Reason::Rewritten
        } else {
            Reason::Law
        };
        assert_eq!(call.verdict, verdict as u8, "{call:?}");
    }
}

/// Whether the law lowers the window of an ACK.
fn is_lower(call: &Call) -> bool {
    call.window > 0 && call.window < call.advertised
}

/// Calls of a law in a live run, in their order, and the final state of its port.
struct Seen {
    calls: Vec<Call>,
    /// Settings and state.
    memory: Vec<u8>,
}

/// A round of incast, and long flows for a second, past a law that records its calls. Its settings begin in the memory
/// of the port `behind` this many bytes.
fn recorded(law: &Loadable, behind: usize) -> Option<Seen> {
    let bed = Bed::new()?;
    let setup = LoadOptions {
        records: true,
        ..LoadOptions::default()
    };
    let port = loaded(Port::load_with(law, setup))?;
    let ring = port.calls().expect("a ring");
    let attached = attached(&bed, &port);
    bed.incast(SENDERS, SIZE);
    let silent = bed.connections(SILENT);
    let flows = bed.flows(FLOWS);
    let mut calls = Vec::new();
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(50));
        calls.extend(ring.heard().expect("a ring"));
    }
    drop(attached);
    drop((flows, silent));
    calls.extend(ring.rest().expect("a ring"));
    calls.sort_by_key(|call| call.number);
    let all = (0..).zip(&calls);
    assert!(
        all.clone().all(|(number, call)| call.number == number),
        "none is missing"
    );
    let mut maps = port.object().maps();
    let map = maps.find(|found| found.name() == "port").expect("the map");
    let value = map
        .lookup(&[0; 4], MapFlags::ANY)
        .expect("the map can be read");
    let memory = value.expect("the port")[behind..].to_vec();
    Some(Seen { calls, memory })
}

#[test]
fn calls_that_wait_for_others_are_told_at_the_second_look_and_once() {
    let setup = LoadOptions {
        shadow: true,
        records: true,
        ..LoadOptions::default()
    };
    let Some(port) = loaded(Port::load_with(&hscc().loadable(), setup)) else {
        return;
    };
    port.renew(Duration::from_mins(1)).expect("a lease");
    let frame = Frame::ack(1).bytes();
    let run = |count: u32| {
        for _ in 0..count {
            port.run(Direction::Ingress, &frame).expect("a run");
        }
    };
    let reader = port.calls().expect("a ring");
    let look = || reader.heard().expect("a ring").len();
    run(5);
    assert_eq!((look(), look(), look()), (0, 5, 0), "of an idle processor");
    run(200);
    let mut calls = reader.heard().expect("a ring");
    calls.extend(reader.heard().expect("a ring"));
    calls.extend(reader.rest().expect("a ring"));
    calls.sort_by_key(|call| call.number);
    let numbers: Vec<u32> = calls.iter().map(|call| call.number).collect();
    assert_eq!(numbers, (5..205).collect::<Vec<u32>>());
    assert_eq!((look(), look()), (0, 0));
}

#[test]
fn a_defect_of_one_bit_in_a_law_is_found_within_ten_thousand_decisions() {
    let hscc = (hscc().loadable(), HSCC);
    let rwndq = (rwndq().loadable(INTERVAL, &Idle::new(0), false), RWNDQ);
    // Ten full packets wait.
    let mark = (Loadable::mark(10 * 1_514), MARK);
    for (law, defect) in [hscc, rwndq, mark] {
        let Some(bed) = Bed::new() else { return };
        let setup = LoadOptions {
            shadow: true,
            records: true,
            ..LoadOptions::default()
        };
        let Some(port) = loaded(Port::load_object(&law, defect, setup)) else {
            return;
        };
        let ring = port.calls().expect("a ring");
        let attached = attached(&bed, &port);
        bed.incast(SENDERS, SIZE);
        drop(attached);
        let mut calls = ring.rest().expect("a ring");
        calls.sort_by_key(|call| call.number);
        let mut replayed = DecisionReplay::of(law.object, &law.memory).expect("a law");
        let difference = calls.iter().position(|call| replayed.make(call).is_err());
        let difference =
            difference.unwrap_or_else(|| panic!("{}: {} calls", law.object, calls.len()));
        let before = calls[..difference].iter();
        let decisions = before.filter(|call| call.is_decision()).count();
        assert!(decisions < 10_000, "{}: {decisions} decisions", law.object);
    }
}

/// From `c/rwndq.h` in the crate of laws.
const OPENS: u32 = 1;
const CLOSES: u32 = 2;
const FLOWS: usize = 5;
const SILENT: usize = 3;
/// The programs with a defect in their law.
const HSCC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hscc_defect.o"));
const RWNDQ: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/rwndq_defect.o"));
const MARK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mark_defect.o"));
