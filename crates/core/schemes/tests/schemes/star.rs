//! Senders and one receiving host, and a channel between them that a test controls packet by packet.

use std::collections::VecDeque;

use base::{Ecn, FlowId, HostId, Packet, Rate, Seq, Span, Time};
use schemes::{Bundle, FlowInfo, HostInfo, Receiver, Roles, Sender};
use tcp::{Config, Endpoint, Host, Identity, Slot, State, Wire};

/// Payload bytes of a full segment, as in the RCC paper.
pub(crate) const MSS: u16 = 1446;
const RECEIVER: HostId = HostId(0);

/// Bytes a flow sends, and whether its sender is told how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) size: u64,
    pub(crate) known: bool,
}

/// The senders, the receiving host, and what is on its way between them.
pub(crate) struct Star {
    pub(crate) senders: Vec<Peer>,
    pub(crate) host: Host<Sender, Receiver>,
    pub(crate) data: VecDeque<Packet>,
    pub(crate) acks: Outbox,
    pub(crate) now: Time,
    /// Called after every event of the host.
    check: fn(&mut Self),
}

pub(crate) struct Peer {
    pub(crate) endpoint: Endpoint<Sender>,
    pub(crate) size: u64,
    /// Whether its sender is told the size.
    pub(crate) known: bool,
    opened: bool,
    /// One past the highest offset that an ACK has ever allowed it; kept by the test.
    pub(crate) upper: u64,
}

/// The way back to the senders.
#[derive(Default)]
pub(crate) struct Outbox {
    pub(crate) packets: VecDeque<Packet>,
    /// Packets sent since the test last looked.
    pub(crate) fresh: Vec<Packet>,
}

impl Wire for Outbox {
    fn send(&mut self, _slot: Slot, packet: &mut Packet) {
        self.packets.push_back(*packet);
        self.fresh.push(*packet);
    }

    fn arm(&mut self, _slot: Slot, _deadline: Time) {}
}

/// The settings of the RCC paper for every scheme, and patience: every loss is survived.
pub(crate) fn config() -> Config {
    Config {
        mss: MSS,
        initial_window: 1,
        sack: false,
        limited_transmit: false,
        min_rto: Span::from_millis(10),
        max_rto: Span::from_millis(500),
        initial_rto: Span::from_millis(10),
        syn_rto: Span::from_millis(10),
        syn_retries: u32::MAX,
        syn_ack_retries: u32::MAX,
        retries: u32::MAX,
        window_scale: None,
        time_wait: Span::from_secs(1_000_000),
        ..Config::default()
    }
}

/// The roles of a bundle, with some parameters changed.
pub(crate) fn roles(bundle: &str, changed: &[(&str, String)]) -> Roles {
    let keys = schemes::all().iter().flat_map(|scheme| scheme.keys);
    let defaults: Vec<(&str, &str)> = keys.map(|key| (key.name, key.default)).collect();
    let text = |key: &str| {
        let changed = changed.iter().find(|(name, _)| *name == key);
        let default = defaults.iter().find(|(name, _)| *name == key);
        match changed {
            Some((_, text)) => text.clone(),
            None => default.expect("a key of some scheme").1.to_owned(),
        }
    };
    let bundle = Bundle::parse(bundle).expect("a registered scheme");
    bundle.build(&text).expect("correct texts")
}

impl Star {
    pub(crate) fn new(roles: &Roles, config: Config, flows: &[Flow], check: fn(&mut Self)) -> Self {
        let config = Config {
            ecn: roles.ecn.unwrap_or(config.ecn),
            initial_window: roles.initial_window.unwrap_or(config.initial_window),
            low_priority: roles.low_priority,
            ..config
        };
        let receiver = roles.make_receiver(&HostInfo {
            rate: Rate::from_bps(1_000_000_000),
            mss: MSS,
            packet_bytes: 1500,
        });
        let mut model = Self {
            senders: Vec::new(),
            host: Host::new(receiver),
            data: VecDeque::new(),
            acks: Outbox::default(),
            now: Time::ZERO,
            check,
        };
        let end = |identity, info: &FlowInfo| {
            roles.make_endpoint(identity, config, info, roles.make_sender(info))
        };
        for (number, flow) in (0..).zip(flows) {
            let known = FlowInfo {
                size: flow.known.then_some(flow.size),
                config,
            };
            let identity = |local, remote| Identity {
                flow: FlowId(number),
                local,
                remote,
                initial_seq: Seq(number * 1000),
            };
            let name = HostId(1 + number);
            model.senders.push(Peer {
                endpoint: end(identity(name, RECEIVER), &known),
                size: flow.size,
                known: flow.known,
                opened: false,
                upper: 1,
            });
            let unknown = FlowInfo { size: None, config };
            let slot = model.host.add(end(identity(RECEIVER, name), &unknown));
            let Self {
                host, acks, now, ..
            } = &mut model;
            host.act(slot, Endpoint::listen, *now, acks);
        }
        model
    }

    pub(crate) fn open(&mut self, flow: usize) {
        if let Some(peer) = self.senders.get_mut(flow)
            && !peer.opened
        {
            peer.opened = true;
            peer.endpoint.write(peer.size);
            peer.endpoint.close();
            if peer.endpoint.state() == State::Closed {
                peer.endpoint.connect();
            }
            self.flush(flow);
        }
    }

    pub(crate) fn deliver_data(&mut self) {
        if let Some(mut packet) = self.data.pop_front() {
            let slot = Slot(packet.flow.0);
            let progress = self
                .host
                .on_packet(slot, &mut packet, self.now, &mut self.acks);
            if progress.peer_finished {
                self.host
                    .act(slot, Endpoint::close, self.now, &mut self.acks);
            }
            (self.check)(self);
        }
    }

    pub(crate) fn deliver_ack(&mut self) {
        if let Some(packet) = self.acks.packets.pop_front() {
            let flow = packet.flow.0 as usize;
            let progress = self.senders[flow].endpoint.on_segment(&packet, self.now);
            assert!(progress.aborted.is_none(), "{packet:?} reset flow {flow}");
            self.flush(flow);
        }
    }

    pub(crate) fn flush(&mut self, flow: usize) {
        let endpoint = &mut self.senders[flow].endpoint;
        while let Some(packet) = endpoint
            .poll(self.now)
            .or_else(|| endpoint.due_ack(self.now))
        {
            self.data.push_back(packet);
        }
    }

    fn deadline(&self) -> Time {
        let senders = self.senders.iter().map(|peer| peer.endpoint.deadline());
        let receivers = self.host.endpoints().map(Endpoint::deadline);
        let first = senders.chain(receivers).min().expect("at least one flow");
        first.min(self.host.role_deadline())
    }

    pub(crate) fn advance_to(&mut self, target: Time) {
        while self.deadline() <= target {
            self.now = self.now.max(self.deadline());
            for flow in 0..self.senders.len() {
                if self.senders[flow].endpoint.deadline() <= self.now {
                    self.senders[flow].endpoint.on_deadline(self.now);
                    self.flush(flow);
                }
            }
            for slot in 0..u32::try_from(self.senders.len()).expect("a few flows") {
                self.host.on_deadline(Slot(slot), self.now, &mut self.acks);
                (self.check)(self);
            }
            self.host.on_role_deadline(self.now, &mut self.acks);
            (self.check)(self);
        }
        self.now = target;
    }

    /// From now on nothing is lost, every packet takes 80 us, and all flows run to their end.
    pub(crate) fn settle(&mut self) {
        self.run(|_, _| Fate::Arrives);
    }

    /// Runs all flows to their end. `fate` decides about every packet on its way: the data and ACK
    /// packets that have passed before, and the packet.
    pub(crate) fn run(&mut self, mut fate: impl FnMut(u64, &Packet) -> Fate) {
        let mut passed = 0;
        for flow in 0..self.senders.len() {
            self.open(flow);
        }
        for _ in 0..20_000 {
            for _ in 0..self.data.len() {
                passed += 1;
                match fate(passed, &self.data[0]) {
                    Fate::Arrives => self.deliver_data(),
                    Fate::IsLost => drop(self.data.pop_front()),
                    Fate::IsLate => self.data.rotate_left(1),
                    Fate::IsMarked => {
                        mark(&mut self.data[0]);
                        self.deliver_data();
                    }
                }
            }
            for _ in 0..self.acks.packets.len() {
                passed += 1;
                match fate(passed, &self.acks.packets[0]) {
                    Fate::IsLost => drop(self.acks.packets.pop_front()),
                    Fate::IsLate => self.acks.packets.rotate_left(1),
                    Fate::Arrives | Fate::IsMarked => self.deliver_ack(),
                }
            }
            if self.data.is_empty() && self.acks.packets.is_empty() {
                if self.host.endpoints().all(Endpoint::is_ended) {
                    return self.expect_everything_delivered();
                }
                let deadline = self.deadline();
                assert!(deadline < Time::NEVER, "nothing will ever happen again");
                self.advance_to(deadline);
            } else {
                self.advance_to(self.now + Span::from_micros(80));
            }
        }
        panic!("no end in sight at {}", self.now);
    }

    fn expect_everything_delivered(&self) {
        for (endpoint, peer) in self.host.endpoints().zip(&self.senders) {
            assert_eq!(endpoint.received(), peer.size);
            assert_eq!(peer.endpoint.acknowledged(), peer.size);
        }
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Arrives,
    IsLost,
    /// Those behind it overtake.
    IsLate,
    IsMarked,
}

/// A switch marks a packet, if it is ECN-capable.
pub(crate) fn mark(packet: &mut Packet) {
    if packet.ecn == Ecn::Capable {
        packet.ecn = Ecn::Marked;
    }
}
