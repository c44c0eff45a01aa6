//! HSCC, RWNDQ and XCP in whole simulations, against values that can be computed on paper.

use base::cast::real;
use base::{FlowId, Packet, TcpFlags, Time};
use fabric::{PortId, SwitchHook};
use scenario::{Overrides, Scenario, Source};
use schemes::Sender;
use sim::metrics::Outcome;
use sim::probe::{End, Probe};
use sim::run;
use tcp::Endpoint;

use crate::support::{outcome, points};

/// Pairs of hosts over a middle link of 10 Gbit/s with a buffer of 84 packets, at a round trip of 100 us
/// without serialisation: 83.3 packets fit into the pipe, and 86 with the times to send them.
const PAIRS: &str = r#"
[topology]
kind = "dumbbell"
[link]
rate = "11Gbps"
delay = "10us"
[bottleneck]
rate = "10Gbps"
delay = "30us"
[switch]
buffer = "84pkt"
unit = "packets"
ecn_threshold = "off"
[tcp]
mss = 1460
receive_buffer = "4MB"
[workload]
kind = "pairs"
start = "0s"
[run]
duration = "200ms"
"#;
const PACKET: u64 = 1500;

/// Settings on top of [`PAIRS`].
fn pairs(scheme: &str, sets: &[&str]) -> Outcome {
    outcome(PAIRS, scheme, sets)
}

/// The measurements that a test takes of a run.
struct Seen {
    bottleneck: PortId,
    /// Queue at the bottleneck: the time from which it has a length, and its bytes.
    levels: Vec<(Time, u64)>,
    /// The one gauge of interest of the hook at the bottleneck, when it changes.
    gauge: &'static str,
    values: Vec<(Time, f64)>,
    /// Windows of ACKs that come back over the middle link: written by its port, or left alone.
    acks: Vec<(Time, u16)>,
    /// Payload that has crossed the middle link, by flow.
    carried: Vec<(Time, FlowId, u64)>,
    /// The largest window that a sender received.
    told: Vec<(Time, u64)>,
}

impl Probe for Seen {
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if port == self.bottleneck {
            self.levels.push((at, waiting));
        }
    }

    fn on_hook(&mut self, port: PortId, hook: &dyn SwitchHook, at: Time) {
        if port == self.bottleneck {
            hook.gauges(&mut |name, value| {
                let last = self.values.last().map(|(_, last)| last.to_bits());
                if name == self.gauge && last != Some(value.to_bits()) {
                    self.values.push((at, value));
                }
            });
        }
    }

    fn on_hop(&mut self, port: PortId, packet: &Packet, now: Time) {
        if port == self.bottleneck {
            self.carried
                .push((now, packet.flow, u64::from(packet.payload)));
        } else if port.0 == self.bottleneck.0 ^ 1
            && packet.flags.has(TcpFlags::ACK)
            && !packet.flags.has(TcpFlags::SYN)
        {
            self.acks.push((now, packet.window));
        }
    }

    fn on_endpoint(&mut self, end: End, endpoint: &Endpoint<Sender>, now: Time) {
        if end.sends && !end.deadline {
            self.told.push((now, endpoint.peer_window()));
        }
    }
}

fn see(scheme: &str, gauge: &'static str, sets: &[&str]) -> (Outcome, Seen) {
    let point = points(PAIRS, scheme, sets).remove(0);
    let ports = run::run(&point).expect("a conserving run").ports;
    let bottleneck = ports.iter().find(|port| port.bottleneck);
    let mut seen = Seen {
        bottleneck: PortId(bottleneck.expect("a middle link").port),
        levels: Vec::new(),
        gauge,
        values: Vec::new(),
        acks: Vec::new(),
        carried: Vec::new(),
        told: Vec::new(),
    };
    let outcome = run::observe(&point, &mut seen).expect("a conserving run");
    (outcome, seen)
}

impl Seen {
    /// Mean queue in packets from one time to another, in milliseconds.
    fn mean_queue(&self, from_ms: u64, to_ms: u64) -> f64 {
        let (from, to) = (ms(from_ms), ms(to_ms));
        let ends = self.levels[1..].iter().map(|(at, _)| *at).chain([to]);
        let weighted = self.levels.iter().zip(ends).map(|((start, bytes), end)| {
            let span = end.min(to).since((*start).max(from));
            real(*bytes) * span.as_secs()
        });
        weighted.sum::<f64>() / to.since(from).as_secs() / real(PACKET)
    }

    /// Payload in Gbit/s of a flow over the middle link.
    fn goodput(&self, flow: u32, from_ms: u64, to_ms: u64) -> f64 {
        let within = (ms(from_ms)..ms(to_ms), FlowId(flow));
        let carried = self.carried.iter();
        let of = carried.filter(|(at, flow, _)| within.0.contains(at) && *flow == within.1);
        let bytes: u64 = of.map(|(.., bytes)| bytes).sum();
        real(bytes) * 8.0 / ms(to_ms).since(ms(from_ms)).as_secs() / 1e9
    }

    /// The gauge at a time.
    fn value_at(&self, at: Time) -> f64 {
        let before = self.values.iter().take_while(|(since, _)| *since <= at);
        before.last().map_or(0.0, |(_, value)| *value)
    }
}

fn ms(ms: u64) -> Time {
    Time::from_ps(ms * 1_000_000_000)
}

/// Problems of a scenario, as a text.
fn problems(scheme: &str, sets: &[&str]) -> String {
    let overrides = Overrides {
        schemes: Some(scheme.to_owned()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    match Scenario::load(Source::new("test.toml", PAIRS), &overrides) {
        Ok(_) => String::new(),
        Err(problems) => format!("{problems:?}"),
    }
}

#[test]
fn shares_of_a_buffer_without_bound_are_refused_and_so_are_thresholds_in_the_wrong_order() {
    for scheme in ["hscc", "rwndq", "hscc+dctcp"] {
        let sets = ["switch.buffer=unlimited", "switch.ecn_threshold=20pkt"];
        let found = problems(scheme, &sets);
        assert!(
            found.contains("shares of their buffer"),
            "{scheme}: {found}"
        );
        assert!(problems(scheme, &sets[1..]).is_empty(), "{scheme}");
    }
    assert!(problems("hscc", &["hscc.alpha1=0.6"]).contains("hscc.alpha1 = 0.6 exceeds"));
    for set in [
        "rwndq.target=0",
        "rwndq.interval=0s",
        "rwndq.samples=5000",
        "rwndq.bloom_error=1",
    ] {
        let (key, _) = set.split_once('=').expect("a key and a value");
        assert!(problems("rwndq", &[set]).contains(key), "{set}");
    }
}

// One flow with a window of 160 segments: 86 are in the pipe, 74 would wait for ever.
// Clauses: HSCC-4-rewrite
#[test]
fn the_queue_of_a_long_flow_swings_between_the_thresholds_and_acks_carry_a_segment() {
    let sets = [
        "workload.senders=1",
        "workload.size=unlimited",
        "tcp.receive_buffer=160pkt",
    ];
    let (outcome, seen) = see("hscc", "clamping", &sets);
    assert_eq!(outcome.metrics.drops, 0);
    let on = seen.values.iter().filter(|(_, value)| *value > 0.5);
    assert!(on.count() > 100, "it swings");
    // It switches on above 42 packets and off below 21. The length of the queue at the time of the change shows that.
    let level_at = |at: Time| {
        let until = seen.levels.iter().take_while(|(since, _)| *since <= at);
        until.last().map_or(0, |(_, bytes)| *bytes) / PACKET
    };
    for (at, value) in &seen.values[1..] {
        let expected = if *value > 0.5 { 43 } else { 20 };
        assert_eq!(level_at(*at), expected, "at {at}");
    }
    // The queue goes beyond, since the windows reach the sender only after half a round trip.
    let most = seen.levels.iter().map(|(_, bytes)| *bytes).max();
    assert!(most.expect("a queue") / PACKET > 43);
    // ACKs are written where they enter the switch, 30 us and less than 1 us before they leave the wire.
    // A window of 160 * 1460 bytes needs a shift of 2: a segment is 365 units of 4 bytes.
    let mut written = 0;
    for (at, window) in &seen.acks {
        let after = base::Span::from_micros(1);
        let is_on = seen.value_at(*at) > 0.5;
        if is_on && seen.value_at(at.before(after)) > 0.5 {
            assert_eq!(*window, 365, "at {at}");
            written += 1;
        } else if !is_on && seen.value_at(at.before(after)) < 0.5 {
            assert!(*window > 365, "at {at}");
        }
    }
    assert!(written > 1000, "{written}");
}

// Every flow has one segment under way while its port is on: N of them, less the 86 in the pipe, wait.
// 21 packets or more keep the port on: N >= 107. With windows of two segments nothing is ever lost.
#[test]
fn a_port_stays_on_for_ever_if_a_segment_of_each_flow_is_above_the_lower_threshold() {
    let clamped = |senders: u32| {
        let senders = format!("workload.senders={senders}");
        let sets = [
            &senders,
            "workload.size=unlimited",
            "workload.jitter=5ms",
            "tcp.receive_buffer=2pkt",
            "tcp.initial_window=1",
        ];
        let (outcome, seen) = see("hscc", "clamping", &sets);
        assert_eq!((outcome.metrics.drops, outcome.metrics.timeouts), (0, 0));
        let changes = seen.values.iter().filter(|(at, _)| *at > ms(50)).count();
        (changes, seen.value_at(ms(200)), seen.mean_queue(50, 200))
    };
    for senders in [115, 130] {
        let (changes, last, queue) = clamped(senders);
        assert_eq!(
            (changes, last.to_bits()),
            (0, 1.0_f64.to_bits()),
            "{senders}"
        );
        // N less the pipe; the packet in service does not wait.
        let waiting = f64::from(senders) - 86.0;
        assert!(
            (queue - waiting).abs() < 2.0,
            "{senders}: {queue} of {waiting}"
        );
    }
    for senders in [80, 100] {
        let (changes, ..) = clamped(senders);
        assert!(changes > 100, "{senders}: {changes}");
    }
}

// 40 flows with windows of 4 segments: 160 are above alpha2 and below the buffer, so nothing is lost.
// With one segment each they fit into the pipe, and nothing waits that would make receivers' timers
// superfluous: each holds its ACK for 40 ms, waiting for a second segment that the window forbids.
#[test]
fn a_window_of_a_segment_and_delayed_acks_stall_for_40_ms_and_one_of_two_does_not() {
    let sets = [
        "workload.senders=40",
        "workload.size=512KB",
        "workload.jitter=3ms",
        "tcp.receive_buffer=4pkt",
        "tcp.initial_window=2",
        "run.duration=1s",
    ];
    let slowest = |scheme, more: &[&str]| {
        let metrics = pairs(scheme, &[&sets[..], more].concat()).metrics;
        assert_eq!((metrics.flows_completed, metrics.drops), (40, 0));
        assert_eq!(metrics.timeouts, 0);
        metrics.fct_max_us / 1000.0
    };
    let delayed = ["tcp.delayed_ack=2", "tcp.delayed_ack_timeout=40ms"];
    // 40 * 512 KB take 16.8 ms at 10 Gbit/s with headers.
    assert!(slowest("newreno", &delayed) < 20.0);
    assert!(slowest("hscc", &[]) < 20.0);
    assert!(slowest("hscc", &delayed) > 40.0);
    let remedy = [&delayed[..], &["hscc.window=2"]].concat();
    assert!(slowest("hscc", &remedy) < 20.0);
    // The timer of the receiver is what lasts.
    let shorter = [delayed[0], "tcp.delayed_ack_timeout=5ms"];
    let stalled = slowest("hscc", &shorter);
    assert!((20.0..40.0).contains(&stalled), "{stalled}");
}

#[test]
fn any_tcp_works_under_either_switch() {
    let sets = [
        "workload.senders=8",
        "workload.size=300KB",
        "workload.jitter=1ms",
        "tcp.receive_buffer=20pkt",
        "switch.ecn_threshold=30pkt",
    ];
    for switch in ["hscc", "rwndq"] {
        for sender in ["newreno", "cubic", "dctcp"] {
            let scheme = format!("{switch}+{sender}");
            let (with, seen) = see(&scheme, "clamping", &sets);
            let metrics = &with.metrics;
            assert_eq!(metrics.flows_completed, 8, "{scheme}");
            assert!(with.flows.iter().all(|flow| flow.received_bytes == 300_000));
            assert_eq!(metrics.drops, 0, "{scheme}");
            // 8 * 300 KB in 206 packets each take 1.98 ms of the link. RWNDQ's windows begin with shares of
            // the target and grow by two packets per 0.5 ms.
            assert!(
                (1000.0..5000.0).contains(&metrics.fct_max_us),
                "{scheme}: {metrics:?}"
            );
            // Its window is what the switch wrote at least once, and never less than a segment.
            let told: Vec<u64> = seen
                .told
                .iter()
                .map(|(_, window)| *window)
                .filter(|window| *window > 0)
                .collect();
            let (least, most) = (told.iter().min(), told.iter().max());
            assert!(*least.expect("ACKs") >= 1460, "{scheme}: {least:?}");
            assert!(least < most, "{scheme}");
            // The switch does not know the sender's scheme: it keeps the queue below that of the same TCP without the
            // switch.
            let alone = pairs(sender, &sets).metrics;
            assert!(
                metrics.queue_mean_bytes < alone.queue_mean_bytes + 1.0,
                "{scheme}"
            );
        }
    }
}

// RWNDQ's difference equations settle at alpha * B = 0.2 * 83 packets = 16.6.
#[test]
fn five_long_flows_keep_the_queue_at_its_target() {
    let sets = [
        "workload.senders=5",
        "workload.size=unlimited",
        "switch.buffer=83pkt",
        "run.duration=300ms",
    ];
    let (outcome, seen) = see("rwndq", "counted_flows", &sets);
    assert_eq!(outcome.metrics.drops, 0);
    let mean = seen.mean_queue(100, 300);
    assert!((mean - 16.6).abs() < 1.66, "{mean} packets");
    assert!((seen.value_at(ms(300)) - 5.0).abs() < 1e-9);
}

// Flow n begins at 30 (n - 1) ms; 10 ms later everybody has 10/n Gbit/s, of which 1460 in 1500 bytes are
// payload.
#[test]
fn with_n_flows_each_has_an_nth_of_the_link() {
    let sets = [
        "workload.senders=5",
        "workload.size=unlimited",
        "workload.interval=30ms",
        "switch.buffer=83pkt",
        "run.duration=200ms",
    ];
    let (_, seen) = see("rwndq", "counted_flows", &sets);
    for n in 2..=5_u32 {
        let from = u64::from(n - 1) * 30 + 10;
        let share = 10.0 / f64::from(n) * 1460.0 / 1500.0;
        let until = if n == 5 { 200 } else { from + 20 };
        for flow in 0..n {
            let goodput = seen.goodput(flow, from, until);
            assert!(
                (goodput / share - 1.0).abs() < 0.1,
                "{flow} of {n}: {goodput} of {share}"
            );
        }
    }
}

// RWNDQ Alg. 1: the SYN-ACKs of N flows divide the target, and the first update of slow start, after
// 0.5 ms, adds two packets to each window. 50 windows of 3500 bytes are 175 KB, less than the pipe and
// the buffer, 254 KB; a hundred of 3250 are 325 KB. A first window of one segment leaves it to them. The
// second update finds 14 of 100 packets waiting, since TCP sends only full segments, and adds two more.
#[test]
fn fifty_flows_that_begin_together_fit_and_a_hundred_do_not() {
    let drops = |senders: u32| {
        let senders = format!("workload.senders={senders}");
        let sets = [
            &senders,
            "workload.size=unlimited",
            "switch.buffer=83pkt",
            "tcp.initial_window=1",
            "run.duration=1ms",
        ];
        pairs("rwndq", &sets).metrics.drops
    };
    assert_eq!(drops(50), 0);
    assert!(drops(100) > 0);
}

#[test]
fn mice_that_come_and_go_are_counted_however_it_is_done() {
    let sets = [
        "workload.senders=20",
        "workload.size=100KB",
        "workload.jitter=2ms",
        "switch.buffer=83pkt",
    ];
    for count in ["exact", "bloom", "controller"] {
        let count = format!("rwndq.count={count}");
        let (outcome, seen) = see("rwndq", "counted_flows", &[&sets[..], &[&count]].concat());
        assert_eq!(outcome.metrics.flows_completed, 20, "{count}");
        let most = seen
            .values
            .iter()
            .map(|(_, flows)| *flows)
            .fold(0.0, f64::max);
        assert!((2.0..=20.0).contains(&most), "{count}: {most}");
        // Each has closed both ways, so the port is in its initial state at the end.
        assert!(seen.value_at(ms(200)) < 0.5, "{count}");
    }
}

// The network card is the slowest link, so a window of 4 MB waits there. Where it queues as a switch
// does, it drops, marks, and cuts the windows of what it sends.
#[test]
fn network_cards_can_queue_as_switches_do() {
    let metrics = |scheme, sets: &[&str]| {
        let slow = [
            "link.rate=9Gbps",
            "workload.senders=1",
            "workload.size=20MB",
        ];
        pairs(scheme, &[&slow[..], sets].concat()).metrics
    };
    let like_switches = "host.queue=switch";
    assert_eq!(metrics("newreno", &[]).drops, 0);
    let plain = metrics("newreno", &[like_switches]);
    assert!(plain.drops > 0);
    let marking = ["switch.ecn_threshold=20pkt", like_switches];
    assert_eq!(metrics("dctcp", &marking[..1]).marks, 0);
    assert!(metrics("dctcp", &marking).marks > 0);
    let cut = metrics("hscc", &[like_switches]);
    assert!(cut.drops < plain.drops, "{} {}", cut.drops, plain.drops);
}

// When a port switches off, every sender sends at once what its own window has room for. A window that
// grew while the switch granted less makes that burst larger; one that is validated does not grow then.
#[test]
fn a_window_that_grows_while_a_switch_grants_less_bursts_when_it_lets_go() {
    let sets = [
        "workload.senders=20",
        "workload.size=1MB",
        "workload.jitter=2ms",
        "switch.buffer=200pkt",
        "tcp.initial_window=4",
    ];
    let drops = |set| pairs("hscc", &[&sets[..], &[set]].concat()).metrics.drops;
    let grown = drops("tcp.window_validation=false");
    let validated = drops("tcp.window_validation=true");
    assert!(validated < grown, "{validated} {grown}");
}

// In deep overload, where routers often decide without a packet that tells its round trip.
#[test]
fn xcp_is_free_of_scale_if_all_its_times_are_divided() {
    let mean = |factor: u64, unknown_spacing: u64| {
        let time = |key: &str, us: u64| format!("{key}={}ps", us * 1_000_000 / factor);
        let sets = [
            // Senders start and send at paces of their own: who comes first at the same instant is drawn
            // from the time.
            "topology.kind=dumbbell".into(),
            format!("bottleneck.rate={factor}Gbps"),
            format!("link.rate={}Mbps", 1280 * factor),
            format!("workload.interval={}ps", 7_300_000 / factor),
            time("link.delay", 40),
            time("workload.start", 10_000),
            time("tcp.min_rto", 10_000),
            time("tcp.initial_rto", 1_000_000),
            time("tcp.syn_rto", 1_000_000),
            time("tcp.max_rto", 60_000_000),
            time("tcp.delayed_ack_timeout", 40_000),
            time("xcp.min_interval", 1000),
            time("xcp.min_queue_interval", 2000),
            time("xcp.initial_interval", 50_000),
            time("xcp.max_rtt", 1_000_000),
            format!("xcp.unknown_spacing={unknown_spacing}ps"),
            "workload.senders=60".into(),
            "tcp.sack=true".into(),
            "tcp.delayed_ack=2".into(),
            "tcp.initial_window=10".into(),
            "switch.buffer=40pkt".into(),
            "switch.ecn_threshold=20pkt".into(),
        ];
        let outcome = outcome("incast", "xcp", &sets.each_ref().map(String::as_str));
        let factor = real(factor);
        (outcome.metrics.fct_mean_us * factor, outcome.metrics.drops)
    };
    let second = 1_000_000_000_000;
    let (base, drops) = mean(1, second);
    assert!(drops > 0);
    for factor in [2, 10] {
        let (scaled, again) = mean(factor, second / factor);
        assert!(
            (scaled / base - 1.0).abs() < 1e-9,
            "{factor}: {scaled} of {base}"
        );
        assert_eq!(again, drops);
    }
    // The one constant that matters is unchanged.
    let (unlike, _) = mean(10, second);
    assert!((unlike / base - 1.0).abs() > 0.1, "{unlike} of {base}");
}
