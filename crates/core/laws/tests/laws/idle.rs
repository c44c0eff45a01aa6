//! The law of idle connections against a model that remembers when each was last active.

use laws::{Idle, Life};
use proptest::prelude::*;

#[test]
fn a_connection_is_idle_after_the_time_and_at_most_a_seventh_more() {
    let mut port = Idle::new(700);
    let mut life = Life::default();
    assert_eq!(port.pass(1_000_000), 0);
    assert!(port.on_open(&mut life, 1));
    assert!(!port.on_open(&mut life, 1), "a SYN-ACK that was sent twice");
    assert_eq!(port.pass(1_000_000 + 699), 0);
    assert_eq!(port.pass(1_000_000 + 800), 1);
    assert_eq!(port.active(), 0);
    // The same number tells nothing, a new one does.
    assert!(!port.on_ack(&mut life, 1));
    assert!(port.on_ack(&mut life, 2));
    assert_eq!(port.active(), 1);
    assert!(port.on_close(&mut life));
    assert!(!port.on_close(&mut life), "a FIN that was sent twice");
    assert_eq!(port.active(), 0);
}

#[test]
fn without_a_time_no_connection_is_ever_idle() {
    let mut port = Idle::new(0);
    assert!(!port.is_on());
    let mut life = Life::default();
    assert!(port.on_open(&mut life, 1));
    assert_eq!(port.pass(u64::MAX), 0);
    assert!(port.on_close(&mut life));
}

#[test]
fn a_port_is_read_as_it_was_written() {
    let mut port = Idle::new(700);
    port.pass(5);
    port.on_open(&mut Life::default(), 1);
    let again = Idle::from_memory(&port.to_memory()).expect("whole");
    assert_eq!(again.to_memory(), port.to_memory());
    assert!(Idle::from_memory(&port.to_memory()[1..]).is_none());
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Open,
    Acknowledges(u32),
    Close,
}

fn event() -> impl Strategy<Value = (u64, usize, Event)> {
    let event = prop_oneof![
        Just(Event::Open),
        (0..4_u32).prop_map(Event::Acknowledges),
        Just(Event::Close)
    ];
    // Mostly less than an epoch of at most 100, now and then more than eight.
    (
        prop_oneof![4 => 0..60_u64, 1 => 0..2_000_u64],
        0..CONNECTIONS,
        event,
    )
}

/// What the law should know of a connection.
#[derive(Clone, Copy, Default)]
struct Connection {
    is_open: bool,
    ack: u32,
    active_ns: u64,
    counts: bool,
}

const CONNECTIONS: usize = 5;

proptest! {
    #[test]
    fn each_connection_counts_while_its_acks_move_on(
        after_ns in 1..700_u64,
        start_ns in 0..10_000_000_000_u64,
        events in prop::collection::vec(event(), 1..300),
    ) {
        let mut port = Idle::new(after_ns);
        let mut lives: Vec<_> = (0..CONNECTIONS).map(|_| Life::default()).collect();
        let mut model = [Connection::default(); CONNECTIONS];
        let mut now = start_ns;
        for (pause, at, event) in events {
            now += pause;
            let gone = port.pass(now);
            // An epoch is a seventh of the time, rounded up.
            let latest = 8 * after_ns.div_ceil(7);
            let due = |one: &&mut Connection| one.counts && now - one.active_ns > latest;
            let certain = model.iter_mut().filter(due).count();
            let due = |one: &&mut Connection| one.counts && now - one.active_ns >= after_ns;
            let possible = model.iter_mut().filter(due).count();
            let gone = usize::try_from(gone).expect("few connections");
            prop_assert!((certain..=possible).contains(&gone), "{certain} <= {gone} <= {possible}");
            // Those that were silent for longest.
            for _ in 0..gone {
                let counted = model.iter_mut().filter(|one| one.counts);
                counted.min_by_key(|one| one.active_ns).expect("one more").counts = false;
            }
            let (life, one) = (&mut lives[at], &mut model[at]);
            match event {
                Event::Open => {
                    prop_assert_eq!(port.on_open(life, 0), !one.is_open);
                    if !one.is_open {
                        *one = Connection { is_open: true, ack: 0, active_ns: now, counts: true };
                    }
                }
                Event::Acknowledges(ack) => {
                    let is_life = one.is_open && one.ack != ack;
                    prop_assert_eq!(port.on_ack(life, ack), is_life && !one.counts);
                    one.ack = ack;
                    if is_life {
                        (one.active_ns, one.counts) = (now, true);
                    }
                }
                Event::Close => {
                    prop_assert_eq!(port.on_close(life), one.counts);
                    (one.is_open, one.counts) = (false, false);
                }
            }
            let counted = model.iter().filter(|one| one.counts).count();
            prop_assert_eq!(port.active() as usize, counted);
        }
    }
}
