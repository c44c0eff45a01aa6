//! Two hosts and the switches between them, whose queues are as long as a test says.

use std::collections::VecDeque;

use base::{FlowId, HostId, Packet, Rate, Seq, Span, Time};
use fabric::{Backlog, Limit, PortId, SwitchHook};
use schemes::{Bundle, FlowInfo, HostInfo, PortInfo, Roles, Sender};
use tcp::{Config, Endpoint, HostHelper, Identity, Progress, Slot};

pub(crate) const MSS: u64 = 1460;
/// Packets that fit into every queue.
pub(crate) const BUFFER: u64 = 84;
/// From one host to the other.
pub(crate) const DELAY: Span = Span::from_micros(50);

/// A connection between two hosts, 0 and 1, of which the first opens it.
pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) ends: [Endpoint<Sender>; 2],
    helpers: [Option<Box<dyn HostHelper>>; 2],
    /// The ports of the switches, in the order of the way from host 0, towards host 1 and towards host 0.
    ports: [Vec<Box<dyn SwitchHook>>; 2],
    /// What waits at all ports in either direction.
    queues: [Backlog; 2],
    /// Packets on their way, with the host they go to.
    flying: VecDeque<(Time, usize, Packet)>,
}

/// The roles of a bundle, with some parameters changed.
pub(crate) fn roles(bundle: &str, changed: &[(&str, &str)]) -> Roles {
    let text = |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        let mut keys = schemes::all().iter().flat_map(|scheme| scheme.keys);
        let default = || {
            let key = keys.find(|candidate| candidate.name == key);
            key.expect("a key of a scheme").default
        };
        changed.map_or_else(default, |(_, text)| text).to_owned()
    };
    let bundle = Bundle::parse(bundle).expect("a registered scheme");
    bundle.build(&text).expect("correct texts")
}

pub(crate) fn port_info() -> PortInfo {
    PortInfo {
        port: PortId(0),
        rate: Rate::from_bps(10_000_000_000),
        delay: Span::from_micros(10),
        limit: Limit::Packets(BUFFER),
        packet_bytes: 1500,
        header_bytes: 40,
        mss: 1460,
        seed: 1,
    }
}

pub(crate) fn waiting(packets: u64) -> Backlog {
    Backlog {
        bytes: packets * 1500,
        packets,
    }
}

impl Pair {
    /// A pair with a switch for each of `switches`, whose hosts follow the first and have these shifts.
    pub(crate) fn new(switches: &[Roles], shifts: [Option<u8>; 2], config: Config) -> Self {
        let info = HostInfo {
            rate: Rate::from_bps(10_000_000_000),
            mss: 1460,
            packet_bytes: 1500,
        };
        let hosts = &switches[0];
        let end = |side: usize| {
            let config = Config {
                window_scale: shifts[side],
                ..config
            };
            let name = |side| HostId(u32::from(side == 1));
            let identity = Identity {
                flow: FlowId(0),
                local: name(side),
                remote: name(1 - side),
                initial_seq: Seq(u32::MAX - 1000),
            };
            let known = FlowInfo { size: None, config };
            hosts.make_endpoint(identity, config, &known, hosts.make_sender(&known))
        };
        let helper = || hosts.host.as_ref().map(|make| make(&info));
        let hooks = || {
            let hooks = switches.iter().filter_map(|roles| roles.hook.as_ref());
            hooks.map(|make| make(&port_info())).collect()
        };
        Self {
            now: Time::ZERO,
            ends: [end(0), end(1)],
            helpers: [helper(), helper()],
            ports: [hooks(), hooks()],
            queues: [Backlog::default(); 2],
            flying: VecDeque::new(),
        }
    }

    /// Host 0 opens the connection, and both sides are ready to send.
    pub(crate) fn open(&mut self) {
        self.ends[1].listen();
        self.ends[0].connect();
        self.run_for(Span::from_micros(300));
    }

    /// From now on this many packets wait at every port towards host `to`.
    pub(crate) fn queue(&mut self, to: usize, packets: u64) {
        self.queues[to] = waiting(packets);
        // A hook sees every packet that joins or leaves; the last of them is enough for a level.
        for hook in &mut self.ports[1 - to] {
            hook.on_level(waiting(packets), self.now);
        }
    }

    pub(crate) fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        self.flush();
        loop {
            let arrival = self.flying.front().map_or(Time::NEVER, |(at, ..)| *at);
            let [one, two] = [self.ends[0].deadline(), self.ends[1].deadline()];
            let next = arrival.min(one).min(two);
            if next > until {
                break;
            }
            self.now = self.now.max(next);
            if arrival <= self.now {
                let (_, to, packet) = self.flying.pop_front().expect("the one that arrives");
                self.deliver(to, packet);
            } else {
                for end in &mut self.ends {
                    if end.deadline() <= self.now {
                        end.on_deadline(self.now);
                    }
                }
            }
            self.flush();
        }
        self.now = until;
    }

    fn flush(&mut self) {
        for from in [0, 1] {
            loop {
                let end = &mut self.ends[from];
                let Some(mut packet) = end.poll(self.now).or_else(|| end.due_ack(self.now)) else {
                    break;
                };
                if let Some(helper) = &mut self.helpers[from] {
                    helper.on_outgoing(Slot(0), &mut packet, self.now);
                }
                self.cross(from, &mut packet);
                self.flying.push_back((self.now + DELAY, 1 - from, packet));
            }
        }
    }

    /// A packet passes every switch: it comes in over the link that the port back feeds, and leaves through
    /// the other one.
    fn cross(&mut self, from: usize, packet: &mut Packet) {
        let [to_one, to_zero] = &mut self.ports;
        let (ahead, back) = if from == 0 {
            (to_one, to_zero)
        } else {
            (to_zero, to_one)
        };
        let mut order: Vec<usize> = (0..ahead.len()).collect();
        if from == 1 {
            order.reverse();
        }
        for switch in order {
            for (hook, queue) in [
                (&mut back[switch], self.queues[from]),
                (&mut ahead[switch], self.queues[1 - from]),
            ] {
                while hook.deadline() <= self.now {
                    let due = hook.deadline();
                    hook.on_deadline(queue, due);
                }
            }
            back[switch].on_reverse(self.queues[from], packet, self.now);
            ahead[switch].on_arrival(self.queues[1 - from], packet, self.now);
            ahead[switch].on_departure(self.queues[1 - from], packet, self.now);
        }
    }

    fn deliver(&mut self, to: usize, mut packet: Packet) {
        if let Some(helper) = &mut self.helpers[to] {
            helper.on_incoming(Slot(0), &mut packet, self.now);
        }
        assert_eq!(packet.reserved, 0, "TCP sees no reserved bits");
        let progress: Progress = self.ends[to].on_segment(&packet, self.now);
        assert!(progress.aborted.is_none(), "{packet:?}");
    }
}
