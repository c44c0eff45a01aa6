//! Messages that are written in parts, under Nagle's rule and without it.

use sim::metrics::Outcome;

use crate::support::outcome;

/// One connection on which ten requests of 200 bytes follow each other, each answered with 100 bytes.
const ASKED: &str = r#"
[link]
rate = "1Gbps"
delay = "100us"
[tcp]
profile = "linux"
quick_acks = 0
[workload]
kind = "requests"
connection = "persistent"
senders = 1
connections = 1
requests = 10
request_size = "200B"
size = "100B"
"#;

/// Completion times in microseconds.
fn times(outcome: &Outcome) -> Vec<f64> {
    let fct = |flow: &sim::metrics::FlowRecord| flow.fct_us.get().expect("an answer");
    outcome.flows.iter().map(fct).collect()
}

// The round trip is 400 us, and transmission takes less than 40 us more: two segments of at most 1052 bytes on two
// links each way, and short ones.
fn is_round_trips(us: f64, round_trips: f64) -> bool {
    (0.0..40.0).contains(&(us - round_trips * 400.0))
}

#[test]
fn a_request_in_two_parts_waits_for_a_delayed_acknowledgement() {
    for us in times(&outcome(ASKED, "newreno", &["workload.request_writes=2"])) {
        // The second part waits for the acknowledgement of the first, which the other side delays for 40 ms; a clock of
        // 4 ms ends that.
        assert!((40_000.0..49_000.0).contains(&us), "{us} us");
    }
}

// Linux 6.18 between two namespaces took 0.3 ms for the first such request of a connection and 42 to 48 ms for each of the
// next 29: its quick acknowledgements end with the first answer, which makes the connection one that talks in turns.
#[test]
fn of_linux_the_first_request_in_two_parts_is_quick_and_all_others_wait() {
    let sets = ["workload.request_writes=2", "tcp.quick_acks=16"];
    let all = times(&outcome(ASKED, "newreno", &sets));
    let (first, others) = all.split_first().expect("ten answers");
    assert!(is_round_trips(*first, 2.0), "{first} us");
    for us in others {
        assert!((40_000.0..49_000.0).contains(us), "{us} us");
    }
}

#[test]
fn with_nodelay_no_part_waits() {
    let sets = ["workload.request_writes=2", "tcp.nodelay=true"];
    for us in times(&outcome(ASKED, "newreno", &sets)) {
        assert!(is_round_trips(us, 1.0), "{us} us");
    }
}

#[test]
fn a_request_in_one_part_waits_for_nothing() {
    for us in times(&outcome(ASKED, "newreno", &[])) {
        assert!(is_round_trips(us, 1.0), "{us} us");
    }
}

#[test]
fn where_every_segment_is_acknowledged_the_second_part_waits_for_a_round_trip() {
    let sets = ["workload.request_writes=2", "tcp.delayed_ack=1"];
    for us in times(&outcome(ASKED, "newreno", &sets)) {
        assert!(is_round_trips(us, 2.0), "{us} us");
    }
}

#[test]
fn an_answer_in_two_parts_waits_as_a_request_does() {
    let sets = ["workload.answer_writes=2", "workload.size=2000B"];
    let mut all = times(&outcome(ASKED, "newreno", &sets));
    // Behind the last answer the connection is closed, and the FIN carries the waiting data.
    assert!(is_round_trips(all.pop().expect("ten answers"), 1.0));
    for us in all {
        assert!((40_000.0..49_000.0).contains(&us), "{us} us");
    }
    // The first part fills whole segments, so nothing waits.
    let whole = ["workload.answer_writes=2", "workload.size=2896B"];
    for us in times(&outcome(ASKED, "newreno", &whole)) {
        assert!((400.0..500.0).contains(&us), "{us} us");
    }
}
