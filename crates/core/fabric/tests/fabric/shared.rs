//! Switches whose queues share a buffer.

use base::{FlowId, HostId, Packet, Rate, Span, Time};
use engine::{Scheduler, Token};
use fabric::{
    BufferDrops, Limit, LinkSpec, Network, NetworkConfig, PoolConfig, PortId, PortParts, Spread,
    Topology,
};

/// Hosts at one switch, whose links carry a packet of 1,000 bytes in 8 us.
struct Star {
    network: Network,
    sched: Scheduler,
    topology: Topology,
}

impl Star {
    fn new(hosts: u32, pool: PoolConfig) -> Self {
        Self::with_delay(hosts, Span::from_micros(1), pool)
    }

    fn with_delay(hosts: u32, delay: Span, pool: PoolConfig) -> Self {
        let mut topology = Topology::new();
        let switch = topology.add_switch();
        for _ in 0..hosts {
            let (host, _) = topology.add_host();
            let spec = LinkSpec {
                rate: Rate::from_bps(1_000_000_000),
                delay,
            };
            topology.connect(host, switch, spec);
        }
        let config = NetworkConfig {
            header_bytes: 0,
            sack_bytes: false,
            switch_limit: Limit::Unlimited,
            host_limit: Limit::Unlimited,
            switch_port: &|_, _| PortParts::plain(),
            host_port: &|_, _| PortParts::plain(),
            switch_hold_bytes: 0,
            pool: Some(pool),
            measure_from: Time::ZERO,
            spread: Spread::Symmetric,
            salt: 1,
            withdraws: false,
        };
        Self {
            network: Network::new(&topology, &config).expect("a connected network"),
            sched: Scheduler::new(1),
            topology,
        }
    }

    /// Sends packets of 1,000 bytes.
    fn send(&mut self, from: u32, to: u32, packets: u32) {
        for _ in 0..packets {
            let mut packet = Packet::new(FlowId(from), HostId(to));
            packet.payload = 1000;
            self.network
                .send(HostId(from), &mut packet, &mut self.sched, &mut ());
        }
    }

    /// Handles all events. Returns how many packets reached hosts.
    fn run(&mut self) -> u32 {
        self.run_until(Time::NEVER)
    }

    /// Handles the events until `end`, and moves the clock there.
    fn run_until(&mut self, end: Time) -> u32 {
        let mut reached = 0;
        if end < Time::NEVER {
            self.sched.at(end, CLOCK);
        }
        while let Some(token) = self.sched.next_before(end) {
            if token == CLOCK {
                break;
            }
            let Token(port) = token;
            let (port, sched) = (PortId(port), &mut self.sched);
            let mut packet = self.network.arrive(port, sched, &mut (), &mut |_| false);
            let host = self.network.on_arrival(port, &mut packet, sched, &mut ());
            reached += u32::from(host.is_some());
        }
        reached
    }

    /// The switch's port to a host, and what it refused.
    fn refusals(&self, host: u32) -> BufferDrops {
        let port = self.topology.host_port(HostId(host)).reverse();
        self.network.refusals(port)
    }
}

fn pool(bytes: u64, alpha: f64) -> PoolConfig {
    PoolConfig {
        bytes,
        alphas: vec![alpha],
        reserve: 0,
    }
}

#[test]
fn a_lone_queue_gets_its_share_of_the_pool_and_no_more() {
    // Ten hosts send 20 packets each to host 0: in 8 us ten come and one leaves. With alpha 1 a queue alone holds half of 100 KB:
    // L + s <= B - L.
    let mut star = Star::new(11, pool(100_000, 1.0));
    (1..=10).for_each(|from| star.send(from, 0, 20));
    let reached = star.run();
    let refusals = star.refusals(0);
    assert_eq!(star.network.pool_most(), Some(50_000));
    assert_eq!(
        (refusals.pool, u64::from(reached) + refusals.threshold),
        (0, 200)
    );
    // 50 fit, and one leaves for each of 20 rounds.
    assert!((65..=71).contains(&reached), "{reached}");
}

#[test]
fn a_packet_finds_the_room_that_other_ports_have_given_back_by_then() {
    // Wires of 1 ms: 50 packets reach the switch from 1 ms to 1.2 ms and have left for host 0 by 1.4 ms, whose first event is
    // only at 2 ms. From 1.5 ms on another queue needs the same room.
    let mut star = Star::with_delay(8, Span::from_millis(1), pool(30_000, 8.0));
    star.send(1, 0, 25);
    star.send(2, 0, 25);
    star.run_until(Time::ZERO + Span::from_micros(500));
    star.send(3, 4, 25);
    star.send(5, 4, 25);
    let reached = star.run();
    let refusals = [0, 4].map(|host| star.refusals(host));
    assert_eq!((reached, refusals), (100, [BufferDrops::default(); 2]));
    // Of 25 pairs each second packet waits, less the one in transmission: below alpha B / (1 + alpha) = 26.7 KB.
    assert!(star.network.pool_most() >= Some(24_000));
}

#[test]
fn a_full_pool_is_told_from_a_threshold() {
    // Alpha 16: two queues together may ask for more than there is.
    let mut star = Star::new(9, pool(10_000, 16.0));
    for from in 2..9 {
        star.send(from, from % 2, 20);
    }
    star.run();
    let [even, odd] = [0, 1].map(|host| star.refusals(host));
    assert!(even.pool > 0 && odd.pool > 0, "{even:?} {odd:?}");
    assert!(star.network.pool_most() <= Some(10_000));
}

/// No port has this number.
const CLOCK: Token = Token(1000);
