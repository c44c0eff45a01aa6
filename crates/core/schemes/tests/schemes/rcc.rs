//! Senders and a receiving host under RCC, with any of its options, over a channel that loses, repeats,
//! delays and marks, in random order.
//!
//! After every operation the budget holds for the data in flight and for the windows, and the count of
//! data in flight is not above what the packets themselves tell; when the losses stop no ACK stays in
//! the buffer queue, the data of every flow arrives and the count returns to zero. A failure prints the
//! shortest lists of flows and operations that proptest finds; put them into `run` to repeat it.

use base::Span;
use proptest::prelude::*;
use schemes::Receiver;
use tcp::{Config, Slot};

use crate::star::{self, Fate, Flow, Star};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        // A flow that never ends takes long to show it.
        max_shrink_time: 20_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_budget_holds_and_no_ack_is_held_for_ever(
        options in options(),
        flows in prop::collection::vec(flow(), 1..30),
        operations in prop::collection::vec(operation(), 0..150),
    ) {
        run(&options, &flows, &operations);
    }
}

// rcc §6: a grant that is lost, with its ACK or with its data, does not use up the budget for ever.
// Clauses: RCC-alg3-5
#[test]
fn a_lost_grant_is_granted_again() {
    let options = Options(vec![("rcc.max_queue", "1pkt".to_owned())]);
    let flow = Flow {
        size: 10_000,
        known: true,
    };
    let syn_ack = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::BlackoutAcks,
    ];
    let ack = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::Data(1),
        Operation::BlackoutAcks,
    ];
    let data = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::BlackoutData,
    ];
    for lost in [&syn_ack[..], &ack[..], &data[..]] {
        run(&options, &[flow; 3], lost);
    }
}

// RDTCP, unknown queue threshold: no bound before the first mark, what is in flight then, no change
// after.
// Clauses: RDTCP-budget
#[test]
fn the_first_mark_tells_the_budget() {
    let roles = star::roles("rcc", &[("rcc.max_queue", "auto".to_owned())]);
    let flow = Flow {
        size: 100_000,
        known: true,
    };
    let mut star = Star::new(&roles, star::config(), &[flow; 5], invariants);
    (0..5).for_each(|flow| star.open(flow));
    // SYNs, then two rounds of slow start without a bound: 5 and 10 packets, 20 granted. Ahead of the
    // first five come the ACKs of the handshake.
    for (packets, acks) in [(5, 5), (5 + 5, 5), (10, 10)] {
        (0..packets).for_each(|_| star.deliver_data());
        (0..acks).for_each(|_| star.deliver_ack());
    }
    let packet = u64::from(star::MSS);
    assert_eq!(scheduler(&star).budget(), None);
    assert_eq!(scheduler(&star).flight(), 20 * packet);
    star::mark(&mut star.data[0]);
    star.deliver_data();
    assert_eq!(scheduler(&star).budget(), Some(20 * packet));
    assert_eq!(scheduler(&star).windows().sum::<u64>(), 20);
    star::mark(&mut star.data[0]);
    star.deliver_data();
    assert_eq!(scheduler(&star).budget(), Some(20 * packet));
    star.settle();
}

// RCC Alg. 1, at every end: the windows of a crowd are one packet, and those who stay take over.
// Clauses: RCC-alg1-calls
#[test]
fn the_last_flow_of_a_crowd_has_the_whole_budget() {
    let flow = |size| Flow { size, known: true };
    let mut flows = vec![flow(2_000); 60];
    flows.push(flow(300_000));
    let mut star = Star::new(&star::roles("rcc", &[]), star::config(), &flows, invariants);
    (0..61).for_each(|flow| star.open(flow));
    while scheduler(&star).windows().count() < 61 {
        star.deliver_data();
    }
    assert_eq!(scheduler(&star).windows().max(), Some(1));
    while scheduler(&star).windows().count() > 1 {
        star.deliver_data();
        star.deliver_ack();
    }
    assert_eq!(scheduler(&star).windows().max(), Some(40));
    star.settle();
}

// RCC §4.5: the timer does not run while the ACK waits, however long that is.
// Clauses: RCC-alg3-1
#[test]
fn waiting_in_the_buffer_queue_is_no_reason_to_send_an_ack_again() {
    let changed = [
        ("rcc.max_queue", "1pkt".to_owned()),
        ("rcc.priority", "off".to_owned()),
    ];
    let flow = Flow {
        size: 10_000,
        known: true,
    };
    let roles = star::roles("rcc", &changed);
    // A turn of 160 us for each of 100 flows: an ACK waits 16 ms, and RTO_r is 10 ms.
    let mut star = Star::new(&roles, star::config(), &[flow; 100], invariants);
    star.settle();
    assert_eq!(scheduler(&star).timeouts(), 0);
}

// RCC footnote 7: the third segment beyond a gap orders the repair, and so does each gap after it.
#[test]
fn a_receiver_alone_repairs_every_gap_of_a_window_without_a_timeout() {
    for alone in [false, true] {
        let changed = [
            ("rcc.sender_retransmits", (!alone).to_string()),
            ("rcc.merge_dupacks", "push".to_owned()),
        ];
        let flow = Flow {
            size: 60_000,
            known: true,
        };
        let roles = star::roles("rcc", &changed);
        let mut star = Star::new(&roles, star::config(), &[flow], invariants);
        star.run(|number, packet| match number {
            40..60 if packet.payload > 0 && number % 5 == 0 => Fate::IsLost,
            _ => Fate::Arrives,
        });
        let counters = star.senders[0].endpoint.counters();
        assert!(counters.retransmissions >= 2, "{counters:?}");
        assert_eq!((counters.timeouts, scheduler(&star).timeouts()), (0, 0));
        assert_eq!(counters.fast_recoveries == 0, alone, "{counters:?}");
    }
}

// rcc §12: a flow of unknown size that has nothing to send gives its grant back with each timeout.
#[test]
fn an_idle_flow_of_unknown_size_does_not_keep_its_grant() {
    let roles = star::roles("rcc", &[("rcc.max_queue", "1pkt".to_owned())]);
    let (idle, busy) = (0, 1);
    let flow = |known| Flow { size: 5_000, known };
    let flows = [flow(false), flow(true)];
    let mut star = Star::new(&roles, star::config(), &flows, invariants);
    star.senders[idle].endpoint.connect();
    star.flush(idle);
    star.deliver_data();
    star.deliver_ack();
    star.deliver_data();
    assert_eq!(Some(scheduler(&star).flight()), scheduler(&star).budget());
    star.open(busy);
    for _ in 0..20_000 {
        star.deliver_data();
        star.deliver_ack();
        star.advance_to(star.now + Span::from_micros(100));
    }
    let slot = Slot(u32::try_from(busy).expect("a few flows"));
    assert_eq!(star.host.endpoint(slot).received(), 5_000);
    // Two seconds: at 10 ms, 20 ms, ..., 640 ms, 640 ms.
    assert!(scheduler(&star).timeouts() >= 7);
    star.settle();
}

// RCC footnote 7: an ACK is lost with its grant, the only one there is; an old segment comes and its ACK
// waits for that very grant. A sender that does not repeat itself would never tell.
#[test]
fn an_ack_does_not_wait_for_its_own_lost_grant_for_ever() {
    let options = Options(vec![
        ("rcc.max_queue", "1pkt".to_owned()),
        ("rcc.sender_retransmits", "false".to_owned()),
    ]);
    let flow = |size| Flow { size, known: false };
    let operations = [
        Operation::Open(2),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::BlackoutData,
        Operation::Advance(Span::from_millis(30)),
        Operation::Acks(2),
        Operation::Data(1),
        Operation::BlackoutAcks,
    ];
    run(&options, &[flow(1), flow(1), flow(11_568)], &operations);
}

// RCC footnote 7: the last segment takes up the whole window, its FIN lies beyond it, and all that was sent is lost. The
// SYN-ACK comes again, its ACK must count, or both repeat themselves for ever.
#[test]
fn a_first_flight_that_is_lost_with_its_fin_is_repaired() {
    let options = Options(vec![
        ("rcc.sender_retransmits", "false".to_owned()),
        ("rcc.max_queue", "auto".to_owned()),
    ]);
    let full = Flow {
        size: u64::from(star::MSS),
        known: false,
    };
    let operations = [
        Operation::Open(0),
        Operation::Data(1),
        Operation::Acks(1),
        Operation::BlackoutData,
    ];
    run(&options, &[full], &operations);
}

/// What a user may set, by key; the rest is as in the battery.
#[derive(Clone, Debug)]
struct Options(Vec<(&'static str, String)>);

/// What happens next. Packets are chosen by their place in the channel.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Open(usize),
    Data(usize),
    Acks(usize),
    /// A younger packet overtakes.
    OvertakeData(usize),
    OvertakeAcks(usize),
    Duplicate(usize),
    DropData(usize),
    DropAck(usize),
    BlackoutData,
    BlackoutAcks,
    Mark(usize),
    Advance(Span),
}

/// A value for every key of RCC.
fn options() -> impl Strategy<Value = Options> {
    let max_queue = prop_oneof![
        1 => Just("auto".to_owned()),
        9 => (1..41_u64).prop_map(|packets| format!("{packets}pkt")),
    ];
    let skips = prop_oneof![
        Just("auto".to_owned()),
        (0..20_u32).prop_map(|passes| passes.to_string())
    ];
    let word = |key, words: &'static [&'static str]| {
        (0..words.len()).prop_map(move |index| (key, words[index].to_owned()))
    };
    let words = [
        word("rcc.priority", &["remaining", "fixed", "off"]),
        word("rcc.surplus", &["priority", "largest", "always"]),
        word("rcc.full_ack", &["segment", "flight"]),
        word("rcc.release", &["below", "at"]),
        word("rcc.alpha", &["average", "ratio", "published"]),
        word("rcc.merge_dupacks", &["push", "literal"]),
        word("rcc.sender_retransmits", &["true", "true", "false"]),
        word("rcc.timer", &["adaptive", "constant"]),
        word("rcc.history", &["all", "single"]),
        word("rcc.max_backoff", &["64", "1"]),
        word("tcp.delayed_ack", &["1", "1", "2", "3"]),
    ];
    (max_queue, [skips.clone(), skips], words).prop_map(|(max_queue, skips, words)| {
        let [skip_max, push_bonus] = skips;
        let mut options = vec![
            ("rcc.max_queue", max_queue),
            ("rcc.skip_max", skip_max),
            ("rcc.push_bonus", push_bonus),
        ];
        options.extend(words);
        Options(options)
    })
}

fn flow() -> impl Strategy<Value = Flow> {
    let size = prop_oneof![1..5_000_u64, 5_000..100_000_u64];
    (size, prop::bool::weighted(0.8)).prop_map(|(size, known)| Flow { size, known })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..30_usize).prop_map(Operation::Open),
        10 => (1..20_usize).prop_map(Operation::Data),
        10 => (1..20_usize).prop_map(Operation::Acks),
        2 => (1..10_usize).prop_map(Operation::OvertakeData),
        2 => (1..10_usize).prop_map(Operation::OvertakeAcks),
        1 => (0..20_usize).prop_map(Operation::Duplicate),
        2 => (0..20_usize).prop_map(Operation::DropData),
        2 => (0..20_usize).prop_map(Operation::DropAck),
        1 => Just(Operation::BlackoutData),
        1 => Just(Operation::BlackoutAcks),
        2 => (0..20_usize).prop_map(Operation::Mark),
        4 => (1..200_u64).prop_map(|us| Operation::Advance(Span::from_micros(us))),
        2 => (1..40_u64).prop_map(|ms| Operation::Advance(Span::from_millis(ms))),
    ]
}

/// Applies the operations, then lets everything come to its end.
fn run(options: &Options, flows: &[Flow], operations: &[Operation]) {
    let Options(options) = options;
    let delayed_ack = options.iter().find(|(key, _)| *key == "tcp.delayed_ack");
    let config = Config {
        delayed_ack: delayed_ack.map_or(1, |(_, text)| text.parse().expect("a count")),
        delayed_ack_timeout: Span::from_millis(1),
        ..star::config()
    };
    let mut star = Star::new(&star::roles("rcc", options), config, flows, invariants);
    for operation in operations {
        apply(&mut star, *operation);
    }
    star.settle();
    let scheduler = scheduler(&star);
    assert_eq!((scheduler.flight(), scheduler.waiting()), (0, 0));
}

fn apply(star: &mut Star, operation: Operation) {
    match operation {
        Operation::Open(flow) => star.open(flow),
        Operation::Data(count) => {
            for _ in 0..count {
                star.deliver_data();
            }
        }
        Operation::Acks(count) => {
            for _ in 0..count {
                star.deliver_ack();
            }
        }
        Operation::OvertakeData(place) => {
            if let Some(packet) = star.data.remove(place) {
                star.data.push_front(packet);
                star.deliver_data();
            }
        }
        Operation::OvertakeAcks(place) => {
            if let Some(packet) = star.acks.packets.remove(place) {
                star.acks.packets.push_front(packet);
                star.deliver_ack();
            }
        }
        Operation::Duplicate(place) => {
            let copy = star.data.get(place).copied();
            star.data.extend(copy);
        }
        Operation::DropData(place) => {
            star.data.remove(place);
        }
        Operation::DropAck(place) => {
            star.acks.packets.remove(place);
        }
        Operation::BlackoutData => star.data.clear(),
        Operation::BlackoutAcks => star.acks.packets.clear(),
        Operation::Mark(place) => {
            if let Some(packet) = star.data.get_mut(place) {
                star::mark(packet);
            }
        }
        Operation::Advance(span) => star.advance_to(star.now + span),
    }
}

fn scheduler(star: &Star) -> &schemes::rcc::GrantScheduler {
    match star.host.role() {
        Receiver::rcc(scheduler) => scheduler,
        _ => panic!("the bundle is rcc"),
    }
}

/// Holds after each event of the host.
fn invariants(star: &mut Star) {
    // What the event has granted: an ACK is released strictly below the budget.
    let mut grant = 0;
    for packet in std::mem::take(&mut star.acks.fresh) {
        let endpoint = star.host.endpoint(Slot(packet.flow.0));
        let Some(sent) = endpoint.acknowledgement_in(&packet) else {
            continue;
        };
        let peer = &mut star.senders[packet.flow.0 as usize];
        let upper = peer.upper.max(sent.ack + sent.window);
        grant = grant.max(upper - sent.ack);
        peer.upper = upper;
    }
    let scheduler = scheduler(star);
    let flight = scheduler.flight();
    assert!(flight <= grants_outstanding(star), "{flight} is a leak");
    let waiting = scheduler.waiting();
    let Some(budget) = scheduler.budget() else {
        assert_eq!(waiting, 0, "nothing bounds the flight yet");
        return;
    };
    // An ACK waits only while the budget is used up.
    assert!(waiting == 0 || flight >= budget, "{flight} of {budget}");
    assert!(
        grant == 0 || flight <= budget + grant,
        "{flight} of {budget}, last grant {grant}"
    );
    let windows: Vec<u64> = scheduler.windows().collect();
    let sum: u64 = windows.iter().sum();
    let most = (budget / u64::from(star::MSS)).max(windows.len() as u64);
    assert!(windows.iter().all(|window| *window >= 1), "{windows:?}");
    assert!(sum <= most, "{windows:?} exceed {most}");
}

/// What all open flows have been allowed and the host has not received, bytes, counted from the
/// packets alone. The scheduler's count may be lower: it takes lost grants out.
fn grants_outstanding(star: &Star) -> u64 {
    let open = star.host.endpoints().zip(&star.senders);
    let open = open.filter(|(endpoint, _)| !endpoint.peer_has_finished());
    open.map(|(endpoint, peer)| {
        let received = endpoint.received() + endpoint.held();
        let known = if peer.known { peer.size } else { u64::MAX };
        (peer.upper - 1).min(known).saturating_sub(received)
    })
    .sum()
}
