//! Hooks by themselves, with packets as a test makes them.

use std::collections::BTreeSet;

use base::{FlowId, HostId, Packet, Seq, Span, TcpFlags, Time};
use fabric::SwitchHook;
use proptest::prelude::*;

use crate::pair::{BUFFER, port_info, roles, waiting};

const ACK: TcpFlags = TcpFlags::ACK;
const SYN_ACK: TcpFlags = TcpFlags::ACK.with(TcpFlags::SYN);
const FIN_ACK: TcpFlags = TcpFlags::ACK.with(TcpFlags::FIN);

fn hook(scheme: &str, changed: &[(&str, &str)]) -> Box<dyn SwitchHook> {
    let make = roles(scheme, changed).hook.expect("a scheme of switches");
    make(&port_info())
}

fn gauge(hook: &dyn SwitchHook, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    hook.gauges(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

/// A gauge that counts.
#[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
fn number(hook: &dyn SwitchHook, wanted: &str) -> i64 {
    libm::round(gauge(hook, wanted)) as i64
}

fn packet(flow: u32, flags: TcpFlags) -> Packet {
    let mut packet = Packet::new(FlowId(flow), HostId(0));
    packet.flags = flags;
    packet.window = 65_535;
    packet
}

fn comes(hook: &mut dyn SwitchHook, flow: u32, flags: TcpFlags, now: Time) -> u16 {
    let mut packet = packet(flow, flags);
    hook.on_reverse(waiting(0), &mut packet, now);
    packet.window
}

/// Lets the hook's timers pass, with so much waiting.
fn pass(hook: &mut dyn SwitchHook, until: Time, packets: u64) -> u32 {
    let mut calls = 0;
    while hook.deadline() <= until {
        let due = hook.deadline();
        hook.on_deadline(waiting(packets), due);
        assert!(hook.deadline() > due);
        calls += 1;
    }
    calls
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

#[test]
fn a_port_without_flows_has_no_timer() {
    let mut hook = hook("rwndq", &[]);
    assert_eq!(hook.deadline(), Time::NEVER);
    // Samples come at multiples of 50 us.
    comes(&mut *hook, 0, SYN_ACK, us(120));
    assert_eq!(hook.deadline(), us(150));
    assert_eq!(pass(&mut *hook, us(1_000_000), 0), 19_998);
    comes(&mut *hook, 0, FIN_ACK, us(1_000_000));
    assert_eq!(hook.deadline(), Time::NEVER);
}

#[test]
fn what_is_sent_twice_counts_once() {
    for count in ["exact", "bloom"] {
        let mut hook = hook("rwndq", &[("rwndq.count", count)]);
        for flags in [SYN_ACK, SYN_ACK, ACK] {
            comes(&mut *hook, 1, flags, us(1));
            comes(&mut *hook, 2, flags, us(2));
        }
        assert_eq!(number(&*hook, "counted_flows"), 2, "{count}");
        for flags in [FIN_ACK, FIN_ACK, TcpFlags::RST] {
            comes(&mut *hook, 1, flags, us(3));
        }
        assert_eq!(number(&*hook, "counted_flows"), 1, "{count}");
        assert_eq!(number(&*hook, "count_error_flows"), 0, "{count}");
    }
}

// Clauses: RWNDQ-alg1-leave
#[test]
fn fifty_mice_take_their_share_and_give_it_back() {
    // Five flows share the target of 0.2 * 84 packets, 25 200 bytes, until fifty more come.
    let mut hook = hook("rwndq", &[]);
    for flow in 0..5 {
        comes(&mut *hook, flow, SYN_ACK, us(1));
    }
    assert_eq!(comes(&mut *hook, 0, ACK, us(1)), 25_200 / 5);
    for flow in 5..55 {
        comes(&mut *hook, flow, SYN_ACK, us(2));
    }
    // 25 200 / 55 = 458 bytes are less than a segment, which is written.
    assert!((gauge(&*hook, "granted_window_bytes") - 25_200.0 / 55.0).abs() < 0.01);
    assert_eq!(comes(&mut *hook, 0, ACK, us(2)), 1460);
    for flow in 5..55 {
        comes(&mut *hook, flow, FIN_ACK, us(3));
    }
    assert!((gauge(&*hook, "granted_window_bytes") - 25_200.0 / 5.0).abs() < 0.1);
}

#[test]
fn a_filter_that_is_too_small_loses_count_and_says_so() {
    let small = [("rwndq.count", "bloom"), ("rwndq.bloom_flows", "100")];
    let mut hook = hook(
        "rwndq",
        &[&small[..], &[("rwndq.bloom_error", "0.1")]].concat(),
    );
    for flow in 0..1000 {
        comes(&mut *hook, flow, SYN_ACK, us(1));
    }
    let error = number(&*hook, "count_error_flows");
    assert!(error < -100, "{error}");
    // Made for them, it misses few: far less than a hundredth while it fills.
    let mut right = self::hook(
        "rwndq",
        &[("rwndq.count", "bloom"), ("rwndq.bloom_flows", "1000")],
    );
    for flow in 0..1000 {
        comes(&mut *right, flow, SYN_ACK, us(1));
    }
    let error = number(&*right, "count_error_flows");
    assert!((-10..=0).contains(&error), "{error}");
}

#[test]
fn a_controller_is_right_and_late() {
    let mut hook = hook("rwndq", &[("rwndq.count", "controller")]);
    comes(&mut *hook, 0, SYN_ACK, us(100));
    comes(&mut *hook, 1, SYN_ACK, us(100));
    assert_eq!(number(&*hook, "count_error_flows"), -2);
    assert_eq!(hook.deadline(), us(1100));
    pass(&mut *hook, us(1100), 0);
    assert_eq!(number(&*hook, "counted_flows"), 2);
    assert_eq!(hook.deadline(), us(1150));
    comes(&mut *hook, 0, FIN_ACK, us(1120));
    assert_eq!(number(&*hook, "count_error_flows"), 1);
    pass(&mut *hook, us(2120), 0);
    assert_eq!(number(&*hook, "counted_flows"), 1);
}

#[test]
fn a_connection_counts_in_the_datas_direction_or_in_both() {
    for (both, flows) in [("false", 0), ("true", 1)] {
        // The SYN-ACK leaves through this port: it is the one towards the host that opens.
        let mut hook = hook("rwndq", &[("rwndq.count_both", both)]);
        hook.on_arrival(waiting(0), &mut packet(0, SYN_ACK), us(1));
        assert_eq!(number(&*hook, "counted_flows"), flows);
        // The FIN of the host that opened comes in.
        comes(&mut *hook, 0, FIN_ACK, us(2));
        assert_eq!(number(&*hook, "counted_flows"), 0);
    }
    // A reset on the way of the data gets no answer and ends the flow itself.
    let mut hook = hook("rwndq", &[]);
    comes(&mut *hook, 0, SYN_ACK, us(1));
    hook.on_arrival(waiting(0), &mut packet(0, TcpFlags::RST), us(2));
    assert_eq!(number(&*hook, "counted_flows"), 0);
}

/// An ACK of one more segment than the one before it.
fn acknowledges(hook: &mut dyn SwitchHook, flow: u32, number: u32, now: Time) -> u16 {
    let mut packet = packet(flow, ACK);
    packet.ack = Seq(number);
    hook.on_reverse(waiting(0), &mut packet, now);
    packet.window
}

#[test]
fn idle_connections_leave_their_share_until_they_come_back() {
    let mut hook = hook("rwndq", &[("rwndq.idle_after", "700us")]);
    for flow in 0..5 {
        comes(&mut *hook, flow, SYN_ACK, us(1));
    }
    // One is active; nothing of the others is acknowledged, whatever else they send.
    for number in 0..20 {
        acknowledges(&mut *hook, 0, number, us(50 * u64::from(number) + 2));
        comes(&mut *hook, 1, ACK, us(50 * u64::from(number) + 2));
    }
    assert_eq!(number(&*hook, "counted_flows"), 1);
    assert_eq!(number(&*hook, "count_error_flows"), 0);
    assert!((gauge(&*hook, "granted_window_bytes") - 25_200.0).abs() < 0.1);
    assert_eq!(acknowledges(&mut *hook, 1, 7, us(1_000)), 25_200 / 2);
    assert_eq!(number(&*hook, "counted_flows"), 2);
    // An idle one closes, and an active one.
    comes(&mut *hook, 2, FIN_ACK, us(1_001));
    assert_eq!(number(&*hook, "counted_flows"), 2);
    comes(&mut *hook, 1, FIN_ACK, us(1_002));
    assert_eq!(number(&*hook, "counted_flows"), 1);
    // The timer finds the last one idle, and ends with it.
    assert!(hook.deadline() < Time::NEVER);
    let calls = pass(&mut *hook, us(10_000), 0);
    // It was active last at 952 us, and is idle 700 to 800 us later.
    assert!((33..=35).contains(&calls), "{calls} samples of 50 us");
    assert_eq!(hook.deadline(), Time::NEVER);
    assert_eq!(acknowledges(&mut *hook, 0, 99, us(11_000)), 25_200);
    assert_eq!(hook.deadline(), us(11_050));
}

#[test]
fn ports_that_know_no_connection_cannot_tell_which_are_idle() {
    for count in ["bloom", "controller"] {
        let misfits = roles(
            "rwndq",
            &[("rwndq.count", count), ("rwndq.idle_after", "1ms")],
        )
        .misfits;
        let message = &misfits[0].message;
        assert!(message.contains("know every connection"), "{message}");
    }
    assert_eq!(
        roles("rwndq", &[("rwndq.idle_after", "0us")]).misfits.len(),
        1
    );
}

// Clauses: RWNDQ-alg1-23
#[test]
fn the_window_follows_the_queue_once_every_ten_samples() {
    let mut hook = hook("rwndq", &[]);
    let window = |hook: &dyn SwitchHook| gauge(hook, "granted_window_bytes");
    hook.on_departure(waiting(0), &mut full(), us(0));
    comes(&mut *hook, 0, SYN_ACK, us(0));
    assert_eq!(pass(&mut *hook, us(499), 0), 9);
    assert!((window(&*hook) - 25_200.0).abs() < 0.1);
    // Slow start: two packets of 1500 bytes, and the last two when the target is found reached.
    pass(&mut *hook, us(500), 0);
    assert!((window(&*hook) - 28_200.0).abs() < 0.1);
    pass(&mut *hook, us(1000), BUFFER);
    assert!((window(&*hook) - 31_200.0).abs() < 0.1);
    // A full buffer takes four packets off: 1 - 1/0.2.
    pass(&mut *hook, us(1500), BUFFER);
    assert!((window(&*hook) - 25_200.0).abs() < 0.5);
}

// An empty queue says that there is room, also where nobody sends: slow start never ends.
#[test]
fn the_window_of_idle_flows_grows() {
    let mut hook = hook("rwndq", &[]);
    hook.on_departure(waiting(0), &mut full(), us(0));
    comes(&mut *hook, 0, SYN_ACK, us(0));
    // 200 updates in 100 ms, two packets of 1500 bytes each.
    pass(&mut *hook, us(100_000), 0);
    let window = gauge(&*hook, "granted_window_bytes");
    assert!(
        (window - (25_200.0 + 200.0 * 3000.0)).abs() < 0.1,
        "{window}"
    );
    // The largest window that a header can carry is the end: 65 535 units of 2^14.
    pass(&mut *hook, us(200_000_000), 0);
    let window = gauge(&*hook, "granted_window_bytes");
    assert!((window - 65_535.0 * 16_384.0).abs() < 0.1, "{window}");
}

fn full() -> Packet {
    let mut packet = packet(0, ACK);
    packet.payload = 1460;
    packet
}

/// Something that happens at a port.
#[derive(Clone, Copy, Debug)]
enum Event {
    Level(u64),
    Reverse {
        flow: u32,
        flags: u8,
        window: u16,
        shift: u8,
    },
    Forward {
        flow: u32,
        flags: u8,
        payload: u16,
    },
    Time(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let flags = prop::sample::select(
        &[
            0x10_u8, 0x10, 0x10, 0x18, 0x12, 0x11, 0x04, 0x14, 0x02, 0x50,
        ][..],
    );
    prop_oneof![
        (0..=BUFFER).prop_map(Event::Level),
        (0..6_u32, flags.clone(), any::<u16>(), 0..=15_u8).prop_map(
            |(flow, flags, window, shift)| Event::Reverse {
                flow,
                flags,
                window,
                shift
            }
        ),
        (0..6_u32, flags, 0..=1460_u16).prop_map(|(flow, flags, payload)| Event::Forward {
            flow,
            flags,
            payload
        }),
        (0..2000_u64).prop_map(Event::Time),
    ]
}

fn flags_of(byte: u8) -> TcpFlags {
    let all = [
        TcpFlags::FIN,
        TcpFlags::SYN,
        TcpFlags::RST,
        TcpFlags::PSH,
        TcpFlags::ACK,
        TcpFlags::ECE,
    ];
    let set = all.into_iter().filter(|flag| byte & flag.bits() != 0);
    set.fold(TcpFlags::NONE, TcpFlags::with)
}

/// What a test knows of a port.
struct Model {
    hook: Box<dyn SwitchHook>,
    now: Time,
    queue: u64,
    is_on: bool,
    open: BTreeSet<u32>,
}

impl Model {
    fn new(scheme: &str) -> Self {
        Self {
            hook: hook(scheme, &[]),
            now: Time::ZERO,
            queue: 0,
            is_on: false,
            open: BTreeSet::new(),
        }
    }

    /// Returns a packet of the reverse path as it came and as it left.
    fn happens(&mut self, event: Event) -> Option<(Packet, Packet)> {
        match event {
            Event::Level(packets) => {
                self.queue = packets;
                self.hook.on_level(waiting(packets), self.now);
                // alpha1 * 84 = 21 packets, alpha2 * 84 = 42.
                self.is_on = if self.is_on {
                    packets >= 21
                } else {
                    packets > 42
                };
                None
            }
            Event::Time(us) => {
                self.now += Span::from_micros(us);
                pass(&mut *self.hook, self.now, self.queue);
                None
            }
            Event::Forward {
                flow,
                flags,
                payload,
            } => {
                let mut packet = packet(flow, flags_of(flags));
                packet.payload = payload;
                let before = packet;
                self.hook
                    .on_arrival(waiting(self.queue), &mut packet, self.now);
                self.hook
                    .on_departure(waiting(self.queue), &mut packet, self.now);
                assert_eq!(
                    format!("{packet:?}"),
                    format!("{before:?}"),
                    "data is left alone"
                );
                if packet.flags.has(TcpFlags::RST) {
                    self.open.remove(&flow);
                }
                None
            }
            Event::Reverse {
                flow,
                flags,
                window,
                shift,
            } => {
                let mut packet = packet(flow, flags_of(flags));
                (packet.window, packet.reserved) = (window, shift);
                let before = packet;
                self.hook
                    .on_reverse(waiting(self.queue), &mut packet, self.now);
                let flags = packet.flags;
                if flags.has(SYN_ACK) {
                    self.open.insert(flow);
                } else if flags.has(TcpFlags::FIN) || flags.has(TcpFlags::RST) {
                    self.open.remove(&flow);
                }
                Some((before, packet))
            }
        }
    }
}

/// Only the window may change, only downwards, never to zero, and only in ACKs of data.
fn expect_lowered(before: &Packet, after: &Packet) {
    let mut restored = *after;
    restored.window = before.window;
    assert_eq!(format!("{restored:?}"), format!("{before:?}"));
    assert!(after.window <= before.window);
    assert!(after.window > 0 || before.window == 0);
    let flags = before.flags;
    let other = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST];
    if !flags.has(ACK) || other.into_iter().any(|flag| flags.has(flag)) {
        assert_eq!(after.window, before.window);
    }
}

proptest! {
    #[test]
    fn hscc_rewrites_exactly_while_it_is_on(events in prop::collection::vec(event(), 1..200)) {
        let mut model = Model::new("hscc");
        for event in events {
            let Some((before, after)) = model.happens(event) else { continue };
            expect_lowered(&before, &after);
            let shift = before.reserved.min(14);
            let is_ack = before.flags.has(ACK)
                && ![TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST].into_iter().any(|flag| before.flags.has(flag));
            if model.is_on && is_ack {
                // A segment of 1460 bytes fits, and would not with a unit less.
                let bytes = u64::from(after.window) << shift;
                prop_assert!(bytes >= 1460 || after.window == before.window);
                prop_assert!(after.window <= 1 || bytes - (1 << shift) < 1460);
            } else {
                prop_assert_eq!(after.window, before.window);
            }
        }
    }

    #[test]
    fn rwndq_counts_open_flows_and_sleeps_without(events in prop::collection::vec(event(), 1..200)) {
        let mut model = Model::new("rwndq");
        for event in events {
            let rewritten = model.happens(event);
            if let Some((before, after)) = rewritten {
                expect_lowered(&before, &after);
                let bytes = u64::from(after.window) << before.reserved.min(14);
                prop_assert!(bytes >= 1460 || after.window == before.window);
            }
            let open = i64::try_from(model.open.len()).expect("six flows");
            prop_assert_eq!(number(&*model.hook, "counted_flows"), open);
            prop_assert_eq!(model.hook.deadline() == Time::NEVER, model.open.is_empty());
            prop_assert!(model.hook.deadline() > model.now);
        }
    }
}
