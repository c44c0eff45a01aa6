//! Links that lose packets, are down or change, and switches that begin anew.

use base::{FlowId, HostId, Packet, Rate, Seq, Span, Time};
use engine::random::Stream;
use engine::{Scheduler, Token};
use fabric::{
    Backlog, Calls, Discipline, DropReason, FaultDrops, GilbertElliott, Limit, LinkSpec, LossLaw,
    Network, NetworkConfig, Noise, NoiseKind, PortId, PortParts, Spread, Strict, SwitchHook,
    Topology, Watch,
};

/// Two hosts at a switch, whose links carry a packet of 1,000 bytes in 8 us and have a delay of 10 us.
struct Pair {
    network: Network,
    sched: Scheduler,
    topology: Topology,
    /// Packets that were lost, and why.
    seen: Seen,
}

#[derive(Default)]
struct Seen(Vec<(u32, DropReason, Time)>);

impl Watch for Seen {
    fn on_drop(&mut self, _port: PortId, packet: &Packet, reason: DropReason, now: Time) {
        self.0.push((packet.seq.0, reason, now));
    }
}

/// From host 0 to the switch, and from there to host 1.
const UP: PortId = PortId(0);
const DOWN: PortId = PortId(3);
const RATE: Rate = Rate::from_bps(1_000_000_000);
const DELAY: Span = Span::from_micros(10);

impl Pair {
    fn new(parts: &dyn Fn() -> PortParts) -> Self {
        let mut topology = Topology::new();
        let switch = topology.add_switch();
        for _ in 0..2 {
            let (host, _) = topology.add_host();
            let spec = LinkSpec {
                rate: RATE,
                delay: DELAY,
            };
            topology.connect(host, switch, spec);
        }
        let config = NetworkConfig {
            header_bytes: 0,
            sack_bytes: false,
            switch_limit: Limit::Unlimited,
            host_limit: Limit::Unlimited,
            switch_port: &|_, _| parts(),
            host_port: &|_, _| PortParts {
                hook: None,
                ..parts()
            },
            switch_hold_bytes: 0,
            pool: None,
            measure_from: Time::ZERO,
            spread: Spread::Symmetric,
            salt: 1,
            withdraws: false,
        };
        Self {
            network: Network::new(&topology, &config).expect("a connected network"),
            sched: Scheduler::new(1),
            topology,
            seen: Seen::default(),
        }
    }

    fn plain() -> Self {
        Self::new(&PortParts::plain)
    }

    /// Sends packets with these numbers.
    fn send(&mut self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            let mut packet = Packet::new(FlowId(0), HostId(1));
            (packet.payload, packet.seq) = (1000, Seq(number));
            let (network, sched) = (&mut self.network, &mut self.sched);
            network.send(HostId(0), &mut packet, sched, &mut self.seen);
        }
    }

    /// Handles events up to `end`, in us. Returns the numbers of packets that reached host 1, and when.
    fn run_until(&mut self, end: u64) -> Vec<(u32, u64)> {
        let mut reached = Vec::new();
        self.sched.at(us(end), CLOCK);
        while let Some(token) = self.sched.next_before(us(end)) {
            if token == CLOCK {
                break;
            }
            let (port, sched, seen) = (PortId(token.0), &mut self.sched, &mut self.seen);
            let mut packet = self.network.arrive(port, sched, seen, &mut |_| false);
            let host = self.network.on_arrival(port, &mut packet, sched, seen);
            if host.is_some() {
                assert!(!self.network.has_just_lost());
                reached.push((packet.seq.0, sched.now().as_ps() / 1_000_000));
            }
        }
        let now = self.sched.now();
        self.network.settle(now, &mut self.seen, &mut |_| false);
        reached
    }

    fn cut(&mut self, port: PortId) {
        let (network, now) = (&mut self.network, self.sched.now());
        network.cut(port, DropReason::LinkDown, now, &mut self.seen);
    }

    /// Every packet is somewhere.
    fn check(&self) {
        let drops: u64 = (self.network.ports().iter())
            .map(|port| port.counters().drops)
            .sum();
        let (sent, delivered) = self.network.sent_and_delivered();
        assert_eq!(sent, delivered + drops + self.network.held() as u64);
        assert_eq!(self.network.inside(), self.network.held() as u64);
    }
}

/// Port numbers end below it.
const CLOCK: Token = Token(100);

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

// Packet 0 is on the wire when the link goes down, 1 is being sent, and 2 waits; 3 comes while it is down. Packet 4 leaves when the
// transmitter has done with 1, at 16 us.
fn loses_what_waits_and_what_is_on_the_wire(mut pair: Pair) {
    pair.send(0..3);
    assert!(pair.run_until(10).is_empty());
    pair.cut(UP);
    pair.send(3..4);
    pair.run_until(12);
    pair.network.mend(UP, DropReason::LinkDown);
    pair.send(4..5);
    assert_eq!(pair.run_until(1000), [(4, 16 + 18 + 18)]);
    let lost: Vec<_> = (pair.seen.0.iter())
        .map(|(number, reason, at)| (*number, *reason, at.as_ps() / 1_000_000))
        .collect();
    let down = DropReason::LinkDown;
    assert_eq!(
        lost,
        [(2, down, 10), (3, down, 10), (0, down, 18), (1, down, 26)]
    );
    let expected = FaultDrops {
        link_down: 4,
        ..FaultDrops::default()
    };
    assert_eq!(pair.network.fault_drops(UP), expected);
    pair.check();
}

#[test]
fn a_link_that_goes_down_loses_what_waits_and_what_is_on_the_wire() {
    loses_what_waits_and_what_is_on_the_wire(Pair::plain());
}

#[test]
fn so_does_one_whose_ports_have_priorities() {
    loses_what_waits_and_what_is_on_the_wire(Pair::new(&|| PortParts {
        priorities: Strict::of(8),
        ..PortParts::plain()
    }));
}

#[test]
fn a_link_with_two_faults_is_up_when_both_have_passed() {
    let mut pair = Pair::plain();
    pair.cut(UP);
    pair.cut(UP);
    pair.network.mend(UP, DropReason::LinkDown);
    pair.send(0..1);
    pair.network.mend(UP, DropReason::LinkDown);
    pair.send(1..2);
    assert_eq!(pair.run_until(1000), [(1, 36)]);
    pair.check();
}

// At twice the rate packets take 4 us: packet 1 is sent to its end at 16 us, 2 leaves by 20, 3 by 24.
#[test]
fn packets_that_wait_leave_at_the_new_rate_of_a_link() {
    let mut pair = Pair::plain();
    pair.send(0..4);
    pair.run_until(10);
    let double = Rate::from_bps(2 * RATE.as_bps());
    pair.network.change_link(UP, (double, DELAY), us(10));
    assert_eq!(
        pair.run_until(1000),
        [(0, 36), (1, 44), (2, 52), (3, 60)],
        "the next link has its own rate"
    );
    let slower = Rate::from_bps(RATE.as_bps() / 2);
    let mut pair = Pair::plain();
    pair.send(0..3);
    pair.run_until(10);
    pair.network.change_link(UP, (slower, DELAY), us(10));
    assert_eq!(pair.run_until(1000), [(0, 36), (1, 44), (2, 60)]);
    pair.check();
}

// Packet 1 arrives at 26 us. Packet 2 would at 16 + 8 + 1, and waits for it; so does nothing behind it.
#[test]
fn nothing_overtakes_on_a_link_that_becomes_shorter() {
    let mut pair = Pair::plain();
    pair.send(0..4);
    pair.run_until(10);
    let short = Span::from_micros(1);
    pair.network.change_link(UP, (RATE, short), us(10));
    assert_eq!(
        pair.run_until(1000),
        [(0, 36), (1, 44), (2, 52), (3, 60)],
        "the second and third are sent on at 26 us, one behind the other"
    );
    pair.check();
}

#[test]
fn damaged_packets_use_the_link_and_are_dropped_behind_it() {
    let mut pair = Pair::plain();
    let noise = |kind| Noise::new(kind, (us(0), us(20)), Stream::new(1, "test", 0));
    pair.network
        .add_noise(UP, noise(NoiseKind::Corruption(1.0)));
    pair.send(0..3);
    // The first arrives at 18 us.
    assert_eq!(pair.run_until(1000), [(1, 44), (2, 52)]);
    assert_eq!(pair.seen.0, [(0, DropReason::Corrupt, us(18))]);
    assert_eq!(pair.network.fault_drops(UP).corrupt, 1);
    assert_eq!(pair.network.ports()[0].counters().packets, 3);
    pair.check();

    let mut pair = Pair::plain();
    let bad = GilbertElliott {
        worsens: 1.0,
        recovers: 1e-9,
        good: 0.0,
        bad: 1.0,
    };
    pair.network
        .add_noise(DOWN, noise(NoiseKind::GilbertElliott(bad)));
    pair.send(0..1);
    // It is behind the switch when the noise has passed.
    assert_eq!(pair.run_until(1000), [(0, 36)]);
    pair.check();
}

/// Counts departures, and the calls of a timer that comes every 5 us.
struct Counting {
    seen: u64,
    next: Time,
}

impl Counting {
    fn boxed() -> Box<dyn SwitchHook> {
        let next = us(5);
        Box::new(Self { seen: 0, next })
    }
}

impl SwitchHook for Counting {
    fn calls(&self) -> Calls {
        Calls::DEPARTURE.with(Calls::TIMER)
    }

    fn on_departure(&mut self, _queue: Backlog, _packet: &mut Packet, _at: Time) {
        self.seen += 1;
    }

    fn deadline(&self) -> Time {
        self.next
    }

    fn on_deadline(&mut self, _queue: Backlog, at: Time) {
        self.next = at + Span::from_micros(5);
    }

    fn gauges(&self, sink: &mut dyn FnMut(&'static str, f64)) {
        sink("seen", base::cast::real(self.seen));
    }
}

fn seen(pair: &Pair) -> f64 {
    let mut seen = 0.0;
    let hook = pair.network.ports()[3].hook().expect("a hook");
    hook.gauges(&mut |_, value| seen = value);
    seen
}

#[test]
fn a_port_that_begins_anew_has_forgotten_everything_but_the_losses_on_the_way_to_it() {
    let mut pair = Pair::new(&|| PortParts {
        discipline: LossLaw::Periodic { period: 4 }.before(Discipline::DropTail),
        hook: Some(Counting::boxed()),
        ..PortParts::plain()
    });
    assert_eq!(pair.topology.names()[0], "switch 0");
    pair.send(0..3);
    assert_eq!(pair.run_until(100).len(), 3);
    assert!(seen(&pair) > 2.5);
    let hook = Some(Counting::boxed());
    pair.network.renew(
        DOWN,
        Discipline::EcnThreshold(Limit::Bytes(0)),
        hook,
        us(100),
    );
    assert!(seen(&pair) < 0.5);
    // Each port loses every fourth packet: the host's has sent three, and so has this one.
    pair.send(3..6);
    let found: Vec<_> = pair.run_until(1000).iter().map(|(one, _)| *one).collect();
    assert_eq!(found, [5]);
    assert!((seen(&pair) - 1.0).abs() < 0.5);
    pair.check();
}
