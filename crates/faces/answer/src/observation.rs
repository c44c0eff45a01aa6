//! The results of watching a device, for people.

use std::fmt::Write;

use observed::{Flow, Observation, ObservedVerdict, Queue, VerdictEvidence};

use crate::words::{counted, grouped, three_digits};
use base::cast::{real, whole};

/// The verdicts on several devices, in one line.
pub fn verdicts(seen: &[&Observation]) -> String {
    let each = seen
        .iter()
        .map(|seen| format!("{} at {}", seen.judged.verdict.name(), seen.place()));
    let each: Vec<_> = each.collect();
    let devices = counted(seen.len() as u64, "device");
    format!("{devices}: {}\n", each.join("; "))
}

/// The verdict, its evidence, and the counts.
pub fn observed(seen: &Observation, notes: &[&str], flows: Option<&Vec<Flow>>) -> String {
    let mut out = format!(
        "{}, {} s: {}\n",
        seen.place(),
        three_digits(seen.seconds),
        seen.judged.verdict.name()
    );
    let mut line = |text: &str| {
        out.push_str("  ");
        out.push_str(text);
        out.push('\n');
    };
    for text in evidence(seen) {
        line(&text);
    }
    if seen.flows > 0 {
        line(&format!(
            "flows: {}; completion time p50 {}, p99 {}",
            grouped(seen.flows),
            time(seen.fct_p50_s),
            time(seen.fct_p99_s)
        ));
        line(&format!(
            "cost: they spent {} of their time waiting for timers",
            percent(seen.waited_share)
        ));
    }
    line(&retransmissions(seen));
    match &seen.queue {
        Some(queue) => line(&queue_of(queue, seen.drops)),
        None => {
            if let Some(bytes) = seen.inferred_queue_bytes {
                line(&format!(
                    "queue: {} at the 99th percentile, inferred from (srtt - min rtt) * rate",
                    size(bytes)
                ));
            }
        }
    }
    line(&link(seen));
    let cost = &seen.cost;
    let each = cost
        .ns_per_packet
        .map_or_else(String::new, |ns| format!("{ns:.0} ns for a packet, "));
    line(&format!(
        "watching took {each}{} of a processor",
        percent(cost.core_share)
    ));
    if cost.skipped + cost.lost > 0 {
        line(&format!(
            "NOT ALL WAS SEEN: {} packets beyond a million a second, {} flows or events for which there was no room",
            grouped(cost.skipped),
            grouped(cost.lost)
        ));
    }
    for note in notes {
        line(&format!("note: {note}"));
    }
    for flow in flows.into_iter().flatten() {
        line(&one(flow));
    }
    out
}

/// Why the verdict is this one.
fn evidence(seen: &Observation) -> Vec<String> {
    let judged = &seen.judged;
    let mut lines = Vec::new();
    if judged.crowds > 0 {
        lines.push(crowds(seen, judged));
    }
    match judged.verdict {
        ObservedVerdict::Incast => lines.push(format!(
            "{} of {} timeouts followed one",
            grouped(judged.timeouts_following),
            grouped(judged.timeouts)
        )),
        ObservedVerdict::LossWithoutIncast => lines.push(format!(
            "lost: {} here, {}, {}; {} of the timeouts followed many flows at once",
            counted(seen.drops, "drop"),
            counted(judged.timeouts, "timeout"),
            counted(seen.fast_retransmits, "fast retransmission"),
            grouped(judged.timeouts_following)
        )),
        ObservedVerdict::Microbursts => lines.push(format!(
            "{} above half the rate, and nothing was lost",
            counted(seen.bursts.iter().sum::<u64>(), "burst")
        )),
        ObservedVerdict::SlowStartBound => lines.push(format!(
            "{} of {} larger than ten segments ended within three round trips, and nothing was lost",
            grouped(judged.short_lived),
            counted(judged.long_flows, "flow")
        )),
        ObservedVerdict::Quiet => lines.push("nothing was lost".to_owned()),
    }
    lines
}

fn crowds(seen: &Observation, judged: &VerdictEvidence) -> String {
    let all = whole(seen.seconds * 1e3);
    format!(
        "{} of {} ms had 8 or more flows to one receiver, at most {} at once, most of them to {}; {} were followed by a \
         drop or timeout of one of their flows",
        grouped(judged.crowds),
        grouped(all),
        judged.most,
        judged.receiver.as_deref().unwrap_or_default(),
        grouped(judged.followed)
    )
}

fn retransmissions(seen: &Observation) -> String {
    let inferred = match seen.inferred_flows {
        0 => String::new(),
        flows => format!(
            " (inferred for {} from other machines)",
            counted(flows, "flow")
        ),
    };
    let needless = match (seen.needless_timeouts, seen.needless_fast_retransmits) {
        (0, 0) => String::new(),
        (timeouts, fast) => format!(
            "; needless, as the data had arrived: {}, {}",
            counted(timeouts, "timeout"),
            counted(fast, "fast retransmission")
        ),
    };
    format!(
        "timeouts: {}{inferred}; fast retransmissions: {}; probes: {}{needless}; SYNs again: {}; resets: {}",
        grouped(seen.timeouts),
        grouped(seen.fast_retransmits),
        grouped(seen.probes),
        grouped(seen.syn_repeats + seen.syn_ack_repeats),
        grouped(seen.resets)
    )
}

fn queue_of(queue: &Queue, drops: u64) -> String {
    let room = queue
        .room_bytes
        .map_or_else(String::new, |room| format!(" of {}", size(real(room))));
    format!(
        "queue: {}, mean {}, p50 {}, p99 {} ({}), at most {}{room}; {}",
        queue.kind,
        size(queue.mean_bytes),
        size(queue.p50_bytes),
        size(queue.p99_bytes),
        time(queue.sojourn_p99_us / 1e6),
        size(real(queue.max_bytes)),
        counted(drops, "drop")
    )
}

fn link(seen: &Observation) -> String {
    let from = seen.rate_from.to_lowercase();
    let mut text = format!(
        "link: {} Mbit/s, {from}",
        three_digits(real(seen.rate_bps) / 1e6)
    );
    if let Some(rtt) = seen.min_rtt_us {
        write!(text, "; round trip: at least {}", time(rtt / 1e6))
            .expect("a text takes everything");
    }
    if let Some(control) = &seen.control {
        write!(text, "; {control}").expect("a text takes everything");
        if seen.is_ecn_capable == Some(true) {
            text.push_str(" with ECN");
        }
    }
    if let Some(rto) = seen.min_rto_ms {
        write!(text, ", minimum RTO {}", time(rto / 1e3)).expect("a text takes everything");
    }
    text
}

fn one(flow: &Flow) -> String {
    let lost = match (flow.drops, flow.timeouts) {
        (0, 0) => String::new(),
        (drops, timeouts) => format!(
            ", {}, {}",
            counted(drops, "drop"),
            counted(timeouts, "timeout")
        ),
    };
    format!(
        "{:.6} s  {} -> {}  {} bytes in {}{lost}",
        flow.start_s,
        flow.sender,
        flow.receiver,
        grouped(flow.bytes),
        time(flow.fct_s)
    )
}

/// Three significant digits, with their unit.
pub(super) fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        seconds if seconds >= 1.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds => (seconds * 1e6, "us"),
    };
    format!("{} {unit}", three_digits(value))
}

fn size(bytes: f64) -> String {
    if bytes >= 1e6 {
        format!("{} MB", three_digits(bytes / 1e6))
    } else {
        format!("{} KB", three_digits(bytes / 1e3))
    }
}

fn percent(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

#[cfg(test)]
mod tests {
    use observed::Cost;

    use super::*;

    #[test]
    fn incast_is_told_with_its_evidence_and_its_cost() {
        let seen = Observation {
            device: "eth1".to_owned(),
            netns: "s0".to_owned(),
            seconds: 60.0,
            queue: Some(Queue {
                kind: "tbf".to_owned(),
                room_bytes: Some(64_000),
                mean_bytes: 5_100.0,
                p50_bytes: 0.0,
                p99_bytes: 62_976.0,
                max_bytes: 63_588,
                sojourn_p99_us: 2_519.0,
                ..Queue::default()
            }),
            rate_bps: 200_000_000,
            rate_from: "The rate of the queue".to_owned(),
            drops: 1_665,
            flows: 300,
            inferred_flows: 1,
            fct_p50_s: 0.0031,
            fct_p99_s: 0.218,
            timeouts: 203,
            fast_retransmits: 71,
            probes: 9,
            needless_timeouts: 1,
            needless_fast_retransmits: 2,
            min_rtt_us: Some(61.0),
            min_rto_ms: Some(200.0),
            control: Some("cubic".to_owned()),
            waited_share: 0.414,
            cost: Cost {
                ns_per_packet: Some(171.2),
                core_share: 0.0042,
                skipped: 5,
                lost: 0,
            },
            judged: VerdictEvidence {
                verdict: ObservedVerdict::Incast,
                crowds: 214,
                followed: 201,
                most: 61,
                receiver: Some("10.0.3.7".to_owned()),
                timeouts: 203,
                timeouts_following: 187,
                ..VerdictEvidence::default()
            },
            ..Observation::default()
        };
        insta::assert_snapshot!(observed(&seen, &["a note"], None), @"
        eth1 in s0, 60.0 s: incast
          214 of 60,000 ms had 8 or more flows to one receiver, at most 61 at once, most of them to 10.0.3.7; 201 were followed by a drop or timeout of one of their flows
          187 of 203 timeouts followed one
          flows: 300; completion time p50 3.10 ms, p99 218 ms
          cost: they spent 41.4 % of their time waiting for timers
          timeouts: 203 (inferred for 1 flow from other machines); fast retransmissions: 71; probes: 9; needless, as the data had arrived: 1 timeout, 2 fast retransmissions; SYNs again: 0; resets: 0
          queue: tbf, mean 5.10 KB, p50 0.00 KB, p99 63.0 KB (2.52 ms), at most 63.6 KB of 64.0 KB; 1,665 drops
          link: 200 Mbit/s, the rate of the queue; round trip: at least 61.0 us; cubic, minimum RTO 200 ms
          watching took 171 ns for a packet, 0.42 % of a processor
          NOT ALL WAS SEEN: 5 packets beyond a million a second, 0 flows or events for which there was no room
          note: a note
        ");
    }

    #[test]
    fn several_devices_have_one_line_of_verdicts() {
        let seen = |device: &str, verdict| Observation {
            device: device.to_owned(),
            judged: VerdictEvidence {
                verdict,
                ..VerdictEvidence::default()
            },
            ..Observation::default()
        };
        let [one, other] = [
            seen("eth0", ObservedVerdict::Quiet),
            seen("eth1", ObservedVerdict::Incast),
        ];
        assert_eq!(
            verdicts(&[&one, &other]),
            "2 devices: quiet at eth0; incast at eth1\n"
        );
    }

    #[test]
    fn times_and_sizes_have_three_digits() {
        assert_eq!(
            [time(0.000_061), time(0.2), time(12.34)],
            ["61.0 us", "200 ms", "12.3 s"]
        );
        assert_eq!(
            [size(512.0), size(64_000.0), size(1.5e6)],
            ["0.51 KB", "64.0 KB", "1.50 MB"]
        );
    }
}
