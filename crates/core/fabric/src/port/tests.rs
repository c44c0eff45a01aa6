use base::{Ecn, FlowId, HostId};

use super::*;
use crate::queue::Verdict;
use crate::watch::DropReason;

fn port(limit: Limit, discipline: Discipline) -> Port {
    let rate = Rate::from_bps(1_000_000_000);
    let delay = Span::from_micros(40);
    Port::new(
        PortConfig {
            rate,
            delay,
            jitter: None,
            bucket: None,
            limit,
            discipline,
            hook: None,
            priorities: Strict::FIFO,
            header_bytes: 54,
        },
        Time::ZERO,
    )
}

fn full_packet() -> Packet {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.payload = 1446;
    packet.ecn = Ecn::Capable;
    packet
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

#[test]
fn a_packet_arrives_after_serialisation_and_delay() {
    let mut port = port(Limit::Unlimited, Discipline::DropTail);
    assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::First(us(52)));
    // The second waits 12 us for the first; the port already has its event.
    assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::Queued);
    arrived(&mut port, us(52));
    assert_eq!(port.next_arrival(), Some(us(64)));
    arrived(&mut port, us(64));
    assert_eq!(port.next_arrival(), None);
}

#[test]
fn an_idle_port_with_a_bucket_sends_a_packet_at_once_and_queues_what_waits_for_tokens() {
    let mut port = port(Limit::Bytes(3 * 1500), Discipline::DropTail);
    port.bucket = Some(Box::new(Bucket::new(port.rate, 1500)));
    port.ps_per_byte = 0;
    assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::First(us(40)));
    for _ in 0..3 {
        assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::Queued);
    }
    assert_eq!(port.offer(&mut full_packet(), us(11)), Offer::Dropped);
    assert_eq!(port.offer(&mut full_packet(), us(12)), Offer::Queued);
    for at in [40, 52, 64, 76, 88] {
        assert_eq!(port.next_arrival(), Some(us(at)));
        arrived(&mut port, us(at));
    }
    assert_eq!(port.next_arrival(), None);
    assert_eq!(port.counters().max_waiting_bytes, 4500);
}

#[test]
fn a_packet_that_waits_for_tokens_alone_has_an_event_of_its_own() {
    let mut port = port(Limit::Unlimited, Discipline::DropTail);
    port.bucket = Some(Box::new(Bucket::new(port.rate, 1500)));
    (port.ps_per_byte, port.delay) = (0, Span::from_micros(1));
    assert_eq!(port.offer(&mut full_packet(), us(0)), Offer::First(us(1)));
    arrived(&mut port, us(1));
    assert_eq!(port.offer(&mut full_packet(), us(5)), Offer::First(us(13)));
    assert_eq!(port.offer(&mut full_packet(), us(6)), Offer::Queued);
    arrived(&mut port, us(13));
    arrived(&mut port, us(25));
}

// RFC 2018 §3: two blocks are 20 bytes, and 160 ns at 1 Gbit/s.
#[test]
fn sack_blocks_take_time_and_room_where_they_count() {
    let blocks = {
        let mut blocks = base::SackBlocks::new();
        blocks.push(base::Seq(1), base::Seq(2));
        blocks.push(base::Seq(5), base::Seq(6));
        blocks
    };
    for (counts, longer) in [(false, 0), (true, 20)] {
        let mut port = port(Limit::Unlimited, Discipline::DropTail);
        port.counts_sack = counts;
        let ack = || {
            let mut ack = Packet::new(FlowId(0), HostId(0));
            ack.options = base::Options::Sack(blocks);
            ack
        };
        let took = Span::from_nanos(8 * (54 + longer));
        let first = us(40) + took;
        assert_eq!(port.offer(&mut ack(), us(0)), Offer::First(first));
        port.offer(&mut ack(), us(0));
        port.offer(&mut full_packet(), us(0));
        assert_eq!(port.counters().max_waiting_bytes, 54 + longer + 1500);
        let mut arrive = |at| {
            arrived(&mut port, at);
            port.next_arrival()
        };
        let second = arrive(first);
        assert_eq!(second, Some(first + took));
        assert_eq!(arrive(first + took), Some(us(52) + took + took));
        assert_eq!(arrive(us(52) + took + took), None);
        assert_eq!(port.backlog(), Backlog::default());
    }
}

#[test]
fn a_packet_without_bytes_waits_its_turn_as_others_do() {
    // An ACK of no bytes waits for data until 12 us, and has been sent when the next data comes at 20 us.
    let config = PortConfig {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_micros(40),
        jitter: None,
        bucket: None,
        limit: Limit::Packets(3),
        discipline: Discipline::DropTail,
        hook: None,
        priorities: Strict::FIFO,
        header_bytes: 0,
    };
    let mut port = Port::new(config, Time::ZERO);
    let data = || {
        let mut data = full_packet();
        data.payload = 1500;
        data
    };
    let mut ack = Packet::new(FlowId(0), HostId(0));
    assert_eq!(port.offer(&mut data(), us(0)), Offer::First(us(52)));
    assert_eq!(port.offer(&mut ack, us(0)), Offer::Queued);
    assert_eq!(port.backlog().packets, 1);
    assert_eq!(port.offer(&mut data(), us(20)), Offer::Queued);
    assert_eq!(port.backlog(), Backlog::default());
    assert_eq!(port.offer(&mut data(), us(20)), Offer::Queued);
    assert_eq!(port.backlog().packets, 1);
    for at in [us(52), us(52), us(72), us(84)] {
        assert_eq!(port.next_arrival(), Some(at));
        arrived(&mut port, at);
    }
    assert_eq!(port.next_arrival(), None);
}

#[test]
fn the_packet_in_transmission_does_not_count_as_queued() {
    // ICTCP sheet check: with 80 places, 82 packets at once lose one: one is in transmission.
    for limit in [Limit::Bytes(80 * 1500), Limit::Packets(80)] {
        let mut port = port(limit, Discipline::DropTail);
        for _ in 0..82 {
            port.offer(&mut full_packet(), us(0));
        }
        assert_eq!(port.counters().drops, 1);
        assert_eq!(port.counters().max_waiting_bytes, 80 * 1500);
    }
}

// Clauses: RFC8257-3.1-mark
#[test]
fn packets_that_find_the_threshold_reached_are_marked() {
    // 50 packets at once, K = 40: packet 1 is in transmission, packet 42 is the first to find 40.
    let mut port = port(
        Limit::Unlimited,
        Discipline::EcnThreshold(Limit::Bytes(40 * 1500)),
    );
    for _ in 0..50 {
        port.offer(&mut full_packet(), us(0));
    }
    assert_eq!(
        (port.counters().marks, port.counters().threshold_crossings),
        (9, 9)
    );
}

#[test]
fn a_mark_is_counted_by_the_port_that_made_it_and_by_none_behind() {
    struct Marked(u32);
    impl Watch for Marked {
        fn on_mark(&mut self, _: PortId, _: &Packet, _: Time) {
            self.0 += 1;
        }
    }
    // Every arrival finds the threshold reached.
    let congested = || port(Limit::Unlimited, Discipline::EcnThreshold(Limit::Bytes(0)));
    let mut packet = full_packet();
    for (marks, mut port) in [(1, congested()), (0, congested())] {
        let mut marked = Marked(0);
        port.offer_watched(&mut packet, us(0), PortId(0), &mut marked);
        assert_eq!((port.counters().marks, marked.0), (marks.into(), marks));
        assert_eq!(port.counters().threshold_crossings, 1);
    }
}

/// Levels with their times in microseconds.
#[derive(Default)]
struct Levels(Vec<(u64, u64)>);

impl Watch for Levels {
    fn on_level(&mut self, _port: PortId, waiting: u64, at: Time) {
        self.0
            .push((at.since(Time::ZERO).as_ps() / 1_000_000, waiting));
    }
}

#[test]
fn every_change_of_the_queue_is_reported_with_its_own_time() {
    let mut port = port(Limit::Unlimited, Discipline::DropTail);
    let mut levels = Levels::default();
    for _ in 0..3 {
        port.offer_watched(&mut full_packet(), us(0), PortId(7), &mut levels);
    }
    // Noticed late, at the end of the run, with the times at which transmissions began.
    port.settle_watched(us(1000), PortId(7), &mut levels, &mut |_| false);
    assert_eq!(levels.0, [(0, 1500), (0, 3000), (12, 1500), (24, 0)]);
}

#[test]
fn queue_statistics_follow_a_burst_down_to_zero() {
    let mut port = port(Limit::Unlimited, Discipline::DropTail);
    for _ in 0..3 {
        port.offer(&mut full_packet(), us(0));
    }
    // Waiting: 3000 bytes for 12 us, 1500 for 12 us, then 0 until 48 us.
    port.settle_watched(us(48), PortId(0), &mut (), &mut |_| false);
    let levels = port.close_statistics(us(48));
    assert!((levels.mean() - 1125.0).abs() < 1e-9);
    assert_eq!(
        [500, 750, 1000].map(|p| levels.percentile(p)),
        [0, 1500, 3000]
    );
}

#[test]
fn what_waits_before_the_measured_period_does_not_count() {
    let config = PortConfig {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_micros(40),
        jitter: None,
        bucket: None,
        limit: Limit::Unlimited,
        discipline: Discipline::DropTail,
        hook: None,
        priorities: Strict::FIFO,
        header_bytes: 54,
    };
    let mut port = Port::new(config, us(10));
    for _ in 0..3 {
        port.offer(&mut full_packet(), us(0));
    }
    // Waiting: 3000 bytes for 2 us, 1500 for 12 us, then 0 until 48 us.
    port.settle_watched(us(48), PortId(0), &mut (), &mut |_| false);
    let levels = port.close_statistics(us(48));
    assert_eq!(levels.total(), Span::from_micros(38));
    assert!((levels.mean() - 24_000.0 / 38.0).abs() < 1e-9);
}

/// Notes when the queue is empty.
struct Empty(std::sync::Arc<std::sync::Mutex<Vec<Time>>>);

impl QueueDisc for Empty {
    fn on_arrival(&mut self, _: Backlog, _: &mut Packet, _: Time) -> Verdict {
        Verdict::Accept
    }

    fn is_congested(&self, _: Backlog) -> bool {
        false
    }

    fn on_empty(&mut self, at: Time) {
        self.0.lock().unwrap().push(at);
    }
}

#[test]
fn a_discipline_hears_when_the_last_packet_begins_to_leave() {
    let heard = std::sync::Arc::<std::sync::Mutex<Vec<Time>>>::default();
    let discipline = Discipline::Custom(Box::new(Empty(heard.clone())));
    let mut port = port(Limit::Unlimited, discipline);
    for at in [0, 0, 0, 100, 100] {
        port.offer(&mut full_packet(), us(at));
    }
    port.settle_watched(us(200), PortId(0), &mut (), &mut |_| false);
    assert_eq!(*heard.lock().unwrap(), [us(24), us(112)]);
}

/// A call of a hook, its time in microseconds, and the packets that wait.
type Note = (&'static str, u64, u64);

/// A hook with a timer that notes every call.
#[derive(Default)]
struct Noting {
    notes: std::sync::Arc<std::sync::Mutex<Vec<Note>>>,
    period: Option<Span>,
    fired: u64,
    only: Option<Calls>,
}

impl Noting {
    fn note(&self, what: &'static str, queue: Backlog, at: Time) {
        let us = at.since(Time::ZERO).as_ps() / 1_000_000;
        self.notes.lock().unwrap().push((what, us, queue.packets));
    }
}

impl SwitchHook for Noting {
    fn calls(&self) -> Calls {
        self.only.unwrap_or(Calls::ALL)
    }

    fn on_arrival(&mut self, queue: Backlog, packet: &mut Packet, now: Time) {
        packet.reserved += 1;
        self.note("arrival", queue, now);
    }

    fn on_departure(&mut self, queue: Backlog, packet: &mut Packet, at: Time) {
        packet.reserved += 2;
        self.note("departure", queue, at);
    }

    fn on_level(&mut self, queue: Backlog, at: Time) {
        self.note("level", queue, at);
    }

    fn on_reverse(&mut self, queue: Backlog, _packet: &mut Packet, now: Time) {
        self.note("reverse", queue, now);
    }

    fn deadline(&self) -> Time {
        let next = |period| Time::ZERO + period * (self.fired + 1);
        self.period.map_or(Time::NEVER, next)
    }

    fn on_deadline(&mut self, queue: Backlog, at: Time) {
        self.fired += 1;
        self.note("timer", queue, at);
    }
}

fn hooked(priorities: u8, period: Option<Span>) -> (Port, Noting) {
    hooked_for(None, priorities, period)
}

/// A port whose hook wants only some calls.
fn hooked_for(only: Option<Calls>, priorities: u8, period: Option<Span>) -> (Port, Noting) {
    let twin = Noting::default();
    let hook = Noting {
        notes: twin.notes.clone(),
        period,
        fired: 0,
        only,
    };
    let config = PortConfig {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_micros(40),
        jitter: None,
        bucket: None,
        limit: Limit::Unlimited,
        discipline: Discipline::DropTail,
        hook: Some(Box::new(hook)),
        priorities: Strict::of(priorities),
        header_bytes: 54,
    };
    (Port::new(config, Time::ZERO), twin)
}

#[test]
fn a_hook_sees_departures_and_timers_in_order_though_the_port_is_touched_late() {
    let (mut port, hook) = hooked(1, Some(Span::from_micros(18)));
    for _ in 0..3 {
        port.offer(&mut full_packet(), us(0));
    }
    let mut ack = full_packet();
    port.reverse(&mut ack, us(36), PortId(0), &mut ());
    // Packets leave at 0, 12 and 24 us; the timer comes every 18 us, also at the instant of the ACK,
    // and before it.
    let notes = hook.notes.lock().unwrap();
    let expected = [
        ("arrival", 0, 0),
        ("departure", 0, 0),
        ("arrival", 0, 0),
        ("level", 0, 1),
        ("arrival", 0, 1),
        ("level", 0, 2),
        ("level", 12, 1),
        ("departure", 12, 1),
        ("timer", 18, 1),
        ("level", 24, 0),
        ("departure", 24, 0),
        ("timer", 36, 0),
        ("reverse", 36, 0),
    ];
    assert_eq!(*notes, expected);
}

#[test]
fn a_hook_is_called_only_for_what_it_wants() {
    for (only, expected) in [
        (Calls::LEVEL, &["level"; 4][..]),
        (Calls::ARRIVAL, &["arrival"; 3]),
        (Calls::DEPARTURE, &["departure"; 3]),
        (Calls::REVERSE, &["reverse"]),
        (
            Calls::REVERSE.with(Calls::TIMER),
            &["timer", "timer", "reverse"],
        ),
    ] {
        let (mut port, hook) = hooked_for(Some(only), 1, Some(Span::from_micros(18)));
        for _ in 0..3 {
            port.offer(&mut full_packet(), us(0));
        }
        port.settle_watched(us(36), PortId(0), &mut (), &mut |_| false);
        port.reverse(&mut full_packet(), us(36), PortId(0), &mut ());
        let notes = hook.notes.lock().unwrap();
        let notes: Vec<&str> = notes.iter().map(|(what, ..)| *what).collect();
        assert_eq!(notes, expected);
    }
}

/// When something was seen of a hook, in microseconds.
#[derive(Default)]
struct Seen(Vec<u64>);

impl Watch for Seen {
    fn on_hook(&mut self, _: PortId, _: &dyn SwitchHook, at: Time) {
        self.0.push(at.since(Time::ZERO).as_ps() / 1_000_000);
    }
}

#[test]
fn every_departure_that_a_hook_sees_is_told() {
    for priorities in [1, 2] {
        let (mut port, _) = hooked_for(Some(Calls::DEPARTURE), priorities, None);
        let mut seen = Seen::default();
        for _ in 0..3 {
            port.offer_watched(&mut full_packet(), us(0), PortId(0), &mut seen);
        }
        port.settle_watched(us(36), PortId(0), &mut seen, &mut |_| false);
        assert_eq!(seen.0, [0, 12, 24]);
    }
}

/// Wants to hear of queues above a length only, and notes them.
struct Above(u64, std::sync::Arc<std::sync::Mutex<Vec<u64>>>);

impl SwitchHook for Above {
    fn quiet(&self) -> Quiet {
        Quiet {
            least: 0,
            most: self.0,
        }
    }

    fn on_level(&mut self, queue: Backlog, _at: Time) {
        self.1.lock().unwrap().push(queue.packets);
    }
}

#[test]
fn a_hook_does_not_hear_of_lengths_that_tell_it_nothing() {
    // In packets where these limit the queue, else in bytes: 2 packets of 1500 are 3000.
    for (limit, most) in [
        (Limit::Packets(10), 2),
        (Limit::Bytes(15_000), 3000),
        (Limit::Unlimited, 3000),
    ] {
        let heard = std::sync::Arc::<std::sync::Mutex<Vec<u64>>>::default();
        let mut port = Port::new(
            PortConfig {
                rate: Rate::from_bps(1_000_000_000),
                delay: Span::from_micros(40),
                jitter: None,
                bucket: None,
                limit,
                discipline: Discipline::DropTail,
                hook: Some(Box::new(Above(most, heard.clone()))),
                priorities: Strict::FIFO,
                header_bytes: 54,
            },
            Time::ZERO,
        );
        for _ in 0..5 {
            port.offer(&mut full_packet(), us(0));
        }
        port.settle_watched(us(100), PortId(0), &mut (), &mut |_| false);
        // The queue grows to 4 and shrinks to 0.
        assert_eq!(*heard.lock().unwrap(), [3, 4, 3]);
    }
}

/// Wants packets of the other direction while packets wait, and notes when they come.
struct WhileWaiting(std::sync::Arc<std::sync::Mutex<Vec<Time>>>, bool);

impl SwitchHook for WhileWaiting {
    fn calls(&self) -> Calls {
        Calls::LEVEL.with(if self.1 { Calls::REVERSE } else { Calls::NONE })
    }

    fn on_level(&mut self, queue: Backlog, _at: Time) {
        self.1 = queue.packets > 0;
    }

    fn on_reverse(&mut self, _queue: Backlog, _packet: &mut Packet, now: Time) {
        self.0.lock().unwrap().push(now);
    }
}

#[test]
fn what_a_hook_wants_changes_with_the_queue() {
    let came = std::sync::Arc::<std::sync::Mutex<Vec<Time>>>::default();
    let mut port = Port::new(
        PortConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: Span::from_micros(40),
            jitter: None,
            bucket: None,
            limit: Limit::Unlimited,
            discipline: Discipline::DropTail,
            hook: Some(Box::new(WhileWaiting(came.clone(), false))),
            priorities: Strict::FIFO,
            header_bytes: 54,
        },
        Time::ZERO,
    );
    // The second packet waits until 12 us, which an ACK at 13 us finds out.
    port.reverse(&mut full_packet(), us(0), PortId(0), &mut ());
    port.offer(&mut full_packet(), us(0));
    port.reverse(&mut full_packet(), us(1), PortId(0), &mut ());
    port.offer(&mut full_packet(), us(2));
    for at in [3, 11, 13, 14] {
        port.reverse(&mut full_packet(), us(at), PortId(0), &mut ());
    }
    assert_eq!(*came.lock().unwrap(), [us(3), us(11)]);
}

#[test]
fn what_a_hook_writes_into_a_packet_travels_on() {
    // Changed at arrival (1) and at departure (2), by both kinds of port, whether it waits or not.
    for priorities in [1, 2] {
        let (mut port, _) = hooked(priorities, None);
        for _ in 0..2 {
            port.offer(&mut full_packet(), us(0));
        }
        for at in [52, 64] {
            assert_eq!(arrived(&mut port, us(at)).reserved, 3);
        }
    }
}

/// The packet that arrives behind `port` at `at`.
fn arrived(port: &mut Port, at: Time) -> Packet {
    port.arrive(at, PortId(0), &mut (), &mut |_| false)
}

fn with_priority(class: u8) -> Packet {
    let mut packet = full_packet();
    packet.dscp = class;
    packet
}

// Clauses: RC3-2.3-queue
#[test]
fn the_first_class_overtakes_what_waits_but_not_what_is_being_sent() {
    let (mut port, hook) = hooked(2, None);
    assert_eq!(
        port.offer(&mut with_priority(1), us(0)),
        Offer::First(us(52))
    );
    // Whether these wait is known, and not yet when they leave.
    assert_eq!(port.offer(&mut with_priority(1), us(1)), Offer::Queued);
    assert_eq!(port.offer(&mut with_priority(0), us(2)), Offer::Queued);
    assert_eq!(port.held(), 3);
    // A packet whose transmission begins at the instant of an arrival has left the queue before it.
    assert_eq!(port.offer(&mut with_priority(0), us(24)), Offer::Queued);
    let order = [52, 64, 76, 88].map(|at| arrived(&mut port, us(at)).dscp);
    assert_eq!(order, [1, 0, 1, 0]);
    assert_eq!(port.held(), 0);
    let levels: Vec<u64> = hook
        .notes
        .lock()
        .unwrap()
        .iter()
        .filter(|(what, ..)| *what == "level")
        .map(|(.., packets)| *packets)
        .collect();
    assert_eq!(levels, [1, 2, 1, 0, 1, 0]);
}

// Clauses: RC3-2.3-queue
#[test]
fn classes_share_the_limit_and_the_arriving_packet_is_dropped() {
    // PIAS: no packet of a lower class makes room.
    let mut port = Port::new(
        PortConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: Span::from_micros(40),
            jitter: None,
            bucket: None,
            limit: Limit::Packets(2),
            discipline: Discipline::DropTail,
            hook: None,
            priorities: Strict::of(8),
            header_bytes: 54,
        },
        Time::ZERO,
    );
    for _ in 0..3 {
        port.offer(&mut with_priority(7), us(0));
    }
    assert_eq!(port.offer(&mut with_priority(0), us(1)), Offer::Dropped);
    assert_eq!(port.offer(&mut with_priority(0), us(12)), Offer::Queued);
}

/// A port of 1 Gbit/s whose packets take 12 us, with room for some and classes that push out.
fn pushing_out(limit: Limit) -> Port {
    Port::new(
        PortConfig {
            rate: Rate::from_bps(1_000_000_000),
            delay: Span::from_micros(40),
            jitter: None,
            bucket: None,
            limit,
            discipline: Discipline::DropTail,
            hook: None,
            priorities: Strict {
                classes: 4,
                push_out: true,
            },
            header_bytes: 54,
        },
        Time::ZERO,
    )
}

// Clauses: RC3-2.3-drop
#[test]
fn the_newest_packet_of_the_lowest_class_makes_room_for_a_higher_one() {
    let mut port = pushing_out(Limit::Packets(3));
    let mut dropped = Dropped::default();
    let mut offer = |port: &mut Port, class, number: u32| {
        let mut packet = with_priority(class);
        packet.flow = FlowId(number);
        port.offer_watched(&mut packet, us(1), PortId(0), &mut dropped)
    };
    port.offer(&mut with_priority(0), us(0));
    assert_eq!(offer(&mut port, 2, 1), Offer::Queued);
    assert_eq!(offer(&mut port, 3, 2), Offer::Queued);
    assert_eq!(offer(&mut port, 3, 3), Offer::Queued);
    // Of class 3 the newest goes, then the other, then class 2 for class 1, never its own class.
    assert_eq!(offer(&mut port, 1, 4), Offer::Displacing);
    assert_eq!(offer(&mut port, 0, 5), Offer::Displacing);
    assert_eq!(offer(&mut port, 2, 6), Offer::Dropped);
    assert_eq!(offer(&mut port, 1, 7), Offer::Displacing);
    assert_eq!(offer(&mut port, 1, 8), Offer::Dropped);
    assert_eq!(dropped.0, [3, 2, 6, 1, 8]);
    let counters = port.counters();
    assert_eq!((counters.packets, counters.drops), (4, 5));
    assert_eq!(counters.bytes, 4 * 1500, "of what was not pushed out");
    assert_eq!(port.take_gone(), 3);
    assert_eq!(port.held(), 4);
}

#[test]
fn nothing_is_pushed_out_that_would_not_make_room() {
    let mut port = pushing_out(Limit::Bytes(2999));
    let mut small = with_priority(3);
    small.payload = 46;
    port.offer(&mut with_priority(0), us(0));
    assert_eq!(port.offer(&mut with_priority(1), us(1)), Offer::Queued);
    assert_eq!(port.offer(&mut small, us(1)), Offer::Queued);
    // Without the 100 bytes of class 3 it would still be one byte too many.
    assert_eq!(port.offer(&mut with_priority(1), us(2)), Offer::Dropped);
    assert_eq!((port.held(), port.counters().drops), (3, 1));
    // A packet of class 0 needs the place of class 1, too.
    assert_eq!(port.offer(&mut with_priority(0), us(3)), Offer::Displacing);
    assert_eq!((port.held(), port.counters().drops), (2, 3));
    assert_eq!(port.take_gone(), 2);
}

#[test]
fn the_turn_of_a_packet_pushed_out_is_that_of_what_followed_it() {
    let mut port = pushing_out(Limit::Packets(1));
    port.offer(&mut with_priority(0), us(0));
    assert_eq!(port.offer(&mut with_priority(3), us(1)), Offer::Queued);
    assert_eq!(port.offer(&mut with_priority(0), us(2)), Offer::Displacing);
    assert_eq!(port.take_gone(), 1);
    assert_eq!(port.counters().packets, 2);
    assert_eq!(port.offer(&mut with_priority(3), us(13)), Offer::Queued);
    let order = [52, 64, 76].map(|at| arrived(&mut port, us(at)).dscp);
    assert_eq!(order, [0, 0, 3]);
}

#[test]
fn packets_of_low_priority_that_are_stale_are_withdrawn_and_the_next_leaves_at_once() {
    let mut port = pushing_out(Limit::Packets(9));
    let settle = |port: &mut Port, at, stale: &mut dyn FnMut(&Packet) -> bool| {
        port.settle_watched(us(at), PortId(0), &mut (), &mut |packet: &Packet| {
            stale(packet)
        });
    };
    port.offer(&mut with_priority(0), us(0));
    for class in [1, 2, 3] {
        port.offer(&mut with_priority(class), us(1));
    }
    settle(&mut port, 12, &mut |packet| packet.dscp < 3);
    assert_eq!((port.take_gone(), port.counters().packets), (2, 2));
    assert_eq!(port.held(), 2);
    // All that is left is stale: nothing leaves, and the port is idle.
    port.offer(&mut with_priority(1), us(13));
    settle(&mut port, 24, &mut |_| true);
    assert_eq!((port.take_gone(), port.held()), (1, 2));
    assert_eq!(port.offer(&mut with_priority(1), us(25)), Offer::Queued);
    let order = [52, 64, 77].map(|at| arrived(&mut port, us(at)).dscp);
    assert_eq!(order, [0, 3, 1]);
}

/// The flows of dropped packets.
#[derive(Default)]
struct Dropped(Vec<u32>);

impl Watch for Dropped {
    fn on_drop(&mut self, _: PortId, packet: &Packet, _: DropReason, _: Time) {
        self.0.push(packet.flow.0);
    }
}

/// A port that marks at two packets behind the one that leaves, or before the one that arrives.
fn marking(at_departure: bool, classes: Strict) -> Port {
    let marks = Discipline::EcnThreshold(Limit::Packets(2));
    let (discipline, departure) = if at_departure {
        (Discipline::DropTail, Some(marks))
    } else {
        (marks, None)
    };
    let config = PortConfig {
        rate: Rate::from_bps(8_000_000_000),
        delay: Span::from_micros(10),
        jitter: None,
        bucket: None,
        limit: Limit::Unlimited,
        discipline,
        hook: None,
        priorities: classes,
        header_bytes: 0,
    };
    Port::new(config, Time::ZERO).with_departure_marks(departure)
}

// HPCC's simulator (SwitchNotifyDequeue): the first of a burst has the others behind it, the last none.
#[test]
fn marks_at_departure_hit_the_front_of_a_burst_and_marks_at_arrival_its_end() {
    let two = Strict {
        classes: 2,
        ..Strict::FIFO
    };
    for classes in [Strict::FIFO, two] {
        for (at_departure, expected) in [
            (true, [false, true, true, true, false, false]),
            (false, [false, false, false, true, true, true]),
        ] {
            let mut port = marking(at_departure, classes);
            for number in 0..6 {
                let mut packet = Packet::new(FlowId(number), HostId(0));
                (packet.payload, packet.ecn) = (1000, Ecn::Capable);
                port.offer(&mut packet, Time::ZERO);
            }
            let mut marked = Vec::new();
            while let Some(at) = port.next_arrival() {
                let packet = port.arrive(at, PortId(0), &mut (), &mut |_| false);
                marked.push(packet.ecn == Ecn::Marked);
            }
            assert_eq!(marked, expected, "{at_departure}");
            assert_eq!(port.counters().marks, 3);
        }
    }
}

// The queue that counts is the one at the departure: what comes after the arrival counts, what has left by then does not.
#[test]
fn what_arrives_behind_a_waiting_packet_marks_it() {
    let mut port = marking(true, Strict::FIFO);
    let mut offer = |number: u32, us: u64| {
        let mut packet = Packet::new(FlowId(number), HostId(0));
        (packet.payload, packet.ecn) = (1000, Ecn::Capable);
        port.offer(&mut packet, Time::ZERO + Span::from_micros(us));
    };
    // A microsecond for each: the second leaves at 1 us, with two behind it that came at that time at the latest.
    for (number, us) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2)] {
        offer(number, us);
    }
    let mut marked = Vec::new();
    while let Some(at) = port.next_arrival() {
        let packet = port.arrive(at, PortId(0), &mut (), &mut |_| false);
        marked.push(packet.ecn == Ecn::Marked);
    }
    // At 1 us the second leaves before the fourth comes; at 2 us the third leaves before the fifth comes.
    assert_eq!(marked, [false; 5]);
    let mut port = marking(true, Strict::FIFO);
    for number in 0..2 {
        let mut packet = Packet::new(FlowId(number), HostId(0));
        (packet.payload, packet.ecn) = (1000, Ecn::Capable);
        port.offer(&mut packet, Time::ZERO);
    }
    for number in 2..4 {
        let mut packet = Packet::new(FlowId(number), HostId(0));
        (packet.payload, packet.ecn) = (1000, Ecn::Capable);
        port.offer(&mut packet, Time::ZERO + Span::from_nanos(999));
    }
    let first = port.next_arrival().expect("a packet");
    port.arrive(first, PortId(0), &mut (), &mut |_| false);
    let second = port.next_arrival().expect("a packet");
    let packet = port.arrive(second, PortId(0), &mut (), &mut |_| false);
    assert_eq!(packet.ecn, Ecn::Marked);
}
