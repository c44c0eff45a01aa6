use std::collections::BTreeSet;

use super::*;

fn shape(collective: Collective, algorithm: Algorithm, ranks: u32) -> CollectiveRun {
    CollectiveRun {
        collective,
        algorithm,
        ranks,
        bytes: 64_000_000,
        segments: 1,
    }
}

#[test]
fn ideal_times_are_those_of_the_closed_forms() {
    use Algorithm::{AtOnce, HalvingDoubling, Ring, Shifted, Tree};
    use Collective::{AllGather, AllReduce, AllToAll, Broadcast, ReduceScatter};
    let rate = Rate::from_bps(100_000_000_000);
    let ms = |shape: CollectiveRun| shape.ideal(Span::from_micros(5), rate).as_micros() / 1e3;
    // 14 steps of 5 us + 640 us; 30 us + 2 * 5.12 ms * 7/8; 7 steps; 4 steps of 5 us + 10.24 ms.
    for (shape, expected) in [
        (shape(AllReduce, Ring, 8), 9.030),
        (shape(AllReduce, HalvingDoubling, 8), 8.990),
        (shape(AllReduce, Tree, 7), 40.980),
        (shape(AllGather, Ring, 8), 4.515),
        (shape(ReduceScatter, Ring, 8), 4.515),
        (shape(ReduceScatter, HalvingDoubling, 8), 4.495),
        (shape(AllToAll, Shifted, 8), 4.515),
        (shape(AllToAll, AtOnce, 8), 4.485),
        (shape(AllGather, AtOnce, 8), 4.485),
        (shape(Broadcast, Tree, 7), 20.490),
    ] {
        assert!(
            (ms(shape) - expected).abs() < 1e-9,
            "{shape:?}: {}",
            ms(shape)
        );
    }
    let segmented = CollectiveRun {
        segments: 4,
        ..shape(AllReduce, Tree, 7)
    };
    // 2 * (2 + 3) steps of 5 us + 2.56 ms.
    assert!((ms(segmented) - 25.650).abs() < 1e-9);
}

/// Chunks are carried along the messages: at the end each rank must have the bytes of each rank that the collective
/// requires.
#[test]
fn every_rank_gets_what_the_collective_promises() {
    for (collective, algorithm) in ALL {
        for ranks in [2, 3, 4, 7, 8, 16] {
            for segments in [1, 3] {
                let shape = CollectiveRun {
                    bytes: 1_000_003,
                    segments,
                    ..shape(collective, algorithm, ranks)
                };
                if shape.refusal().is_some() {
                    continue;
                }
                check(&shape);
            }
        }
    }
}

fn check(shape: &CollectiveRun) {
    let (messages, n) = (shape.messages(), shape.ranks);
    let (count, bytes) = shape.extent();
    assert!(
        (base::cast::count(messages.len()) - count).abs() < 1e-9,
        "{shape:?}"
    );
    let sum: u64 = messages.iter().map(|message| message.bytes).sum();
    let per_rank_at_once = shape.collective == Collective::AllToAll;
    // In an all-to-all a rank keeps its own part, whose size may differ by a byte.
    let slack = if per_rank_at_once { f64::from(n) } else { 1.0 };
    assert!(
        (base::cast::real(sum) - bytes).abs() <= slack,
        "{shape:?}: {sum} of {bytes}"
    );
    let mut waits = false;
    for (place, message) in (0_u32..).zip(&messages) {
        assert!(message.from != message.to && message.bytes > 0);
        assert!(
            message.after.iter().all(|before| *before < place),
            "{shape:?}"
        );
        // Messages that wait for nothing come first.
        assert!(!waits || !message.after.is_empty(), "{shape:?}");
        waits |= !message.after.is_empty();
        for before in &message.after {
            let before = &messages[*before as usize];
            // A message only waits for messages that its rank sent or received.
            assert!(before.to == message.from || before.from == message.from);
            assert!(before.step < message.step, "{shape:?}");
        }
    }
    if shape.algorithm != Algorithm::AtOnce && shape.algorithm != Algorithm::Shifted {
        let reached = contributions(&messages, n);
        match shape.collective {
            // Every rank's part has reached every rank.
            Collective::AllReduce | Collective::AllGather => {
                assert!(reached.iter().all(|of| of.len() == n as usize), "{shape:?}");
            }
            Collective::ReduceScatter => {
                assert!(reached.iter().all(|of| of.len() == n as usize), "{shape:?}");
            }
            _ => assert!(reached.iter().all(|of| of.contains(&0)), "{shape:?}"),
        }
    }
}

/// For each rank, the ranks whose data has come to it over messages that wait for each other.
fn contributions(messages: &[Message], n: u32) -> Vec<BTreeSet<u32>> {
    let mut carried: Vec<BTreeSet<u32>> = Vec::new();
    let mut reached: Vec<BTreeSet<u32>> = (0..n).map(|rank| BTreeSet::from([rank])).collect();
    for message in messages {
        let mut of = BTreeSet::from([message.from]);
        for before in &message.after {
            of.extend(carried[*before as usize].iter().copied());
        }
        reached[message.to as usize].extend(of.iter().copied());
        carried.push(of);
    }
    reached
}

#[test]
fn what_is_no_collective_is_refused_with_a_remedy() {
    use Algorithm::{HalvingDoubling, Ring, Shifted};
    for (shape, cause, remedy) in [
        (
            shape(Collective::Broadcast, Shifted, 8),
            "no broadcast with the algorithm shifted",
            "to tree",
        ),
        (
            shape(Collective::AllReduce, HalvingDoubling, 12),
            "there are 12",
            "to 8 or 16",
        ),
        (
            shape(Collective::AllReduce, Ring, 1),
            "a single rank",
            "at least 2",
        ),
        (
            CollectiveRun {
                bytes: 5,
                ..shape(Collective::AllReduce, Ring, 8)
            },
            "5 bytes",
            "at least 8B",
        ),
        (
            CollectiveRun {
                segments: 2,
                ..shape(Collective::AllReduce, Ring, 8)
            },
            "only trees",
            "\"tree\"",
        ),
    ] {
        let (found, help) = shape.refusal().expect("a refusal");
        assert!(
            found.contains(cause) && help.contains(remedy),
            "{found}: {help}"
        );
    }
}
