//! What every registered scheme and every pair that composes must survive: a transfer, an incast,
//! losses, reordering, marks.
//!
//! The channel is a fixed delay, so nothing here says how fast a scheme is; only that all data arrives
//! exactly once, that everything ends, and that it happens the same way twice.

use base::{Packet, Time};

use crate::star::{self, Fate, Flow, Star};

const FLOW: Flow = Flow {
    size: 50_000,
    known: true,
};

/// The names of all schemes, and of all compositions of two.
fn bundles() -> Vec<String> {
    let names = || schemes::all().iter().map(|scheme| scheme.name.to_owned());
    let pairs = names().flat_map(|first| names().map(move |second| format!("{first}+{second}")));
    let compose = |pair: &String| schemes::Bundle::parse(pair).is_ok();
    names().chain(pairs.filter(compose)).collect()
}

/// Runs `flows` flows under every bundle, with and without SACK, with the packets' fates decided by
/// `fate`, and returns what each sender counted.
fn everywhere(flows: usize, fate: fn(u64, &Packet) -> Fate) -> Vec<tcp::SenderCounters> {
    let mut counters = Vec::new();
    for bundle in bundles() {
        for sack in [false, true] {
            let config = tcp::Config {
                sack,
                ..star::config()
            };
            let roles = star::roles(&bundle, &[]);
            let mut star = Star::new(&roles, config, &vec![FLOW; flows], |_| ());
            star.run(fate);
            counters.extend(star.senders.iter().map(|peer| peer.endpoint.counters()));
        }
    }
    counters
}

#[test]
fn a_transfer_without_losses_sends_every_segment_once() {
    for counters in everywhere(1, |_, _| Fate::Arrives) {
        // 50,000 bytes in segments of 1,446. What RC3's second loop brings TCP need not send, and then its
        // FIN goes alone.
        let most = 35 + u64::from(counters.low_priority > 0);
        assert!(counters.segments == 35 || counters.low_priority > 0);
        assert!(counters.segments <= most, "{counters:?}");
        assert_eq!(counters.retransmissions, 0);
        assert_eq!(counters.timeouts, 0);
    }
}

#[test]
fn an_incast_of_sixty_delivers_everything() {
    everywhere(60, |_, _| Fate::Arrives);
}

#[test]
fn losses_of_data_and_acks_are_repaired() {
    let counters = everywhere(10, |number, _| match number % 11 {
        0 => Fate::IsLost,
        _ => Fate::Arrives,
    });
    assert!(counters.iter().any(|counters| counters.retransmissions > 0));
}

#[test]
fn reordering_loses_nothing() {
    everywhere(10, |number, _| match number % 5 {
        0 => Fate::IsLate,
        _ => Fate::Arrives,
    });
}

#[test]
fn marks_on_everything_stop_nothing() {
    everywhere(10, |_, _| Fate::IsMarked);
}

#[test]
fn the_same_run_is_the_same_twice() {
    for bundle in bundles() {
        let run = || -> (Time, Vec<tcp::SenderCounters>) {
            let roles = star::roles(&bundle, &[]);
            let mut star = Star::new(&roles, star::config(), &[FLOW; 10], |_| ());
            star.run(|number, _| match number % 13 {
                0 => Fate::IsLost,
                5 => Fate::IsLate,
                7 => Fate::IsMarked,
                _ => Fate::Arrives,
            });
            let counters = star.senders.iter().map(|peer| peer.endpoint.counters());
            (star.now, counters.collect())
        };
        assert_eq!(run(), run(), "{bundle}");
    }
}
