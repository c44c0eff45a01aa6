//! Senders and a receiving host under RCC over a channel that loses and marks, in random order.
//!
//! After every operation the budget holds; when the losses stop no ACK stays in the buffer queue, all
//! data arrives and the count of data in flight returns to zero.

use base::Span;
use proptest::prelude::*;
use schemes::Receiver;
use tcp::{Config, Slot};

use crate::star::{self, Flow, Star};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_budget_holds_and_no_ack_is_held_for_ever(
        options in options(),
        flows in prop::collection::vec(flow(), 1..30),
        operations in prop::collection::vec(operation(), 0..150),
    ) {
        run(options, &flows, &operations);
    }
}

// rcc §6: a grant that is lost, with its ACK or with its data, does not use up the budget for ever.
#[test]
fn a_lost_grant_is_granted_again() {
    let choice = Choice {
        max_queue: 1,
        priority: "remaining",
        merge_dupacks: "push",
        delayed_ack: 1,
    };
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
        run(choice, &[flow; 3], lost);
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
    assert_eq!(scheduler(&star).flight(), scheduler(&star).budget());
    star.open(busy);
    for _ in 0..20_000 {
        star.deliver_data();
        star.deliver_ack();
        star.advance_to(star.now + Span::from_micros(100));
    }
    assert_eq!(star.host.endpoints()[busy].received(), 5_000);
    star.settle();
}

/// What a user may set.
#[derive(Clone, Copy, Debug)]
struct Choice {
    max_queue: u64,
    priority: &'static str,
    merge_dupacks: &'static str,
    delayed_ack: u32,
}

/// What happens next. Packets are chosen by their place in the channel.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Open(usize),
    Data(usize),
    Acks(usize),
    DropData(usize),
    DropAck(usize),
    BlackoutData,
    BlackoutAcks,
    Mark(usize),
    Advance(Span),
}

fn options() -> impl Strategy<Value = Choice> {
    let priority = prop_oneof![3 => Just("remaining"), 1 => Just("fixed"), 1 => Just("off")];
    let merge = prop_oneof![Just("push"), Just("literal")];
    (1..41_u64, priority, merge, 1..4_u32).prop_map(
        |(max_queue, priority, merge_dupacks, delayed_ack)| Choice {
            max_queue,
            priority,
            merge_dupacks,
            delayed_ack,
        },
    )
}

fn flow() -> impl Strategy<Value = Flow> {
    let size = prop_oneof![1..5_000_u64, 5_000..100_000_u64];
    (size, prop::bool::weighted(0.9)).prop_map(|(size, known)| Flow { size, known })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (0..30_usize).prop_map(Operation::Open),
        10 => (1..20_usize).prop_map(Operation::Data),
        10 => (1..20_usize).prop_map(Operation::Acks),
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
fn run(choice: Choice, flows: &[Flow], operations: &[Operation]) {
    let changed = [
        ("rcc.max_queue", format!("{}pkt", choice.max_queue)),
        ("rcc.priority", choice.priority.to_owned()),
        ("rcc.merge_dupacks", choice.merge_dupacks.to_owned()),
    ];
    let config = Config {
        delayed_ack: choice.delayed_ack,
        delayed_ack_timeout: Span::from_millis(1),
        ..star::config()
    };
    let mut star = Star::new(&star::roles("rcc", &changed), config, flows, invariants);
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

fn scheduler(star: &Star) -> &schemes::rcc::Receiver {
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
    let (flight, budget) = (scheduler.flight(), scheduler.budget());
    if grant > 0 {
        assert!(
            flight < budget + grant,
            "{flight} of {budget}, last grant {grant}"
        );
    }
    let windows: Vec<u64> = scheduler.windows().collect();
    let sum: u64 = windows.iter().sum();
    let most = (budget / u64::from(star::MSS)).max(windows.len() as u64);
    assert!(windows.iter().all(|window| *window >= 1), "{windows:?}");
    assert!(sum <= most, "{windows:?} exceed {most}");
    // An ACK waits only while the budget is used up.
    assert!(
        scheduler.waiting() == 0 || flight >= budget,
        "{flight} of {budget}"
    );
}
