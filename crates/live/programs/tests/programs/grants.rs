//! RCC at a receiver by grants: golden packets, and the kernel's TCP on both sides.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use laws::{Granted, Grants};
use programs::{Attached, Direction, Port, Reason};

use crate::bed::{Bed, RECEIVER, SENDER};
use crate::captures::captured;
use crate::frame::{ACK, FIN, Frame, RST};
use crate::live::{SENDERS, SIZE};
use crate::steady::measured;
use crate::{count, loaded};

/// Longer than any test, so no connection is idle.
const LONG: u64 = 2_000_000_000;
const MSS: u32 = 1_460;
/// 20 times 256 KiB in segments of 1,448 bytes with 66 of headers take 220 ms at 200 Mbit/s. This is a fifth more.
const NEAR: Duration = Duration::from_millis(264);

fn grants(segments: u64, idle_ns: u64) -> Grants {
    Grants::of_least(segments * u64::from(MSS), MSS, idle_ns, 2)
}

fn port(law: &Grants) -> Option<Port> {
    let port = loaded(Port::load(&law.loadable()))?;
    port.renew(Duration::from_hours(1)).expect("a lease");
    Some(port)
}

fn leaves(port: &Port, frame: &Frame) -> Vec<u8> {
    let run = port.run(Direction::Egress, &frame.bytes());
    run.expect("a frame is run")
}

fn comes_in(port: &Port, frame: &Frame) {
    let run = port.run(Direction::Ingress, &frame.bytes());
    assert_eq!(run.expect("a frame is run"), frame.bytes());
}

/// Computes with the law in Rust what the program does with the packets of a receiver.
struct Mirror {
    law: Grants,
    flows: Vec<Granted>,
    line: VecDeque<usize>,
}

impl Mirror {
    /// The window of an ACK of this connection.
    fn acknowledge(&mut self, at: usize, ack: &Frame, scale: u8) -> u16 {
        let (number, advertised) = (ack.number, ack.window);
        let flow = &mut self.flows[at];
        self.law
            .on_ack(flow, number, u32::from(advertised) << scale);
        if !flow.waits() && !self.law.ask(flow, false) {
            self.line.push_back(at);
        }
        // As many turns as a pure ACK has.
        let turns = if ack.payload == 0 { 4 } else { 0 };
        for _ in 0..turns {
            let Some(first) = self.line.front() else {
                break;
            };
            if !self.law.ask(&mut self.flows[*first], true) {
                break;
            }
            self.line.pop_front();
        }
        self.law.tell(&mut self.flows[at], advertised)
    }
}

#[test]
fn windows_leave_as_the_law_says_with_right_checksums() {
    for (v6, vlan, shift) in [
        (false, false, Some(7)),
        (true, false, Some(2)),
        (false, true, None),
        (true, true, Some(14)),
    ] {
        let law = grants(27, LONG);
        let Some(port) = port(&law) else { return };
        let scale = shift.unwrap_or(0);
        let like = |frame: Frame, at: u32| Frame {
            v6,
            vlan,
            host: 10 + u8::try_from(at).expect("a few"),
            ..frame
        };
        let mut mirror = Mirror {
            law,
            flows: Vec::new(),
            line: VecDeque::new(),
        };
        for at in 0..8 {
            comes_in(&port, &like(Frame::syn(Some(3)), at));
            let syn_ack = like(Frame::syn_ack(shift), at);
            let mut flow = Granted::of_scale(scale);
            let window = mirror
                .law
                .on_open(&mut flow, syn_ack.number, syn_ack.window.into());
            mirror.flows.push(flow);
            let window = u16::try_from(window).expect("it is not shifted");
            let expected = Frame {
                window,
                ..syn_ack.clone()
            };
            for _ in 0..2 {
                assert_eq!(leaves(&port, &syn_ack), expected.bytes(), "{at}");
            }
        }
        // Each ACK acknowledges what its flow may send, sooner or later, with timestamps or without.
        let mut dice = 1_u32;
        for step in 0..300 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = dice >> 16 & 7;
            let flow = &mirror.flows[at as usize];
            let most = flow.window();
            let number = flow.edge().wrapping_sub(most - (dice >> 8) % (most + 1));
            let ack = Frame {
                number,
                window: [65_535, 300, 40][step % 3],
                options: [vec![], vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]][step % 2].clone(),
                payload: step % 5,
                flags: if step % 7 == 0 { ACK | FIN } else { ACK },
                ..like(Frame::ack(0), at)
            };
            let window = mirror.acknowledge(at as usize, &ack, scale);
            let expected = Frame {
                window,
                ..ack.clone()
            };
            assert_eq!(leaves(&port, &ack), expected.bytes(), "step {step}");
        }
        let memory = port.maps().law(&mirror.law.loadable());
        let memory = memory.expect("a map").unwrap_or_default();
        let Some(now) = Grants::from_memory(&memory) else {
            panic!("another law");
        };
        assert_eq!(now.connections(), mirror.law.connections());
        assert_eq!(now.in_flight(), mirror.law.in_flight());
    }
}

#[test]
fn what_grants_may_not_touch_passes_as_it_is_and_is_counted() {
    let md5 = [&[19, 18][..], &[7; 16]].concat();
    let mptcp = vec![30, 8, 0x20, 0, 0, 0, 0, 5];
    let open = |options: &[u8]| {
        let port = port(&grants(4, LONG))?;
        comes_in(&port, &Frame::syn(Some(7)));
        let syn_ack = Frame::syn_ack(Some(7));
        let options = [&syn_ack.options, options].concat();
        leaves(&port, &Frame { options, ..syn_ack });
        Some(port)
    };
    let ack = Frame::ack(60_000);
    let signed = |options: &[u8]| Frame {
        options: options.to_vec(),
        ..ack.clone()
    };
    let flagged = |flags| Frame {
        flags,
        ..ack.clone()
    };
    let cases = [
        (&[][..], ack.clone(), Reason::Rewritten),
        (&md5, ack.clone(), Reason::Unknown),
        (&mptcp, ack.clone(), Reason::Unknown),
        (&[], signed(&md5), Reason::Options),
        (&[], signed(&mptcp), Reason::Options),
        (&[], signed(&[1, 1, 1, 5, 1]), Reason::Short),
        (&[], Frame::ack(0), Reason::Closed),
        (&[], flagged(RST | ACK), Reason::Flags),
        (&[], flagged(0), Reason::Flags),
        (&[], ack.clone().of_host(9), Reason::Unknown),
    ];
    for (options, frame, reason) in cases {
        let Some(port) = open(options) else { return };
        let before = count(&port, reason);
        let got = leaves(&port, &frame);
        assert_eq!(count(&port, reason) - before, 1, "{reason:?} {frame:?}");
        assert_eq!(got == frame.bytes(), reason != Reason::Rewritten);
    }
    // Neither without a lease.
    let Some(port) = open(&[]) else { return };
    port.renew(Duration::ZERO).expect("a lease");
    thread::sleep(Duration::from_millis(1));
    assert_eq!(leaves(&port, &ack), ack.bytes());
    assert_eq!(count(&port, Reason::NoLease), 1);
}

#[test]
fn what_own_syns_tell_stays_within_the_budget_but_for_a_segment_each() {
    let Some(port) = port(&grants(20, LONG)) else {
        return;
    };
    let syn = |at: u8, seq| Frame {
        host: 10 + at,
        back: true,
        seq,
        ..Frame::syn(Some(7))
    };
    let mut law = grants(20, LONG);
    let mut flows = [(); 4].map(|()| Granted::of_scale(7));
    // Each is repeated once: a repeated SYN offers the same window as the first. Then come another connection between
    // the same ends and an answer to one of them, which changes nothing.
    for (at, seq) in [(0, 5), (1, 5), (2, 5), (3, 5), (1, 77)] {
        let window = law.on_syn(&mut flows[usize::from(at)], 64_000);
        let syn = syn(at, seq);
        let told = Frame {
            window: u16::try_from(window).expect("it is not shifted"),
            ..syn.clone()
        };
        for _ in 0..2 {
            assert_eq!(leaves(&port, &syn), told.bytes(), "{at}");
        }
    }
    assert_eq!(
        flows.each_ref().map(Granted::window),
        [14_600, 7_300, 1_460, 1_460]
    );
    let answer = Frame {
        host: 11,
        back: false,
        ..Frame::syn_ack(Some(9))
    };
    comes_in(&port, &answer);
    let memory = port.maps().law(&law.loadable());
    let memory = memory.expect("a map").unwrap_or_default();
    let Some(now) = Grants::from_memory(&memory) else {
        panic!("another law");
    };
    assert_eq!(now.connections(), law.connections());
    assert_eq!(now.in_flight(), law.in_flight());
}

#[test]
fn a_connection_that_the_receiver_opens_goes_on_from_what_its_syn_told() {
    let Some(port) = port(&grants(20, LONG)) else {
        return;
    };
    let back = |frame: Frame| Frame {
        back: !frame.back,
        ..frame
    };
    let syn = back(Frame::syn(Some(7)));
    let told = Frame {
        window: 14_600,
        ..syn.clone()
    };
    assert_eq!(leaves(&port, &syn), told.bytes());
    comes_in(
        &port,
        &Frame {
            seq: 999,
            ..back(Frame::syn_ack(Some(9)))
        },
    );
    let ack = |number, window| Frame {
        window,
        number,
        ..Frame::ack(0)
    };
    // Twenty segments in units of 128, which is more than the SYN offered.
    let expected = ack(1_000, 230);
    assert_eq!(leaves(&port, &ack(1_000, 60_000)), expected.bytes());
    // The sender's last byte is acknowledged: nothing is in flight any more.
    let fin = Frame {
        seq: 2_000,
        payload: 10,
        flags: ACK | FIN,
        back: false,
        ..Frame::ack(60_000)
    };
    comes_in(&port, &fin);
    let last = ack(2_011, 60_000);
    assert_eq!(leaves(&port, &last), last.bytes());
    let law = port.maps().law(&grants(20, LONG).loadable());
    let memory = law.expect("a map").unwrap_or_default();
    let Some(law) = Grants::from_memory(&memory) else {
        panic!("another law");
    };
    assert_eq!((law.in_flight(), law.connections()), (0, (0, 0)));
}

/// Does `act` while the law acts at the receiver of the bed, with a watchdog or without.
fn during<T>(bed: &Bed, port: &Port, watched: bool, act: impl FnOnce() -> T) -> T {
    let device = bed.device_of(RECEIVER, "r0");
    let attached: Attached = bed
        .inside(RECEIVER, || port.attach(device))
        .expect("the device takes the program");
    let over = AtomicBool::new(!watched);
    let done = thread::scope(|scope| {
        let over = &over;
        let watch = move || {
            let watchdog = port.watchdog().expect("a program").expect("grants");
            while !over.load(Relaxed) {
                watchdog.look(device).expect("it looks at the line");
                thread::sleep(Duration::from_millis(10));
            }
        };
        scope.spawn(move || bed.inside(RECEIVER, watch));
        let done = act();
        over.store(true, Relaxed);
        done
    });
    drop(attached);
    done
}

#[test]
fn grants_drop_less_than_half_of_what_drop_tail_drops_in_the_median_of_three() {
    let Some(bed) = Bed::new() else { return };
    let Some(port) = port(&grants(27, 10_000_000)) else {
        return;
    };
    let medians = || {
        let mut drops = [(); 3].map(|()| {
            let plain = bed.incast(SENDERS, SIZE);
            [
                plain,
                during(&bed, &port, true, || bed.incast(SENDERS, SIZE)),
            ]
        });
        [0, 1].map(|side| {
            drops.sort_unstable_by_key(|drops| drops[side]);
            drops[1][side]
        })
    };
    let is_right = |[plain, cured]: &[u64; 2]| *plain > 20 && 2 * cured < *plain;
    let Some(medians) = measured(medians, is_right) else {
        return;
    };
    assert!(is_right(&medians), "without and with grants: {medians:?}");
    assert!(count(&port, Reason::Told) > 100);
    assert_eq!(count(&port, Reason::Failed), 0);
}

#[test]
#[ignore = "two minutes: `cargo xtask trust grants` runs it and prints what it finds"]
#[expect(clippy::disallowed_methods, reason = "rounds are timed")]
fn two_hundred_rounds_are_near_the_ideal() {
    let Some(bed) = Bed::new() else { return };
    let Some(port) = port(&grants(27, 10_000_000)) else {
        return;
    };
    let round = || {
        let begin = Instant::now();
        let drops = bed.incast(SENDERS, SIZE);
        (begin.elapsed(), drops)
    };
    let told = |name: &str, rounds: &[(Duration, u64)]| {
        let mut times: Vec<_> = rounds.iter().map(|(time, _)| *time).collect();
        times.sort_unstable();
        let near = times.iter().filter(|time| **time <= NEAR).count();
        let drops: u64 = rounds.iter().map(|(_, drops)| drops).sum();
        let (median, slowest) = (times[times.len() / 2], times[times.len() - 1]);
        let told = format!(
            "{name}: {near} of {} rounds within 20 % of the ideal 220 ms; median {median:.0?}, slowest {slowest:.0?}, \
             {drops} drops",
            times.len()
        );
        writeln!(std::io::stdout(), "{told}").expect("somebody reads it");
        (near, drops)
    };
    let plain: Vec<_> = (0..15).map(|_| round()).collect();
    let (_, plain) = told("drop-tail", &plain);
    // If a round stands still for 20 s, its sockets fail.
    let held: Vec<_> = (0..200).map(|_| during(&bed, &port, true, round)).collect();
    let mut series: Vec<_> = (1..)
        .zip(held.chunks(15).take(3))
        .map(|(number, rounds)| told(&format!("grants, series {number}"), rounds))
        .collect();
    told("grants, all", &held);
    series.sort_unstable();
    assert!(series[1].0 >= 13, "the median of three series: {series:?}");
    assert!(series.iter().all(|(_, drops)| 2 * drops < plain));
}

#[test]
fn on_the_wire_edges_of_grants_never_move_back_and_checksums_are_right() {
    let Some(bed) = Bed::new() else { return };
    let Some(port) = port(&grants(27, 10_000_000)) else {
        return;
    };
    let [_, acks] = captured(&bed, || {
        during(&bed, &port, true, || bed.incast(SENDERS, SIZE));
    });
    // By connection: its shift, the newest number and the furthest edge beyond it.
    let mut known = BTreeMap::new();
    for ack in &acks {
        assert!(ack.is_whole(), "{ack:?}");
        assert!(ack.window() > 0, "{ack:?}");
        if let Some(shift) = ack.shift() {
            known.insert(
                ack.connection(),
                (shift, ack.number(), u32::from(ack.window())),
            );
            continue;
        }
        let (shift, newest, window) = known.get_mut(&ack.connection()).expect("its SYN-ACK");
        let (number, told) = (ack.number(), u32::from(ack.window()) << *shift);
        let moved = number.wrapping_sub(*newest);
        // A late ACK says nothing new. Two processors send: of ACKs with one number, a smaller window may come after a
        // larger one, which Linux keeps (`tcp_may_update_window`).
        if moved == 0 {
            *window = told.max(*window);
        } else if moved < 1 << 31 {
            assert!(moved + told >= *window, "{ack:?} after an edge of {window}");
            (*newest, *window) = (number, told);
        }
    }
    assert_eq!(known.len(), SENDERS);
    for host in [SENDER, RECEIVER] {
        assert_eq!(bed.tcp_counter(host, "InCsumErrors"), 0, "{host}");
    }
}

#[test]
fn every_flow_ends_without_the_watchdog_and_with_a_budget_of_two_segments() {
    let Some(bed) = Bed::new() else { return };
    for (segments, watched, size) in [(27, false, SIZE), (2, true, 32 << 10)] {
        let Some(port) = port(&grants(segments, 10_000_000)) else {
            return;
        };
        during(&bed, &port, watched, || bed.incast(SENDERS, size));
        assert!(count(&port, Reason::Told) > 0);
    }
}

#[test]
fn data_both_ways_arrive_intact() {
    let Some(bed) = Bed::new() else { return };
    let Some(port) = port(&grants(27, 10_000_000)) else {
        return;
    };
    let byte = |at: usize| at.wrapping_mul(2_654_435_761).to_le_bytes()[1];
    let sent: Vec<u8> = (0..SIZE).map(byte).collect();
    during(&bed, &port, true, || {
        let (sending, receiving) = bed.connections(8);
        thread::scope(|scope| {
            for stream in sending.iter().chain(&receiving) {
                let sent = &sent;
                scope.spawn(move || {
                    let mut stream = stream;
                    stream.write_all(sent).expect("it is sent");
                });
                scope.spawn(move || {
                    let mut got = vec![0; SIZE];
                    let mut stream = stream;
                    stream.read_exact(&mut got).expect("all arrives");
                    assert!(got == *sent, "bytes are intact");
                });
            }
        });
    });
    assert!(count(&port, Reason::Rewritten) > 100);
    assert_eq!(count(&port, Reason::Failed), 0);
}
