//! DCQCN and Swift in whole simulations, against their papers and values that can be computed.

use std::collections::BTreeMap;

use base::cast::real;
use base::{Packet, TcpFlags, Time};
use fabric::{DropReason, PortId};
use sim::metrics::Outcome;
use sim::probe::Probe;
use sim::run;
use theory::dcqcn::{Fluid, Ramp};

use crate::support::points;

/// Long flows over links of 40 Gbit/s in packets of 1000 bytes. The switch marks as in DCQCN's paper.
const RDMA: &str = r#"
schemes = ["dcqcn"]
[link]
rate = "40Gbps"
delay = "1us"
[switch]
buffer = "unlimited"
ecn_threshold = "5KB"
ecn_max = "200KB"
ecn_probability = 0.01
[tcp]
mss = 960
receive_buffer = "16MB"
[workload]
kind = "incast"
size = "unlimited"
start = "0s"
"#;

/// Payload and queues of all ports from a time on, and the first pause and notice.
struct Seen {
    from: Time,
    /// By port: the area below its queue, in bytes times seconds, and the time and length of its last change.
    queues: BTreeMap<u32, (f64, Time, f64)>,
    /// Payload bytes by port and flow.
    carried: BTreeMap<(u32, u32), u64>,
    drops: u64,
    first_pause: Time,
    /// When the first notice arrives anywhere.
    first_notice: Time,
}

impl Probe for Seen {
    fn on_hop(&mut self, _port: PortId, packet: &Packet, now: Time) {
        if packet.flags == TcpFlags::NONE {
            self.first_notice = self.first_notice.min(now);
        }
    }

    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        let queue = self.queues.entry(port.0).or_default();
        let (area, since, level) = *queue;
        let lasted = at.since(since.max(self.from)).as_secs();
        *queue = (area + level * lasted, at, real(waiting));
    }

    fn on_accept(&mut self, port: PortId, packet: &Packet, now: Time) {
        if now >= self.from {
            *self.carried.entry((port.0, packet.flow.0)).or_default() += u64::from(packet.payload);
        }
    }

    fn on_drop(&mut self, _port: PortId, _packet: &Packet, _reason: DropReason, now: Time) {
        self.drops += u64::from(now >= self.from);
    }

    fn on_pause(&mut self, _port: PortId, _class: u8, paused: bool, now: Time) {
        if paused {
            self.first_pause = self.first_pause.min(now);
        }
    }
}

impl Seen {
    /// The mean queue of a port up to `end`, bytes.
    fn queue(&self, port: u32, end: Time) -> f64 {
        let (area, since, level) = self.queues[&port];
        let lasted = end.since(since.max(self.from)).as_secs();
        (area + level * lasted) / end.since(self.from).as_secs()
    }
}

fn ms(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

/// The only point of this scenario, seen from `from` on, and its bottleneck.
fn see(text: &str, scheme: &str, sets: &[&str], from: Time) -> (Outcome, Seen, u32) {
    let mut seen = Seen {
        from,
        queues: BTreeMap::new(),
        carried: BTreeMap::new(),
        drops: 0,
        first_pause: Time::NEVER,
        first_notice: Time::NEVER,
    };
    let point = points(text, scheme, sets).remove(0);
    let outcome = run::observe(&point, &mut seen).expect("a conserving run");
    let bottleneck = outcome.ports.iter().find(|port| port.bottleneck);
    let port = bottleneck.expect("a bottleneck").port;
    (outcome, seen, port)
}

// The condition at rest of the paper's model, 5.1.
#[test]
fn dcqcn_queue_is_that_of_the_fluid_model() {
    let ramp = Ramp {
        min: 5000.0,
        max: 200_000.0,
        most: 0.01,
    };
    for flows in [3, 6] {
        let senders = format!("workload.senders={flows}");
        let (outcome, seen, port) = see(RDMA, "dcqcn", &[&senders, "run.duration=250ms"], ms(50));
        let fluid = Fluid {
            rate: 5e6,
            flows: f64::from(flows),
            cnp_interval: 50e-6,
            alpha_timer: 55e-6,
            timer: 55e-6,
            byte_counter: 1e4,
            fast_recovery: 5.0,
            additive: 5e3,
        };
        let expected = fluid.queue(&ramp).expect("a queue below Kmax");
        let share = seen.queue(port, ms(250)) / expected;
        assert!(
            (0.85..1.15).contains(&share),
            "{flows} flows: {share} of {expected}"
        );
        assert_eq!(outcome.metrics.drops, 0);
    }
}

#[test]
fn a_dcqcn_flow_that_joins_another_gets_an_equal_share_without_pauses() {
    let text = format!(
        "{RDMA}[run]\nduration = \"150ms\"\n[group.first]\nworkload.senders = 1\n\
         [group.second]\nworkload.senders = 1\nworkload.start = \"20ms\"\n"
    );
    let (outcome, seen, port) = see(&text, "dcqcn", &[], ms(100));
    let share = |flow| real(seen.carried[&(port, flow)]);
    let (first, second) = (share(0), share(1));
    // 50 ms of a link of 40 Gbit/s, of whose bytes 96 % are payload.
    let whole = 0.96 * 5e9 * 0.05;
    assert!(first + second > 0.98 * whole, "{first} {second}");
    assert!((first - second).abs() < 0.15 * second, "{first} {second}");
    assert_eq!(outcome.metrics.drops, 0);
}

// The switch of the paper's section 6: (B - 8nH) / 8n, for 12 MB and 32 ports.
#[test]
fn sixteen_dcqcn_senders_at_line_rate_are_paused_before_the_first_notice_acts() {
    let sets = [
        "workload.senders=16",
        "run.duration=1ms",
        "switch.pfc=all",
        "switch.pfc_xoff=24470B",
    ];
    let (outcome, seen, _) = see(RDMA, "dcqcn", &sets, ms(0));
    assert!(
        seen.first_pause < seen.first_notice,
        "{}",
        seen.first_notice
    );
    assert!(seen.first_notice < ms(1), "{}", seen.first_notice);
    assert_eq!(outcome.metrics.drops, 0);
    assert!(outcome.metrics.pfc_pauses >= Some(16));
}

/// Switches and links of 1 us, hosts of 40 Gbit/s in front of a link of 10 Gbit/s.
const LONE: &str = r#"
schemes = ["swift"]
[topology]
kind = "dumbbell"
[link]
rate = "40Gbps"
delay = "1us"
[bottleneck]
rate = "10Gbps"
[switch]
buffer = "unlimited"
ecn_threshold = "off"
[swift]
base_target = "25us"
[workload]
kind = "pairs"
senders = 1
size = "unlimited"
start = "0s"
[run]
duration = "20ms"
"#;

#[test]
fn a_swift_flow_keeps_its_delay_at_the_target() {
    let (outcome, seen, port) = see(LONE, "swift", &[], ms(10));
    // Behind two switches, with the window that corresponds to its delay: T = 25 (1 + 2/6.55) + 40.82/sqrt(T/1.2) -
    // 4.08 us.
    let target: f64 = 36.0;
    let again = 25.0 * (1.0 + 2.0 / 6.55) + 40.82 / (target / 1.2).sqrt() - 4.08;
    assert!((target - again).abs() < 0.1, "{again}");
    // Six times 1 us, twice 0.3 us and once 1.2 us for the packet, and less than 0.1 us for its ACK; the rest is from
    // the queue.
    let delay = 7.9 + seen.queue(port, ms(20)) / 1250.0;
    assert!((0.9 * target..1.05 * target).contains(&delay), "{delay} us");
    // 10 Gbit/s but for headers.
    assert!(
        outcome.metrics.goodput_bps > 9.72e9,
        "{}",
        outcome.metrics.goodput_bps
    );
}

#[test]
fn a_thousand_swift_senders_lose_nothing_once_they_have_met_where_dctcp_goes_on_to_lose() {
    let text = r#"
schemes = ["swift", "dctcp"]
[link]
delay = "1us"
[switch]
buffer = "80pkt"
ecn_threshold = "20pkt"
[tcp]
initial_window = 1
min_rto = "10ms"
[workload]
kind = "incast"
senders = 1000
size = "unlimited"
start = "0s"
"#;
    for scheme in ["swift", "dctcp"] {
        // The windows of the start have been lost and retransmitted by then.
        let (outcome, seen, port) = see(text, scheme, &["run.duration=1.1s"], ms(900));
        let queue = seen.queue(port, ms(1100)) / 1500.0;
        if scheme == "swift" {
            assert_eq!(seen.drops, 0);
            assert!(queue < 40.0, "{queue} packets");
        } else {
            // Two packets of each sender are 2,000, and the room is 80.
            assert!(seen.drops > 1000 && queue > 75.0, "{} {queue}", seen.drops);
        }
        assert!(outcome.metrics.goodput_bps > 0.95e9, "{scheme}");
    }
}
