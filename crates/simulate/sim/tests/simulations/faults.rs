//! Links, switches and hosts that fail while a simulation runs.

use std::num::NonZeroUsize;

use base::Time;
use base::cast::real;
use fabric::PortId;
use sim::divided::{self, Division};
use sim::metrics::{FlowFailure, Outcome};
use sim::probe::Probe;
use sim::run::{self, Limits, Watching};

use crate::support::{outcome, points};

/// Hosts 0 and 1 send to hosts 2 and 3 over one link.
const PAIRS: &str = "schemes = [\"newreno\"]\nswitch.ecn_threshold = \"off\"\ntcp.min_rto = \"10ms\"\n\
    [topology]\nkind = \"dumbbell\"\nhosts = 2\n\
    [workload]\nkind = \"pairs\"\nsenders = 2\nfrom = \"0:0-1\"\nto = \"1:0-1\"\nsize = \"4MB\"\n";

fn with(faults: &str, sets: &[&str]) -> Outcome {
    let faults = format!("topology.faults={faults}");
    let sets: Vec<&str> = [faults.as_str()].iter().chain(sets).copied().collect();
    outcome(PAIRS, "newreno", &sets)
}

fn completed(outcome: &Outcome) -> u64 {
    let m = &outcome.metrics;
    assert_eq!(m.flows_unfinished, 0);
    m.flows_completed
}

#[test]
fn a_link_that_is_down_for_a_time_loses_packets_and_flows_end_after_it() {
    let usual = with("none", &[]);
    assert_eq!(usual.metrics.drops_link_down, None);
    let down = with("bottleneck: down from 30ms to 130ms", &[]);
    assert_eq!(completed(&down), 2);
    let m = &down.metrics;
    assert!(m.drops_link_down > Some(0) && m.timeouts > 0, "{m:?}");
    assert_eq!(
        (m.drops_restart, m.drops_host_gone, m.drops_corrupt),
        (Some(0), Some(0), Some(0))
    );
    // A flow waits for its timer, which has doubled, but at most twice as long as the fault.
    let later = m.fct_max_us - usual.metrics.fct_max_us;
    assert!((90_000.0..200_000.0).contains(&later), "{later}");
    let of_ports: u64 = down.ports.iter().map(|port| port.drops_fault).sum();
    assert_eq!(Some(of_ports), m.drops_link_down);
}

#[test]
fn a_link_may_go_down_again_and_again_at_times_drawn_from_the_seed() {
    let flap = "flap down 2ms up 5ms from 20ms to 60ms";
    let regular = with(&format!("switch 0 to switch 1: {flap}"), &[]);
    assert_eq!(completed(&regular), 2);
    let random = flap.replace("flap", "flap at random");
    let [first, again, other] = ["seed=1", "seed=1", "seed=2"].map(|seed| {
        let text = format!("{}\n{PAIRS}", seed.replace('=', " = "));
        let faults = format!("topology.faults=bottleneck: {random}");
        outcome(&text, "newreno", &[&faults])
    });
    assert_eq!(first.digest, again.digest);
    assert_ne!(first.digest, other.digest);
    assert_eq!([completed(&first), completed(&other)], [2, 2]);
}

#[test]
fn a_link_that_changes_before_the_first_packet_is_one_that_was_made_so() {
    let made = with("none", &["bottleneck.rate=300Mbps"]);
    let changed = with("bottleneck: rate 300Mbps from 0s", &[]);
    assert_eq!(made.digest, changed.digest);
    let made = with("none", &["bottleneck.delay=3ms"]);
    let changed = with("bottleneck: delay 3ms from 0s", &[]);
    assert_eq!(made.digest, changed.digest);
    // A fault at a time when nothing is sent does not change times in an empty network, which follow from the original
    // links.
    let late = with("bottleneck: rate 10Gbps from 1ms to 2ms", &[]);
    assert_eq!(late.digest, with("none", &[]).digest);
}

#[test]
fn a_rate_that_falls_and_rises_again_slows_flows_down_for_that_time() {
    let usual = with("none", &[]).metrics.fct_max_us;
    let slow = with("bottleneck: rate 100Mbps from 20ms to 60ms", &[]);
    assert_eq!(completed(&slow), 2);
    // 40 ms at a tenth of the rate are 36 ms late.
    let late = slow.metrics.fct_max_us - usual;
    assert!((30_000.0..60_000.0).contains(&late), "{late}");
    let shorter = with("bottleneck: delay 1us from 20ms to 30ms", &[]);
    assert_eq!(completed(&shorter), 2);
}

#[test]
fn damaged_and_lost_packets_are_counted_by_cause() {
    let m = with("bottleneck: corrupt 0.01", &["switch.buffer=unlimited"]).metrics;
    let all = m.drops_corrupt.unwrap();
    assert_eq!((m.flows_completed, m.drops), (2, all));
    // 5,480 segments and as many ACKs, each once over the link.
    let share = real(all) / real(2 * m.packets);
    assert!((share - 0.01).abs() < 0.003, "{share}");
    let m = with(
        "bottleneck: gilbert-elliott p 0.002 r 0.2",
        &["switch.buffer=unlimited"],
    )
    .metrics;
    assert_eq!((m.flows_completed, Some(m.drops)), (2, m.drops_lossy));
    assert!(m.drops > 20, "{}", m.drops);
}

#[test]
fn a_sender_whose_probes_of_a_closed_window_nobody_answers_gives_up() {
    let faults = "host 2: stops reading from 12ms to 10s + gone at 100ms";
    let sets = ["tcp.retries=3", "tcp.profile=linux"];
    let run = with(faults, &sets);
    let flow = &run.flows[0];
    assert_eq!(flow.failure, Some(FlowFailure::HostGone));
    assert!(flow.window_probes >= 3 && flow.timeouts == 0, "{flow:?}");
}

#[test]
fn a_receiver_whose_role_repeats_its_syn_ack_to_nobody_gives_up() {
    for after_us in (10..300).step_by(10) {
        let faults = format!("topology.faults=host 0: gone at {}us", 10_000 + after_us);
        let run = outcome(PAIRS, "rcc", &[&faults]);
        assert_eq!(completed(&run), 1);
        assert_eq!(run.flows[0].failure, Some(FlowFailure::HostGone));
    }
}

#[test]
fn a_receiver_that_disappears_lets_its_sender_give_up() {
    let gone = with("host 2: gone at 20ms", &["tcp.retries=3"]);
    let m = &gone.metrics;
    assert_eq!((m.flows_completed, m.flows_failed), (1, 1));
    assert_eq!((m.flows_host_gone, m.flows_gave_up), (Some(1), Some(0)));
    assert!(m.drops_host_gone > Some(3), "{m:?}");
    let flow = &gone.flows[0];
    assert_eq!(flow.failure, Some(FlowFailure::HostGone));
    assert_eq!((flow.timeouts, gone.flows[1].failure), (3, None));
    // Nobody answers a SYN to that host either.
    let before = with("host 2: gone at 1ms", &["tcp.syn_retries=2"]);
    assert_eq!(before.flows[0].failure, Some(FlowFailure::HostGone));
    assert!(before.flows[0].syn_timeouts >= 2);
}

#[test]
fn flows_of_a_sender_that_disappears_fail_at_once_and_those_to_come_do_not_start() {
    let gone = with("host 0: gone at 20ms", &[]);
    let m = &gone.metrics;
    assert_eq!((m.flows_completed, m.flows_host_gone), (1, Some(1)));
    assert_eq!(gone.flows[0].failure, Some(FlowFailure::HostGone));
    assert!(gone.flows[0].received_bytes > 0 && gone.flows[0].timeouts == 0);
    // The receiver does not wait for anything.
    assert!(gone.cost.simulated_us < 200_000.0, "{:?}", gone.cost);
    let before = with("host 0: gone at 1ms", &[]);
    assert_eq!(
        (before.flows[0].packets, before.flows[0].received_bytes),
        (0, 0)
    );
    assert_eq!(before.metrics.flows_host_gone, Some(1));
}

#[test]
fn flows_on_connections_that_hosts_share_fail_with_their_host() {
    let requests = "workload.kind=requests";
    let sets = [
        requests,
        "workload.to=1:0-1",
        "workload.receivers=2",
        "workload.connections=4",
        "workload.rounds=5",
        "workload.think=10ms",
        "workload.size=20KB",
        "workload.connection=persistent",
        "tcp.retries=3",
    ];
    // Host 2 sends requests to hosts 0 and 1, and so does host 3. All answers to the remaining client still arrive.
    let gone = with("host 2: gone at 25ms", &sets);
    let m = &gone.metrics;
    assert_eq!(m.flows_unfinished, 0, "{m:?}");
    assert!(m.flows_host_gone > Some(0), "{:#?}", gone.flows);
    for flow in &gone.flows {
        assert_eq!(
            flow.failure.is_some(),
            flow.completion_us.get().is_none(),
            "{flow:?}"
        );
        assert!(flow.receiver == 2 || flow.failure.is_none(), "{flow:?}");
    }
}

#[test]
fn a_link_that_stays_down_lets_senders_give_up_and_says_so() {
    let down = with("bottleneck: down from 20ms", &["tcp.retries=2"]);
    let reasons: Vec<_> = down.flows.iter().map(|flow| flow.failure).collect();
    assert_eq!(reasons, [Some(FlowFailure::Retries); 2]);
    assert_eq!(down.metrics.flows_gave_up, Some(2));
    let before = with("bottleneck: down from 0s", &["tcp.syn_retries=1"]);
    assert_eq!(before.flows[0].failure, Some(FlowFailure::Handshake));
}

// A receive buffer of 64 KB fills soon; the window opens when the application reads again. Probes come after the timeout and twice
// as late each time.
#[test]
fn a_receiver_that_does_not_read_closes_its_window_until_it_does() {
    let buffer = "tcp.receive_buffer=64KB";
    let deaf = with("host 2: stops reading from 20ms to 220ms", &[buffer]);
    assert_eq!(completed(&deaf), 2);
    let [held, other] = [&deaf.flows[0], &deaf.flows[1]];
    assert!((3..8).contains(&held.window_probes), "{held:?}");
    assert_eq!((held.timeouts, other.window_probes), (0, 0));
    let usual = with("none", &[buffer]);
    let later = |flow: usize| {
        let fct = |all: &Outcome| all.flows[flow].fct_us.get().unwrap();
        fct(&deaf) - fct(&usual)
    };
    assert!((150_000.0..220_000.0).contains(&later(0)), "{}", later(0));
    assert!(later(1) < 1000.0, "{}", later(1));
    // It never reads again: the sender probes on as long as it is answered.
    let for_good = with(
        "host 2: stops reading from 20ms",
        &[buffer, "run.duration=10s"],
    );
    let flow = &for_good.flows[0];
    assert!(flow.window_probes > 8 && flow.failure.is_none(), "{flow:?}");
    // Linux waits for 200 ms before its first probe.
    let linux = [buffer, "tcp.profile=linux", "tcp.min_rto=10ms"];
    let linux = with("host 2: stops reading from 20ms to 1s", &linux);
    assert_eq!(completed(&linux), 2);
    // 200, 600 ms.
    assert_eq!(linux.flows[0].window_probes, 2);
}

#[test]
fn a_switch_that_restarts_loses_its_queues_and_flows_go_on() {
    let restart = with(
        "switch 0: restart at 30ms for 50ms",
        &["switch.buffer=unlimited"],
    );
    assert_eq!(completed(&restart), 2);
    let m = &restart.metrics;
    assert!(m.drops_restart > Some(0), "{m:?}");
    assert_eq!(Some(m.drops), m.drops_restart);
    assert!(m.fct_max_us > with("none", &[]).metrics.fct_max_us + 40_000.0);
}

#[test]
fn faults_of_hosts_and_links_may_be_of_several_and_at_once() {
    let all = "hosts 2-3: corrupt 0.001 + down from 20ms to 22ms; switch 0: restart at 21ms for 4ms; bottleneck: down from 24ms \
               to 26ms + rate 500Mbps from 20ms to 40ms; hosts 0-1: stops reading from 10ms to 30ms";
    let outcome = with(all, &[]);
    assert_eq!(completed(&outcome), 2);
    let m = &outcome.metrics;
    assert!(m.drops_restart > Some(0) && m.drops_link_down > Some(0));
}

#[test]
fn a_simulation_with_faults_is_not_divided() {
    let faults = "topology.faults=bottleneck: down from 20ms to 30ms";
    let point = points(PAIRS, "newreno", &[faults]).remove(0);
    let two = NonZeroUsize::new(2).unwrap();
    let (outcome, how) = divided::within(
        Limits::NONE,
        &point,
        Division::of_threads(two),
        Watching::default(),
    )
    .unwrap();
    assert_eq!(how.obstacle, Some("links, switches or hosts have faults"));
    assert_eq!(outcome.digest, run::run(&point).unwrap().digest);
}

/// Ten senders without end at one switch, until 200 ms.
const LONG: &str = "switch.ecn_threshold = \"off\"\ntcp.min_rto = \"10ms\"\n[workload]\nsenders = 10\nsize = \"unlimited\"\n\
    [run]\nduration = \"200ms\"\n";

/// The queue of the bottleneck between 120 and 200 ms.
#[derive(Default)]
struct Late {
    port: Option<PortId>,
    last: (u64, u64),
    most: u64,
    /// Bytes times picoseconds.
    sum: f64,
}

impl Probe for Late {
    fn on_level(&mut self, port: PortId, waiting: u64, at: Time) {
        if Some(port) != self.port {
            return;
        }
        let now = at.as_ps().clamp(120_000_000_000, 200_000_000_000);
        self.sum += real(self.last.0) * real(now - self.last.1.min(now));
        if at.as_ps() >= 120_000_000_000 {
            self.most = self.most.max(waiting);
        }
        self.last = (waiting, now);
    }
}

/// The maximum and the mean of that queue in bytes, and all results, with these faults.
fn restarted(scheme: &str, faults: &str) -> (u64, f64, Outcome) {
    let faults = format!("topology.faults={faults}");
    let point = points(LONG, scheme, &[&faults]).remove(0);
    // The link to the receiver.
    let mut late = Late {
        port: Some(PortId(1)),
        last: (0, 120_000_000_000),
        ..Late::default()
    };
    let outcome = run::observe(&point, &mut late).expect("a run");
    assert!(outcome.ports[1].bottleneck);
    (late.most, late.sum / 80e9, outcome)
}

const RESTART: &str = "switch 0: restart at 100ms for 5ms";
/// The links of that switch are down for the same time.
const DOWN: &str = "hosts 0-10: down from 100ms to 105ms";

// Senders and receivers have all the state of NewReno and RCC. HSCC's port has one bit, which an empty queue clears.
#[test]
fn a_restart_costs_schemes_without_memory_in_switches_only_the_packets_there() {
    for scheme in ["newreno", "rcc", "hscc"] {
        let [(.., down), (.., restart)] = [DOWN, RESTART].map(|faults| restarted(scheme, faults));
        assert_eq!(down.digest, restart.digest, "{scheme}");
        assert!(restart.metrics.drops_restart > Some(0), "{scheme}");
    }
}

// RWNDQ counts flows by their SYNs. A port that counts none writes its target into every ACK, which is more than any share.
#[test]
fn rwndq_knows_no_flow_after_a_restart_that_began_before() {
    let (_, known, _) = restarted("rwndq", DOWN);
    let (_, unknown, _) = restarted("rwndq", RESTART);
    let (_, alone, _) = restarted("newreno", RESTART);
    assert!(unknown > 3.0 * known, "{unknown} {known}");
    assert!((unknown / alone - 1.0).abs() < 0.1, "{unknown} {alone}");
}

// XCP's packets carry what its routers need: the first interval after a restart has no budget, and all others do.
#[test]
fn xcp_controls_its_queue_again_after_a_restart() {
    let (_, down, after_down) = restarted("xcp", DOWN);
    let (most, mean, restart) = restarted("xcp", RESTART);
    assert_ne!(after_down.digest, restart.digest);
    assert!(most < 10_000 && mean < 2.0 * down, "{most} {mean} {down}");
    let [goodput, without] = [&restart, &after_down].map(|all| all.metrics.goodput_bps);
    assert!(
        (goodput / without - 1.0).abs() < 0.02,
        "{goodput} {without}"
    );
}
