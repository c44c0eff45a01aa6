//! Closed forms: values that can be computed on paper, compared exactly where the formula is exact.
//!
//! Times are compared in picoseconds. Notation: `d` the delay of a link, `s` and `a` the times of a
//! full segment and of an ACK on a link, `r = 2 (s + d) + 2 (a + d)` the time from sending a segment
//! to its ACK across a star. A store-and-forward path of two equal links delivers the last of n
//! segments sent back to back `(n + 1) s + 2 d` after the first began to leave.

use base::cast::real;
use base::{FlowId, HostId, Packet, Rate, Span, Time};
use fabric::{Discipline, Limit, Port, PortConfig, PortId, Strict};
use plan::PointSpec;
use sim::metrics::Outcome;
use sim::run;

use crate::support::{outcome, points};

/// One flow from one host to another across a switch; nothing is ever dropped for want of room.
pub(crate) const LONE: &str = r#"
[switch]
buffer = "unlimited"
ecn_threshold = "off"
[net]
header_bytes = 54
[tcp]
mss = 1446
[workload]
senders = 1
start = "0s"
"#;

/// A star with equal links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Star {
    rate: Rate,
    /// Of a link, in picoseconds.
    pub(crate) delay: u64,
}

impl Star {
    pub(crate) fn new(rate: &str, delay: &str) -> Self {
        let delay = delay.parse::<Span>().expect("a delay").as_ps();
        Self {
            rate: rate.parse().expect("a rate"),
            delay,
        }
    }

    /// Picoseconds of a packet with `payload` bytes on a link.
    pub(crate) fn segment(&self, payload: u64) -> u64 {
        ((payload + 54) * 8 * 10_u64.pow(12)).div_ceil(self.rate.as_bps())
    }

    /// From sending a full segment to its ACK.
    fn round_trip(&self) -> u64 {
        2 * (self.segment(1446) + self.delay) + 2 * (self.segment(0) + self.delay)
    }

    /// SYN and SYN-ACK; data leaves after the handshake's last ACK.
    fn handshake(&self) -> u64 {
        4 * (self.segment(0) + self.delay) + self.segment(0)
    }

    /// Completion time of `size` bytes in slow start from `window` segments, without loss.
    ///
    /// Round k begins k round trips after the handshake and has `window * 2^k` segments, back to
    /// back: the ACKs of the round before are a segment apart and each releases two. If a round
    /// lasts a round trip, its first ACK is there before its last segment has left, and from then on
    /// segments leave without a gap. The last round, or the endless one, so has n segments, and the
    /// last of them, maybe shorter, follows the others through both ports; a single one goes alone.
    fn completion(&self, size: u64, window: u64) -> u64 {
        let full = self.segment(1446);
        let mut left = size.div_ceil(1446);
        let (mut start, mut round) = (self.handshake(), window);
        while left > round && round * full < self.round_trip() {
            left -= round;
            round *= 2;
            start += self.round_trip();
        }
        let last = self.segment(size - (size.div_ceil(1446) - 1) * 1446);
        let queueing = if left == 1 { last } else { left * full };
        start + queueing + last + 2 * self.delay
    }
}

impl Star {
    /// The total time for which a sender in slow start waits for ACKs: a round of n segments begins a round trip after
    /// the one before, and n segments take part of it.
    pub(crate) fn stalls(&self, size: u64, window: u64) -> u64 {
        let (mut left, mut round, mut stalls) = (size.div_ceil(1446), window, 0);
        while left > round && round * self.segment(1446) < self.round_trip() {
            stalls += self.round_trip() - round * self.segment(1446);
            left -= round;
            round *= 2;
        }
        stalls
    }
}

/// Lone flows of NewReno over stars of different rates and delays, with different first windows and sizes. Arguments
/// are a description of the flow, its point, its star, its size in bytes and its first window in segments.
pub(crate) fn each_lone_flow(mut each: impl FnMut(&str, &PointSpec, &Star, (u64, u64))) {
    for rate in ["1Gbps", "10Gbps", "25Gbps", "11Gbps"] {
        for delay in ["0s", "1us", "40us", "1ms"] {
            for window in [1, 2, 4, 10] {
                let set = |key: &str, value: &str| format!("{key}={value}");
                let sets = [
                    set("link.rate", rate),
                    set("link.delay", delay),
                    set("tcp.initial_window", &window.to_string()),
                    set("workload.size", "1B,1446B,1447B,32KiB,66pkt,1MB"),
                ];
                let sets = sets.each_ref().map(String::as_str);
                for point in points(LONE, "newreno", &sets) {
                    let size = point
                        .keys
                        .workload
                        .size
                        .fixed()
                        .expect("one size")
                        .in_bytes(1446);
                    let what = format!("{size} bytes, {sets:?}");
                    each(&what, &point, &Star::new(rate, delay), (size, window));
                }
            }
        }
    }
}

#[test]
fn a_lone_flow_takes_the_handshake_the_rounds_of_slow_start_and_the_last_one() {
    each_lone_flow(|what, point, star, (size, window)| {
        let flow = run::run(point).unwrap();
        assert_eq!(fct(&flow), star.completion(size, window), "{what}");
    });
}

// The last of n segments is delivered `n s + 2 d` after the first began to leave, and SYN and SYN-ACK are as much earlier.
// The buckets of hosts are full again when the first segment comes.
#[test]
fn ports_with_a_bucket_of_one_packet_cost_a_lone_flow_no_time_of_their_own() {
    let star = Star::new("1Gbps", "20us");
    let fct_with = |burst: &str| {
        let sets = [
            "link.rate=1Gbps",
            "link.delay=20us",
            "workload.size=14460B",
            "tcp.initial_window=10",
            burst,
        ];
        fct(&outcome(LONE, "newreno", &sets))
    };
    for key in ["switch.burst", "host.burst"] {
        let saved = fct_with(&format!("{key}=off")) - fct_with(&format!("{key}=1pkt"));
        assert_eq!(saved, 2 * star.segment(0) + star.segment(1446), "{key}");
    }
}

#[test]
fn slow_start_doubles_every_round_trip() {
    // tcp-baselines: 66 packets from a window of 4 go in rounds of 4, 8, 16, 32 and 6.
    let sets = [
        "link.delay=1ms",
        "tcp.initial_window=4",
        "workload.size=66pkt",
    ];
    let round_trip = Star::new("1Gbps", "1ms").round_trip();
    let mut rounds = Vec::new();
    let mut first = None;
    let probe = &mut |port: PortId, packet: &Packet, now: Time| {
        if port == PortId(2) && packet.payload > 0 {
            let since = now.since(*first.get_or_insert(now)).as_ps();
            let round = usize::try_from(since / round_trip).unwrap();
            rounds.resize(round + 1, 0);
            rounds[round] += 1;
        }
    };
    run::observe(&points(LONE, "newreno", &sets)[0], probe).unwrap();
    assert_eq!(rounds, [4, 8, 16, 32, 6]);
}

/// Thirty segments within a window of ten, so three rounds; segment `20 + lost` is lost. Without
/// loss the rounds start a round trip apart and the last ends `11 s + 2 d` after it began.
fn ten_packet_window(lost: u64, sack: bool) -> (Outcome, u64) {
    let flow = |period: u64| {
        let sets = [
            "link.delay=1ms".to_owned(),
            "workload.size=30pkt".to_owned(),
            "tcp.receive_buffer=10pkt".to_owned(),
            format!("tcp.sack={sack}"),
            format!("bottleneck.loss={}", 1.0 / real(period)),
            "bottleneck.loss_pattern=periodic".to_owned(),
        ];
        outcome(LONE, "newreno", &sets.each_ref().map(String::as_str))
    };
    let star = Star::new("1Gbps", "1ms");
    let lossless = flow(1_000_000);
    let rounds = star.handshake() + 2 * star.round_trip();
    assert_eq!(
        fct(&lossless),
        rounds + 11 * star.segment(1446) + 2 * star.delay
    );
    let lossy = flow(20 + lost);
    assert_eq!(lossy.metrics.drops, 1);
    assert_eq!(lossy.metrics.retransmissions, 1, "{lost}");
    let cost = fct(&lossy) - fct(&lossless);
    (lossy, cost)
}

#[test]
fn loss_of_one_of_the_first_seven_of_ten_packets_costs_at_most_a_round_trip() {
    // The third duplicate is that of packet `lost + 3`, which arrives `(7 - lost)` segments before
    // the tenth; ACK, retransmission and arrival take a round trip from there.
    let star = Star::new("1Gbps", "1ms");
    for sack in [false, true] {
        for lost in 1..=7 {
            let (flow, cost) = ten_packet_window(lost, sack);
            let expected = star.round_trip() - (7 - lost) * star.segment(1446);
            assert_eq!(cost, expected, "packet {lost}");
            assert_eq!(flow.metrics.timeouts, 0);
        }
    }
}

#[test]
fn loss_of_one_of_the_last_three_packets_costs_a_timeout() {
    // The timer restarts with the last ACK that acknowledges something, that of packet `lost - 1`,
    // which arrived `(11 - lost)` segments before the tenth would have. ACK, retransmission and
    // arrival take a round trip, and the timeout comes in between. The round trip of 4 ms leaves
    // the timeout at its minimum (RFC 6298 §2.4).
    let star = Star::new("1Gbps", "1ms");
    let timeout = Span::from_millis(200).as_ps();
    for sack in [false, true] {
        for lost in 8..=10 {
            let (flow, cost) = ten_packet_window(lost, sack);
            let expected = timeout + star.round_trip() - (11 - lost) * star.segment(1446);
            assert_eq!(cost, expected, "packet {lost}");
            let m = &flow.metrics;
            assert_eq!((m.timeouts, m.tail_timeouts, m.syn_timeouts), (1, 1, 0));
        }
    }
}

#[test]
fn equal_flows_under_rcc_end_within_one_flow_of_the_ideal() {
    // RCC: N flows of L bytes through one link need N L / (MSS C), and the schedule adds at most
    // the time of one more flow, beside the handshake.
    let handshake = real(Star::new("1Gbps", "40us").handshake()) / 1e6;
    for (senders, packets) in [(20_u32, 23_u32), (40, 23), (90, 23), (60, 36), (100, 70)] {
        let sets = [
            format!("workload.senders={senders}"),
            format!("workload.size={packets}pkt"),
        ];
        let flows = outcome("incast", "rcc", &sets.each_ref().map(String::as_str));
        let of_link = |flows: u32| handshake + f64::from(flows * packets) * 12.0;
        let last = flows.metrics.fct_max_us;
        assert!(
            (of_link(senders)..of_link(senders + 1)).contains(&last),
            "{senders} x {packets}: {last} us"
        );
    }
}

#[test]
fn a_port_under_constant_overload_holds_what_it_could_not_send() {
    // A packet every 10 us meets a port that needs 12 us. When packet n arrives, n from 0, packets 0
    // to floor(10 n / 12) have begun to leave, so n - floor(10 n / 12) wait with it. Where 50 can
    // wait, the port has accepted those that began to leave and the 50.
    let mut unlimited = port(Limit::Unlimited);
    let mut limited = port(Limit::Packets(50));
    for n in 0..5_000_u64 {
        let now = Time::ZERO + Span::from_micros(10 * n);
        for port in [&mut unlimited, &mut limited] {
            port.offer(&mut full_packet(), now);
        }
        let begun = 10 * n / 12;
        let waiting = n - begun;
        assert_eq!(unlimited.counters().max_waiting_bytes, waiting * 1500);
        let accepted = (n + 1).min(begun + 1 + 50);
        assert_eq!(limited.counters().packets, accepted);
        assert_eq!(limited.counters().drops, n + 1 - accepted);
    }
}

#[test]
fn two_dctcp_flows_keep_the_queue_around_the_threshold_and_the_link_full() {
    // DCTCP §3.3: K = 20, N = 2, C RTT = 8.3 packets. The queue peaks at K + N = 22 and swings by
    // sqrt(2 N (C RTT + K)) / 2 = 5.3 packets if the flows are in step, less if they are not.
    let queue = steady_queue(2, "1Gbps");
    let (low, high) = (queue.percentile(1), queue.percentile(999));
    assert!((10..=20).contains(&low), "{low} packets");
    assert!((20..=25).contains(&high), "{high} packets");
    assert!(queue.utilisation > 0.999, "{}", queue.utilisation);
}

#[test]
fn the_share_of_marked_packets_is_that_of_the_dctcp_analysis() {
    // Alpha is a running average of the share of marked packets; both settle near sqrt(2 / w*),
    // w* = (C RTT + K) / N. Faster edges keep the queue of a single flow out of its own host.
    for flows in [1_u32, 2] {
        let w = (100.0 / 12.0 + 20.0) / f64::from(flows);
        let expected = (2.0 / w).sqrt();
        let marked = steady_queue(flows, "10Gbps").marked;
        assert!(
            (marked / expected - 1.0).abs() < 0.1,
            "{marked} of {expected}"
        );
    }
}

/// Measurements at the middle of the built-in `long-flows` after its first 200 ms.
struct Steady {
    /// Time in picoseconds at each length in packets.
    levels: Vec<u64>,
    /// Share of packets marked.
    marked: f64,
    /// Share of time in which the link was busy.
    utilisation: f64,
}

/// DCTCP with `flows` long flows from hosts with `edge` links. The queue follows from what reaches the first switch and what
/// begins to leave it, 42 us before it reaches the second: 1500 bytes at 1 Gbit/s and 30 us.
fn steady_queue(flows: u32, edge: &str) -> Steady {
    let sets = [
        format!("workload.senders={flows}"),
        format!("link.rate={edge}"),
    ];
    let point = points("long-flows", "dctcp", &sets.each_ref().map(String::as_str)).remove(0);
    let mut changes = Vec::new();
    let (mut packets, mut marked) = (0_u32, 0_u32);
    let probe = &mut |port: PortId, packet: &Packet, now: Time| {
        if packet.payload == 0 {
            return;
        }
        if port == PortId(0) {
            changes.push((now.before(Span::from_micros(42)), -1_i64));
            if now > WARM {
                packets += 1;
                marked += u32::from(packet.ecn == base::Ecn::Marked);
            }
        } else if port.0.is_multiple_of(2) && port.0 / 2 <= flows {
            changes.push((now, 1));
        }
    };
    run::observe(&point, probe).expect("a conserving run");
    // A packet that meets an idle port joins and leaves at one instant, in this order.
    changes.sort_by_key(|(at, change)| (*at, -change));
    let (mut levels, mut length, mut since) = (vec![0; 200], 0_i64, WARM);
    for (at, change) in changes {
        levels[usize::try_from(length).expect("a queue is never negative")] +=
            at.since(since).as_ps();
        since = since.max(at);
        length += change;
    }
    let seconds = 0.8;
    Steady {
        levels,
        marked: f64::from(marked) / f64::from(packets),
        utilisation: f64::from(packets) * 12e-6 / seconds,
    }
}

impl Steady {
    /// Length in packets below or at which the queue was for that many thousandths of the time.
    fn percentile(&self, thousandths: u64) -> usize {
        let total: u64 = self.levels.iter().sum();
        let mut below = 0;
        let reached = self.levels.iter().position(|span| {
            below += span;
            below >= total / 1000 * thousandths
        });
        reached.expect("all the time is in some level")
    }
}

#[test]
fn periodic_loss_gives_the_rate_of_the_square_root_law() {
    // Rate = K sqrt(1/p) segments per round trip, K = sqrt(3/2). Windows are whole segments, so K
    // is a little less where they are small: see `rounds_of_periodic_loss`, which is exact to 2 %.
    for p in [1e-3, 3e-4, 1e-4] {
        let k = 1.5_f64.sqrt();
        for sack in [false, true] {
            let flow = lossy_flow("periodic", p, k, sack, 1);
            assert_eq!(flow.timeouts, 0);
            let (law, model) = (
                flow.constant / k,
                flow.constant / rounds_of_periodic_loss(p),
            );
            assert!((law - 1.0).abs() < 0.05, "p = {p}: {law} of the law");
            assert!((model - 1.0).abs() < 0.02, "p = {p}: {model} of the model");
        }
    }
}

/// K of a sender that sends whole windows, halves at a loss, spends a round trip at half the window
/// on the recovery and then grows by a segment per round trip until 1/p packets are sent.
fn rounds_of_periodic_loss(p: f64) -> f64 {
    let (mut top, mut rounds) = (1.0 / p.sqrt(), 0.0);
    // The largest window depends on itself: some cycles suffice.
    for _ in 0..20 {
        let half = (top / 2.0_f64).floor();
        let mut sent = half;
        (top, rounds) = (half, 1.0);
        while sent + top < 1.0 / p {
            sent += top;
            top += 1.0;
            rounds += 1.0;
        }
        // The loss shortens its round.
        rounds += (1.0 / p - sent) / top;
    }
    1.0 / p / rounds * p.sqrt()
}

#[test]
fn random_loss_gives_the_rate_of_the_square_root_law() {
    for p in [1e-3, 3e-4, 1e-4] {
        let runs: Vec<LossyFlow> = (1..=8)
            .map(|seed| lossy_flow("random", p, 1.31, true, seed))
            .collect();
        // The law knows no timeouts: a run in which a retransmission was lost does not count.
        let counted: Vec<f64> = runs
            .iter()
            .filter(|run| run.timeouts == 0)
            .map(|run| run.constant)
            .collect();
        let mean = counted.iter().sum::<f64>() / base::cast::count(counted.len());
        assert!(counted.len() >= 4, "p = {p}: {} runs", counted.len());
        assert!((mean / 1.31 - 1.0).abs() < 0.1, "p = {p}: K = {mean}");
    }
}

struct LossyFlow {
    /// Rate * RTT / MSS * sqrt(p).
    constant: f64,
    timeouts: u64,
}

/// A flow that loses a share `p` of its segments, about 50 of them, with the window that the law
/// expects from the start. Links of 10 Gbit/s never queue more than a burst, so that the round trip
/// of 10 ms stays.
fn lossy_flow(pattern: &str, p: f64, k: f64, sack: bool, seed: u64) -> LossyFlow {
    const RTT: f64 = 10e-3;
    let window = k / p.sqrt();
    let seconds = 50.0 / p / window * RTT;
    let sets = [
        "topology.kind=dumbbell".to_owned(),
        "link.rate=10Gbps".to_owned(),
        "link.delay=1ms".to_owned(),
        "bottleneck.delay=3ms".to_owned(),
        format!("tcp.sack={sack}"),
        format!("bottleneck.loss={p}"),
        format!("bottleneck.loss_pattern={pattern}"),
        format!("tcp.initial_ssthresh={window:.0}pkt"),
        "workload.size=unlimited".to_owned(),
        format!("run.duration={:.0}us", seconds * 1e6),
    ];
    let mut point = points(LONE, "newreno", &sets.each_ref().map(String::as_str)).remove(0);
    point.seed = seed;
    let m = run::run(&point).expect("a conserving run").metrics;
    LossyFlow {
        constant: m.goodput_bps / 8.0 / 1446.0 * RTT * p.sqrt(),
        timeouts: m.timeouts,
    }
}

/// Completion time of the only flow, in picoseconds; exact below 2^53.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was a whole number"
)]
fn fct(outcome: &Outcome) -> u64 {
    (outcome.flows[0].fct_us.get().expect("a completed flow") * 1e6).round() as u64
}

fn port(limit: Limit) -> Port {
    let config = PortConfig {
        rate: Rate::from_bps(1_000_000_000),
        delay: Span::from_micros(40),
        jitter: None,
        bucket: None,
        limit,
        discipline: Discipline::DropTail,
        hook: None,
        priorities: Strict::FIFO,
        header_bytes: 54,
    };
    Port::new(config, Time::ZERO)
}

fn full_packet() -> Packet {
    let mut packet = Packet::new(FlowId(0), HostId(0));
    packet.payload = 1446;
    packet
}

/// When start-up is over.
const WARM: Time = Time::from_ps(200_000_000_000);
