//! What packets of low priority do to those of priority 0: next to nothing (RC3 §2.3).

use std::collections::BTreeMap;

use base::{FlowId, HostId, Packet, Rate, Span, Time};
use fabric::{Discipline, Limit, Offer, Port, PortConfig, PortId, Strict};
use proptest::prelude::*;

/// A packet on its way to a port.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    class: u8,
    payload: u16,
}

const MAX_PAYLOAD: u16 = 1460;
const HEADER: u32 = 40;
const RATE: Rate = Rate::from_bps(1_000_000_000);

fn port(limit: Limit) -> Port {
    let config = PortConfig {
        rate: RATE,
        delay: Span::from_micros(5),
        jitter: None,
        bucket: None,
        limit,
        discipline: Discipline::DropTail,
        hook: None,
        priorities: Strict {
            classes: 4,
            push_out: true,
        },
        header_bytes: HEADER,
    };
    Port::new(config, Time::ZERO)
}

/// When each packet that was not dropped has arrived behind `port`, by its place in `sent`.
fn arrivals(port: &mut Port, sent: &[Sent]) -> BTreeMap<u32, Time> {
    let mut arrived = BTreeMap::new();
    let mut next = None;
    let mut packets = (0..).zip(sent).peekable();
    loop {
        let offered = packets.peek().map(|(_, sent)| sent.at);
        let Some(now) = [next, offered].into_iter().flatten().min() else {
            return arrived;
        };
        if next == Some(now) {
            let packet = port.arrive(now, PortId(0), &mut (), &mut |_| false);
            next = port.next_arrival();
            arrived.insert(packet.flow.0, now);
        } else if let Some((number, sent)) = packets.next() {
            let mut packet = Packet::new(FlowId(number), HostId(0));
            (packet.dscp, packet.payload) = (sent.class, sent.payload);
            match port.offer(&mut packet, now) {
                Offer::First(at) => next = Some(at),
                Offer::Queued | Offer::Displacing | Offer::Dropped => {}
            }
        }
    }
}

fn traffic() -> impl Strategy<Value = Vec<Sent>> {
    let packet = (0..30_u64, 0..6_u8, 0..=MAX_PAYLOAD);
    prop::collection::vec(packet, 1..200).prop_map(|packets| {
        let mut at = Time::ZERO;
        let timed = packets.into_iter().map(|(gap, class, payload)| {
            at += Span::from_micros(gap);
            Sent { at, class, payload }
        });
        timed.collect()
    })
}

proptest! {
    /// Non-preemptive priority: whatever waits below, a packet of class 0 waits for at most the one in
    /// transmission more than it would without.
    #[test]
    fn class_0_is_delayed_by_at_most_one_packet(sent in traffic()) {
        let with = arrivals(&mut port(Limit::Unlimited), &sent);
        let first: Vec<(u32, Sent)> = (0..)
            .zip(sent.iter().copied())
            .filter(|(_, sent)| sent.class == 0)
            .collect();
        let alone: Vec<Sent> = first.iter().map(|(_, sent)| *sent).collect();
        let without = arrivals(&mut port(Limit::Unlimited), &alone);
        let longest = RATE.serialisation(u64::from(HEADER) + u64::from(MAX_PAYLOAD));
        for (place, (number, _)) in (0..).zip(&first) {
            let (early, late) = (without[&place], with[number]);
            prop_assert!(early <= late, "{number}");
            prop_assert!(late <= early + longest, "{number}: {early:?} {late:?}");
        }
    }

    /// In a full queue class 0 loses a packet only if class 0 alone fills it.
    #[test]
    fn class_0_is_dropped_only_for_class_0(sent in traffic(), room in 1_500_u64..20_000) {
        let arrived = arrivals(&mut port(Limit::Bytes(room)), &sent);
        // A queue for class 0 alone that is smaller by the packet which may be in transmission before
        // it drops no less.
        let size = |payload: u16| u64::from(HEADER) + u64::from(payload);
        let smaller = room.saturating_sub(size(MAX_PAYLOAD));
        let first: Vec<(u32, Sent)> = (0..)
            .zip(sent.iter().copied())
            .filter(|(_, sent)| sent.class == 0)
            .collect();
        let alone: Vec<Sent> = first.iter().map(|(_, sent)| *sent).collect();
        let kept = arrivals(&mut port(Limit::Bytes(smaller)), &alone);
        if kept.len() == alone.len() {
            for (number, _) in &first {
                prop_assert!(arrived.contains_key(number), "{number} was dropped");
            }
        }
    }

    /// Every packet arrives or was dropped, and nothing stays behind.
    #[test]
    fn packets_arrive_or_are_dropped(sent in traffic(), room in 1_u64..30_000) {
        let mut port = port(Limit::Bytes(room));
        let arrived = arrivals(&mut port, &sent).len() as u64;
        let counters = port.counters();
        prop_assert_eq!(arrived + counters.drops, sent.len() as u64);
        prop_assert_eq!((counters.packets, port.held()), (arrived, 0));
    }
}
