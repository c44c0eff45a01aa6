//! The metrics with their units and meanings.

use base::Column;

/// Every metric, in the order in which results list them.
pub const METRICS: &[Column] = &[
    Column::new(
        "goodput_bps",
        "bit/s",
        "Payload of all completed flows over the time from the first start to the last completion.",
    ),
    Column::new(
        "fct_mean_us",
        "us",
        "Mean flow completion time: from the start at the application to the last byte in order at the receiver, the handshake included.",
    ),
    Column::new("fct_p50_us", "us", "Median flow completion time."),
    Column::new(
        "fct_p95_us",
        "us",
        "95th percentile of the flow completion times.",
    ),
    Column::new(
        "fct_p99_us",
        "us",
        "99th percentile of the flow completion times.",
    ),
    Column::new(
        "fct_p999_us",
        "us",
        "99.9th percentile of the flow completion times. Missing below 1,000 completed flows: they are too few, for it would be the slowest flow.",
    ),
    Column::new(
        "fct_p9999_us",
        "us",
        "99.99th percentile of the flow completion times. Missing below 10,000 completed flows: they are too few, for it would be the slowest flow.",
    ),
    Column::new("fct_max_us", "us", "Completion time of the slowest flow."),
    Column::new(
        "round_p50_us",
        "us",
        "Median time of the rounds, each from the first start to the last completion of its flows: of an incast to one receiver, of a burst that starts at once, or all answers that a client awaits before it asks again. A round with a flow that failed or did not complete never ends, and a percentile that falls on it has no value. Missing where no flow has a round.",
    ),
    Column::new(
        "round_p99_us",
        "us",
        "99th percentile of the times of rounds: of fewer than 100 rounds that of the slowest.",
    ),
    Column::new(
        "round_p999_us",
        "us",
        "99.9th percentile of the times of rounds. Missing below 1,000 rounds: they are too few, for it would be the slowest round.",
    ),
    Column::new("round_max_us", "us", "Time of the slowest round."),
    Column::new(
        "rounds_completed",
        "rounds",
        "Rounds whose flows all completed. Missing where no flow has a round.",
    ),
    Column::new(
        "rounds_unfinished",
        "rounds",
        "Rounds that began, and with a flow that failed or did not complete before the simulation stopped.",
    ),
    Column::new(
        "rounds_over_ideal",
        "",
        "Mean time of complete collectives over the time that they would take in an empty network without headers, from the closed form of workload.algorithm. Missing where no flow belongs to a collective.",
    ),
    Column::new(
        "slowdown_mean",
        "",
        "Mean slowdown: completion time over the time that the flow would take alone in the network, its window as large as it needs, the handshake and the request included where it has them.",
    ),
    Column::new("slowdown_p50", "", "Median slowdown."),
    Column::new("slowdown_p99", "", "99th percentile of the slowdowns."),
    Column::new(
        "slowdown_p999",
        "",
        "99.9th percentile of the slowdowns. Missing below 1,000 completed flows: they are too few, for it would be the greatest slowdown.",
    ),
    Column::new(
        "timeouts",
        "events",
        "Retransmission timers that expired with data or a FIN outstanding.",
    ),
    Column::new(
        "tail_timeouts",
        "events",
        "Timeouts with everything sent and at most the last three segments unacknowledged: too few for duplicate ACKs to tell of a loss.",
    ),
    Column::new(
        "syn_timeouts",
        "events",
        "Timers of the handshake that expired: a SYN or SYN-ACK, or what answers it, was lost.",
    ),
    Column::new(
        "tail_probes",
        "events",
        "Probes of the last segments of a flight, sent by a timer because no ACK came (RFC 8985 section 7); on Linux after two round trips, or tcp.min_rto more where a single segment is outstanding.",
    ),
    Column::new(
        "window_probes",
        "events",
        "Probes of a closed window of the receiver, sent by the persist timer.",
    ),
    Column::new(
        "timers",
        "events",
        "All timers that expired while a flow waited for them: timeouts, syn_timeouts, tail_probes and window_probes.",
    ),
    Column::new(
        "timeout_rate",
        "",
        "Timeouts for each segment sent, those sent again included.",
    ),
    Column::new("retransmissions", "segments", "Segments sent again."),
    Column::new(
        "after_timeout",
        "segments",
        "Segments sent again after a timeout rather than in a fast recovery: losses that nothing else repaired, and what went with them.",
    ),
    Column::new(
        "packets",
        "segments",
        "Segments with data or FIN sent, those sent again included.",
    ),
    Column::new(
        "fairness",
        "",
        "Jain's index of the flows' throughput, payload over time from the start: 1 if all are equal, 1/n if one of n has all.",
    ),
    Column::new(
        "drops",
        "packets",
        "Packets that queues dropped, and those lost by bottleneck.loss, switch.loss or topology.faults.",
    ),
    Column::new(
        "drops_pool",
        "packets",
        "Drops because the buffer that the queues of a switch share was full. Missing without switch.pool.",
    ),
    Column::new(
        "drops_threshold",
        "packets",
        "Drops because a queue held as much of the shared buffer as its dynamic threshold allows. Missing without switch.pool.",
    ),
    Column::new(
        "drops_headroom",
        "packets",
        "Drops of lossless packets: the headroom for what still came in after a pause was full. Missing without switch.pfc.",
    ),
    Column::new(
        "drops_link_down",
        "packets",
        "Drops because a link was down: of packets on it, of those that waited for it, and of those that came to it. Missing without topology.faults.",
    ),
    Column::new(
        "drops_restart",
        "packets",
        "Drops because a switch restarted: of packets in its queues and on its links. Missing without topology.faults.",
    ),
    Column::new(
        "drops_host_gone",
        "packets",
        "Drops on the link of a host that had disappeared. Missing without topology.faults.",
    ),
    Column::new(
        "drops_lossy",
        "packets",
        "Packets lost on links by gilbert-elliott in topology.faults. Missing without topology.faults.",
    ),
    Column::new(
        "drops_corrupt",
        "packets",
        "Packets damaged on links by corrupt in topology.faults, which the next node dropped. Missing without topology.faults.",
    ),
    Column::new(
        "marks",
        "packets",
        "Packets that queues marked with congestion experienced (ECN).",
    ),
    Column::new(
        "threshold_crossings",
        "packets",
        "Arrivals that met a queue at or above the marking threshold, ECN-capable or not.",
    ),
    Column::new(
        "queue_mean_bytes",
        "bytes",
        "Mean length of the bottleneck queue, weighted by time, from the first start to the last completion; the packet in service is excluded.",
    ),
    Column::new(
        "queue_p5_bytes",
        "bytes",
        "5th percentile of the length of the bottleneck queue, weighted by time.",
    ),
    Column::new(
        "queue_p50_bytes",
        "bytes",
        "Median length of the bottleneck queue, weighted by time.",
    ),
    Column::new(
        "queue_p95_bytes",
        "bytes",
        "95th percentile of the length of the bottleneck queue, weighted by time.",
    ),
    Column::new(
        "queue_max_bytes",
        "bytes",
        "Greatest length of the bottleneck queue.",
    ),
    Column::new(
        "pool_max_bytes",
        "bytes",
        "Most bytes that were in use at a time in the shared buffer of any switch. Missing without switch.pool.",
    ),
    Column::new(
        "pfc_pauses",
        "events",
        "How often a priority was paused at a port of a switch or host. Missing without switch.pfc.",
    ),
    Column::new(
        "pfc_paused_us",
        "us",
        "How long priorities were paused, all ports together.",
    ),
    Column::new(
        "pfc_margin_bytes",
        "bytes",
        "Least distance between what a port brought into a switch and the threshold at which it would be paused; 0 where one was paused.",
    ),
    Column::new(
        "pfc_deadlock",
        "ports",
        "Ports that wait for each other for good, each paused by what waits at the next; 0 without a deadlock.",
    ),
    Column::new(
        "pfc_victims",
        "connections",
        "Connections that waited for a pause although nothing waited at the port that they went on to: they paid for others.",
    ),
    Column::new("flows_completed", "flows", "Flows whose last byte arrived."),
    Column::new("flows_failed", "flows", "Flows whose connection gave up."),
    Column::new(
        "flows_host_gone",
        "flows",
        "Of flows_failed, those that failed because the host at one end had disappeared. Missing without topology.faults.",
    ),
    Column::new(
        "flows_gave_up",
        "flows",
        "Of flows_failed, those whose other end was there and did not answer: tcp.retries or tcp.syn_retries were used up. Missing without topology.faults.",
    ),
    Column::new(
        "flows_unfinished",
        "flows",
        "Flows with an end that had neither completed nor failed when the simulation stopped.",
    ),
    Column::new(
        "flows_late",
        "flows",
        "Flows with an end that took longer than workload.deadline, complete or not.",
    ),
    Column::new(
        "goodput_p50_bps",
        "bit/s",
        "Payload of the first half of the flows to complete, over the time until then: one straggler does not change it.",
    ),
    Column::new(
        "goodput_weighted_bps",
        "bit/s",
        "Goodput at each moment, each flow's payload spread evenly over its time, weighted by the number of flows at that moment.",
    ),
    Column::new(
        "bound_p50_us",
        "us",
        "A bound that no scheme can beat: fct_p50_us if the links of the hosts carried nothing but these flows, without a pause. Of flows to one receiver that start together the n-th completes when the n smallest have crossed the link to the receiver.",
    ),
    Column::new(
        "bound_p99_us",
        "us",
        "A bound of fct_p99_us that no scheme can beat, as bound_p50_us is of the median.",
    ),
    Column::new(
        "bound_max_us",
        "us",
        "A bound of fct_max_us that no scheme can beat, as bound_p50_us is of the median.",
    ),
    Column::new(
        "active",
        "",
        "Share of the time from the first start to the last completion in which a flow had started and not completed. Where it is small, goodput and the queue over time are mostly about idle time.",
    ),
    Column::new(
        "held_up",
        "",
        "Share of that time in which all flows under way were such as waited for a timer: goodput counts it, and goodput_p50 may not.",
    ),
    Column::new(
        "fct_handshake_us",
        "us",
        "Part of fct_mean_us: time in which the connection opened.",
    ),
    Column::new(
        "fct_serialisation_us",
        "us",
        "Part of fct_mean_us: time in which the flow's own bytes left through the slowest link of their path.",
    ),
    Column::new(
        "fct_propagation_us",
        "us",
        "Part of fct_mean_us: time in which the last packet was in wires.",
    ),
    Column::new(
        "fct_window_us",
        "us",
        "Part of fct_mean_us: time in which the sender waited for an ACK to open its window, as it would in an empty network.",
    ),
    Column::new(
        "fct_application_us",
        "us",
        "Part of fct_mean_us: time in which the sender had nothing to send.",
    ),
    Column::new(
        "fct_queueing_us",
        "us",
        "Part of fct_mean_us: time in which packets of other flows were first.",
    ),
    Column::new(
        "fct_recovery_us",
        "us",
        "Part of fct_mean_us: time in which the sender repaired losses that ACKs told of.",
    ),
    Column::new(
        "fct_timers_us",
        "us",
        "Part of fct_mean_us: time in which the sender waited for a timer: of retransmission, of the handshake, or of a probe; or the receiver for its timer of delayed ACKs.",
    ),
    Column::new(
        "tail_handshake_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the connection opened.",
    ),
    Column::new(
        "tail_serialisation_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the flow's own bytes left through the slowest link of their path.",
    ),
    Column::new(
        "tail_propagation_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the last packet was in wires.",
    ),
    Column::new(
        "tail_window_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the sender waited for an ACK to open its window, as it would in an empty network.",
    ),
    Column::new(
        "tail_application_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the sender had nothing to send.",
    ),
    Column::new(
        "tail_queueing_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which packets of other flows were first.",
    ),
    Column::new(
        "tail_recovery_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the sender repaired losses that ACKs told of.",
    ),
    Column::new(
        "tail_timers_us",
        "us",
        "Mean over the slowest one in a hundred flows by rank: time in which the sender waited for a timer: of retransmission, of the handshake, or of a probe; or the receiver for its timer of delayed ACKs.",
    ),
];
