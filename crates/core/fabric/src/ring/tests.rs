use std::collections::VecDeque;

use base::{Span, SynOptions, Timestamps};
use proptest::prelude::*;

use super::*;

/// What is done to a ring.
#[derive(Clone, Debug)]
enum Step {
    Push(Packet),
    Pop,
    PopNewest,
    /// The oldest waiting packet starts and gets this extension.
    Start(Extension),
}

fn packet() -> impl Strategy<Value = Packet> {
    let numbers = (any::<u32>(), any::<u32>(), any::<u16>(), 0..16_u8);
    (numbers, options(), extension()).prop_map(
        |((seq, flow, payload, reserved), options, extension)| Packet {
            seq: Seq(seq),
            ack: Seq(!seq),
            payload,
            window: !payload,
            reserved,
            dscp: 15 - reserved,
            flags: TcpFlags::ACK,
            ecn: Ecn::Marked,
            options,
            extension,
            ..Packet::new(FlowId(flow), HostId(!flow))
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    let syn = (any::<u16>(), prop::option::of(0..15_u8), any::<bool>());
    let syn = syn.prop_map(|(mss, window_scale, sack_permitted)| {
        Options::Syn(SynOptions {
            mss,
            window_scale,
            sack_permitted,
        })
    });
    let blocks = prop::collection::vec(any::<(u32, u32)>(), 0..=base::SackBlocks::MAX);
    let sack = blocks.prop_map(|blocks| {
        let mut sack = base::SackBlocks::new();
        for (start, end) in blocks {
            sack.push(Seq(start), Seq(end));
        }
        Options::Sack(sack)
    });
    let plain = prop_oneof![3 => Just(Options::None), 1 => syn, 2 => sack];
    let stamps = prop::option::of(any::<(u32, u32)>());
    (plain, stamps).prop_map(|(options, stamps)| match stamps {
        Some((value, echo)) => options.stamped(Timestamps { value, echo }),
        None => options,
    })
}

fn extension() -> impl Strategy<Value = Extension> {
    prop_oneof![Just(Extension::NONE), any::<[u32; 3]>().prop_map(Extension)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => packet().prop_map(Step::Push),
        4 => Just(Step::Pop),
        1 => Just(Step::PopNewest),
        2 => extension().prop_map(Step::Start),
    ]
}

/// A packet as text, and when it arrives.
fn shown(packet: &Packet) -> String {
    format!("{packet:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Packets leave as they came, whatever they carry, at either end.
    #[test]
    fn packets_leave_as_they_came(steps in prop::collection::vec(step(), 1..120)) {
        let (mut ring, mut model) = (Ring::new(), VecDeque::new());
        // How many of the model's packets have started.
        let mut started = 0;
        let mut at = Time::ZERO;
        for step in steps {
            match step {
                Step::Push(packet) => {
                    at += Span::from_ps(7);
                    ring.push(&packet, at);
                    model.push_back((packet, at));
                }
                Step::Pop => {
                    // A packet that arrives has started.
                    if ring.oldest_waits() && !ring.is_empty() {
                        ring.start_oldest();
                        started += 1;
                    }
                    let Some((expected, time)) = model.pop_front() else {
                        continue;
                    };
                    started -= 1;
                    prop_assert_eq!(ring.next_arrival(), Some(time));
                    prop_assert_eq!(shown(&ring.pop()), shown(&expected));
                    prop_assert_eq!(ring.next_arrival(), model.front().map(|(_, time)| *time));
                }
                Step::PopNewest => {
                    let newest = ring.pop_newest();
                    let expected = model.pop_back();
                    prop_assert_eq!(
                        newest.as_ref().map(shown),
                        expected.map(|(packet, _)| shown(&packet))
                    );
                    started = started.min(model.len());
                }
                Step::Start(extension) if ring.waiting_packets() > 0 => {
                    let expected = &mut model[started].0;
                    started += 1;
                    let told = (expected.payload, expected.options.sack_bytes());
                    prop_assert_eq!(ring.start_oldest(), told);
                    let before = expected.extension;
                    ring.change_newest_started(|packet| {
                        assert_eq!(packet.extension, before, "a hook sees what the packet carries");
                        packet.extension = extension;
                        packet.window = 1;
                    });
                    (expected.extension, expected.window) = (extension, 1);
                }
                Step::Start(_) => {}
            }
            prop_assert_eq!(ring.len(), model.len());
            prop_assert_eq!(ring.waiting_packets() as usize, model.len() - started);
        }
    }
}

// Indices begin again after 2^32 packets.
#[test]
fn a_ring_that_never_runs_empty_goes_on() {
    let last = u32::MAX - 100;
    let mut ring = Ring {
        head: last,
        waiting: last,
        tail: last,
        ..Ring::new()
    };
    let numbered = |number: u32| Packet {
        seq: Seq(number),
        extension: Extension([number, 0, 0]),
        ..Packet::new(FlowId(0), HostId(0))
    };
    for number in 0..200 {
        ring.push(&numbered(number), Time::ZERO);
        if number >= 6 {
            ring.start_oldest();
            assert_eq!(shown(&ring.pop()), shown(&numbered(number - 6)));
            assert_eq!((ring.len(), ring.waiting_packets()), (6, 6));
        }
    }
}

// A ring that gives back memory drops what packets carried with its places.
#[test]
fn a_ring_that_was_long_carries_again() {
    let mut ring = Ring::new();
    let carrying = |number: u32| Packet {
        extension: Extension([number, 2, 3]),
        options: Options::None.stamped(Timestamps {
            value: number,
            echo: 1,
        }),
        ..Packet::new(FlowId(0), HostId(0))
    };
    for count in [4 * KEPT, 3, 1, 2 * KEPT] {
        let numbers = 0..u32::try_from(count).expect("few packets");
        for number in numbers.clone() {
            ring.push_started(&carrying(number), Time::ZERO);
        }
        for number in numbers {
            assert_eq!(ring.pop(), carrying(number));
        }
    }
}
