//! Phase: where nothing is random the same senders find room in a full queue again and again (Floyd and Jacobson,
//! "On Traffic Phase Effects", 1992). Jitter of links ends that.

use crate::support::points;
use base::cast::real;
use sim::run;

/// Retransmissions of each sender, over all rounds and seeds.
fn sent_again(scenario: &str, scheme: &str, sets: &[&str]) -> Vec<u64> {
    let points = points(scenario, scheme, sets);
    let senders = points[0].keys.workload.senders.0;
    let mut all = vec![0; senders as usize];
    for point in &points {
        let outcome = run::run(point).expect("a conserving run");
        for flow in &outcome.flows {
            all[(flow.flow % senders) as usize] += u64::from(flow.retransmissions);
        }
    }
    all
}

#[test]
fn of_two_senders_that_keep_step_one_loses_everything_and_with_jitter_both_lose() {
    let lost = |jitter| sent_again(TWO, "newreno", &[jitter]);
    let [kept, lost_alone] = lost("link.jitter=0s")[..] else {
        panic!("two senders")
    };
    assert!(kept.max(lost_alone) > 20 * kept.min(lost_alone));
    let shared = lost("link.jitter=auto");
    assert!(shared.iter().max() < shared.iter().min().map(|least| 3 * least).as_ref());
}

#[test]
fn equal_senders_share_drops_evenly_over_seeds() {
    for (senders, rounds) in [(2, 8), (4, 8), (8, 6)] {
        let sets = [
            format!("workload.senders={senders}"),
            format!("workload.rounds={rounds}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        for scheme in ["newreno", "cubic", "dctcp"] {
            let lost = sent_again(SHORT_QUEUE, scheme, &sets);
            let mean = real(lost.iter().sum()) / f64::from(senders);
            for one in &lost {
                let off = real(*one) / mean - 1.0;
                assert!(off.abs() < 0.05, "{senders} senders of {scheme}: {lost:?}");
            }
        }
    }
}

/// Two hosts of 10 Gbit/s, 515 ns apart.
const TWO: &str = r#"
seeds = 20
[link]
rate = "10Gbps"
delay = "129ns"
[switch]
buffer = "200KB"
[tcp]
profile = "linux"
min_rto = "10ms"
[workload]
senders = 2
size = "16MiB"
"#;
/// A queue that overflows all the time.
const SHORT_QUEUE: &str = r#"
seeds = 20
[link]
jitter = "auto"
[switch]
buffer = "20pkt"
ecn_threshold = "18pkt"
[tcp]
profile = "linux"
min_rto = "10ms"
[workload]
size = "4MiB"
"#;
