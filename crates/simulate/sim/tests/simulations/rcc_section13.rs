//! The reference values of RCC: a minimal event model of the paper's algorithms on the paper's
//! network gives these completion times and queues, and the paper's figures 7 and 10 agree with them.

use base::{Packet, Span, TcpFlags, Time};
use fabric::PortId;
use sim::metrics::{FlowRecord, Outcome};
use sim::run;

use crate::support::{outcome, points};

/// One row: sorted completion times in groups (number of flows, first and last time in ms), the mean queue in kB and
/// the largest in bytes.
struct Row {
    senders: u32,
    size: &'static str,
    groups: &'static [(usize, f64, f64)],
    mean: f64,
    max: u64,
}

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { senders: 10, size: "32KiB", groups: &[(10, 12.7, 13.0)], mean: 26.7, max: 37_500 },
    Row { senders: 20, size: "32KiB", groups: &[(20, 15.3, 15.7)], mean: 32.6, max: 37_500 },
    Row { senders: 30, size: "32KiB", groups: &[(10, 15.4, 15.6), (20, 17.3, 18.8)], mean: 31.6, max: 42_000 },
    Row { senders: 40, size: "32KiB", groups: &[(40, 20.8, 21.1)], mean: 35.4, max: 57_000 },
    Row { senders: 50, size: "32KiB", groups: &[(50, 20.8, 23.9)], mean: 34.0, max: 57_000 },
    Row { senders: 70, size: "32KiB", groups: &[(70, 20.9, 29.6)], mean: 34.6, max: 57_000 },
    Row { senders: 90, size: "32KiB", groups: &[(40, 21.1, 22.4), (50, 31.5, 34.8)], mean: 35.3, max: 57_000 },
    Row { senders: 100, size: "32KiB", groups: &[(100, 21.3, 37.6)], mean: 35.0, max: 57_000 },
    Row { senders: 30, size: "100KiB", groups: &[(10, 27.0, 27.2), (20, 32.7, 36.2)], mean: 34.6, max: 42_000 },
    Row { senders: 60, size: "50KiB", groups: &[(40, 27.1, 28.5), (20, 35.4, 35.8)], mean: 35.8, max: 57_000 },
];

/// The reference gives tenths of a millisecond; its own rounding and 54 or 66 bytes of ACK move a
/// time by 0.2 ms.
const GROUP_TOLERANCE_MS: f64 = 0.3;

#[test]
fn completion_groups_and_queues_are_those_of_the_reference_model() {
    for row in TABLE {
        let sets = [
            format!("workload.senders={}", row.senders),
            format!("workload.size={}", row.size),
        ];
        // If nothing is lost or marked, RDTCP's simpler timer and round trip change nothing.
        for scheme in ["rcc", "rdtcp"] {
            let run = outcome("incast", scheme, &[&sets[0], &sets[1]]);
            check(row, &run);
        }
    }
}

fn check(row: &Row, run: &Outcome) {
    let place = format!("{} x {}", row.senders, row.size);
    let times = completions(&run.flows);
    let mut at = 0;
    for (count, first, last) in row.groups {
        let group = &times[at..at + count];
        at += count;
        let ends = (group[0], group[count - 1]);
        assert!(
            (ends.0 - first).abs() <= GROUP_TOLERANCE_MS
                && (ends.1 - last).abs() <= GROUP_TOLERANCE_MS,
            "{place}: {count} flows end at {ends:?} ms, not from {first} to {last}"
        );
    }
    assert_eq!(at, times.len(), "{place}: every flow is in a group");
    let m = &run.metrics;
    let mean = m.queue_mean_bytes / 1000.0;
    assert!((mean / row.mean - 1.0).abs() <= 0.05, "{place}: {mean} kB");
    let max = m.queue_max_bytes;
    assert!(max.abs_diff(row.max) <= 1500, "{place}: {max} bytes");
    let trouble = (m.drops, m.marks, m.timeouts, m.retransmissions);
    assert_eq!(trouble, (0, 0, 0, 0), "{place}: drops, marks, timeouts");
}

#[test]
fn nothing_is_lost_or_marked_at_any_number_of_senders() {
    for point in points("incast", "rcc", &["workload.senders=10..100:10"]) {
        let m = run::run(&point).unwrap().metrics;
        let trouble = (m.drops, m.marks, m.timeouts, m.retransmissions);
        assert_eq!(trouble, (0, 0, 0, 0), "{:?}", point.set);
        assert_eq!(m.flows_completed, u64::from(point.keys.workload.senders.0));
    }
}

#[test]
fn ninety_flows_end_in_two_groups_of_forty_and_fifty() {
    // Figure 7(c): the first forty have absolute priority through their smaller remaining size.
    let times = completions(&outcome("incast", "rcc", &["workload.senders=90"]).flows);
    let widest = times.windows(2).map(|pair| pair[1] - pair[0]);
    let (split, gap) = widest
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap();
    assert_eq!((split + 1, times.len() - split - 1), (40, 50));
    assert!(gap > 5.0, "{gap} ms");
}

const LONG: &[&str] = &["workload.size=unlimited", "run.duration=200ms"];

// Clauses: RCC-alg2-flight
#[test]
fn long_flows_keep_a_steady_queue_of_the_budget_less_the_pipe() {
    // Equation 4: 40 packets in flight, C * RTT = 13.3 of them on the wires and in transmission.
    for senders in [41, 60, 90] {
        let senders = format!("workload.senders={senders}");
        let m = outcome("incast", "rcc", &[LONG, &[&senders]].concat()).metrics;
        let median = m.queue_p50_bytes / 1500;
        assert!((25..=26).contains(&median), "{senders}: {median} packets");
        let trouble = (m.drops, m.marks, m.timeouts, m.retransmissions);
        assert_eq!(trouble, (0, 0, 0, 0), "{senders}");
        // Full utilisation except for the first round trips.
        assert!(
            m.goodput_bps > 0.995 * 1e9 * 1446.0 / 1500.0,
            "{senders}: {}",
            m.goodput_bps
        );
    }
}

// Clauses: RCC-alg2-3
#[test]
fn a_release_test_that_includes_equality_lets_one_grant_more_go() {
    let sets = ["workload.senders=90", "rcc.release=at"];
    let run = outcome("incast", "rcc", &sets);
    let times = completions(&run.flows);
    let gap = times.windows(2).position(|pair| pair[1] - pair[0] > 5.0);
    // 41 and 49 flows, and 58.5 kB of queue instead of 57; in front of the segments that make the largest
    // queue are ACKs of handshakes with 54 bytes each.
    assert_eq!(gap, Some(40));
    assert_eq!(run.metrics.queue_max_bytes, 58_500 + 12 * 54);
}

// Clauses: RCC-alg2-3
#[test]
fn an_ack_leaves_only_while_less_than_the_budget_is_in_flight() {
    // So the bytes in flight never exceed the budget by more than the grant released last.
    for senders in [10, 41, 100] {
        let packets = at_the_receiver(senders, &[]);
        let peak = largest_flight_before_a_grant(senders, &packets);
        assert!(peak < BUDGET, "{senders} senders: {peak} bytes");
        assert!(
            senders == 10 || peak >= BUDGET - 1446,
            "{senders} senders: {peak} bytes"
        );
    }
}

// Clauses: RCC-eq6
#[test]
fn of_the_acks_of_long_flows_all_but_the_budget_wait() {
    for senders in [41, 60, 90] {
        // Windows are one packet, so a flow has either a packet in flight or an ACK that waits.
        let mut waits = vec![false; senders];
        let until = Time::ZERO + Span::from_millis(150);
        for (time, kind, packet) in at_the_receiver(senders, LONG) {
            if time <= until {
                waits[packet.flow.0 as usize] = kind == 0;
            }
        }
        let waiting = waits.iter().filter(|waits| **waits).count();
        // The last packet seen may be one whose arrival is about to release an ACK.
        assert!(waiting.abs_diff(senders - 40) <= 1, "{senders}: {waiting}");
    }
}

/// The packets that arrive at the receiver (0) and that it sends (1), in order.
fn at_the_receiver(senders: usize, sets: &[&str]) -> Vec<(Time, u8, Packet)> {
    let set = format!("workload.senders={senders}");
    let point = points("incast", "rcc", &[sets, &[&set]].concat()).remove(0);
    let mut packets = Vec::new();
    let probe = &mut |port: PortId, packet: &Packet, now: Time| match port {
        // The ACK left the receiver a serialisation of its headers and a delay ago.
        PortId(0) => packets.push((now.before(ACK_HOP), 1, *packet)),
        PortId(1) => packets.push((now, 0, *packet)),
        _ => {}
    };
    run::observe(&point, probe).expect("the simulation succeeds");
    // Data that arrives at the instant of an ACK comes before it.
    packets.sort_by_key(|(time, kind, _)| (*time, *kind));
    packets
}

/// The most bytes in flight when an ACK allowed more. It is computed from the packets alone: bytes below the highest
/// advertised edge of each flow that have not arrived.
fn largest_flight_before_a_grant(senders: usize, packets: &[(Time, u8, Packet)]) -> u64 {
    let mut flows = vec![(0_u32, 0_u64, 0_u64); senders];
    let mut peak = 0;
    for (_, kind, packet) in packets {
        let total: u64 = flows.iter().map(|(_, edge, next)| edge - next).sum();
        let (start, edge, next) = &mut flows[packet.flow.0 as usize];
        if *kind == 1 {
            let window = if packet.flags.has(TcpFlags::FIN) {
                0
            } else {
                packet.window
            };
            let allowed = u64::from(packet.ack.0.wrapping_sub(*start)) + u64::from(window);
            let allowed = allowed.min(32_768).max(*edge);
            if allowed > *edge {
                peak = peak.max(total);
            }
            *edge = allowed;
        } else if packet.flags.has(TcpFlags::SYN) {
            // Offset 0 is the first byte of data.
            *start = packet.seq.0.wrapping_add(1);
        } else {
            *next += u64::from(packet.payload);
        }
    }
    peak
}

/// Sorted completion times in milliseconds of the simulation's clock.
fn completions(flows: &[FlowRecord]) -> Vec<f64> {
    let times = flows
        .iter()
        .map(|flow| flow.completion_us.get().expect("a completed flow") / 1000.0);
    let mut times: Vec<f64> = times.collect();
    times.sort_by(f64::total_cmp);
    times
}

/// `queue_maxsize` of 40 packets, in payload.
const BUDGET: u64 = 40 * 1446;
/// 54 bytes at 1 Gbit/s and 40 us.
const ACK_HOP: Span = Span::from_nanos(40_432);
