//! Chosen losses, and losses of each message.

use sim::metrics::FlowRecord;

use super::outcome;

#[test]
fn each_message_has_its_own_losses() {
    // A loss of every 40th data packet hits messages of 25 packets in turn; one at a time.
    let outcome = outcome(
        "bottleneck.loss = 0.025\nbottleneck.loss_pattern = \"periodic\"\n[workload]\nsenders = 1\n\
         size = \"36150B\"\nepochs = 8\nepoch_interval = \"100ms\"\nconnection = \"persistent\"",
    );
    let flows = &outcome.flows;
    let drops: u64 = flows.iter().map(|flow| u64::from(flow.drops)).sum();
    assert_eq!(drops, outcome.metrics.drops);
    let sent: u64 = flows.iter().map(|flow| u64::from(flow.packets)).sum();
    let again: u64 = flows
        .iter()
        .map(|flow| u64::from(flow.retransmissions))
        .sum();
    // 8 x 25 data packets; the FIN travels with the last, that of the receiver alone.
    assert_eq!((sent - again, again), (201, drops));
    for (number, flow) in (0..8).zip(flows) {
        assert_eq!(flow.retransmissions, flow.drops, "{flow:?}");
        let fin = u32::from(number == 7);
        assert_eq!(flow.packets, 25 + flow.drops + fin, "{flow:?}");
        assert!(flow.drops <= 1);
    }
    assert!(drops >= 4);
}

#[test]
fn chosen_segments_are_lost_on_every_connection_and_nothing_else_is() {
    // A request a round, each on a connection of its own, with an answer of 12 segments.
    let lost = |lose: &str, connection: &str| {
        let outcome = outcome(&format!(
            "bottleneck.lose = \"{lose}\"\n[workload]\nkind = \"requests\"\nsenders = 1\nrounds = 3\nsize = \"17352B\"\n\
             connection = \"{connection}\""
        ));
        let sum = |of: fn(&FlowRecord) -> u32| outcome.flows.iter().map(of).sum::<u32>();
        (
            outcome.metrics.drops,
            sum(|flow| flow.syn_timeouts),
            sum(|flow| flow.retransmissions),
        )
    };
    assert_eq!(lost("off", "new"), (0, 0, 0));
    // The SYN is sent again after 10 ms and 20 ms; behind a lost SYN-ACK both sides' timers expire.
    assert_eq!(lost("syn", "new"), (3, 3, 0));
    assert_eq!(lost("syn x2", "new"), (6, 6, 0));
    let (drops, syn_timeouts, again) = lost("syn-ack", "new");
    assert_eq!((drops, again), (3, 0));
    assert!(syn_timeouts >= 3, "{syn_timeouts}");
    // The request acknowledges the SYN-ACK as well as the ACK that is lost.
    assert_eq!(lost("ack", "new"), (3, 0, 0));
    assert_eq!(lost("segment 5", "new"), (3, 0, 3));
    assert_eq!(lost("segment 5", "persistent"), (1, 0, 1));
    assert_eq!(lost("segment 5 of 12", "persistent"), (3, 0, 3));
}

#[test]
fn the_numbered_segments_of_one_flow_are_lost_and_those_of_no_other() {
    let run = |lose: &str| {
        outcome(&format!(
            "bottleneck.lose = \"{lose}\"\n[workload]\nsenders = 3\nsize = \"40pkt\""
        ))
    };
    let drops = |lose: &str| {
        run(lose)
            .flows
            .iter()
            .map(|flow| flow.drops)
            .collect::<Vec<_>>()
    };
    assert_eq!(drops("off"), [0, 0, 0]);
    assert_eq!(drops("segments 14 26 28 of flow 1"), [0, 3, 0]);
    assert_eq!(drops("segments 14, 26, 28"), [3, 3, 3]);
    // The second flight of a window that began with ten segments, and a copy of one of it.
    assert_eq!(
        drops("segments 11-30 of flow 2 + segment 11 of flow 0"),
        [1, 0, 20]
    );
}

#[test]
fn a_link_that_loses_everything_for_a_while_stops_all_flows_until_then() {
    let run = |lose: &str| {
        outcome(&format!(
            "bottleneck.lose = \"{lose}\"\n[workload]\nsenders = 3\nsize = \"40pkt\"\nstart = \"1ms\""
        ))
    };
    let last = |lose: &str| {
        let outcome = run(lose);
        let ends = outcome
            .flows
            .iter()
            .map(|flow| flow.completion_us.get().expect("it completes"));
        (ends.fold(0.0, f64::max), outcome.metrics.drops)
    };
    let (free, none) = last("off");
    assert_eq!(none, 0);
    // Nothing arrives before the flows begin or after they have ended.
    assert_eq!(last("from 0s to 1ms"), (free, 0));
    assert_eq!(last("from 2s to 3s"), (free, 0));
    let (cut, lost) = last("from 1ms to 60ms");
    assert!(lost > 0 && cut > 60_000.0, "{lost} {cut}");
    let (one, own) = last("from 1ms to 60ms of flow 1");
    assert!(own > 0 && own < lost && one > 60_000.0, "{own} {one}");
}
