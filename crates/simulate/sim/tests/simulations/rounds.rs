//! The first rounds of an incast, counted packet by packet, and its collapse.

use base::{Ecn, Packet, Time};
use fabric::PortId;
use sim::metrics::Metrics;
use sim::run;

use crate::support::{outcome, points};

/// Data packets of one round, as 50 senders put them into the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Round {
    sent: u64,
    arrived: u64,
    marked: u64,
}

/// As in the paper's code, DCTCP's window may fall to one segment.
const LEAST: &str = "dctcp.min_window=1";

/// The first two rounds. All senders start at once. A round trip of 160 us plus at most 50 packets of 12 us before the
/// receiver lies between rounds. So round one is the first segment of each flow. Round two is the data that the ACKs of
/// the first segments release: with slow start two segments each, one if the ACK carried a mark and the window stayed.
fn first_rounds(scheme: &str) -> [Round; 2] {
    let point = points("incast", scheme, &["workload.senders=50", LEAST]).remove(0);
    let mut rounds = [Round::default(); 2];
    // Per flow: sequence number of the first byte, and when the ACK of the first segment arrived.
    let mut first = [None; 50];
    let mut second_acked = [false; 50];
    let probe = &mut |port: PortId, packet: &Packet, _: Time| {
        let flow = packet.flow.0 as usize;
        // Port 2h leads from host h to the switch, 2h + 1 back; host 0 receives.
        if packet.payload > 0 {
            let start = *first[flow].get_or_insert(packet.seq);
            let segment = packet.seq.0.wrapping_sub(start.0) / 1446;
            // Until the ACK of its second segment a flow is in its first or second round.
            let round = usize::from(segment > 0);
            if second_acked[flow] && round == 1 {
                return;
            }
            match port {
                PortId(1) => {
                    rounds[round].arrived += 1;
                    rounds[round].marked += u64::from(packet.ecn == Ecn::Marked);
                }
                _ => rounds[round].sent += 1,
            }
        } else if port.0 % 2 == 1
            && port.0 > 1
            && let Some(start) = first[flow]
        {
            second_acked[flow] |= packet.ack.0.wrapping_sub(start.0) > 1446;
        }
    };
    run::observe(&point, probe).expect("a conserving run");
    rounds
}

#[test]
fn fifty_newreno_senders_send_fifty_packets_and_then_a_hundred() {
    let [one, two] = first_rounds("newreno");
    assert_eq!((one.sent, one.arrived), (50, 50));
    assert_eq!(two.sent, 100);
}

#[test]
fn fifty_dctcp_senders_send_one_packet_less_for_each_mark() {
    let [one, two] = first_rounds("dctcp");
    assert_eq!((one.sent, one.arrived), (50, 50));
    assert!((8..=10).contains(&one.marked), "{one:?}");
    assert_eq!(two.sent, 100 - one.marked);
}

#[test]
fn senders_without_a_scheduler_collapse_and_rcc_does_not() {
    for scheme in ["newreno", "dctcp"] {
        let worst = (50..=100)
            .step_by(10)
            .map(|senders| {
                let set = format!("workload.senders={senders}");
                let theirs: Metrics = outcome("incast", scheme, &[&set, LEAST]).metrics;
                let ours = outcome("incast", "rcc", &[&set]).metrics;
                assert!(
                    theirs.timeouts > 0 && ours.timeouts == 0,
                    "{scheme} x {senders}"
                );
                theirs.goodput_bps / ours.goodput_bps
            })
            .fold(f64::INFINITY, f64::min);
        assert!(worst < 0.75, "{scheme}: at worst {worst} of RCC's goodput");
    }
}
