//! The observations of traffic that the kernel and the test know exactly.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use programs::Direction;
use programs::observer::{
    DeviceObserver, FlowDirection, ObservedTransfer, ObserverEvent, ObserverOptions, neighbour,
};

use crate::bed::{BUFFER, Bed, SENDER, SWITCH, TCP_PORT};
use crate::frame::Frame;
use crate::loaded;
use crate::steady::measured;

/// Watches for an incast at a queue of [`BUFFER`].
pub(crate) const WATCH: ObserverOptions = ObserverOptions {
    queue_shift: 10,
    degree: 8,
    // Half of 200 Mbit/s.
    burst_bytes: 7_500,
    burst: Duration::from_micros(600),
    packets_per_second: 1_000_000,
    has_queue: true,
    queue_bps: 200_000_000,
};

struct Seen {
    told: Vec<ObserverEvent>,
    /// Towards the receiver.
    transfers: Vec<(FlowDirection, ObservedTransfer)>,
}

/// Watches the port towards the receiver while `act` runs.
fn watched(bed: &Bed, act: impl FnOnce()) -> Option<(DeviceObserver, Seen)> {
    let mut observer = loaded(DeviceObserver::load(WATCH))?;
    let device = bed.device();
    let attached = bed.inside(SWITCH, || observer.attach(device));
    attached.expect("the programs are attached");
    act();
    // Connections close a moment after their data has arrived.
    thread::sleep(Duration::from_millis(100));
    observer.detach();
    let told = observer.told().expect("a ring");
    let all = observer.transfers().expect("maps").into_iter();
    let earlier = told.iter().filter_map(|told| match told {
        ObserverEvent::Transfer(way, transfer) => Some((*way, *transfer)),
        _ => None,
    });
    let all = all.chain(earlier);
    let data = all.filter(|(way, transfer)| way.to.port() == TCP_PORT && transfer.bytes > 0);
    let transfers = data.collect();
    Some((observer, Seen { told, transfers }))
}

#[test]
fn an_observer_sees_flows_degree_drops_and_timeouts_as_the_kernel_counts_them() {
    let Some(bed) = Bed::new() else { return };
    let is_right = |seen: &Option<Counted>| seen.as_ref().is_none_or(Counted::is_right);
    if let Some(seen) = measured(|| counted(&bed), is_right) {
        assert!(is_right(&seen), "{seen:?}");
    }
}

/// Counts of incasts that depend on the other work of the machine.
#[derive(Debug)]
struct Counted {
    /// As seen, and as the kernel counts them.
    timeouts: [u64; 2],
    drops: [u64; 2],
    /// How many begin together.
    degree: u32,
    queue_most: u64,
    handshake: Duration,
    /// Over windows of some ms.
    peak_bps: u64,
}

impl Counted {
    fn is_right(&self) -> bool {
        // On a busy machine the kernel's own counters, of the queue and of TCP, are sometimes ahead of its tracepoints
        // by a few: two observers at the same time notice the same drops.
        self.timeouts[0] > 0
            && [self.timeouts, self.drops]
                .iter()
                .all(|[seen, made]| seen == made)
            && self.degree >= 8
            && self.queue_most > BUFFER - 3_000
            && self.handshake < Duration::from_millis(5)
            && self.peak_bps >= 190_000_000
    }
}

/// The observations of incasts. On a busy machine, too, nothing is seen that did not happen, and no byte is missing.
fn counted(bed: &Bed) -> Option<Counted> {
    const SENDERS: usize = 20;
    const SIZE: usize = 100_000;
    let timeouts = || bed.tcp_extended(SENDER, "TCPTimeouts");
    let (before, mut drops) = (timeouts(), 0);
    let seen = watched(bed, || {
        for _ in 0..3 {
            drops += bed.incast(SENDERS, SIZE);
        }
    });
    let (observer, seen) = seen?;
    let timeouts = timeouts() - before;
    let transfers = seen.transfers.iter().map(|(_, transfer)| transfer);
    let odd = seen
        .transfers
        .iter()
        .filter(|(_, one)| one.bytes != SIZE as u64);
    assert_eq!(
        odd.collect::<Vec<_>>(),
        Vec::<&(FlowDirection, ObservedTransfer)>::new()
    );
    assert_eq!(seen.transfers.len(), 3 * SENDERS);
    let sizes: BTreeSet<u64> = transfers.clone().map(|one| one.bytes).collect();
    assert_eq!(
        sizes,
        BTreeSet::from([SIZE as u64]),
        "each byte counts once"
    );
    let sum =
        |of: fn(&ObservedTransfer) -> u32| transfers.clone().map(of).map(u64::from).sum::<u64>();
    let timeouts = [sum(|one| one.timeouts), timeouts];
    let drops = [sum(|one| one.drops), drops];
    for [seen, made] in [timeouts, drops] {
        assert!(seen <= made, "timeouts {timeouts:?}, drops {drops:?}");
    }
    let told = seen
        .told
        .iter()
        .filter(|told| matches!(told, ObserverEvent::Timeout(..)));
    assert_eq!(told.count() as u64, timeouts[0]);
    let most = seen.told.iter().filter_map(|told| match told {
        ObserverEvent::Incast(_, _, degree) => Some(*degree),
        _ => None,
    });
    let degree = most.max().unwrap_or_default();
    assert!(degree <= 20, "{degree}");
    let totals = observer.totals().expect("totals");
    assert!(totals.queue_most <= BUFFER, "{totals:?}");
    assert_eq!((totals.skipped, totals.lost), (0, [0, 0]));
    // At most what the queue is known to send.
    let peak_bps = totals.peak_bps[0];
    assert!(peak_bps <= WATCH.queue_bps, "{peak_bps} bit/s");
    let control = seen.told.iter().find_map(|told| match told {
        ObserverEvent::Socket(way, socket) if way.to.port() == TCP_PORT => Some(socket),
        _ => None,
    });
    let control = control.expect("a connection closed");
    assert_eq!(control.min_rto, Duration::from_millis(200), "{control:?}");
    assert_eq!(control.mss, 1_448);
    Some(Counted {
        timeouts,
        drops,
        degree,
        queue_most: totals.queue_most,
        handshake: totals.handshake.expect("a handshake"),
        peak_bps,
    })
}

#[test]
fn flows_to_one_receiver_within_a_millisecond_count_together() {
    let watch = ObserverOptions {
        has_queue: false,
        ..WATCH
    };
    let Some(observer) = loaded(DeviceObserver::load(watch)) else {
        return;
    };
    let send = |of: u8, to: u8, number: u32| {
        let frame = Frame {
            back: false,
            payload: 100,
            seq: number,
            ..Frame::ack(60_000)
        };
        let mut bytes = frame.of_host(to).bytes();
        // The last byte of the sender's address; nobody checks the sum.
        bytes[29] = of;
        observer
            .run(Direction::Egress, &bytes, 1)
            .expect("a frame is run");
    };
    // If processors are taken away in the middle of a millisecond, it is tried again.
    let found = (0..50).any(|round| {
        for of in 1..=20 {
            send(of, 200, 1_000 * (2 * round + 1));
            // Two flows to another receiver, which are too few.
            send(of % 2 + 1, 201, 1_000 * (20 * round + u32::from(of)));
        }
        thread::sleep(Duration::from_millis(3));
        // The next millisecond with data reports the previous one.
        send(1, 200, 1_000 * (2 * round + 2));
        thread::sleep(Duration::from_millis(3));
        let told = observer.told().expect("a ring");
        let most = told.iter().filter_map(|told| match told {
            ObserverEvent::Incast(way, _, degree) => Some((way.to.ip().to_string(), *degree)),
            _ => None,
        });
        let most: Vec<_> = most.collect();
        assert!(
            most.iter()
                .all(|(to, degree)| to == "10.0.0.200" && *degree <= 20),
            "{most:?}"
        );
        most.iter().any(|(_, degree)| *degree == 20)
    });
    assert!(found, "20 flows at once");
    send(1, 200, 900_000);
    let degrees = observer.degrees().expect("a map");
    assert!(degrees[20] > 0 && degrees[21..].iter().all(|count| *count == 0));
    assert!(degrees[1] > 0, "those that came alone");
}

#[test]
fn a_pause_behind_a_short_segment_parts_transfers() {
    let watch = ObserverOptions {
        has_queue: false,
        ..WATCH
    };
    let Some(observer) = loaded(DeviceObserver::load(watch)) else {
        return;
    };
    let run = |way, frame: Frame| {
        observer
            .run(way, &frame.bytes(), 1)
            .expect("a frame is run");
    };
    let data = |seq, payload| {
        run(
            Direction::Egress,
            Frame {
                back: false,
                payload,
                seq,
                ..Frame::ack(60_000)
            },
        );
    };
    let acknowledges = |number| {
        let frame = Frame {
            number,
            ..Frame::ack(60_000)
        };
        run(Direction::Ingress, frame);
    };
    let pause = || thread::sleep(Duration::from_millis(15));
    data(1_000, 1_448);
    data(2_448, 500);
    pause();
    // Sent but not acknowledged: a probe, and a repetition after a silence.
    data(2_948, 200);
    pause();
    data(2_448, 500);
    acknowledges(3_148);
    pause();
    data(3_148, 1_448);
    acknowledges(4_596);
    pause();
    // After a full segment: the sender waited for room.
    data(4_596, 100);
    let told = observer.told().expect("a ring");
    let transfers: Vec<_> = told
        .iter()
        .filter_map(|told| match told {
            ObserverEvent::Transfer(_, transfer) => Some(transfer),
            _ => None,
        })
        .collect();
    let late = told
        .iter()
        .filter(|told| matches!(told, ObserverEvent::Late(..)))
        .count();
    let of = |one: &ObservedTransfer| (one.bytes, one.segments, one.repeats, one.late_repeats);
    assert_eq!(
        transfers.iter().map(|one| of(one)).collect::<Vec<_>>(),
        [(2_148, 4, 1, 1)]
    );
    assert_eq!(late, 1);
    let now = observer.transfers().expect("maps");
    assert_eq!(now.len(), 1);
    assert_eq!(of(&now[0].1), (1_548, 2, 0, 0));
    assert!(now[0].1.last >= now[0].1.first + Duration::from_millis(15));
}

#[test]
fn what_programs_wait_behind_a_handshake_is_no_part_of_a_transfer() {
    const PAUSE: Duration = Duration::from_millis(20);
    let watch = ObserverOptions {
        has_queue: false,
        ..WATCH
    };
    // A SYN that is repeated has a handshake as long as the pause.
    for (pauses, is_part) in [([false, true], false), ([true, false], true)] {
        let Some(observer) = loaded(DeviceObserver::load(watch)) else {
            return;
        };
        let run = |frame: Frame| {
            let way = if frame.back {
                Direction::Ingress
            } else {
                Direction::Egress
            };
            observer
                .run(way, &frame.bytes(), 1)
                .expect("a frame is run");
        };
        let segment = |back, payload| Frame {
            back,
            payload,
            seq: 10,
            ..Frame::ack(60_000)
        };
        let [twice, waits] = pauses;
        run(Frame::syn(Some(7)));
        if twice {
            thread::sleep(PAUSE);
            run(Frame::syn(Some(7)));
        }
        run(Frame::syn_ack(Some(7)));
        run(segment(false, 0));
        if waits {
            thread::sleep(PAUSE);
        }
        run(segment(false, 300));
        run(segment(true, 0));
        run(segment(true, 900));
        let mut seen = observer.transfers().expect("maps");
        seen.sort_by_key(|(_, transfer)| transfer.bytes);
        let [request, answer] = [&seen[0].1, &seen[1].1];
        assert_eq!([request.bytes, answer.bytes], [300, 900]);
        let [opened, answered] = [request, answer].map(|one| one.opened.expect("a handshake"));
        if is_part {
            assert_eq!(request.first, opened);
            assert!(request.last >= opened + PAUSE);
        } else {
            assert!(request.first >= opened + PAUSE && answer.first >= answered + PAUSE);
            assert_eq!(request.first, request.last);
        }
    }
}

#[test]
fn packets_beyond_what_was_asked_for_are_counted_and_not_looked_at() {
    let watch = ObserverOptions {
        has_queue: false,
        packets_per_second: 1_000,
        ..WATCH
    };
    let Some(observer) = loaded(DeviceObserver::load(watch)) else {
        return;
    };
    let frame = Frame {
        back: false,
        payload: 100,
        ..Frame::ack(60_000)
    };
    for _ in 0..500 {
        observer
            .run(Direction::Egress, &frame.bytes(), 1)
            .expect("a frame is run");
    }
    let totals = observer.totals().expect("totals");
    assert_eq!(totals.packets[0], 500);
    // Eight in a window of 2^23 ns, of which a slow machine needs many for 500.
    let transfers = observer.transfers().expect("maps");
    let seen = &transfers[0].1;
    let looked_at = u64::from(seen.segments);
    assert_eq!(looked_at + totals.skipped, 500);
    assert!(totals.skipped > 0, "{totals:?}");
    let [first, last] = [seen.first, seen.last].map(|time| time.as_nanos() >> 23);
    let most = 8 * (last - first + 1);
    assert!(u128::from(looked_at) <= most, "{looked_at} of {most}");
}

#[test]
fn directions_that_share_a_place_are_told_apart_and_forgotten_one_by_one() {
    let watch = ObserverOptions {
        has_queue: false,
        ..WATCH
    };
    let Some(observer) = loaded(DeviceObserver::load(watch)) else {
        return;
    };
    let data = |v6, payload, port: Option<u16>| {
        let frame = Frame {
            v6,
            back: false,
            payload,
            ..Frame::ack(60_000)
        };
        let mut bytes = frame.bytes();
        if let Some(port) = port {
            // The port of the sender; nobody checks the sum.
            bytes[34..36].copy_from_slice(&port.to_be_bytes());
        }
        observer
            .run(Direction::Egress, &bytes, 1)
            .expect("a frame is run");
    };
    let known = || {
        let all = observer.transfers().expect("maps").into_iter();
        let mut all: Vec<_> = all.map(|(way, one)| (one.bytes, way)).collect();
        all.sort_unstable();
        all
    };
    data(false, 100, None);
    let first = known()[0].1;
    let second = neighbour(&first).expect("one of many ports");
    data(false, 200, Some(second.from.port()));
    data(true, 300, None);
    let all = known();
    assert_eq!(all[..2], [(100, first), (200, second)]);
    let (bytes, third) = all[2];
    assert!(bytes == 300 && third.from.is_ipv6(), "{third:?}");
    // A flow whose place was taken is found at the next place, even after the place is free.
    observer.forget(&first).expect("maps");
    data(false, 200, Some(second.from.port()));
    assert_eq!(known(), [(200, second), (300, third)]);
    data(false, 100, None);
    observer.forget(&second).expect("maps");
    observer.forget(&third).expect("maps");
    assert_eq!(known(), [(100, first)]);
    assert_eq!(observer.totals().expect("totals").lost, [0, 0]);
}
