//! Switches that pause the nodes before them rather than drop.

use base::{FlowId, HostId, Packet, Rate, Span, Time};
use engine::{Scheduler, Token};
use fabric::{
    Limit, LinkSpec, Network, NetworkConfig, NodeId, PfcConfig, PortId, PortParts, Spread, Strict,
    Topology, Watch, Xoff, headroom,
};
use proptest::prelude::*;

/// Arrivals at the last ports, and pauses.
#[derive(Default)]
struct Seen {
    pauses: Vec<(PortId, u8, bool, Time)>,
    drops: u32,
}

impl Watch for Seen {
    fn on_pause(&mut self, port: PortId, class: u8, paused: bool, now: Time) {
        self.pauses.push((port, class, paused, now));
    }

    fn on_drop(&mut self, _: PortId, _: &Packet, _: fabric::DropReason, _: Time) {
        self.drops += 1;
    }
}

struct Fabric {
    topology: Topology,
    network: Network,
    sched: Scheduler,
    seen: Seen,
    /// When packets reached their hosts, by flow.
    reached: Vec<(u32, Time)>,
}

impl Fabric {
    fn new(topology: Topology, classes: u8, pfc: PfcConfig) -> Self {
        let parts = |_: PortId, _: &LinkSpec| PortParts {
            priorities: Strict::of(classes),
            ..PortParts::plain()
        };
        let config = NetworkConfig {
            header_bytes: 0,
            sack_bytes: false,
            switch_limit: Limit::Unlimited,
            host_limit: Limit::Unlimited,
            switch_port: &parts,
            host_port: &parts,
            switch_hold_bytes: 0,
            pool: None,
            measure_from: Time::ZERO,
            spread: Spread::Symmetric,
            salt: 1,
            withdraws: false,
        };
        let mut network = Network::new(&topology, &config).expect("a connected network");
        network.pause_by(&topology, pfc, None, PAUSES);
        Self {
            topology,
            network,
            sched: Scheduler::new(1),
            seen: Seen::default(),
            reached: Vec::new(),
        }
    }

    /// `count` packets of 1,000 bytes.
    fn send(&mut self, flow: u32, (from, to): (u32, u32), class: u8, count: u32) {
        let ends = [HostId(from), HostId(to)];
        self.network.introduce(FlowId(flow), flow.into(), ends);
        for _ in 0..count {
            let mut packet = Packet::new(FlowId(flow), ends[1]);
            (packet.payload, packet.dscp) = (1000, class);
            let Self {
                network,
                sched,
                seen,
                ..
            } = self;
            network.send(ends[0], &mut packet, sched, seen);
        }
    }

    fn run(&mut self) {
        let Self {
            network,
            sched,
            seen,
            reached,
            ..
        } = self;
        while let Some(token) = sched.next_before(Time::NEVER) {
            if token == PAUSES {
                network.on_pause_event(sched, seen);
                continue;
            }
            let port = PortId(token.0);
            let mut packet = network.arrive(port, sched, seen, &mut |_| false);
            if network.on_arrival(port, &mut packet, sched, seen).is_some() {
                reached.push((packet.flow.0, sched.now()));
            }
        }
    }

    fn last(&self, flow: u32) -> Time {
        let own = self.reached.iter().filter(|(of, _)| *of == flow);
        own.map(|(_, at)| *at).max().unwrap_or(Time::NEVER)
    }

    fn count(&self, flow: u32) -> usize {
        self.reached.iter().filter(|(of, _)| *of == flow).count()
    }

    fn deadlock(&self) -> Vec<(NodeId, NodeId)> {
        let pauses = self.network.pauses(self.sched.now()).expect("it pauses");
        let ports = pauses.deadlock.iter();
        ports.map(|port| self.topology.ends(*port)).collect()
    }
}

fn gbps(rate: u64, delay: Span) -> LinkSpec {
    LinkSpec {
        rate: Rate::from_bps(rate * 1_000_000_000),
        delay,
    }
}

/// Hosts at one switch.
fn star(hosts: u32, spec: LinkSpec) -> Topology {
    let mut topology = Topology::new();
    let switch = topology.add_switch();
    for _ in 0..hosts {
        let (host, _) = topology.add_host();
        topology.connect(host, switch, spec);
    }
    topology
}

fn pfc(xoff: u64, resume: u64, room: Option<u64>) -> PfcConfig {
    PfcConfig {
        lossless: 1,
        xoff: Xoff::Static(xoff),
        resume,
        headroom: room,
        packet_bytes: 1000,
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

#[test]
fn a_frame_pauses_the_sender_at_the_time_it_arrives_and_resumes_it() {
    // 1 Gbit/s and wires of 4 us: a packet takes 8 us and arrives after 12. Hosts 1 and 2 send to host 0. At 12 us one packet of
    // each comes, and one of them leaves at once. XOFF is 2,000 bytes, so that a port may bring in two packets that wait.
    let mut fabric = Fabric::new(
        star(3, gbps(1, Span::from_micros(4))),
        1,
        pfc(2000, 1000, None),
    );
    fabric.send(1, (1, 0), 0, 20);
    fabric.send(2, (2, 0), 0, 20);
    fabric.run();
    assert_eq!(
        (fabric.count(1), fabric.count(2), fabric.seen.drops),
        (20, 20, 0)
    );
    // The link to host 0 is never idle: 40 packets from 12 us on.
    let end = fabric.last(1).max(fabric.last(2));
    assert_eq!(end, us(12 + 40 * 8 + 4));
    let (port, class, paused, first) = fabric.seen.pauses[0];
    assert!(paused && class == 0);
    assert!(
        [1, 2]
            .map(|host| fabric.topology.host_port(HostId(host)))
            .contains(&port)
    );
    // A packet was stored as the second of its port, and the frame of 64 bytes took 0.512 us and the wire of 4 us.
    let decided = first.as_ps() - us(4).as_ps() - 512_000;
    assert_eq!(decided % us(4).as_ps(), 0, "{first:?}");
    // Every pause ends, and a port is not paused twice in a row.
    for port in [1, 2].map(|host| fabric.topology.host_port(HostId(host))) {
        let own = fabric.seen.pauses.iter().filter(|pause| pause.0 == port);
        let states: Vec<bool> = own.map(|pause| pause.2).collect();
        assert!(states.iter().step_by(2).all(|paused| *paused));
        assert!(states.iter().skip(1).step_by(2).all(|paused| !paused));
        assert!(states.len().is_multiple_of(2) && !states.is_empty());
    }
}

#[test]
fn nothing_is_lost_with_the_headroom_of_the_standard_and_much_with_half_of_it() {
    // 300 m of cable at 100 Gbit/s, as in the worked example: 1,515 ns each way.
    let spec = gbps(100, Span::from_nanos(1515));
    let needed = headroom(spec.rate, spec.delay + spec.delay, 1000);
    for (room, lossy) in [(None, false), (Some(needed / 2), true)] {
        let mut fabric = Fabric::new(star(5, spec), 1, pfc(20_000, 2000, room));
        (1..5).for_each(|host| fabric.send(host, (host, 0), 0, 500));
        fabric.run();
        assert_eq!(
            fabric.seen.drops > 0,
            lossy,
            "{room:?}: {}",
            fabric.seen.drops
        );
        let port = fabric.topology.host_port(HostId(0)).reverse();
        let lost = fabric.network.refusals(port).headroom;
        assert_eq!(lost, u64::from(fabric.seen.drops));
        assert_eq!(fabric.reached.len() as u64 + lost, 2000);
    }
}

#[test]
fn a_pause_holds_a_flow_to_an_idle_port_and_no_other_priority() {
    // Hosts 1 to 3 send to host 0; host 1 also to host 4, whose port is idle, behind the others and once more in class 1.
    let mut fabric = Fabric::new(
        star(5, gbps(1, Span::from_micros(1))),
        2,
        pfc(3000, 1000, None),
    );
    (1..4).for_each(|host| fabric.send(host, (host, 0), 0, 40));
    fabric.send(4, (1, 4), 0, 5);
    fabric.send(5, (1, 4), 1, 5);
    fabric.run();
    assert_eq!(fabric.seen.drops, 0);
    // Alone, 45 packets would leave host 1 by 360 us; it gets a third of the link.
    assert!(fabric.last(4) > us(700), "{:?}", fabric.last(4));
    // A packet of another class leaves as soon as the link of its host is idle, here at the first pause.
    assert!(fabric.last(5) < us(250), "{:?}", fabric.last(5));
    let report = fabric
        .network
        .pauses(fabric.sched.now())
        .expect("it pauses");
    assert_eq!((report.victims, report.margin), (vec![FlowId(4)], 0));
}

#[test]
fn a_threshold_that_was_not_reached_is_told_with_its_distance() {
    let mut fabric = Fabric::new(
        star(3, gbps(1, Span::from_micros(4))),
        1,
        pfc(30_000, 0, None),
    );
    fabric.send(1, (1, 0), 0, 20);
    fabric.send(2, (2, 0), 0, 20);
    fabric.run();
    let report = fabric
        .network
        .pauses(fabric.sched.now())
        .expect("it pauses");
    assert_eq!(report.pauses, 0);
    // In 20 turns two packets come and one leaves: 19 wait of 20,000 bytes, nearly half from each port, or one more.
    assert!(
        (19_000..22_000).contains(&report.margin),
        "{}",
        report.margin
    );
}

/// Switches in a ring, with a host at each.
fn ring(switches: u32) -> Topology {
    let mut topology = Topology::new();
    let all: Vec<NodeId> = (0..switches).map(|_| topology.add_switch()).collect();
    for switch in &all {
        let (host, _) = topology.add_host();
        topology.connect(host, *switch, gbps(1, Span::from_micros(1)));
    }
    for (index, switch) in all.iter().enumerate() {
        let next = all[(index + 1) % all.len()];
        topology.connect(*switch, next, gbps(1, Span::from_micros(1)));
    }
    topology
}

// Each host of a ring of five sends two hops clockwise, which is the shortest way: every link between switches carries two flows,
// and what waits in front of it came over the link before.
#[test]
fn a_ring_deadlocks_and_its_ports_are_named_in_their_order() {
    let mut fabric = Fabric::new(ring(5), 1, pfc(5000, 1000, None));
    for host in 0..5 {
        fabric.send(host, (host, (host + 2) % 5), 0, 200);
    }
    fabric.run();
    let cycle = fabric.deadlock();
    assert_eq!(cycle.len(), 5, "{cycle:?}");
    for (index, (from, to)) in cycle.iter().enumerate() {
        assert_eq!(cycle[(index + 1) % 5].0, *to);
        assert_eq!(to.0, (from.0 + 1) % 5);
    }
    assert!(!fabric.network.is_empty(), "packets wait for good");
    assert_eq!(fabric.seen.drops, 0);
}

#[test]
fn the_same_ring_has_no_deadlock_where_nothing_is_lossless() {
    let mut fabric = Fabric::new(
        ring(5),
        1,
        PfcConfig {
            lossless: 0,
            ..pfc(5000, 1000, None)
        },
    );
    for host in 0..5 {
        fabric.send(host, (host, (host + 2) % 5), 0, 200);
    }
    fabric.run();
    assert_eq!(fabric.deadlock(), []);
    assert!(fabric.network.is_empty());
}

proptest! {
    // `PROPTEST_CASES=10000 cargo test --release -p fabric --test fabric up_down` tries ten thousand fabrics.
    #[test]
    fn up_down_routes_never_deadlock(
        shape in (2..6_u32, 1..5_u32, 1..5_u32, any::<bool>()),
        flows in prop::collection::vec((any::<u32>(), any::<u32>(), 1..12_u32), 1..60),
        (xoff, resume) in (1..6_u64, 0..3_u64),
    ) {
        let (racks, spines, hosts, is_fat_tree) = shape;
        let link = gbps(1, Span::from_micros(1));
        let topology = if is_fat_tree {
            Topology::fat_tree(4, link, link)
        } else {
            Topology::leaf_spine((racks, spines), hosts, link, link)
        };
        let all = u32::try_from(topology.hosts().len()).expect("few hosts");
        let mut fabric = Fabric::new(topology, 1, pfc(1000 * xoff, 1000 * resume, None));
        let mut sent = 0;
        for (flow, (from, to, packets)) in (0..).zip(flows) {
            let (from, to) = (from % all, to % all);
            if from != to {
                fabric.send(flow, (from, to), 0, packets);
                sent += packets as usize;
            }
        }
        fabric.run();
        prop_assert_eq!(fabric.deadlock(), []);
        prop_assert_eq!((fabric.reached.len(), fabric.seen.drops), (sent, 0));
        prop_assert!(fabric.network.is_empty());
    }
}

/// No port has this number.
const PAUSES: Token = Token(10_000);
