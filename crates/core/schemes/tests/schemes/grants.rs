//! Senders and a receiving host that holds grants back, `rcc.hold = "grant"`, over a channel that loses data and ACKs.
//!
//! The law itself, and that its budget holds, is tested in `laws`; here are connections of TCP around it. After every
//! event no right edge has moved back, and in the end the data of every flow have arrived.

use proptest::prelude::*;
use tcp::Slot;

use crate::star::{self, Fate, Flow, Star};

fn star(budget: &str, flows: &[Flow]) -> Star {
    let options = [
        ("rcc.hold", "grant".to_owned()),
        ("rcc.max_queue", budget.to_owned()),
    ];
    Star::new(
        &star::roles("rcc", &options),
        star::config(),
        flows,
        edges_stay,
    )
}

/// What left the host since the last look.
fn edges_stay(star: &mut Star) {
    for packet in std::mem::take(&mut star.acks.fresh) {
        let endpoint = star.host.endpoint(Slot(packet.flow.0));
        let Some(sent) = endpoint.acknowledgement_in(&packet) else {
            continue;
        };
        let peer = &mut star.senders[packet.flow.0 as usize];
        let upper = sent.ack + sent.window;
        assert!(upper >= peer.upper, "{upper} after {}", peer.upper);
        peer.upper = upper;
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_flow_ends_whatever_is_lost(
        packets in 1..40_u32,
        sizes in prop::collection::vec(1..60_000_u64, 1..20),
        // Of 16 packets this many are lost.
        loss in 0..6_u64,
        seed in any::<u64>(),
    ) {
        let flows: Vec<_> = sizes.iter().map(|size| Flow { size: *size, known: false }).collect();
        let mut star = star(&format!("{packets}pkt"), &flows);
        let mut dice = seed | 1;
        star.run(|_, _| {
            // Marsaglia's xorshift64.
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            if (dice >> 40) % 16 < loss { Fate::IsLost } else { Fate::Arrives }
        });
    }
}

#[test]
fn a_crowd_has_no_more_in_the_network_than_its_budget_and_a_first_segment_each() {
    let flows = [Flow {
        size: 100_000,
        known: false,
    }; 30];
    let mut star = star("40pkt", &flows);
    (0..30).for_each(|flow| star.open(flow));
    let mut most = 0;
    for _ in 0..30 * 70 * 2 {
        most = most.max(star.data.len());
        if star.data.is_empty() {
            break;
        }
        star.deliver_data();
        for _ in 0..star.acks.packets.len() {
            star.deliver_ack();
        }
    }
    // The first four have ten segments each, and each of the others one; ACKs of handshakes and FINs come on top.
    assert!((40..=40 + 26 + 60).contains(&most), "{most}");
    star.settle();
}

#[test]
fn who_is_alone_has_the_whole_budget() {
    let flows = [Flow {
        size: 200_000,
        known: false,
    }];
    let mut star = star("20pkt", &flows);
    star.open(0);
    for _ in 0..60 {
        star.deliver_data();
        star.deliver_ack();
    }
    let peer = &star.senders[0];
    let window = peer.upper - star.host.endpoint(Slot(0)).received() - 1;
    assert_eq!(window, 20 * u64::from(star::MSS));
    star.settle();
}
