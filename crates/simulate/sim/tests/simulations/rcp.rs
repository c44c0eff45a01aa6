//! RCP in whole simulations, against values that can be computed on paper.

use base::Time;
use base::cast::real;
use fabric::{PortId, SwitchHook};
use sim::probe::Probe;
use sim::run;

use crate::support::{outcome, points};

/// Long flows over a link of 100 Mbit/s with a round trip of 100 ms, which routers expect. The buffer holds four times
/// what the link sends in that time.
const LONG: &str = r#"
[topology]
kind = "dumbbell"
[link]
delay = "1ms"
[bottleneck]
rate = "100Mbps"
delay = "48ms"
[switch]
buffer = "5MB"
ecn_threshold = "off"
[workload]
kind = "pairs"
size = "unlimited"
start = "0s"
[run]
duration = "4s"
[rcp]
initial_rtt = "100ms"
"#;

/// Rate and queue at the bottleneck, each with the time of its change.
struct Seen {
    bottleneck: PortId,
    rates: Vec<(Time, f64)>,
    queue: Vec<(Time, f64)>,
}

impl Probe for Seen {
    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        if port == self.bottleneck {
            hook.gauges(&mut |name, value| {
                assert_eq!(name, "rcp_rate_bps");
                if self
                    .rates
                    .last()
                    .is_none_or(|(_, last)| last.to_bits() != value.to_bits())
                {
                    self.rates.push((at, value));
                }
            });
        }
    }

    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if port == self.bottleneck {
            self.queue.push((at, real(waiting)));
        }
    }
}

fn see(text: &str, sets: &[&str]) -> Seen {
    let point = points(text, "rcp", sets).remove(0);
    let mut seen = Seen {
        bottleneck: PortId(0),
        rates: Vec::new(),
        queue: Vec::new(),
    };
    let outcome = run::observe(&point, &mut seen).expect("a conserving run");
    let port = outcome.ports.iter().find(|port| port.bottleneck);
    let port = port.expect("a bottleneck").port;
    assert_eq!(port, 0, "the middle link of a dumbbell is the first");
    seen
}

/// The mean over time of a quantity that changes at these times, from one time to another in milliseconds.
fn mean(changes: &[(Time, f64)], from_ms: u64, to_ms: u64) -> f64 {
    let ms = |ms: u64| Time::from_ps(ms * 1_000_000_000);
    let (from, to) = (ms(from_ms), ms(to_ms));
    let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([to]);
    let weighted = changes.iter().zip(ends).map(|((start, value), end)| {
        let (start, end) = ((*start).max(from), end.min(to));
        value * end.max(start).since(start).as_secs()
    });
    weighted.sum::<f64>() / to.since(from).as_secs()
}

// The check of RCP: the rate goes to gamma*C/N within about ten round trips, the queue to nothing.
#[test]
fn n_long_flows_get_an_nth_of_the_link_each_and_no_packet_waits() {
    let original = ["rcp.min_rate=auto", "rcp.request=round-trip"];
    for (senders, gamma, sets) in [
        // A twentieth of the link at first: too little for four and ten, too much for forty.
        (4, 1.0, &[][..]),
        (10, 1.0, &[][..]),
        (40, 1.0, &[][..]),
        (10, 0.9, &["rcp.gamma=0.9"][..]),
        (10, 1.0, &original[..]),
    ] {
        let count = format!("workload.senders={senders}");
        let seen = see(LONG, &[sets, &[count.as_str()]].concat());
        let share = |from, to| mean(&seen.rates, from, to) * f64::from(senders) / (gamma * 1e8);
        let (soon, late) = (share(1_400, 1_500), share(3_000, 4_000));
        assert!((0.85..1.15).contains(&soon), "{senders} {sets:?}: {soon}");
        assert!((0.97..1.03).contains(&late), "{senders} {sets:?}: {late}");
        let queue = mean(&seen.queue, 3_000, 4_000);
        assert!(queue < 10.0 * 1500.0, "{senders} {sets:?}: {queue}");
    }
}

#[test]
fn long_flows_share_the_link_alike_and_fill_it() {
    let outcome = outcome(LONG, "rcp", &["workload.senders=10"]);
    let m = &outcome.metrics;
    assert!(m.fairness > 0.999, "{}", m.fairness);
    assert_eq!((m.drops, m.retransmissions), (0, 0));
    // 4 s; the first was needed to get there.
    assert!(m.goodput_bps > 0.75e8, "{}", m.goodput_bps);
}

/// Flows of some 80 round trips at the full rate, over a link of 100 Mbit/s that they load to 30 %.
const LOADED: &str = r#"
[topology]
kind = "dumbbell"
hosts = 20
[link]
delay = "200us"
[bottleneck]
rate = "100Mbps"
delay = "600us"
[switch]
buffer = "1MB"
ecn_threshold = "off"
[workload]
kind = "poisson"
load = 0.3
load_of = "uplinks"
from = "0"
to = "1"
size = "exponential(2MB)"
flows = 600
start = "0s"
[rcp]
initial_rtt = "2ms"
"#;

// The other check: under a load of 0.3 flows have the rest of the link each in the mean, as where all
// share a link alike at any time (M/M/1 with processor sharing: size over mean time is C (1 - load)). The
// rate of the router is mostly higher: it rises as long as less arrives than the link carries, which
// under this load is so in the mean, and falls only while flows overlap.
#[test]
fn under_load_flows_get_what_the_load_leaves() {
    let point = points(LOADED, "rcp", &[]).remove(0);
    let outcome = run::run(&point).expect("a conserving run");
    assert_eq!(outcome.metrics.flows_completed, 600);
    let flows = || outcome.flows.iter();
    let bits: f64 = flows().map(|flow| real(flow.received_bytes) * 8.0).sum();
    let seconds: f64 = flows().filter_map(|flow| flow.fct_us.get()).sum::<f64>() / 1e6;
    let share = bits * 1500.0 / 1460.0 / seconds / 1e8;
    // The standard error of such a mean of 600 flows is 6 %.
    assert!((0.58..0.82).contains(&share), "{share}");
    let rate = mean(&see(LOADED, &[]).rates, 10_000, 100_000) / 1e8;
    assert!((0.85..1.0).contains(&rate), "{rate}");
}

// A flow of four packets needs three intervals more than under TCP: the first packet is not held back.
#[test]
fn a_flow_of_four_packets_takes_three_intervals_more_than_under_tcp() {
    let text =
        "[link]\ndelay = \"4ms\"\n[workload]\nsenders = 1\nsize = \"4pkt\"\nstart = \"0s\"\n";
    let fct = |scheme: &str, sets: &[&str]| outcome(text, scheme, sets).metrics.fct_max_us;
    // 1500 bytes at a twentieth of 125 MB/s take 240 us, at the link 12 us. The SYN passes the switch
    // before its first decision, at 10 ms, and all data leaves before the first ACK.
    // The ACK of the handshake, 40 bytes, delays the four packets under TCP, and only the first one where
    // the others are paced.
    let more = fct("rcp", &[]) - fct("newreno", &[]);
    assert!((more - 3.0 * (240.0 - 12.0) + 0.32).abs() < 1e-3, "{more}");
    // A single packet takes as long as under TCP.
    let one = ["workload.size=1pkt"];
    let more = fct("rcp", &one) - fct("newreno", &one);
    assert!(more.abs() < 1e-6, "{more}");
}

// The ports of hosts are routers if they are configured like those of switches: each of two flows gets half of the link
// of their host, although the rest of the network has room.
#[test]
fn hosts_that_queue_as_switches_share_out_their_own_link() {
    let sets = [
        "link.rate=20Mbps",
        "host.queue=switch",
        "workload.senders=2",
        "workload.from=0:0",
        "workload.to=1:0-1",
    ];
    let outcome = outcome(LONG, "rcp", &sets);
    let m = &outcome.metrics;
    assert!(m.fairness > 0.999, "{}", m.fairness);
    assert!(m.goodput_bps > 15e6, "{}", m.goodput_bps);
    let own = outcome
        .ports
        .iter()
        .find(|port| port.from == "host 0")
        .unwrap();
    assert!(own.queue_p50_bytes < 10 * 1500, "{}", own.queue_p50_bytes);
}
